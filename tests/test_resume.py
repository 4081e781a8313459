"""How to go on: the resume protocol line by line, from the journal, from a file, from nothing.

Every command that an answer gives is typed, and works.
"""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from command import Result, files, finished, good, quick, run
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from strategies import JSON, projects

from cli import exits
from journal import Project
from journal import entities as n
from journal import events as e
from journal.errors import Invalid
from journal.rules import By, decide
from journal.workflows import load
from projections import unadopted
from projections.brief import TOPICS, Brief, compose, named_files, render

MISSING = object()
STATE = "agent-output/shop/00-session-state.json"
CORPUS = Path(__file__).parents[2] / "shared/corpus/apex"
APEX = load("apex").steps
STRICT = """
name = "strict"
policy = { rerun = false, retries = 0, skip = "person", parallel = false }
steps = [{ key = "1", name = "Build" }, { key = "2", name = "Publish" }]
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A workspace with one project."""
    good(tmp_path, "init", "shop")
    return tmp_path


def say(folder: Path, *lines: str) -> None:
    """Type these commands."""
    for line in lines:
        good(folder, *shlex.split(line))


def resume(folder: Path, *args: str) -> dict[str, Any]:
    """The answer as data, with nothing written, and as readable as it is usable."""
    before = files(folder)
    found: dict[str, Any] = good(folder, "resume", *args, "--json").json
    shown = good(folder, "resume", *args).out
    assert files(folder) == before
    assert shown.startswith("# ")
    assert not found["command"] or f"`{found['command']}`" in shown
    return found


def typed(folder: Path, command: str) -> Result:
    """What a command of an answer says when it is typed."""
    passdown, *words = shlex.split(command)
    assert passdown == "passdown"
    return good(folder, *words)


def loaded(answer: dict[str, Any]) -> list[str]:
    """What an answer gives to read at the start."""
    return [reading["path"] for reading in answer["load"]]


def offered(answer: dict[str, Any]) -> list[str]:
    """Every command that an answer offers beside the next one."""
    cautions = [offer for warning in answer["warnings"] for offer in warning["offers"]]
    return [offer["command"] for offer in [*answer["offers"], *cautions]]


# -- the protocol ----------------------------------------------------------------------------


def test_pending(shop: Path) -> None:
    """A pending step is to be started, by its agent, within its budget."""
    say(shop, "step start 1", "step complete 1")
    (shop / "agent-output/shop/01-requirements.md").write_text("# Requirements\n")
    found = resume(shop)
    assert (found["verdict"], found["step"], found["name"]) == ("start", "2", "Architecture")
    assert found["agent"] == "03-Architect"
    assert loaded(found) == [STATE, "agent-output/shop/01-requirements.md"]
    assert found["load"][1]["tokens"] == 5
    assert found["missing"] == found["skip_reading"] == found["warnings"] == []
    assert found["command"] == "passdown step start 2 -p shop"
    assert "step 2 started" in typed(shop, found["command"]).out


def test_files_of_the_budget_that_are_not_there(shop: Path) -> None:
    """What the budget names and nobody wrote is said to be missing."""
    found = resume(shop, "--step", "7")
    assert loaded(found) == [STATE]
    assert found["missing"] == [
        "agent-output/shop/06-deployment-summary.md",
        "agent-output/shop/02-architecture-assessment.md",
    ]


def test_in_progress_with_a_checkpoint(shop: Path) -> None:
    """Work goes on after the checkpoint, and what was read for it is not read again."""
    used = "agent-output/shop/01-requirements.md"
    say(shop, "step start 1", "step complete 1", "step start 2 --actor ada")
    say(shop, f"step checkpoint 2 phase_2_waf --context-file {used} --artifact waf.md")
    (shop / used).write_text("# Requirements\n")
    found = resume(shop)
    assert (found["verdict"], found["step"], found["checkpoint"]) == (
        "continue",
        "2",
        "phase_2_waf",
    )
    assert found["skip_reading"] == [used]
    assert loaded(found) == [STATE]
    assert found["artifacts"] == ["waf.md"]
    assert "after checkpoint phase_2_waf without reading again" in found["say"]
    assert found["command"] == "passdown step checkpoint 2 phase_3_cost -p shop"
    assert "reached phase_3_cost" in typed(shop, found["command"]).out


