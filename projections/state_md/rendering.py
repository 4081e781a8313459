"""STATE.md: `.planning/STATE.md`, a title over one YAML mapping in commented sections.

`yaml.safe_load` of the whole file gives all of it, text exactly as it was supplied. Unknown fields
are absent; lists that are part of a section's shape are `[]` when empty. The position before
anything was started is the first phase, pending, because that is where a reader goes on. Decisions
that were superseded are left out: nobody who resumes should follow them.
"""

from journal.clock import day, iso
from journal.entities import Blocker, Decision, File, Session, Step
from journal.state import Project
from projections import stamp, yaml
from projections.position import (
    chosen,
    is_done,
    next_action,
    outlook,
    plan_at_work,
    task_at_work,
)
from projections.yaml import Node, Written

RENDERER = 1

_CELLS = 16
_KINDS = {
    "technology": "technology choice",
    "architecture": "architecture decision",
    "trade_off": "trade-off",
    "preference": "user preference",
    "constraint": "constraint discovered",
}


def render(project: Project) -> bytes:
    """The STATE.md of a project."""
    sections: dict[str, dict[str, Node]] = {
        "# Current Position": {"position": _position(project)},
        "# Progress Tracking": {"progress": _progress(project)},
        "# Decisions Made": {"decisions": _decisions(project)},
        "# Active Blockers": {"blockers": _blockers(project)},
        "# Session History": {
            "sessions": [_session(project, s) for s in project.sessions.values()]
        },
        "# Next Action": {"next_action": yaml.literal(_next_action(project))},
        "# Context for Resume": {"resume_context": _resume(project)},
    }
    lines = ["# STATE.md", ""]
    lines += yaml.mapping(
        {
            "initiative": yaml.name(project.native or project.slug),
            "title": yaml.text(project.title),
        }
    )
    for heading, section in sections.items():
        lines += ["", heading, *yaml.mapping(section)]
    lines += ["", f"# {stamp.line(stamp.of(project, RENDERER))}", ""]
    return stamp.stamped("\n".join(lines).encode())


def intact(content: bytes) -> bool:
    """Whether the content is a STATE.md at all, whoever wrote it last."""
    import yaml as reader  # 20 ms that only the check of a foreign file has to pay

    try:
        text = content.decode("utf-8-sig")
        if not text.lstrip().startswith("# STATE.md"):
            return False
        # Composed, not constructed: a wrong date in it is an edit, and no alias is ever expanded.
        root = reader.compose(text, Loader=reader.SafeLoader)
    except (reader.YAMLError, RecursionError, ValueError, OverflowError):
        return False
    if not isinstance(root, reader.MappingNode):
        return False
    keys = {key.value for key, _ in root.value if isinstance(key, reader.ScalarNode)}
    return {"initiative", "position"} <= keys


# -- position and progress -------------------------------------------------------------------


def _phase(project: Project) -> Step | None:
    """The phase the project is in; before anything was started, the first."""
    return project.steps.get(project.current) or next(iter(project.steps.values()), None)


def _position(project: Project) -> dict[str, Node]:
    step = _phase(project)
    if step is None:
        return {"phase": yaml.number(0), "status": yaml.name("pending")}
    fields: dict[str, Node] = {"phase": _number(step.key), "phase_name": yaml.text(step.name)}
    task = task_at_work(project, step.key)
    plan = plan_at_work(project, step.key) or project.plans.get(task.plan if task else "")
    if plan:
        fields["plan"] = yaml.number(plan.number)
        fields["plan_name"] = yaml.text(plan.name)
    if task:
        fields["task"] = yaml.text(task.title)
        if task.wave:
            fields["wave"] = yaml.number(task.wave)
    fields["status"] = yaml.name(step.status)
    return fields


def _number(key: str) -> Written:
    # A key like 3_5 would load as the number 35.
    return yaml.number(int(key)) if key.isdecimal() else yaml.text(key)


def _progress(project: Project) -> dict[str, Node]:
    step = _phase(project)
    tasks = [task for task in project.tasks.values() if step and task.step == step.key]
    ready = sum(task.status == "done" for task in tasks)
    phases = sum(is_done(step) for step in project.steps.values())
    under_way = len(tasks) if step and not is_done(step) else 0
    done, whole = _share(phases, len(project.steps), ready, under_way)
    filled = _CELLS * done // whole
    bar = "█" * filled + "░" * (_CELLS - filled)
    return {
        "phases_total": yaml.number(len(project.steps)),
        "phases_completed": yaml.number(phases),
        "current_phase_tasks": yaml.number(len(tasks)),
        "current_phase_completed": yaml.number(ready),
        "bar": yaml.text(f"{bar} {100 * done // whole}%"),
    }


def _share(phases: int, total: int, ready: int, tasks: int) -> tuple[int, int]:
    """How much is done of how much: the phases, and the current one by its tasks."""
    if not total:
        return 0, 1
    return (phases * tasks + ready, total * tasks) if tasks else (phases, total)


# -- decisions and blockers ------------------------------------------------------------------


def _decisions(project: Project) -> list[Node]:
    return [_decision(d) for d in project.decisions.values() if d.superseded_by is None]


