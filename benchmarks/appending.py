"""Appending: one record, one command, one process, a hundred records, and the way it was before."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path

from benchmarks import histories
from benchmarks.comparison import Comparison, Measure, Timing, timed
from benchmarks.histories import ACTOR, PROJECT, SESSION, finding
from benchmarks.references import RawTable, SeedFile, row
from journal import Journal, ids
from journal.clock import now
from journal.events import NextActionSet
from journal.payload import encode
from journal.record import Draft
from journal.store import Store

RAW = "raw sqlite3: append"
STORE = "store: append"
COMMAND = "journal: command"
OPENED = "journal: open, command, close"
RAW_OPENED = "raw sqlite3: open, append, close"
BATCH = "store: 100 records"
COMMANDS = "journal: 100 requests"
RAW_BATCH = "raw sqlite3: 100 records"
SEED = "seed: replace the file"

COMPARISONS = (
    Comparison("append", "durable append, Store", "share", STORE, RAW, 0.75),
    Comparison("command", "warm full command", "share", COMMAND, RAW, 0.65),
    Comparison("open", "open, command, close", "share", OPENED, RAW_OPENED),
    Comparison("batch", "batch of 100, Store", "share", BATCH, RAW_BATCH, 0.65),
    Comparison("commands", "100 requests in one command", "share", COMMANDS, RAW_BATCH),
    Comparison("seed", "append, against the seed's way", "share", STORE, SEED, 4),
    Comparison("seed-command", "command, against the seed's way", "share", COMMAND, SEED),
)

#: Enough that every round has its share of checkpoints: one comes with about 170 appends.
TURNS = 40
_APPENDS = 10
_BATCHES = 1
_OPENINGS = 1


def prepare(folder: Path, open: ExitStack) -> Iterator[Measure]:
    """A table or a journal for each, so that none is slower for what another wrote."""
    numbers = count(1)
    seed = SeedFile(folder)
    single, batch = (
        _Appending(open.enter_context(histories.create(folder / name)).store)
        for name in ("store", "store-batch")
    )
    one, many = (
        open.enter_context(histories.create(folder / name)).open_project(PROJECT)
        for name in ("command", "commands")
    )

    def command() -> Timing:
        events = [finding(next(numbers)) for _ in range(_APPENDS)]
        return timed(lambda n: one.append(events[n], actor=ACTOR, session=SESSION), _APPENDS)

    def commands() -> Timing:
        batches = [
            [histories.request(finding(next(numbers))) for _ in range(100)] for _ in range(_BATCHES)
        ]
        return timed(lambda n: many.append_all(batches[n]), _BATCHES)

    yield Measure(RAW, _raw(folder / "raw", 1, _APPENDS, open), TURNS)
    yield Measure(STORE, lambda: single.append(1, _APPENDS), TURNS)
    yield Measure(COMMAND, command, TURNS)
    yield Measure(SEED, lambda: timed(seed.write, _APPENDS), TURNS)
    yield Measure(RAW_BATCH, _raw(folder / "raw-batch", 100, _BATCHES, open), TURNS)
    yield Measure(BATCH, lambda: batch.append(100, _BATCHES), TURNS)
    yield Measure(COMMANDS, commands, TURNS)
    yield from _openings(folder)


def _raw(folder: Path, size: int, times: int, open: ExitStack) -> Callable[[], Timing]:
    """What inserts so many rows at once, so many times."""
    table = RawTable(folder)
    open.callback(table.close)
    versions, payload = count(1), encode(finding(0))

    def append() -> Timing:
        ready = [
            [row(next(versions), "finding.opened", payload) for _ in range(size)]
            for _ in range(times)
        ]
        return timed(lambda n: table.append(ready[n]), times)

    return append


class _Appending:
    """A store, and how far it has come."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.version = 0

    def append(self, size: int, times: int) -> Timing:
        """Append so many drafts at once, so many times."""
        ready = [[_draft() for _ in range(size)] for _ in range(times)]
        first = self.version
        self.version += size * times
        return timed(lambda n: self.store.append(PROJECT, first + n * size, ready[n]), times)


def _draft() -> Draft:
    payload = encode(finding(0))
    return Draft(
        ids.uuid7(now()), "finding.opened", payload, ids.salt(), actor=ACTOR, session=SESSION
    )


def _openings(folder: Path) -> Iterator[Measure]:
    raw = RawTable(folder / "raw-openings")
    raw.close()
    root = folder / "openings"
    histories.create(root).open_project(PROJECT)
    versions, numbers = count(1), count(1)

    def raw_opened(n: int) -> None:
        raw.open()
        raw.append([row(next(versions), "finding.opened", encode(finding(0)))])
        raw.close()

    def opened(n: int) -> None:
        with Journal.open(root) as journal:
            # The same words again would be no news, so they have a number.
            event = NextActionSet(f"Look at vault {next(numbers)}")
            journal.project(PROJECT).append(event, actor=ACTOR, session=SESSION)

    yield Measure(RAW_OPENED, lambda: timed(raw_opened, _OPENINGS), TURNS)
    yield Measure(OPENED, lambda: timed(opened, _OPENINGS), TURNS)