def test_after_the_last_checkpoint(shop: Path) -> None:
    """Where no checkpoint is left, what comes next is to complete the step."""
    say(shop, "step start 1", "step checkpoint 1 phase_5_artifact")
    found = resume(shop)
    assert found["verdict"] == "continue"
    assert "step 1 complete" in typed(shop, found["command"]).out


def test_a_checkpoint_that_nobody_planned(shop: Path) -> None:
    """An unknown checkpoint is a warning, and work goes on after it all the same."""
    say(shop, "step start 1", "step checkpoint 1 half_way")
    found = resume(shop)
    assert (found["verdict"], found["checkpoint"]) == ("continue", "half_way")
    assert "not among the checkpoints" in found["warnings"][0]["text"]
    assert "step 1 complete" in typed(shop, found["command"]).out


def test_in_progress_without_a_checkpoint(shop: Path) -> None:
    """A step that reached no checkpoint is done again, whoever began it."""
    say(shop, "step start 1 --actor ada")
    found = resume(shop, "--agent", "02-Requirements")
    assert (found["verdict"], found["step"], found["skip_reading"]) == ("restart", "1", [])
    assert "reached phase_1_discovery" in typed(shop, found["command"]).out


def test_complete(shop: Path) -> None:
    """A complete step is said to be so; one goes on after it, or runs it again."""
    say(shop, "step start 1", "step complete 1", "step start 2")
    found = resume(shop, "--step", "1")
    assert (found["verdict"], found["load"]) == ("complete", [])
    assert "Step 1 Requirements is complete since" in found["say"]
    assert found["command"] == "passdown resume --step 2 -p shop"
    assert "# shop: restart" in typed(shop, found["command"]).out
    [rerun] = offered(found)
    assert "step 1: rerun" in typed(shop, rerun).out


def test_skipped(shop: Path) -> None:
    """After a skipped step one goes on with the next."""
    say(shop, "step skip 3 --reason 'no diagrams'")
    found = resume(shop, "--step", "3")
    assert (found["verdict"], found["command"]) == ("skipped", "passdown resume --step 3_5 -p shop")
    assert "was skipped (no diagrams): go on with step 3_5 Governance" in found["say"]
    assert "Start step 3_5 Governance" in typed(shop, found["command"]).out


def test_an_optional_step(shop: Path) -> None:
    """A step that may be left out is started or skipped."""
    say(shop, "step start 2", "step complete 2")
    found = resume(shop)
    assert (found["verdict"], found["step"]) == ("start", "3")
    [skip] = [offer["command"] for offer in found["offers"]]
    assert "step 3 skipped" in typed(shop, skip).out
    assert resume(shop)["step"] == "3_5"


@pytest.mark.parametrize("answer", ["retry", "skip"])
def test_failed(shop: Path, answer: str) -> None:
    """A failed step is tried again, or skipped with the reason."""
    say(shop, "step start 1", "step checkpoint 1 phase_2_workload --context-file notes.md")
    say(shop, "step fail 1 'the quota is used up.'")
    found = resume(shop)
    assert (found["verdict"], found["checkpoint"]) == ("failed", "phase_2_workload")
    assert "failed: the quota is used up." in found["say"]
    assert [item["id"] for item in found["errors"]] == ["E001"]
    [skip] = offered(found)
    assert "it failed: the quota is used up" in skip
    said = typed(shop, found["command"] if answer == "retry" else skip).out
    assert f"step 1{': retry' if answer == 'retry' else ' skipped'}" in said
    assert resume(shop)["verdict"] == ("continue" if answer == "retry" else "start")


