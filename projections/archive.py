"""What must be so before a project is archived or opened again, and what must be so afterwards.

All of it is asked while the files are held, so that nobody else comes to the same place meanwhile.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from journal.errors import Invalid, Rejected
from journal.events import Execution, Move, ProjectArchived, ProjectReopened
from journal.handle import Handle
from journal.journal import Journal
from journal.request import Request
from journal.rules import workspace_path
from journal.rules.names import command
from journal.state import Project
from journal.workspace import Workspace
from projections import homes, ledger, moving, stamp
from projections.desk import FileState
from projections.files import files_locked, update
from projections.places import Folders, Unusable, read_file
from projections.settings import Target, targets


class Ready(Struct, frozen=True):
    """The requests as they are to be recorded, and what there is to say about them."""

    requests: Sequence[Request]
    notes: tuple[str, ...] = ()


@contextmanager
def ready(workspace: Workspace, handle: Handle, requests: Sequence[Request]) -> Iterator[Ready]:
    """Hold the files while requests are recorded that archive a project or open it again.

    Raises Rejected where a file could not be moved then.
    """
    kinds = {type(request.event) for request in requests}
    with files_locked(workspace):
        if ProjectReopened in kinds:
            _check_return(workspace, handle)
        if ProjectArchived not in kinds:
            yield Ready(requests)
            return
        moves, notes = _planned(workspace, handle)
        moved = [
            replace(request, event=replace(request.event, moves=tuple(moves)))
            if isinstance(request.event, ProjectArchived)
            else request
            for request in requests
        ]
        yield Ready(moved, tuple(notes))


# -- a place of its own ----------------------------------------------------------------------


@contextmanager
def vacant_place(workspace: Workspace, journal: Journal, slug: str) -> Iterator[None]:
    """Hold the files while a new orchestration is opened; Rejected where its place is not free."""
    with files_locked(workspace):
        check_new(workspace, slug, journal)
        yield


def check_new(workspace: Workspace, slug: str, journal: Journal | None = None) -> None:
    """Refuse an orchestration whose place is not free; there may be no journal yet."""
    check_free(workspace, journal, Project(slug, execution=Execution()), f"open {slug}")


def check_free(workspace: Workspace, journal: Journal | None, project: Project, asked: str) -> None:
    """Refuse a place where another project is at work, or has left a file; the files are held."""
    folders = Folders(workspace)
    target = own_target(workspace, project)
    if target is None:
        return
    place = _place(folders, target, asked)
    known = [journal.project(slug) for slug in journal.projects()] if journal else []
    for other in known:
        if other.slug != project.slug:
            _check_other(workspace, other, target, asked)
    content = read_file(place) if os.path.lexists(place) else None
    if content is None:
        return
    entry, signed = ledger.read(workspace.folder).get(folders.key(place)), stamp.read(content)
    owner = signed.project if signed else entry.project if entry else ""
    if owner == project.slug:
        return
    if any(other.slug == owner for other in known):
        state = f"{target.home} was left there by {owner}; move it away and ask again"
        raise Rejected(asked, state)
    path = os.path.relpath(workspace.root / target.home)
    state = (
        f"{target.home} is there, and is of no project that the journal knows; adopt it, or move "
        "it away"
    )
    raise Rejected(asked, state, [command("adopt", path)] if content.strip() else ())


def own_target(workspace: Workspace, project: Project) -> Target | None:
    """The project's own file, which is moved when it is archived; None where it has none."""
    return next((x for x in targets(workspace.root, project) if x.dialect.moves), None)


def _place(folders: Folders, target: Target, asked: str) -> Path:
    try:
        return folders.place(target.home)
    except Unusable as error:
        raise Rejected(asked, str(error)) from error


def _check_other(workspace: Workspace, other: Handle, wanted: Target, asked: str) -> None:
    """Refuse the place of a project that is still open; finish moving one that is archived."""
    state = other.state
    theirs = own_target(workspace, state)
    folders = Folders(workspace)
    if theirs is None or not _is_one(folders, theirs, wanted):
        return
    if state.archived is not None:
        update(workspace, other)
        return
    raise Rejected(
        asked,
        f"{wanted.home} is where {other.slug} is at work",
        [_archiving(state), command("resume", "-p", other.slug)],
    )


def _is_one(folders: Folders, one: Target, other: Target) -> bool:
    try:
        return folders.place(one.home) == folders.place(other.home)
    except Unusable:
        return False


def _archiving(state: Project) -> str:
    """The command that archives a project as it is; where that takes a person, it says so."""
    words = ["archive", "-p", state.slug]
    steps = state.steps.values()
    vague = any(step.to_reconcile for step in steps) and state.aborted is None
    left = any(step.status not in ("complete", "skipped") for step in steps)
    if vague or (left and state.aborted is None and state.policy.skip == "person"):
        words += ["--actor", "PERSON"]
    return command(*words, *(["--reason", "REASON"] if vague else []))


# -- before ----------------------------------------------------------------------------------


