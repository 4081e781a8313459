"""STATE.md files that are there, and edits of our own, become events without losing a word."""

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from command import files, good, quick
from examples import rich
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import START, projects

from cli import exits
from journal import Project, evolve
from journal import events as e
from journal.errors import Invalid
from journal.request import Request, decided, provisional
from projections import state_md
from projections.state_md.writing import LINES

CORPUS = Path(__file__).parents[2] / "shared/corpus/state-md/STATE.md"
BY = Request(e.ProjectReopened(), "ada")

#: Shaped like the files of the field: counts without names, and figures that do not agree.
FILE = """\
# STATE.md

initiative: init-42
title: Billing

# Current Position
position:
  phase: 2
  phase_name: "Invoices"
  plan: 3
  plan_name: "Tax rules"
  task: "Rounding"
  wave: 1
  status: in_progress

progress:
  phases_total: 4
  phases_completed: 1
  current_phase_tasks: 8
  current_phase_completed: 5
  bar: "████████░░░░░░░░ 50%"

decisions:
  - date: 2024-03-01
    context: "Currency"
    decision: "Integer cents"
    reason: "No rounding by accident"
    alternatives_considered: ["Decimal: slow"]
    reversible: false
  - date: 2024-03-02
    context: "Tax service"
    decision: "None"
    weight: 3

blockers:
  - id: block-001
    description: "No contract"
    blocked_since: 2024-03-02
    affects: ["Phase 3: Dunning"]
    workaround: "Work on phase 2"
  - id: block-007
    status: bypassed
    description: "No icons"
    identified_at: 2024-03-03T10:00:00Z
    affects: []
    blocked_tasks:
      - task-9: "Draw them"
    workaround: "Boxes"
    resolution: null

sessions:
  - id: session-001
    agent: worker-abc
    started: 2024-03-01T09:00:00Z
    ended: 2024-03-01T12:00:00Z
    context_usage: "62%"
    completed: ["Phase 1: Accounts"]
    handoff_reason: "Context limit"
  - id: session-003
    started: 2024-03-02T09:00:00Z
    status: crashed
    notes: "Agent unresponsive, task reset"
  - id: session-004
    started: 2024-03-03T09:00:00Z
    status: active
    notes: "Resuming from session-003 crash"

next_action: |
  Write the rounding.
  Then the tests.

resume_context:
  files_modified_this_session:
    - src/tax.py
  key_implementations:
    - "Rates are stored per day"
  open_questions: ["Who owns the rates?"]

owner: {name: Grace, since: 2024-01-01}
"""


def adopted(content: bytes, project: Project | None = None, **given: Any) -> Project:
    """The project once a file was adopted."""
    project = Project("billing") if project is None else project.copy()
    source = state_md.read(content)
    now = START + 10**12
    for request in state_md.adopt(source, project, "STATE.md", "00", now=now, by=BY, **given):
        for asked, event, payload in decided(project, [request], now):
            evolve(project, provisional(project, asked, event.type, payload, now))
    return project


def different(one: Any, other: Any, where: str = "") -> list[str]:
    """The places where two YAML documents are not the same, types and all."""
    if isinstance(one, dict) and isinstance(other, dict):
        found = []
        for key in {**one, **other}:
            missing = key not in one or key not in other
            inside = f"{where}.{key}"
            found += [inside] if missing else different(one[key], other[key], inside)
        return found
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        return [x for n, (a, b) in pairs for x in different(a, b, f"{where}[{n}]")]
    return [] if (type(one), one) == (type(other), other) else [where]


def test_the_example_of_the_field() -> None:
    """Adopted and rendered it is the same mapping; the bar alone is another: 13 of 32 are 40 %."""
    if not CORPUS.exists():
        pytest.skip("the corpus of real files is not here")
    content = CORPUS.read_bytes()
    shown = state_md.render(adopted(content))
    assert different(yaml.safe_load(content), yaml.safe_load(shown)) == [".progress.bar"]
    assert yaml.safe_load(shown)["progress"]["bar"] == "██████░░░░░░░░░░ 40%"
    assert list(yaml.safe_load(shown)) == list(yaml.safe_load(content))


def test_a_file_of_every_shape() -> None:
    """Optional fields, unknown ones, dates and figures come out as they went in."""
    project = adopted(FILE.encode())
    shown = state_md.render(project)
    assert different(yaml.safe_load(FILE), yaml.safe_load(shown)) == [".progress.bar"]
    assert [(s.key, s.name, s.status) for s in project.steps.values()] == [
        ("1", "Accounts", "complete"),
        ("2", "Invoices", "in_progress"),
        ("3", "Dunning", "pending"),
        ("4", "Phase 4", "pending"),
    ]
    assert [(b.id, b.status) for b in project.blockers.values()] == [
        ("block-001", "active"),
        ("block-007", "bypassed"),
    ]
    statuses = [(s.id, s.status, s.continues) for s in project.sessions.values()]
    assert statuses[1:] == [
        ("session-003", "crashed", ""),
        ("session-004", "active", "session-003"),
    ]
    assert project.tasks["T001"].session == "session-004"


