"""What the journal asks of a database: a unique key and a transaction, nothing more.

Every engine runs the same contract suite (tests/store_contract.py).
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from msgspec import Struct

from journal.record import Draft, Record


class Head(Struct, frozen=True):
    """The last record of a project."""

    project: str
    version: int
    hash: bytes


class Flaw(Struct, frozen=True):
    """One thing that is not as it was written, named as closely as can be."""

    what: str
    project: str | None = None
    version: int | None = None


class Store(Protocol):
    """An engine that keeps records. Safe from several threads and several processes."""

    def heads(self) -> list[Head]:
        """The head of every project, by name."""

    def head(self, project: str) -> Head | None:
        """The head of one project; None if it has no records."""

    def read(self, project: str, after: int = 0, upto: int | None = None) -> Iterator[Record]:
        """The records of a project with after < version <= upto, in order."""

    def find(self, project: str, id: str) -> Record | None:
        """The record of a project that has this id."""

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

    def locked(self) -> AbstractContextManager[None]:
        """Keep every other writer out meanwhile; appends inside join in."""

    def check(self) -> Iterator[Flaw]:
        """What the engine itself finds wrong, and records that no head accounts for."""

    def close(self) -> None:
        """Let go of everything; nothing that was acknowledged depends on it."""
