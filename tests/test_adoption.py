"""Adopting session state files: any real one comes in without losing a word, and comes out."""

import copy
import json
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from command import files, good, quick, run
from examples import rich
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from session_state_schema import SCHEMA
from strategies import projects

from journal import Project, Request
from journal import events as e
from journal.errors import Invalid, PassdownError
from journal.request import decided, provisional
from journal.state import evolve
from projections.session_state import Source, adopt, read, render

CORPUS = Path(__file__).parents[2] / "shared/corpus/apex"
NOW = 1_772_446_500_000_000
STATE = "00-session-state.json"
# What agents wrote into the log themselves may be less than what we write.
_ENTRY = {"type": "object", "properties": {"step": {"type": ["integer", "string"]}}}
_LOG = {"type": "array", "items": _ENTRY}
VALIDATOR = jsonschema.Draft202012Validator(
    {**SCHEMA, "properties": {**SCHEMA["properties"], "decision_log": _LOG}}
)

#: A file as an agent of the field writes it, of version 3.0 and valid.
VALID: dict[str, Any] = {
    "schema_version": "3.0",
    "project": "orchard",
    "iac_tool": "Bicep",
    "region": "swedencentral",
    "branch": "main",
    "updated": "2026-03-02T10:15:00Z",
    "current_step": 2,
    "decisions": {
        "region": "swedencentral",
        "compliance": "GDPR",
        "budget": "~€500/month",
        "architecture_pattern": "N-Tier",
        "deployment_strategy": "",
        "iac_tool": "Bicep",
        "waf_scores": {"security": 8, "cost": 7.5},
        "environments": ["dev", "prod"],
    },
    "open_findings": ["Key Vault allows public access", "No budget alert — naïve 🙂"],
    "decision_log": [
        {"decision": "AKS", "rationale": "15 services", "timestamp": "2026-03-01T09:00:00+00:00"},
        {"id": "D007", "step": 2, "agent": "03-Architect", "title": "Cache", "choice": "P4"},
        {"step": "3.5", "decision": "Deny public IPs", "status": "accepted", "owner": "gov"},
    ],
    "review_audit": {"step_1": {"complexity": "simple", "passes_planned": 1, "reviewer": "x"}},
    "steps": {
        "1": {
            "name": "Requirements",
            "agent": "02-Requirements",
            "status": "complete",
            "sub_step": "phase_5_artifact",
            "started": "2026-03-01T08:00:00Z",
            "completed": "2026-03-01T07:00:00Z",
            "artifacts": ["agent-output/orchard/01-requirements.md"],
            "context_files_used": ["brief.md"],
            "duration_min": 12,
        },
        "2": {
            "name": "Architecture",
            "agent": "someone else",
            "status": "in_progress",
            "sub_step": "phase_2_waf",
            "started": "2026-03-02",
            "completed": None,
            "artifacts": [],
            "context_files_used": ["/abs/path.md", "../up.md"],
        },
        "3_5": {
            "name": "Governance",
            "agent": "",
            "status": "skipped",
            "sub_step": None,
            "started": None,
            "completed": "yesterday",
            "artifacts": [],
            "context_files_used": [],
        },
    },
    "created": "2026-02-28",
    "team": {"lead": None, "size": 3},
}


def adopted(content: bytes, project: Project | None = None) -> Project:
    """The project that adopting a file comes to, in memory."""
    state = (project or Project("orchard")).copy()
    by = Request(e.ProjectReopened())
    for request in adopt(read(content), state, "file", "digest", now=NOW, by=by):
        for asked, event, payload in decided(state, [request], NOW):
            evolve(state, provisional(state, asked, event.type, payload, NOW))
    return state


def encoded(document: Any) -> bytes:
    """A file with this content."""
    return json.dumps(document, ensure_ascii=False).encode()


def rendered(project: Project) -> dict[str, Any]:
    """The file that comes out, without what is ours."""
    document: dict[str, Any] = json.loads(render(project))
    VALIDATOR.validate(document)
    del document["_passdown"], document["updated"]
    return document


