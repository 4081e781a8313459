"""Single flipped bits in the database file: what changes for a reader is found."""

import random
from pathlib import Path

import pytest
from faults import PROJECT, View, check_flip, flip_round, view

from journal import Journal
from journal.doubtful import doubtful
from journal.events import FindingOpened
from journal.pages import Pages

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


@pytest.mark.parametrize("part", range(4))
def test_every_page_is_watched(pristine: tuple[bytes, View], tmp_path: Path, part: int) -> None:
    """On each page of the file, at places spread over it, what a reader sees is found and named."""
    content, expected = pristine
    rng = random.Random(part)
    for start in range(part * 4096, len(content), 4 * 4096):
        for begin in range(start, start + 4096, 1024):
            place = rng.randrange(begin, begin + 1024)
            changed = content[place] ^ 1 << rng.randrange(8)
            flipped = content[:place] + bytes([changed]) + content[place + 1 :]
            check_flip(content, flipped, expected, tmp_path / str(place))


def test_where_sqlite_does_not_say_the_page_is_named(
    pristine: tuple[bytes, View], tmp_path: Path
) -> None:
    """A file that SQLite only calls malformed is looked at page by page."""
    content, _ = pristine
    pages = [content[n : n + 4096] for n in range(0, len(content), 4096)]
    for number in (n for n, page in enumerate(pages, start=1) if page[0] in (0x02, 0x0A)):
        folder = tmp_path / str(number)
        folder.mkdir()
        start = (number - 1) * 4096
        leaf = content[start] == 0x0A
        first = start + (8 if leaf else 12)
        at = start + int.from_bytes(content[first : first + 2], "big") + (0 if leaf else 4)
        flipped = content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :]
        (folder / "journal.db").write_bytes(flipped)
        assert number in doubtful(Pages.of(folder / "journal.db"))
    (tmp_path / "journal.db").write_bytes(content)
    assert doubtful(Pages.of(tmp_path / "journal.db")) == []


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
