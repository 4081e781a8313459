"""The same work by hand: what a journal is held against.

Each does what its counterpart promises, durably where that is promised, in the least code and
with nothing between it and the library underneath.
"""

import json
import os
import shutil
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.histories import ACTOR, PROJECT, SESSION
from journal.sqlite import SqliteStore

Row = tuple[int | str | bytes | None, ...]

_INSERT = "INSERT INTO records VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
_HEAD = """INSERT INTO heads VALUES (?,?,?) ON CONFLICT (project)
DO UPDATE SET version = excluded.version, hash = excluded.hash"""


class RawTable:
    """The journal's own tables, indices and triggers, written with sqlite3 and no hashing."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        SqliteStore.create(folder).close()
        self.path = folder / "journal.db"
        self.connection: sqlite3.Connection
        self.open()

    def open(self) -> None:
        """Connect with the settings of the store."""
        self.connection = sqlite3.connect(self.path, isolation_level=None)
        self.connection.execute("PRAGMA synchronous = FULL")
        self.connection.execute("PRAGMA secure_delete = ON")

    def append(self, rows: Sequence[Row]) -> None:
        """Insert rows and move the head, durably."""
        self.connection.execute("BEGIN IMMEDIATE")
        self.connection.executemany(_INSERT, rows)
        self.connection.execute(_HEAD, (PROJECT, rows[-1][2], rows[-1][-1]))
        self.connection.execute("COMMIT")

    def close(self) -> None:
        """Disconnect; the last to do so checkpoints."""
        self.connection.close()


def row(version: int, type: str, payload: bytes) -> Row:
    """A record as the table takes it; its hashes are not worth anything."""
    return (
        version,
        PROJECT,
        version,
        f"0195f1c2-7a00-7000-8000-{version:012x}",
        type,
        payload,
        b"s" * 16,
        b"c" * 32,
        1_772_446_500_000_000 + version,
        None,
        ACTOR,
        SESSION,
        None,
        b"h" * 32,
    )


class SeedFile:
    """The way of writing that Passdown grew out of: one JSON of 12 KB, replaced whole."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "00-session-state.json"
        self.path.write_text(json.dumps(seed_state(), indent=2))

    def write(self, n: int) -> None:
        """Read, change, encode, copy the backup, write beside, rename; durable at the end."""
        state = json.loads(self.path.read_bytes())
        state["open_findings"][n % 40]["title"] = f"Key Vault {n} allows public access"
        text = json.dumps(state, indent=2).encode()
        shutil.copyfile(self.path, f"{self.path}.bak")
        fresh = f"{self.path}.tmp"
        with open(fresh, "wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.rename(fresh, self.path)
        folder = os.open(self.path.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)


def seed_state() -> dict[str, Any]:
    """A session state that takes 12 KB as a file."""
    finding = {"severity": "must_fix", "step": "2", "detail": "x" * 170}
    findings = [{"id": f"F{n:03}", "title": f"Key Vault {n}", **finding} for n in range(40)]
    return {"schema_version": "3.0", "project": PROJECT, "open_findings": findings}
