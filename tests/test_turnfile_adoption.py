"""TURNFILE.yaml files that are there, and edits of ours, become events of whoever wrote them."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from command import good, quick
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import JSON, START, WORDS, projects
from test_turnfile import after, busy, requests, shared
from turnfile_rules import broken

from cli import exits
from journal import events as e
from journal.errors import Invalid
from journal.request import Request, decided, provisional
from journal.state import Project, evolve
from projections import turnfile

NOW = START + 10**12
BY = Request(e.ProjectReopened(), "runner", "runner-session")
PATH = "working-session/TURNFILE.yaml"

#: Shaped like the files of the field: comments, handwritten style, what is over and what goes on.
FILE = """\
# TURNFILE.yaml — SNAP Coordination State
# Protocol: Turnfile v0.1
# Last modified revision: 50
# Modified by: heron

turnfile:
  version: "0.1.0"
  project: "marsh"
  workspace: "working-session/"

agents:
  heron:
    role: "agent"
    status: "active"
    current_task: "map"   # nearly there
    last_seen: "heron-session-7-map"
    session_id: "heron-session-7"

  otter:
    role: "agent"
    status: "idle"
    current_task: null
    last_seen: "otter-session-6-close"
    session_id: "otter-session-6"

maintainer:
  id: "fen"
  status: "observing"
  last_seen: "maintainer-session-4"

coordination:
  revision: 50
  active_phase: "phase-2"
  active_step: "2.3"
  conflict:
    rebuttal_rounds: 1
  tasks:
    walk:
      description: "Walk the edge — all of it"
      owner: "otter"
      status: "done"
      priority: "P1"
      depends_on: [ask]
      created_by: "maintainer"
      created_rev: 1
      claim_rev: 2
      completed_rev: 10
      notes: "Dry feet."
    ask:
      description: "Ask for leave"
      owner: "maintainer"
      status: "done"
      priority: "P1"
      depends_on: []
      created_by: "otter"
      created_rev: 1
      claim_rev: null
      completed_rev: 3
      notes: ""
    map:
      description: "Draw the map"
      owner: "heron"
      status: "in_progress"
      priority: "P0"
      depends_on:
        - "walk"
      created_by: "heron"
      created_rev: 12
      claim_rev: 12
      completed_rev: null
      notes: "In ink: *no* & never pencil"
    boat:
      description: "Mend the boat"
      owner: "otter"
      status: "blocked"
      priority: "P2"
      depends_on: []
      created_by: "otter"
      created_rev: 20
      claim_rev: 21
      completed_rev: null
      notes: "waits for tar"
    rest:
      description: "Rest"
      owner: "otter"
      status: "pending"
      priority: "P2"
      depends_on: ["map", "boat"]
      created_by: "otter"
      created_rev: 20
      claim_rev: null
      completed_rev: null
      notes: ""

locks:
  map-edit:
    files:
      - "map.svg"
    holder: "heron"
    acquired_rev: 49
    lease_revs: 2
    reason: "ink"

turn_queue:
  - agent: "otter"
    action: "read the map"
    requested_rev: 44
    priority: "P1"
  - agent: "maintainer"
    action: "approve it"
    requested_rev: 45
    priority: "P0"

messages:
  - id: "SIG-031"
    from: "some-tool"
    to: "all"
    signal: "notify"
    rev: 50
    detail: "otter is idle"
  - id: "SIG-030"
    from: "heron"
    to: "otter"
    signal: "handoff"
    rev: 48
  - id: "SIG-007"
    from: "otter"
    to: "maintainer"
    signal: "ready"
    rev: 9
    detail: "at the gate"
