"""active-session.md files that are there, and edits of our own, become events and lose no word.

The real tool is simulated: it parses the front matter as JSON, changes the mapping, writes all of
it back as it writes JSON, and keeps the body to the letter.
"""

import copy
import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from command import files, good, quick
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import JSON, START, projects
from test_active_session import STEPS, apart, opened

from cli import exits
from journal import Project, evolve
from journal import events as e
from journal.errors import Invalid
from journal.request import Request, decided, provisional
from projections import active_session
from projections.active_session import FORMS, read, render

CORPUS = Path(__file__).parents[2] / "shared/corpus/maestro"
NOW = START + 10**12
BY = Request(e.ProjectReopened(), "ada")

#: As an agent that follows the protocol by hand leaves it: block YAML, and a log of its own.
FILE = """\
---
session_id: "2026-01-01-Limit_1"
created: "2026-01-01T10:00:00Z"
updated: 2026-01-01T12:00:00Z
status: "in_progress"
design_document: ".gemini/plans/limit-design.md"
implementation_plan: "/home/someone/plans/limit-impl-plan.md"
current_phase: 3
total_phases: 4

token_usage:
  total_input: 900
  total_output: 50
  total_cached: 0
  by_agent:
    coder:
      input: 600
      output: 50
      cached: 0
      phases: [1]

phases:
  - id: 1
    name: "Design API"
    status: "completed"
    agents: ["architect", "reviewer"]
    parallel: false
    started: "2026-01-01T10:05:00Z"
    completed: "2026-01-01T10:30:00.250Z"
    blocked_by: []
    files_created: ["docs/api.md"]
    files_modified: []
    files_deleted: []
    errors:
      - agent: "architect"
        timestamp: "2026-01-01T10:10:00Z"
        type: "timeout"
        message: "No answer"
        resolution: "asked again"
        resolved: true
    retry_count: 1
  - id: 2
    name: "Implement"
    status: "failed"
    agents: ["coder"]
    parallel: true
    started: "2026-01-01T10:30:00Z"
    completed: null
    blocked_by: [1, 4]
    files_created: []
    files_modified: ["src/a.js", "/etc/hosts"]
    files_deleted: []
    errors:
      - agent: "coder"
        timestamp: "2026-01-01T11:00:00Z"
        type: "cosmic_ray"
        message: "A bit flipped"
        resolution: "pending"
        resolved: false
    retry_count: 0
  - id: 3
    name: "Document"
    status: "in_progress"
    agents: ["writer"]
    parallel: false
    started: "2026-01-01T10:31:00Z"
    completed: null
    blocked_by: [2]
    files_created: []
    files_modified: []
    files_deleted: []
    errors: []
    retry_count: 0
    mood: {hopeful: true}
  - id: 4
    name: "Release"
    status: "skipped"
    agents: []
    parallel: false
    started: null
    completed: null
    blocked_by: []
    files_created: []
    files_modified: []
    files_deleted: []
    errors: []
    retry_count: 0
owner: "Grace"
---

# Rate limiter Orchestration Log

We begin with the design.

## Phase 1: Design API ✓

### Architect Output
Two calls, `check` and `reset`.

### Files Changed
- Created: docs/api.md

### Validation Result
Pass

## Phase 2: Implement ✗
It failed.  \t

```
## Phase 2: quoted
```
"""


def adopted(content: bytes, project: Project | None = None, **given: Any) -> Project:
    """The project once a file was adopted."""
    project = Project("limit") if project is None else project.copy()
    made = active_session.adopt_bytes(
        content, project, "docs/active-session.md", now=NOW, by=BY, **given
    )
    for request in made:
        for asked, event, payload in decided(project, [request], NOW):
            evolve(project, provisional(project, asked, event.type, payload, NOW))
    return project


def mapping(content: bytes) -> Any:
    """The front matter without what is nobody's word."""
    text = apart(content)[0]
    front = json.loads(text) if text.startswith("{") else yaml.safe_load(text)
    return {key: each for key, each in front.items() if key not in ("updated", "_passdown")}