def _decision(decision: Decision) -> dict[str, Node]:
    fields: dict[str, Node] = {
        "date": Written(day(decision.at)),
        "context": yaml.text(decision.title or decision.key),
        "decision": yaml.text(chosen(decision)),
    }
    if decision.rationale:
        fields["reason"] = yaml.text(decision.rationale)
    if decision.alternatives:
        fields["alternatives_considered"] = yaml.texts(decision.alternatives)
    if decision.reversible is not None:
        fields["reversible"] = yaml.flag(decision.reversible)
    if decision.kind:
        fields["kind"] = yaml.text(_KINDS[decision.kind])
    # Not in every STATE.md, but what a later word about the decision refers to.
    fields["id"] = yaml.name(decision.id)
    return fields


def _blockers(project: Project) -> list[Node]:
    return [_blocker(project, b) for b in project.blockers.values() if b.status != "resolved"]


def _blocker(project: Project, blocker: Blocker) -> dict[str, Node]:
    fields: dict[str, Node] = {
        "id": yaml.name(blocker.id),
        "status": yaml.name(blocker.status),
        "description": yaml.text(blocker.description),
        "identified_at": Written(iso(blocker.raised)),
        "affects": yaml.texts(blocker.affects),
    }
    # Once there is a way around it, a blocker blocks nothing.
    if blocker.status == "active" and blocker.tasks:
        fields["blocked_tasks"] = _tasks(project, blocker.tasks)
    fields["workaround"] = yaml.text(blocker.workaround) if blocker.workaround else yaml.NULL
    if blocker.workaround_tasks:
        fields["workaround_tasks"] = _tasks(project, blocker.workaround_tasks)
    fields["resolution"] = yaml.NULL
    return fields


def _tasks(project: Project, ids: tuple[str, ...]) -> list[Node]:
    return [
        {id: yaml.text(project.tasks[id].title) if id in project.tasks else yaml.NULL} for id in ids
    ]


# -- sessions and what a resuming agent needs ------------------------------------------------


def _session(project: Project, session: Session) -> dict[str, Node]:
    """One session; its heartbeats are bookkeeping and do not show."""
    fields: dict[str, Node] = {"id": yaml.name(session.id)}
    if session.agent:
        fields["agent"] = yaml.name(session.agent)
    fields["started"] = Written(iso(session.started))
    if session.ended is not None:
        fields["ended"] = Written(iso(session.ended))
    if session.status != "ended":
        fields["status"] = yaml.name(session.status)
    if session.continues:
        fields["continues"] = yaml.name(session.continues)
    if session.context_usage is not None:
        fields["context_usage"] = yaml.text(f"{round(100 * session.context_usage)}%")
    if session.completed or session.status == "ended":
        fields["completed"] = yaml.texts(session.completed)
    if session.issues:
        fields["issues"] = yaml.texts(session.issues)
    notes = [note for note in (session.note, *session.notes, session.reason) if note]
    if notes:
        fields["notes"] = yaml.text("\n".join(notes))
    if session.handoff_reason:
        fields["handoff_reason"] = yaml.text(session.handoff_reason)
    work = _work(project, session) if session.status == "active" else ""
    if work:
        fields["working_on"] = yaml.text(work)
    return fields


def _work(project: Project, session: Session) -> str:
    """What an active session is at: its own task, else the phase in progress."""
    own = [
        task
        for task in project.tasks.values()
        if task.status == "in_progress"
        and (
            _is_of(project, task.session, session)
            or (task.session is None and task.agent == session.agent)
        )
    ]
    if own:
        task = max(own, key=lambda task: task.assigned or 0)
        return f"Phase {task.step}, {task.id}: {task.title}" if task.step else task.title
    step = project.steps.get(project.current)
    return f"Phase {step.key}: {step.name}" if step and step.status == "in_progress" else ""


def _is_of(project: Project, name: str | None, session: Session) -> bool:
    """Whether a session is meant by a name that it may go by."""
    return name is not None and project.session_names.get(name, name) == session.id


def _next_action(project: Project) -> str:
    return next_action(project) or outlook(project, "Phase")


def _resume(project: Project) -> dict[str, Node]:
    implementations = [note.text for note in project.context if note.kind == "implementation"]
    questions = [
        f"{question.id}: {question.text}"
        for question in project.questions.values()
        if question.status == "open"
    ]
    return {
        "files_modified_this_session": [yaml.name(file.path) for file in _files(project)],
        "key_implementations": yaml.texts(implementations),
        "open_questions": yaml.texts(questions),
    }


def _files(project: Project) -> list[File]:
    """The files that the latest session changed, else the last one that changed any.

    A deleted file is left out, because whoever resumes checks that what is listed exists.
    """
    present = [file for file in project.files.values() if file.change != "deleted"]
    if not present:
        return []
    latest = next(reversed(project.sessions.values()), None)
    own = [file for file in present if latest and _is_of(project, file.session, latest)]
    if own:
        return own
    last = max(present, key=lambda file: file.at).session
    return [file for file in present if file.session == last]