"""


def adopted(content: bytes | str, project: Project | None = None, **given: Any) -> Project:
    """The project once a file was adopted; where there was none, the one that it begins."""
    project = Project("marsh") if project is None else project.copy()
    for request in made(content, project, **given):
        for asked, event, payload in decided(project, [request], NOW):
            evolve(project, provisional(project, asked, event.type, payload, NOW))
    return project


def made(content: bytes | str, project: Project, **given: Any) -> list[Request]:
    """The requests that a file comes to."""
    content = content.encode() if isinstance(content, str) else content
    return turnfile.adopt_bytes(content, project, PATH, now=NOW, by=BY, **given)


def happened(project: Project, event: e.Event, actor: str) -> Project:
    """The project with this recorded, too."""
    project = project.copy()
    for asked, x, payload in decided(project, [Request(event, actor)], NOW):
        evolve(project, provisional(project, asked, x.type, payload, NOW))
    return project


def document(project: Project) -> Any:
    """What is rendered, which breaks no rule."""
    content = turnfile.render(project)
    assert broken(content) == []
    return yaml.safe_load(content)


def edited(project: Project, *edits: tuple[str, str]) -> str:
    """Our file with some of its words replaced by others."""
    text = turnfile.render(project).decode()
    for old, new in edits:
        assert old in text, text
        text = text.replace(old, new, 1)
    return text


# -- a file that stands alone ----------------------------------------------------------------


def test_a_file_of_every_shape() -> None:
    """Adopted and rendered it is the same mapping, at the same revision."""
    want = yaml.safe_load(FILE)
    want["messages"][1]["detail"] = ""
    project = adopted(FILE)
    assert document(project) == want
    assert (project.revision, project.native, project.workflow) == (50, "marsh", "shared")


def test_what_it_says_is_put_down_to_whoever_did_it() -> None:
    """Agents did what is theirs, the maintainer moved the phase; nobody else is in it."""
    did: dict[tuple[str, str | None], int] = {}
    for request in made(FILE, Project("marsh")):
        did.setdefault((request.event.type, request.actor), 0)
        did[request.event.type, request.actor] += 1
        assert request.session in (None, "session-001")
    assert did == {
        ("project.opened", "runner"): 1,
        ("actor.registered", "heron"): 1,
        ("actor.registered", "otter"): 1,
        ("actor.registered", "runner"): 1,
        ("session.started", "heron"): 1,
        ("actor.status_changed", "fen"): 1,
        ("phase.advanced", "fen"): 1,
        ("task.added", "fen"): 1,
        ("task.added", "otter"): 3,
        ("task.added", "heron"): 1,
        ("task.claimed", "fen"): 1,
        ("task.claimed", "otter"): 2,
        ("task.completed", "fen"): 1,
        ("task.completed", "otter"): 1,
        ("task.started", "heron"): 1,
        ("task.blocked", "otter"): 1,
        ("lease.acquired", "heron"): 1,
        ("turn.requested", "otter"): 1,
        ("turn.requested", "fen"): 1,
        ("signal.sent", "otter"): 1,
        ("signal.sent", "heron"): 1,
        ("signal.sent", "some-tool"): 1,
        ("project.adopted", "runner"): 1,
        ("project.leftovers_kept", "runner"): 1,
    }


def test_it_goes_on_from_there() -> None:
    """Tasks, sessions, locks and signals are those of the journal, and have their next numbers."""
    project = adopted(FILE)
    assert {id: task.status for id, task in project.tasks.items()} == {
        "ask": "done",
        "walk": "done",
        "map": "in_progress",
        "boat": "claimed",
        "rest": "open",
    }
    lease = project.leases["map-edit"]
    assert (lease.agent, lease.revision, lease.status) == ("heron", 49, "held")
    project = happened(project, e.SignalSent("ready"), "heron")
    project = happened(project, e.TaskCompleted("map", "in ink"), "heron")
    found = document(project)
    assert found["messages"][0]["id"] == "SIG-032"
    assert found["coordination"]["revision"] == 52
    assert found["coordination"]["tasks"]["map"]["completed_rev"] == 52
    assert found["coordination"]["tasks"]["map"]["claim_rev"] == 12
    assert found["agents"]["heron"]["current_task"] is None


def test_adopted_again_it_comes_to_nothing() -> None:
    """The same file, and what was rendered of it, say nothing new, with or without a stamp."""
    project = adopted(FILE)
    for content in (FILE.encode(), turnfile.render(project)):
        assert made(content, project) == []
        assert made(content, project, base=project, removals=True) == []


def test_a_long_chain_of_tasks_and_a_circle() -> None:
    """Tasks that wait on each other in any order are all there, with what they wait on."""
    document_ = yaml.safe_load(FILE)
    tasks = document_["coordination"]["tasks"]
    for n in range(1_000):
        tasks[f"t{n}"] = {**tasks["rest"], "depends_on": [f"t{n + 1}"], "owner": "unassigned"}
    tasks["t1000"] = {**tasks["rest"], "depends_on": ["u"], "owner": "unassigned"}
    tasks["u"] = {**tasks["rest"], "depends_on": ["t1000"], "owner": "unassigned"}
    project = adopted(yaml.safe_dump(document_, sort_keys=False))
    assert document(project)["coordination"]["tasks"] == tasks
    assert project.tasks["t0"].depends_on == ("t1",)


def test_a_name_that_no_agent_can_have_is_kept() -> None:
    """A maintainer or agent by such a name stays in the file, and nothing is recorded for it."""
    text = FILE.replace('id: "fen"', 'id: "<your name>"').replace("  otter:\n", '  "an otter":\n')
    project = adopted(text)
    assert project.coordination is not None
    assert project.coordination.maintainer == "maintainer"
    found = document(project)
    assert found["maintainer"]["id"] == "<your name>"
    assert found["agents"]["an otter"]["last_seen"] == "otter-session-6-close"
    assert set(project.actors) >= {"maintainer", "heron"}
    assert "an otter" not in project.actors
    assert made(turnfile.render(project), project, base=project, removals=True) == []


# -- round trips -----------------------------------------------------------------------------


@settings(deadline=None, max_examples=200)
@given(projects())
def test_what_was_rendered_says_nothing_new(project: Project) -> None:
    """Any state that was written into a file is what the file says."""
    content = turnfile.render(project)
    assert made(content, project, base=project, removals=True) == []
    assert made(content, project) == []


@settings(deadline=None, max_examples=200)
@given(requests())
def test_a_file_without_its_journal(asked: list[Request]) -> None:
    """Whatever we rendered, adopted into an empty journal it reads the same."""
    content = turnfile.render(after(shared(), asked))
    again = adopted(content, Project("tools"))
    assert document(again) == yaml.safe_load(content)
    assert made(content, again) == made(turnfile.render(again), again, base=again) == []


_PLACES = st.lists(st.integers(0, 9), max_size=5)
_VALUES = JSON | st.sampled_from(("T001", "draft-parser", "coder", "maintainer", "done", "SIG-9"))


@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(_PLACES, _VALUES, WORDS), min_size=1, max_size=4), st.booleans())
def test_any_edit_leaves_a_file_that_conforms(edits: list[Any], signed: bool) -> None:
    """Whatever is put wherever, it is refused in a sentence, or adopted once and for all."""
    project = busy()
    changed = yaml.safe_load(turnfile.render(project))
    for place, value, key in edits:
        _put(changed, place, value, key)
    content = yaml.safe_dump(changed, sort_keys=False, allow_unicode=True).encode()
    ours: dict[str, Any] = {"base": project, "removals": signed}
    for target, about in ((project, ours), (Project("new"), {})):
        try:
            found = adopted(content, target, **about)
        except Invalid:
            continue
        assert broken(turnfile.render(found)) == []
        assert found.revision >= target.revision
        assert made(content, found, **about) == []
        assert made(turnfile.render(found), found, base=found, removals=True) == []


def _put(node: Any, place: list[int], value: Any, key: str) -> None:
    """Change, add or take out something at a place that is there."""
    for number in place[:-1]:
        inside = list(node.values()) if isinstance(node, dict) else node
        inside = [each for each in inside if isinstance(each, dict | list) and each]
        if not inside:
            break
        node = inside[number % len(inside)]
    keys = list(node) if isinstance(node, dict) else list(range(len(node)))
    last = place[-1] if place else 0
    if last == 9 and isinstance(node, dict):
        node[key] = value
    elif last == 8 and keys:
        del node[keys[-1]]
    elif keys:
        node[keys[last % len(keys)]] = value


# -- edits -----------------------------------------------------------------------------------

_TASK = '      notes: "Spec: §2\\n\\n12 of 12 tests"\n'
_NEW_TASK = """\
    extra:
      description: "One more"
      owner: "reviewer"
      status: "claimed"
      priority: "P2"
      depends_on: ["draft-parser"]
      created_by: "coder"
      created_rev: 21
      claim_rev: 21
      completed_rev: null
      notes: ""
