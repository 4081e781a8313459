"""What an edit by hand changed: field by field where the dialect can be read, else line by line."""

from collections.abc import Iterator
from difflib import ndiff

from msgspec import Struct

from journal.errors import Invalid
from journal.events import Json
from journal.handle import Handle
from journal.state import Project
from journal.workspace import Workspace
from projections import active_session, chats, session_state, state_md
from projections.dialect import Dialect
from projections.files import edited
from projections.leftovers import Object, differences
from projections.places import Folders

#: Of one file so many changes are shown.
_MOST = 500


class Change(Struct, frozen=True):
    """One difference: what was there and what is; of a list, what left it and what came."""

    where: str
    was: list[Json]
    now: list[Json]


class Drift(Struct, frozen=True):
    """A file that was edited, and what the edit changed."""

    path: str
    changes: list[Change]


def drifts(workspace: Workspace, handle: Handle) -> list[Drift]:
    """Every file of a project that was edited outside Passdown."""
    found = [
        Drift(target.path, changes(target.dialect, content, base))
        for target, content, base in edited(workspace, handle)
    ]
    return [*found, *_chats(workspace, handle.state)]


def _chats(workspace: Workspace, project: Project) -> Iterator[Drift]:
    """The files of agents that have a snapshot of theirs in other words."""
    for chat in chats.chats(workspace.root, project):
        if chats.inspect(Folders(workspace), chat).status == "drifted":
            token = chat.newest.token
            yield Drift(chat.path, [Change(token, ["as it was taken"], ["in other words"])])


def changes(dialect: Dialect, content: bytes, base: Project) -> list[Change]:
    """What a file says otherwise than a state does in its dialect."""
    try:
        match dialect.name:
            case session_state.NAME:
                shown = session_state.flat(session_state.form(base))
                return _fields(shown, session_state.read(content).document, session_state.ASIDE)
            case state_md.NAME:
                own = state_md.read(dialect.render(base)).document
                return _fields(own, state_md.read(content).document, state_md.ASIDE)
            case active_session.NAME:
                return _session(content, base)
    except Invalid:
        pass  # then its lines have to do
    return _lines(content, dialect.render(base))


def _session(content: bytes, base: Project) -> list[Change]:
    """The front matter field by field, and the body line by line."""
    was, now = active_session.sides(content, base)
    fields = _fields(was.front, now.front, active_session.ASIDE)
    return (fields + _lines(now.body.encode(), was.body.encode()))[:_MOST]


def _fields(shown: Object, theirs: Object, aside: frozenset[str]) -> list[Change]:
    changes = []
    for place in differences(shown, theirs):
        if place.path[0] not in aside:
            was, now = _apart(_at(shown, place.path), list(place.file))
            changes.append(Change(".".join(place.path), was, now))
    return changes[:_MOST]


def _apart(was: list[Json], now: list[Json]) -> tuple[list[Json], list[Json]]:
    """Of two lists what the other does not have; anything else as it is."""
    match was, now:
        case [list(old)], [list(new)]:
            return [x for x in old if x not in new], [x for x in new if x not in old]
    return was, now


def _at(document: Json, path: tuple[str, ...]) -> list[Json]:
    for key in path:
        if not (isinstance(document, dict) and key in document):
            return []
        document = document[key]
    return [document]


def _lines(content: bytes, rendered: bytes) -> list[Change]:
    was, now = (side.decode(errors="replace").splitlines() for side in (rendered, content))
    changes, number = [], 0
    for line in ndiff(was, now, charjunk=None):
        mark, text = line[:2], line[2:]
        number += mark != "- "
        if mark == "- ":
            changes.append(Change(f"line {number + 1}", [text], []))
        elif mark == "+ ":
            changes.append(Change(f"line {number}", [], [text]))
    return changes[:_MOST]
