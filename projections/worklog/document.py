"""The worklog and its archive as the named parts that they are written in.

An entry is the same part with the same words in both files, so that whatever somebody wrote into
it goes with it into the archive; what stands beside it stays where it is.
"""

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from journal.clock import day
from journal.entities import Project
from journal.peers import Snapshot, WorklogEntry
from projections import narrative
from projections.leftovers import Object, apply
from projections.markdown import inline
from projections.worklog import entries, index, status

#: What settings and records call the two files, and how each is called in a sentence.
NAME, ARCHIVE = "worklog", "worklog-archive"
KINDS = {NAME: "a worklog", ARCHIVE: "an archive of a worklog"}

#: A part of one of the files by its name; without words it only has a place there.
Part = tuple[str, str | None]

_ROW = re.compile(r"^\|[ \t]*(\d{1,9})[ \t]*\|", re.MULTILINE)


class _Session(Struct):
    """What the worklog tells of a session."""

    entries: list[WorklogEntry] = field(default_factory=list)
    snapshots: list[Snapshot] = field(default_factory=list)

    @property
    def begun(self) -> int:
        """When the first thing that is told of it happened."""
        return self.entries[0].at if self.entries else self.snapshots[0].at


def own(project: Project, name: str = NAME) -> Object:
    """The document that a state has alone."""
    parts: Object = {}
    order: list[str] = []
    for part, text in _worklog(project) if name == NAME else _archive(project):
        order.append(part)
        if text is not None:
            parts[part] = text
    return {"parts": parts, "order": [*order], "kept": {}}


def form(project: Project, name: str = NAME) -> Object:
    """The same with what adopted files say otherwise: of an entry, whichever file it was in."""
    other = ARCHIVE if name == NAME else NAME
    shared = {
        each.path: each
        for each in project.leftovers.get(other, ())
        if is_entry(each.path) and each.file
    }
    shared |= {each.path: each for each in project.leftovers.get(name, ())}
    document = own(project, name)
    apply(document, shared.values())
    return document


def is_entry(path: Iterable[str]) -> bool:
    """Whether a place is that of an entry's words, or of the heading above some."""
    kind, _, name = tuple(path)[-1].partition("/")
    return tuple(path)[:1] == ("parts",) and kind in ("entry", "session") and bool(name)


# -- the parts -------------------------------------------------------------------------------


def _worklog(project: Project) -> Iterator[Part]:
    yield "title", f"# Worklog — {inline(project.title)}\n\n"
    yield from status.lines(project)
    yield "status.end", ""
    yield from index.decisions(project)
    told = _sessions(project)
    kept = _kept(project)
    moved = {
        number: [each for each in session.entries if each.archived is not None]
        for number, session in told.items()
    }
    dates = {number: session.begun for number, session in told.items()}
    tables = [kept.get(name, "") for name in ("archived", "archived.table", "archived.end")]
    rows = {int(found) for text in tables for found in _ROW.findall(text)}
    archived = {number: moved[number] for number in sorted(moved) if moved[number]}
    yield from index.sessions(archived, dates, rows & set(archived))
    for number, session in told.items():
        gone = len(moved[number]) == len(session.entries) and not session.snapshots
        stays = not gone or _has_handwriting(number, session, kept)
        yield f"session/{number}", _heading(number, session) if stays else None
        for each in session.entries:
            yield from _entry(each, each.archived is None)
        for last in session.snapshots:
            yield f"snapshot/{last.token}", entries.snapshot(project, last)


def _archive(project: Project) -> Iterator[Part]:
    yield "title", f"# Worklog Archive — {inline(project.title)}\n\n"
    yield "intro", "Completed entries that were moved here from WORKLOG.md.\n"
    for number, session in _sessions(project).items():
        moved = any(each.archived is not None for each in session.entries)
        yield f"session/{number}", _heading(number, session) if moved else None
        for each in session.entries:
            yield from _entry(each, each.archived is not None)


def _entry(x: WorklogEntry, here: bool) -> Iterator[Part]:
    yield f"entry/{x.id}", entries.entry(x) if here else None
    yield f"completed/{x.id}", entries.completed(x) if here else None


def _heading(number: int, session: _Session) -> str:
    return f"\n## Session {number} — {day(session.begun)}\n"


def _sessions(project: Project) -> dict[int, _Session]:
    """What is told, by session, in the order in which sessions were first told of.

    One of which there is only a snapshot comes before those of a higher number.
    """
    found: dict[int, _Session] = {}
    for entry in project.worklog.values():
        found.setdefault(entry.number, _Session()).entries.append(entry)
    alone: dict[int, _Session] = {}
    numbers = {id: n for n, id in enumerate(project.sessions, start=1)}
    for snapshot in project.snapshots.values():
        if snapshot.heading:
            continue  # whoever took it by hand has said so in the worklog, or has not
        number = numbers.get(snapshot.session, snapshot.number)
        session = found.get(number) or alone.setdefault(number, _Session())
        session.snapshots.append(snapshot)
    if not alone:
        return found
    order = list(found)
    for number in sorted(alone):
        at = next((n for n, other in enumerate(order) if other > number), len(order))
        order.insert(at, number)
    return {number: found.get(number) or alone[number] for number in order}


def _has_handwriting(number: int, session: _Session, kept: dict[str, str]) -> bool:
    """Whether somebody wrote something among the entries of a session, which stays there."""
    parts = (f"{kind}/{each.id}" for each in session.entries for kind in ("entry", "completed"))
    return f"session/{number}" in kept or any(part in kept for part in parts)


def _kept(project: Project) -> dict[str, str]:
    """What somebody wrote by hand into the worklog, by the part that it follows."""
    return {
        each.path[1]: text
        for each in project.leftovers.get(NAME, ())
        if each.path[0] == "kept"
        for text in each.file
        if isinstance(text, str) and text.strip()
    }


# -- what counts as its body -----------------------------------------------------------------

#: Above the body are title, status block and decision index.
_ABOVE = ("title", "focus", "checkpoint", "status.end", "index", "index.table")
_ABOVE_OF = ("working/", "escalation/", "decision/")


def is_above(name: str) -> bool:
    """Whether a part is above the body of the worklog."""
    return name == narrative.TOP or name in _ABOVE or name.startswith(_ABOVE_OF)