"""
_NEW_SIGNAL = """\
messages:
  - id: "SIG-003"
    from: "reviewer"
    to: "coder"
    signal: "yield"
    rev: 21
    detail: "yours"
"""
_NEW_LOCK = """\
locks:
  src-edit:
    files: ["src/a.py"]
    holder: "coder"
    acquired_rev: 21
    lease_revs: 4
    reason: "to mend it"
"""
_NEW_TURN = """\
turn_queue:
  - agent: "reviewer"
    action: "go first"
    requested_rev: 21
    priority: "P0"
"""
_TURNS = """\
  - agent: "coder"
    action: "merge the parser"
    requested_rev: 16
    priority: "P0"
"""
_REVIEWING = 'owner: "reviewer"\n      status: "claimed"'
#: What somebody writes into the file, and what it comes to, by whom.
EDITS: dict[str, tuple[list[tuple[str, str]], list[tuple[str, str]]]] = {
    "an agent is offline": (
        [
            (
                'status: "idle"\n    current_task: "T002"',
                'status: "offline"\n    current_task: "T002"',
            )
        ],
        [("actor.status_changed", "reviewer")],
    ),
    "an agent begins a session": (
        [
            (
                'status: "idle"\n    current_task: "T002"',
                'status: "active"\n    current_task: "T002"',
            ),
            ("session_id: null", 'session_id: "reviewer-session-9"'),
            ('last_seen: "session-002"', 'last_seen: "reviewer-session-9"'),
        ],
        [("session.started", "reviewer")],
    ),
    "an agent ends its session": (
        [
            ('status: "active"', 'status: "idle"'),
            ('session_id: "coder-session-3"', "session_id: null"),
        ],
        [("turn.withdrawn", "coder"), ("session.ended", "coder")],
    ),
    "an agent joins": (
        [("  auditor:\n", '  guest:\n    role: "agent"\n    status: "blocked"\n  auditor:\n')],
        [("actor.registered", "guest"), ("actor.status_changed", "guest")],
    ),
    "the maintainer leaves": (
        [('status: "available"', 'status: "away"')],
        [("actor.status_changed", "ada")],
    ),
    "the phase moves on": (
        [('active_step: "2.1"', 'active_step: "2.2"')],
        [("phase.advanced", "ada")],
    ),
    "a task is begun": (
        [(_REVIEWING, 'owner: "reviewer"\n      status: "in_progress"')],
        [("task.started", "reviewer")],
    ),
    "a task is done": (
        [(_REVIEWING, 'owner: "reviewer"\n      status: "done"')],
        [("task.completed", "reviewer")],
    ),
    "a task is given back": (
        [(_REVIEWING, 'owner: "unassigned"\n      status: "pending"')],
        [("task.reset", "reviewer")],
    ),
    "a task is blocked": (
        [(_REVIEWING, 'owner: "reviewer"\n      status: "blocked"')],
        [("blocker.raised", "reviewer"), ("task.blocked", "reviewer")],
    ),
    "a task is free to go on": (
        [
            (
                'owner: "coder"\n      status: "blocked"',
                'owner: "coder"\n      status: "in_progress"',
            )
        ],
        [("task.unblocked", "coder")],
    ),
    "a task is given to another": (
        [(_REVIEWING, 'owner: "coder"\n      status: "claimed"')],
        [("task.reset", "ada"), ("task.claimed", "ada")],
    ),
    "a task is new": (
        [(_TASK, _TASK + _NEW_TASK)],
        [("task.added", "coder"), ("task.claimed", "reviewer")],
    ),
    "a signal is sent": ([("messages:\n", _NEW_SIGNAL)], [("signal.sent", "reviewer")]),
    "a lock is taken": ([("locks:\n", _NEW_LOCK)], [("lease.acquired", "coder")]),
    "a turn is asked for": (
        [("turn_queue:\n", _NEW_TURN)],
        [("turn.requested", "reviewer")],
    ),
    "a turn was taken": ([(_TURNS, "")], [("turn.taken", "coder")]),
    "the turns are put in order": (
        [(_TURNS, ""), ("\nmessages:", f"{_TURNS}\nmessages:")],
        [("turn.moved", "ada")],
    ),
}


def told(project: Project, content: str, **given: Any) -> list[tuple[str, str | None]]:
    """What is recorded of a file, and in whose name, but for the adoption itself."""
    project, found = project.copy(), []
    for request in made(content, project, **given):
        for asked, event, payload in decided(project, [request], NOW):
            evolve(project, provisional(project, asked, event.type, payload, NOW))
            found.append((event.type, asked.actor))
    return [each for each in found if not each[0].startswith("project.")]


#: What is otherwise in the file afterwards, because it follows.
FOLLOWS = {
    "an agent ends its session": [".turn_queue"],  # it gives back what it asked for
    "an agent joins": [
        f".agents.guest.{key}" for key in ("current_task", "last_seen", "session_id")
    ],
    "a task is done": [".agents.reviewer.current_task", ".tasks.T002.completed_rev"],
    "a task is given back": [".agents.reviewer.current_task", ".tasks.T002.claim_rev"],
    "a task is blocked": [".tasks.T002.notes"],
    "a task is free to go on": [".tasks.T003.notes"],
    "a task is given to another": [".agents.reviewer.current_task", ".tasks.T002.claim_rev"],
    "a task is new": [".agents.reviewer.current_task"],
    "a turn is asked for": [".turn_queue"],  # nobody pushes in
}


def different(one: Any, other: Any, where: str = "") -> list[str]:
    """The places where two documents are not the same."""
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return [] if one == other else [where.replace(".coordination", "")]
    return [
        place
        for key in sorted(one.keys() | other.keys())
        for place in different(one.get(key, ...), other.get(key, ...), f"{where}.{key}")
    ]


@pytest.mark.parametrize("what", EDITS)
def test_an_edit_is_an_event(what: str) -> None:
    """What somebody changes is recorded in the name of whose it is, and then stands in the file."""
    edits, events = EDITS[what]
    project = busy()
    content = edited(project, ("  revision: 20\n", "  revision: 21\n"), *edits)
    ours: dict[str, Any] = {"base": project, "removals": True}
    assert told(project, content, **ours) == events
    after_it = adopted(content, project, **ours)
    assert made(content, after_it, base=project) == []
    want, found = yaml.safe_load(content), document(after_it)
    assert found["coordination"].pop("revision") == project.revision + len(events)
    want["coordination"].pop("revision")
    assert different(want, found) == FOLLOWS.get(what, [])


WORDINGS = {
    "description": ('description: "Review it"', 'description: "Read it"'),
    "priority": ('priority: "P0"\n      depends_on', 'priority: "P1"\n      depends_on'),
    "owner": ('owner: "unassigned"', 'owner: "reviewer"'),
    "notes": (_TASK, '      notes: "Spec: §3"\n'),
    "last_seen": ('last_seen: "session-002"', 'last_seen: "reviewer-session-2-close"'),
    "current_task": ('current_task: "T002"', "current_task: null"),
    "version": ('version: "0.1.0"', 'version: "1.0.0-rc.1"'),
    "detail": ('detail: "lunch"', 'detail: "dinner"'),
}


@pytest.mark.parametrize("what", WORDINGS)
def test_what_no_event_says_stays_in_the_file(what: str) -> None:
    """Another wording comes out again, and is no revision; it goes once the state moves on."""
    project = happened(busy(), e.TaskAdded("Free", "T004"), "ada")
    content = edited(project, WORDINGS[what])
    found = adopted(content, project, base=project, removals=True)
    assert document(found) == yaml.safe_load(content)
    assert found.revision == project.revision
    assert {kind for kind, _ in told(project, content, base=project)} == set()


# -- what the format's own tools do --------------------------------------------------------------


def _closed(text: str) -> str:
    """What the reference tool's `close` does to the file."""
    text = re.sub(
        r"^# Last modified revision:\s*\d+\s*$", "# Last modified revision: 21", text, flags=re.M
    )
    text = re.sub(r"^  revision:\s*\d+\s*$", "  revision: 21", text, count=1, flags=re.M)
    block = re.search(r"(  coder:\n(?:    .+\n)+)", text)
    assert block
    closed = re.sub(r'    status: ".+?"', '    status: "idle"', block[1])
    closed = re.sub(r"    current_task: .+", "    current_task: null", closed)
    closed = re.sub(
        r'    last_seen: ".+?"|    last_seen: null', '    last_seen: "coder-close-rev21"', closed
    )
    return text.replace(block[1], closed)