def test_finished(shop: Path) -> None:
    """Where every step is done, nothing is left."""
    say(shop, *(f"step skip {plan.key}" for plan in APEX))
    found = resume(shop)
    assert (found["verdict"], found["step"], found["load"]) == ("finished", "", [])
    assert "Handoff" in typed(shop, found["command"]).out


def test_archived(shop: Path) -> None:
    """An archived project is finished until somebody reopens it."""
    say(shop, "append project.archived")
    for found in (resume(shop), resume(shop, "--step", "2")):
        assert (found["verdict"], found["warnings"]) == ("finished", [])
        assert "archived" in found["say"]
        typed(shop, found["command"])
    [reopen] = offered(found)
    typed(shop, reopen)
    assert resume(shop)["verdict"] == "start"


def test_invoked_at_a_step(shop: Path) -> None:
    """Every earlier step that is neither complete nor skipped is a warning with two offers."""
    say(shop, "step start 1", "step complete 1", "step start 2", "step skip 3")
    found = resume(shop, "--step", "4")
    assert (found["verdict"], found["command"]) == ("start", "passdown step start 4 -p shop")
    warnings = found["warnings"]
    assert [warning["text"] for warning in warnings] == [
        "Step 2 Architecture is in progress.",
        "Step 3_5 Governance is pending.",
    ]
    for key, warning in zip(("2", "3_5"), warnings, strict=True):
        go_on, hand_over = warning["offers"]
        assert go_on == {
            "what": f"go on with step {key}",
            "command": f"passdown resume --step {key} -p shop",
        }
        assert hand_over == {
            "what": "hand to the orchestrator",
            "command": "passdown resume -p shop",
        }
    for command in (*offered(found), found["command"]):
        typed(shop, command)


@pytest.mark.parametrize("key", ["3.5", "3_5"])
def test_both_ways_to_write_a_step(shop: Path, key: str) -> None:
    """People write 3.5 for 3_5."""
    assert resume(shop, "--step", key)["step"] == "3_5"


def test_a_step_that_is_not_there(shop: Path) -> None:
    """A step that the project does not have is an error with what there is."""
    assert quick(shop, "resume", "--step", "9").code == exits.NOT_FOUND


def test_an_agent_whose_step_it_is_not(shop: Path) -> None:
    """An agent at another's step is warned; one at its own is not, and records in its name."""
    mine = resume(shop, "--agent", "02-Requirements")
    assert mine["warnings"] == []
    assert mine["command"] == "passdown step start 1 -p shop --actor 02-Requirements"
    other = resume(shop, "--agent", "07b-Bicep Deploy")
    [warning] = other["warnings"]
    assert (
        warning["text"]
        == "Step 1 Requirements belongs to 02-Requirements, not to 07b-Bicep Deploy."
    )
    for command in (*offered(other), other["command"]):
        typed(shop, command)


@pytest.mark.parametrize("agent", ["-x", "a\nb", "x" * 101, "日本語 ✓", "it's `me`"])
def test_an_agent_with_an_odd_name(shop: Path, agent: str) -> None:
    """Whatever the agent is called, the command works."""
    typed(shop, resume(shop, f"--agent={agent}")["command"])


def test_a_step_without_an_agent(shop: Path) -> None:
    """Whose step 5 is depends on a decision: its values are offered, and settle it."""
    found = resume(shop, "--step", "5")
    assert found["agent"] == ""
    assert "depends on iac_tool" in found["warnings"][-1]["text"]
    bicep, terraform = (offer["command"] for offer in found["warnings"][-1]["offers"])
    typed(shop, bicep)
    assert resume(shop, "--step", "5")["agent"] == "06b-Bicep CodeGen"
    typed(shop, terraform)
    assert resume(shop, "--step", "5")["agent"] == "06t-Terraform CodeGen"


