"""What somebody should see to now: in the project, in its files, in the journal."""

from collections.abc import Iterator
from typing import Literal, TypeAlias

from msgspec import Struct

from journal.blocking import is_escalated
from journal.entities import Project, active_blockers
from journal.mail import overdue
from journal.supervision import stale
from journal.workspace import Workspace
from projections.places import altered
from projections.position import failure

Kind: TypeAlias = Literal[
    "journal", "escalated", "escalation", "failed", "blocker", "stale", "overdue", "file"
]


class Alarm(Struct, frozen=True):
    """Something that somebody should see to: what it is about, and what is wrong."""

    kind: Kind
    about: str
    text: str


def alarms(project: Project, now: int) -> Iterator[Alarm]:
    """What the state of a project says; the gravest first."""
    if is_escalated(project):
        yield Alarm("escalated", "", "every step that remains is blocked: a person has to decide")
    for escalation in project.escalations.values():
        if escalation.answered is None:
            yield Alarm("escalation", escalation.id, escalation.subject)
    for step in project.steps.values():
        if step.status == "failed":
            yield Alarm("failed", f"step {step.key}", failure(project, step))
    for blocker in active_blockers(project):
        yield Alarm("blocker", blocker.id, blocker.description)
    for one in stale(project, now):
        whose = f" of {one.session.agent}" if one.session.agent else ""
        tasks = f"{len(one.tasks)} task{'' if len(one.tasks) == 1 else 's'} in hand"
        yield Alarm("stale", f"{one.session.id}{whose}", f"{one.reason}, with {tasks}")
    for message in project.messages.values():
        if why := overdue(project, message, now):
            yield Alarm("overdue", message.id, why)


def file_alarms(workspace: Workspace, slug: str) -> Iterator[Alarm]:
    """What a quick look at the files of a project says."""
    said = {
        "missing": "is missing; `passdown recover` restores it",
        "changed": "is not what was written; `passdown verify` says how",
    }
    for path, how in altered(workspace, slug).items():
        yield Alarm("file", path, said[how])
