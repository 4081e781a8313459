"""Which lines of markdown are not to be read as markdown: those in fences, and in comments."""

import re
from collections.abc import Sequence

_OPENS = re.compile(r" {0,3}(?P<marks>`{3,}(?=[^`]*\Z)|~{3,})")
_CLOSES = re.compile(r" {0,3}(?P<marks>`{3,}|~{3,})[ \t]*")


def fences(lines: Sequence[str]) -> list[tuple[int, int]]:
    """The fences, by the lines that open and close them; one that nothing closes is none."""
    return [(start, end) for start, end, is_fence in _spans(lines) if is_fence]


def hidden(lines: Sequence[str]) -> set[int]:
    """The lines that are in a fence or a comment, or open or close one of several lines."""
    return {n for start, end, _ in _spans(lines) for n in range(start, end + 1)}


def _spans(lines: Sequence[str]) -> list[tuple[int, int, bool]]:
    found = []
    closers = _Closers(lines)
    n = 0
    while n < len(lines):
        line = lines[n]
        end = None
        opens = _OPENS.match(line)
        if opens:
            end = closers.fence(n, opens["marks"])
        elif line.startswith("<!--") and "-->" not in line:
            end = closers.comment(n)
        if end is None:
            n += 1
            continue
        found.append((n, end, opens is not None))
        n = end + 1
    return found


class _Closers:
    """Where what a line opens is closed; what was looked for in vain is not looked for again."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        #: Mark of a fence -> the shortest one that nothing closes.
        self._open: dict[str, int] = {}
        self._uncommented = False

    def fence(self, start: int, marks: str) -> int | None:
        if len(marks) >= self._open.get(marks[0], len(marks) + 1):
            return None
        for n in range(start + 1, len(self._lines)):
            closes = _CLOSES.fullmatch(self._lines[n])
            if closes and closes["marks"][0] == marks[0] and len(closes["marks"]) >= len(marks):
                return n
        self._open[marks[0]] = len(marks)
        return None

    def comment(self, start: int) -> int | None:
        if self._uncommented:
            return None
        for n in range(start + 1, len(self._lines)):
            if "-->" in self._lines[n]:
                return n
        self._uncommented = True
        return None
