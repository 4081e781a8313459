"""The document that STATE.md is: as values, before they are written as YAML.

What the file has as lists stands here by id, so that what an adopted file says otherwise can belong
to an entry and not to a place in a list. `flat` makes the lists of it. The position before anything
was started is the first phase, pending, because that is where a reader goes on. Decisions that were
superseded and blockers that are resolved are left out: nobody who resumes should follow them.
"""

from collections.abc import Iterable

from journal.blocking import is_escalated, paused_steps
from journal.clock import day, iso
from journal.entities import Blocker, Decision, Session, Step, Task, is_of, last_files
from journal.events import Json
from journal.state import Project
from projections.leftovers import Object, apply
from projections.position import (
    chosen,
    next_action,
    outlook,
    plan_at_work,
    task_ahead,
    task_at_work,
)
from projections.state_md.progress import phase, progress

NAME = "state-md"
#: What stands in the file as a list, and here by id.
LISTS = (
    ("decisions",),
    ("blockers",),
    ("sessions",),
    ("resume_context", "files_modified_this_session"),
    ("resume_context", "key_implementations"),
    ("resume_context", "open_questions"),
)
_ABOVE = {path[:length] for path in LISTS for length in range(len(path))}
KINDS = {
    "technology": "technology choice",
    "architecture": "architecture decision",
    "trade_off": "trade-off",
    "preference": "user preference",
    "constraint": "constraint discovered",
}
ESCALATED = "Every phase that remains is blocked: a person has to decide how to go on."


def own(project: Project) -> Object:
    """The document as the state alone has it."""
    document: Object = {
        "initiative": project.native or project.slug,
        "title": project.title,
        "position": _position(project),
        "progress": progress(project),
    }
    if is_escalated(project):
        document["escalation"] = ESCALATED
    return document | {
        "decisions": {
            d.id: _decision(d) for d in project.decisions.values() if d.superseded_by is None
        },
        "blockers": {
            b.id: _blocker(project, b) for b in project.blockers.values() if b.status != "resolved"
        },
        "sessions": {s.id: _session(project, s) for s in project.sessions.values()},
        "next_action": next_action(project) or outlook(project, "Phase"),
        "resume_context": _resume(project),
    }


def form(project: Project) -> Object:
    """The same with what adopted files say otherwise."""
    document = own(project)
    apply(document, project.leftovers.get(NAME, ()))
    return document


def flat(value: Json, path: tuple[str, ...] = ()) -> Json:
    """The document with its lists as they stand in the file."""
    if not isinstance(value, dict) or path not in (*_ABOVE, *LISTS):
        return value
    if path in LISTS:
        return list(value.values())
    return {key: flat(inner, (*path, key)) for key, inner in value.items()}


def at(document: Object, path: Iterable[str]) -> Json:
    """What stands at a place of a document; None if nothing does."""
    found: Json = document
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found


# -- position --------------------------------------------------------------------------------


def _position(project: Project) -> Object:
    step = phase(project)
    if step is None:
        return {"phase": 0, "status": "pending"}
    # A key like 3_5 would load as the number 35.
    number: Json = int(step.key) if step.key.isdecimal() else step.key
    fields: Object = {"phase": number, "phase_name": step.name}
    task = _task(project, step)
    plan = plan_at_work(project, step.key) or project.plans.get(task.plan if task else "")
    if plan:
        fields["plan"] = plan.number
        fields["plan_name"] = plan.name
    if task:
        fields["task"] = task.title
        if task.wave:
            fields["wave"] = task.wave
    fields["status"] = _status(project, step, task)
    return fields


def _task(project: Project, step: Step) -> Task | None:
    """The task that work goes on with, else the one that somebody was at."""
    goes_on = task_ahead(project, step) if step.status == "in_progress" else None
    return goes_on or task_at_work(project, step.key)


def _status(project: Project, step: Step, task: Task | None) -> str:
    """That of the phase; once a task of it was started, it is in progress."""
    if step.status == "pending" and task and task.status == "in_progress":
        return "in_progress"
    paused = step.status == "in_progress" and step in paused_steps(project)
    return "paused" if paused else step.status