def _planned(workspace: Workspace, handle: Handle) -> tuple[list[Move], list[str]]:
    """Where the files of a project will be moved, and what stays where it is."""
    state = handle.state
    if state.archived is not None or not state.version:
        return list(state.moves), []
    found = update(workspace, handle)
    state = handle.state
    target = own_target(workspace, state)
    asked = f"archive {state.slug}"
    goal = homes.in_archive(target.path, f"{homes.session_id(state)}.md") if target else ""
    if target is None or not goal:
        return [], []
    _check_own(workspace, state, target, found, asked)
    folders, notes = Folders(workspace), list[str]()
    moves = list(_documents(folders, state, target, notes))
    moves.append(Move(target.path, goal))
    taken: set[str] = set()
    for move in moves:
        _check_way(folders, move, asked)
        if move.archived in taken:
            raise Rejected(
                asked, f"two files would be moved to {move.archived}; give one another name"
            )
        taken.add(move.archived)
    return moves, notes


def _check_own(
    workspace: Workspace, state: Project, target: Target, found: list[FileState], asked: str
) -> None:
    """Refuse to move a file that is not what the journal says."""
    own = next(file for file in found if file.path == target.path)
    if own.status == "drifted" and own.problem:
        offers = [command("drift", way, "-p", state.slug) for way in ("--adopt", "--revert")]
        raise Rejected(asked, f"{own.path} was edited outside Passdown", offers)
    if own.problem:
        raise Rejected(asked, own.problem)
    if (workspace.root / target.path).is_symlink():
        raise Rejected(asked, f"{own.path} is a link; put the file itself there, then ask again")


def _documents(
    folders: Folders, state: Project, target: Target, notes: list[str]
) -> Iterator[Move]:
    """The moves of the documents that are there; of the others the notes say why they stay."""
    for path in dict.fromkeys(each.path for each in state.documents.values()):
        goal = homes.in_archive(path)
        if not goal or path == target.path:
            continue
        try:
            there = moving.spot(folders, workspace_path(path))
        except (Unusable, Invalid) as error:
            notes.append(f"{path} was not moved: {error}")
            continue
        if moving.is_file(there):
            yield Move(path, goal)
        elif there.is_symlink():
            notes.append(f"{path} is a link and was not moved")
        else:
            notes.append(f"{path} is not there and was not moved")


def _check_way(folders: Folders, move: Move, asked: str) -> None:
    """Refuse a move that would replace something, or cannot be made."""
    try:
        origin, goal = moving.spot(folders, move.active), moving.spot(folders, move.archived)
        if not moving.is_settled(origin, goal):
            raise Rejected(
                asked, f"{move.archived} is there already; move it away, nothing was changed"
            )
    except Unusable as error:
        raise Rejected(asked, str(error)) from error
    above = next(folder for folder in goal.parents if os.path.lexists(folder))
    for folder in (above, origin.parent):
        where = os.path.relpath(folder, folders.folder(""))
        if not folder.is_dir():
            raise Rejected(asked, f"{where} is no folder; move it away")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise Rejected(asked, f"nothing can be moved in {where}; check its permissions")
    if above.stat().st_dev != origin.parent.stat().st_dev:
        raise Rejected(
            asked, f"{move.archived} is on another file system than {move.active}; mend that first"
        )


def _check_return(workspace: Workspace, handle: Handle) -> None:
    """Refuse to open a project again while something is in the place of its files."""
    if handle.state.archived is None:
        return
    update(workspace, handle)
    state, asked = handle.state, f"reopen {handle.slug}"
    with Journal.open(workspace.folder) as journal:
        check_free(workspace, journal, state, asked)
    own, target = homes.archived(state), own_target(workspace, state)
    if own is None:
        return
    for move in state.moves:
        home = target.home if target and move == own else move.active
        _check_way(Folders(workspace), Move(move.archived, home), asked)


# -- afterwards ------------------------------------------------------------------------------


def wanting(workspace: Workspace, state: Project, *, moved_now: bool) -> list[str]:
    """What of an archived project is not where it should be; nothing if all of it is.

    Where documents were moved before, others of the same name may be there by now.
    """
    own, found = homes.archived(state), list[str]()
    for move in state.moves:
        origin, goal = workspace.root / move.active, workspace.root / move.archived
        content = read_file(goal) if moving.is_file(goal) else None
        restore = "`passdown recover` restores it" if move == own else "restore it from a copy"
        left = _is_left(workspace, origin, state) if move == own else moved_now
        if left and os.path.lexists(origin):
            found.append(f"{move.active} is still there; run `passdown sync`, or move it away")
        elif content is None:
            found.append(f"{move.archived} is not there; {restore}")
        elif move == own and not _is_whole(workspace, state, content):
            found.append(f"{move.archived} cannot be read as what it is; {restore}")
    return found


def _is_whole(workspace: Workspace, state: Project, content: bytes) -> bool:
    target = own_target(workspace, state)
    return target is None or target.dialect.intact(content)


def _is_left(workspace: Workspace, place: Path, state: Project) -> bool:
    """Whether what is at a project's place is not of another, which came there since."""
    signed = stamp.read(place.read_bytes()) if moving.is_file(place) else None
    return signed is None or signed.project == state.slug
