"""The file protocol: projections on disk are kept equal to the journal, and nobody's work is lost.

    fresh     the bytes are what the journal renders now
    stale     ours, rendered from an earlier version
    missing   not there
    corrupt   empty, undecodable, cut short, or without what the dialect requires
    drifted   somebody else's words: reported, never overwritten unasked
    ahead     ours, of records that the journal does not have: perhaps all that is left of them
    taken     the path is another project's
    unusable  something that is no file stands there, or it cannot be read

Only what is stale, missing or corrupt is ever replaced. Of that the last version stays beside the
file as `.bak`. Files of trees have none: what the ledger does not know for ours is set aside, and a
file whose entry is called otherwise now is stale and removed. What an agent owns with us is never
replaced: see projections/chats.py.

Lock order: files.lock, write.lock, database; the journal's head is read under files.lock, so that
the newer state always wins.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from journal.digest import sha256
from journal.disk import lock, unlock
from journal.errors import Invalid, JournalUnavailable, NotFound, Rejected
from journal.events import DriftReverted, Event, ProjectRecovered, RecoveredFile
from journal.handle import Handle
from journal.state import Project
from journal.workspace import Workspace
from projections import atomic, ledger, lost, moving
from projections.desk import KEPT, Desk, FileState, Status, unusable
from projections.places import Folders, Unusable, read_file
from projections.settings import Target

__all__ = ["FileState", "edited", "inspect", "sync", "take_over"]


def inspect(workspace: Workspace, handle: Handle) -> list[FileState]:
    """How every file of a project stands; reads only."""
    desk = Desk(Folders(workspace), handle, handle.state, ledger.read(workspace.folder))
    found = [desk.inspect(target) for target in desk.targets()]
    if desk.project.snapshots:
        from projections import chats

        found += [chats.inspect(desk.folders, chat) for chat in chats.of(desk)]
    return found


def sync(
    workspace: Workspace,
    handle: Handle,
    *,
    recover: bool = False,
    revert: bool = False,
    adopt: bool = False,
    actor: str | None = None,
) -> list[FileState]:
    """Bring a project's files up to date.

    A corrupt one is set aside, replaced and recorded, unless it is not known to be ours; `recover`
    replaces that too, and records every file it brings back. `revert` also replaces what drifted
    or is ahead of the journal; `adopt` records first what was edited by hand.
    """
    with files_locked(workspace):
        return update(workspace, handle, recover=recover, revert=revert, adopt=adopt, actor=actor)


def update(
    workspace: Workspace,
    handle: Handle,
    *,
    recover: bool = False,
    revert: bool = False,
    adopt: bool = False,
    actor: str | None = None,
) -> list[FileState]:
    """Do what `sync` does, for a caller that holds the files already."""
    before = ledger.read(workspace.folder)
    desk = Desk(Folders(workspace), handle, handle.state, dict(before), adopt, actor)
    done = _updated(desk, recover, revert)
    if desk.project.snapshots:
        from projections import chats

        for chat in chats.of(desk):
            done.append(chats.keep(desk.folders, chat, recover=recover, revert=revert))
    news = _news(done, recover)
    if news:
        handle.append(*news, actor=actor)
    lost.sweep(workspace, desk.leftovers)
    if desk.entries != before:
        ledger.write(workspace.folder, desk.entries)
    return done


def _updated(desk: Desk, recover: bool, revert: bool) -> list[FileState]:
    """Every file brought up to date; again where an edit that was adopted changed the others."""
    done: dict[str, FileState] = {}
    held = moving.carry_out(desk)
    while True:
        version = desk.project.version
        for target in desk.targets():
            if why := held.get(target.path):
                found = FileState(target.dialect.name, target.path, "unusable", problem=why)
            else:
                found = _update(desk, target, recover, revert)
            if found.written or found.problem or found.path not in done:
                done[found.path] = found
        if desk.project.version == version:
            return list(done.values())


def _update(desk: Desk, target: Target, recover: bool, revert: bool) -> FileState:
    """Bring one file up to date, or say why not."""
    try:
        if desk.is_current(target):
            return FileState(target.dialect.name, target.path, "fresh")
        while True:
            if target.adopts:
                desk.adopt_late(target)
            status, content, wanted = desk.look(target)
            wished = target.adopts or (desk.adopting and target.dialect.adopt is not None)
            if status == "drifted" and wished and content is not None:
                desk.adopt(target, content)
                continue
            known = desk.entry(target) is not None
            kept = problem = ""
            if status == "corrupt" and content and not (known or recover or revert):
                problem = (
                    f"{target.path} is no {target.dialect.name} file and, as far as is known, "
                    "not Passdown's; `passdown recover` puts the journal's version there and "
                    "keeps what it was"
                )
            elif status == "taken" or (status in KEPT and not revert):
                problem = desk.problem(target, status)
            elif status == "missing" and not recover and (goal := moving.taken_away(desk, target)):
                problem = (
                    f"{target.path} was moved to {goal} outside Passdown; move it back, so that "
                    "`passdown drift --adopt` records what is new in it and `passdown archive` "
                    "archives it, or have `passdown recover` write it anew"
                )
            if problem:
                return FileState(target.dialect.name, target.path, status, problem=problem)
            written = status != "fresh"
            if written:
                path = desk.place(target)
                if target.backed:
                    lost.clear_beside(desk.folders.workspace, path)
                if content is not None and not _is_expendable(desk, target, status, content):
                    kept = lost.set_aside(desk.folders.workspace, path.name, content)
                try:
                    if target.gone and content is not None:
                        atomic.remove(path, content)
                    elif not target.gone:
                        backup = atomic.backup_of(path) if target.backed else None
                        atomic.replace(path, wanted, content, backup)
                except atomic.Displaced:
                    continue
            elif target.dialect.moves:
                # Once it is archived there is no next write, which would do away with leftovers.
                lost.tidy(desk.folders.workspace, desk.place(target), wanted)
            if target.gone:
                desk.entries.pop(desk.key(target), None)
            elif written or not desk.is_noted(target, wanted):
                desk.enter(target, wanted, content if written else None)
            return FileState(target.dialect.name, target.path, status, written, kept)
    except (Unusable, OSError) as e:
        return unusable(target, e)
    except (Invalid, Rejected, NotFound) as e:
        problem = f"{target.path} was edited and cannot be adopted: {e}"
        return FileState(target.dialect.name, target.path, "drifted", problem=problem)


def _is_expendable(desk: Desk, target: Target, status: Status, content: bytes) -> bool:
    """Whether displaced bytes need not be set aside, since something else has them.

    Of what has no backup only the journal could have them: the ledger must say so.
    """
    if status in ("corrupt", *KEPT):
        return False
    entry = desk.entry(target)
    return target.backed or (entry is not None and entry.digest == sha256(content).hexdigest())


def edited(workspace: Workspace, handle: Handle) -> list[tuple[Target, bytes, Project]]:
    """The files that somebody else wrote into, and the state that each was rendered from."""
    desk = Desk(Folders(workspace), handle, handle.state, ledger.read(workspace.folder))
    found = []
    for target in desk.targets():
        with suppress(Unusable, OSError):
            status, content, _ = desk.look(target)
            if status == "drifted" and content is not None:
                base, _ = desk.base(content, desk.entry(target))
                found.append((target, content, base or desk.project))
    return found


def take_over(workspace: Workspace, handle: Handle, path: Path, content: bytes) -> None:
    """Know a file that was adopted as the project's own, if it stands where that is written to."""
    with files_locked(workspace):
        desk = Desk(Folders(workspace), handle, handle.state, ledger.read(workspace.folder))
        for target in desk.targets():
            with suppress(Unusable, OSError):
                place = desk.place(target)
                if os.path.realpath(path) == str(place) and read_file(place) == content:
                    desk.enter(target, content)
        ledger.write(workspace.folder, desk.entries)


def _news(done: list[FileState], recover: bool) -> list[Event]:
    """What is worth recording about a sync."""
    restored = [
        RecoveredFile(file.path, file.status, file.kept)
        for file in done
        if file.written
        and (file.status == "corrupt" or (recover and file.status in ("missing", "stale")))
    ]
    news: list[Event] = [
        DriftReverted(file.path, file.kept) for file in done if file.written and file.status in KEPT
    ]
    news += [
        ProjectRecovered("files", tuple(restored[n : n + _AT_ONCE]))
        for n in range(0, len(restored), _AT_ONCE)
    ]
    return news


#: So many restored files fit into one record.
_AT_ONCE = 1000


@contextmanager
def files_locked(workspace: Workspace) -> Iterator[None]:
    """Write files of the workspace while nobody else does."""
    path = workspace.folder / "files.lock"
    try:
        descriptor = lock(path)
    except OSError as e:
        raise JournalUnavailable(
            f"{path} cannot be taken: {e.strerror}; no file was written, the journal is complete: "
            "mend that and run `passdown sync`"
        ) from e
    try:
        yield
    finally:
        unlock(descriptor)