def test_adopted_again_it_comes_to_nothing() -> None:
    """The same file, and what was rendered of it, say nothing new."""
    project = adopted(FILE.encode())
    for content in (FILE.encode(), state_md.render(project)):
        assert adopted(content, project).version == project.version
        assert adopted(content, project, base=project, removals=True).version == project.version


@settings(deadline=None, max_examples=200)
@given(projects())
def test_what_was_rendered_says_nothing_new(project: Project) -> None:
    """Any state that was written into a file is what the file says."""
    content = state_md.render(project)
    assert adopted(content, project, base=project, removals=True).version == project.version


@settings(deadline=None, max_examples=100)
@given(projects())
def test_a_file_without_its_journal(project: Project) -> None:
    """Whatever we rendered, adopted into an empty journal it reads the same but for the figures."""
    project = project.copy()
    project.leftovers.clear()
    content = state_md.render(project)
    again = state_md.render(adopted(content, Project(project.slug)))
    found = different(yaml.safe_load(content), yaml.safe_load(again))
    assert [place for place in found if not place.startswith(".progress.")] == []


def test_counts_stay_true_until_tasks_are_named() -> None:
    """Eight tasks of which five are done: one more done is six, and a ninth with a name is nine."""
    project = adopted(FILE.encode())

    def figures() -> tuple[Any, Any]:
        found = state_md.progress(project)
        return found["current_phase_tasks"], found["current_phase_completed"]

    assert figures() == (8, 5)
    happened(project, e.TaskCompleted("T001"))
    assert figures() == (8, 6)
    happened(project, *(e.TaskAdded(f"task {n}", step="2") for n in range(8)))
    assert figures() == (9, 6)


def happened(project: Project, *events: e.Event) -> None:
    """Have these be asked for, one after the other."""
    for event in events:
        for asked, made, payload in decided(project, [Request(event, "ada")], START + 10**12):
            evolve(project, provisional(project, asked, made.type, payload, START + 10**12))


EDITS: list[tuple[str, str, str]] = [
    ('decision: "Integer cents"', 'decision: "Decimal"', "decision.superseded"),
    ('context: "Tax service"', 'context: "Tax provider"', "decision.made"),
    ("status: bypassed", "status: resolved", "blocker.resolved"),
    ('title: "Billing"', 'title: "Invoicing"', "project.retitled"),
    ('task: "Rounding"', 'task: "Tests"', "task.started"),
    ("current_phase_completed: 5", "current_phase_completed: 7", "task.counted"),
    ("phases_completed: 1", "phases_completed: 2", "step.adopted"),
    ("  plan: 3", "  plan: 4", "plan.started"),
    ("status: in_progress", "status: complete", "step.completed"),
    ("  Write the rounding.", "  Write nothing.", "next_action.set"),
    ("    - src/tax.py", "    - src/tax.py\n    - src/vat.py", "files.changed"),
    ('- "Rates are stored per day"', '- "Rates are stored per day"\n    - "x"', "context.noted"),
    ('- "Who owns the rates?"', '- "Who owns the rates?"\n    - "Why?"', "question.opened"),
    ("    - session-004", "    - session-004", ""),
    (
        "    status: active\n    notes",
        "    ended: 2024-03-03T12:00:00Z\n    notes",
        "session.ended",
    ),
]


@pytest.mark.parametrize(("old", "new", "kind"), [edit for edit in EDITS if edit[2]])
def test_an_edit_is_an_event(tmp_path: Path, old: str, new: str, kind: str) -> None:
    """What somebody changes in the file is shown as drift, and adopted as what it means."""
    state = workspace(tmp_path)
    text = state.read_text()
    assert old in text, text
    state.write_text(text.replace(old, new, 1))
    edited = yaml.safe_load(state.read_text())
    assert quick(tmp_path, "drift").code == exits.NOT_WELL
    before = good(tmp_path, "show", "--json").json["version"]
    good(tmp_path, "drift", "--adopt")
    lines = good(tmp_path, "log", "-n", "0", "--after", str(before), "--json").out.splitlines()
    assert kind in [json.loads(line)["type"] for line in lines]
    found = different(edited, yaml.safe_load(state.read_text()))
    assert [x for x in found if not x.startswith((".progress", ".decisions", ".sessions"))] in (
        [],
        [".blockers"],  # what is resolved is not among them
        [".position.plan_name"],
    )
    assert good(tmp_path, "verify").code == 0
    assert good(tmp_path, "drift").code == 0


