"""Blockers: the tasks they block, the phases they pause, and what is free again without them.

Nothing of it is stored: it follows from the facts whenever somebody asks.
"""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from command import Result, files, good, quick
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import Chain

from cli import exits
from journal import Project
from journal import events as e
from journal.blocking import Consequences, blocked_tasks, consequences, is_escalated, paused_steps

PHASES = (
    e.StepPlan("1", "Schema"),
    e.StepPlan("2", "JWT Implementation"),
    e.StepPlan("3", "OAuth"),
)
OPENED = e.ProjectOpened("Shop", "generic", PHASES)
ESCALATED = "every phase that remains is blocked"


def folded(*events: e.Event) -> Project:
    """A project of three phases to which these things happened."""
    chain = Chain("shop").add(OPENED)
    for event in events:
        chain.add(event)
    return chain.project


def task(number: int, step: str = "1", *after: int) -> e.TaskAdded:
    """A task of a phase, which waits on others."""
    needs = tuple(f"T{other:03}" for other in after)
    return e.TaskAdded(f"Task {number}", f"T{number:03}", step, depends_on=needs)


def blocker(number: int, *tasks: int, affects: tuple[str, ...] = ()) -> e.BlockerRaised:
    """A blocker that names tasks and phases."""
    named = tuple(f"T{each:03}" for each in tasks)
    return e.BlockerRaised(f"Reason {number}", affects, named, blocker=f"block-{number:03}")


def paused(project: Project) -> list[str]:
    """The phases that cannot go on."""
    return [step.key for step in paused_steps(project)]


# -- what is blocked, what is paused ---------------------------------------------------------


def test_a_blocker_blocks_what_it_names() -> None:
    """Of the tasks that it names those are blocked that are there and not done."""
    project = folded(task(1), task(2), task(3), e.TaskCompleted("T002"), blocker(1, 1, 2, 9))
    assert blocked_tasks(project) == {"T001"}


@pytest.mark.parametrize(
    ("events", "phases"),
    [
        ([task(1), task(2), blocker(1, 1, 2)], ["1"]),
        ([task(1), task(2), blocker(1, 1), blocker(2, 2)], ["1"]),
        ([task(1), task(2), blocker(1, 1), e.TaskCompleted("T002")], ["1"]),
        ([task(1), task(2, "1", 1), task(3, "1", 2), blocker(1, 1)], ["1"]),
        ([task(1, "2"), task(2, "1", 1), blocker(1, 1)], ["1", "2"]),
        ([task(1), e.TaskCounted("1", 1), blocker(1, 1)], ["1"]),
        ([task(1), e.TaskCounted("1", 5, 4), blocker(1, 1)], ["1"]),
        ([task(1), task(2), blocker(1, 1)], []),
        ([task(1), task(2), task(3, "1", 1), blocker(1, 1)], []),
        ([task(1), e.TaskCounted("1", 2), blocker(1, 1)], []),
        ([task(1), blocker(1, 1), e.TaskCompleted("T001")], []),
        ([task(1), blocker(1, 1), e.TaskUnblocked("T001")], []),
        ([task(1), blocker(1, 1), e.BlockerBypassed("block-001", "by hand")], []),
        ([task(1), blocker(1, 1), e.BlockerResolved("block-001")], []),
        ([task(1), blocker(1, 1), e.StepSkipped("1")], []),
        ([task(1, ""), blocker(1, 1)], []),
        ([blocker(1)], []),
    ],
)
def test_a_phase_is_paused_when_nothing_of_it_can_go_on(
    events: list[e.Event], phases: list[str]
) -> None:
    """Each task that remains is blocked or waits on one; a free one, even unnamed, is enough."""
    assert paused(folded(*events)) == phases


@pytest.mark.parametrize(
    "words",
    ["Phase 3: OAuth", "Phase 3: X", "phase 3", "Phase 3", "Step 3: OAuth", "3", "3: X", " oauth "],
)
def test_affecting_a_phase_pauses_it(words: str) -> None:
    """By its number, with whatever it is called, or by its name, also where it has free tasks."""
    assert paused(folded(task(1, "3"), blocker(1, affects=(words,)))) == ["3"]


@pytest.mark.parametrize("words", ["", "Phase 30", "4", "OAuth and more", "UI implementation", ":"])
def test_affecting_something_else_pauses_nothing(words: str) -> None:
    """What names no phase is only words."""
    assert paused(folded(task(1, "3"), blocker(1, affects=(words,)))) == []


def test_escalation() -> None:
    """It needs every phase that remains, and one that remains; what is done does not count."""
    affected = [blocker(1, affects=("1", "2"))]
    assert not is_escalated(folded(*affected))
    assert is_escalated(folded(*affected, e.StepSkipped("3")))
    assert is_escalated(folded(*affected, blocker(2, affects=("OAuth",))))
    done = [e.StepSkipped(plan.key) for plan in PHASES]
    assert not is_escalated(folded(*affected, *done))


# -- whatever the order ----------------------------------------------------------------------