def leaves(value: Any) -> Iterator[Any]:
    """Every value of a document that is not made of others."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from leaves(item)
    else:
        yield value


def lost(source: Any, project: Project) -> list[Any]:
    """The leaf values of a source that are neither in the file nor in the state."""
    kept = [project.adopted and project.adopted.format, json.loads(render(project))]
    kept += [original.value for original in project.originals]
    found = {json.dumps(leaf) for leaf in leaves(kept)}
    return [leaf for leaf in leaves(source) if json.dumps(leaf) not in found]


# -- the round trip --------------------------------------------------------------------------


def test_a_valid_file_comes_out_as_it_went_in() -> None:
    """Adopted and rendered, a valid file means what it meant, to every key and value."""
    expected = {key: value for key, value in VALID.items() if key != "updated"}
    assert rendered(adopted(encoded(VALID))) == expected


@pytest.mark.parametrize("missing", ["decision_log", "review_audit", "created", "team"])
def test_what_a_file_does_not_have_is_not_added(missing: str) -> None:
    """A part that the schema does not ask for stays away if it was not there."""
    document = {key: value for key, value in VALID.items() if key != missing}
    assert missing not in rendered(adopted(encoded(document)))


def test_the_state_has_what_the_file_says() -> None:
    """Steps, decisions, findings and reviews are entities of the state, with their own times."""
    state = adopted(encoded(VALID))
    assert state.current == "2"
    assert (state.steps["2"].status, state.steps["2"].sub_step) == ("in_progress", "phase_2_waf")
    assert state.steps["1"].completed == 1_772_348_400_000_000
    assert list(state.open_findings) == VALID["open_findings"]
    assert state.decisions["D007"].choice == "P4"
    assert state.decisions[state.keyed["waf_scores"]].value == {"security": 8, "cost": 7.5}
    assert state.reviews["1"].complexity == "simple"


def test_what_is_recorded_later_counts() -> None:
    """A leftover goes with what it was about, and everything else stays as it came."""
    state = adopted(encoded(VALID))
    for event in (e.StepCompleted("2", ("02.md",)), e.DecisionMade(key="iac_tool", value="")):
        for asked, made, payload in decided(state, [Request(event)], NOW):
            evolve(state, provisional(state, asked, made.type, payload, NOW))
    after = rendered(state)
    assert after["steps"]["2"]["status"] == "complete"
    assert after["steps"]["1"] == VALID["steps"]["1"]
    assert after["decision_log"] == VALID["decision_log"]
    assert after["team"] == VALID["team"]


OLD = {
    "schema_version": "2.0",
    "project": "orchard",
    "lock": {"owner_id": "me", "heartbeat": None},
    "stale_threshold_ms": 300000,
    "decisions": {"complexity": "high", "region": 7},
    "open_findings": [
        {"id": "OF-1", "description": "Redis", "status": "resolved", "resolved_at": "2026-01-01"},
        {"id": "OF-2", "description": "AKS", "severity": "high", "status": "open"},
        "AKS",
    ],
    "steps": {
        "3.5": {"name": "Governance", "status": "complete", "claim": {"token": "t-1"}},
        "4": {"name": "Planning", "status": "done", "artifacts": "plan.md"},
        "x": {"name": "Deploy"},
    },
    "review_audit": {"step_3.5": {"passes_planned": -1}, "other": 1},
}


def test_an_old_file_is_migrated_with_the_least_change() -> None:
    """What the schema forbids is mended where it stands, and stays in the journal as it was."""
    state = adopted(encoded(OLD))
    after = rendered(state)
    assert "lock" not in after
    assert after["steps"]["4"]["name"] == "IaC Plan"
    assert after["steps"]["4"]["status"] == "complete"
    assert list(after["steps"]) == ["3_5", "4"]
    assert list(after["review_audit"]) == ["step_3_5"]
    assert after["open_findings"] == ["AKS"]
    assert after["decisions"]["complexity"] == ""
    assert lost(OLD, state) == []
    assert [f.title for f in state.findings.values() if f.resolved is not None] == ["Redis"]


@pytest.mark.parametrize("version", ["4.0", 3, 3.0, None, "", ["3.0"]])
def test_an_unknown_version_is_refused(version: Any) -> None:
    """A version that is not known is never taken for an older one."""
    with pytest.raises(Invalid, match="schema_version"):
        read(encoded({**VALID, "schema_version": version}))


def test_duplicate_keys_are_noticed() -> None:
    """A key that stands twice is a warning, and its first value is kept."""
    source = read(b'{"schema_version": "3.0", "region": "a", "region": "b", "steps": {}}')
    assert source.document["region"] == "b"
    assert [x.value for x in source.originals if x.path == ("duplicate", "region")] == ["a"]
    assert any("twice" in warning for warning in source.warnings)


def test_contradictions_are_kept_and_said() -> None:
    """What contradicts itself stays as it is, with a warning."""
    document = copy.deepcopy(VALID)
    document["current_step"] = 0
    document["steps"]["1"]["status"] = "in_progress"
    source = read(encoded(document))
    said = " ".join(source.warnings)
    for word in ("at the same time", "current_step is 0", "completed before"):
        assert word in said
    assert rendered(adopted(encoded(document)))["current_step"] == 0


# -- the same again --------------------------------------------------------------------------


def again(content: bytes, state: Project) -> list[str]:
    """What adopting a file comes to for a project."""
    by = Request(e.ProjectReopened())
    requests = adopt(read(content), state, "file", "other", now=NOW, by=by)
    return [request.event.type for request in requests]


@given(projects())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_rendered_file_says_nothing_new(project: Project) -> None:
    """Adopting what a state is rendered to appends nothing."""
    assert again(render(project), project) == []


def test_an_adopted_file_says_nothing_new() -> None:
    """The same file again appends nothing, and neither does what was rendered of it."""
    for document in (VALID, OLD):
        state = adopted(encoded(document))
        assert again(encoded(document), state) == []
        assert again(render(state), state) == []


def test_a_newer_file_adds_only_the_difference() -> None:
    """Of a file that an agent wrote over, only what is new becomes events."""
    state = adopted(encoded(VALID))
    newer = copy.deepcopy(VALID)
    newer["open_findings"].append("one more")
    newer["steps"]["2"]["status"] = "complete"
    newer["steps"]["2"]["completed"] = "2026-03-03T00:00:00Z"
    made = again(encoded(newer), state)
    assert made.count("finding.opened") == 1
    assert not [type for type in made if type.startswith("decision")]
    assert {"step.completed", "step.adopted"} & {*made}
    expected = {key: value for key, value in newer.items() if key != "updated"}
    assert rendered(adopted(encoded(newer), state)) == expected


LOGS: dict[str, list[Any]] = {
    "two alike": [{"decision": "a", "rationale": "r"}, {"decision": "a", "rationale": "r"}],
    "empty ones": [{}, {}],
    "no decisions": [{"note": "x"}, {"note": "x"}, {"decision": "y"}],
    "a name of ours": [{"id": "entry 1", "decision": "keep me"}, {"note": "only a note"}],
    "an id twice": [{"id": "D001", "title": "a"}, {"id": "D001", "title": "b"}],
}


@pytest.mark.parametrize("kind", LOGS)
def test_a_log_of_any_shape(kind: str) -> None:
    """Every entry is there once, and what was rendered of them says nothing new."""
    document = {**VALID, "decision_log": LOGS[kind]}
    state = adopted(encoded(document))
    key = json.dumps
    found = rendered(state)["decision_log"]
    assert sorted(map(key, found)) == sorted(map(key, LOGS[kind]))
    assert again(render(state), state) == []
    assert again(encoded(document), state) == []


def test_what_the_schema_allows_and_the_model_does_not() -> None:
    """A step key that no step can have, and what a tool measured, come out as they went in."""
    document = copy.deepcopy(VALID)
    document["steps"]["1_"] = document["steps"]["1"]
    document["steps"]["2"]["telemetry"] = {"elapsed_ms": 5}
    state = adopted(encoded(document))
    assert rendered(state)["steps"]["1_"] == document["steps"]["1"]
    document["steps"]["2"]["telemetry"] = {"x": 1}
    document["_passdown"] = {"note": "mine"}
    state = adopted(encoded(document))
    assert "telemetry" not in rendered(state)["steps"]["2"]
    assert lost(document, state) == []


# -- any file at all -------------------------------------------------------------------------

_json = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(0, 9) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def spoiled(draw: st.DrawFn) -> Any:
    """A file of the field in which some values were replaced, removed or added."""
    document = copy.deepcopy(draw(st.sampled_from((VALID, OLD))))
    for _ in range(draw(st.integers(1, 5))):
        place: Any = document
        while isinstance(place, dict) and place and draw(st.booleans()):
            inner = place[draw(st.sampled_from(sorted(place)))]
            if not isinstance(inner, dict):
                break
            place = inner
        if not place or draw(st.booleans()):
            place[draw(st.text(max_size=6))] = draw(_json)
        else:
            key = draw(st.sampled_from(sorted(place)))
            if draw(st.booleans()):
                place[key] = draw(_json)
            else:
                del place[key]
    return document


@given(spoiled())
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_spoiled_file_is_adopted_without_loss_or_refused(document: Any) -> None:
    """Wrong types at any place, missing and extra keys: nothing is lost, and the file is valid."""
    try:
        state = adopted(encoded(document))
    except PassdownError:
        return
    rendered(state)
    assert lost(document, state) == []
    assert again(encoded(document), state) == []


@given(st.binary(max_size=200) | st.sampled_from((b"[]", b"{}", b"\xef\xbb\xbf{}", b"[" * 99_999)))
@settings(max_examples=100, deadline=None)
def test_bytes_are_refused_in_a_sentence(content: bytes) -> None:
    """What is no session state is Invalid, whatever it is."""
    with pytest.raises(Invalid, match="the file is"):
        read(content)


def test_a_byte_order_mark_does_no_harm() -> None:
    """A file that an editor marked is read as the same file."""
    assert isinstance(read(b"\xef\xbb\xbf" + encoded(VALID)), Source)


# -- the real files --------------------------------------------------------------------------

REAL = sorted(path for path in CORPUS.glob("*.json") if "schema" not in path.name)


@pytest.mark.skipif(not REAL, reason="the corpus is not beside the project")
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_a_real_file(path: Path) -> None:
    """Every leaf value of a real file is found again, and what is rendered of it is valid."""
    document = json.loads(path.read_bytes())
    state = adopted(path.read_bytes())
    assert lost(document, state) == []
    after = rendered(state)
    if document.get("schema_version") == "3.0" and VALIDATOR.is_valid(document):
        assert after == {key: value for key, value in document.items() if key != "updated"}
    assert again(path.read_bytes(), state) == []


# -- the command -----------------------------------------------------------------------------


@pytest.fixture
def orchard(tmp_path: Path) -> Path:
    """A workspace without a journal, in which an agent left its file."""
    folder = tmp_path / "agent-output/orchard"
    folder.mkdir(parents=True)
    (folder / STATE).write_bytes(encoded(VALID))
    return tmp_path


def test_adopt_takes_the_file_over(orchard: Path) -> None:
    """The file is written back as ours, the original is its backup, and all is well."""
    path = orchard / "agent-output/orchard" / STATE
    done = run(orchard, "adopt", "agent-output", "--actor", "ada", "--json")
    assert done.code == 0
    [answer] = done.json
    assert (answer["project"], answer["appended"][0]["type"]) == ("orchard", "project.opened")
    assert "step 1 was completed before it was started" in done.err
    assert path.with_name(f"{STATE}.bak").read_bytes() == encoded(VALID)
    assert json.loads(path.read_bytes())["team"] == VALID["team"]
    assert good(orchard, "verify").code == 0
    before = files(orchard)
    assert "nothing recorded" in quick(orchard, "adopt", "agent-output").out
    assert files(orchard) == before


def test_a_dry_run_changes_nothing(orchard: Path) -> None:
    """--dry-run shows the events, and makes not even a journal."""
    before = files(orchard)
    done = good(orchard, "adopt", "agent-output", "--dry-run", "--json")
    types = [proposed["type"] for proposed in done.json[0]["proposed"]]
    assert types[0] == "project.opened"
    assert "project.adopted" in types
    assert files(orchard) == before


@pytest.mark.parametrize("damage", [b"", b'{"schema_version": "3.0", "st', b"\xff\xfe noise"])
def test_a_damaged_file_falls_back_to_its_backup(orchard: Path, damage: bytes) -> None:
    """The backup is read instead, which is said and recorded, and the file is whole again."""
    path = orchard / "agent-output/orchard" / STATE
    shutil.copy(path, path.with_name(f"{STATE}.bak"))
    path.write_bytes(damage)
    time.sleep(1.1)  # until nobody can be in the middle of writing it
    done = good(orchard, "adopt", str(path.relative_to(orchard)))
    assert "its backup was read instead" in done.err
    assert "project.recovered" in good(orchard, "log", "-n", "0", "--json").out
    assert json.loads(path.read_bytes())["team"] == VALID["team"]


def test_nothing_readable_is_an_error_with_both_reasons(orchard: Path) -> None:
    """Without a file or a backup that can be read nothing begins by itself, but on purpose."""
    path = orchard / "agent-output/orchard" / STATE
    path.write_bytes(b"")
    time.sleep(1.1)
    before = files(orchard)
    no = quick(orchard, "adopt", "agent-output")
    assert no.code == 3
    assert "the file is empty" in no.err
    assert "No such file" in no.err
    assert "passdown adopt --fresh" in no.err
    assert files(orchard) == before
    good(orchard, "adopt", "--fresh", "agent-output")
    state = good(orchard, "show", "--json").json
    assert {step["status"] for step in state["steps"].values()} == {"pending"}
    assert "begun anew" in good(orchard, "log", "-n", "0", "--json").out
    assert good(orchard, "verify").code == 0


def test_a_name_that_is_no_slug(tmp_path: Path) -> None:
    """The name becomes one, stays as the title, and stands in the file as it was."""
    folder = tmp_path / "agent-output/my-orchard"
    folder.mkdir(parents=True)
    (folder / STATE).write_bytes(encoded({**VALID, "project": "My Orchard"}))
    good(tmp_path, "adopt", "agent-output")
    assert good(tmp_path, "show", "--json").json["title"] == "My Orchard"
    assert good(tmp_path, "projects", "--json").json[0]["project"] == "my-orchard"
    assert json.loads((folder / STATE).read_bytes())["project"] == "My Orchard"


def test_a_tree_with_one_bad_file(orchard: Path) -> None:
    """The good ones are adopted, the bad one is named, and the exit code says so."""
    other = orchard / "agent-output/other"
    other.mkdir()
    (other / STATE).write_text('{"schema_version": "9.9", "steps": {}}')
    done = quick(orchard, "adopt", "agent-output")
    assert done.code == 3
    assert "other" in done.err
    assert [x["project"] for x in good(orchard, "projects", "--json").json] == ["orchard"]


def test_a_large_file() -> None:
    """10,000 entries of 5 MB come in and out; how fast is for the benchmarks to say."""
    entry = {"decision": "x" * 400, "rationale": "y", "timestamp": "2026-03-01T09:00:00Z"}
    document = {**VALID, "decision_log": [{**entry, "n": n} for n in range(10_000)]}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "agent-output/orchard" / STATE
        path.parent.mkdir(parents=True)
        path.write_bytes(encoded(document))
        good(Path(folder), "adopt", "agent-output")
        after = json.loads(path.read_bytes())
    assert after["decision_log"] == document["decision_log"]


def test_the_rich_example_survives_adoption() -> None:
    """A file that we rendered, its stamp taken off, is the same project in another journal."""
    document = json.loads(render(rich()))
    del document["_passdown"]
    state = adopted(encoded(document))
    expected = {key: value for key, value in document.items() if key != "updated"}
    assert rendered(state) == expected


def test_an_unknown_version_beside_a_backup(orchard: Path) -> None:
    """What can be read and is not known is refused, whatever stands beside it."""
    path = orchard / "agent-output/orchard" / STATE
    shutil.copy(path, path.with_name(f"{STATE}.bak"))
    path.write_bytes(encoded({**VALID, "schema_version": "4.0"}))
    before = files(orchard)
    for options in ([], ["--fresh"]):
        no = quick(orchard, "adopt", *options, "agent-output")
        assert no.code == 3
        assert "schema_version is '4.0'" in no.err
    assert files(orchard) == before


def test_two_files_of_one_name(orchard: Path) -> None:
    """A second file that would be the same project is refused, and the first stays as it is."""
    other = orchard / "agent-output/twin"
    other.mkdir()
    (other / STATE).write_bytes(encoded({**VALID, "project": "Orchard"}))
    no = quick(orchard, "adopt", "agent-output")
    assert no.code == 3
    assert "was adopted from agent-output/orchard" in no.err
    assert good(orchard, "projects", "--json").json[0]["title"] == "orchard"


def test_an_old_file_again(tmp_path: Path) -> None:
    """A file that was adopted once is never taken for news, and the reader is told where to go."""
    folder = tmp_path / "agent-output/My Orchard"
    folder.mkdir(parents=True)
    (folder / STATE).write_bytes(encoded({**VALID, "project": "My Orchard"}))
    said = good(tmp_path, "adopt", "agent-output/My Orchard")
    assert f"the project's file is agent-output/my-orchard/{STATE} from now on" in said.err
    good(tmp_path, "decide", "--key", "region", "--value", "new")
    ours = tmp_path / "agent-output/my-orchard" / STATE
    document = json.loads(ours.read_bytes())
    document["decisions"]["budget"] = "777"
    ours.write_text(json.dumps(document))
    good(tmp_path, "drift", "--adopt")
    assert "nothing recorded" in good(tmp_path, "adopt", "agent-output/My Orchard").out
    assert json.loads(ours.read_bytes())["decisions"]["budget"] == "777"
