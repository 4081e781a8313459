"""The tables of the worklog: what was decided, and which sessions are in the archive."""

from collections.abc import Iterator

from journal.clock import day
from journal.entities import Decision, Project
from journal.peers import WorklogEntry
from projections.markdown import inline
from projections.position import chosen

#: A decision stands in one cell, however long.
_CELL = 2000
_DECISIONS = (
    "\n| Decision | Owner | Timestamp | Section |\n|----------|-------|-----------|---------|\n"
)
#: What stands in place of a table without rows.
NO_ROWS = ("No decision yet.", "None yet.")
_SESSIONS = "\n| Session | Date | Summary |\n|---------|------|---------|\n"


def decisions(project: Project) -> Iterator[tuple[str, str]]:
    """The decision index, the newest on top: what comes later never stands below the table."""
    rows = [*project.decisions.values()]
    yield "index", "\n## Decision Index\n" + ("" if rows else f"\n{NO_ROWS[0]}\n")
    yield "index.table", _DECISIONS if rows else ""
    numbers = {id: n for n, id in enumerate(project.sessions, start=1)}
    for each in reversed(rows):
        yield f"decision/{each.id}", _decision(project, each, numbers)
    yield "index.end", ""


def sessions(
    moved: dict[int, list[WorklogEntry]], dates: dict[int, int], told: set[int]
) -> Iterator[tuple[str, str]]:
    """The sessions with entries in the archive, but those that somebody has told of already."""
    rows = [number for number in moved if number not in told]
    none = "" if rows or told else f"\n{NO_ROWS[1]}\n"
    yield "archived", f"\n## Archived Sessions\n{none}"
    yield "archived.table", _SESSIONS if rows else ""
    for number in rows:
        titles = "; ".join(each.title for each in moved[number])
        yield f"archived/{number}", f"| {number} | {day(dates[number])} | {inline(titles)} |\n"
    yield "archived.end", ""


def _decision(project: Project, x: Decision, numbers: dict[str, int]) -> str:
    said = ": ".join(filter(None, (x.title or x.key, chosen(x))))
    number = numbers.get(project.session_names.get(x.session or "", x.session or ""))
    by = x.superseded_by
    parts = (
        f"Session {number}" if number else "",
        f"Step {x.step}" if x.step else "",
        f"superseded by {by}" if by else "superseded" if by is not None else "",
    )
    where = inline(", ".join(filter(None, parts)))
    owner = inline(x.agent) or "nobody"
    return f"| {inline(said, _CELL)} | {owner} | {day(x.at)} | {where or '-'} |\n"