_TASKS = st.builds(
    lambda steps, needs: [
        task(n, step, *(m for m in after if m < n))
        for n, (step, after) in enumerate(zip(steps, needs, strict=True), 1)
    ],
    st.lists(st.sampled_from(("1", "2", "3")), min_size=5, max_size=5),
    st.lists(st.lists(st.integers(1, 5), max_size=2), min_size=5, max_size=5),
)
_AFFECTS = st.lists(st.sampled_from(("Phase 3: X", "2", "schema", "docs")), max_size=1).map(tuple)
_BLOCKERS = st.lists(
    st.tuples(st.lists(st.integers(1, 5), max_size=4), _AFFECTS), min_size=1, max_size=4
).map(lambda all: [blocker(n, *named, affects=x) for n, (named, x) in enumerate(all, 1)])


def derived(project: Project) -> tuple[set[str], list[str], bool, dict[str, Consequences]]:
    """All that follows from the blockers of a project."""
    each = {id: consequences(project, found) for id, found in project.blockers.items()}
    return blocked_tasks(project), paused(project), is_escalated(project), each


@settings(deadline=None)
@given(_TASKS, _BLOCKERS, st.data())
def test_the_order_makes_no_difference(
    tasks: list[e.Event], blockers: list[e.Event], data: st.DataObject
) -> None:
    """The same tasks and blockers come to the same, in whichever order they were recorded."""
    facts = [*tasks, *blockers]
    shuffled = data.draw(st.permutations(facts))
    assert derived(folded(*facts)) == derived(folded(*shuffled))


@settings(deadline=None)
@given(_TASKS, _BLOCKERS, st.data())
def test_resolving_undoes_what_was_caused(
    tasks: list[e.Event], blockers: list[e.BlockerRaised], data: st.DataObject
) -> None:
    """Without a blocker all is as if it had never been, and just what it alone caused is free."""
    gone = data.draw(st.sampled_from(blockers))
    others = [each for each in blockers if each is not gone]
    before = folded(*tasks, *blockers)
    after = folded(*tasks, *blockers, e.BlockerResolved(gone.blocker))
    never = folded(*tasks, *others)
    assert derived(after)[:3] == derived(never)[:3]
    caused = consequences(before, before.blockers[gone.blocker])
    assert set(caused.tasks) == blocked_tasks(before) - blocked_tasks(after)
    assert set(caused.steps) == {*paused(before)} - {*paused(after)}
    assert caused.escalated == (is_escalated(before) and not is_escalated(after))


