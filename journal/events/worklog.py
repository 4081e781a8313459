"""The worklog: what was done, told for those who come after."""

from typing import ClassVar

from msgspec import Struct

from journal.events.event import Count, Event, Text


class Handoff(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What an entry says to whoever goes on."""

    status: str = ""
    changed_files: tuple[str, ...] = ()
    tests: str = ""
    blocking: str = ""
    next_owner: str = ""


class WorklogEntryLogged(Event, frozen=True):
    """An agent told what it did; `number` is that of its session, `refers` are other entries.

    What was found in an archive is `archived` from the first.
    """

    type: ClassVar[str] = "worklog.entry_logged"
    title: Text
    text: str = ""
    agent: str = ""
    number: Count = 0
    handoff: Handoff | None = None
    refers: tuple[str, ...] = ()
    entry: str = ""
    archived: bool = False


class WorklogEntryCompleted(Event, frozen=True):
    """Nothing of an entry is open any more."""

    type: ClassVar[str] = "worklog.entry_completed"
    entry: str
    note: str = ""


class WorklogCompacted(Event, frozen=True):
    """Entries that are completed moved into the archive, with the maintainer's approval."""

    type: ClassVar[str] = "worklog.compacted"
    entries: tuple[str, ...]
    approved_by: str = ""
    reason: str = ""
