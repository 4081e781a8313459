"""The fold itself: one record after the other."""

from collections.abc import Iterable

from msgspec.structs import replace

from journal import events as e
from journal.entities import Project
from journal.events import Event
from journal.ondemand import OnDemand
from journal.payload import decode
from journal.record import Record
from journal.state.table import Fold

#: What the fold makes of a history; a change of that is a change of this number.
FOLD = 8

_FOLDS: OnDemand[Fold] = OnDemand("journal.state", "FOLDS")


def evolve(project: Project, record: Record) -> Project:
    """The project after one more record; the container given is changed and returned."""
    event = decode(record.type, record.data)
    if event.coordinates and not (_is_taken_over(project) or _is_of_the_past(project, event)):
        project.revision += 1  # first, for whatever it makes is of the new revision
    _FOLDS[type(event)](project, event, record)
    project.version = record.version
    project.hash = record.hash
    if not event.bookkeeping:
        _progress(project, record)
        project.content_version = record.version
        project.content_hash = record.hash
        project.updated = record.at
    return project


def _is_taken_over(project: Project) -> bool:
    """Whether a workspace is still being told from the file that it began with."""
    shared = project.coordination
    return shared is not None and shared.revision is not None and project.adopted is None


def _is_of_the_past(project: Project, event: Event) -> bool:
    """Whether it is of a session that was over when it was reported: nobody coordinates by that."""
    match event:
        case e.SessionStarted(over=over):
            return over
        case e.SessionEnded(session=id) | e.SessionCrashed(session=id):
            session = project.sessions.get(id)
            return session is not None and session.over
    return False


def _progress(project: Project, record: Record) -> None:
    """Whatever is recorded in a session shows that somebody is at work in it."""
    if record.session:
        id = project.session_names.get(record.session, record.session)
        if session := project.sessions.get(id):
            project.sessions[id] = replace(session, progress=record.at)


def fold(slug: str, records: Iterable[Record]) -> Project:
    """The project that a history amounts to."""
    project = Project(slug)
    for record in records:
        evolve(project, record)
    return project


def folded() -> frozenset[type[Event]]:
    """The event classes that the fold knows; a test holds this against the vocabulary."""
    return _FOLDS.whole()
