"""The files of an archived project are moved, never copied; opened again, it has them back.

Documents go first and the project's own file goes last: while that is where it was, the rest is
not done either, and whoever brings the files up to date next goes on with it. Should it have been
lost by then, a document is known by its digest: by its name alone it could be another project's.
"""

import os
import stat
from pathlib import Path

from journal.digest import sha256
from journal.events import Move
from projections import atomic, homes, lost, stamp
from projections.desk import Desk
from projections.places import Folders, Unusable, read_file
from projections.settings import Target, layout


def carry_out(desk: Desk) -> dict[str, str]:
    """Move the files of a project to where they belong now; if that fails, why, by path."""
    own = homes.archived(desk.project)
    if own is None:
        return {}
    documents = [move for move in desk.project.moves if move != own]
    if desk.project.archived is None:
        documents = [Move(move.archived, move.active) for move in documents]
        own = Move(own.archived, _home(desk) or own.active)
    try:
        origin, goal = spot(desk.folders, own.active), spot(desk.folders, own.archived)
        under_way = _is_own(desk, origin)
        for move in documents:
            if under_way or _is_left(desk, move):
                _move(desk.folders, move)
        if under_way:
            _move_own(desk, origin, goal)
        _follow(desk, origin, goal)
    except (Unusable, FileExistsError, atomic.Displaced) as e:
        why = str(e) or f"{own.active} was replaced just now"
        return {own.archived: f"{why}; then run `passdown sync`"}
    except OSError as e:
        why = f"{own.active} cannot be moved to {own.archived}: {e.strerror}"
        return {own.archived: f"{why}; mend that and run `passdown sync`"}
    return {}


def _home(desk: Desk) -> str:
    """Where the project's own file is while the project is open, as the settings are now."""
    files = layout(desk.folders.workspace.root, desk.project).files
    return next((target.home for target in files if target.dialect.moves), "")


def taken_away(desk: Desk, target: Target) -> str:
    """Where a file is that is not in its place, if whoever writes it too has archived it."""
    if not target.dialect.moves or desk.project.archived is not None:
        return ""
    goal = homes.in_archive(target.path, f"{homes.session_id(desk.project)}.md")
    place = spot(desk.folders, goal) if goal else None
    content = read_file(place) if place and is_file(place) else None
    signed = stamp.read(content) if content else None
    theirs = signed is not None and signed.project == desk.project.slug
    return goal if content and theirs and not stamp.holds(content) else ""


def spot(folders: Folders, path: str) -> Path:
    """Where a file is, or the link that is there in its place."""
    folder, name = os.path.split(path)
    return folders.folder(folder) / name


def is_file(path: Path) -> bool:
    """Whether there is a regular file, not reached through a link."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def is_settled(origin: Path, goal: Path) -> bool:
    """Whether nothing is in the way of a move: there is none to make, or the goal has it all."""
    if not (is_file(origin) and os.path.lexists(goal)) or atomic.is_same(origin, goal):
        return True
    return is_file(goal) and read_file(origin) == read_file(goal)


def _is_own(desk: Desk, path: Path) -> bool:
    """Whether the project's own file is there, whatever somebody wrote into it."""
    content = read_file(path) if is_file(path) else None
    if content is None:
        return False
    signed, entry = stamp.read(content), desk.entries.get(desk.folders.key(path))
    owner = signed.project if signed else entry.project if entry else ""
    return owner == desk.project.slug


def _is_left(desk: Desk, move: Move) -> bool:
    """Whether a document was left behind: it is only there, and is what was recorded of it."""
    origin, goal = spot(desk.folders, move.active), spot(desk.folders, move.archived)
    if os.path.lexists(goal) or not is_file(origin):
        return False
    known = {each.digest for each in desk.project.documents.values() if each.digest}
    return bool(known) and sha256(origin.read_bytes()).hexdigest() in known


def _move(folders: Folders, move: Move) -> None:
    """Move a document, if it is there; what has the same content at the goal is the document."""
    origin, goal = spot(folders, move.active), spot(folders, move.archived)
    if not is_settled(origin, goal):
        raise Unusable(
            f"{move.archived} is there already, so {move.active} cannot be moved to it; move one "
            "of them away"
        )
    if not is_file(origin):
        pass
    elif os.path.lexists(goal) and not atomic.is_same(origin, goal):
        atomic.remove(origin, goal.read_bytes())
    else:
        atomic.move(origin, goal)
    if is_file(goal):
        lost.tidy(folders.workspace, origin, goal.read_bytes())


def _move_own(desk: Desk, origin: Path, goal: Path) -> None:
    """Move the project's own file; its backup is left to be made anew where it goes."""
    content = read_file(origin) or b""
    obsolete = stamp.holds(content) and os.path.lexists(goal)
    if not (obsolete or is_settled(origin, goal)):
        raise Unusable(f"{goal} is there already, so {origin} cannot be moved to it; move it away")
    lost.clear_beside(desk.folders.workspace, origin)
    atomic.backup_of(origin).unlink(missing_ok=True)
    if os.path.lexists(goal) and not atomic.is_same(origin, goal):
        atomic.remove(origin, content)
    else:
        atomic.move(origin, goal)


def _follow(desk: Desk, origin: Path, goal: Path) -> None:
    """Have the ledger know the project's own file where it is now."""
    entry = desk.entries.get(desk.folders.key(origin))
    if entry is not None and entry.project == desk.project.slug:
        del desk.entries[desk.folders.key(origin)]
        desk.entries.setdefault(desk.folders.key(goal), entry)
