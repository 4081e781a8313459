"""Whose session it is that a host speaks of, where a workspace has several projects.

A host knows nothing of projects, only the id that it gave the session. `cache/hosts` says in which
project a session was recorded last, so that not every project has to be asked.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from journal.entities import Project, is_over
from journal.journal import Journal
from journal.live import LiveHandle
from journal.store import Head

#: So many sessions are remembered; of an older one every project is asked.
_REMEMBERED = 500


def chosen(
    journal: Journal, heads: Sequence[Head], name: str, host: str, begins: bool
) -> LiveHandle | None:
    """The project that was named; else the session's; else the one recorded in last.

    One that is over is meant only where all are. A session that begins is not in any of them yet.
    """
    if name or len(heads) < 2:
        name = name or (heads[0].project if heads else "")
        return journal.live(name) if name else None
    known = _known(journal.folder)
    remembered = known.get(host) if known else None
    for head in heads:
        if head.project == remembered:
            handle = journal.live(head.project)
            if host in handle.state.session_names and not is_over(handle.state):
                return handle
    newest = sorted(heads, key=lambda head: _last(journal, head), reverse=True)
    first = own = None
    for handle, state in _open(journal, newest):
        first = first or handle
        if begins and known is not None:
            break
        session = state.sessions.get(state.session_names.get(host, ""))
        if session and session.status == "active":
            return handle
        if host in state.session_names:
            own = own or handle
    return own or first or journal.live(newest[0].project)


def _last(journal: Journal, head: Head) -> int:
    """When something was recorded in a project last."""
    record = next(journal.store.read(head.project, head.version - 1, head.version), None)
    return record.at if record else 0


def _open(journal: Journal, heads: Iterable[Head]) -> Iterator[tuple[LiveHandle, Project]]:
    """The projects that are not over, each loaded when it is its turn."""
    for head in heads:
        handle = journal.live(head.project)
        state = handle.state
        if not is_over(state):
            yield handle, state


def remember(folder: Path, host: str, project: str) -> None:
    """Note in which project a session was recorded; what cannot be noted is only slower."""
    known = _known(folder) or {}
    if known.pop(host, None) == project:
        return
    kept = [*known.items(), (host, project)][-_REMEMBERED:]
    fresh = folder / "cache" / f".hosts.{os.getpid()}.new"
    with suppress(OSError):
        fresh.parent.mkdir(exist_ok=True)
        fresh.write_bytes(msgspec.json.encode(dict(kept)))
        os.replace(fresh, _file(folder))


def _known(folder: Path) -> dict[str, str] | None:
    """The project of each session; None if nothing was ever noted, or it was lost."""
    try:
        return msgspec.json.decode(_file(folder).read_bytes(), type=dict[str, str])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _file(folder: Path) -> Path:
    return folder / "cache" / "hosts"
