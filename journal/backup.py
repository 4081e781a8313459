"""A copy of a whole journal, made while others write, and the way back."""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from msgspec import Struct

from journal.audit import audit
from journal.disk import fsync
from journal.errors import (
    Invalid,
    JournalError,
    JournalNewer,
    JournalUnavailable,
    Rejected,
)
from journal.schema import APPLICATION
from journal.sqlite import SqliteStore
from journal.store import Flaw, Head, Store
from journal.workspace import FOLDER, Workspace


class Restored(Struct, frozen=True):
    """What is in the journal now, and where the old one is kept, if there was one."""

    heads: list[Head]
    kept: str


def back_up(store: SqliteStore, target: Path) -> list[Head]:
    """Make a verified copy of a journal; an older backup at its place is replaced at the end."""
    target = Path(os.path.abspath(target))
    _check_target(target)
    with _beside(target) as folder:
        copy = folder / "journal.db"
        store.copy(copy)
        heads = _verified(folder, f"the copy for {target}")
        try:
            os.replace(copy, target)
            fsync(target.parent)
        except OSError as e:
            raise JournalUnavailable(f"{target} cannot be written: {e.strerror}") from e
    return heads


def restore(workspace: Workspace, source: Path, *, force: bool = False) -> Restored:
    """Put a backup in the place of the journal, once it is verified; the old one is set aside.

    Records that only the old one has are a reason not to, unless somebody says so.
    """
    if not source.is_file():
        raise Invalid(f"there is no backup at {source}; nothing was changed")
    with (
        closing(SqliteStore(workspace.folder)) as store,
        store.locked(),
        _beside(store.path) as folder,
    ):
        fresh = folder / "journal.db"
        _take(source, fresh)
        heads = _verified(folder, str(source))
        if not force:
            _check_lost(store, folder, source)
        with closing(sqlite3.connect(fresh, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
        fsync(fresh)
        aside = _aside(workspace)
        store.replace(fresh, aside)
    kept = os.path.relpath(aside, workspace.root) if aside.exists() else ""
    return Restored(heads, kept)


def _check_target(target: Path) -> None:
    """Refuse to write over what is no backup."""
    if FOLDER in Path(os.path.realpath(target)).parts[:-1]:
        raise Invalid(f"{target} is among the journal's own files; put the backup elsewhere")
    if not target.parent.is_dir():
        raise Invalid(f"{target.parent} is no folder; make it first")
    if os.path.lexists(target) and not is_backup(target):
        raise Invalid(f"{target} is there and is no backup of a journal; choose another name")


def is_backup(path: Path) -> bool:
    """Whether a file is a journal, by what its first bytes say."""
    try:
        with open(path, "rb") as file:
            return int.from_bytes(file.read(72)[68:], "big") == APPLICATION
    except OSError:
        return False


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """A folder of our own beside a file, for as long as it is needed."""
    folder = target.with_name(f".{target.name}.passdown-{os.urandom(4).hex()}")
    try:
        folder.mkdir()
    except OSError as e:
        raise JournalUnavailable(
            f"{target.parent} cannot be written: {e.strerror}; nothing was changed"
        ) from e
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _take(source: Path, fresh: Path) -> None:
    """Copy a backup; what somebody copied from a journal by hand may have a log beside it."""
    try:
        shutil.copyfile(source, fresh)
        log = source.with_name(f"{source.name}-wal")
        if log.is_file():
            shutil.copyfile(log, fresh.with_name("journal.db-wal"))
    except OSError as e:
        raise JournalUnavailable(
            f"{source} cannot be copied: {e.strerror}; nothing was changed"
        ) from e


def _verified(folder: Path, what: str) -> list[Head]:
    """The heads of a journal in a folder, if all of it is well."""
    with closing(SqliteStore(folder)) as copy:
        try:
            flaw = next(audit(copy), None)
        except JournalNewer:
            raise
        except JournalError as e:
            # Of the copy that was taken nobody knows, and what to do there is no advice here.
            flaw = Flaw(str(e).partition(";")[0].replace(str(folder / "journal.db"), "it"))
        if flaw:
            raise Invalid(f"{what} is no sound journal: {flaw.what}; nothing was changed")
        return copy.heads()


def _check_lost(store: SqliteStore, folder: Path, source: Path) -> None:
    """Refuse if the journal that is there has records that the backup lacks."""
    if not os.path.lexists(store.path):
        return
    asked = f"restore {source}"
    try:
        with closing(SqliteStore(folder)) as copy:
            lacking = [each for head in store.heads() if (each := _lacking(store, copy, head))]
    except JournalError as e:
        raise Rejected(
            asked,
            f"nobody can tell what the journal that is there has beyond it ({e})",
            ["recover --journal", f"restore {source} --force"],
        ) from e
    if lacking:
        raise Rejected(
            asked, f"the journal has what it lacks: {', '.join(lacking)}", [f"{asked} --force"]
        )


def _lacking(store: Store, copy: Store, head: Head) -> str:
    """What a project has that is not in a copy, in words."""
    there = copy.head(head.project)
    if there is None:
        return f"all {head.version} records of {head.project}"
    common = min(there.version, head.version)
    ours, theirs = (
        next(each.read(head.project, common - 1, common)).hash for each in (store, copy)
    )
    if ours != theirs:
        return f"another history of {head.project}"
    beyond = head.version - common
    return f"{beyond} record{'' if beyond == 1 else 's'} of {head.project}" if beyond else ""


def _aside(workspace: Workspace) -> Path:
    number = 1
    while (workspace.folder / "lost" / f"journal-{number}").exists():
        number += 1
    return workspace.folder / "lost" / f"journal-{number}"
