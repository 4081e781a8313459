"""What was redacted in a project, and whether what stands there now is what was left.

A record whose salt is gone has nothing to hold its payload against. What vouches for it is a later
record, which is in the chain: it names the version and the digest of what was left there. That one
may have been redacted as well, and is then vouched for by one that comes after it.
"""

from collections.abc import Collection, Iterable
from typing import TypeAlias

from journal.events import RecordRedacted
from journal.payload import decode
from journal.record import Record, commit, standing
from journal.store import Store

TYPE = RecordRedacted.type

#: The version of the redaction, and the digest of what it left.
Vouched: TypeAlias = tuple[int, bytes]


class Redactions:
    """The redactions of a project, read when somebody first asks for one."""

    def __init__(self, store: Store, project: str) -> None:
        self._store = store
        self._project = project
        self._named: dict[int, Vouched] | None = None

    def account_for(self, record: Record) -> bool:
        """Whether a record that has no salt holds what a redaction left there."""
        known = self._vouched(record)
        if not known and self._named is not None:
            self._named = None  # it may have been redacted since
            known = self._vouched(record)
        return known

    def _vouched(self, record: Record) -> bool:
        found = self.named().get(record.version)
        return found is not None and found[1] == standing(record)

    def named(self) -> dict[int, Vouched]:
        """Every version that was redacted, by which version, and the digest of what was left."""
        if self._named is None:
            self._named = vouched(self._store.read(self._project, type=TYPE))
        return self._named


def vouched(redactions: Iterable[Record]) -> dict[int, Vouched]:
    """What these redactions can be believed to say, each from 1 on by the version it names."""
    named: dict[int, Vouched] = {}
    for record in sorted(redactions, key=lambda each: each.version, reverse=True):
        if _is_believed(record, named):
            event = decode(record.type, record.data)
            assert isinstance(event, RecordRedacted)
            for each in event.records:
                if each.version < record.version:
                    left = record.version, bytes.fromhex(each.digest)
                    named.setdefault(each.version, left)
    return named


def _is_believed(record: Record, later: dict[int, Vouched]) -> bool:
    if record.salt is None:
        found = later.get(record.version)
        return found is not None and found[1] == standing(record)
    held = commit(record.salt, record.data, record.actor, record.session)
    return held == record.commitment


def has_overtaken(record: Record, masked: Collection[int]) -> bool:
    """Whether it is a redaction of something that was read before it, while its text stood there;
    `masked` are the versions that had been redacted when they were read."""
    if record.type != TYPE:
        return False
    event = decode(record.type, record.data)
    assert isinstance(event, RecordRedacted)
    return any(each.version not in masked for each in event.records)
