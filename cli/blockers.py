"""What came of a blocker that was just raised, bypassed or resolved, in words and as data."""

from collections.abc import Iterable, Sequence

from cli.answers import BlockerAnswer
from journal import Project
from journal.blocking import Consequences, consequences
from journal.events import Event, TaskBlocked, TaskUnblocked
from projections.protocol import command


def outcomes(project: Project, events: Sequence[Event]) -> list[BlockerAnswer]:
    """What each blocker that the events are about comes to now."""
    named = dict.fromkeys(_named(project, events))
    return [_outcome(project, id) for id in named if id in project.blockers]


def _named(project: Project, events: Iterable[Event]) -> Iterable[str]:
    for event in events:
        if event.type.startswith("blocker.") or isinstance(event, TaskBlocked):
            yield getattr(event, "blocker", "")
        elif isinstance(event, TaskUnblocked):
            yield from (x.id for x in project.blockers.values() if x.status == "active")


def _outcome(project: Project, id: str) -> BlockerAnswer:
    blocker = project.blockers[id]
    found = consequences(project, blocker)
    resume = [] if blocker.status == "active" else _resume(project, found)
    return BlockerAnswer(
        id, blocker.status, list(found.tasks), list(found.steps), found.escalated, resume
    )


def _resume(project: Project, found: Consequences) -> list[str]:
    """The commands by which work goes on with what is free again."""
    steps = found.steps or tuple(
        dict.fromkeys(step for id in found.tasks if (step := project.tasks[id].step))
    )
    if steps:
        return [command(project, "resume", "--step", step) for step in steps]
    return [command(project, "resume")] if found.tasks else []


def said(project: Project, outcome: BlockerAnswer) -> str:
    """The same in a sentence; nothing where nothing hangs on it."""
    steps = [f"phase {key} {project.steps[key].name}" for key in outcome.steps]
    what = ", ".join((*outcome.tasks, *steps))
    if outcome.status != "active":
        goes = " and ".join(f"`{each}`" for each in outcome.resume)
        return f"free again: {what}; {goes}" if what else ""
    parts = [f"blocked: {', '.join(outcome.tasks)}"] if outcome.tasks else []
    parts += [f"paused: {', '.join(steps)}"] if steps else []
    if outcome.escalated:
        parts.append("every phase that remains is blocked, a person has to decide how to go on")
    return "; ".join(parts)
