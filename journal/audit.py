"""Whether a journal is what was written: the engine's check, heads, chain and commitments.

The chain alone does not see a flipped bit in an index or a head, and SQLite's check does not see
one in a payload; together they see every one that changes what a reader sees. Rows and head
deleted together leave no trace here: that takes a statement kept elsewhere.
"""

from collections.abc import Callable, Iterator

from journal.errors import JournalError, JournalNewer
from journal.payload import decode
from journal.record import GENESIS, flaw
from journal.redactions import Redactions
from journal.store import Flaw, Head, Store


def audit(store: Store, progress: Callable[[int], None] | None = None) -> Iterator[Flaw]:
    """Every flaw that can be told, each named to the record where there is one."""
    yield from store.check()
    try:
        heads = store.heads()
    except JournalError as e:
        yield Flaw(str(e))
        return
    for head in heads:
        yield from audit_project(store, head, progress)


def audit_project(
    store: Store, head: Head, progress: Callable[[int], None] | None = None
) -> Iterator[Flaw]:
    """The first flaw in the chain of one project, and whether its end is the head."""
    project, version, previous = head.project, 0, GENESIS
    if not isinstance(head.version, int):  # a flipped bit can make it anything
        yield Flaw(f"the head of {project} names no version", str(project))
        return
    redactions = Redactions(store, project)
    try:
        for record in store.read(project, upto=head.version):
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
    if version != head.version:
        what = f"{project} ends at version {version}, its head says {head.version}"
        yield Flaw(what, project, version)
    elif previous != head.hash:
        yield Flaw(f"the head of {project} does not match version {version}", project, version)