def test_what_must_not_be_missed(shop: Path) -> None:
    """Open must-fix findings, blockers, errors, questions, decisions, next action and notes."""
    say(
        shop,
        "step start 1",
        "finding open 'Key Vault is open'",
        "finding open x --severity consider",
    )
    say(shop, "finding open mended", "finding resolve 3", "blocker raise 'no credentials'")
    say(shop, "error record 'lint failed'", "question open 'who owns DNS?'")
    say(shop, "decide --key region --value swedencentral", "decide Cache --choice none")
    say(shop, "next 'write the plan'", "note --kind skill 'names follow the pattern'")
    found = resume(shop)
    assert found["findings"] == [{"id": "F001", "text": "Key Vault is open"}]
    assert [item["text"] for item in found["blockers"]] == ["no credentials"]
    assert [item["text"] for item in found["errors"]] == ["lint failed"]
    assert [item["text"] for item in found["questions"]] == ["who owns DNS?"]
    assert [item["text"] for item in found["decisions"]] == ["region: swedencentral", "Cache: none"]
    assert [item["text"] for item in found["context"]] == ["names follow the pattern"]
    assert found["next_action"] == "write the plan"
    shown = good(shop, "resume").out
    for text in ("F001 — Key Vault is open", "write the plan", "who owns DNS?"):
        assert text in shown


def test_a_strict_workflow(tmp_path: Path) -> None:
    """Where steps wait for each other and a person decides, no command is given that is refused."""
    (tmp_path / "strict.toml").write_text(STRICT)
    say(tmp_path, "init shop -w strict.toml", "step start 1")
    waits = resume(tmp_path, "--step", "2")
    assert "Before that, finish step 1 Build" in waits["say"]
    assert waits["command"] == "passdown resume --step 1 -p shop"
    say(tmp_path, "step fail 1 no")
    stuck = resume(tmp_path)
    assert (stuck["verdict"], stuck["command"], stuck["offers"]) == ("failed", "", [])
    assert "a person must decide" in stuck["say"]
    say(tmp_path, "actor register ada --role person", "step retry 1 --approved-by ada")
    say(tmp_path, "step complete 1")
    assert resume(tmp_path, "--step", "1")["offers"] == []


# -- where there is no such project ----------------------------------------------------------


def test_nothing_at_all(tmp_path: Path) -> None:
    """In an empty folder the answer is a fresh start under its name, and it works."""
    folder = tmp_path / "My Shop"
    folder.mkdir()
    found = resume(folder)
    assert (found["verdict"], found["source"]) == ("fresh_start", "none")
    assert found["command"] == "passdown init my-shop"
    assert files(folder) == {}
    typed(folder, found["command"])
    assert resume(folder)["verdict"] == "start"


def test_a_project_that_does_not_exist(shop: Path) -> None:
    """An unknown project is a fresh start with the near names, also in a process of its own."""
    found = resume(shop, "-p", "shoq")
    assert (found["verdict"], found["near"]) == ("fresh_start", ["shop"])
    assert found["command"] == "passdown init shoq"
    for command in (*offered(found), found["command"]):
        typed(shop, command)
    assert run(shop, "resume", "-p", "shoes").code == 0


def test_what_cannot_be_a_project(shop: Path) -> None:
    """A name that no project can have is refused."""
    assert quick(shop, "resume", "-p", "../shop").code == exits.INVALID


def test_several_projects(shop: Path) -> None:
    """Which of several is meant has to be said."""
    good(shop, "init", "other")
    assert quick(shop, "resume").code == exits.INVALID
    assert resume(shop, "-p", "other")["project"] == "other"


def test_a_journal_that_is_lost(shop: Path) -> None:
    """A workspace whose journal is gone has no fresh start: it is an error."""
    for path in (shop / ".passdown").glob("journal.db*"):
        path.unlink()
    assert quick(shop, "resume").code == exits.MISSING


# -- from a file -----------------------------------------------------------------------------


def put(folder: Path, document: object, name: str = "shop", suffix: str = "") -> None:
    """A state file that somebody wrote by hand."""
    path = folder / f"agent-output/{name}/00-session-state.json{suffix}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(document if isinstance(document, bytes) else json.dumps(document).encode())


