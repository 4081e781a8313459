"""Records out of a damaged database file, without SQLite's help.

SQLite refuses a file whose first page, index or tree is broken although nearly every record in it
is whole. This reads the pages themselves: whatever looks like a row of `records` is a candidate,
in the file and in the committed part of its write-ahead log. Nothing is believed for that: of each
project only the chain that verifies from its first record on is kept, so a stale or torn page can
offer what it likes.
"""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from journal.errors import JournalError
from journal.masking import masked
from journal.pages import Pages, Value
from journal.record import GENESIS, Record, flaw, standing
from journal.redactions import TYPE as REDACTED
from journal.redactions import vouched
from journal.sqlite import NEW

_COLUMNS = len(Record.__struct_fields__)


class Salvaged(Struct, frozen=True):
    """What came out for one project: a sound chain, how many records are lost after it, and why."""

    project: str
    records: tuple[Record, ...]
    lost: int
    reason: str
    #: The versions that were redacted, and what vouched for them is lost.
    unvouched: tuple[int, ...] = ()

    def __str__(self) -> str:
        if not self.lost:
            return f"{self.project}: all {len(self.records)} records salvaged"
        return (
            f"{self.project}: {len(self.records)} records salvaged, {self.lost} after them lost "
            f"({self.reason})"
        )


def salvage(folder: Path) -> list[Salvaged]:
    """Every project's records up to the damage: from the journal, its -wal, and an unfinished new
    journal that a killed recovery left beside it."""
    found: dict[str, dict[int, list[Record]]] = {}
    last: dict[str, int] = {}
    for row in _rows(folder):
        match row:
            case [_, str(project), int(version), *_] if len(row) == _COLUMNS:
                record = Record(*row)  # type: ignore[arg-type]  # flaw() checks every field
                found.setdefault(project, {}).setdefault(version, []).append(record)
                last[project] = max(version, last.get(project, 0))
            case [str(project), int(version), bytes(hash)] if len(hash) == 32:
                last[project] = max(version, last.get(project, 0))
    return [_chain(project, found.get(project, {}), last[project]) for project in sorted(last)]


def _rows(folder: Path) -> Iterator[list[Value]]:
    for path in (folder / "journal.db", *sorted(folder.glob(f"{NEW}*"))):
        yield from Pages.of(path).rows()


class _Link(Struct, frozen=True):
    """The end of a chain, and what comes before it."""

    record: Record
    before: "_Link | None"


def _chain(project: str, versions: dict[int, list[Record]], last: int) -> Salvaged:
    """The longest sound chain: an old page may offer another continuation, which ends earlier.

    It may offer a record as it was before it was redacted, too; what was erased stays so.
    """
    ends: list[_Link | None] = [None]
    reason = "complete"
    for version in range(1, last + 1):
        longer: dict[bytes, _Link | None] = {}
        wrong: str | None = f"version {version} is not there"
        for end in ends:
            previous = end.record.hash if end else GENESIS
            for record in sorted(versions.get(version, []), key=lambda each: each.salt is None):
                wrong = flaw(record, project, version, previous, _is_readable)
                if wrong is None:
                    longer[record.hash] = _Link(record, end)
        if not longer:
            reason = wrong or ""
            break
        ends = list(longer.values())
    records: list[Record] = []
    link = ends[0]
    while link:
        records.append(link.record)
        link = link.before
    records.reverse()
    lost = last - len(records)
    unvouched = _unvouched(records)
    return Salvaged(project, tuple(records), lost, reason, unvouched)


def _is_readable(record: Record) -> bool:
    """Whether a redacted record can be kept at all."""
    try:
        masked(record.type, record.data)
    except JournalError:
        return False
    return True


def _unvouched(records: list[Record]) -> tuple[int, ...]:
    """The versions whose redaction is lost with the damage: they are masked again, for nothing
    tells any more whether what stands there was ever said."""
    named = vouched(record for record in records if record.type == REDACTED)
    found = []
    for n, record in enumerate(records):
        left = named.get(record.version)
        if record.salt is None and (left is None or left[1] != standing(record)):
            found.append(record.version)
            records[n] = replace(record, data=masked(record.type, record.data))
    return tuple(found)
