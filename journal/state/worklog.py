"""What the fold makes of events: the worklog."""

from msgspec.structs import replace

from journal import events as e
from journal.entities import Project
from journal.peers import WorklogEntry
from journal.record import Record
from journal.state.table import Folds


def _entry_logged(p: Project, x: e.WorklogEntryLogged, r: Record) -> None:
    p.worklog[x.entry] = WorklogEntry(
        x.entry,
        x.title,
        r.time,
        x.text,
        x.agent or r.actor or "",
        x.number,
        x.handoff,
        x.refers,
        r.time if x.archived else None,
        archived=r.time if x.archived else None,
    )


def _entry_completed(p: Project, x: e.WorklogEntryCompleted, r: Record) -> None:
    if entry := p.worklog.get(x.entry):
        p.worklog[x.entry] = replace(entry, completed=r.time, note=x.note)


def _compacted(p: Project, x: e.WorklogCompacted, r: Record) -> None:
    for id in x.entries:
        if entry := p.worklog.get(id):
            p.worklog[id] = replace(entry, archived=r.time)


FOLDS: Folds = {
    e.WorklogEntryLogged: _entry_logged,
    e.WorklogEntryCompleted: _entry_completed,
    e.WorklogCompacted: _compacted,
}