def workspace(folder: Path) -> Path:
    """A workspace into which the file was adopted; its STATE.md."""
    state = folder / ".planning/STATE.md"
    state.parent.mkdir()
    state.write_text(FILE)
    good(folder, "adopt", ".planning/STATE.md")
    return state


def test_an_edit_is_put_back(tmp_path: Path) -> None:
    """`--revert` restores what the journal renders and keeps the edit."""
    state = workspace(tmp_path)
    content = state.read_bytes()
    state.write_bytes(content.replace(b"Integer cents", b"Floats"))
    good(tmp_path, "drift", "--revert")
    assert state.read_bytes() == content
    assert any(b"Floats" in kept.read_bytes() for kept in (tmp_path / ".passdown/lost").iterdir())


def test_an_entry_that_was_taken_out(tmp_path: Path) -> None:
    """A decision that somebody deletes is superseded, a question answered, a blocker resolved."""
    state = workspace(tmp_path)
    text = state.read_text()
    start, end = text.index("  - date: 2024-03-02"), text.index("# Active Blockers")
    text = text[:start] + "\n" + text[end:]
    state.write_text(text.replace('\n    - "Who owns the rates?"', " []"))
    good(tmp_path, "drift", "--adopt")
    found = good(tmp_path, "show", "--json").json
    assert found["decisions"]["D002"]["superseded_by"] is not None
    assert found["questions"]["OQ-001"]["status"] == "resolved"
    assert "Tax service" not in state.read_text()


def test_edits_are_adopted_by_themselves(tmp_path: Path) -> None:
    """With drift = "adopt" the next command records what an agent wrote into the file."""
    state = workspace(tmp_path)
    (tmp_path / "passdown.toml").write_text('drift = "adopt"\n')
    state.write_text(state.read_text().replace("Integer cents", "Decimal"))
    good(tmp_path, "next", "Ship it")
    decisions = good(tmp_path, "show", "--json").json["decisions"]
    assert [x["choice"] for x in decisions.values()][-1] == "Decimal"
    assert yaml.safe_load(state.read_text())["next_action"].strip() == "Ship it"
    assert good(tmp_path, "verify").code == 0


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "no YAML mapping"),
        ("# STATE.md\n", "no YAML mapping"),
        ("- a\n", "no YAML mapping"),
        ("title: [", "not YAML: line "),
        ("title: x\n\tposition: y", "not YAML: line 2"),
        ("a: 1\nb: 2\n", "neither initiative nor position"),
        ("title: x\ntitle: y\n", "'title' stands there twice"),
        ("initiative: x\nblockers:\n- id: b\n- id: b\n", "blockers has the id 'b' twice"),
        ("initiative: x\nsessions:\n- id: s\n- id: s\n", "sessions has the id 's' twice"),
        ("initiative: x\n5: five\n", "line 2: the key is no text"),
        ("initiative: &a [*a]", "too many values, or too deep"),
        ("initiative: x\nk: " + "[" * 2000 + "]" * 2000, "too deep"),
        ("initiative: x\nt: \"\\0\"", "a character that no text has"),
        (b"initiative: \xff", "not YAML"),
    ],
)  # fmt: skip
def test_what_is_no_state_md(tmp_path: Path, content: str | bytes, why: str) -> None:
    """What cannot be read is refused in one sentence, and nothing is made or changed."""
    path = tmp_path / "STATE.md"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    before = files(tmp_path)
    said = quick(tmp_path, "adopt", "STATE.md")
    assert said.code == exits.INVALID, said
    assert why in said.err
    assert "Traceback" not in said.err
    assert len(said.err.splitlines()) == 1
    assert files(tmp_path) == before


_YAML = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.dates(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=8) | st.integers(), inner, max_size=3)
    ),
    max_leaves=12,
)
_KEYS = st.sampled_from(
    ("title", "position", "progress", "decisions", "blockers", "sessions", "next_action",
     "resume_context", "escalation", "owner", "3.5", "!yaml")
)  # fmt: skip


