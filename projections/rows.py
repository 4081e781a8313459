"""Files of markdown by their lines: what is hidden in comments and fences, and tables, by rows."""

import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from projections.narrative import Piece

HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*\Z")
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^`]*)\Z")
_COMMENT = re.compile(r" {0,3}<!--")
_RULE = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?")


class Row(Struct, frozen=True):
    """A row of a table: what is in it by the names of the columns."""

    section: str
    text: str
    line: int
    values: dict[str, str]


def row(*cells: str) -> str:
    """A row of these cells, in which no `|` stands: not all readers know an escaped one."""
    return f"| {' | '.join(cells)} |\n"


def head(*columns: str) -> str:
    """What a table of these columns begins with."""
    rule = "|".join("-" * (len(column) + 2) for column in columns)
    return f"{row(*columns)}|{rule}|\n"


def cells(line: str) -> list[str] | None:
    """What is in the cells of a row; None if the line is none."""
    text = line.strip()
    if not text.startswith("|"):
        return None
    text = text[1:-1] if len(text) > 1 and text.endswith("|") and text[-2] != "\\" else text[1:]
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", text)]


def lines_of(text: str) -> list[str]:
    """The lines of a file, which end in LF and in nothing else."""
    parts = text.split("\n")
    return [f"{each}\n" for each in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def with_blanks_above(lines: list[str], at: int) -> int:
    """The line where the blank lines above another begin."""
    while at and not lines[at - 1].strip():
        at -= 1
    return at


def hidden(lines: list[str], at: int) -> int:
    """The line after a comment or fence that begins here; 0 if none does, or has no end."""
    line = lines[at].rstrip("\n")
    if _COMMENT.match(line):
        for end in range(at, len(lines)):
            if "-->" in (lines[end].partition("<!--")[2] if end == at else lines[end]):
                return end + 1
        return 0
    found = FENCE.match(line)
    if found is None:
        return 0
    marks = found[1]
    closing = re.compile(rf" {{0,3}}{re.escape(marks[0])}{{{len(marks)},}}[ \t]*\Z")
    ends = (n + 1 for n in range(at + 1, len(lines)) if closing.match(lines[n].rstrip("\n")))
    return next(ends, 0)


def table(
    section: str,
    lines: list[str],
    start: int,
    end: int,
    *,
    fits: Callable[[list[str]], bool],
    hides: Callable[[list[str], int], int] = hidden,
) -> Iterator[Piece | Row]:
    """The head and the rows of a section's table, if its columns fit, and what stands around it."""
    at = start
    while at < end:
        if past := hides(lines, at):
            at = past
        elif (
            (names := cells(lines[at]))
            and at + 1 < end
            and _RULE.fullmatch(lines[at + 1].strip())
            and fits([column(name) for name in names])
        ):
            break
        else:
            at += 1
    if at >= end:
        yield Piece("", "".join(lines[start:end]))
        yield Piece(f"{section} end", "")
        return
    above = max(with_blanks_above(lines, at), start)
    yield Piece("", "".join(lines[start:above]))
    yield Piece(f"{section} head", "".join(lines[above : at + 2]))
    columns = [column(cell) for cell in cells(lines[at]) or ()]
    at += 2
    while at < end and (found := cells(lines[at])) is not None:
        if len(found) == len(columns):
            values = dict(zip(columns, found, strict=True))
            yield Row(section, lines[at], at + 1, values)
        else:
            yield Piece("", lines[at])
        at += 1
    yield Piece(f"{section} end", "")
    yield Piece("", "".join(lines[at:end]))


def column(cell: str) -> str:
    """The name of a column, however it is written."""
    return re.sub(r"[^a-z]+", " ", cell.lower()).strip()