def _reconciled(text: str) -> str:
    """What the reference tool does about an agent that is gone."""
    block = re.compile(
        r'(  coder:\s*\n    role:\s*"[^"]*"\s*\n    status:\s*)"[^"]*"(\s*\n    current_task:\s*)'
        r'(?:null|"[^"]*")(\s*\n    last_seen:\s*)"[^"]*"(\s*\n    session_id:\s*)(?:null|"[^"]*")'
    )
    assert block.search(text)
    text = block.sub(r'\1"offline"\2null\3"coder-stale-rev21"\4null', text)
    text = re.sub(r"(coordination:\s*\n\s*revision:\s*)\d+", r"\g<1>21", text)
    signal = _NEW_SIGNAL.replace("reviewer", "reconcile-stale-agent").replace('"coder"', '"all"')
    return re.sub(r"^messages:\n", signal, text, flags=re.M)


@pytest.mark.parametrize(
    ("tool", "kinds"),
    [
        (_closed, ["actor.status_changed"]),
        (_reconciled, ["turn.withdrawn", "session.crashed", "actor.registered", "signal.sent"]),
    ],
)
def test_the_tools_of_the_format_can_write_into_it(
    tool: Callable[[str], str], kinds: list[str]
) -> None:
    """Their patterns find what they look for; what they count on to is where we go on from."""
    project = busy()
    content = tool(turnfile.render(project).decode())
    assert [kind for kind, _ in told(project, content, base=project, removals=True)] == kinds
    found = adopted(content, project, base=project, removals=True)
    assert found.revision == max(21, project.revision + len(kinds))
    coder = document(found)["agents"]["coder"]
    assert coder == yaml.safe_load(content)["agents"]["coder"]


