"""The embedded engine: the contract of every store, and what only SQLite can get wrong."""

import os
import signal
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from store_contract import StoreContract, draft

from journal.clock import now
from journal.errors import (
    JournalDamaged,
    JournalError,
    JournalForeign,
    JournalMissing,
    JournalNewer,
    JournalUnavailable,
)
from journal.sqlite import SqliteStore
from journal.store import Store


class TestContract(StoreContract):
    """SQLite keeps the contract of every store."""

    def open(self, folder: Path, clock: Callable[[], int] = now) -> Store:
        """A store on the folder, both made if there is none."""
        folder.mkdir(exist_ok=True)
        return SqliteStore.create(folder, clock)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a journal of three records, closed."""
    store = SqliteStore.create(tmp_path)
    store.append("app", 0, [draft(1), draft(2), draft(3)])
    store.close()
    return tmp_path


@pytest.fixture
def raw(folder: Path) -> Iterator[sqlite3.Connection]:
    """A connection of somebody who goes around the journal."""
    with closing(sqlite3.connect(folder / "journal.db", isolation_level=None)) as connection:
        yield connection


_COPY = """INSERT OR REPLACE INTO records
SELECT {position}, project, {version}, {id}, type, x'7b7d', salt, commitment, at, occurred, actor,
session, cause, hash FROM records WHERE version = 2"""


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE records SET data = x'7b7d' WHERE version = 2",
        "UPDATE records SET actor = 'eve'",
        "UPDATE records SET salt = NULL, hash = zeroblob(32)",
        "UPDATE records SET salt = NULL, commitment = zeroblob(32)",
        "UPDATE records SET salt = NULL, type = 'x.y'",
        "UPDATE records SET salt = NULL, at = at + 1",
        "UPDATE records SET salt = NULL, occurred = 1",
        "UPDATE records SET salt = NULL, cause = 'x'",
        "UPDATE records SET salt = NULL, id = id || 'x'",
        "UPDATE records SET salt = NULL, project = 'web'",
        "UPDATE records SET salt = NULL, position = position + 10",
        "UPDATE OR REPLACE records SET version = 3, salt = NULL WHERE version = 2",
        "DELETE FROM records",
        "DELETE FROM records WHERE version = 3",
        _COPY.format(position=99, version=2, id="'new'"),
        _COPY.format(position=99, version=4, id="id"),
        _COPY.format(position="position", version=4, id="'new'"),
        _COPY.format(position=99, version=5, id="'new'"),
        _COPY.format(position=99, version=0, id="'new'"),
    ],
)
def test_records_are_never_changed(raw: sqlite3.Connection, statement: str) -> None:
    """Changing, deleting, replacing and leaving a gap abort, even for who goes around the API."""
    before = raw.execute("SELECT * FROM records").fetchall()
    with pytest.raises(sqlite3.IntegrityError, match="records are"):
        raw.execute(statement)
    assert raw.execute("SELECT * FROM records").fetchall() == before


def test_the_shape_of_a_redaction_is_allowed(raw: sqlite3.Connection) -> None:
    """The salt may go, and with it payload, actor and session may be masked."""
    raw.execute(
        "UPDATE records SET salt = NULL, data = x'7b7d', actor = NULL, session = NULL "
        "WHERE version = 2"
    )
    found = raw.execute("SELECT salt, data, actor FROM records WHERE version = 2").fetchone()
    assert found == (None, b"{}", None)
    with pytest.raises(sqlite3.IntegrityError, match="never changed"):
        raw.execute("UPDATE records SET data = x'7b20' WHERE version = 2")


def test_the_file_says_what_it_is(raw: sqlite3.Connection) -> None:
    """The header carries application id and format, and the journal is in WAL mode."""
    assert raw.execute("PRAGMA application_id").fetchone() == (0x50415344,)
    assert raw.execute("PRAGMA user_version").fetchone() == (1,)
    assert raw.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_newer_format_is_not_touched(folder: Path, raw: sqlite3.Connection) -> None:
    """A journal of a later format is refused with the word to upgrade."""
    raw.execute("PRAGMA user_version = 2")
    with pytest.raises(JournalNewer, match="upgrade"):
        SqliteStore.open(folder)


def test_a_missing_journal_is_named(tmp_path: Path) -> None:
    """Opening does not create."""
    with pytest.raises(JournalMissing, match="no journal"):
        SqliteStore.open(tmp_path)
    assert not (tmp_path / "journal.db").exists()


@pytest.mark.parametrize("content", [b"", b"hello", b"not a database " * 1000])
def test_a_file_that_is_no_database_is_foreign(tmp_path: Path, content: bytes) -> None:
    """An empty or other file is refused and left as it was."""
    path = tmp_path / "journal.db"
    path.write_bytes(content)
    for way in (SqliteStore.open, SqliteStore.create):
        with pytest.raises(JournalForeign):
            way(tmp_path)
    assert path.read_bytes() == content


def test_a_folder_is_foreign(tmp_path: Path) -> None:
    """A folder at the journal's place is refused."""
    (tmp_path / "journal.db").mkdir()
    with pytest.raises(JournalForeign, match="folder"):
        SqliteStore.open(tmp_path)


