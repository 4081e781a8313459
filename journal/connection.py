"""Connections to the journal's database, and what they refuse to connect to."""

import os
import sqlite3
import stat
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from journal.errors import (
    JournalDamaged,
    JournalForeign,
    JournalMissing,
    JournalNewer,
    JournalUnavailable,
)
from journal.explained import WAS_ONE
from journal.forks import gate
from journal.pages import last_logged, log_of
from journal.schema import APPLICATION, FORMAT
from journal.workspace import was_used

_NO_SHM = ("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_IOERR", "SQLITE_FULL")


class Connection(sqlite3.Connection):
    """A connection that remembers which files it is to."""

    names: tuple[str, str] = ("", "")
    files: tuple[int, int] = (0, 0)

    def present(self) -> tuple[int, int]:
        """The files at their place now.

        A journal can be restored under a connection, and its log can be deleted: whoever opens and
        closes the file in this process drops SQLite's locks, and the next process to close takes
        itself for the last. The log goes together with its index, and that is asked instead: to
        ask for the status of the log itself makes the next commit a third slower.
        """
        return _inode(self.names[0]), _inode(self.names[1])

    @property
    def usable(self) -> bool:
        """Whether it is still to the files at their place."""
        return self.files == self.present()

    def __del__(self) -> None:
        """Close what nobody closed, at any moment and in any thread, but not during a fork."""
        with gate, suppress(sqlite3.ProgrammingError):  # it may never have been open
            self.close()


def _look(path: Path) -> None:
    """Refuse what cannot be a journal before SQLite touches it.

    By its status only: opening and closing the file here would drop SQLite's locks on it.
    """
    try:
        found = os.stat(path)
    except FileNotFoundError:
        if not was_used(path.parent):
            raise JournalMissing(
                f"there is no journal in {path.parent} yet; `passdown init PROJECT` makes one"
            ) from None
        raise JournalMissing(
            f"there is no journal at {path}; restore it from a backup, or see "
            "`passdown recover --journal`"
        ) from None
    except OSError as e:
        raise JournalUnavailable(
            f"the journal {path} cannot be read: {e.strerror}; check its permissions"
        ) from e
    if stat.S_ISDIR(found.st_mode):
        raise JournalForeign(
            f"{path} is a folder, not a journal; move it away and restore the journal"
        )
    if not found.st_size:
        raise JournalForeign(f"{path} is empty; {WAS_ONE}")


def _connect(path: Path, mode: str) -> Connection:
    _look(path)
    connection = sqlite3.connect(
        f"file:{quote(os.fsencode(path))}?{mode}",
        uri=True,
        timeout=5,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=32,
        factory=Connection,
    )
    try:
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
    except sqlite3.DatabaseError as e:
        connection.close()
        if e.sqlite_errorname != "SQLITE_CORRUPT":
            raise
        raise JournalDamaged(
            f"the header of {path}, on page 1, is damaged ({e}); `passdown recover --journal` "
            "salvages what is readable"
        ) from e
    if application != APPLICATION:
        connection.close()
        raise JournalForeign(
            f"{path} is a SQLite database of another program; move it away and restore the journal"
        )
    if version > FORMAT:
        connection.close()
        raise JournalNewer(
            f"{path} has format {version}, this Passdown knows {FORMAT}; upgrade passdown"
        )
    connection.names = str(path), f"{path}-shm"
    connection.files = connection.present()
    return connection


def _hides_records(path: Path, connection: sqlite3.Connection) -> bool:
    """Whether the log has a later head than SQLite shows, because SQLite cannot read it.

    Of a writer that was killed while it committed SQLite shows nothing yet, and the log is
    sound all the same; of one that is just committing, it soon is.
    """
    for pause in (0.02, 0.1, 0.3, 0):
        log = log_of(path)
        logged = last_logged(log, log.last_transaction())
        ahead = any(ends_before(connection, *last) for last in logged.items())
        if not ahead or log.is_sound():
            return False
        time.sleep(pause)
    return True


def open_reader(path: Path) -> Connection:
    """A connection that only reads; a log that hides records is refused."""
    try:
        connection = _connect(path, "mode=ro")
    except sqlite3.OperationalError as e:
        # In a folder that cannot be written, or on a full disk, SQLite cannot make the -shm
        # that WAL mode wants. Without a -wal there is nothing it would be needed for.
        wal = path.with_name("journal.db-wal")
        if not e.sqlite_errorname.startswith(_NO_SHM) or (wal.exists() and wal.stat().st_size):
            raise
        return _connect(path, "immutable=1")
    if _hides_records(path, connection):
        connection.close()
        raise JournalDamaged(
            f"the log of {path} goes on where SQLite cannot read it, and what is appended "
            "now would be written over acknowledged records; `passdown recover --journal` "
            "keeps every record before the damage"
        )
    return connection


def open_writer(path: Path) -> Connection:
    """A connection that appends, durably. Closing the last one truncates the log, so that a reader
    must have found it sound."""
    connection = _connect(path, "mode=rw")
    # An automatic checkpoint runs inside COMMIT, and so under our lock: no commit races it.
    connection.execute("PRAGMA wal_autocheckpoint = 1000")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")
    return connection


def ends_before(connection: sqlite3.Connection, project: str, version: int) -> bool:
    row = connection.execute("SELECT version FROM heads WHERE project = ?", (project,)).fetchone()
    return row is None or (isinstance(row[0], int) and row[0] < version)


def _inode(path: str) -> int:
    try:
        return os.stat(path).st_ino
    except FileNotFoundError:
        return 0
