"""The embedded engine: one SQLite file in WAL mode, and a lock file that lets writers queue.

A writer takes `flock` on write.lock and only then asks SQLite for the write lock: the kernel wakes
waiters in turn, where SQLite's busy handler sleeps and races. Acknowledged means that COMMIT
returned under `synchronous=FULL`.
"""

import fcntl
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from itertools import groupby, islice
from pathlib import Path

from journal import forks
from journal.clock import now
from journal.connection import Connection, ends_before, open_reader, open_writer
from journal.disk import fsync, lock
from journal.doubtful import doubtful
from journal.errors import (
    Conflict,
    JournalDamaged,
    JournalUnavailable,
    Rejected,
)
from journal.explained import explained
from journal.pages import Pages, last_logged, log_of
from journal.record import GENESIS, Draft, Record, link
from journal.schema import STATEMENTS, migrate
from journal.store import Flaw, Head, Masked

_CHUNK = 1000
#: So much memory may hold pages while many records are added at once.
_ROOM = 1 << 27
#: What the name of a journal begins with while it is being made.
NEW = "journal.db.new-"
_COLUMNS = (
    "position, project, version, id, type, data, salt, commitment, "
    "at, occurred, actor, session, cause, hash"
)
_INSERT = f"INSERT INTO records ({_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
_HEAD = """SELECT h.version, h.hash, r.at, (SELECT max(position) FROM records) FROM heads h
LEFT JOIN records r ON r.project = h.project AND r.version = h.version WHERE h.project = ?"""
#: Every project that has a head or records, found with one look into the index for each.
_HEADS = """WITH RECURSIVE recorded(project) AS (
  SELECT min(project) FROM records
  UNION ALL
  SELECT (SELECT min(project) FROM records WHERE project > recorded.project)
  FROM recorded WHERE project IS NOT NULL
), known AS (
  SELECT project FROM recorded WHERE project IS NOT NULL UNION SELECT project FROM heads
)
SELECT k.project, h.version, h.hash FROM known k LEFT JOIN heads h ON h.project = k.project
ORDER BY k.project"""
_MASK = """UPDATE records SET data = ?, actor = ?, session = ?, salt = NULL
WHERE project = ? AND version = ? AND salt IS NOT NULL"""
_ANY = "SELECT 1 FROM records WHERE project = ? LIMIT 1"
_LAST = "SELECT max(version) FROM records WHERE project = ?"
_MOVE_HEAD = """INSERT INTO heads (project, version, hash) VALUES (?,?,?)
ON CONFLICT (project) DO UPDATE SET version = excluded.version, hash = excluded.hash"""


