"""Every copy that was made of what is redacted now: those that are ours go, the others are named.

It begins from the records as they are now, whatever was done already: see projections/unfinished.
"""

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from journal import cache
from journal.backup import is_backup
from journal.errors import PassdownError
from journal.exchange import HEADING
from journal.handle import Handle
from journal.workspace import FOLDER, Workspace
from projections import atomic, chats, ledger, tables
from projections.desk import Desk, FileState
from projections.files import files_locked, update
from projections.places import Folders, Unusable, read_file
from projections.report import is_page
from projections.settings import CHAT, layout

#: What else there is in `.passdown` that may repeat a text.
_LOGS = ("hooks.log", "hooks.log.1")


class Cleared(Struct):
    """What became of the copies."""

    #: What was removed, relative to the workspace.
    removed: list[str] = field(default_factory=list)
    #: What could not be done, each in a sentence with what to do about it.
    open: list[str] = field(default_factory=list)


def clear(workspace: Workspace, handles: Sequence[Handle], actor: str | None = None) -> Cleared:
    """Bring every file up to date and remove whatever else was made of the records before."""
    done = Cleared()
    with files_locked(workspace):
        for handle in handles:
            try:
                _bring_up_to_date(workspace, handle, actor, done)
            except PassdownError as error:  # settings that cannot be read, two files at one place
                done.open.append(f"the files of {handle.slug} were not brought up to date: {error}")
        for path in sorted(_places(workspace, handles)):
            for beside in (atomic.backup_of(path), *atomic.leftovers(path)):
                _remove(workspace, beside, done)
        _forget_backups(workspace)
        _remove(workspace, workspace.folder / "lost", done)
        for name in (*_LOGS, "ledger.json.new"):
            _remove(workspace, workspace.folder / name, done)
        had_tables = os.path.lexists(workspace.folder / tables.FILE)
        for path in sorted(workspace.folder.glob(f"*{tables.FILE}*")):
            _remove(workspace, path, done if not had_tables else Cleared(open=done.open))
        cache.clear(workspace.folder / "cache")
    if had_tables:
        tables.make(workspace)
    return done


def _bring_up_to_date(
    workspace: Workspace, handle: Handle, actor: str | None, done: Cleared
) -> None:
    for file in update(workspace, handle, actor=actor):
        if file.problem and file.status != "taken" and _may_hold(workspace, handle, file):
            done.open.append(file.problem)


def _may_hold(workspace: Workspace, handle: Handle, file: FileState) -> bool:
    """Whether a file that is not ours to replace may still show what is redacted now."""
    if file.projection == CHAT:
        return False  # which is its agent's own, and named among what is out of reach
    desk = Desk(Folders(workspace), handle, handle.state, ledger.read(workspace.folder))
    for target in desk.targets():
        if target.path == file.path and file.status == "drifted":
            with suppress(Unusable, OSError):
                content = read_file(desk.place(target)) or b""
                return not desk.is_replayable(target, content)
    return True


def _places(workspace: Workspace, handles: Iterable[Handle]) -> set[Path]:
    """Wherever a file of ours is, or was."""
    folders, found = Folders(workspace), set()
    for path in _paths(workspace, handles):
        with suppress(Unusable, OSError):
            found.add(folders.place(path))
    return found


def _paths(workspace: Workspace, handles: Iterable[Handle]) -> Iterator[str]:
    yield from ledger.read(workspace.folder)
    for handle in handles:
        state = handle.state
        for move in state.moves:
            yield from (move.active, move.archived)
        with suppress(PassdownError):
            found = layout(workspace.root, state)
            yield from (path for target in found.files for path in (target.path, target.home))
            for tree in found.trees:
                yield from (target.path for target in tree.targets(state))
            yield from (chat.path for chat in chats.chats(workspace.root, state))


def _forget_backups(workspace: Workspace) -> None:
    """Expect no backup where there is none now."""
    entries = ledger.read(workspace.folder)
    if any(entry.backup for entry in entries.values()):
        bare = {path: replace(entry, backup="") for path, entry in entries.items()}
        ledger.write(workspace.folder, bare)


def _remove(workspace: Workspace, path: Path, done: Cleared) -> None:
    """Remove a file, or a folder with all that is in it."""
    if not os.path.lexists(path):
        return
    name = os.path.relpath(path, os.path.realpath(workspace.root))
    try:
        if path.is_dir() and not path.is_symlink():
            inside = sorted(each for each in path.rglob("*") if not each.is_dir())
            shutil.rmtree(path)
            done.removed += [f"{name}/{each.relative_to(path)}" for each in inside]
        else:
            path.unlink()
            done.removed.append(name)
    except OSError as e:
        done.open.append(f"{name} cannot be removed: {e.strerror}; remove it")


