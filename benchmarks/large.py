"""A large state: 10,000 decisions and 10,000 findings that were resolved."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count, islice
from pathlib import Path

from benchmarks import histories
from benchmarks.comparison import Comparison, Measure, Timing, timed
from benchmarks.histories import ACTOR, PROJECT, SESSION, finding
from benchmarks.loading import load
from journal import Handle, Journal
from journal.workspace import Workspace
from projections.files import sync

_ITEMS = 10_000
_TAIL = 200
_TURNS = 5
_COMMANDS, _LOADS = 10, 3
EMPTY_COMMAND = "journal: command, empty state"
LARGE_COMMAND = "journal: command, large state"
EMPTY_LOAD = "journal: load, empty state"
LARGE_LOAD = "journal: load, large state"
EMPTY_SYNC = "files: sync, empty state"
LARGE_SYNC = "files: sync, large state"

COMPARISONS = (
    Comparison(
        "large-command", "warm command, large state", "times", LARGE_COMMAND, EMPTY_COMMAND, 1.5
    ),
    Comparison("large-load", "cold load, large state", "times", LARGE_LOAD, EMPTY_LOAD),
    Comparison("large-sync", "sync after a change, large state", "times", LARGE_SYNC, EMPTY_SYNC),
)


def prepare(folder: Path, open: ExitStack) -> Iterator[Measure]:
    """A large project three times, for each measure to change as it likes, and empty ones."""
    loaded, warm, synced = (folder / f"large-{name}" for name in ("load", "command", "sync"))
    histories.cached(loaded, histories.decided_and_resolved(_ITEMS), _TAIL)
    shutil.copytree(loaded, warm)
    shutil.copytree(loaded, synced)
    large = open.enter_context(Journal.open(warm)).project(PROJECT)
    empty = open.enter_context(histories.create(folder / "empty-command"))
    fresh = folder / "empty-load"
    with histories.create(fresh) as journal:
        journal.open_project(PROJECT)
    rounds = count(1)
    numbers = count(_ITEMS + 1)

    def command(handle: Handle) -> Timing:
        events = [finding(next(numbers)) for _ in range(_COMMANDS)]
        assert handle.state.version, "asking for the state is what brings it into memory"
        return timed(lambda n: handle.append(events[n], actor=ACTOR, session=SESSION), _COMMANDS)

    def empty_command() -> Timing:
        handle = empty.open_project(f"empty-{next(rounds)}")
        histories.fill(handle, islice(histories.decided_and_resolved(0), 2))
        return command(handle)

    yield Measure(EMPTY_COMMAND, empty_command, _TURNS)
    yield Measure(LARGE_COMMAND, lambda: command(large), _TURNS)
    yield Measure(EMPTY_LOAD, lambda: timed(lambda n: load(fresh), _LOADS))
    yield Measure(LARGE_LOAD, lambda: timed(lambda n: load(loaded), _LOADS))
    yield from _syncing(folder / "empty-sync", synced, open)


def _syncing(fresh: Path, large: Path, open: ExitStack) -> Iterator[Measure]:
    with histories.create(fresh) as journal:
        histories.fill(journal.open_project(PROJECT), histories.decided_and_resolved(0))
    numbers = count(_ITEMS + 1)
    for name, root in ((EMPTY_SYNC, fresh), (LARGE_SYNC, large)):
        workspace = Workspace(root / ".passdown")
        handle = open.enter_context(Journal.open(root)).project(PROJECT)

        def synced(workspace: Workspace = workspace, handle: Handle = handle) -> Timing:
            handle.append(finding(next(numbers)), actor=ACTOR, session=SESSION)
            return timed(lambda n: sync(workspace, handle), 1)

        yield Measure(name, synced)