def document(version: object = "3.0") -> dict[str, object]:
    """A state file in the middle of step 2."""
    steps = {
        "1": {"status": "complete", "sub_step": "phase_5_artifact"},
        "2": {
            "status": "in_progress",
            "sub_step": "phase_2_waf",
            "context_files_used": ["01-requirements.md"],
        },
        "3.5": {"status": "pending"},
    }
    findings = ["Key Vault is open", {"id": "f", "description": "old", "status": "resolved"}]
    versioned = {} if version is MISSING else {"schema_version": version}
    return {
        **versioned,
        "project": "The Shop",
        "current_step": 2,
        "decisions": {"region": "swedencentral"},
        "open_findings": findings,
        "steps": steps,
    }


def adopts(folder: Path, command: str) -> None:
    """The command works, and from then on the journal answers the same."""
    typed(folder, command)
    found = resume(folder, "-p", "shop")
    assert (found["source"], found["project"], found["title"]) == (
        "journal",
        "the-shop",
        "The Shop",
    )
    assert (found["verdict"], found["checkpoint"]) == ("continue", "phase_2_waf")


@pytest.mark.parametrize("journal", [False, True])
def test_a_file_without_a_journal(tmp_path: Path, journal: bool) -> None:
    """A state file that was not adopted is answered from, and how to adopt it is said."""
    if journal:
        good(tmp_path, "init", "other")
    put(tmp_path, document())
    found = resume(tmp_path, "-p", "shop")
    assert (found["source"], found["verdict"], found["step"]) == ("file", "continue", "2")
    assert (found["title"], found["agent"]) == ("The Shop", "03-Architect")
    assert found["checkpoint"] == "phase_2_waf"
    assert loaded(found) == [STATE]
    assert found["skip_reading"] == ["01-requirements.md"]
    assert [item["text"] for item in found["findings"]] == ["Key Vault is open"]
    assert [item["text"] for item in found["decisions"]] == ["region: swedencentral"]
    assert found["command"] == f"passdown adopt {STATE}"
    assert resume(tmp_path, "-p", "shop", "--step", "3.5")["step"] == "3_5"
    adopts(tmp_path, found["command"])


def test_the_only_file_need_not_be_named(tmp_path: Path) -> None:
    """Without a journal the only state file is meant; of several one has to be named."""
    put(tmp_path, document())
    assert resume(tmp_path)["project"] == "shop"
    put(tmp_path, document(), "other")
    assert quick(tmp_path, "resume").code == exits.INVALID


def test_from_a_folder_below(tmp_path: Path) -> None:
    """Deeper in the workspace the file is found as well, and adopted into the right place."""
    put(tmp_path, document())
    below = tmp_path / "agent-output/shop"
    found = good(below, "resume", "--json").json
    assert found["command"] == f"cd ../.. && passdown adopt {STATE}"
    here = Path(sys.executable).parent
    done = finished(["sh", "-c", found["command"]], below, env={"PATH": f"{here}:/usr/bin:/bin"})
    assert done.code == 0, done
    assert (tmp_path / ".passdown/journal.db").is_file()
    assert good(below, "resume", "--json").json["source"] == "journal"


@pytest.mark.parametrize("version", ["1.0", "2.0", MISSING])
def test_an_older_file(tmp_path: Path, version: object) -> None:
    """A file that is not v3.0 is to be migrated first; until then step work is refused."""
    put(tmp_path, document(version))
    found = resume(tmp_path)
    assert (found["verdict"], found["step"]) == ("migrate", "2")
    assert "migrate it first" in found["say"]
    assert "step work is refused until then" in found["say"]
    adopts(tmp_path, found["command"])


@pytest.mark.parametrize("version", ["4.0", 3, None, "", ["3.0"], {}])
def test_a_file_of_an_unknown_version(tmp_path: Path, version: object) -> None:
    """A version that nobody knows is left alone."""
    put(tmp_path, document(version))
    found = resume(tmp_path)
    assert (found["verdict"], found["command"], found["step"]) == ("refused", "", "")


