"""Whether a journal is what was written: the engine's check, heads, chain and commitments.

The chain alone does not see a flipped bit in an index or a head, and SQLite's check does not see
one in a payload; together they see every one that changes what a reader sees. Rows and head
deleted together leave no trace here: that takes a statement kept elsewhere.
"""

from collections.abc import Callable, Iterator

from journal.errors import JournalError
from journal.ranges import WORTH, Range, audit_range, audit_with, pieces
from journal.store import Flaw, Head, Store


def audit(
    store: Store, progress: Callable[[int], None] | None = None, jobs: int = 1
) -> Iterator[Flaw]:
    """Every flaw that can be told, each named to the record where there is one.

    With several jobs a long history is looked at by as many processes.
    """
    again = store.again() if jobs > 1 else None
    if again is not None:
        heads = _heads(store)
        if heads is not None and sum(head.version for head in heads) >= WORTH:
            yield from audit_with(again, pieces(heads), jobs, progress)
            return
    yield from store.check()
    try:
        heads = store.heads()
    except JournalError as e:
        yield Flaw(str(e))
        return
    for head in heads:
        yield from audit_project(store, head, progress)


def _heads(store: Store) -> list[Head] | None:
    """The heads, if all of them can be believed to be some."""
    try:
        heads = store.heads()
    except JournalError:
        return None
    return heads if all(isinstance(head.version, int) for head in heads) else None


def audit_project(
    store: Store, head: Head, progress: Callable[[int], None] | None = None
) -> Iterator[Flaw]:
    """The first flaw in the chain of one project, and whether its end is the head."""
    if not isinstance(head.version, int):  # a flipped bit can make it anything
        yield Flaw(f"the head of {head.project} names no version", str(head.project))
        return
    yield from audit_range(store, Range(head.project, 0, head.version, head.hash), progress)