def tool(content: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    """What the real tool makes of a file."""
    front, body = apart(content)
    state = json.loads(front)
    change(state)
    state["updated"] = "2026-01-01T23:00:00.001Z"
    return f"---\n{json.dumps(state, indent=2, ensure_ascii=False)}\n---\n{body}".encode()


def drift(content: bytes, base: Project, project: Project | None = None) -> Project:
    """The project once an edit of its own file was adopted."""
    return adopted(content, project or base, base=base, removals=True)


# -- files of the field ----------------------------------------------------------------------


def test_the_files_of_the_field() -> None:
    """Adopted one by one and one after the other they come out as the mapping they were."""
    if not CORPUS.exists():
        pytest.skip("the corpus of real files is not here")
    follower = None
    for path in sorted(CORPUS.glob("*.md")):
        content = path.read_bytes()
        alone, follower = adopted(content), adopted(content, follower)
        for project in (alone, follower):
            shown = render(project, "json")
            assert mapping(shown) == mapping(content)
            assert list(mapping(shown)) == list(mapping(content))
            assert [list(x) for x in mapping(shown)["phases"]] == [
                list(x) for x in mapping(content)["phases"]
            ]
            assert not any(
                left.path[0] == "front" for left in project.leftovers[active_session.NAME]
            )
            for again in (content, shown):
                assert adopted(again, project).version == project.version
            assert drift(shown, project).version == project.version
    assert follower is not None
    assert [step.status for step in follower.steps.values()] == ["complete"] * 3
    assert follower.homes[active_session.NAME].format == "json"


@pytest.mark.parametrize("form", FORMS)
def test_a_file_by_hand(form: Any) -> None:
    """Whatever is in it comes out again, the body to the letter; the state has what it can hold."""
    project = adopted(FILE.encode())
    shown = render(project, form)
    assert mapping(shown) == mapping(FILE.encode())
    assert apart(shown)[1] == apart(FILE.encode())[1]
    assert (project.title, project.native) == ("Rate limiter", "2026-01-01-Limit_1")
    assert [(s.status, s.agent, s.team) for s in project.steps.values()] == [
        ("complete", "architect", ("reviewer",)),
        ("failed", "coder", ()),
        ("in_progress", "writer", ()),
        ("skipped", "", ()),
    ]
    assert project.steps["2"].blocked_by == ("1",)
    assert project.steps["1"].retries == 1
    assert [(x.kind, x.resolution) for x in project.errors.values()] == [
        ("timeout", "asked again"),
        ("runtime", ""),
    ]
    assert project.steps["2"].error == "E002"
    assert sorted(project.manifest) == ["1 docs/api.md", "2 src/a.js"]
    used = {agent: (x.input, x.output) for agent, x in project.tokens.items()}
    assert used == {"coder": (600, 50), "": (300, 0)}
    assert project.documents["design"].path == ".gemini/plans/limit-design.md"
    assert project.homes[active_session.NAME].format == "yaml"
    assert project.homes[active_session.NAME].source == "docs/active-session.md"


def test_adopted_again_it_comes_to_nothing() -> None:
    """The same file, and what was rendered of it, say nothing new."""
    project = adopted(FILE.encode())
    for content in (FILE.encode(), render(project), render(project, "json")):
        assert adopted(content, project).version == project.version
        assert drift(content, project).version == project.version


def test_windows_line_ends_and_a_mark() -> None:
    """CRLF and a byte order mark change nothing of what a file says."""
    plain = adopted(FILE.encode())
    other = adopted(b"\xef\xbb\xbf" + FILE.replace("\n", "\r\n").encode())
    assert mapping(render(other)) == mapping(render(plain))
    assert apart(render(other))[1] == apart(render(plain))[1]


@settings(deadline=None, max_examples=150)
@given(projects(), st.sampled_from(FORMS))
def test_what_was_rendered_says_nothing_new(project: Project, form: Any) -> None:
    """Any state that was written into a file is what the file says."""
    if project.archived is None and project.aborted is None:
        assert drift(render(project, form), project).version == project.version


@settings(deadline=None, max_examples=150)
@given(projects(), st.sampled_from(FORMS))
def test_a_file_without_its_journal(project: Project, form: Any) -> None:
    """Whatever we rendered, adopted into an empty journal it reads the same, its body too."""
    project = project.copy()
    project.leftovers.clear()
    content = render(project, form)
    again = adopted(content)
    assert mapping(render(again)) == mapping(content)
    assert apart(render(again))[1] == apart(content)[1]
    assert drift(render(again), again).version == again.version


FIELDS = st.sampled_from(
    (
        *("task", "created", "status", "design_document", "current_phase", "total_phases"),
        *("workflow_mode", "execution_mode", "current_batch", "token_usage", "odd", "kept", "body"),
        *("total_input", "by_agent", "coder", "input", "id", "name", "agents", "parallel"),
        *("started", "completed", "blocked_by", "files_created", "files_deleted", "planned_files"),
        *("downstream_context", "warnings", "errors", "retry_count", "requires_reconciliation"),
        *("reconciliation_reason", "agent", "timestamp", "type", "message", "resolved"),
    )
)
VALUES = JSON | st.sampled_from(
    (
        *("completed", "in_progress", "pending", "failed", "skipped", "coder", "src/a.js", 1, 2),
        *("2026-01-01T10:00:00.000Z", "2026-01-01T11:00:00.5+01:00", True, False, 2**53, 2**63),
        *([1], [1, 2, 3], ["a", "b", "a"], ["src/a.js", "../x"], {"warnings": ["x"]}, [[]], [{}]),
        *({"coder": {"input": 5}}, {"": {"input": 5}}, [{"message": "m", "resolved": True}]),
    )
)
EDITS = st.lists(st.tuples(FIELDS, st.integers(0, 5), VALUES), min_size=1, max_size=6)


def edited(front: Any, edits: list[tuple[str, int, Any]]) -> Any:
    """The front matter with values set at places, wherever a mapping has room for them."""

    def mappings(value: Any) -> list[dict[str, Any]]:
        inner = value.values() if isinstance(value, dict) else value
        found = (
            [x for each in inner for x in mappings(each)] if inner and not is_text(value) else []
        )
        return [value, *found] if isinstance(value, dict) else found

    def is_text(value: Any) -> bool:
        return not isinstance(value, dict | list)

    for field, number, value in edits:
        places = [x for x in mappings(front) if field in x] or mappings(front)
        places[number % len(places)][field] = copy.deepcopy(value)
    return front


def as_json(front: Any, body: str) -> bytes:
    """A file whose front matter is JSON."""
    return f"---\n{json.dumps(front, indent=2)}\n---\n{body}".encode()


@settings(deadline=None, max_examples=400)
@given(EDITS)
def test_any_front_matter_comes_out_again(edits: list[tuple[str, int, Any]]) -> None:
    """Whatever is where: one sentence, or the same mapping again, and nothing new after that."""
    content = as_json(edited(yaml.safe_load(apart(OWN)[0]), edits), apart(OWN)[1])
    try:
        project = adopted(content)
    except Invalid:
        return
    shown, said = mapping(render(project)), mapping(content)
    if "in_progress" in {step.status for step in project.steps.values()}:
        # What contradicts the phases is not kept.
        said["current_phase"] = shown.get("current_phase")
    # Phases come in the order of their ids, in whichever they stood; words have no such order.
    numbered = all(isinstance(phase["id"], int) for phase in said["phases"])
    for each in (said,) if numbered else (said, shown):
        each["phases"] = sorted(each["phases"], key=lambda phase: str(phase["id"]).zfill(20))
    assert shown | {"current_phase": said["current_phase"]} == said
    assert drift(render(project), project).version == project.version
    assert adopted(content, project).version == project.version


@settings(deadline=None, max_examples=400)
@given(EDITS)
def test_any_edit_is_adopted_once(edits: list[tuple[str, int, Any]]) -> None:
    """Whatever an edit does to our file: one sentence, or a state whose file says nothing new."""
    base = adopted(OWN)
    content = as_json(edited(json.loads(apart(render(base, "json"))[0]), edits), "")
    try:
        project = drift(content, base)
    except Invalid:
        return
    assert drift(render(project, "json"), project).version == project.version
    assert drift(content, base, project).version == project.version


OWN = FILE.replace("2026-01-01T12:00:00Z", '"2026-01-01T12:00:00Z"').encode()


# -- the body --------------------------------------------------------------------------------


LINES = st.sampled_from(
    (
        *("## Phase 1: Design API ✓", "## Phase 2: Implement", "## Phase 1: again", "## Notes"),
        *("# Another title", "", "", "### Files Changed", "- Created: `docs/api.md`", "---"),
        *("word", "    code", "## Phase 9: nobody", "# Rate limiter Orchestration Log"),
        *("## Phase 2: Implement □", "## Phase 1: Design API □", "```"),
    )
)
BODIES = st.tuples(st.lists(LINES, max_size=12).map("\n".join), st.sampled_from(("", "\n"))).map(
    "".join
)


@settings(deadline=None, max_examples=300)
@given(BODIES)
def test_any_body_comes_out_to_the_letter(body: str) -> None:
    """Whatever somebody made of the body, it is there again; ours come beside a title alone."""
    content = f"{FILE.partition('---')[1]}{FILE[3:].partition('---')[0]}---\n{body}".encode()
    project = adopted(content)
    shown = apart(render(project))[1]
    if len(body.split("\n")) > 2 and any(not x.startswith("# ") for x in body.split("\n") if x):
        assert shown == body
    assert drift(render(project), project).version == project.version
    assert adopted(content, project).version == project.version


@settings(deadline=None, max_examples=300)
@given(BODIES, st.booleans())
def test_handwriting_in_our_file_is_never_lost(words: str, above: bool) -> None:
    """Every line that somebody adds is there after any later change, and adopted only once."""
    base = opened(e.StepStarted("1"), e.FilesChanged("docs/api.md", "created", step="1"))
    front, body = apart(render(base))
    written = f"{words}\n{body}" if above else f"{body}{words}"
    content = f"---\n{front}\n---\n{written}".encode()
    project = drift(content, base)
    shown = apart(render(project))[1]
    lines = [x for x in words.split("\n") if x]
    assert [x for x in lines if x not in shown.split("\n")] == []
    assert drift(render(project), project).version == project.version
    after = opened_further(project, e.StepCompleted("1"), e.ProjectRetitled("Other"))
    later = apart(render(after))[1].split("\n")
    ours = ("## Phase", "# ")
    assert [x for x in lines if x not in later and not x.startswith(ours)] == []
    assert drift(render(after), after).version == after.version


def opened_further(project: Project, *events: e.Event) -> Project:
    """The project after more events."""
    project = project.copy()
    for event in events:
        for asked, made, payload in decided(project, [Request(event, "ada")], NOW):
            evolve(project, provisional(project, asked, made.type, payload, NOW))
    return project


def body_edit(base: Project, change: Callable[[str], str]) -> bytes:
    """Our file with its body edited."""
    front, body = apart(render(base))
    return f"---\n{front}\n---\n{change(body)}".encode()


def test_an_appended_section_is_that_of_the_phase() -> None:
    """An agent that appends a section for a phase, as the protocol says, does not double it."""
    base = opened(e.StepStarted("1"))
    words = "\n## Phase 1: Design API ✓\n\n### Architect Output\nTwo calls.\n"
    content = body_edit(base, lambda body: body + words)
    front, body = apart(content)
    front = front.replace('"in_progress"\n    agents', '"completed"\n    agents', 1)
    front = front.replace("files_created: []", 'files_created: ["docs/api.md"]', 1)
    project = drift(f"---\n{front}\n---\n{body}".encode(), base)
    assert project.steps["1"].status == "complete"
    assert apart(render(project))[1] == (
        "\n# Rate limiter Orchestration Log\n"
        "\n## Phase 1: Design API ✓\n\n### Architect Output\nTwo calls.\n"
        "\n## Phase 2: Implement □\n\n## Phase 3: Document □\n"
    )


def test_handwriting_stays_while_ours_goes_on() -> None:
    """What was written below a part of ours stays below it when that changes."""
    base = opened(e.StepStarted("1"), e.StepOutputRecorded("1", "Done", "architect"))
    content = body_edit(base, lambda body: body.replace("    Done\n", "    Done\n\nSee PR 12.\n"))
    project = opened_further(drift(content, base), e.StepCompleted("1"), e.StepStarted("2"))
    assert apart(render(project))[1] == (
        "\n# Rate limiter Orchestration Log\n"
        "\n## Phase 1: Design API ✓\n\n### architect Output\n\n    Done\n\nSee PR 12.\n"
        "\n## Phase 2: Implement ○\n\n## Phase 3: Document □\n"
    )


def test_what_is_taken_out_stays_away_until_it_changes() -> None:
    """A part that somebody removed comes again with something else to say."""
    base = opened(e.StepStarted("1"), e.FilesChanged("a.js", step="1"))
    cut = "\n### Files Changed\n\n- Modified: `a.js`\n"
    project = drift(body_edit(base, lambda body: body.replace(cut, "")), base)
    assert "Files Changed" not in apart(render(project))[1]
    again = opened_further(project, e.FilesChanged("b.js", step="1"))
    assert "- Modified: `a.js`, `b.js`\n" in apart(render(again))[1]
    unsigned = body_edit(base, lambda body: body.replace(cut, ""))
    assert adopted(unsigned, base, base=base).version == base.version


# -- the real tool ---------------------------------------------------------------------------


def transition(state: dict[str, Any]) -> None:
    """Phase 1 is completed, phases 2 and 3 are begun as a batch; tokens grow in total only."""
    first, second, third = state["phases"]
    at = "2026-01-01T22:00:00.512Z"
    first |= {
        "status": "completed",
        "completed": at,
        "files_created": ["docs/api.md"],
        "requires_reconciliation": False,
    }
    first["downstream_context"]["assumptions"] = ["single node"]
    for phase in (second, third):
        phase |= {"status": "in_progress", "started": at}
    state |= {"current_phase": 2, "current_batch": "b1", "execution_mode": "parallel"}
    state["token_usage"]["total_input"] += 1200
    state["token_usage"]["total_output"] += 300


def test_a_transition_of_the_tool() -> None:
    """What it wrote is what is rendered, as events that say what happened."""
    base = opened(e.StepStarted("1"))
    content = tool(render(base, "json"), transition)
    project = drift(content, base)
    assert mapping(render(project, "json")) == mapping(content)
    assert [step.status for step in project.steps.values()] == [
        "complete",
        "in_progress",
        "in_progress",
    ]
    assert project.tokens[""].input == 1200
    assert not project.steps["1"].to_reconcile
    assert not project.leftovers.get(active_session.NAME)
    assert drift(content, base, project).version == project.version


def test_the_tool_asks_for_no_rules() -> None:
    """It begins phases that wait, side by side; they stand as it says."""
    steps = (STEPS[0], e.StepPlan("2", "B", blocked_by=("1",)), e.StepPlan("3", "C"))

    def change(state: dict[str, Any]) -> None:
        for phase in state["phases"][1:]:
            phase |= {"status": "in_progress", "started": "2026-01-01T22:00:00.512Z"}
        state |= {"current_phase": 3, "schema_version": 2, "branch": None}
        state["phases"][1] |= {"duration_ms": 12.5, "blocker_count": 0}

    base = opened(e.StepStarted("1"), steps=steps)
    content = tool(render(base, "json"), change)
    project = drift(content, base)
    assert mapping(render(project, "json")) == mapping(content)
    assert drift(content, base, project).version == project.version


def test_completed_in_silence_by_hand() -> None:
    """Who completes a phase of ours without a word has it reconciled; what is past is past."""
    base = opened(e.StepStarted("1"))
    content = tool(
        render(base, "json"), lambda state: state["phases"][0].update(status="completed")
    )
    project = drift(content, base)
    assert project.steps["1"].to_reconcile
    assert mapping(render(project))["phases"][0]["requires_reconciliation"] is True
    assert not adopted(content).steps["1"].to_reconcile


def test_the_tool_completes_in_silence() -> None:
    """A phase that it asks to be reconciled is, and is reconciled by what it says later."""

    def silent(state: dict[str, Any]) -> None:
        state["phases"][0] |= {
            "status": "completed",
            "completed": "2026-01-01T22:00:00.512Z",
            "requires_reconciliation": True,
        }

    def told(state: dict[str, Any]) -> None:
        state["phases"][0] |= {
            "files_modified": ["a.js"],
            "requires_reconciliation": False,
            "reconciliation_reason": "forgot",
        }
        state["phases"][0]["downstream_context"]["warnings"] = ["flaky"]

    base = opened(e.StepStarted("1"))
    first = drift(tool(render(base, "json"), silent), base)
    assert first.steps["1"].to_reconcile
    content = tool(render(first, "json"), told)
    second = drift(content, first)
    assert not second.steps["1"].to_reconcile
    assert mapping(render(second, "json")) == mapping(content)


def test_the_current_phase_follows() -> None:
    """What the tool says of it stands until a phase is begun, or another is."""

    def completed(state: dict[str, Any]) -> None:
        at = "2026-01-01T22:00:00.512Z"
        state["phases"][0] |= {"status": "completed", "completed": at, "files_created": ["a.js"]}
        state["phases"][0]["requires_reconciliation"] = False

    base = opened(e.StepStarted("1"))
    content = tool(render(base, "json"), completed)
    project = drift(content, base)
    assert mapping(content)["current_phase"] == 1
    assert mapping(render(project, "json")) == mapping(content)
    begun = opened_further(project, e.StepStarted("2"))
    assert mapping(render(begun))["current_phase"] == 2
    assert drift(render(begun), begun).version == begun.version


IDS: dict[str, list[Any]] = {
    "numbers with gaps": [10, 20, 30],
    "numbers as words": ["1", "2", "3"],
    "one in between": [1, "1.5", 2],
    "fractions": [1, 1.5, 2],
    "words": ["design", "build it", "z\n## Phase 1: no"],
    "words beside numbers": ["design", 1, 2],
    "alike": [1, "1", 2],
}


@pytest.mark.parametrize("kind", IDS)
def test_phases_go_by_any_id(kind: str) -> None:
    """Whatever the tool calls its phases, they are those of the file, there and back, for good."""
    first, second, third = IDS[kind]

    def name(state: dict[str, Any]) -> None:
        for phase, id in zip(state["phases"], IDS[kind], strict=True):
            phase["id"] = id
        state["phases"][2]["blocked_by"] = [first, second]
        state["phases"][0] |= {"status": "in_progress", "started": "2026-01-01T09:00:00.000Z"}
        state["current_phase"] = first

    def go_on(state: dict[str, Any]) -> None:
        done, begun, other = (by_id(state)[json.dumps(id)] for id in (first, second, third))
        done |= {"status": "completed", "completed": "2026-01-01T10:00:00.000Z"}
        done |= {"files_created": ["docs/api.md"], "requires_reconciliation": False}
        begun |= {"status": "in_progress", "started": "2026-01-01T10:00:00.000Z"}
        other |= {"status": "in_progress", "started": "2026-01-01T10:00:00.000Z"}
        state["current_phase"] = third
        fresh = other | {"id": "more", "blocked_by": [third], "status": "pending", "started": None}
        state["phases"].append(fresh)
        state["total_phases"] = 4

    def by_id(front: dict[str, Any]) -> dict[str, Any]:
        return {json.dumps(phase["id"]): phase for phase in front["phases"]}

    front = json.loads(apart(render(opened(), "json"))[0])
    content = tool(as_json(front, "# Rate limiter Orchestration Log\n"), name)
    project = adopted(content)
    for change in (name, go_on):
        if change is go_on:
            content = tool(render(project, "json"), go_on)
            project = drift(content, project)
        shown, said = mapping(render(project, "json")), mapping(content)
        assert shown | {"phases": by_id(shown)} == said | {"phases": by_id(said)}
        assert adopted(render(project), project).version == project.version
        assert drift(render(project, "json"), project).version == project.version
    assert len(project.steps) == 4
    body = apart(render(project))[1]
    headings = [line for line in body.splitlines() if line.startswith("## Phase ")]
    assert len(headings) == len({heading.split(":")[0] for heading in headings}) == 4


def test_absolute_paths_of_documents() -> None:
    """The tool names documents absolutely; below its own tree they are those of the workspace."""
    own, other = "/home/someone/shop/docs/plans/a-plan.md", "/var/tmp/a-design.md"

    def change(state: dict[str, Any]) -> None:
        state |= {"implementation_plan": own, "design_document": other}

    base = opened()
    content = tool(render(base, "json"), change)
    project = base.copy()
    for request in active_session.adopt_bytes(
        content, base, "docs/state/active-session.md", base=base, removals=True, now=NOW, by=BY
    ):
        project = opened_further(project, request.event)
    assert {x.kind: x.path for x in project.documents.values()} == {"plan": "docs/plans/a-plan.md"}
    assert mapping(render(project, "json")) == mapping(content)


def test_failures_and_retries_of_the_tool() -> None:
    """An error that is not resolved, a retry that counts, and a second error of its own."""

    def error(message: str, at: str) -> dict[str, Any]:
        return {
            "agent": "architect",
            "timestamp": at,
            "type": "runtime",
            "message": message,
            "resolution": "pending",
            "resolved": False,
        }

    def failed(state: dict[str, Any]) -> None:
        state["phases"][0]["status"] = "failed"
        state["phases"][0]["errors"].append(error("one", "2026-01-01T20:00:00.031Z"))

    def retried(state: dict[str, Any]) -> None:
        phase = state["phases"][0]
        phase["errors"][0] |= {"resolution": "more memory", "resolved": True}
        phase |= {"status": "in_progress", "retry_count": 1}

    def again(state: dict[str, Any]) -> None:
        state["phases"][0]["status"] = "failed"
        state["phases"][0]["errors"].append(error("one", "2026-01-01T21:00:00.007Z"))

    project = opened(e.StepStarted("1"))
    for change, standing in ((failed, "failed"), (retried, "in_progress"), (again, "failed")):
        content = tool(render(project, "json"), change)
        project = drift(content, project)
        assert mapping(render(project, "json")) == mapping(content)
        assert project.steps["1"].status == standing
    assert [x.resolution for x in project.errors.values()] == ["more memory", ""]
    assert project.steps["1"].error == "E002"


def test_an_edit_is_merged_with_what_was_recorded_meanwhile() -> None:
    """Tokens add up, files join, and neither side undoes what the other did."""
    base = opened(e.StepStarted("1"), e.TokensUsed(100, agent="architect"))
    meanwhile = opened_further(
        base,
        e.TokensUsed(50, agent="architect"),
        e.FilesChanged("docs/more.md", "created", step="1"),
        e.StepAdjusted("2", "Build"),
    )

    def change(state: dict[str, Any]) -> None:
        state["phases"][0]["files_created"] = ["docs/api.md"]
        state["token_usage"]["total_input"] += 20
        state["token_usage"]["by_agent"]["architect"]["input"] += 20

    project = drift(tool(render(base, "json"), change), base, meanwhile)
    shown = mapping(render(project))
    assert shown["token_usage"]["total_input"] == 170
    assert shown["token_usage"]["by_agent"]["architect"]["input"] == 170
    assert shown["phases"][0]["files_created"] == ["docs/more.md", "docs/api.md"]
    assert shown["phases"][1]["name"] == "Build"


def test_two_edits_of_one_rendering() -> None:
    """The tool writes again before its first edit was rendered: nothing counts or stands twice."""
    base = opened(e.StepStarted("1"), e.TokensUsed(100, agent="architect"))

    def spend(state: dict[str, Any]) -> None:
        usage = state["token_usage"]
        usage["total_input"] += 7
        usage["by_agent"].setdefault("coder", {"input": 0, "output": 0, "cached": 0})["input"] += 5

    project, content = base, render(base, "json")
    for turn in range(1, 4):
        content = tool(content, spend) + f"\nTurn {turn}.\n".encode()
        project = opened_further(project, e.TokensUsed(1, agent="coder"))
        project = drift(content, base, project)
        shown = mapping(render(project))["token_usage"]
        assert shown["by_agent"]["coder"]["input"] == 6 * turn
        assert shown["total_input"] == 100 + 8 * turn
    assert apart(render(project))[1].count("Turn 1.") == 1
    assert drift(render(project, "json"), project).version == project.version
    again = drift(tool(render(project, "json"), spend), project)
    assert mapping(render(again))["token_usage"]["total_input"] == 131


def test_an_edit_with_very_many_agents() -> None:
    """However many there are, what each of them used is adopted."""

    def change(state: dict[str, Any]) -> None:
        row = {"input": 1, "output": 0, "cached": 0}
        state["token_usage"]["by_agent"] = {f"{'agent-' * 20}{n}": row for n in range(4000)}
        state["token_usage"]["total_input"] = 4000

    base = opened()
    project = drift(tool(render(base, "json"), change), base)
    assert (len(project.tokens), mapping(render(project))["token_usage"]["total_input"]) == (
        4000,
        4000,
    )


def test_keys_of_a_newer_tool() -> None:
    """What it has beside an agent's tokens and in a phase of its own stays while those go on."""

    def change(state: dict[str, Any]) -> None:
        row = {"input": 5, "output": 1, "cached": 0, "phases": 1, "duration_ms": 320}
        state["token_usage"]["by_agent"]["coder"] = row
        state["token_usage"] |= {"total_input": 5, "total_output": 1}
        fresh = state["phases"][2] | {"id": 4, "name": "Ship", "kind": "release"}
        state["phases"].append(fresh)
        state["total_phases"] = 4

    base = opened(e.StepStarted("1"))
    content = tool(render(base, "json"), change)
    project = drift(content, base)
    assert mapping(render(project)) == mapping(content)
    project = opened_further(
        project, e.TokensUsed(10, agent="coder"), e.StepAdjusted("4", "Deliver", agent="writer")
    )
    shown = mapping(render(project))
    row = {"input": 15, "output": 1, "cached": 0, "phases": 1, "duration_ms": 320}
    assert shown["token_usage"]["by_agent"]["coder"] == row
    assert (shown["phases"][3]["name"], shown["phases"][3]["kind"]) == ("Deliver", "release")


def test_phases_that_come_and_go() -> None:
    """A new phase is planned; one that is gone from the file is not gone."""

    def change(state: dict[str, Any]) -> None:
        fresh = state["phases"][2] | {"id": 4, "name": "Ship", "blocked_by": [1, 2, 3]}
        state["phases"] = [state["phases"][0], fresh]
        state["total_phases"] = 4

    base = opened()
    project = drift(tool(render(base, "json"), change), base)
    assert project.steps["4"].blocked_by == ("1", "2", "3")
    assert [x["id"] for x in mapping(render(project))["phases"]] == [1, 2, 3, 4]


def test_a_completed_session_stays_open() -> None:
    """That the file says completed archives nothing; it is said, and comes out again."""
    content = FILE.replace('status: "in_progress"', 'status: "completed"', 1).encode()
    project = adopted(content)
    assert project.archived is None
    assert mapping(render(project))["status"] == "completed"
    assert "archive" in read(content).warnings[0]


# -- what is refused -------------------------------------------------------------------------


BOMB = "b0: &b0 [x]\n" + "".join(
    f"b{n}: &b{n} [{', '.join([f'*b{n - 1}'] * 10)}]\n" for n in range(1, 10)
)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "does not begin with front matter"),
        ("# A log\n", "does not begin with front matter"),
        (FILE.partition("\nphases:")[0], "has no closing ---, the file was cut"),
        ("---\n- a\n---\n", "it is no YAML mapping"),
        ("---\n---\n", "it is no YAML mapping"),
        ("---\nsession_id: x\n---\n", "has no list of phases"),
        ("---\nsession_id: x\nphases: []\n---\n", "has no list of phases"),
        ("---\nphases: [{id: 1}]\n---\n", "has no session_id"),
        ("---\nsession_id: x\nphases: [1]\n---\n", "phase 1 of the list is no mapping"),
        ("---\nsession_id: x\nphases: [{id: [1]}]\n---\n", "which names no phase"),
        ("---\nsession_id: x\nphases: [{id: ' '}]\n---\n", "' ', which names no phase"),
        ("---\nsession_id: x\nphases: [{id: true}]\n---\n", "True, which names no phase"),
        ("---\nsession_id: x\nphases: [{id: -1}]\n---\n", "-1, which names no phase"),
        ("---\nsession_id: x\nphases: [{id: 1}, {id: 1}]\n---\n", "that of another phase"),
        ("---\nsession_id: x\nphases: [{id: 1, errors: {a: b}}]\n---\n", "errors of phase 1"),
        ("---\nsession_id: x\nsession_id: y\n---\n", "line 3: 'session_id' stands there twice"),
        ('---\n{"session_id": "x", "session_id": "y"}\n---\n', "'session_id' stands there twice"),
        ('---\n{"session_id": "x",\n"phases": [}\n---\n', "front matter is not JSON"),
        ('---\n{"session_id": "x", "phases": [NaN]}\n---\n', "NaN is not JSON"),
        ("---\nsession_id: x\nphases: [{id: 1}\n---\n", "the file is not YAML: line"),
        (f"---\nsession_id: x\n{BOMB}phases: [{{id: 1}}]\n---\n", "too many values"),
        (f"---\nphases: {'[' * 5000}{']' * 5000}\n---\n", "nested too deeply"),
        (f'---\n{{"a": {"[" * 500}{"]" * 500}}}\n---\n', "nested too deeply"),
        ("---\nsession_id: x\nphases: [{id: 1, x: !!binary aGk=}]\n---\n", "neither text nor"),
        ("---\nsession_id: x\n---\n\0\n", "line 4: it has a NUL character"),
        (f"---\nsession_id: x\nphases: [{{id: 1}}]\n---\n{'x' * 950_000}", "handwriting"),
    ],
)
def test_bad_files_are_refused_in_one_sentence(content: str, reason: str) -> None:
    """One clear sentence, soon, and nothing of it is taken over."""
    started = time.monotonic()
    with pytest.raises(Invalid, match=re.escape(reason)) as refused:
        adopted(content.encode())
    assert "\n" not in str(refused.value)
    assert time.monotonic() - started < 5


