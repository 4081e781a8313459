"""What the fold makes of events: plans, tasks and blockers."""

from msgspec.structs import replace

from journal import events as e
from journal.entities import Blocker, Plan, Project, Task, TaskStatus, active_blockers
from journal.record import Record
from journal.state.session import session_of
from journal.state.step import joined
from journal.state.table import Folds


def _plan_added(p: Project, x: e.PlanAdded, r: Record) -> None:
    p.plans[x.plan] = Plan(x.plan, x.step, x.number, x.name)


def _plan_started(p: Project, x: e.PlanStarted, r: Record) -> None:
    if plan := p.plans.get(x.plan):
        p.plans[x.plan] = replace(plan, status="in_progress", started=r.time)


def _plan_completed(p: Project, x: e.PlanCompleted, r: Record) -> None:
    if plan := p.plans.get(x.plan):
        p.plans[x.plan] = replace(plan, status="complete", completed=r.time, summary=x.summary)


def _task_added(p: Project, x: e.TaskAdded, r: Record) -> None:
    p.tasks[x.task] = Task(
        x.task,
        x.title,
        x.step,
        x.plan,
        x.wave,
        x.priority,
        x.depends_on,
        x.description,
        created=r.time,
        created_by=r.actor or "",
        created_revision=p.revision,
    )


def _task_counted(p: Project, x: e.TaskCounted, r: Record) -> None:
    if step := p.steps.get(x.step):
        p.steps[x.step] = replace(step, tasks=x.total, tasks_done=x.done)


def _assign(p: Project, task: str, status: TaskStatus, agent: str, r: Record) -> None:
    if known := p.tasks.get(task):
        p.tasks[task] = replace(
            known,
            status=status,
            agent=agent or r.actor or known.agent,
            session=session_of(p, r),
            assigned=r.time,
            interrupted=None,
            taken_from="",
            taken_revision=p.revision if known.taken_revision is None else known.taken_revision,
        )


def _task_claimed(p: Project, x: e.TaskClaimed, r: Record) -> None:
    _assign(p, x.task, "claimed", x.agent, r)


def _task_started(p: Project, x: e.TaskStarted, r: Record) -> None:
    _assign(p, x.task, "in_progress", x.agent, r)


def _task_completed(p: Project, x: e.TaskCompleted, r: Record) -> None:
    if task := p.tasks.get(x.task):
        p.tasks[x.task] = replace(
            task, status="done", completed=r.time, note=x.note, done_revision=p.revision
        )


def _task_blocked(p: Project, x: e.TaskBlocked, r: Record) -> None:
    if blocker := p.blockers.get(x.blocker):
        p.blockers[x.blocker] = replace(blocker, tasks=joined(blocker.tasks, (x.task,)))


def _task_unblocked(p: Project, x: e.TaskUnblocked, r: Record) -> None:
    for blocker in active_blockers(p):
        if x.task in blocker.tasks:
            rest = tuple(task for task in blocker.tasks if task != x.task)
            p.blockers[blocker.id] = replace(blocker, tasks=rest)


def _task_reset(p: Project, x: e.TaskReset, r: Record) -> None:
    if task := p.tasks.get(x.task):
        p.tasks[x.task] = replace(
            task,
            status="open",
            agent="",
            session=None,
            assigned=None,
            completed=None,
            taken_revision=None,
            done_revision=None,
            interrupted=r.time if task.status == "in_progress" else task.interrupted,
            taken_from=task.agent or task.taken_from,
        )


def _blocker_raised(p: Project, x: e.BlockerRaised, r: Record) -> None:
    p.blockers[x.blocker] = Blocker(
        x.blocker, x.description, r.time, x.affects, x.tasks, workaround=x.workaround
    )


def _blocker_bypassed(p: Project, x: e.BlockerBypassed, r: Record) -> None:
    if blocker := p.blockers.get(x.blocker):
        p.blockers[x.blocker] = replace(
            blocker, status="bypassed", workaround=x.workaround, workaround_tasks=x.tasks
        )


def _blocker_resolved(p: Project, x: e.BlockerResolved, r: Record) -> None:
    if blocker := p.blockers.get(x.blocker):
        p.blockers[x.blocker] = replace(
            blocker, status="resolved", resolution=x.resolution, resolved=r.time
        )


FOLDS: Folds = {
    e.PlanAdded: _plan_added,
    e.PlanStarted: _plan_started,
    e.PlanCompleted: _plan_completed,
    e.TaskAdded: _task_added,
    e.TaskCounted: _task_counted,
    e.TaskClaimed: _task_claimed,
    e.TaskStarted: _task_started,
    e.TaskCompleted: _task_completed,
    e.TaskBlocked: _task_blocked,
    e.TaskUnblocked: _task_unblocked,
    e.TaskReset: _task_reset,
    e.BlockerRaised: _blocker_raised,
    e.BlockerBypassed: _blocker_bypassed,
    e.BlockerResolved: _blocker_resolved,
}
