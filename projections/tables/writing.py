"""The tables on disk: kept equal to the journal, and made anew wherever anything about them is off.

They are a cache in the form of a database: nobody's words are in them that are not in the journal,
so what somebody else wrote into them is not kept. Whoever has them open goes on reading what was
there: they change in one transaction, or are replaced by rename.
"""

import os
import secrets
import sqlite3
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Literal, NamedTuple

from journal import Journal
from journal.disk import fsync
from journal.errors import Invalid, JournalUnavailable
from journal.handle import Handle
from journal.state import Project
from journal.workspace import Workspace
from projections.desk import FileState, Status
from projections.files import files_locked
from projections.settings import FILE as SETTINGS
from projections.tables import schema
from projections.tables.rows import Cell, Row, rows
from projections.tables.schema import COLUMNS

FILE = "tables.db"
NAME = "tables"

#: How long a writer waits for somebody who reads, in seconds; after that the tables are made anew.
_PATIENCE = 0.5
_BESIDES = ("-journal", "-wal", "-shm")


class Shown(NamedTuple):
    """The record of a project that its rows are of."""

    version: int
    hash: str


class Found(NamedTuple):
    """How the tables stand, and what they show of each project if they are as they were left."""

    status: Status
    shown: dict[str, Shown]


def shown(project: Project) -> Shown:
    """What tables show that are of this state."""
    return Shown(project.version, project.hash.hex())


def examine(path: Path) -> Found:
    """Whether the tables are as they were left; reads only. What is `fresh` may be of long ago."""
    try:
        traits = path.stat()
    except FileNotFoundError:
        return Found("missing", {})
    if not stat.S_ISREG(traits.st_mode):
        return Found("unusable", {})
    try:
        with closing(connect(path, "ro")) as connection:
            made, form = _form(connection)
            if made != schema.APPLICATION:
                return Found("corrupt", {})
            if form != schema.FORMAT:
                return Found("stale", {})
            lines = connection.execute("SELECT project, version, hash, written FROM passdown_meta")
            known = list(lines)
    except sqlite3.Error:
        return Found("corrupt", {})
    if not known or any(written != traits.st_mtime_ns for _, _, _, written in known):
        return Found("drifted", {})
    return Found("fresh", {project: Shown(version, hash) for project, version, hash, _ in known})


def inspect(workspace: Workspace, handles: Sequence[Handle], *, whole: bool = False) -> FileState:
    """How the tables stand, looked at as closely as can be; reads only."""
    path = workspace.folder / FILE
    status, known = examine(path)
    if status == "fresh":
        status = _against(path, known, [handle.state for handle in handles], whole)
    return _found(workspace, status)


def keep(
    workspace: Workspace, handles: Sequence[Handle], *, whole: bool = False, thorough: bool = False
) -> FileState:
    """Bring the rows of these projects up to date; `whole` says that there are no others.

    What is not as it was left is made anew, of every project; a thorough look finds also what was
    damaged without a trace. What goes wrong is a sentence in the answer: nobody's work depends on
    the tables.
    """
    path = workspace.folder / FILE
    with files_locked(workspace):
        status, known = examine(path)
        states = [handle.state for handle in handles]
        if status == "fresh":
            if thorough:
                status = _against(path, known, states, whole)
            elif _is_behind(known, states, whole):
                status = "stale"
        if status in ("fresh", "unusable"):
            return _found(workspace, status)
        later = bool(known) and status == "stale"
        try:
            if not later or any(_diverged(handle, known) for handle in handles):
                _make_anew(workspace, path)
            else:
                try:
                    _update(path, known, states, whole)
                except sqlite3.Error:  # somebody has them locked, or they are damaged inside
                    _make_anew(workspace, path)
        except (OSError, sqlite3.Error) as error:
            why = error.strerror if isinstance(error, OSError) else error
            return _found(workspace, status, problem=f"cannot be written: {why}; mend that")
        return _found(workspace, status, written=True)