def test_huge_files_are_refused_unread() -> None:
    """50 MB take no longer than looking at their size."""
    content = FILE.encode() + b"x" * 50_000_000
    started = time.monotonic()
    with pytest.raises(Invalid, match=r"50,00\d,\d{3} bytes, and an active-session.md at most"):
        read(content)
    assert time.monotonic() - started < 0.1
    with pytest.raises(Invalid, match="as YAML at most 2,000,000 are read; write it as JSON"):
        read(f"---\nx: {'y' * 3_000_000}\n---\n".encode())


def test_bytes_that_are_no_text() -> None:
    """What is not UTF-8 is named by its first bad byte."""
    with pytest.raises(Invalid, match="byte 5 is not UTF-8"):
        read(b"---\n\xff")


def test_the_file_of_another_session() -> None:
    """It is refused, whatever else is in it."""
    base = opened()
    content = render(base).replace(b"2026-01-01-limit", b"2026-01-02-limit")
    with pytest.raises(Invalid, match="'2026-01-02-limit', not of 2026-01-01-limit"):
        adopted(content, base, base=base)


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_a_file_cut_anywhere_is_refused_or_read(data: st.DataObject) -> None:
    """No cut raises anything but one sentence."""
    content = data.draw(st.sampled_from((FILE.encode(), render(opened(), "json"))))
    cut = content[: data.draw(st.integers(0, len(content)))]
    said = ""
    try:
        adopted(cut)
    except Invalid as refused:
        said = str(refused)
    assert "\n" not in said


