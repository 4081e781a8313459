"""Others that keep events or checkpoints in SQLite, where the extra `bench` is installed.

Each is used as its documentation shows, in WAL mode as it sets it up itself, with the synchronous
setting that SQLite was built with.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from uuid import uuid4

from benchmarks.appending import RAW, TURNS
from benchmarks.comparison import Comparison, Measure, Timing, timed
from benchmarks.histories import finding
from benchmarks.references import seed_state
from journal.payload import encode

RECORDER = "eventsourcing: recorder"
APPLICATION = "eventsourcing: application"
CHECKPOINT = "langgraph-checkpoint-sqlite: put 12 KB"

_RECORDERS = (
    Comparison("recorder", "eventsourcing's recorder", "share", RECORDER, RAW),
    Comparison("application", "eventsourcing's application", "share", APPLICATION, RAW),
)
_CHECKPOINTS = (
    Comparison("checkpoint", "langgraph's checkpoint of 12 KB", "share", CHECKPOINT, RAW),
)
_APPENDS = 10


def _installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # the package that it is in is not there either
        return False


_EVENTSOURCING = _installed("eventsourcing.sqlite")
_LANGGRAPH = _installed("langgraph.checkpoint.sqlite")

COMPARISONS = (
    *(_RECORDERS if _EVENTSOURCING else ()),
    *(_CHECKPOINTS if _LANGGRAPH else ()),
)
MISSING = (
    *(() if _EVENTSOURCING else ("eventsourcing",)),
    *(() if _LANGGRAPH else ("langgraph-checkpoint-sqlite",)),
)


def prepare(folder: Path, open: ExitStack) -> Iterator[Measure]:
    """Those that are installed, each with a database of its own."""
    if _EVENTSOURCING:
        yield _recorder(folder / "recorder.db", open)
        yield _application(folder / "application.db", open)
    if _LANGGRAPH:
        yield _checkpoints(folder / "checkpoints.db", open)


def _recorder(path: Path, open: ExitStack) -> Measure:
    from eventsourcing.persistence import StoredEvent
    from eventsourcing.sqlite import SQLiteApplicationRecorder, SQLiteDatastore

    datastore = SQLiteDatastore(str(path))
    open.callback(datastore.close)
    recorder = SQLiteApplicationRecorder(datastore)
    recorder.create_table()
    stream, payload, versions = uuid4(), encode(finding(0)), count(1)

    def append() -> Timing:
        ready = [
            StoredEvent(stream, next(versions), "finding.opened", payload) for _ in range(_APPENDS)
        ]
        return timed(lambda n: recorder.insert_events(ready[n : n + 1]), _APPENDS)

    return Measure(RECORDER, append, TURNS)


def _application(path: Path, open: ExitStack) -> Measure:
    from eventsourcing.application import Application
    from eventsourcing.domain import Aggregate, event

    class Project(Aggregate):  # type: ignore[misc, unused-ignore]  # Any, where not installed
        def __init__(self) -> None:
            # It copies the aggregate for every command, so one that grows would not be fair.
            self.finding = ""

        @event("FindingOpened")  # type: ignore[untyped-decorator, unused-ignore]
        def open_finding(self, title: str, detail: str) -> None:
            self.finding = title

    # With its cache, so that it has the aggregate in memory as a warm handle has the state.
    application: Application = Application(
        {
            "PERSISTENCE_MODULE": "eventsourcing.sqlite",
            "SQLITE_DBNAME": str(path),
            "AGGREGATE_CACHE_MAXSIZE": "10",
        }
    )
    open.callback(application.close)
    project = Project()
    application.save(project)
    numbers = count(1)

    def command(n: int) -> None:
        finding_now = finding(next(numbers))
        loaded = application.repository.get(project.id)
        loaded.open_finding(finding_now.title, finding_now.detail)
        application.save(loaded)

    return Measure(APPLICATION, lambda: timed(command, _APPENDS), TURNS)


def _checkpoints(path: Path, open: ExitStack) -> Measure:
    from langgraph.checkpoint.base import empty_checkpoint
    from langgraph.checkpoint.sqlite import SqliteSaver

    connection = sqlite3.connect(path, check_same_thread=False)
    open.callback(connection.close)
    saver = SqliteSaver(connection)
    saver.setup()
    state = seed_state()
    config = {"configurable": {"thread_id": "1", "checkpoint_ns": ""}}

    def put(n: int) -> None:
        nonlocal config
        checkpoint = empty_checkpoint()
        checkpoint["channel_values"] = state
        config = saver.put(config, checkpoint, {"source": "loop", "step": n}, {})

    return Measure(CHECKPOINT, lambda: timed(put, _APPENDS), TURNS)