def test_a_tool_that_only_counts_is_followed() -> None:
    """A higher revision alone is taken over; a lower one is nobody's word."""
    project = busy()
    ahead = edited(project, ("  revision: 20\n", "  revision: 25\n"))
    found = adopted(ahead, project, base=project, removals=True)
    assert document(found)["coordination"]["revision"] == 25
    assert made(ahead, found, base=project, removals=True) == []
    behind = edited(project, ("  revision: 20\n", "  revision: 3\n"))
    assert adopted(behind, project, base=project, removals=True).revision == 20


# -- while others went on ------------------------------------------------------------------------


def test_what_was_recorded_since_stays() -> None:
    """An edit of an older file takes nothing back that happened meanwhile."""
    base = busy()
    content = edited(base, ('active_step: "2.1"', 'active_step: "2.2"'))
    now = happened(base, e.SignalSent("ready", detail="news"), "coder")
    now = happened(now, e.TaskStarted("T002"), "reviewer")
    now = happened(now, e.LeaseReleased("worklog-edit"), "reviewer")
    found = document(adopted(content, now, base=base, removals=True))
    assert [signal["detail"] for signal in found["messages"]] == [
        "news",
        "lunch",
        "the parser is in",
    ]
    assert found["coordination"]["tasks"]["T002"]["status"] == "in_progress"
    assert found["coordination"]["active_step"] == "2.2"
    assert found["locks"] == {}


