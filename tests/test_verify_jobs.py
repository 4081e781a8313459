"""Verifying with several processes finds what one finds, wherever in a history it is."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from command import quick

from journal import Journal, ranges
from journal.audit import audit
from journal.ranges import Range, audit_range, pieces
from journal.record import GENESIS, Draft
from journal.store import Flaw, Head

RECORDS = 1_000


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A history of a thousand records is long already, and a piece has a hundred."""
    monkeypatch.setattr(ranges, "WORTH", 0)
    monkeypatch.setattr("journal.audit.WORTH", 0)
    monkeypatch.setattr(ranges, "_PIECE", 100)
    monkeypatch.setattr("journal.audit.pieces", lambda heads: pieces(heads, 100))


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    """Two projects, one with a thousand records."""
    with Journal.create(tmp_path) as made:
        for slug, size in (("app", RECORDS), ("web", 5)):
            drafts = [
                Draft(f"id-{n}", "finding.opened", b'{"title":"x","finding":"F%d"}' % n, bytes(16))
                for n in range(size)
            ]
            made.store.append(slug, 0, drafts)
        yield made


def change(journal: Journal, *statements: str) -> None:
    """Change the database as somebody would who goes around the API."""
    path = journal.folder / "journal.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        triggers = {
            name: connection.execute(
                "SELECT sql FROM sqlite_schema WHERE name = ?", (name,)
            ).fetchone()[0]
            for name in ("records_unchanged", "records_kept")
        }
        for name in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)
        for trigger in triggers.values():
            connection.execute(trigger)


def found(journal: Journal, jobs: int) -> list[Flaw]:
    """What an audit finds."""
    return list(audit(journal.store, jobs=jobs))


def test_a_sound_history_is_sound_in_pieces(journal: Journal) -> None:
    """Nothing is found in it, and progress comes to all of it."""
    done: list[int] = []
    assert list(audit(journal.store, done.append, jobs=2)) == []
    assert sum(done) == RECORDS + 5


def test_pieces_are_the_whole() -> None:
    """Ranges begin where the one before ends, and the last one knows the head."""
    cut = pieces([Head("app", 250, b"h"), Head("web", 100, b"w")], 100)
    assert cut == [
        Range("app", 0, 100),
        Range("app", 100, 200),
        Range("app", 200, 250, b"h"),
        Range("web", 0, 100, b"w"),
    ]


@pytest.mark.parametrize("version", [1, 99, 100, 101, 102, 555, 1000])
def test_a_change_is_found_wherever_it_is(journal: Journal, version: int) -> None:
    """Also at the seam of two pieces, and it is named as one process names it."""
    change(
        journal,
        f'UPDATE records SET data = \'{{"title":"y"}}\' WHERE version = {version} '
        "AND project = 'app'",
    )
    flaws = found(journal, 2)
    assert [flaw.version for flaw in flaws] == [version]
    assert flaws == found(journal, 1)


@pytest.mark.parametrize("version", [1, 100, 101, 1000])
def test_a_missing_record_is_found(journal: Journal, version: int) -> None:
    """Records that are gone are named, at a seam and at the end."""
    change(journal, f"DELETE FROM records WHERE version = {version} AND project = 'app'")
    assert found(journal, 2)
    assert {flaw.project for flaw in found(journal, 2)} == {"app"}


def test_a_forged_chain_that_meets_its_neighbours_nowhere(journal: Journal) -> None:
    """A piece that is sound in itself is held against the hash of the record before it."""
    change(journal, "UPDATE records SET hash = zeroblob(32) WHERE version = 100 AND project='app'")
    assert [flaw.version for flaw in found(journal, 2)] == [100]


def test_a_head_that_lies(journal: Journal) -> None:
    """The head is held against the end of the last piece."""
    change(journal, "UPDATE heads SET hash = zeroblob(32) WHERE project = 'app'")
    assert found(journal, 2) == found(journal, 1)
    assert "does not match" in found(journal, 2)[0].what


def test_a_range_begins_with_what_is_said_before_it(journal: Journal) -> None:
    """Where the record before a range is missing, the range is not sound."""
    assert list(audit_range(journal.store, Range("app", 100, 200))) == []
    flaws = list(audit_range(journal.store, Range("app", 2000, 2100)))
    assert flaws
    assert GENESIS == b""


def test_the_command_takes_jobs(tmp_path: Path) -> None:
    """However many processes are asked for, the answer is the same."""
    assert quick(tmp_path, "init", "shop").code == 0
    one, two, many = (quick(tmp_path, "verify", "--jobs", n) for n in ("1", "2", "0"))
    assert one == two == many
    assert one.code == 0
