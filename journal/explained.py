"""SQLite's errors, and the disk's, in the words of this house."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from journal.errors import JournalDamaged, JournalError, JournalForeign, JournalUnavailable

WAS_ONE = (
    "nothing was changed: restore a backup, or if it was a journal once, `passdown recover "
    "--journal` salvages what is readable"
)
_UNWRITABLE = ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")


@contextmanager
def explained(path: Path, doing: str) -> Iterator[None]:
    """Have whatever goes wrong with the database at a path say what was being done."""
    try:
        yield
    except OSError as e:
        raise JournalUnavailable(
            f"cannot {doing} ({path}): {e.strerror}; nothing was recorded"
        ) from e
    except (sqlite3.Error, UnicodeDecodeError) as e:
        # What SQLite says of a damaged schema may itself not be text.
        raise _in_words(e, path, f"cannot {doing} ({path})") from e


def _in_words(error: sqlite3.Error | UnicodeDecodeError, path: Path, where: str) -> JournalError:
    name = getattr(error, "sqlite_errorname", "") or ""
    if name == "SQLITE_FULL" or (name.startswith("SQLITE_IOERR") and _is_full(path)):
        return JournalUnavailable(f"{where}: the disk is full; nothing was recorded")
    if name.startswith("SQLITE_BUSY"):
        return JournalUnavailable(f"{where}: another program holds it; try again")
    if name.startswith(_UNWRITABLE):
        closed = ", ".join(_unwritable(path)) or "the file and its folder"
        return JournalUnavailable(f"{where}: {error}; nothing was recorded: make {closed} writable")
    if name.startswith("SQLITE_IOERR"):
        return JournalUnavailable(f"{where}: {error}; check the disk, nothing was recorded")
    if name == "SQLITE_NOTADB":
        return JournalForeign(f"{path} is not a SQLite database; {WAS_ONE}")
    return JournalDamaged(
        f"{where}: {error}; `passdown verify` names the damage, "
        "`passdown recover --journal` salvages what is readable"
    )


def _is_full(path: Path) -> bool:
    space = os.statvfs(path.parent)
    return space.f_bavail * space.f_frsize < 65_536


def _unwritable(path: Path) -> list[str]:
    """Which of the files that SQLite has to write may not be written."""
    names = (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm"))
    present = [name for name in (path.parent, *names) if name.exists()]
    return [str(name) for name in present if not os.access(name, os.W_OK)]
