"""Erasure: what a record held is gone, and this says so."""

from typing import Annotated, ClassVar, TypeAlias

from msgspec import Meta, Struct

from journal.events.event import Count, Event, Text

Digest: TypeAlias = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]


class Redacted(Struct, frozen=True):
    """One record that was redacted, and the digest of what stands there now."""

    version: Count
    digest: Digest


class RecordRedacted(Event, frozen=True):
    """The payload of earlier records was erased; what it was, nothing tells any more."""

    type: ClassVar[str] = "record.redacted"
    bookkeeping: ClassVar[bool] = True
    records: tuple[Redacted, ...]
    reason: Text
