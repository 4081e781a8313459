"""The rows on the pages of a SQLite file and of its write-ahead log, read without SQLite.

(Layout: https://www.sqlite.org/fileformat2.html)
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from journal.disk import peek
from journal.wal import SIZES, Frame, Log

Value: TypeAlias = bytes | str | int | None

TABLE_LEAF = 0x0D
INDEX_LEAF = 0x0A


def log_of(path: Path) -> Log:
    """The write-ahead log of a database file."""
    return Log(path.with_name(f"{path.name}-wal"))


def last_logged(log: Log, frames: Iterable[Frame]) -> dict[str, int]:
    """The highest version of each project that a head in these frames of the log names."""
    last: dict[str, int] = {}
    pages = Pages(b"", log)
    for row in pages.on_frames(frames):
        match row:
            case [str(project), int(version), bytes(hash)] if len(hash) == 32:
                last[project] = max(version, last.get(project, 0))
    return last


class Pages:
    """The pages of a database file, under those of its write-ahead log."""

    def __init__(self, content: bytes, log: Log) -> None:
        self._content = content
        self._log = log
        self._size = log.page_size if log.frames else _page_size(content)
        self._logged = {frame.page: frame for frame in log.frames}

    @classmethod
    def of(cls, path: Path) -> "Pages":
        """The pages of the database at a path."""
        log = log_of(path)
        return cls(peek(path), log)

    def _page(self, number: int) -> bytes:
        if frame := self._logged.get(number):
            return self._log.content(frame)
        start = (number - 1) * self._size
        return self._content[start : start + self._size]

    def on_frames(self, frames: Iterable[Frame]) -> Iterator[list[Value]]:
        """Whatever can be read as a row on the pages of these frames."""
        return (row for frame in frames for row in self._on(self._log.content(frame)))

    def rows(self) -> Iterator[list[Value]]:
        """Whatever can be read as a row of a table or of an index, on any page."""
        yield from self.on_frames(self._log.frames)
        for start in range(0, len(self._content), self._size):
            yield from self._on(self._content[start : start + self._size])

    @property
    def count(self) -> int:
        """How many pages the file has."""
        return len(self._content) // self._size

    def page(self, number: int) -> bytes:
        """A page as it was written last."""
        return self._page(number)

    def cell(self, page: bytes, at: int) -> tuple[list[Value], int]:
        """The row that begins at a place of its page, and where the page's part of it ends; a
        ValueError or IndexError where it is not as long as it says."""
        return self._row(page, at), self._end(page, at)

    def _on(self, page: bytes) -> Iterator[list[Value]]:
        # The first page begins with the file's own header; what we look for is never on it.
        if len(page) < 8 or page[0] not in (TABLE_LEAF, INDEX_LEAF):
            return
        for n in range(int.from_bytes(page[3:5], "big")):
            pointer = 8 + 2 * n
            try:
                yield self._row(page, int.from_bytes(page[pointer : pointer + 2], "big"))
            except (IndexError, ValueError):
                continue

    def _row(self, page: bytes, at: int) -> list[Value]:
        length, at = varint(page, at)
        table = page[0] == TABLE_LEAF
        number, at = varint(page, at) if table else (0, at)
        body = self._payload(page, at, length, table)
        header, cursor = varint(body, 0)
        kinds = []
        while cursor < header:
            kind, cursor = varint(body, cursor)
            kinds.append(kind)
        values: list[Value] = []
        for kind in kinds:
            value, cursor = _value(body, cursor, kind)
            values.append(value)
        if cursor != length:
            raise ValueError("the row is not as long as it says")
        if table:
            values[0] = number  # an integer primary key is the row's number, and null in its place
        return values

    def _end(self, page: bytes, at: int) -> int:
        """Where the part of a row ends that is on its page."""
        length, at = varint(page, at)
        table = page[0] == TABLE_LEAF
        if table:
            _, at = varint(page, at)
        local = self._local(length, table)
        return at + local + (4 if local < length else 0)

    def _local(self, length: int, table: bool) -> int:
        """How much of a row is on its page."""
        size = self._size
        most = size - 35 if table else (size - 12) * 64 // 255 - 23
        if length <= most:
            return length
        least = (size - 12) * 32 // 255 - 23
        local = least + (length - least) % (size - 4)
        return local if local <= most else least

    def _payload(self, page: bytes, at: int, length: int, table: bool) -> bytes:
        """A row's bytes: what is on the page, then its chain of overflow pages."""
        size, local = self._size, self._local(length, table)
        if local == length:
            return page[at : at + length]
        parts = [page[at : at + local]]
        following = int.from_bytes(page[at + local : at + local + 4], "big")
        left = length - local
        while left > 0 and following:
            overflow = self._page(following)
            if len(overflow) < size:
                raise ValueError("an overflow page is not there")
            parts.append(overflow[4 : 4 + left])
            following = int.from_bytes(overflow[:4], "big")
            left -= size - 4
        return b"".join(parts)


def _page_size(content: bytes) -> int:
    named = int.from_bytes(content[16:18], "big")
    if named in SIZES:
        return named
    whole = (size for size in SIZES if len(content) % size == 0)
    return next(whole, SIZES[0])


def varint(page: bytes, at: int) -> tuple[int, int]:
    value = 0
    for n in range(9):
        byte = page[at + n]
        if n == 8:
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + n + 1
    raise ValueError("unreachable: a varint has at most nine bytes")


_WIDTHS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


def _value(body: bytes, at: int, kind: int) -> tuple[Value, int]:
    if kind == 0:
        return None, at
    if kind in _WIDTHS:
        end = at + _WIDTHS[kind]
        return int.from_bytes(body[at:end], "big", signed=True), end
    if kind in (8, 9):
        return kind - 8, at
    if kind < 12:
        raise ValueError("a record has no real numbers")
    end = at + (kind - 12) // 2
    if end > len(body):
        raise ValueError("the row runs past its page")
    value = body[at:end]
    return (value if kind % 2 == 0 else value.decode()), end
