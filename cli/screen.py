"""What a terminal can show: how wide it is, whether it has colours, and tables that fit.

Written here because a table of rich costs 46 ms of import, a third of what a command may take.
"""

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple
from unicodedata import category, east_asian_width

from cli.output import plain

#: What is assumed where there is no terminal to ask.
_WIDE = 160
_COLOURS = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "cyan": "36",
}


class Cell(NamedTuple):
    """Text in one field of a table, and how to paint it."""

    text: str
    colour: str = ""


def columns() -> int:
    """How wide a line may be."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS"):
        return max(shutil.get_terminal_size((80, 24)).columns, 20)
    return _WIDE


def _coloured() -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def paint(text: str, colour: str) -> str:
    """The text in a colour, where there are any."""
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if colour and _coloured() else text


def cells(text: str) -> int:
    """How many cells of a line a text takes; ideographs and most emoji take two."""
    if text.isascii():
        return len(text)
    return sum(map(_cells, text))


@cache
def _cells(character: str) -> int:
    if category(character) in ("Mn", "Me"):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def fit(text: str, room: int) -> str:
    """As much of a text on one line as there is room for, "…" in the place of the rest."""
    text = plain(text)
    if cells(text) <= room:
        return text
    taken = length = 0
    for character in text:
        length += _cells(character)
        if length > room - 1:
            break
        taken += 1
    return f"{text[:taken].rstrip()}…"


def wrap(text: str, most: int) -> list[str]:
    """A text in as many lines of the screen as it takes, broken between words; no more than
    `most`, the last of which then ends in "…"."""
    room = columns()
    lines = [""]
    words = plain(text).split()
    for n, word in enumerate(words):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if cells(longer) <= room:
            lines[-1] = longer
        elif len(lines) == most:
            lines[-1] = fit(" ".join((lines[-1], *words[n:])), room)
            break
        else:
            lines.append(fit(word, room))
    return lines


def bar(done: int, total: int, wide: int = 10) -> str:
    """How far something is, as a bar."""
    filled = wide * done // total if total else 0
    return "█" * filled + "░" * (wide - filled)


def table(
    rows: Iterable[Sequence[Cell | str]],
    *,
    right: Sequence[int] = (),
    indent: int = 0,
    room: int = 0,
) -> list[str]:
    """Rows in columns that fit the screen, or the room given: the widest gives way until they do.

    The columns whose numbers are in `right` are flush right. The last column is not filled up.
    """
    shown = [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows]
    if not shown:
        return []
    texts = [[plain(cell.text) for cell in row] for row in shown]
    wide = [max(cells(text) for text in column) for column in zip(*texts, strict=True)]
    room = (room or columns()) - indent - 2 * (len(wide) - 1)
    while sum(wide) > room and max(wide) > 4:
        widest = wide.index(max(wide))
        rest = sorted(wide)[-2] if len(wide) > 1 else 0
        wide[widest] = max(room - sum(wide) + wide[widest], min(rest, wide[widest] - 1), 4)
    return [_line(row, wide, right, indent) for row in shown]


def _line(row: list[Cell], wide: list[int], right: Sequence[int], indent: int) -> str:
    parts = []
    for n, (cell, room) in enumerate(zip(row, wide, strict=True)):
        text = fit(cell.text, room)
        space = " " * (room - cells(text))
        painted = paint(text, cell.colour) if text else text
        parts.append(space + painted if n in right else painted + space)
    return (" " * indent + "  ".join(parts)).rstrip()
