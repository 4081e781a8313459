"""STATE.md: one YAML mapping that says where the initiative stands, word for word."""

from datetime import UTC, date, datetime
from typing import Any

import pytest
import yaml
from examples import fresh, rich
from hypothesis import given, settings
from strategies import APEX_STEPS, Chain, projects

from journal import events as e
from journal.state import Project
from projections.state_md import render

SECTIONS = [
    *("initiative", "title", "position", "progress", "decisions", "blockers", "sessions"),
    *("next_action", "resume_context"),
]
HEADINGS = [
    *("# STATE.md", "# Current Position", "# Progress Tracking", "# Decisions Made"),
    *("# Active Blockers", "# Session History", "# Next Action", "# Context for Resume"),
]


def loaded(project: Project) -> Any:
    """The rendered file as any YAML reader has it."""
    return yaml.safe_load(render(project))


def opened(*events: e.Event, actor: str = "worker-abc", session: str | None = None) -> Project:
    """A project to which these things happened."""
    chain = Chain("orchard").add(e.ProjectOpened("Orchard", "apex", APEX_STEPS))
    for event in events:
        chain.add(event, actor, session)
    return chain.project


@settings(deadline=None, max_examples=300)
@given(projects())
def test_every_state_loads_word_for_word(project: Project) -> None:
    """Whatever agents wrote, the file is one mapping and gives back exactly their text."""
    state = loaded(project)
    assert list(state) == SECTIONS
    assert state["initiative"] == (project.native or project.slug)
    assert state["title"] == project.title
    held = [d for d in project.decisions.values() if d.superseded_by is None]
    assert [d["context"] for d in state["decisions"]] == [d.title or d.key for d in held]
    assert [d.get("reason", "") for d in state["decisions"]] == [d.rationale for d in held]
    alternatives = [tuple(d.get("alternatives_considered", ())) for d in state["decisions"]]
    assert alternatives == [d.alternatives for d in held]
    unresolved = [b for b in project.blockers.values() if b.status != "resolved"]
    assert [b["description"] for b in state["blockers"]] == [b.description for b in unresolved]
    assert [tuple(b["affects"]) for b in state["blockers"]] == [b.affects for b in unresolved]
    assert [b["workaround"] or "" for b in state["blockers"]] == [b.workaround for b in unresolved]
    sessions = list(project.sessions.values())
    assert [s["id"] for s in state["sessions"]] == [s.id for s in sessions]
    assert [tuple(s.get("issues", ())) for s in state["sessions"]] == [s.issues for s in sessions]
    assert "" not in project.next_actions or state["next_action"] == project.next_actions[""]
    resume = state["resume_context"]
    noted = [note.text for note in project.context if note.kind == "implementation"]
    assert resume["key_implementations"] == noted
    assert set(resume["files_modified_this_session"]) <= set(project.files)


@settings(deadline=None, max_examples=100)
@given(projects())
def test_headings_are_ours(project: Project) -> None:
    """No text begins a line of its own in the first column."""
    lines = render(project).decode().split("\n")
    comments = [line for line in lines if line.startswith("#")]
    assert comments[:-1] == HEADINGS
    assert comments[-1].startswith(f"# passdown project={project.slug} ")
    assert lines[-2:] == [comments[-1], ""]
    assert not [line for line in lines if line.startswith(("---", "..."))]


def test_fresh_project() -> None:
    """Before anything was started the position is the first phase, pending; lists are empty."""
    state = loaded(fresh())
    assert state["initiative"] == "init-7f3a"
    assert state["position"] == {"phase": 1, "phase_name": "Requirements", "status": "pending"}
    assert state["progress"]["bar"] == "░" * 16 + " 0%"
    assert state["decisions"] == state["blockers"] == state["sessions"] == []
    assert state["next_action"] == "Start phase 1 Requirements (02-Requirements)."
    assert set(map(tuple, state["resume_context"].values())) == {()}


def test_project_without_steps() -> None:
    """Where no phase was planned the position is phase 0."""
    chain = Chain("empty").add(e.ProjectOpened("Empty", "generic", ()))
    state = loaded(chain.project)
    assert state["position"] == {"phase": 0, "status": "pending"}
    assert state["progress"]["bar"] == "░" * 16 + " 0%"


def test_position_names_plan_and_task() -> None:
    """The position is the phase, its highest plan in progress, and the task started last."""
    project = opened(
        e.StepStarted("2"),
        *(e.PlanAdded("2", f"Plan {n}", n, f"2-{n}") for n in (1, 2, 3)),
        *(e.PlanStarted(f"2-{n}") for n in (2, 1)),
        *(e.TaskAdded(f"Task {n}", f"T{n:03}", "2", f"2-{n}", wave=n) for n in (1, 2, 3)),
        e.TaskStarted("T002"),
        e.TaskStarted("T001"),
        e.TaskClaimed("T003"),
    )
    assert loaded(project)["position"] == {
        "phase": 2,
        "phase_name": "Architecture",
        "plan": 2,
        "plan_name": "Plan 2",
        "task": "Task 1",
        "wave": 1,
        "status": "in_progress",
    }


def test_phase_between_numbers_is_text() -> None:
    """A phase like 3_5 is quoted, because YAML would read it as 35."""
    assert loaded(opened(e.StepStarted("3_5")))["position"]["phase"] == "3_5"


