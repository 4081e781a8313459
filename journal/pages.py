"""The rows on the pages of a SQLite file and of its write-ahead log, read without SQLite.

(Layout: https://www.sqlite.org/fileformat2.html)
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from journal.disk import peek
from journal.wal import SIZES, Frame, Log

Value: TypeAlias = bytes | str | int | None

_TABLE_LEAF = 0x0D
_INDEX_LEAF = 0x0A
_INTERIOR = (0x02, 0x05)


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

    def doubtful(self) -> Iterator[int]:
        """The pages on which something is that no journal has: where SQLite only says that the file
        is malformed, this says where. The first page, with header and schema, is not looked at."""
        for number in range(2, len(self._content) // self._size + 1):
            try:
                if not self._is_likely(self._page(number)):
                    yield number
            except (IndexError, ValueError):
                yield number

    def _is_likely(self, page: bytes) -> bool:
        if page[0] in (_TABLE_LEAF, _INDEX_LEAF):
            return all(map(_is_ours, self._rows(page)))
        if page[0] in _INTERIOR:
            starts = [8, *self._pointers(page, 12)]
            children = (int.from_bytes(page[start : start + 4], "big") for start in starts)
            return all(0 < child <= len(self._content) // self._size for child in children)
        return page[0] == 0  # what follows an overflow page, or is free, begins with a small number

    def _rows(self, page: bytes) -> Iterator[list[Value]]:
        return (self._row(page, start) for start in self._pointers(page, 8))

    def _pointers(self, page: bytes, first: int) -> Iterator[int]:
        for n in range(int.from_bytes(page[3:5], "big")):
            start = int.from_bytes(page[first + 2 * n : first + 2 * n + 2], "big")
            if not 8 <= start < self._size:
                raise ValueError("a row begins outside its page")
            yield start

    def _on(self, page: bytes) -> Iterator[list[Value]]:
        # The first page begins with the file's own header; what we look for is never on it.
        if len(page) < 8 or page[0] not in (_TABLE_LEAF, _INDEX_LEAF):
            return
        for n in range(int.from_bytes(page[3:5], "big")):
            pointer = 8 + 2 * n
            try:
                yield self._row(page, int.from_bytes(page[pointer : pointer + 2], "big"))
            except (IndexError, ValueError):
                continue

    def _row(self, page: bytes, at: int) -> list[Value]:
        length, at = _varint(page, at)
        table = page[0] == _TABLE_LEAF
        number, at = _varint(page, at) if table else (0, at)
        body = self._payload(page, at, length, table)
        header, cursor = _varint(body, 0)
        kinds = []
        while cursor < header:
            kind, cursor = _varint(body, cursor)
            kinds.append(kind)
        values: list[Value] = []
        for kind in kinds:
            value, cursor = _value(body, cursor, kind)
            values.append(value)
        if table:
            values[0] = number  # an integer primary key is the row's number, and null in its place
        return values

    def _payload(self, page: bytes, at: int, length: int, table: bool) -> bytes:
        """A row's bytes: what is on the page, then its chain of overflow pages."""
        size = self._size
        most = size - 35 if table else (size - 12) * 64 // 255 - 23
        if length <= most:
            return page[at : at + length]
        least = (size - 12) * 32 // 255 - 23
        local = least + (length - least) % (size - 4)
        local = local if local <= most else least
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


def _is_ours(row: list[Value]) -> bool:
    """Whether a row could be of one of the journal's tables or indices."""
    match row:
        case [str(), int() | str(), int()] | [str(), int(), bytes()]:
            return True
        case [int(), str(), int(), str(), str(), bytes(), _, bytes(), int(), *rest]:
            return len(rest) == 5
    return False


def _page_size(content: bytes) -> int:
    named = int.from_bytes(content[16:18], "big")
    if named in SIZES:
        return named
    whole = (size for size in SIZES if len(content) % size == 0)
    return next(whole, SIZES[0])


def _varint(page: bytes, at: int) -> tuple[int, int]:
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