def make(workspace: Workspace) -> None:
    """Make the tables where they were removed, of every project."""
    with files_locked(workspace), suppress(OSError, sqlite3.Error):
        _make_anew(workspace, workspace.folder / FILE)


def counts(path: Path) -> dict[str, int]:
    """How many rows are in each table."""
    with closing(connect(path, "ro")) as connection:
        return {
            table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in COLUMNS
        }


def copy(states: Iterable[Project], path: Path) -> None:
    """Make tables of these projects in a file of somebody's choice, in the place of older ones."""
    target = Path(os.path.realpath(path))
    try:
        taken = target.name == SETTINGS or (target.exists() and not _is_ours(target))
        if taken:
            raise Invalid(f"{path} is for something else; choose another path")
        _write(target, states)
    except (OSError, sqlite3.Error) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise JournalUnavailable(f"{path} cannot be written: {why}; nothing was changed") from error


def connect(path: Path, mode: Literal["ro", "rw"]) -> sqlite3.Connection:
    """A connection to tables that are there."""
    name = str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return sqlite3.connect(
        f"file:{name}?mode={mode}", uri=True, isolation_level=None, timeout=_PATIENCE
    )


def fill(connection: sqlite3.Connection, states: Iterable[Project], written: int = 0) -> None:
    """Make the tables of these projects in an empty database."""
    with _transaction(connection):
        schema.create(connection)
        for state in states:
            for table, wanted in rows(state).items():
                _insert(connection, table, wanted)
            _note(connection, state)
        connection.execute("UPDATE passdown_meta SET written = ?", (written,))
    schema.index(connection)


def _form(connection: sqlite3.Connection) -> tuple[int, int]:
    """Whose file it is, and of which shape."""
    [made] = connection.execute("PRAGMA application_id").fetchone()
    [form] = connection.execute("PRAGMA user_version").fetchone()
    return made, form


def _is_ours(path: Path) -> bool:
    if not path.is_file():
        return False
    try:
        with closing(connect(path, "ro")) as connection:
            return _form(connection)[0] == schema.APPLICATION
    except sqlite3.Error:
        return False


def _found(
    workspace: Workspace, status: Status, *, written: bool = False, problem: str = ""
) -> FileState:
    path = workspace.folder / FILE
    name = os.path.relpath(path, workspace.root)
    if status == "unusable":
        problem = f"is {'a folder' if path.is_dir() else 'not a regular file'}; move it away"
    if problem:
        problem = f"{name} {problem} and run `passdown sync`; the journal is complete"
    return FileState(NAME, name, status, written, problem=problem)


def _is_behind(known: dict[str, Shown], states: list[Project], whole: bool) -> bool:
    gone = known.keys() - {state.slug for state in states} if whole else ()
    return bool(gone) or any(known.get(state.slug) != shown(state) for state in states)


def _against(
    path: Path, known: dict[str, Shown], states: list[Project], whole: bool
) -> Literal["fresh", "stale", "corrupt"]:
    """How tables that seem as they were left hold against the states, row by row."""
    if _is_behind(known, states, whole):
        return "stale"
    try:
        with closing(connect(path, "ro")) as connection:
            [said] = connection.execute("PRAGMA integrity_check(1)").fetchone()
            broken = connection.execute("PRAGMA foreign_key_check").fetchone()
            well = said == "ok" and broken is None
            same = all(_differing(connection, state) is None for state in states)
    except sqlite3.Error:
        return "corrupt"
    return "fresh" if well and same else "corrupt"


def _differing(connection: sqlite3.Connection, state: Project) -> str | None:
    """A table whose rows are not those of the state."""
    for table, wanted in rows(state).items():
        if _there(connection, table, state.slug) != {row[0]: row for row in wanted}:
            return table
    return None


