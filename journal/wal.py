"""SQLite's write-ahead log, read without SQLite.

SQLite takes the first frame whose checksum fails for the end of its log, and writes the next
transaction over what follows, although it was acknowledged. So whoever opens a journal looks
whether the log goes on behind what SQLite shows of it. (No lock is ever held on the log itself, so
that it may be opened and closed beside SQLite.)
"""

import sys
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct

_HEADER = 32
_FRAME_HEADER = 24
#: What a page's size can be, the usual one first.
SIZES = (4096, 1024, 2048, 8192, 16384, 32768, 65536, 512)


class Frame(Struct, frozen=True):
    """One page as a transaction left it; the last of a transaction commits it."""

    start: int
    page: int
    commits: bool


class Log:
    """The frames of a log that were committed; what follows was never acknowledged.

    Checksums are not asked: what SQLite takes for the end of the log may not be.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._content = path.read_bytes()
        except OSError:
            self._content = b""
        named = int.from_bytes(self._content[8:12], "big")
        self.page_size = named if named in SIZES else SIZES[0]
        self.frames = list(self._committed())

    def _committed(self) -> Iterator[Frame]:
        pending: list[Frame] = []
        salts = self._salts()
        step = _FRAME_HEADER + self.page_size
        for start in range(_HEADER, len(self._content) - step + 1, step):
            header = self._content[start : start + _FRAME_HEADER]
            if header[8:16] != salts:
                continue  # of an earlier time, or destroyed
            commits = header[4:8] != b"\0\0\0\0"
            pending.append(Frame(start, int.from_bytes(header[:4], "big"), commits))
            if commits:
                yield from pending
                pending.clear()

    def content(self, frame: Frame) -> bytes:
        """The bytes of a frame's page."""
        start = frame.start + _FRAME_HEADER
        return self._content[start : start + self.page_size]

    def last_transaction(self) -> list[Frame]:
        """The frames of the last transaction that was committed."""
        before = [n for n, frame in enumerate(self.frames[:-1]) if frame.commits]
        return self.frames[before[-1] + 1 :] if before else self.frames

    def is_sound(self) -> bool:
        """Whether SQLite can read the log to its last commit."""
        order = self._order()
        sums = _checksum(self._content[:24], order, (0, 0))
        if not self.frames or self._content[24:32] != _stored(sums):
            return False
        step = _FRAME_HEADER + self.page_size
        for start in range(_HEADER, self.frames[-1].start + 1, step):
            header = self._content[start : start + _FRAME_HEADER]
            page = self._content[start + _FRAME_HEADER : start + step]
            sums = _checksum(page, order, _checksum(header[:8], order, sums))
            if header[8:16] != self._content[16:24] or header[16:24] != _stored(sums):
                return False
        return True

    def _order(self) -> Literal["little", "big"]:
        return "big" if self._content[3:4] == b"\x83" else "little"

    def _salts(self) -> bytes:
        """What every frame of the log repeats; the first frame has it, if the header lies."""
        sums = _checksum(self._content[:24], self._order(), (0, 0))
        if self._content[24:32] == _stored(sums):
            return self._content[16:24]
        return self._content[_HEADER + 8 : _HEADER + 16]


def _checksum(
    content: bytes, order: Literal["little", "big"], sums: tuple[int, int]
) -> tuple[int, int]:
    words = array("I", content)
    if order != sys.byteorder:
        words.byteswap()
    one, two = sums
    for n in range(0, len(words), 2):
        one = (one + words[n] + two) & 0xFFFFFFFF
        two = (two + words[n + 1] + one) & 0xFFFFFFFF
    return one, two


def _stored(sums: tuple[int, int]) -> bytes:
    return sums[0].to_bytes(4, "big") + sums[1].to_bytes(4, "big")
