"""Replay: every record read, verified, decoded and folded."""

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

from benchmarks import histories, loop
from benchmarks.comparison import Comparison, Measure, timed
from benchmarks.histories import PROJECT

_RECORDS = 10_000
REPLAY = "journal: replay 10,000 records"
LOOP = "loop by hand: replay 10,000 records"

COMPARISONS = (Comparison("replay", "replay with verification", "share", REPLAY, LOOP, 0.7),)


def prepare(folder: Path, open: ExitStack) -> Iterator[Measure]:
    """One journal with a little of everything."""
    journal = open.enter_context(histories.create(folder / "replay"))
    handle = journal.open_project(PROJECT)
    histories.fill(handle, islice(histories.busy(), _RECORDS - 1))
    database = journal.folder / "journal.db"
    if loop.replay(database) != handle.at(_RECORDS):
        raise AssertionError("the loop by hand does not do the same work")
    yield Measure(REPLAY, lambda: timed(lambda n: handle.at(_RECORDS), 1))
    yield Measure(LOOP, lambda: timed(lambda n: loop.replay(database), 1))
