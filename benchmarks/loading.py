"""Loading: what a long history costs whoever only wants to know how things stand."""

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

from benchmarks import histories
from benchmarks.comparison import Comparison, Measure, timed
from benchmarks.histories import PROJECT
from journal import Journal, Project

_SHORT, _LONG = 200, 200_000
#: What is recorded after the state was cached: as much as the short project has altogether.
_TAIL = 200
_TURNS = 5
SHORT = "journal: load 200 records"
LONG = "journal: load 200,000 records"

COMPARISONS = (Comparison("load", "load of 200,000 records", "times", LONG, SHORT, 1.5),)


def prepare(folder: Path, open: ExitStack) -> Iterator[Measure]:
    """Two projects with states of the same size, one with a thousand times the history."""
    short, long = folder / "short", folder / "long"
    with histories.create(short) as journal:
        handle = journal.open_project(PROJECT)
        histories.fill(handle, islice(histories.steady(), _SHORT - 1))
    histories.cached(long, islice(histories.steady(), _LONG - _TAIL - 1), _TAIL)
    yield Measure(SHORT, lambda: timed(lambda n: load(short), 1), _TURNS)
    yield Measure(LONG, lambda: timed(lambda n: load(long), 1), _TURNS)


def load(root: Path) -> Project:
    """The state of a project as a new process would ask for it."""
    with Journal.open(root) as journal:
        return journal.project(PROJECT).state
