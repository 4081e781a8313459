"""When it may happen: plans, tasks and blockers."""

from collections.abc import Iterator

from msgspec.structs import replace

from journal import events as e
from journal.entities import Project, Task, is_maintainer, task_status
from journal.errors import Invalid, Rejected
from journal.rules.names import (
    check_own,
    command,
    find,
    find_blocker,
    find_step,
    find_task,
    find_tasks,
    new_id,
)
from journal.rules.rule import By, Rules, admits, offering


def _plan_added(p: Project, x: e.PlanAdded, by: By) -> list[e.Event]:
    step = find_step(p, x.step).key
    numbers = [plan.number for plan in p.plans.values() if plan.step == step]
    number = x.number or max(numbers, default=0) + 1
    while not (x.plan or x.number) and f"{step}-{number}" in p.plans:
        number += 1
    id = new_id(x.plan or f"{step}-{number}", "", p.plans, "plan")
    return [replace(x, step=step, number=number, plan=id)]


def _plan_moved(p: Project, x: e.PlanStarted | e.PlanCompleted, by: By) -> list[e.Event]:
    plan = find("plan", x.plan, p.plans)
    x = replace(x, plan=plan.id)
    if isinstance(x, e.PlanStarted):
        if plan.status == "complete":
            raise Rejected(f"start plan {plan.id}", "it is complete")
        return [] if plan.status == "in_progress" else [x]
    if plan.status != "in_progress":
        offer = [command("plan", "start", plan.id)] if plan.status == "pending" else []
        raise Rejected(f"complete plan {plan.id}", f"it is {plan.status}", offer)
    return [x]


def _task_added(p: Project, x: e.TaskAdded, by: By) -> list[e.Event]:
    plan = find("plan", x.plan, p.plans) if x.plan else None
    step = find_step(p, x.step).key if x.step else plan.step if plan else ""
    return [
        replace(
            x,
            step=step,
            plan=plan.id if plan else "",
            depends_on=find_tasks(p, x.depends_on),
            task=new_id(x.task, "T{:03}", p.tasks, "task"),
        )
    ]


def _task_counted(p: Project, x: e.TaskCounted, by: By) -> list[e.Event]:
    step = find_step(p, x.step)
    if x.done > x.total:
        raise Invalid(f"of {x.total} tasks of step {step.key} {x.done} cannot be done")
    return [] if (step.tasks, step.tasks_done) == (x.total, x.done) else [replace(x, step=step.key)]


def _refuse_task(p: Project, task: Task, verb: str, why: str = "") -> Rejected:
    held = f", held by {task.agent}" if task.agent else ""
    return Rejected(f"{verb} task {task.id}", why or f"it is {task_status(p, task)}{held}")


def _task_taken(p: Project, x: e.TaskClaimed | e.TaskStarted, by: By) -> list[e.Event]:
    task = find_task(p, x.task)
    verb, reached = (
        ("start", "in_progress") if isinstance(x, e.TaskStarted) else ("claim", "claimed")
    )
    mine = task.agent == (x.agent or by.actor or "")
    status = task_status(p, task)
    if status == reached and mine:
        return []
    check_own(p, x.agent or by.actor or "", by, f"{verb} task {task.id}")
    if verb == "claim" and status in ("claimed", "in_progress") and _overrides(p, by):
        reset = e.TaskReset(task.id, f"given to {x.agent or by.actor} by {by.actor}")
        return [reset, replace(x, task=task.id)]
    free = status == "open" or (status == "claimed" and verb == "start" and mine)
    if not free:
        raise _refuse_task(p, task, verb)
    waiting = [id for id in task.depends_on if p.tasks[id].status != "done"]
    if waiting:
        raise _refuse_task(p, task, verb, f"it waits on {', '.join(waiting)}")
    return [replace(x, task=task.id)]


def _overrides(p: Project, by: By) -> bool:
    """Whether it is the maintainer of a shared workspace, who may give a task to another."""
    return p.coordination is not None and is_maintainer(p, by.actor)


def _task_completed(p: Project, x: e.TaskCompleted, by: By) -> list[e.Event]:
    task = find_task(p, x.task)
    if task_status(p, task) not in ("claimed", "in_progress"):
        raise _refuse_task(p, task, "complete")
    check_own(p, task.agent, by, f"complete task {task.id}")
    return [replace(x, task=task.id)]


