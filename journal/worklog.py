"""Which entries of the worklog may leave it for the archive."""

import re
from collections.abc import Iterable

from journal.entities import Project
from journal.peers import WorklogEntry

_DONE = re.compile(r"\s*(complete|completed|done|closed|resolved)\b", re.IGNORECASE)
#: What a status names beside what is done, and so is not.
_OPEN = re.compile(r"\b(?:in[ -]progress|pending|partial|partly|blocked)\b", re.IGNORECASE)
_ENTRY = re.compile(r"(?<![A-Za-z0-9])W[0-9]{3,}(?![A-Za-z0-9])")


def is_done(status: str) -> bool:
    """Whether the status in a handoff block says that nothing is open any more."""
    return _DONE.match(status) is not None and _OPEN.search(status) is None


def references(entry: WorklogEntry) -> set[str]:
    """The entries that one refers to, by its own list and in its words."""
    return {*entry.refers, *_ENTRY.findall(entry.text)} - {entry.id}


def held_back(project: Project, ids: Iterable[str]) -> dict[str, str]:
    """Those of the entries that an active one refers to, and which one."""
    wanted, found = set(ids), dict[str, str]()
    for entry in project.worklog.values():
        if entry.completed is None and entry.archived is None:
            for id in references(entry) & wanted:
                found.setdefault(id, entry.id)
    return found


def compactable(project: Project) -> list[str]:
    """The entries that can move into the archive now."""
    done = [
        entry.id
        for entry in project.worklog.values()
        if entry.completed is not None and entry.archived is None
    ]
    kept = held_back(project, done)
    return [id for id in done if id not in kept]