# -- with the command ------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A workspace in which a session was adopted from where the real tool has it."""
    file = tmp_path / "docs/maestro/state/active-session.md"
    file.parent.mkdir(parents=True)
    file.write_bytes(as_json(mapping(OWN), apart(OWN)[1]))
    good(tmp_path, "adopt", "docs")
    return file


def test_adopted_below_a_folder(place: Path) -> None:
    """It is found by its name, goes by its session's id, and stays where and as it was."""
    root = place.parents[3]
    assert [x["project"] for x in good(root, "projects", "--json").json] == ["2026-01-01-limit_1"]
    assert json.loads(apart(place.read_bytes())[0])["owner"] == "Grace"
    assert good(root, "drift").out.endswith("no file was edited outside Passdown\n")
    assert "nothing recorded" in good(root, "adopt", "docs").out
    before = files(root)
    assert "nothing recorded" in good(root, "adopt", str(place)).out
    assert files(root) == before


def test_a_session_in_the_archive_is_recognised(tmp_path: Path) -> None:
    """Named after its id, it is known by what is in it."""
    file = tmp_path / "archive/2026-01-01-limit.md"
    file.parent.mkdir()
    file.write_bytes(FILE.encode())
    assert "adopted as 2026-01-01-limit_1" in good(tmp_path, "adopt", str(file)).out


