"""What blockers keep from going on: tasks, steps, at last all of the project.

All of it follows from facts whenever somebody asks, so that no order of events makes a difference.
"""

import re

from msgspec import Struct
from msgspec.structs import replace

from journal.entities import Blocker, Project, Step, Task, active_blockers, step_order

#: A phase by its number, with whatever is said about it; not a plan or task in one.
_NAMED = re.compile(
    r"(?:(?:phase|step)\s*0*([0-9]+(?:[._][0-9]+)*)(?![0-9])(?!\s*,\s*(?:plan|task)).*"
    r"|0*([0-9]+(?:[._][0-9]+)*)\s*(?::.*)?)",
    re.I | re.S,
)


class Consequences(Struct, frozen=True):
    """What an active blocker keeps from going on, or what is free again without it.

    `escalated` means that nothing at all can go on, and a person is needed.
    """

    blocker: str
    tasks: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    escalated: bool = False


def blocked_tasks(project: Project) -> set[str]:
    """The tasks that an active blocker names and that are not done."""
    named = {task for blocker in active_blockers(project) for task in blocker.tasks}
    return {id for id in named if id in project.tasks and project.tasks[id].status != "done"}


def paused_steps(project: Project) -> list[Step]:
    """The steps that cannot go on: an active blocker affects them, or all that remains of them.

    A task that waits on a blocked one is as stuck as that.
    """
    blockers = active_blockers(project)
    if not blockers:
        return []
    affected = {key for blocker in blockers for key in _affected(project, blocker)}
    stuck = _with_waiting(project, blocked_tasks(project))
    named: dict[str, list[Task]] = {}
    for task in project.tasks.values():
        named.setdefault(task.step, []).append(task)
    return [
        step
        for step in project.steps.values()
        if step.status not in ("complete", "skipped")
        and (step.key in affected or _all_stuck(step, named.get(step.key, []), stuck))
    ]


def is_escalated(project: Project) -> bool:
    """Whether every step that remains is paused, so that only a person can help."""
    left = [step for step in project.steps.values() if step.status not in ("complete", "skipped")]
    return bool(left) and len(left) == len(paused_steps(project))


def consequences(project: Project, blocker: Blocker) -> Consequences:
    """What this blocker alone makes of the project while it is active."""
    with_it, without = project.copy(), project.copy()
    with_it.blockers[blocker.id] = replace(blocker, status="active")
    without.blockers[blocker.id] = replace(blocker, status="resolved")
    tasks = blocked_tasks(with_it) - blocked_tasks(without)
    free = {step.key for step in paused_steps(without)}
    steps = [step.key for step in paused_steps(with_it) if step.key not in free]
    return Consequences(
        blocker.id,
        tuple(sorted(tasks)),
        tuple(sorted(steps, key=step_order)),
        is_escalated(with_it) and not is_escalated(without),
    )


def _affected(project: Project, blocker: Blocker) -> set[str]:
    """The steps that a blocker is said to affect, by their number or their name."""
    names = {step.name.casefold(): step.key for step in project.steps.values()}
    found = set()
    for text in blocker.affects:
        said = text.strip()
        named = _NAMED.fullmatch(said)
        number = (named[1] or named[2]) if named else ""
        key = number.replace(".", "_") or names.get(said.casefold(), "")
        if key in project.steps:
            found.add(key)
    return found


def _with_waiting(project: Project, blocked: set[str]) -> set[str]:
    """The blocked tasks, and those that depend on one, directly or not."""
    stuck = set(blocked)
    waiting = [task for task in project.tasks.values() if task.depends_on and task.status != "done"]
    grown = bool(stuck)
    while grown:
        more = {t.id for t in waiting if t.id not in stuck and stuck.intersection(t.depends_on)}
        stuck |= more
        grown = bool(more)
    return stuck


def _all_stuck(step: Step, named: list[Task], stuck: set[str]) -> bool:
    """Whether a step has tasks left, and none of them can go on, not even one without a name."""
    remaining = [task.id for task in named if task.status != "done"]
    unnamed = step.tasks - step.tasks_done - len(named)
    return bool(remaining) and unnamed <= 0 and stuck.issuperset(remaining)
