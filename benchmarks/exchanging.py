"""Long histories go out, come in and are verified: one process, and two."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from hashlib import sha256
from itertools import islice
from pathlib import Path

import msgspec
from msgspec.structs import replace

from benchmarks import histories, loop, references
from benchmarks.comparison import Comparison, Measure, Timing, timed
from benchmarks.histories import ACTOR, PROJECT, SESSION
from journal import Journal, ids
from journal.audit import audit
from journal.events import (
    VOCABULARY,
    DecisionMade,
    Event,
    FindingOpened,
    ProjectOpened,
    SessionStarted,
)
from journal.exchange import add, lines
from journal.payload import encode
from journal.record import Draft
from journal.sqlite import SqliteStore
from journal.workflows import load

#: How many records the histories have; `--records` says otherwise.
RECORDS = 20_000
_BATCH = 1000

EXPORT, REPLAY = "journal: export", "loop by hand: replay"
IMPORT, INSERT = "journal: import", "sqlite3: insert in batches"
VERIFY, BY_HAND = "journal: verify", "loop by hand: verify"
ONE, TWO = "journal: verify, one process", "journal: verify, two processes"

COMPARISONS = (
    Comparison("export", "export", "share", EXPORT, REPLAY, 0.8),
    Comparison("import", "import with verification", "share", IMPORT, INSERT, 0.5),
    Comparison("verify", "verify", "share", VERIFY, BY_HAND, 0.8),
    Comparison("verify-jobs", "verify with two processes", "share", TWO, ONE, 1.7),
)


def prepare(folder: Path, open: ExitStack) -> Iterator[Measure]:
    """A long history that is only read, and empty journals that are filled with it."""
    root = folder / "exchange"
    journal = open.enter_context(histories.create(root))
    _fill(journal)
    handle, database = journal.project(PROJECT), journal.folder / "journal.db"
    exported, places = folder / "history.jsonl", folder / "imported"

    def export() -> Timing:
        def work(n: int) -> None:
            with exported.open("wb") as file:
                for line in lines(handle):
                    file.write(line)

        return timed(work, 1)

    def into_journal() -> Timing:
        with _empty(places) as store, exported.open("rb") as file:
            return timed(lambda n: add(store, file), 1)

    def into_table() -> Timing:
        shutil.rmtree(places, ignore_errors=True)
        rows = [record.row() for record in journal.store.read(PROJECT)]
        table = references.RawTable(places)

        def work(n: int) -> None:
            for at in range(0, len(rows), _BATCH):
                table.append(rows[at : at + _BATCH])

        took = timed(work, 1)
        table.close()
        return took

    export()
    if loop.replay(database) != handle.at(RECORDS):
        raise AssertionError("the loop by hand does not do the same work")
    verify_by_hand(database)
    yield Measure(EXPORT, export)
    yield Measure(REPLAY, lambda: timed(lambda n: loop.replay(database), 1))
    yield Measure(IMPORT, into_journal)
    yield Measure(INSERT, into_table)
    yield Measure(VERIFY, lambda: timed(lambda n: _audit(journal, 1), 1))
    yield Measure(BY_HAND, lambda: timed(lambda n: verify_by_hand(database), 1))
    yield Measure(ONE, lambda: timed(lambda n: _audit(journal, 1), 1))
    yield Measure(TWO, lambda: timed(lambda n: _audit(journal, 2), 1))


def _audit(journal: Journal, jobs: int) -> None:
    if list(audit(journal.store, jobs=jobs)):
        raise AssertionError("the journal is not well")


def _empty(folder: Path) -> "closing[SqliteStore]":
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return closing(SqliteStore.create(folder))


def _fill(journal: Journal) -> None:
    """Record a long history without asking the rules, which would take longer than all the rest."""
    events = islice(_history(), RECORDS)
    version = 0
    while some := list(islice(events, _BATCH)):
        drafts = [
            Draft(
                ids.uuid7(1_772_446_500_000_000 + version + n),
                event.type,
                encode(event),
                ids.salt(),
                actor=ACTOR,
                session=SESSION,
            )
            for n, event in enumerate(some)
        ]
        journal.store.append(PROJECT, version, drafts)
        version += len(some)


def _history() -> Iterator[Event]:
    flow = load("apex")
    yield ProjectOpened(PROJECT, flow.name, flow.steps, flow.policy)
    counts = {"finding": 0, "decision": 0}
    for event in histories.busy():
        match event:
            case SessionStarted():
                yield replace(event, session="session-001", agent=ACTOR)
            case FindingOpened():
                counts["finding"] += 1
                yield replace(event, finding=f"F{counts['finding']:03}", step="2")
            case DecisionMade():
                counts["decision"] += 1
                yield replace(event, decision=f"D{counts['decision']:03}", step="2")
            case _:
                yield event


def verify_by_hand(database: Path) -> None:
    """What `verify` looks at, in one loop: the database, the head, chain, commitments, payloads."""
    decoders = {tag: msgspec.json.Decoder(kind) for tag, kind in VOCABULARY.items()}
    with closing(sqlite3.connect(database)) as connection:
        [(said,)] = connection.execute("PRAGMA integrity_check(100)").fetchall()
        [(project, last, head)] = connection.execute("SELECT * FROM heads").fetchall()
        rows = connection.execute(
            "SELECT version, id, type, data, salt, commitment, at, occurred, actor, session, "
            "cause, hash FROM records WHERE project = ? ORDER BY version",
            (project,),
        )
        previous = b""
        for tuple_ in rows:
            version, id, tag, data, salt, commitment, at, occurred, actor, session, cause, hash = (
                tuple_
            )
            committed = salt + loop._field(data) + loop._text(actor) + loop._text(session)
            body = b"".join(
                (
                    b"passdown record 1\n",
                    loop._field(previous),
                    loop._text(project),
                    loop._number(version),
                    loop._text(id),
                    loop._text(tag),
                    loop._number(at),
                    loop._number(occurred),
                    loop._text(cause),
                    loop._field(commitment),
                )
            )
            if sha256(committed).digest() != commitment or sha256(body).digest() != hash:
                raise ValueError(f"version {version} is not what was written")
            decoders[tag].decode(data)
            previous = hash
        if (said, last, head) != ("ok", version, previous):
            raise ValueError("the head is not that of the last record")