@pytest.mark.parametrize(
    ("events", "bar"),
    [
        ([], "░░░░░░░░░░░░░░░░ 0%"),
        ([e.StepSkipped("1"), e.StepSkipped("2")], "████░░░░░░░░░░░░ 25%"),
        ([e.StepStarted("1"), e.TaskCompleted("T001")], "░░░░░░░░░░░░░░░░ 4%"),
        (
            [e.StepStarted("1"), e.TaskCompleted("T001"), e.StepCompleted("1")],
            "██░░░░░░░░░░░░░░ 12%",
        ),
        ([e.StepSkipped(plan.key) for plan in APEX_STEPS], "████████████████ 100%"),
    ],
)
def test_progress_bar(events: list[e.Event], bar: str) -> None:
    """Phases done, and of the current one the share of its tasks, in sixteen cells."""
    tasks = [e.TaskAdded(f"Task {n}", f"T{n:03}", "1") for n in (1, 2, 3)]
    progress = loaded(opened(*tasks, *events))["progress"]
    assert progress["bar"] == bar
    assert progress["phases_total"] == 8


def test_decisions() -> None:
    """A decision has its date, words and kind; a superseded one is gone."""
    state = loaded(rich())
    assert "None for now" not in [decision["decision"] for decision in state["decisions"]]
    assert state["decisions"][3] == {
        "date": date(2026, 1, 1),
        "context": "Where the catalogue is stored",
        "decision": "One managed PostgreSQL, zone-redundant",
        "reason": "Orders and stock change in one transaction",
        "alternatives_considered": ["Document store: no transaction across stock and orders"],
        "reversible": False,
        "kind": "architecture decision",
        "id": "D004",
    }


def test_blockers() -> None:
    """Active and bypassed blockers show, with the tasks they hold up or the way around."""
    project = opened(
        e.TaskAdded("Deploy it", "T001", "6"),
        e.BlockerRaised("No keys", ("Phase 6",), ("T001",), "block-001"),
        e.BlockerRaised("No icons", blocker="block-002"),
        e.BlockerBypassed("block-002", "Boxes", ("T001",)),
        e.BlockerRaised("Rain", blocker="block-003"),
        e.BlockerResolved("block-003", "Sun"),
    )
    assert loaded(project)["blockers"] == [
        {
            "id": "block-001",
            "status": "active",
            "description": "No keys",
            "identified_at": datetime(2026, 1, 1, 10, 2, tzinfo=UTC),
            "affects": ["Phase 6"],
            "blocked_tasks": [{"T001": "Deploy it"}],
            "workaround": None,
            "resolution": None,
        },
        {
            "id": "block-002",
            "status": "bypassed",
            "description": "No icons",
            "identified_at": datetime(2026, 1, 1, 10, 3, tzinfo=UTC),
            "affects": [],
            "workaround": "Boxes",
            "workaround_tasks": [{"T001": "Deploy it"}],
            "resolution": None,
        },
    ]


def test_sessions() -> None:
    """An ended, a crashed and an active session each say what the next one must know."""
    ended, crashed, active = loaded(rich())["sessions"]
    assert "status" not in ended
    assert ended["context_usage"] == "62%"
    assert ended["completed"] == ["Step 1: Requirements", "Step 2: Architecture"]
    assert ended["notes"] == "Clean run otherwise"
    assert ended["handoff_reason"] == "Context limit near"
    assert crashed["status"] == "crashed"
    assert crashed["notes"] == "No sign of life for 30 minutes, task reset"
    assert active["status"] == "active"
    assert "ended" not in active
    assert active["continues"] == "session-002"
    assert active["working_on"] == "Phase 5, T002: Private endpoints"


def test_active_session_without_task_works_on_the_phase() -> None:
    """A session that has no task of its own is at the phase in progress."""
    start = e.SessionStarted(agent="worker-abc", session="session-001")
    state = loaded(opened(start, e.StepStarted("2")))
    assert state["sessions"][0]["working_on"] == "Phase 2: Architecture"
    assert "working_on" not in loaded(opened(start))["sessions"][0]


def test_several_notes_are_one_text() -> None:
    """Notes and deviations are one text, a line each, in order."""
    start = e.SessionStarted(note="Begin", session="session-001")
    noted = e.SessionNoted("Careful", session="session-001")
    odd = e.SessionNoted("Left the plan", "deviation", "session-001")
    session = loaded(opened(start, noted, odd))["sessions"][0]
    assert session["notes"] == "Begin\nCareful\nLeft the plan"
    assert "issues" not in session


def test_next_action() -> None:
    """The project's own next action comes before an agent's, and either before the position."""
    mine = e.NextActionSet("Test\nthen ship\n", "worker-abc")
    ours = e.NextActionSet("Ask first")
    assert loaded(opened(mine))["next_action"] == "Test\nthen ship\n"
    assert loaded(opened(mine, ours))["next_action"] == "Ask first"
    assert loaded(opened(mine, ours, e.NextActionSet("")))["next_action"] == "Test\nthen ship\n"
    assert b"next_action: |\n  Test\n  then ship\n" in render(opened(mine))


def test_resume_context() -> None:
    """Files of the latest session that still exist, implementations, and open questions."""
    resume = loaded(rich())["resume_context"]
    assert resume["files_modified_this_session"] == [
        "infra/private endpoints.bicep",
        "infra/main.bicep",
    ]
    assert (
        resume["key_implementations"][1] == 'Private endpoints are named "pe-<service>": see T002'
    )
    assert resume["open_questions"] == ["OQ-001: Who owns the DNS zone?"]


def test_files_of_the_session_before() -> None:
    """While the latest session has changed nothing, the files of the last change are listed."""
    chain = Chain("orchard").add(e.ProjectOpened("Orchard", "apex", APEX_STEPS))
    chain.add(e.FilesChanged("a.txt"), session="session-001")
    chain.add(e.FilesChanged("b.txt"), session="session-002")
    chain.add(e.FilesChanged("gone.txt", "deleted"), session="session-003")
    chain.add(e.SessionStarted(session="session-003"))
    resume = loaded(chain.project)["resume_context"]
    assert resume["files_modified_this_session"] == ["b.txt"]