def test_a_database_of_another_program_is_foreign(tmp_path: Path) -> None:
    """Somebody else's SQLite file is refused and left as it was."""
    path = tmp_path / "journal.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE notes (text)")
    content = path.read_bytes()
    with pytest.raises(JournalForeign, match="another program"):
        SqliteStore.create(tmp_path)
    assert path.read_bytes() == content


@pytest.fixture
def nobody() -> Iterator[Path]:
    """A folder for a user whom permissions bind, which they do not do for root."""
    with tempfile.TemporaryDirectory() as folder:
        user = os.geteuid()
        if user == 0:
            os.chown(folder, 65534, -1)
            os.seteuid(65534)
        try:
            yield Path(folder)
        finally:
            os.seteuid(user)


def test_a_read_only_journal_is_read_and_not_written(nobody: Path) -> None:
    """Reading a read-only file works, appending says that nothing was recorded."""
    with closing(SqliteStore.create(nobody)) as store:
        store.append("app", 0, [draft(1)])
    (nobody / "journal.db").chmod(0o444)
    with closing(SqliteStore.open(nobody)) as store:
        assert len(list(store.read("app"))) == 1
        with pytest.raises(JournalUnavailable, match="readonly"):
            store.append("app", 1, [draft(2)])


def test_a_journal_in_a_read_only_folder_is_read(nobody: Path) -> None:
    """Where not even SQLite's own side files can be made, the journal is still read."""
    with closing(SqliteStore.create(nobody)) as store:
        store.append("app", 0, [draft(1)])
    nobody.chmod(0o555)
    try:
        with closing(SqliteStore.open(nobody)) as store:
            assert len(list(store.read("app"))) == 1
            with pytest.raises(JournalUnavailable):
                store.append("app", 1, [draft(2)])
    finally:
        nobody.chmod(0o777)


def _move_away(folder: Path) -> Path:
    away = folder / "away"
    away.mkdir()
    for path in folder.glob("journal.db*"):
        path.rename(away / path.name)
    return away


def test_a_journal_that_was_moved_away_is_missed(folder: Path) -> None:
    """A store does not go on reading or writing a file that is no longer at its place."""
    store = SqliteStore.open(folder)
    store.append("app", 3, [draft(4)])
    _move_away(folder)
    with pytest.raises(JournalMissing):
        store.head("app")
    with pytest.raises(JournalMissing):
        store.append("app", 4, [draft(5)])
    store.close()


@pytest.mark.parametrize("read_first", [False, True])
def test_a_journal_that_was_replaced_is_noticed(folder: Path, read_first: bool) -> None:
    """After a restore, an open store reads from and appends to the file that is there now."""
    store = SqliteStore.open(folder)
    store.append("app", 3, [draft(4)])
    away = _move_away(folder)
    SqliteStore.create(folder).close()
    if read_first:
        assert store.heads() == []
    store.append("web", 0, [draft(1)])
    assert [head.project for head in store.heads()] == ["web"]
    fresh = SqliteStore.open(folder)
    assert [head.project for head in fresh.heads()] == ["web"]
    assert [head.project for head in SqliteStore.open(away).heads()] == ["app"]
    fresh.close()
    store.close()