def _diverged(handle: Handle, known: dict[str, Shown]) -> bool:
    """Whether the rows are of a record that the journal does not have: it has another past."""
    was = known.get(handle.slug)
    if was is None:
        return False
    record = next(handle.records(was.version - 1, was.version), None)
    return record is None or record.hash.hex() != was.hash


# -- anew ------------------------------------------------------------------------------------


def _make_anew(workspace: Workspace, path: Path) -> None:
    """The caller holds the lock, so that what other writers left unfinished can go."""
    for left in path.parent.glob(f".{FILE}.passdown-*"):
        left.unlink(missing_ok=True)
    with Journal.open(workspace.folder) as journal:
        _write(path, (journal.project(slug).state for slug in journal.projects()))


def _write(target: Path, states: Iterable[Project]) -> None:
    fresh = target.with_name(f".{target.name}.passdown-{secrets.token_hex(8)}")
    try:
        written = _moment()
        with closing(sqlite3.connect(fresh, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = OFF")
            connection.execute("PRAGMA synchronous = OFF")
            fill(connection, states, written)
        os.utime(fresh, ns=(written, written))
        fsync(fresh)
        for besides in _BESIDES:  # SQLite would apply what is left of the old file to the new one
            target.with_name(target.name + besides).unlink(missing_ok=True)
        os.replace(fresh, target)
    except BaseException:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise
    fsync(target.parent)


# -- up to date ------------------------------------------------------------------------------


def _update(path: Path, known: dict[str, Shown], states: list[Project], whole: bool) -> None:
    """Change what differs, in one transaction."""
    gone = known.keys() - {state.slug for state in states} if whole else ()
    written = _moment()
    with closing(connect(path, "rw")) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        with _transaction(connection):
            # A row that changes is taken out and put in again, also one that others refer to.
            connection.execute("PRAGMA defer_foreign_keys = ON")
            for slug in gone:
                for table in COLUMNS:
                    _make_equal(connection, table, slug, [])
                connection.execute("DELETE FROM passdown_meta WHERE project = ?", (slug,))
            for state in states:
                if known.get(state.slug) == shown(state):
                    continue
                for table, wanted in rows(state).items():
                    _make_equal(connection, table, state.slug, wanted)
                _note(connection, state)
            connection.execute("UPDATE passdown_meta SET written = ?", (written,))
    os.utime(path, ns=(written, written))


def _make_equal(connection: sqlite3.Connection, table: str, slug: str, wanted: list[Row]) -> None:
    there = _there(connection, table, slug)
    missing = [row for row in wanted if there.get(row[0]) != row]
    kept = {row[0] for row in wanted} - {row[0] for row in missing}
    connection.executemany(
        f"DELETE FROM {table} WHERE {COLUMNS[table][0]} = ?",
        [(id,) for id in there if id not in kept],
    )
    _insert(connection, table, missing)


def _there(connection: sqlite3.Connection, table: str, slug: str) -> dict[Cell, Row]:
    """The rows of a project, by what tells them apart."""
    owner = "id" if table == "initiatives" else "initiative_id"
    found = connection.execute(
        f"SELECT {', '.join(COLUMNS[table])} FROM {table} WHERE {owner} = ?", (slug,)
    )
    return {row[0]: row for row in found}


def _insert(connection: sqlite3.Connection, table: str, wanted: list[Row]) -> None:
    columns = COLUMNS[table]
    places = ", ".join("?" * len(columns))
    connection.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})", wanted)


def _note(connection: sqlite3.Connection, state: Project) -> None:
    connection.execute("DELETE FROM passdown_meta WHERE project = ?", (state.slug,))
    connection.execute(
        "INSERT INTO passdown_meta (project, version, hash) VALUES (?, ?, ?)",
        (state.slug, *shown(state)),
    )


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.rollback()
        raise


def _moment() -> int:
    """Now, as exactly as any file system keeps it that a journal is likely to be on."""
    return time.time_ns() // 1000 * 1000
