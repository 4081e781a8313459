"""The block on top of the worklog that is read first: who is at what, and what the maintainer is
to see to."""

from collections.abc import Iterator

from journal.entities import Project, maintainer_of
from projections.markdown import inline
from projections.peers import active_task

#: What a line says where there is nothing to say.
IDLE, NONE = "idle", "none"
#: What stands between the task that an agent is at and what it does next.
NEXT = "; next: "
#: What agents say there is read on one line, however long.
LIMIT = 1000
_AT_WORK = ("agent", "orchestrator")


def lines(project: Project) -> Iterator[tuple[str, str]]:
    """The lines of the block, each by the name of its part."""
    for agent in agents(project):
        yield f"working/{agent}", f"Now Working ({inline(agent)}): {working(project, agent)}\n"
    yield "focus", f"Maintainer Focus: {focus(project)}\n"
    yield "checkpoint", f"Next Review Checkpoint: {checkpoint(project)}\n"
    for raised in project.escalations.values():
        if raised.answered is None:
            why = f" ({inline(raised.reason, LIMIT)})" if raised.reason else ""
            line = f"Escalated {inline(raised.id)}: {inline(raised.subject, LIMIT)}{why}\n"
            yield f"escalation/{raised.id}", line


def agents(project: Project) -> list[str]:
    """Those who work here: whoever is registered for that, and whoever has done some."""
    known = [each.id for each in project.actors.values() if each.role in _AT_WORK]
    known += [session.agent for session in project.sessions.values()]
    known += [task.agent for task in project.tasks.values()]
    others = {each.id for each in project.actors.values() if each.role not in _AT_WORK}
    return [agent for agent in dict.fromkeys(known) if agent and agent not in others]


def working(project: Project, agent: str) -> str:
    """What an agent is at, as its line says it."""
    at = active_task(project, agent)
    if at is None:
        return IDLE
    standing = "" if at.status == "partial" else f" ({at.status})"
    following = at.next_action if at.next_action != at.named else ""
    return f"{inline(at.named, LIMIT)}{standing}" + (
        f"{NEXT}{inline(following, LIMIT)}" if following else ""
    )


def focus(project: Project) -> str:
    """What the maintainer is to see to: what was said, else what was escalated."""
    maintainer = maintainer_of(project)
    if maintainer and (said := project.next_actions.get(maintainer, "")):
        return inline(said, LIMIT)
    raised = [inline(each.id) for each in project.escalations.values() if each.answered is None]
    return f"answer {', '.join(raised)}" if raised else NONE


def checkpoint(project: Project) -> str:
    """What comes next for all of them, else the phase that they are in."""
    if said := project.next_actions.get("", ""):
        return inline(said, LIMIT)
    step = f", step {inline(project.phase_step)}" if project.phase_step else ""
    return f"end of phase {inline(project.phase)}{step}" if project.phase else NONE