def test_drift_field_by_field_and_line_by_line(place: Path) -> None:
    """What the tool and what a person changed is shown, adopted, and gone after that."""
    root = place.parents[3]

    def change(state: dict[str, Any]) -> None:
        state["phases"][2] |= {"status": "completed", "requires_reconciliation": False}
        state["token_usage"]["total_input"] += 5

    edited = tool(place.read_bytes(), change)
    place.write_bytes(edited + b"By hand\n")
    shown = [
        (x["where"], x["was"], x["now"]) for x in quick(root, "drift", "--json").json["changes"]
    ]
    assert ("phases.3.status", ["in_progress"], ["completed"]) in shown
    assert ("token_usage.total_input", [900], [905]) in shown
    assert any(now == ["By hand"] for _, _, now in shown)
    assert len(shown) == 4
    good(root, "drift", "--adopt")
    assert mapping(place.read_bytes()) == mapping(edited)
    assert b"```\nBy hand\n" in place.read_bytes()
    assert good(root, "drift").out.endswith("no file was edited outside Passdown\n")


@pytest.mark.parametrize("left", [0.99, 0.9, 0.5, 0.1])
def test_a_cut_file_is_restored_and_never_adopted(place: Path, left: float) -> None:
    """Wherever it was cut, also below its stamp, it is corrupt and comes back to the byte."""
    root = place.parents[3]
    good(root, "step", "output", "3", "Written up", "--agent", "writer")
    content = place.read_bytes()
    place.write_bytes(content[: int(len(content) * left)])
    old = time.time() - 60
    os.utime(place, (old, old))
    assert quick(root, "drift").code == 0
    good(root, "recover")
    assert place.read_bytes() == content


def test_bad_files_change_nothing(place: Path) -> None:
    """A broken front matter, a bomb, and 50 MB: one sentence, and everything is as it was."""
    root = place.parents[3]
    content = place.read_bytes()
    for bad in (
        content.replace(b'"phases": [', b'"phases": [,'),
        f"---\nsession_id: 2026-01-01-Limit_1\n{BOMB}phases: [{{id: 1}}]\n---\n".encode(),
        content + b"x" * 50_000_000,
    ):
        place.write_bytes(bad)
        place.with_name("active-session.md.bak").unlink(missing_ok=True)
        before = files(root)
        started = time.monotonic()
        refused = quick(root, "adopt", str(place))
        assert time.monotonic() - started < 5
        assert (refused.code, refused.err.count("\n")) == (exits.INVALID, 1)
        assert files(root) == before