# -- as its users see it ---------------------------------------------------------------------


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Three phases, the first in progress; two tasks in it, one in the second."""
    steps = [word for plan in PHASES for word in ("--step", plan.name)]
    good(tmp_path, "init", "shop", "--workflow", "generic", *steps)
    say(tmp_path, "step start 1", "task add Tables --step 1", "task add Indexes --step 1")
    say(tmp_path, "task add Tokens --step 2")
    return tmp_path


def say(folder: Path, *lines: str) -> Result:
    """Type these commands; the answer to the last."""
    return [good(folder, *shlex.split(line)) for line in lines][-1]


def state_md(folder: Path) -> Any:
    """What STATE.md says."""
    return yaml.safe_load((folder / ".planning/STATE.md").read_bytes())


def test_what_raising_says(shop: Path) -> None:
    """The tasks that are blocked now and the phases that are paused, as words and as data."""
    first = say(shop, "blocker raise 'no keys' --task T001 --json").json["blockers"]
    assert first == [
        {
            "blocker": "block-001",
            "status": "active",
            "tasks": ["T001"],
            "steps": [],
            "escalated": False,
            "resume": [],
        }
    ]
    second = say(shop, "blocker raise 'no disk' --task T002 --affects docs").out
    assert "blocked: T002; paused: phase 1 Schema\n" in second
    third = say(shop, "blocker raise rain").out
    assert third.splitlines() == ["shop v8: block-003 raised: rain"]


def test_everything_blocked_is_escalated_everywhere(shop: Path) -> None:
    """STATE.md, show, resume and the answer itself say that a person has to decide."""
    say(shop, "blocker raise 'no keys' --task T001 --task T002 --task T003")
    assert "escalation" not in state_md(shop)
    assert state_md(shop)["position"]["status"] == "paused"
    raised = say(shop, "blocker raise 'no people' --affects 'Phase 3: OAuth' --json").json
    assert raised["blockers"][0] == {
        "blocker": "block-002",
        "status": "active",
        "tasks": [],
        "steps": ["3"],
        "escalated": True,
        "resume": [],
    }
    assert ESCALATED in state_md(shop)["escalation"].lower()
    assert state_md(shop)["position"]["status"] == "paused"
    assert f"escalated: {ESCALATED}" in good(shop, "show").out
    found = good(shop, "resume", "--json").json
    assert [ESCALATED in each["text"].lower() for each in found["warnings"]] == [True]
    assert found["command"] == ""
    assert say(shop, found["warnings"][0]["offers"][0]["command"].partition(" ")[2]).out
    say(shop, "blocker resolve 2")
    assert "escalation" not in state_md(shop)
    assert "escalated" not in good(shop, "show").out


def test_resuming_in_a_paused_phase(shop: Path) -> None:
    """It is said that nothing of it can go on, no command is given, another phase is offered."""
    say(shop, "plan add 1 Base", "task add Extra --plan 1-1", "plan start 1-1")
    say(shop, "blocker raise 'no keys' --task T001 --task T002 --task T004")
    found = good(shop, "resume", "--json").json
    assert found["say"].startswith("Resuming from Phase 1, Plan 1. None of its tasks can go on")
    assert found["command"] == ""
    warning = found["warnings"][0]
    assert warning["text"] == "Step 1 Schema is paused by a blocker."
    assert (
        say(shop, f"{warning['offers'][0]['command'].partition(' ')[2]} --json").json["step"] == "2"
    )


def test_resuming_past_a_task_that_is_blocked(shop: Path) -> None:
    """Also one that somebody is at is left for one that can go on, and the command is admitted."""
    say(shop, "task start T001", "blocker raise 'no keys' --task T001")
    found = good(shop, "resume", "--json").json
    assert found["say"] == "Resuming from Phase 1, Task: Indexes."
    assert state_md(shop)["position"]["task"] == "Indexes"
    say(shop, found["command"].partition(" ")[2])


def test_bypassing_needs_a_workaround(shop: Path) -> None:
    """Without one, or with an empty one, it is refused in a sentence and nothing has changed."""
    say(shop, "blocker raise 'no keys' --task T001 --task T002")
    before = files(shop)
    for args, code in (((), exits.USAGE), (("--workaround", ""), exits.INVALID)):
        refused = quick(shop, "blocker", "bypass", "block-001", *args)
        assert (refused.code, refused.out) == (code, "")
        assert refused.err.startswith("passdown: ")
        assert refused.err.count("\n") == 1
        assert "workaround" in refused.err
        assert files(shop) == before


def test_bypassing_frees(shop: Path) -> None:
    """With a workaround work goes on: nothing is blocked, and the file says how."""
    say(shop, "blocker raise 'no keys' --task T001 --task T002")
    said = say(shop, "blocker bypass 1 --workaround 'use fakes'").out
    assert "free again: T001, T002, phase 1 Schema; `passdown resume --step 1 -p shop`" in said
    state = state_md(shop)
    assert state["position"]["status"] == "in_progress"
    assert state["blockers"][0]["status"] == "bypassed"
    assert state["blockers"][0]["workaround"] == "use fakes"


@pytest.mark.parametrize(
    "named", ["--task T001 --task T002", "--task T001", "--affects 'Phase 1: x'"]
)
def test_what_resolving_says(shop: Path, named: str) -> None:
    """What is free again is what was blocked, and the command that is named goes on with it."""
    raised = say(shop, f"blocker raise 'no keys' {named} --json").json["blockers"][0]
    assert "paused by a blocker" in good(shop, "show").out or not raised["steps"]
    resolved = say(shop, "blocker resolve 1 --json").json["blockers"][0]
    assert (resolved["tasks"], resolved["steps"]) == (raised["tasks"], raised["steps"])
    assert (resolved["status"], resolved["resume"]) == (
        "resolved",
        ["passdown resume --step 1 -p shop"],
    )
    assert "blocked" not in good(shop, "show").out
    found = say(shop, f"{resolved['resume'][0].partition(' ')[2]} --json").json
    assert found["warnings"] == []
    say(shop, found["command"].partition(" ")[2])


def test_a_task_without_a_phase_is_free_again(shop: Path) -> None:
    """Where no phase is concerned, the command is that which goes on with the project."""
    say(shop, "task add Errand", "blocker raise rain --task T004")
    said = say(shop, "blocker resolve 1").out
    command = re.search(r"free again: T004; `passdown (resume -p shop)`", said)
    assert command
    say(shop, command[1])


def test_two_blockers_on_one_task(shop: Path) -> None:
    """Resolving one frees nothing, and says nothing of it; the other does."""
    say(shop, "blocker raise one --task T001", "blocker raise two --task T001")
    first = say(shop, "blocker resolve 1 --json").json["blockers"][0]
    assert (first["tasks"], first["steps"], first["resume"]) == ([], [], [])
    assert quick(shop, "task", "start", "T001").code == exits.REJECTED
    assert "free again: T001" in say(shop, "blocker resolve 2").out
    say(shop, "task start T001")


def test_a_task_that_nobody_knows(shop: Path) -> None:
    """It is refused in one sentence, and neither the blocker nor the other tasks are recorded."""
    before = files(shop)
    refused = quick(shop, "blocker", "raise", "no keys", "--task", "T001", "--task", "T999")
    assert (refused.code, refused.out) == (exits.NOT_FOUND, "")
    assert refused.err.startswith("passdown: no task 'T999'")
    assert refused.err.count("\n") == 1
    assert files(shop) == before