@pytest.mark.parametrize(
    "content", [b"", b"{", b'{"a": "\xc3', b"[]", b"{}", b"\xff\xfe{}", b"[" * 10**6]
)
def test_an_unreadable_file(tmp_path: Path, content: bytes) -> None:
    """A file that cannot be read is said to be so; its backup answers, if there is one."""
    put(tmp_path, content)
    found = resume(tmp_path)
    assert (found["verdict"], found["source"]) == ("unreadable", "file")
    assert f"{STATE} cannot be read" in found["say"]
    assert "of its .bak, it is not there" in found["say"]
    assert found["command"] == f"passdown adopt {STATE} --fresh"
    put(tmp_path, document(), suffix=".bak")
    found = resume(tmp_path)
    assert (found["verdict"], found["checkpoint"]) == ("continue", "phase_2_waf")
    assert f"This is what {STATE}.bak says" in found["warnings"][0]["text"]
    adopts(tmp_path, found["command"])


def test_nothing_readable(tmp_path: Path) -> None:
    """Where neither file nor backup can be read, the command begins afresh on purpose."""
    put(tmp_path, b"")
    put(tmp_path, b"", suffix=".bak")
    found = resume(tmp_path)
    assert "the file is empty, and of its .bak, the file is empty" in found["say"]
    typed(tmp_path, found["command"])
    assert resume(tmp_path)["verdict"] == "start"


def test_only_a_backup(tmp_path: Path) -> None:
    """Where only the backup is left, it answers."""
    put(tmp_path, document(), suffix=".bak")
    found = resume(tmp_path)
    assert (found["verdict"], found["source"]) == ("continue", "file")


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real files is not here")
def test_real_files(tmp_path: Path) -> None:
    """Every real file gives an answer, from the file and for each of its steps."""
    paths = [path for path in sorted(CORPUS.glob("*.json")) if "schema" not in path.name]
    assert paths
    for path in paths:
        folder = tmp_path / path.stem
        put(folder, path.read_bytes())
        found = resume(folder)
        real = json.loads(path.read_bytes())
        current = real.get("schema_version") == "3.0"
        assert found["source"] == "file"
        assert (found["verdict"] == "migrate") == (not current)
        assert found["title"] == real["project"]
        for key in real["steps"]:
            assert resume(folder, "--step", key)["step"] == key.replace(".", "_")


NOW = 1_772_446_500_000_000
_ODD = st.one_of(JSON, st.sampled_from(("complete", "3.5", 10**30, float("nan"), "\ud800", [[]])))
_STEP = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(
        ("name", "agent", "status", "sub_step", "artifacts", "context_files_used"), _ODD
    ),
)
_DOCUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "schema_version": st.sampled_from(("3.0", "2.0", 3, None)),
        "project": _ODD,
        "current_step": _ODD,
        "branch": _ODD,
        "iac_tool": _ODD,
        "decisions": _ODD | st.dictionaries(st.sampled_from(("region", "budget")), _ODD),
        "decision_log": _ODD
        | st.lists(
            _ODD | st.dictionaries(st.sampled_from(("id", "title", "decision", "status")), _ODD)
        ),
        "open_findings": _ODD
        | st.lists(_ODD | st.dictionaries(st.sampled_from(("id", "description", "status")), _ODD)),
        "steps": _ODD
        | st.dictionaries(st.sampled_from(("1", "3.5", "3_5", "7", "99", "x", "")), _STEP | _ODD),
    },
)


@settings(max_examples=200, deadline=None)
@given(_DOCUMENTS)
def test_any_json_gives_an_answer(document: dict[str, Any]) -> None:
    """Whatever is where in a state file, there is an answer that can be shown."""
    try:
        file = unadopted.read("shop", json.dumps(document).encode(), NOW)
    except Invalid:
        return
    brief = unadopted.from_file(compose(file.project), file, STATE, "passdown adopt x")
    check(brief)


