"""The pages of a SQLite file and of its write-ahead log, read without SQLite.

(Layout: https://www.sqlite.org/fileformat2.html)
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeAlias

from journal.disk import peek

Value: TypeAlias = bytes | str | int | None

_TABLE_LEAF = 0x0D
_INDEX_LEAF = 0x0A
_WAL_HEADER = 32
_FRAME_HEADER = 24
_SIZES = (4096, 1024, 2048, 8192, 16384, 32768, 65536, 512)


def last_logged(path: Path) -> dict[str, int]:
    """The highest version of each project that a head in the committed log names."""
    last: dict[str, int] = {}
    for row in Pages(path).logged():
        match row:
            case [str(project), int(version), bytes(hash)] if len(hash) == 32:
                last[project] = max(version, last.get(project, 0))
    return last


class Pages:
    """The pages of a database file, under those of its write-ahead log."""

    def __init__(self, path: Path) -> None:
        log = peek(path.with_name(f"{path.name}-wal"))
        self._content = peek(path)
        self._size = self._page_size(log)
        self._frames = list(self._committed(log))
        self._logged = dict(self._frames)

    def _page_size(self, log: bytes) -> int:
        if len(log) >= _WAL_HEADER and log[:3] == b"\x37\x7f\x06":
            named = int.from_bytes(log[8:12], "big")
        else:
            named = int.from_bytes(self._content[16:18], "big")
        if named in _SIZES:
            return named
        whole = (size for size in _SIZES if len(self._content) % size == 0)
        return next(whole, _SIZES[0])

    def _committed(self, log: bytes) -> Iterator[tuple[int, bytes]]:
        """The log's pages up to its last commit: what follows was never acknowledged.

        Checksums are not asked: SQLite takes a frame that fails for the end of the log, and what
        was acknowledged after it is still there.
        """
        pending: list[tuple[int, bytes]] = []
        salts = _salts(log)
        step = _FRAME_HEADER + self._size
        for start in range(_WAL_HEADER, len(log) - step + 1, step):
            header = log[start : start + _FRAME_HEADER]
            if header[8:16] != salts:
                continue  # of an earlier time, or destroyed
            page = log[start + _FRAME_HEADER : start + step]
            pending.append((int.from_bytes(header[:4], "big"), page))
            if header[4:8] != b"\0\0\0\0":
                yield from pending
                pending.clear()

    def _page(self, number: int) -> bytes:
        start = (number - 1) * self._size
        return self._logged.get(number) or self._content[start : start + self._size]

    def logged(self) -> Iterator[list[Value]]:
        """Whatever can be read as a row on any page of the log."""
        return (row for _, page in self._frames for row in self._on(page))

    def rows(self) -> Iterator[list[Value]]:
        """Whatever can be read as a row of a table or of an index, on any page."""
        yield from self.logged()
        for start in range(0, len(self._content), self._size):
            yield from self._on(self._content[start : start + self._size])

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


def _salts(log: bytes) -> bytes:
    """What every frame of the log repeats; the first frame has it, if the header lies."""
    order: Literal["little", "big"] = "big" if log[3:4] == b"\x83" else "little"
    one = two = 0
    for start in range(0, 24, 8):
        one = (one + int.from_bytes(log[start : start + 4], order) + two) & 0xFFFFFFFF
        two = (two + int.from_bytes(log[start + 4 : start + 8], order) + one) & 0xFFFFFFFF
    sound = log[24:32] == one.to_bytes(4, "big") + two.to_bytes(4, "big")
    return log[16:24] if sound else log[_WAL_HEADER + 8 : _WAL_HEADER + 16]