def test_of_two_who_take_a_task_the_journals_has_it() -> None:
    """The file's claim comes too late; it is in the file no more, and nobody lost the task."""
    base = happened(busy(), e.TaskAdded("Free", "T004"), "ada")
    free = '      description: "Free"\n      owner: "unassigned"\n      status: "pending"'
    mine = '      description: "Free"\n      owner: "reviewer"\n      status: "claimed"'
    content = edited(base, (free, mine))
    now = happened(base, e.TaskClaimed("T004"), "coder")
    found = adopted(content, now, base=base, removals=True)
    assert found.tasks["T004"].agent == "coder"
    task = document(found)["coordination"]["tasks"]["T004"]
    assert (task["owner"], task["status"]) == ("coder", "claimed")
    assert made(content, found, base=base, removals=True) == []


def test_two_signals_of_one_number_are_both_kept() -> None:
    """The file's is given the next number, once."""
    base = busy()
    content = edited(base, ("messages:\n", _NEW_SIGNAL))
    now = happened(base, e.SignalSent("notify", detail="mine"), "coder")
    found = adopted(content, now, base=base, removals=True)
    signals = document(found)["messages"]
    assert [(s["id"], s["detail"]) for s in signals[:2]] == [
        ("SIG-004", "yours"),
        ("SIG-003", "mine"),
    ]
    assert made(content, found, base=base, removals=True) == []


@pytest.mark.parametrize(
    ("since", "token", "holder"),
    [
        (21, "a-lock", "coder"),
        (21, "z-lock", "reviewer"),
        (22, "a-lock", "reviewer"),
        (1, "z-lock", "reviewer"),
    ],
)
def test_of_two_locks_the_earlier_counts(since: int, token: str, holder: str) -> None:
    """Then the one of the smaller id; none is older than the file that it was written into."""
    base = busy()
    lock = _NEW_LOCK.replace("src-edit", token).replace(
        "acquired_rev: 21", f"acquired_rev: {since}"
    )
    content = edited(base, ("locks:\n", lock), ("  revision: 20\n", "  revision: 22\n"))
    lease = e.LeaseAcquired("m-lock", files=("src/a.py", "src/b.py"))
    now = happened(base, lease, "reviewer")
    assert now.leases["m-lock"].revision == 21
    found = adopted(content, now, base=base, removals=True)
    held = {x.agent for x in found.leases.values() if x.status == "held" and "src/a.py" in x.files}
    assert held == {holder}
    locks = document(found)["locks"]
    assert {x["holder"] for x in locks.values() if "src/a.py" in x["files"]} == {holder}
    assert made(content, found, base=base, removals=True) == []