@given(st.binary(max_size=40))
@example(b'{"steps": {"1": {"status": ' + b"[" * 900 + b"]" * 900 + b"}}}")
@example(b'{"current_step": 1' + b"0" * 5000 + b"}")
def test_any_bytes_give_an_answer_or_a_reason(content: bytes) -> None:
    """Bytes are a document, or there is a reason why they are none."""
    try:
        file = unadopted.read("shop", content, NOW)
    except Invalid:
        return
    check(compose(file.project))


# -- laws ------------------------------------------------------------------------------------

COMMONMARK = MarkdownIt("commonmark").enable(["table", "strikethrough"])
TITLES = {topic.title for topic in TOPICS.values()}


def check(brief: Brief) -> None:
    """It can be printed, and no text in it has become a heading, a link or HTML."""
    text = render(brief)
    text.encode()
    tokens = COMMONMARK.parse(text)
    headings = [tokens[n + 1] for n, token in enumerate(tokens) if token.type == "heading_open"]
    assert {heading.content for heading in headings[1:]} <= TITLES
    kinds = {token.type.removesuffix("_open").removesuffix("_close") for token in tokens}
    assert kinds <= {"heading", "paragraph", "bullet_list", "list_item", "inline"}
    parts = {part.type for token in tokens for part in token.children or ()}
    assert parts <= {"text", "code_inline", "softbreak"}


def proposed(command: str) -> e.Event | None:
    """The event that a command about a step proposes; of several steps, the first."""
    words = shlex.split(command)[1:]
    match words[: words.index("-p")]:
        case ["step", "start", step, *_]:
            return e.StepStarted(step)
        case ["step", "checkpoint", step, reached]:
            return e.StepCheckpointed(step, reached)
        case ["step", "complete", step]:
            return e.StepCompleted(step)
        case ["step", "retry" | "rerun" as mode, step]:
            return e.StepRestarted(step, mode)
        case ["step", "skip", step, "--reason", reason]:
            return e.StepSkipped(step, reason)
        case ["plan", "start", plan]:
            return e.PlanStarted(plan)
        case ["plan", "complete", plan]:
            return e.PlanCompleted(plan)
        case ["task", "start", task]:
            return e.TaskStarted(task)
        case ["task", "complete", task]:
            return e.TaskCompleted(task)
        case ["decide", "--key", key, "--value", value]:
            return e.DecisionMade(key=key, value=value)
        case ["reopen"]:
            return e.ProjectReopened()
        case ["archive", *rest]:
            return e.ProjectArchived(rest[1] if rest else "")
        case ["abort", "--reason", reason]:
            return e.ProjectAborted(reason)
        case ["step", "adjust", step, "--agent", whose, "--reason", reason]:
            return e.StepAdjusted(step, agent=whose, reason=reason)
        case ["step", "reconcile", step, "--note", note]:
            return e.StepReconciled(step, note)
        case [("resume" | "show"), *_]:
            return None
    raise AssertionError(command)


@settings(deadline=None)
@given(projects(), st.sampled_from(("", "worker-abc", "02-Requirements")), st.data())
def test_every_state_has_a_brief(project: Project, agent: str, data: st.DataObject) -> None:
    """It never fails, is the same each time, leaves the state equal, and offers what is allowed."""
    before, with_person = project.copy(), project.copy()
    with_person.actors["PERSON"] = n.Actor("PERSON", "person")
    named = st.sampled_from(sorted(named_files(project)))
    sizes = data.draw(st.dictionaries(named, st.integers(0, 10**6)))
    for step in ("", *project.steps):
        brief = compose(project, step=step, agent=agent, sizes=sizes)
        assert brief == compose(project.copy(), step=step, agent=agent, sizes=sizes)
        check(brief)
        offers = [*brief.offers, *(offer for warning in brief.warnings for offer in warning.offers)]
        for command in (brief.command, *(offer.command for offer in offers)):
            if event := proposed(command):
                words = shlex.split(command)
                actor = words[words.index("--actor") + 1] if "--actor" in words else None
                decide(with_person, event, By(actor))
    assert project == before
