"""The chain of long histories looked at in pieces, by several processes at once.

A piece needs nothing of those before it but the hash of one record, which whoever looks at the
piece before that sees is right.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from journal.errors import JournalError, JournalNewer
from journal.payload import decode
from journal.record import GENESIS, flaw
from journal.redactions import Redactions
from journal.store import Flaw, Head, Store

if TYPE_CHECKING:
    from concurrent.futures import Future

#: A shorter history is looked at before another process has begun.
WORTH = 50_000
#: So many records make a piece.
_PIECE = 20_000


class Range(Struct, frozen=True):
    """The records of a project with after < version <= upto; the last one ends at the head."""

    project: str
    after: int
    upto: int
    #: The hash of the head, where the range ends at it.
    head: bytes | None = None


def pieces(heads: Sequence[Head], size: int = _PIECE) -> list[Range]:
    """All the records of some projects, in ranges of no more than so many."""
    return [
        Range(head.project, after, upto, head.hash if upto == head.version else None)
        for head in heads
        for after in range(0, max(head.version, 1), size)
        for upto in (min(after + size, head.version),)
    ]


def audit_range(
    store: Store, range: Range, progress: Callable[[int], None] | None = None
) -> Iterator[Flaw]:
    """The first flaw in a piece of a chain, and whether its end is the head if it is to be."""
    project, version = range.project, range.after
    redactions = Redactions(store, project)
    try:
        previous = _hash(store, project, version) if version else GENESIS
        for record in store.read(project, version, range.upto):
            version += 1
            wrong = flaw(record, project, version, previous, redactions.account_for)
            if wrong:
                yield Flaw(f"version {version} of {project}: {wrong}", project, version)
                return
            decode(record.type, record.data)
            previous = record.hash
            if progress and version % 1000 == 0:
                progress(1000)
    except JournalNewer:
        raise  # that is no damage: whoever reads with a newer Passdown finds it sound
    except JournalError as e:
        yield Flaw(f"after version {version} of {project}: {e}", project, version + 1)
        return
    if version != range.upto:
        what = f"{project} ends at version {version}, its head says {range.upto}"
        if range.head is None:
            what = f"version {version + 1} of {project}: version {version + 1} is missing"
        yield Flaw(what, project, version)
    elif range.head is not None and previous != range.head:
        yield Flaw(f"the head of {project} does not match version {version}", project, version)


def _hash(store: Store, project: str, version: int) -> bytes:
    """The hash that the record before a range says it has."""
    before = next(store.read(project, version - 1, version), None)
    return before.hash if before is not None else GENESIS


def audit_with(
    open: Callable[[], Store],
    ranges: Sequence[Range],
    jobs: int,
    progress: Callable[[int], None] | None = None,
) -> Iterator[Flaw]:
    """What the engine finds, and the first flaw of each project, found by several processes."""
    # 20 ms of import, paid only where a history is long.
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    # A fork has everything imported, and forks.py sees to it that it finds nothing half done.
    context = get_context("fork" if sys.platform == "linux" else "spawn")
    with ProcessPoolExecutor(min(jobs, len(ranges) + 1), context) as pool:
        checked = pool.submit(_check, open)
        looked: dict[Future[list[Flaw]], Range] = {
            pool.submit(_audit, open, range): range for range in ranges
        }
        for each in as_completed(looked):
            if progress:
                progress(looked[each].upto - looked[each].after)
        yield from checked.result()
        found: set[str] = set()
        for each, range in looked.items():
            flaws = each.result()
            if range.project not in found:
                yield from flaws
            if flaws:
                found.add(range.project)


def _check(open: Callable[[], Store]) -> list[Flaw]:
    store = open()
    try:
        return list(store.check())
    finally:
        store.close()


def _audit(open: Callable[[], Store], range: Range) -> list[Flaw]:
    store = open()
    try:
        return list(audit_range(store, range))
    finally:
        store.close()


def cores() -> int:
    """How many processes can run at once here."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