class SqliteStore(forks.Forkable):
    """A journal in the file `journal.db` of a folder."""

    def __init__(self, folder: Path, clock: Callable[[], int] = now) -> None:
        self.path = folder / "journal.db"
        self._lock_path = folder / "write.lock"
        self._clock = clock
        self._closed = False
        self._reader: Connection | None = None
        self._writer: Connection | None = None
        self._lock: int | None = None
        self.begin()
        forks.watch(self)

    def begin(self) -> None:
        """Have locks of one's own; what the write lock says about the parent stays with it."""
        self._reading = threading.Lock()
        self._writing = threading.RLock()
        self._depth = 0
        self._release_lock()

    def disconnect(self) -> None:
        """Close the connections; whoever calls knows that nobody uses them."""
        with suppress(sqlite3.Error):
            if self._reader is not None:
                self._reader.close()
            if self._writer is not None:
                self._writer.close()
        self._reader = self._writer = None

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
        try:
            with store.locked():
                if not os.path.lexists(store.path):
                    store._put_in_place(store._build(()))
        finally:
            store.close()  # what it holds open is not held by the one that is returned
        return cls.open(folder, clock)

    def rebuild(self, chains: Iterable[Sequence[Record]], aside: Path) -> None:
        """A new journal of these chains; what was in its place is moved to `aside`.

        Killed at any moment, all of it is in the old file or in the new one beside it, and
        salvage reads both.
        """
        with self.locked():
            self.replace(self._build(chains), aside)

    def replace(self, fresh: Path, aside: Path) -> None:
        """Put a journal in the place of what is there, which is moved to `aside`."""
        with self.locked():
            for suffix in ("", "-wal", "-shm"):
                old = self.path.with_name(f"journal.db{suffix}")
                if os.path.lexists(old):
                    aside.mkdir(parents=True, exist_ok=True)
                    os.rename(old, aside / old.name)
            self._put_in_place(fresh)

    def copy(self, path: Path) -> None:
        """Make a copy in a file that is not there yet, as of one moment, while others write."""
        with self._read() as connection:
            connection.execute("VACUUM INTO ?", (str(path),))
        fsync(path)

    def _build(self, chains: Iterable[Sequence[Record]]) -> Path:
        """A whole journal under another name."""
        fresh = self.path.with_name(f"{NEW}{os.urandom(4).hex()}")
        try:
            with explained(self.path, "create the journal"):
                _fill(fresh, chains)
        except BaseException:
            for part in fresh.parent.glob(f"{fresh.name}*"):
                part.unlink()
            raise
        return fresh

    def _put_in_place(self, fresh: Path) -> None:
        with explained(self.path, "create the journal"):
            os.rename(fresh, self.path)
            # From now on a folder without journal.db has lost one: `workspace.create` looks here.
            self._lock_path.write_text("a journal was made here\n")
            fsync(self.path.parent)
            for leftover in self.path.parent.glob(f"{NEW}*"):
                leftover.unlink()

    @contextmanager
    def _read(self) -> Iterator[sqlite3.Connection]:
        self._check_open()
        with self._reading, forks.gate, explained(self.path, "read the journal"):
            if self._reader is None or not self._reader.usable:
                self._reader = open_reader(self.path)
            yield self._reader

    def _check_open(self) -> None:
        if self._closed:
            raise JournalUnavailable(f"the journal {self.path} was closed; open it again")

    def close(self) -> None:
        """Let go of the connections; the last writer to close checkpoints, so under the lock."""
        self._closed = True
        with ExitStack() as stack:
            if self._writer is not None:
                stack.enter_context(self._alone())
            stack.enter_context(self._writing)
            stack.enter_context(self._reading)
            with forks.gate:
                self.disconnect()
        self._release_lock()

    def _release_lock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    # -- reading -----------------------------------------------------------------------------

    def heads(self) -> list[Head]:
        """The head of every project, by name."""
        with self._read() as connection:
            rows = connection.execute(_HEADS).fetchall()
        for project, version, _ in rows:
            if version is None:
                raise _headless(project)
        return [Head(*row) for row in rows]

    def head(self, project: str) -> Head | None:
        """The head of one project; None if it has no records."""
        with self._read() as connection:
            row = connection.execute(
                "SELECT project, version, hash FROM heads WHERE project = ?", (project,)
            ).fetchone()
            if row is None and connection.execute(_ANY, (project,)).fetchone():
                raise _headless(project)
        return Head(*row) if row else None

    def read(
        self, project: str, after: int = 0, upto: int | None = None, type: str | None = None
    ) -> Iterator[Record]:
        """The records of a project with after < version <= upto, in order; of one type, if given.

        What is read while others write is as if read bit by bit: each record is whole.
        """
        last = 2**63 - 1 if upto is None else upto
        of_type, wanted = ("", ()) if type is None else ("AND type = ? ", (type,))
        while after < last:
            with self._read() as connection:
                rows = connection.execute(
                    f"SELECT {_COLUMNS} FROM records WHERE project = ? AND version > ? "
                    f"AND version <= ? {of_type}ORDER BY version LIMIT ?",
                    (project, after, last, *wanted, _CHUNK),
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

    def append(
        self,
        project: str,
        expected: int,
        drafts: Sequence[Draft],
        previous: bytes | None = None,
    ) -> list[Record]:
        """Append all or nothing, durably, if the project is at `expected`; else raise Conflict.

        With `previous`, the record at that version must also have this hash.
        """
        with self._writing_to(f"append to {project}") as connection:
            return self._insert(connection, project, expected, drafts, previous)

    def redact(
        self,
        project: str,
        expected: int,
        masks: Sequence[Masked],
        drafts: Sequence[Draft] = (),
        previous: bytes | None = None,
    ) -> list[Record]:
        """Append as `append` does, and in the same stroke put masks in the place of what earlier
        records hold; a record is redacted once, and one that has no salt is refused."""
        with self._writing_to(f"redact records of {project}") as connection:
            records = self._insert(connection, project, expected, drafts, previous)
            for mask in masks:
                new = mask.data, mask.actor, mask.session, project, mask.version
                if mask.version > expected or connection.execute(_MASK, new).rowcount != 1:
                    raise Rejected(
                        f"redact version {mask.version} of {project}",
                        "it is not there, or was redacted before",
                    )
            return records

    def scrub(self) -> bool:
        """Leave nothing of what was redacted in any file of the engine; False if somebody who is
        still reading holds that up, and it has to be asked for again.

        What was freed is zeros already. But where a page was split or merged, its cells were
        copied, and what they left behind is not; so the file is written anew.
        """
        with self._alone(), explained(self.path, "scrub the journal"):
            for unfinished in self.path.parent.glob(f"{NEW}*"):
                unfinished.unlink()
            with forks.gate:
                connection = self._connected()
                connection.execute("VACUUM")
                busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return not busy

    def extend(self, records: Iterable[Record]) -> int:
        """Append records as they are, all or nothing; how many they were.

        They come project by project, each at the version after the one before it, or Conflict is
        raised; that they form a chain is for the caller to know. Only the position is the store's.
        """
        count = 0
        with self._writing_to("add records") as connection:
            # Pages that spill into the log in the middle of it are looked for there ever after.
            connection.execute(f"PRAGMA cache_size = -{_ROOM >> 10}")
            position = connection.execute("SELECT max(position) FROM records").fetchone()[0] or 0
            for project, own in groupby(records, lambda record: record.project):
                row = connection.execute(_HEAD, (project,)).fetchone()
                version, hash = (row[0], row[1]) if row else (0, GENESIS)
                while some := list(islice(own, _CHUNK)):
                    for expected, record in enumerate(some, start=version + 1):
                        if record.version != expected:
                            raise Conflict(project, record.version - 1, expected - 1)
                    rows = [(position + n, *each.row()[1:]) for n, each in enumerate(some, start=1)]
                    connection.executemany(_INSERT, rows)
                    version, hash = some[-1].version, some[-1].hash
                    position += len(some)
                    count += len(some)
                connection.execute(_MOVE_HEAD, (project, version, hash))
        return count

    @contextmanager
    def _writing_to(self, doing: str) -> Iterator[Connection]:
        """A transaction that nobody else writes beside; whatever goes wrong undoes it."""
        self._check_open()
        with self._alone(), explained(self.path, doing):
            if self._writer is None:
                with self._read():
                    pass  # which finds the log sound, or says that it is not
            with forks.gate:
                connection = self._connected()
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield connection
                    connection.execute("COMMIT")
                except BaseException:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise

    def _connected(self) -> Connection:
        """The connection that writes, to the file that is at its place now."""
        if self._writer is None or not self._writer.usable:
            self._writer = open_writer(self.path)
        return self._writer

    def _insert(
        self,
        connection: sqlite3.Connection,
        project: str,
        expected: int,
        drafts: Sequence[Draft],
        known: bytes | None,
    ) -> list[Record]:
        row = connection.execute(_HEAD, (project,)).fetchone()
        version, previous, last, position = row or (0, GENESIS, 0, None)
        if last is None:
            raise JournalDamaged(
                f"version {version} of {project} is missing although the head names it; "
                "see `passdown verify`",
                project=project,
                version=version,
            )
        if version != expected:
            if connection.execute(_LAST, (project,)).fetchone()[0] not in (version, None):
                raise _headless(project)
            raise Conflict(project, expected, version)
        if known not in (previous, None):
            raise Conflict(project, expected, version)
        at = max(self._clock(), last)
        if position is None:
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
        with self._quiet(), self._read() as connection:
            flaws = list(self._check(connection))
        yield from flaws

    def again(self) -> "Callable[[], SqliteStore]":
        """How another process opens the same journal."""
        return partial(SqliteStore.open, self.path.parent)

    @contextmanager
    def _quiet(self) -> Iterator[None]:
        """Keep writers out if that is possible; where the lock cannot be taken, nobody writes."""
        with ExitStack() as stack:
            with suppress(JournalUnavailable):
                stack.enter_context(self._alone())
            yield

    def _check(self, connection: sqlite3.Connection) -> Iterator[Flaw]:
        try:
            for (message,) in connection.execute("PRAGMA integrity_check(100)"):
                if message != "ok":
                    named = "page" in message.lower() or "row" in message or "index" in message
                    yield Flaw(f"SQLite: {message}{'' if named else ' (page 1, the header)'}")
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
            log = log_of(self.path)
            for project, version in last_logged(log, log.frames).items():
                if ends_before(connection, project, version) and not log.is_sound():
                    what = f"the log has version {version} of {project} where SQLite cannot read it"
                    yield Flaw(what, project)
        except (sqlite3.Error, UnicodeDecodeError) as e:
            pages = ", ".join(map(str, doubtful(Pages.of(self.path))[:8]))
            where = pages or "1, with header and schema: every other looks sound"
            yield Flaw(f"SQLite: {e} (page {where})")


def _headless(project: str) -> JournalDamaged:
    return JournalDamaged(
        f"the head of {project} does not account for its records; `passdown verify` names the "
        "damage, `passdown recover --journal` salvages what is readable",
        project=project,
    )


def _fill(path: Path, chains: Iterable[Sequence[Record]]) -> None:
    """Make a journal of these chains, and make it durable."""
    with forks.gate, closing(sqlite3.connect(path, isolation_level=None)) as connection:
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