# -- decisions and blockers ------------------------------------------------------------------


def _decision(decision: Decision) -> Object:
    fields: Object = {
        "date": day(decision.at),
        "context": decision.title or decision.key,
        "decision": chosen(decision),
    }
    if decision.rationale:
        fields["reason"] = decision.rationale
    if decision.alternatives:
        fields["alternatives_considered"] = list(decision.alternatives)
    if decision.reversible is not None:
        fields["reversible"] = decision.reversible
    if decision.kind:
        fields["kind"] = KINDS[decision.kind]
    # Not in every STATE.md, but what a later word about the decision refers to.
    fields["id"] = decision.id
    return fields


def _blocker(project: Project, blocker: Blocker) -> Object:
    fields: Object = {
        "id": blocker.id,
        "status": blocker.status,
        "description": blocker.description,
        "identified_at": iso(blocker.raised),
        "affects": list(blocker.affects),
    }
    # Once there is a way around it, a blocker blocks nothing.
    if blocker.status == "active" and blocker.tasks:
        fields["blocked_tasks"] = _tasks(project, blocker.tasks)
    fields["workaround"] = blocker.workaround or None
    if blocker.workaround_tasks:
        fields["workaround_tasks"] = _tasks(project, blocker.workaround_tasks)
    fields["resolution"] = None
    return fields


def _tasks(project: Project, ids: tuple[str, ...]) -> Json:
    return [{id: project.tasks[id].title if id in project.tasks else None} for id in ids]


# -- sessions and what a resuming agent needs ------------------------------------------------


def _session(project: Project, session: Session) -> Object:
    """One session; its heartbeats are bookkeeping and do not show."""
    fields: Object = {"id": session.id}
    if session.agent:
        fields["agent"] = session.agent
    fields["started"] = iso(session.started)
    if session.ended is not None:
        fields["ended"] = iso(session.ended)
    if session.status != "ended":
        fields["status"] = session.status
    if session.continues:
        fields["continues"] = session.continues
    if session.context_usage is not None:
        fields["context_usage"] = f"{round(100 * session.context_usage)}%"
    if session.completed or session.status == "ended":
        fields["completed"] = list(session.completed)
    if session.issues:
        fields["issues"] = list(session.issues)
    if notes := _notes(project, session):
        fields["notes"] = notes
    if session.handoff_reason:
        fields["handoff_reason"] = session.handoff_reason
    if session.status == "active" and (work := _work(project, session)):
        fields["working_on"] = work
    return fields


def _notes(project: Project, session: Session) -> str:
    """What was noted; of a session that takes up a crash and has no other word, that it does."""
    notes = "\n".join(filter(None, (session.note, *session.notes, session.reason)))
    before = project.sessions.get(session.continues)
    if not notes and before is not None and before.status == "crashed":
        return f"Resuming from {before.id} crash"
    return notes


def _work(project: Project, session: Session) -> str:
    """What an active session is at: its own task, else the phase in progress."""
    own = [
        task
        for task in project.tasks.values()
        if task.status == "in_progress"
        and (
            is_of(project, task.session, session)
            or (task.session is None and task.agent == session.agent)
        )
    ]
    if own:
        task = max(own, key=lambda task: task.assigned or 0)
        return f"Phase {task.step}, {task.id}: {task.title}" if task.step else task.title
    step = project.steps.get(project.current)
    return f"Phase {step.key}: {step.name}" if step and step.status == "in_progress" else ""


def _resume(project: Project) -> Object:
    noted: Object = {}
    for note in project.context:
        if note.kind == "implementation":
            noted[note.text if note.text not in noted else f"{note.text} ({len(noted)})"] = (
                note.text
            )
    return {
        "files_modified_this_session": {file.path: file.path for file in last_files(project)},
        "key_implementations": noted,
        "open_questions": {
            question.id: f"{question.id}: {question.text}"
            for question in project.questions.values()
            if question.status == "open"
        },
    }
