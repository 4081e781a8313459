"""Searching: what finding words costs in a process that goes on, such as a server of agents."""

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from itertools import islice
from pathlib import Path

from benchmarks import histories
from benchmarks.comparison import Comparison, Measure, timed
from benchmarks.histories import PROJECT
from journal.workspace import Workspace
from projections.tables import FILE, search

_EVENTS = 100_000
_TURNS, _SEARCHES = 5, 10
#: As an agent asks: one word that few texts have, one that most have.
RARE, COMMON = "vault 777", "vault endpoint"
SEARCH = "search, 100,000 events"
SEARCH_COMMON = "search for common words, 100,000 events"
RAW = "raw sqlite3: FTS5, the 20 best"
RAW_COMMON = "raw sqlite3: FTS5, the 20 best of common words"

COMPARISONS = (
    Comparison("search", SEARCH, "times", SEARCH, RAW),
    Comparison("search-common", SEARCH_COMMON, "times", SEARCH_COMMON, RAW_COMMON),
    Comparison(
        "search-worst", "slowest search, common words", "worst", SEARCH_COMMON, RAW_COMMON, 50
    ),
)
_RAW = """SELECT rowid, snippet(texts_fts, 0, '[', ']', '…', 16) FROM texts_fts
WHERE texts_fts MATCH ? ORDER BY rank LIMIT 20"""


def prepare(folder: Path, open: ExitStack) -> Iterator[Measure]:
    """One journal with its tables, asked through Passdown and without it."""
    root = folder / "searched"
    journal = open.enter_context(histories.create(root))
    histories.fill(journal.open_project(PROJECT), islice(histories.busy(), _EVENTS - 1))
    workspace = Workspace(root / ".passdown")
    assert search(workspace, journal, RARE), "the first search is what makes the tables"
    raw = open.enter_context(closing(sqlite3.connect(root / ".passdown" / FILE)))

    def ours(words: str) -> Measure:
        return Measure(
            SEARCH if words == RARE else SEARCH_COMMON,
            lambda: timed(lambda n: search(workspace, journal, words), _SEARCHES),
            _TURNS,
        )

    def theirs(words: str) -> Measure:
        return Measure(
            RAW if words == RARE else RAW_COMMON,
            lambda: timed(lambda n: raw.execute(_RAW, (words,)).fetchall(), _SEARCHES),
            _TURNS,
        )

    for words in (RARE, COMMON):
        yield ours(words)
        yield theirs(words)
