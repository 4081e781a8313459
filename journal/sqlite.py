"""The embedded engine: one SQLite file in WAL mode, and a lock file that lets writers queue.

A writer takes `flock` on write.lock and only then asks SQLite for the write lock: the kernel wakes
waiters in turn, where SQLite's busy handler sleeps and races. Acknowledged means that COMMIT
returned under `synchronous=FULL`.
"""

import fcntl
import os
import secrets
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from journal import forks
from journal.clock import now
from journal.disk import fsync, lock
from journal.errors import (
    Conflict,
    JournalDamaged,
    JournalError,
    JournalForeign,
    JournalMissing,
    JournalNewer,
    JournalUnavailable,
)
from journal.pages import last_logged
from journal.record import GENESIS, Draft, Record, link
from journal.schema import APPLICATION, FORMAT, STATEMENTS, migrate
from journal.store import Flaw, Head

_WAS_ONE = (
    "nothing was changed: restore a backup, or if it was a journal once, `passdown recover "
    "--journal` salvages what is readable"
)
_CHUNK = 1000
#: What the name of a journal begins with while it is being made.
NEW = "journal.db.new-"
_NO_SHM = ("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_IOERR", "SQLITE_FULL")
_COLUMNS = (
    "position, project, version, id, type, data, salt, commitment, "
    "at, occurred, actor, session, cause, hash"
)
_INSERT = f"INSERT INTO records ({_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
_HEAD = """SELECT h.version, h.hash, r.at FROM heads h
LEFT JOIN records r ON r.project = h.project AND r.version = h.version WHERE h.project = ?"""
_MOVE_HEAD = """INSERT INTO heads (project, version, hash) VALUES (?,?,?)
ON CONFLICT (project) DO UPDATE SET version = excluded.version, hash = excluded.hash"""


class _Connection(sqlite3.Connection):
    """A connection that remembers which files it is to."""

    files: tuple[int, int] = (0, 0)


