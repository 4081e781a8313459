"""Where the journal of a workspace is."""

import os
from pathlib import Path

from msgspec import Struct

from journal.disk import fsync
from journal.errors import JournalMissing, JournalUnavailable

FOLDER = ".passdown"


class Workspace(Struct, frozen=True):
    """A folder with a `.passdown` in it; files are projected below its root."""

    folder: Path

    @property
    def root(self) -> Path:
        """The folder that projections are written under."""
        return self.folder.parent

    def inside(self, path: str) -> Path | None:
        """Where a path really is; None if links lead it out of the workspace."""
        root = os.path.realpath(self.root)
        real = os.path.realpath(os.path.join(root, path))
        return Path(real) if os.path.commonpath((root, real)) == root else None


def find(start: Path | None = None) -> Workspace:
    """The workspace of a folder: PASSDOWN_JOURNAL, else upward, else the main git worktree's."""
    if start is None and (named := _named()):
        if not os.path.isdir(named):
            raise JournalMissing(
                f"there is no journal at {named}, which PASSDOWN_JOURNAL names; unset it, or "
                "`passdown init PROJECT` makes one in a folder that is there"
            )
        return Workspace(named)
    here = start.absolute() if start else _here()
    if here.name == FOLDER and os.path.isdir(here):
        return Workspace(here)
    for folder in (here, *here.parents):
        if os.path.isdir(folder / FOLDER):
            return Workspace(folder / FOLDER)
        main = _main_worktree(folder)
        if main and os.path.isdir(main / FOLDER):
            return Workspace(main / FOLDER)
    raise JournalMissing(
        f"there is no journal in {here} or above it; `passdown init PROJECT` makes one"
    )


def choose() -> Workspace:
    """The workspace that a new project goes to, whether or not it is there yet."""
    try:
        return find()
    except JournalMissing:
        named = _named()
        if named and not os.path.isdir(named.parent):
            raise
        return Workspace(named or _here() / FOLDER)


def create(root: Path) -> Workspace:
    """The workspace of a folder, made if it is not there; it hides itself from git."""
    folder = root.absolute() / FOLDER
    if folder.is_dir():
        if not os.path.lexists(folder / "journal.db") and was_used(folder):
            raise JournalMissing(
                f"{folder} was in use and its journal.db is gone, so no empty one is put in its "
                "place; restore it from a backup, or move that folder away to begin anew"
            )
        return Workspace(folder)
    try:
        folder.mkdir()
        (folder / ".gitignore").write_text("*\n")
        fsync(folder)
        fsync(folder.parent)
    except OSError as e:
        raise JournalUnavailable(f"cannot make {folder}: {e.strerror}; nothing was changed") from e
    return Workspace(folder)


def was_used(folder: Path) -> bool:
    """Whether a journal was ever made here: the write lock says so, and all that comes later."""
    try:
        later = ("files.lock", "ledger.json", "cache", "lost")
        lock = folder / "write.lock"
        return any((folder / name).exists() for name in later) or (
            lock.exists() and lock.stat().st_size > 0
        )
    except OSError as e:
        raise JournalUnavailable(
            f"{folder} cannot be read: {e.strerror}; check its permissions"
        ) from e


def _named() -> Path | None:
    """The folder that PASSDOWN_JOURNAL means: a `.passdown`, or the one in the folder it names."""
    named = os.environ.get("PASSDOWN_JOURNAL")
    if not named:
        return None
    folder = Path(named)
    folder = folder if folder.is_absolute() else _here() / folder
    return folder if folder.name == FOLDER else folder / FOLDER


def _here() -> Path:
    try:
        return Path.cwd()
    except OSError as e:
        raise JournalUnavailable(
            "the current folder is gone; go to one that is there and ask again"
        ) from e


def _main_worktree(folder: Path) -> Path | None:
    """The main checkout that a linked git worktree belongs to."""
    link = folder / ".git"
    try:
        if not os.path.isfile(link):  # whoever opens a pipe waits for the other end
            return None
        text = os.fsdecode(link.read_bytes())
    except OSError:
        return None
    git = Path(folder, text.removeprefix("gitdir:").strip())
    return git.parents[2] if git.parent.name == "worktrees" and len(git.parents) > 2 else None