@settings(deadline=None, max_examples=300)
@given(st.dictionaries(_KEYS, _YAML, max_size=6))
def test_any_yaml_is_adopted_or_refused(document: dict[str, Any]) -> None:
    """Whatever stands in the sections: one sentence, or a file that says the same again."""
    content = yaml.safe_dump({"initiative": "x", **document}, allow_unicode=True).encode()
    try:
        project = adopted(content)
    except Invalid:
        return
    shown = state_md.render(project)
    assert len(shown.splitlines()) <= LINES
    again = yaml.safe_load(shown)
    assert again["initiative"] == "x"
    assert adopted(shown, project, base=project, removals=True).version == project.version


# -- copies of other times and other hands ---------------------------------------------------


def changed(project: Project, change: Callable[[dict[str, Any]], None]) -> bytes:
    """The file as a YAML library writes it, once somebody changed something in it."""
    document = yaml.safe_load(state_md.render(project))
    change(document)
    return yaml.safe_dump(document, allow_unicode=True, sort_keys=False).encode()


def choices(project: Project) -> list[str]:
    """What was decided and holds."""
    return [d.choice for d in project.decisions.values() if d.superseded_by is None]


def test_a_copy_that_is_written_again() -> None:
    """What an agent added to its copy is recorded once, however often it writes that."""
    base = adopted(FILE.encode())

    def one(document: dict[str, Any]) -> None:
        added = {"date": date(2024, 4, 1), "context": "Retries", "decision": "three"}
        document["decisions"].append(added)
        document["blockers"].append({"description": "No key"})
        document["resume_context"]["open_questions"].append("Why?")

    def two(document: dict[str, Any]) -> None:
        one(document)
        document["decisions"].append({"context": "Timeout", "decision": "ten"})

    project = adopted(changed(base, one), base, base=base, removals=True)
    again = adopted(changed(base, two), project, base=base, removals=True)
    assert choices(again) == ["Integer cents", "None", "three", "ten"]
    assert [b.description for b in again.blockers.values()].count("No key") == 1
    assert [q.text for q in again.questions.values()].count("Why?") == 1


def test_a_copy_of_before() -> None:
    """What was settled since does not come back with an old copy, nor under another id."""
    base = adopted(FILE.encode())
    old = changed(base, lambda document: document["position"].update(wave=2))
    project = base.copy()
    happened(project, e.BlockerResolved("block-001"), e.DecisionSuperseded("D001"))
    after = adopted(old, project)
    assert [b.id for b in after.blockers.values()] == ["block-001", "block-007"]
    shown = yaml.safe_load(state_md.render(after))
    assert [b["id"] for b in shown["blockers"]] == ["block-007"]


def test_a_copy_of_what_was_cut() -> None:
    """The whole of a file of which only the newest is shown says nothing new."""
    day = date(2024, 1, 1)
    decisions = [{"date": day, "context": f"c{n}", "decision": "x"} for n in range(300)]
    sessions = [{"id": f"session-{n:03}", "status": "crashed"} for n in range(1, 151)]
    whole = {"initiative": "x", "title": "t", "decisions": decisions, "sessions": sessions}
    project = adopted(yaml.safe_dump(whole).encode())
    assert len(project.decisions) == 300
    again = adopted(yaml.safe_dump({**whole, "title": "other"}).encode(), project)
    assert (len(again.decisions), len(again.sessions)) == (300, 150)


def test_a_file_that_a_library_wrote(tmp_path: Path) -> None:
    """Without its title and comments it is still the file, and an edit of it is drift."""
    state = workspace(tmp_path)
    document = yaml.safe_load(state.read_text())
    document["decisions"].append({"context": "Retries", "decision": "three"})
    state.write_text(yaml.safe_dump(document))
    assert "decisions" in quick(tmp_path, "drift").out
    good(tmp_path, "drift", "--adopt")
    assert "Retries" in state.read_text()
    assert good(tmp_path, "verify").code == 0


def test_mappings_where_lists_should_be() -> None:
    """They become events as well, by their names, and stand as they are."""
    text = """\
initiative: x
title: t
decisions: {auth: {context: Auth, decision: JWT}}
blockers: {creds: {description: waiting, affects: ["Phase 1"]}}
position: {phase: 1, status: in_progress}
resume_context: {key_implementations: {tokens: stored}, open_questions: []}
"""
    project = adopted(text.encode())
    assert project.blockers["creds"].description == "waiting"
    assert project.decisions["auth"].choice == "JWT"
    again = yaml.safe_load(state_md.render(project))
    found = yaml.safe_load(text)
    assert (again["decisions"], again["blockers"]) == (found["decisions"], found["blockers"])
    assert again["resume_context"]["key_implementations"] == {"tokens": "stored"}
    happened(project, e.DecisionMade("Cache", "none"))
    assert len(yaml.safe_load(state_md.render(project))["decisions"]) == 2


