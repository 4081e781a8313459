"""Where a project stands and what comes next, in the words that every dialect shares."""

from collections.abc import Container

from journal.blocking import blocked_tasks, paused_steps
from journal.entities import Decision, Plan, Step, Task, waits_on
from journal.state import Project, step_agent, step_order
from projections.values import as_text


def is_done(step: Step) -> bool:
    """Whether nothing remains to be done in the step."""
    return step.status in ("complete", "skipped")


def ahead(project: Project) -> Step | None:
    """The step to work on: one that was begun, the current one first, else the next pending.

    In an orchestration a failed phase comes first: somebody has to decide about it.
    """
    if project.execution is not None:
        return _phase_ahead(project)
    begun = [step for step in project.steps.values() if step.status in ("in_progress", "failed")]
    for step in begun:
        if step.key == project.current:
            return step
    if begun:
        return begun[-1]
    pending = [step for step in project.steps.values() if step.status == "pending"]
    if project.current:
        reached = step_order(project.current)
        later = [step for step in pending if step_order(step.key) > reached]
        pending = later or pending
    return pending[0] if pending else None


def _phase_ahead(project: Project) -> Step | None:
    left = [step for step in project.steps.values() if not is_done(step)]
    for status in ("failed", "in_progress"):
        if begun := next((step for step in left if step.status == status), None):
            return begun
    free = [step for step in left if not waits_on(project, step)] or left
    paused = paused_steps(project)
    return next((step for step in free if step not in paused), free[0] if free else None)


def outlook(project: Project, unit: str = "Step") -> str:
    """One or two sentences on what to do next, derived from the steps alone."""
    step = ahead(project)
    if step is None:
        return f"Every {unit.lower()} is complete or skipped." if project.steps else "No work yet."
    agent = step_agent(project, step)
    what = f"{step.key} {step.name} ({agent})" if agent else f"{step.key} {step.name}"
    match step.status:
        case "failed":
            why = failure(project, step).rstrip(" .")
            return f"{unit} {what} failed: {why}. Retry or skip it."
        case "in_progress" if step.sub_step:
            return f"{unit} {what} is in progress: continue after {step.sub_step}."
        case "in_progress":
            return f"{unit} {what} is in progress without a checkpoint: begin it again."
        case _:
            begin = "Start or skip" if step.optional else "Start"
            return f"{begin} {unit.lower()} {what}."


def next_action(project: Project) -> str:
    """What was said to be next: in the project, else by the agent that said it last."""
    said = project.next_actions
    return said.get("") or next(reversed(said.values()), "")


def failure(project: Project, step: Step) -> str:
    """Why a failed step failed."""
    error = project.errors.get(step.error)
    return error.message if error else step.reason


def failures(project: Project) -> list[str]:
    """A sentence for each step that has failed and was not taken up again."""
    return [
        f"Step {step.key} failed: {failure(project, step)}"
        for step in project.steps.values()
        if step.status == "failed"
    ]


def must_fix(project: Project) -> list[str]:
    """The titles of the findings that must be dealt with, in the order they were opened."""
    return [
        finding.title
        for finding in project.findings.values()
        if finding.resolved is None and finding.severity == "must_fix"
    ]


def keyed(project: Project) -> dict[str, Decision]:
    """The decision that holds for each key."""
    return {key: project.decisions[id] for key, id in project.keyed.items()}


def chosen(decision: Decision) -> str:
    """What was decided, in words."""
    return decision.choice or as_text(decision.value)


def plan_at_work(project: Project, step: str) -> Plan | None:
    """The plan of the step that is in progress, the highest number if there are several."""
    plans = [p for p in project.plans.values() if p.step == step and p.status == "in_progress"]
    return max(plans, key=lambda plan: plan.number, default=None)


def plan_ahead(project: Project, step: Step) -> Plan | None:
    """The plan to work on: that of the task ahead, else the one in progress, else the next."""
    task = task_ahead(project, step)
    own = [plan for plan in project.plans.values() if plan.step == step.key]
    pending = [plan for plan in own if plan.status == "pending"]
    return (
        project.plans.get(task.plan if task else "")
        or plan_at_work(project, step.key)
        or min(pending, key=lambda plan: plan.number, default=None)
    )


def task_ahead(project: Project, step: Step) -> Task | None:
    """The task to work on: the one at work, else what was interrupted, else the next that can be.

    Tasks of the plan in progress come first, then those of an earlier wave, then the more urgent.
    """
    blocked = blocked_tasks(project)
    if at_work := task_at_work(project, step.key, blocked):
        return at_work
    free = [
        task
        for task in project.tasks.values()
        if task.step == step.key
        and task.status == "open"
        and task.id not in blocked
        and all(project.tasks[id].status == "done" for id in task.depends_on if id in project.tasks)
    ]
    interrupted = [task for task in free if task.interrupted is not None]
    if interrupted:
        return max(interrupted, key=lambda task: task.interrupted or 0)
    plan = plan_at_work(project, step.key)
    own = [task for task in free if plan and task.plan == plan.id] or free
    return min(own, key=lambda task: (task.wave, task.priority), default=None)


def task_at_work(project: Project, step: str, besides: Container[str] = frozenset()) -> Task | None:
    """The task of the step that was started last, else the one that was claimed last."""
    own = [t for t in project.tasks.values() if t.step == step and t.id not in besides]
    for status in ("in_progress", "claimed"):
        tasks = [task for task in own if task.status == status]
        if tasks:
            return max(tasks, key=lambda task: task.assigned or 0)
    return None