def test_use_after_fork(folder: Path) -> None:
    """A child goes on with the store of its parent, and so does the parent."""
    store = SqliteStore.open(folder)
    store.append("app", 3, [draft(4)])
    child = os.fork()
    if child == 0:
        code = 1
        try:
            store.append("app", 4, [draft(5)])
            code = 0 if len(list(store.read("app"))) == 5 else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    store.append("app", 5, [draft(6)])
    assert [r.id for r in store.read("app")] == [f"id-{n}" for n in range(1, 7)]
    assert list(store.check()) == []
    store.close()


def test_a_fork_under_the_lock(folder: Path) -> None:
    """A child that was forked while its parent held the lock takes it anew, after the parent."""
    store = SqliteStore.open(folder)
    with store.locked():
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(60)
            try:
                store.append("app", 4, [draft(5)])
                os._exit(0)
            finally:
                os._exit(1)
        store.append("app", 3, [draft(4)])
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert [r.id for r in store.read("app")] == [f"id-{n}" for n in range(1, 6)]
    store.close()


def test_a_crash_while_creating_leaves_no_half_journal(tmp_path: Path) -> None:
    """Leftovers of an interrupted creation are cleared and the journal is made whole."""
    (tmp_path / "journal.db.new-0a").write_bytes(b"half")
    (tmp_path / "journal.db.new-0a-journal").write_bytes(b"half")
    store = SqliteStore.create(tmp_path)
    assert store.heads() == []
    assert not list(tmp_path.glob("journal.db.new*"))
    store.close()


def test_a_changed_schema_is_found(folder: Path, raw: sqlite3.Connection) -> None:
    """The engine's check names a trigger that somebody dropped."""
    raw.execute("DROP TRIGGER records_kept")
    store = SqliteStore.open(folder)
    assert [flaw.what for flaw in store.check()] == [
        "the definition of records_kept in the database is not the journal's"
    ]
    store.close()


def test_errors_are_in_our_words(folder: Path) -> None:
    """No sqlite3 error leaves the store."""
    content = bytearray((folder / "journal.db").read_bytes())
    content[100:3000] = os.urandom(2900)
    (folder / "journal.db").write_bytes(content)
    with pytest.raises(JournalError):
        list(SqliteStore.open(folder).read("app"))


def test_a_commit_that_was_killed_is_no_damage(folder: Path) -> None:
    """A log that goes on behind what SQLite shows is read, if it is sound to its end."""
    store = SqliteStore.open(folder)
    store.append("app", 3, [draft(4)])
    wal, index = folder / "journal.db-wal", folder / "journal.db-shm"
    before = index.read_bytes()
    store.append("app", 4, [draft(5)])
    logged = wal.read_bytes()
    copy = folder / "copy"
    copy.mkdir()
    for path, content in ((wal, logged), (index, before), (store.path, store.path.read_bytes())):
        (copy / path.name).write_bytes(content)
    other = SqliteStore.open(copy)
    assert list(other.check()) == []
    other.close()
    store.close()


@pytest.mark.parametrize(
    "damage", ["DELETE FROM heads", "UPDATE heads SET version = 2", "UPDATE heads SET version = 9"]
)
def test_a_head_that_lies(folder: Path, raw: sqlite3.Connection, damage: str) -> None:
    """Records that their head does not account for are damage, never an empty journal."""
    raw.execute(damage)
    store = SqliteStore.open(folder)
    with pytest.raises(JournalDamaged, match="app"):
        store.append("app", 3, [draft(4)])
    if damage.startswith("DELETE"):
        with pytest.raises(JournalDamaged, match="app"):
            store.head("app")
        with pytest.raises(JournalDamaged, match="app"):
            store.heads()
    store.close()
