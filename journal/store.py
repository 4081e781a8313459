"""What the journal asks of a database: a unique key and a transaction, nothing more.

Every engine runs the same contract suite (tests/store_contract.py).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
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


class Masked(Struct, frozen=True):
    """What is to stand in a record from now on, and its salt is to go."""

    version: int
    data: bytes
    actor: str | None
    session: str | None


class Store(Protocol):
    """An engine that keeps records. Safe from several threads and several processes."""

    def heads(self) -> list[Head]:
        """The head of every project, by name."""

    def head(self, project: str) -> Head | None:
        """The head of one project; None if it has no records."""

    def read(
        self, project: str, after: int = 0, upto: int | None = None, type: str | None = None
    ) -> Iterator[Record]:
        """The records of a project with after < version <= upto, in order; of one type, if given.

        What is read while others write is as if read bit by bit: each record is whole.
        """

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

    def scrub(self) -> bool:
        """Leave nothing of what was redacted in any file of the engine; False if somebody who is
        still reading holds that up, and it has to be asked for again."""

    def extend(self, records: Iterable[Record]) -> int:
        """Append records as they are, all or nothing; how many they were.

        They come project by project, each at the version after the one before it, or Conflict is
        raised; that they form a chain is for the caller to know. Only the position is the store's.
        """

    def locked(self) -> AbstractContextManager[None]:
        """Keep every other writer out meanwhile; appends inside join in."""

    def again(self) -> "Callable[[], Store] | None":
        """How another process opens the same store; None if there is no way to."""

    def check(self) -> Iterator[Flaw]:
        """What the engine itself finds wrong, and records that no head accounts for."""

    def close(self) -> None:
        """Let go of everything; nothing that was acknowledged depends on it."""