def test_the_phase_is_moved_by_hand() -> None:
    """Plan, task and wave move with it."""
    base = adopted(FILE.encode())
    content = state_md.render(base).replace(b"  phase: 2\n", b"  phase: 4\n")
    project = adopted(content, base, base=base, removals=True)
    at = yaml.safe_load(state_md.render(project))["position"]
    assert (at["phase"], at["plan"], at["task"], at["wave"]) == (4, 3, "Rounding", 1)


@pytest.mark.parametrize("section", ["decisions: null", 'decisions: "unchanged"', ""])
def test_a_section_that_is_no_list(section: str) -> None:
    """It says nothing about what was in it."""
    base = adopted(FILE.encode())
    text = state_md.render(base).decode()
    start, end = text.index("decisions:"), text.index("# Active Blockers")
    content = f"{text[:start]}{section}\n{text[end:]}".encode()
    assert choices(adopted(content, base, base=base, removals=True)) == ["Integer cents", "None"]


def test_forms_that_are_kept() -> None:
    """A quoted date stays text, and what stands beside the figures stays."""
    text = """\
initiative: x
title: t
progress: {phases_total: 1, phases_completed: 0, current_phase_tasks: 0,
  current_phase_completed: 0, bar: x, velocity: 3}
decisions: [{date: "2024-01-14", context: c, decision: d}]
sessions: [{id: s, started: 2024-01-14T9:00:00Z, ended: "2024-01-15"}]
"""
    shown = yaml.safe_load(state_md.render(adopted(text.encode())))
    found = different(yaml.safe_load(text), {key: shown[key] for key in yaml.safe_load(text)})
    assert found == [".progress.bar"]


def test_a_context_full_of_other_things() -> None:
    """Whatever else is in the file, the newest decision and blocker are shown in 399 lines."""
    beside = {f"note{n}": ["a", "b"] for n in range(300)}
    document: dict[str, Any] = {"initiative": "x", "title": "t", "more": ["x"] * 900}
    document["resume_context"] = beside
    document["decisions"] = [{"context": "c", "decision": "d"}]
    document["blockers"] = [{"id": "b", "description": "no key"}]
    content = state_md.render(adopted(yaml.safe_dump(document).encode()))
    assert len(content.splitlines()) <= LINES
    shown = yaml.safe_load(content)
    assert (len(shown["decisions"]), len(shown["blockers"])) == (1, 1)


# -- never too long --------------------------------------------------------------------------


def crowded(count: int, text: str) -> Project:
    """A project with so many things of each kind."""
    project = rich()
    for n in range(count):
        happened(
            project,
            e.DecisionMade(f"{text} {n}", "yes", alternatives=(text,) * (n % 20)),
            e.BlockerRaised(f"{text} {n}", affects=(text,) * (n % 20)),
            e.QuestionOpened(f"{text} {n}"),
            e.ContextNoted("implementation", f"{text} {n}"),
            e.FilesChanged(f"src/{n}.py"),
            e.SessionStarted(agent=f"a{n}", name=f"s{n}"),
        )
    happened(project, e.NextActionSet("\n".join([text] * count)))
    return project


@pytest.mark.parametrize("count", [1, 30, 300])
def test_the_newest_and_how_many_older_ones(count: int) -> None:
    """Under 400 lines for any history: the newest of each, and a comment that counts the rest."""
    project = crowded(count, "word")
    content = state_md.render(project)
    assert len(content.splitlines()) < 400
    state = yaml.safe_load(content)
    assert state["decisions"][-1]["context"] == f"word {count - 1}"
    assert state["blockers"][-1]["description"] == f"word {count - 1}"
    assert state["sessions"][-1]["agent"] == f"a{count - 1}"
    assert len(state["decisions"]) >= 8
    if count == 300:
        more = f"older decisions are not shown: passdown show --as json -p {project.slug}"
        [line] = [x for x in content.decode().splitlines() if x.endswith(more)]
        held = sum(d.superseded_by is None for d in project.decisions.values())
        assert int(line.split()[1]) == held - len(state["decisions"])


def test_what_was_cut_was_not_removed() -> None:
    """An edit of a file that shows the newest only takes nothing away from the others."""
    project = crowded(300, "word")
    content = state_md.render(project).replace(b"word 299", b"mine", 1)
    after = adopted(content, project, base=project, removals=True)
    gone = [d.id for d in after.decisions.values() if d.superseded_by is not None]
    known = [d.id for d in project.decisions.values() if d.superseded_by is not None]
    assert len(gone) == len(known) + 1
    assert [b.status for b in after.blockers.values()].count("resolved") == [
        b.status for b in project.blockers.values()
    ].count("resolved")