def test_a_stale_lock_yields() -> None:
    """One that has lasted for its revisions is taken over by the file's, and that is recorded."""
    base = busy()
    assert base.revision - base.leases["worklog-edit"].revision > 2
    lock = _NEW_LOCK.replace("src/a.py", "WORKLOG.md")
    content = edited(base, ("locks:\n", lock))
    kinds = told(base, content, base=base, removals=True)
    assert kinds == [("lease.expired", "coder"), ("lease.acquired", "coder")]


# -- what is gone ----------------------------------------------------------------------------


def test_what_is_taken_out_of_a_signed_file_is_gone() -> None:
    """A lock is given back, a turn taken; signals and tasks leave the file and stay on record."""
    project = busy()
    text = turnfile.render(project).decode()
    changed = yaml.safe_load(text)
    changed["locks"], changed["turn_queue"], changed["messages"] = {}, [], changed["messages"][:1]
    del changed["coordination"]["tasks"]["draft-parser"], changed["agents"]["auditor"]
    content = yaml.safe_dump(changed, sort_keys=False)
    found = adopted(content, project, base=project, removals=True)
    want = dict(changed)
    want["coordination"]["revision"] = found.revision
    want["coordination"]["tasks"]["T002"]["depends_on"] = []
    assert document(found) == want
    assert len(found.signals) == 2
    assert found.tasks["draft-parser"].status == "done"
    kinds = [kind for kind, _ in told(project, content, base=project, removals=True)]
    assert kinds == ["lease.expired", "turn.taken", "turn.taken"]


def test_what_is_missing_in_an_unsigned_file_is_not_gone() -> None:
    """Whoever lost half of a file did not mean it."""
    project = busy()
    changed = yaml.safe_load(turnfile.render(project))
    changed["locks"], changed["turn_queue"], changed["messages"] = {}, [], []
    changed["coordination"]["tasks"], changed["agents"] = {}, {}
    content = yaml.safe_dump(changed, sort_keys=False)
    assert made(content, project) == made(content, project, base=project) == []


# -- what is no part of the format ---------------------------------------------------------------


def test_foreign_keys_stand_in_comments() -> None:
    """What the format has no place for stays readable below, for as long as the file is there."""
    text = FILE.replace(
        '    status: "active"\n', '    status: "asleep"\n    model: "gull 4\\n---"\n'
    )
    text += 'budget: {tokens: 900, by: ["fen"]}\n'
    project = adopted(text)
    content = turnfile.render(project).decode()
    assert broken(content.encode()) == []
    comments = [line for line in content.split("\n") if line.startswith("# not of the format")]
    assert comments == [
        '# not of the format, from the adopted file: budget: {tokens: 900, by: ["fen"]}',
        '# not of the format, from the adopted file: agents.heron.status: "asleep"',
        '# not of the format, from the adopted file: agents.heron.model: "gull 4\\n---"',
    ]
    assert made(text, project) == made(content, project, base=project, removals=True) == []


def test_a_reference_that_leads_nowhere_is_left_out() -> None:
    """Tasks that are not there, revisions to come, and locks of nobody do not get into our file."""
    text = FILE.replace('current_task: "map"', 'current_task: "moon"')
    text = text.replace('depends_on: ["map", "boat"]', 'depends_on: ["moon", "boat"]')
    text = text.replace("completed_rev: 10", "completed_rev: 51").replace("rev: 9\n", "rev: 90\n")
    text = text.replace('holder: "heron"', 'holder: "../heron"')
    found = document(adopted(text))
    assert found["agents"]["heron"]["current_task"] is None
    assert found["coordination"]["tasks"]["rest"]["depends_on"] == ["boat"]
    assert found["locks"] == {}


def test_instances_of_a_family_are_kept() -> None:
    """The format's newest addition comes out again where it fits, and else as a comment."""
    instance = 'model: "m", session_id: null, status: "idle", current_task: null, lane_role'
    lanes = f'    instances: {{one: {{{instance}: "primary"}}, two: {{{instance}: "secondary"}}}}\n'
    text = FILE.replace("  otter:\n", f"{lanes}\n  otter:\n")
    found = document(adopted(text))
    assert found["agents"]["heron"]["instances"] == yaml.safe_load(lanes)["instances"]
    twice = text.replace("secondary", "primary")
    assert "instances" not in document(adopted(twice))["agents"]["heron"]


