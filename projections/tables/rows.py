"""A project as rows, in the order of the columns: a pure function of its state.

Ids count within a project, so in tables for all of them they have the project's name in front.
Times are milliseconds; what is not known is NULL.
"""

from typing import TypeAlias

import msgspec

from journal.entities import Blocker, Decision, Session, Task
from journal.state import Project, step_order, task_status
from projections.position import chosen, is_done, plan_at_work, task_at_work
from projections.state_md.progress import phase, progress
from projections.tables.texts import texts

Cell: TypeAlias = str | int | float | None
Row: TypeAlias = tuple[Cell, ...]


def rows(project: Project) -> dict[str, list[Row]]:
    """Every row of a project, by table."""
    slug = project.slug
    return {
        "initiatives": [_initiative(project)],
        "initiative_state": [_state(project)],
        "initiative_decisions": [
            _decision(slug, each)
            for each in project.decisions.values()
            if each.superseded_by is None
        ],
        "initiative_blockers": [_blocker(slug, each) for each in project.blockers.values()],
        "session_history": [_session(slug, each) for each in project.sessions.values()],
        "tasks": [_task(project, each) for each in project.tasks.values()],
        "texts": [
            (
                f"{slug}/{text.kind}/{text.item}",
                *(slug, text.kind, text.item, text.status or None, _ms(text.at), text.words),
            )
            for text in texts(project)
        ],
    }


def _initiative(project: Project) -> Row:
    done = bool(project.steps) and all(map(is_done, project.steps.values()))
    return (
        project.slug,
        project.title,
        project.native or None,
        project.workflow,
        "archived" if project.archived is not None else "complete" if done else "active",
        _ms(project.opened),
        _ms(project.updated),
    )


def _state(project: Project) -> Row:
    """The position that STATE.md has: before anything was started, the first phase."""
    step = phase(project)
    task = task_at_work(project, step.key) if step else None
    plan = plan_at_work(project, step.key) if step else None
    plan = plan or project.plans.get(task.plan if task else "")
    return (
        project.slug,
        step_order(step.key)[0] if step else 0,
        plan.number if plan else None,
        f"{project.slug}/{task.id}" if task else None,
        task.wave or None if task else None,
        step.status if step else "pending",
        _json(progress(project)),
        _ms(project.updated),
    )


def _decision(slug: str, decision: Decision) -> Row:
    return (
        f"{slug}/{decision.id}",
        slug,
        _ms(decision.at),
        decision.title or decision.key,
        chosen(decision),
        decision.rationale or None,
        _json(decision.alternatives),
        decision.reversible,
    )


def _blocker(slug: str, blocker: Blocker) -> Row:
    return (
        f"{slug}/{blocker.id}",
        slug,
        blocker.status,
        blocker.description,
        _ms(blocker.raised),
        _json(blocker.affects),
        blocker.workaround or None,
        blocker.resolution or None,
        _ms(blocker.resolved),
    )


def _session(slug: str, session: Session) -> Row:
    return (
        f"{slug}/{session.id}",
        slug,
        session.agent or None,
        _ms(session.started),
        _ms(session.ended),
        session.context_usage,
        _json(session.completed),
        _json(session.issues),
        session.handoff_reason or None,
    )


def _task(project: Project, task: Task) -> Row:
    return (
        f"{project.slug}/{task.id}",
        project.slug,
        task.title,
        task.step or None,
        task.plan or None,
        task.wave or None,
        task_status(project, task),
        task.priority,
        task.agent or None,
        _json([f"{project.slug}/{other}" for other in task.depends_on]),
        _ms(task.assigned),
        _ms(task.completed),
    )


def _ms(moment: int | None) -> int | None:
    return None if moment is None else moment // 1000


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
