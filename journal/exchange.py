"""A history as lines of JSON, with everything needed to verify it, and back.

docs/EXCHANGE.md specifies every byte. A line says nothing of when or where it was written, so that
the file of a history that grew is the file of before with lines added at its end.
"""

import re
from collections.abc import Callable, Iterable, Iterator

import msgspec
from msgspec import Struct, field

from journal.errors import Invalid, JournalNewer, Rejected
from journal.handle import Handle
from journal.payload import decode
from journal.record import GENESIS, SLUG, Record, flaw, standing
from journal.redactions import TYPE as REDACTED
from journal.redactions import vouched
from journal.store import Head, Masked, Store

FORMAT = 1
#: How the first line of an export begins, whatever its format.
HEADING = b'{"passdown-export"'


class Heading(Struct, frozen=True, forbid_unknown_fields=True):
    """The line before the records of a project: which one, and what comes before the first."""

    passdown: int = field(name="passdown-export")
    project: str
    from_: int = field(name="from")
    previous: str


class Line(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One record; bytes are hexadecimal, and `data` is the payload to the letter, as text."""

    version: int
    id: str
    type: str
    at: int
    data: str
    #: Null once the record was redacted.
    salt: str | None
    commitment: str
    hash: str
    occurred: int | None = None
    actor: str | None = None
    session: str | None = None
    cause: str | None = None


_encode = msgspec.json.Encoder().encode
_line = msgspec.json.Decoder(Line).decode
_heading = msgspec.json.Decoder(Heading).decode


# -- out -------------------------------------------------------------------------------------


def lines(handle: Handle, first: int = 1, last: int | None = None) -> Iterator[bytes]:
    """The lines of a project, from one version to another, each checked as it is read."""
    first = max(first, 1)
    before = next(handle.records(first - 2, first - 1), None) if first > 1 else None
    if first > 1 and before is None:
        raise Invalid(f"{handle.slug} has no version {first - 1} to begin after")
    previous = before.hash.hex() if before else ""
    yield _encode(Heading(FORMAT, handle.slug, first, previous)) + b"\n"
    for record in handle.records(first - 1, last):
        yield (
            _encode(
                Line(
                    record.version,
                    record.id,
                    record.type,
                    record.at,
                    record.data.decode(),
                    None if record.salt is None else record.salt.hex(),
                    record.commitment.hex(),
                    record.hash.hex(),
                    record.occurred,
                    record.actor,
                    record.session,
                    record.cause,
                )
            )
            + b"\n"
        )


# -- in --------------------------------------------------------------------------------------


class Imported(Struct, frozen=True):
    """What an import came to in one project."""

    project: str
    added: int
    #: How many of its records the journal had already.
    known: int
    #: How many of those were redacted where they come from, and now here as well.
    redacted: int
    version: int


class _Reading(Struct):
    """A project as it is read from a file."""

    project: str
    #: What the journal has of it.
    head: Head
    own: Iterator[Record]
    version: int
    previous: bytes
    known: int = 0
    added: int = 0
    #: The records that have no salt, by version, and the line that each is on.
    bare: dict[int, tuple[Record, int]] = field(default_factory=dict)
    redactions: list[Record] = field(default_factory=list)
    #: What was redacted where the file comes from, and was not here.
    redacted: list[Masked] = field(default_factory=list)


def add(
    store: Store, source: Iterable[bytes], advance: Callable[[int], None] | None = None
) -> list[Imported]:
    """Take the records of a file into a journal: all of them, or none.

    Each has to verify, and to go on from what the journal has; what it has already is passed over.
    """
    with store.locked():
        reader = _Reader(store, advance)
        store.extend(reader.records(source))
        return [_finish(store, each) for each in reader.done]


def _finish(store: Store, done: _Reading) -> Imported:
    """Redact what was redacted where the records come from."""
    head = store.head(done.project)
    version = head.version if head else 0
    if done.redacted:
        store.redact(done.project, version, done.redacted)
    return Imported(done.project, done.added, done.known, len(done.redacted), version)


class _Reader:
    """Reads a file line by line, and says of which line it is that something is wrong."""

    def __init__(self, store: Store, advance: Callable[[int], None] | None) -> None:
        self.store = store
        self.number = 0
        self.done: list[_Reading] = []
        self._advance = advance

    def records(self, source: Iterable[bytes]) -> Iterator[Record]:
        """The records that the journal does not have."""
        reading: _Reading | None = None
        for line in source:
            self.number += 1
            if self._advance and self.number % 1000 == 0:
                self._advance(1000)
            if not line.endswith(b"\n"):
                raise self._wrong("it is cut off")
            if line.startswith(HEADING):
                if reading is not None:
                    self._end(reading)
                reading = self._begin(line)
            elif reading is None:
                raise self._wrong("no line before it says of which project it is")
            else:
                record = self._record(line, reading)
                if reading.version > reading.head.version:
                    reading.added += 1
                    yield record
                else:
                    self._compare(record, reading)
        if reading is None:
            self.number += 1
            raise self._wrong("there is nothing in it")
        self._end(reading)

    def _begin(self, line: bytes) -> _Reading:
        try:
            heading = _heading(line)
            previous = bytes.fromhex(heading.previous)
        except (msgspec.MsgspecError, ValueError) as e:
            raise self._wrong(f"not the heading of an export ({e})") from e
        if heading.passdown > FORMAT:
            raise JournalNewer(
                f"line {self.number} is of export format {heading.passdown}, this Passdown knows "
                f"{FORMAT}; upgrade passdown"
            )
        slug, before = heading.project, heading.from_ - 1
        if not re.fullmatch(SLUG, slug) or ".." in slug:
            raise self._wrong("it has the name of no project")
        if any(each.project == slug for each in self.done):
            raise self._wrong(f"{slug} was in the file before")
        head = self.store.head(slug) or Head(slug, 0, GENESIS)
        if before < 0 or before > head.version:
            raise Rejected(
                f"import {slug} from version {heading.from_} on (line {self.number})",
                f"the journal has it up to version {head.version}",
                [f"export -p {slug} --from {head.version + 1}"],
            )
        own = next(self.store.read(slug, before - 1, before), None) if before else None
        if previous != (own.hash if own else GENESIS):
            raise self._parted(slug, f"at version {before} or before it")
        return _Reading(slug, head, self.store.read(slug, before, head.version), before, previous)

    def _record(self, line: bytes, reading: _Reading) -> Record:
        """The record on a line, if it verifies."""
        try:
            x = _line(line)
            record = Record(
                0,
                reading.project,
                x.version,
                x.id,
                x.type,
                x.data.encode(),
                None if x.salt is None else bytes.fromhex(x.salt),
                bytes.fromhex(x.commitment),
                x.at,
                x.occurred,
                x.actor,
                x.session,
                x.cause,
                bytes.fromhex(x.hash),
            )
        except (msgspec.MsgspecError, ValueError) as e:
            raise self._wrong(f"not a record ({e})") from e
        reading.version += 1
        wrong = flaw(record, reading.project, reading.version, reading.previous, _may_be_redacted)
        if wrong:
            raise self._wrong(f"version {reading.version} of {reading.project}: {wrong}")
        if record.salt is not None and len(record.salt) != 16:
            raise self._wrong(f"version {reading.version} of {reading.project}: its salt is cut")
        try:
            decode(record.type, record.data)
        except JournalNewer as e:
            raise JournalNewer(f"line {self.number}: {e}") from e
        except msgspec.MsgspecError as e:
            raise self._wrong(f"its payload is not JSON ({e})") from e
        reading.previous = record.hash
        if record.salt is None:
            reading.bare[record.version] = record, self.number
        if record.type == REDACTED:
            reading.redactions.append(record)
        return record

    def _compare(self, record: Record, reading: _Reading) -> None:
        """Pass over what the journal has, if it is the same history."""
        own = next(reading.own, None)
        if own is None or own.hash != record.hash:
            raise self._parted(reading.project, f"at version {reading.version}")
        reading.known += 1
        if own.salt is not None and record.salt is None:
            reading.redacted.append(
                Masked(record.version, record.data, record.actor, record.session)
            )

    def _end(self, reading: _Reading) -> None:
        """See that whatever was redacted is vouched for, in the file or in the journal."""
        if reading.bare:
            own = self.store.read(reading.project, type=REDACTED)
            known = {each.version: each for each in (*own, *reading.redactions)}
            named = vouched(known.values())
            for version, (record, number) in reading.bare.items():
                left = named.get(version)
                if left is None or left[1] != standing(record):
                    self.number = number
                    raise self._wrong(
                        f"version {version} of {reading.project} was redacted, and no record up to "
                        f"version {reading.version} vouches for what it says; export further"
                    )
        self.done.append(reading)

    def _wrong(self, what: str) -> Invalid:
        return Invalid(f"line {self.number}: {what}; nothing was imported")

    def _parted(self, slug: str, where: str) -> Rejected:
        return Rejected(
            f"import {slug} (line {self.number})",
            f"the journal has another history of it, they part {where}; nothing was imported: give "
            "one of them a journal of its own",
        )


def _may_be_redacted(record: Record) -> bool:
    """Whether it is, is known at the end of the file."""
    return True