def _task_blocked(p: Project, x: e.TaskBlocked, by: By) -> list[e.Event]:
    task = find_task(p, x.task)
    if task.status == "done":
        raise _refuse_task(p, task, "block")
    if not x.blocker:
        if not x.reason:
            raise Invalid(f"what blocks task {task.id}? give a reason, or the id of a blocker")
        id = new_id("", "block-{:03}", p.blockers, "blocker")
        raised = e.BlockerRaised(x.reason, tasks=(task.id,), blocker=id)
        return [raised, replace(x, task=task.id, blocker=id)]
    blocker = find_blocker(p, x.blocker)
    if blocker.status != "active":
        raise Rejected(f"block task {task.id}", f"blocker {blocker.id} is {blocker.status}")
    known = task.id in blocker.tasks
    return [] if known else [replace(x, task=task.id, blocker=blocker.id)]


def _task_unblocked(p: Project, x: e.TaskUnblocked, by: By) -> list[e.Event]:
    task = find_task(p, x.task)
    return [replace(x, task=task.id)] if task_status(p, task) == "blocked" else []


def _task_reset(p: Project, x: e.TaskReset, by: By) -> list[e.Event]:
    task = find_task(p, x.task)
    if task.status == "done":
        raise _refuse_task(p, task, "reset")
    if task.status != "open":
        check_own(p, task.agent, by, f"reset task {task.id}")
    return [] if task.status == "open" else [replace(x, task=task.id)]


def _blocker_raised(p: Project, x: e.BlockerRaised, by: By) -> list[e.Event]:
    id = new_id(x.blocker, "block-{:03}", p.blockers, "blocker")
    return [replace(x, tasks=find_tasks(p, x.tasks), blocker=id)]


def _blocker_bypassed(p: Project, x: e.BlockerBypassed, by: By) -> list[e.Event]:
    blocker = find_blocker(p, x.blocker)
    x = replace(x, blocker=blocker.id, tasks=find_tasks(p, x.tasks))
    if blocker.status == "resolved":
        raise Rejected(f"bypass blocker {blocker.id}", "it is resolved")
    same = (blocker.workaround, blocker.workaround_tasks) == (x.workaround, x.tasks)
    return [] if blocker.status == "bypassed" and same else [x]


def _blocker_resolved(p: Project, x: e.BlockerResolved, by: By) -> list[e.Event]:
    blocker = find_blocker(p, x.blocker)
    if blocker.status == "resolved":
        if x.resolution in ("", blocker.resolution):
            return []
        was = blocker.resolution or "without a word"
        raise Rejected(f"resolve blocker {blocker.id}", f"it was resolved already: {was}")
    return [replace(x, blocker=blocker.id)]


#: What may be done with a task that is there.
_TASK_RULES: Rules = {
    e.TaskClaimed: _task_taken,
    e.TaskStarted: _task_taken,
    e.TaskCompleted: _task_completed,
    e.TaskBlocked: _task_blocked,
    e.TaskUnblocked: _task_unblocked,
    e.TaskReset: _task_reset,
}


def _task_offers(p: Project, x: e.TaskStarted, by: By) -> Iterator[str]:
    """The commands that the rules would admit for this task now."""
    id = find_task(p, x.task).id
    tried: dict[tuple[str, ...], e.Event] = {
        ("claim", id): e.TaskClaimed(id),
        ("start", id): e.TaskStarted(id),
        ("complete", id): e.TaskCompleted(id),
        ("unblock", id): e.TaskUnblocked(id),
        ("block", id, "--reason", "REASON"): e.TaskBlocked(id, reason="REASON"),
        ("reset", id): e.TaskReset(id),
    }
    for words, event in tried.items():
        if admits(_TASK_RULES, p, event, by):
            yield command("task", *words)


RULES: Rules = {
    **{cls: offering(rule, _task_offers) for cls, rule in _TASK_RULES.items()},
    e.PlanAdded: _plan_added,
    e.PlanStarted: _plan_moved,
    e.PlanCompleted: _plan_moved,
    e.TaskAdded: _task_added,
    e.TaskCounted: _task_counted,
    e.BlockerRaised: _blocker_raised,
    e.BlockerBypassed: _blocker_bypassed,
    e.BlockerResolved: _blocker_resolved,
}