# -- bad input -------------------------------------------------------------------------------

_BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{n}: &{n} [{', '.join([f'*{p}'] * 9)}]\n" for p, n in zip("abcdefgh", "bcdefghi", strict=True)
)
BAD: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "no YAML mapping"),
    "no text": (b"\xff\xfe\x00", "not YAML"),
    "a list": (b"- a\n", "no YAML mapping"),
    "another mapping": (b"initiative: x\n", "it has no turnfile, no agents"),
    "cut between sections": (FILE.partition("locks:")[0].encode(), "no locks, no turn_queue"),
    "cut within a text": (FILE.encode()[:-8], "not YAML: line"),
    "two documents": (f"{FILE}---\n{FILE}".encode(), "found another document"),
    "a tab": (FILE.replace("  project:", "\tproject:").encode(), "line 8: a tab indents it"),
    "an anchor": (FILE.replace("[ask]", "&x [ask]").encode(), "no anchors and no aliases"),
    "a bomb": (_BOMB.encode(), "line 1: the format has no anchors"),
    "a key twice": (FILE.replace("  otter:", "  heron:").encode(), "'heron' stands there twice"),
    "a signal twice": (FILE.replace("SIG-030", "SIG-031").encode(), "'SIG-031' twice"),
    "agents that are a list": (
        b"agents: []\n" + FILE.replace("agents:", "x:").encode(),
        "agents is no mapping",
    ),
    "a revision that is none": (
        FILE.replace("  revision: 50", "  revision: soon").encode(),
        "coordination.revision is 'soon'",
    ),
    "a revision without end": (
        FILE.replace("  revision: 50", f"  revision: {2**60}").encode(),
        "has to be a number",
    ),
    "too deep": (b"a: " + b"[" * 5_000, "nested too deeply"),
    "50 MB": (b"# " + b"x" * 50_000_000, "50,000,002 bytes"),
}


@pytest.mark.parametrize("what", BAD)
def test_what_is_no_turnfile_is_refused(what: str) -> None:
    """One sentence says why and what to do, and nothing comes of it."""
    content, why = BAD[what]
    for project in (Project("marsh"), busy()):
        with pytest.raises(Invalid) as refused:
            made(content, project)
        said = str(refused.value)
        assert why in said
        assert "\n" not in said
        assert len(said) < 300


@given(st.binary(max_size=300) | st.integers(0, len(FILE)).map(lambda n: FILE.encode()[:n]))
def test_anything_can_be_asked_whether_it_is_one(content: bytes) -> None:
    """It is answered for any bytes."""
    assert turnfile.intact(content) in (True, False)


def test_the_file_of_another_workspace_is_refused() -> None:
    """A file that says that it is of another project is not taken for an edit."""
    with pytest.raises(Invalid, match="it is of 'marsh', not of tools"):
        made(FILE, busy())


# -- in a real workspace -------------------------------------------------------------------------


def test_an_edit_of_the_file_is_adopted(tmp_path: Path) -> None:
    """It is drift until it is adopted, then history; afterwards the file is ours again."""
    words = ("--maintainer", "ada", "--agent", "coder", "--agent", "reviewer")
    good(tmp_path, "init", "tools", *words)
    good(tmp_path, "task", "add", "Parse", "--actor", "coder")
    path = tmp_path / "working-session/TURNFILE.yaml"
    text = path.read_text()
    assert broken(text.encode()) == []
    changed = text.replace('owner: "unassigned"', 'owner: "coder"')
    path.write_text(changed.replace('status: "pending"', 'status: "in_progress"'))
    assert quick(tmp_path, "drift").code == exits.NOT_WELL
    good(tmp_path, "drift", "--adopt")
    [last] = [
        json.loads(line)
        for line in good(tmp_path, "log", "-n", "0", "--json").out.splitlines()
        if "task.started" in line
    ]
    assert (last["actor"], last["data"]["task"]) == ("coder", "T001")
    found = yaml.safe_load(path.read_text())
    assert found["coordination"]["tasks"]["T001"]["status"] == "in_progress"
    assert found["agents"]["coder"]["current_task"] == "T001"
    assert good(tmp_path, "verify").code == good(tmp_path, "drift").code == 0
