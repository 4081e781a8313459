"""Single flipped bits in the database file: what changes for a reader is found."""

import random
from pathlib import Path

import pytest
from faults import PROJECT, View, check_flip, flip_round, view

from journal import Journal
from journal.events import FindingOpened

FLIPS = 125


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, View]:
    """A closed database of 1,000 records in two projects, and what a reader sees in it."""
    folder = tmp_path_factory.mktemp("pristine")
    with Journal.create(folder) as journal:
        for slug, size in ((PROJECT, 899), ("other", 99)):
            titles = [f"finding {n}: the queue is full after {n * 37} orders" for n in range(size)]
            journal.open_project(slug).append(*map(FindingOpened, titles))
        seen = view(journal.store)  # type: ignore[arg-type]  # the only engine there is
        assert sum(len(records) for _, records in seen) == 1000
    assert not (folder / ".passdown" / "journal.db-wal").exists()
    return (folder / ".passdown" / "journal.db").read_bytes(), seen


@pytest.mark.parametrize("seed", [1, 2])
def test_every_flip_that_a_reader_sees_is_found(
    pristine: tuple[bytes, View], tmp_path: Path, seed: int
) -> None:
    """A flipped bit that changes what a reader sees is a flaw, or the file is refused."""
    rng = random.Random(seed)
    content, expected = pristine
    seen = [flip_round(content, expected, tmp_path / str(n), rng) for n in range(FLIPS)]
    assert any(seen)


@pytest.mark.parametrize("bit", [0, 7])
def test_a_flip_anywhere_in_header_and_schema_is_survived(tmp_path: Path, bit: int) -> None:
    """Also where SQLite cannot even say in valid UTF-8 what is wrong, the error is ours."""
    with Journal.create(tmp_path) as journal:
        journal.open_project(PROJECT)
        expected = view(journal.store)  # type: ignore[arg-type]  # the only engine there is
    content = (tmp_path / ".passdown" / "journal.db").read_bytes()
    for n in (n for n in range(4096) if content[n]):
        flipped = content[:n] + bytes([content[n] ^ 1 << bit]) + content[n + 1 :]
        check_flip(content, flipped, expected, tmp_path / str(n))