# -- what is out of reach --------------------------------------------------------------------


def beyond(workspace: Workspace, handles: Sequence[Handle]) -> list[str]:
    """What may still hold it and is not ours to change, in sentences."""
    found = [
        "exports, reports, backups and copies of the workspace that were made before",
        "what agents and people read before, and what hosts keep of their conversations",
    ]
    copies = sorted(_copies(workspace))
    if copies:
        found.append(f"reports, exports and backups in the workspace: {_listed(copies)}")
    if any((each / ".git").exists() for each in (workspace.root, *workspace.root.parents)):
        found.insert(1, "the history of version control, wherever these files were committed")
    named = sorted({path for handle in handles for path in _theirs(workspace, handle)})
    if named:
        found.append(f"files that are not Passdown's: {_listed(named)}")
    return found


def _listed(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return f"{', '.join(paths[:_SHOWN])}{more}"


def _copies(workspace: Workspace) -> Iterator[str]:
    """What people had Passdown write into the workspace, told by its first bytes alone."""
    for folder, inside, names in os.walk(workspace.root):
        inside[:] = [name for name in inside if name[0] != "." and name != "node_modules"]
        for name in names:
            path = Path(folder, name)
            with suppress(OSError):
                if path.is_file() and _is_copy(path):
                    yield os.path.relpath(path, workspace.root)


def _is_copy(path: Path) -> bool:
    with open(path, "rb") as file:
        start = file.read(_SIGHT)
    return start.startswith(HEADING) or is_page(start) or is_backup(path)


#: So many bytes tell what a file is.
_SIGHT = 4096


#: So many files are named in a sentence.
_SHOWN = 12
#: So many files of a workspace are looked into that no project has to do with.
_FILES = 20_000
#: Folders in which nobody writes by hand.
_ASIDE = frozenset((FOLDER, ".git", "node_modules", ".venv", "__pycache__"))


def elsewhere(workspace: Workspace, text: str) -> list[str]:
    """The files of the workspace that a text stands in, also those no project has to do with."""
    sought, found, looked = text.encode(), list[str](), 0
    for folder, folders, names in os.walk(workspace.root):
        folders[:] = sorted(name for name in folders if name not in _ASIDE)
        for path in (Path(folder, name) for name in sorted(names)):
            looked += 1
            if looked > _FILES:
                return found
            with suppress(OSError):
                if path.is_file() and not path.is_symlink() and _holds(path, sought):
                    found.append(str(path.relative_to(workspace.root)))
    return found


def _theirs(workspace: Workspace, handle: Handle) -> Iterator[str]:
    """The files that a project names and does not write: chats, documents, adopted originals."""
    state, ours = handle.state, ledger.read(workspace.folder)
    with suppress(PassdownError):
        for chat in chats.chats(workspace.root, state):
            yield chat.path
    named = [document.path for document in state.documents.values()]
    named += [home.source for home in state.homes.values()]
    if state.adopted is not None:
        named.append(state.adopted.source)
    for path in named:
        if path not in ours and os.path.isfile(workspace.root / path):
            yield path


def holding(workspace: Workspace, handles: Sequence[Handle], text: str) -> list[str]:
    """The files that a text still stands in, of those that projects have to do with."""
    sought, found = text.encode(), set()
    paths = {*_paths(workspace, handles)}
    for handle in handles:
        state = handle.state
        paths.update(_theirs(workspace, handle), state.files)
        paths.update(path for step in state.steps.values() for path in step.artifacts)
        paths.update(path for step in state.steps.values() for path in step.context_files)
    for path in paths:
        with suppress(OSError, ValueError):
            place = workspace.inside(path)
            if place and place.is_file() and _holds(place, sought):
                found.add(path)
    for place in workspace.folder.rglob("*"):
        with suppress(OSError):
            of_store = place.name.startswith("journal.db")  # which scrubbing has seen to
            if not of_store and place.is_file() and _holds(place, sought):
                found.add(f"{FOLDER}/{place.relative_to(workspace.folder)}")
    return sorted(found)


def _holds(path: Path, sought: bytes) -> bool:
    """Whether a file holds some bytes, read piece by piece."""
    with open(path, "rb") as file:
        end = b""
        while piece := file.read(1 << 20):
            if sought in end + piece:
                return True
            end = piece[-len(sought) :]
    return False