class SqliteStore(forks.Forkable):
    """A journal in the file `journal.db` of a folder."""

    def __init__(self, folder: Path, clock: Callable[[], int] = now) -> None:
        self.path = folder / "journal.db"
        self._lock_path = folder / "write.lock"
        self._clock = clock
        self._closed = False
        self._reader: _Connection | None = None
        self._writer: _Connection | None = None
        self._lock: int | None = None
        self.begin()
        forks.watch(self)

    # -- forks -------------------------------------------------------------------------------

    def hold(self) -> None:
        """Wait until nobody reads or writes, and close the connections."""
        self._writing.acquire()
        self._reading.acquire()
        with suppress(JournalUnavailable, sqlite3.Error):
            self._disconnect()

    def go_on(self) -> None:
        """Let readers and writers in again."""
        self._reading.release()
        self._writing.release()

    def begin(self) -> None:
        """Have locks of one's own; what the write lock says about the parent stays with it."""
        self._reading = threading.Lock()
        self._writing = threading.RLock()
        self._depth = 0
        self._release_lock()

    # -- opening and closing -----------------------------------------------------------------

    @classmethod
    def open(cls, folder: Path, clock: Callable[[], int] = now) -> "SqliteStore":
        """The journal that is in the folder; an error that says what is there instead."""
        store = cls(folder, clock)
        with store._read():
            return store

    @classmethod
    def create(cls, folder: Path, clock: Callable[[], int] = now) -> "SqliteStore":
        """A new, empty journal; one that is there already is opened."""
        store = cls(folder, clock)
        with store.locked():
            if not os.path.lexists(store.path):
                store._put_in_place(store._build(()))
        return cls.open(folder, clock)

    def rebuild(self, chains: Iterable[Sequence[Record]], aside: Path) -> None:
        """A new journal of these chains; what was in its place is moved to `aside`.

        Killed at any moment, all of it is in the old file or in the new one beside it, and
        salvage reads both.
        """
        with self.locked():
            fresh = self._build(chains)
            aside.mkdir(parents=True, exist_ok=True)
            for suffix in ("", "-wal", "-shm"):
                old = self.path.with_name(f"journal.db{suffix}")
                if os.path.lexists(old):
                    os.rename(old, aside / old.name)
            self._put_in_place(fresh)

    def _build(self, chains: Iterable[Sequence[Record]]) -> Path:
        """A whole journal under another name."""
        fresh = self.path.with_name(f"{NEW}{secrets.token_hex(4)}")
        try:
            with self._explained("create the journal"):
                _fill(fresh, chains)
        except BaseException:
            for part in fresh.parent.glob(f"{fresh.name}*"):
                part.unlink()
            raise
        return fresh

    def _put_in_place(self, fresh: Path) -> None:
        with self._explained("create the journal"):
            os.rename(fresh, self.path)
            # From now on a folder without journal.db has lost one: `workspace.create` looks here.
            self._lock_path.write_text("a journal was made here\n")
            fsync(self.path.parent)
            for leftover in self.path.parent.glob(f"{NEW}*"):
                leftover.unlink()

    def _look(self) -> None:
        """Refuse what cannot be a journal before SQLite touches it.

        By its status only: opening and closing the file here would drop SQLite's locks on it.
        """
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            raise JournalMissing(
                f"there is no journal at {self.path}; restore it from a backup, or see "
                "`passdown recover --journal`"
            ) from None
        except OSError as e:
            raise JournalUnavailable(
                f"the journal {self.path} cannot be read: {e.strerror}; check its permissions"
            ) from e
        if stat.S_ISDIR(found.st_mode):
            raise JournalForeign(
                f"{self.path} is a folder, not a journal; move it away and restore the journal"
            )
        if not found.st_size:
            raise JournalForeign(f"{self.path} is empty; {_WAS_ONE}")

    def _usable(self, connection: _Connection) -> bool:
        """Whether a connection is to the files at their place now.

        A journal can be restored under a connection, and its log can be deleted: whoever opens and
        closes the file in this process drops SQLite's locks, and the next process to close takes
        itself for the last.
        """
        return connection.files == self._files()

    def _files(self) -> tuple[int, int]:
        log = self.path.with_name("journal.db-wal")
        return _inode(self.path), _inode(log)

    def _connect(self, mode: str) -> _Connection:
        self._look()
        name = str(self.path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        connection = sqlite3.connect(
            f"file:{name}?{mode}",
            uri=True,
            timeout=5,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=32,
            factory=_Connection,
        )
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if application != APPLICATION:
            connection.close()
            raise JournalForeign(
                f"{self.path} is a SQLite database of another program; move it away and restore "
                "the journal"
            )
        if version > FORMAT:
            connection.close()
            raise JournalNewer(
                f"{self.path} has format {version}, this Passdown knows {FORMAT}; upgrade passdown"
            )
        connection.files = self._files()
        return connection

    @contextmanager
    def _read(self) -> Iterator[sqlite3.Connection]:
        self._check_open()
        with self._reading, self._explained("read the journal"):
            if self._reader is None or not self._usable(self._reader):
                self._reader = self._open_reader()
            yield self._reader

    def _open_reader(self) -> _Connection:
        try:
            return self._connect("mode=ro")
        except sqlite3.OperationalError as e:
            # In a folder that cannot be written, or on a full disk, SQLite cannot make the -shm
            # that WAL mode wants. Without a -wal there is nothing it would be needed for.
            wal = self.path.with_name("journal.db-wal")
            if not e.sqlite_errorname.startswith(_NO_SHM) or (wal.exists() and wal.stat().st_size):
                raise
            return self._connect("immutable=1")

    def _open_writer(self) -> _Connection:
        connection = self._connect("mode=rw")
        # An automatic checkpoint runs inside COMMIT, and so under our lock: no commit races it.
        connection.execute("PRAGMA wal_autocheckpoint = 1000")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")
        return connection

    def _check_open(self) -> None:
        if self._closed:
            raise JournalUnavailable(f"the journal {self.path} was closed; open it again")

    def close(self) -> None:
        """Let go of the connections; the last writer to close checkpoints, so under the lock."""
        self._closed = True
        with self._writing, self._reading:
            self._disconnect()
            self._release_lock()

    def _disconnect(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        if self._writer is not None:
            with self._alone():
                self._writer.close()
                self._writer = None

    def _release_lock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    # -- reading -----------------------------------------------------------------------------

    def heads(self) -> list[Head]:
        """The head of every project, by name."""
        with self._read() as connection:
            rows = connection.execute("SELECT project, version, hash FROM heads ORDER BY project")
            return [Head(*row) for row in rows]

    def head(self, project: str) -> Head | None:
        """The head of one project; None if it has no records."""
        with self._read() as connection:
            row = connection.execute(
                "SELECT project, version, hash FROM heads WHERE project = ?", (project,)
            ).fetchone()
        return Head(*row) if row else None

    def read(self, project: str, after: int = 0, upto: int | None = None) -> Iterator[Record]:
        """The records of a project with after < version <= upto, in order."""
        last = 2**63 - 1 if upto is None else upto
        while after < last:
            with self._read() as connection:
                rows = connection.execute(
                    f"SELECT {_COLUMNS} FROM records WHERE project = ? AND version > ? "
                    "AND version <= ? ORDER BY version LIMIT ?",
                    (project, after, last, _CHUNK),
                ).fetchall()
            for row in rows:
                yield Record(*row)
            if len(rows) < _CHUNK:
                return
            after = rows[-1][2]

    def find(self, project: str, id: str) -> Record | None:
        """The record of a project that has this id."""
        with self._read() as connection:
            row = connection.execute(
                f"SELECT {_COLUMNS} FROM records WHERE project = ? AND id = ?", (project, id)
            ).fetchone()
        return Record(*row) if row else None

    # -- writing -----------------------------------------------------------------------------

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep every other writer out meanwhile; appends inside join in."""
        self._check_open()
        with self._alone():
            yield

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with self._writing:
            depth = self._depth
            if depth == 0:
                self._take_lock()
            self._depth = depth + 1
            try:
                yield
            finally:
                self._depth = depth
                if depth == 0 and self._lock is not None:
                    fcntl.flock(self._lock, fcntl.LOCK_UN)

    def _take_lock(self) -> None:
        try:
            if self._lock is None:
                self._lock = lock(self._lock_path)
            else:
                fcntl.flock(self._lock, fcntl.LOCK_EX)
        except OSError as e:
            raise JournalUnavailable(
                f"the write lock {self._lock_path} cannot be taken: {e.strerror}; "
                "nothing was recorded: mend that and ask again"
            ) from e

    def append(self, project: str, expected: int, drafts: Sequence[Draft]) -> list[Record]:
        """Append all or nothing, durably, if the project is at `expected`; else raise Conflict."""
        with self.locked(), self._explained(f"append to {project}"):
            if self._writer is None or not self._usable(self._writer):
                self._writer = self._open_writer()
            connection = self._writer
            connection.execute("BEGIN IMMEDIATE")
            try:
                records = self._insert(connection, project, expected, drafts)
                connection.execute("COMMIT")
                connection.files = self._files()
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            return records

    def _insert(
        self,
        connection: sqlite3.Connection,
        project: str,
        expected: int,
        drafts: Sequence[Draft],
    ) -> list[Record]:
        row = connection.execute(_HEAD, (project,)).fetchone()
        version, previous, last = row or (0, GENESIS, 0)
        if last is None:
            raise JournalDamaged(
                f"version {version} of {project} is missing although the head names it; "
                "see `passdown verify`",
                project=project,
                version=version,
            )
        if version != expected:
            raise Conflict(project, expected, version)
        at = max(self._clock(), last)
        position = connection.execute("SELECT max(position) FROM records").fetchone()[0] or 0
        records = []
        for draft in drafts:
            version += 1
            position += 1
            record = link(draft, position, project, version, previous, at)
            previous = record.hash
            records.append(record)
        connection.executemany(_INSERT, [record.row() for record in records])
        connection.execute(_MOVE_HEAD, (project, version, previous))
        return records

    # -- the engine's own health -------------------------------------------------------------

    def check(self) -> Iterator[Flaw]:
        """What SQLite finds wrong, a schema that is not ours, records that no head accounts for."""
        with self._quiet():
            with self._explained("read the journal"):
                logged = last_logged(self.path)
            with self._read() as connection:
                flaws = list(self._check(connection, logged))
        yield from flaws

    @contextmanager
    def _quiet(self) -> Iterator[None]:
        """Keep writers out if that is possible; where the lock cannot be taken, nobody writes."""
        with ExitStack() as stack:
            with suppress(JournalUnavailable):
                stack.enter_context(self._alone())
            yield

    def _check(self, connection: sqlite3.Connection, logged: dict[str, int]) -> Iterator[Flaw]:
        try:
            for (message,) in connection.execute("PRAGMA integrity_check(100)"):
                if message != "ok":
                    yield Flaw(f"SQLite: {message}")
            found = connection.execute(
                "SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'"
            )
            for name in sorted({str(name) for name, _ in {*found} ^ {*STATEMENTS.items()}}):
                yield Flaw(f"the definition of {name} in the database is not the journal's")
            stray = connection.execute(
                "SELECT r.project, max(r.version), h.version FROM records r "
                "LEFT JOIN heads h ON h.project = r.project GROUP BY r.project "
                "HAVING h.version IS NULL OR max(r.version) > h.version"
            )
            for project, version, head in stray:
                what = f"{project!s} ends at version {version}, its head says {head or 'nothing'}"
                yield Flaw(what, project=str(project), version=head)
            heads = dict(connection.execute("SELECT project, version FROM heads"))
            for project, version in logged.items():
                if isinstance(heads.get(project, 0), int) and version > heads.get(project, 0):
                    what = (
                        f"{project} ends at version {heads.get(project, 0)}, and its log, which "
                        f"cannot be read to the end, has version {version}"
                    )
                    yield Flaw(what, project, heads.get(project, 0) + 1)
        except (sqlite3.Error, UnicodeDecodeError) as e:
            yield Flaw(f"SQLite: {e}")

    @contextmanager
    def _explained(self, doing: str) -> Iterator[None]:
        """SQLite's errors, and the disk's, in the words of this house."""
        try:
            yield
        except OSError as e:
            raise JournalUnavailable(
                f"cannot {doing} ({self.path}): {e.strerror}; nothing was recorded"
            ) from e
        except (sqlite3.Error, UnicodeDecodeError) as e:
            # What SQLite says of a damaged schema may itself not be text.
            raise self._explain(e, doing) from e

    def _explain(self, error: sqlite3.Error | UnicodeDecodeError, doing: str) -> JournalError:
        name = getattr(error, "sqlite_errorname", "") or ""
        where = f"cannot {doing} ({self.path})"
        if name == "SQLITE_FULL":
            return JournalUnavailable(f"{where}: the disk is full; nothing was recorded")
        if name.startswith("SQLITE_BUSY"):
            return JournalUnavailable(f"{where}: another program holds it; try again")
        if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
            return JournalUnavailable(
                f"{where}: {error}; nothing was recorded: make the file and its folder writable"
            )
        if name.startswith("SQLITE_IOERR"):
            return JournalUnavailable(f"{where}: {error}; check the disk, nothing was recorded")
        if name == "SQLITE_NOTADB":
            return JournalForeign(f"{self.path} is not a SQLite database; {_WAS_ONE}")
        return JournalDamaged(
            f"{where}: {error}; `passdown verify` names the damage, "
            "`passdown recover --journal` salvages what is readable"
        )


def _inode(path: Path) -> int:
    try:
        return os.stat(path).st_ino
    except FileNotFoundError:
        return 0


def _fill(path: Path, chains: Iterable[Sequence[Record]]) -> None:
    """Make a journal of these chains, and make it durable."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA secure_delete = ON")
        migrate(connection)
        connection.execute("BEGIN")
        position = 0
        for chain in chains:
            for record in chain:
                position += 1
                connection.execute(_INSERT, (position, *record.row()[1:]))
            last = chain[-1]
            connection.execute(_MOVE_HEAD, (last.project, last.version, last.hash))
        connection.execute("COMMIT")
        # Last, so that the file is whole without a log: closing would not tell if one stayed.
        connection.execute("PRAGMA journal_mode = WAL")
    fsync(path)
    fsync(path.parent)
