"""On which pages of a database something stands that no journal has.

Where SQLite only says that its file is malformed, this says where. Every row is held against the
form of the tables and indices, every entry of an index against the record that it leads to.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import TypeAlias

from journal.pages import INDEX_LEAF, TABLE_LEAF, Pages, Value

_INDEX_NODE = 0x02
_TABLE_NODE = 0x05
#: What the pages that hold nothing but bytes, or nothing, begin with: a small number.
_OTHER = 0x00

#: Project, version and id of each record, by its position.
Places: TypeAlias = dict[int, tuple[str, int, str]]


def doubtful(pages: Pages) -> Iterator[int]:
    """The numbers of such pages. The first, with header and schema, is not looked at."""
    places = dict(_places(pages))
    for number in range(2, pages.count + 1):
        try:
            if not _is_likely(pages, pages.page(number), places):
                yield number
        except (IndexError, ValueError):
            yield number


def _places(pages: Pages) -> Iterator[tuple[int, tuple[str, int, str]]]:
    for row in pages.rows():
        match row:
            case [int(position), str(project), int(version), str(id), *rest] if len(rest) == 10:
                yield position, (project, version, id)


def _is_likely(pages: Pages, page: bytes, places: Places) -> bool:
    kind = page[0]
    if kind not in (TABLE_LEAF, INDEX_LEAF, _INDEX_NODE, _TABLE_NODE):
        return kind == _OTHER
    node = kind in (_INDEX_NODE, _TABLE_NODE)
    starts = list(_starts(page, 12 if node else 8))
    children = [int.from_bytes(page[at : at + 4], "big") for at in ([8, *starts] if node else [])]
    if any(not 0 < child <= pages.count for child in children):
        return False
    if kind == _TABLE_NODE:
        return True
    found = [pages.cell(page, at + 4 if node else at) for at in starts]
    ends = sorted((at, end) for at, (_, end) in zip(starts, found, strict=True))
    apart = all(end <= later for (_, end), (later, _) in pairwise(ends))
    return apart and all(_is_ours(row, places) for row, _ in found)


def _starts(page: bytes, first: int) -> Iterator[int]:
    """Where the cells of a page begin."""
    for n in range(int.from_bytes(page[3:5], "big")):
        start = int.from_bytes(page[first + 2 * n : first + 2 * n + 2], "big")
        if not first <= start < len(page):
            raise ValueError("a row begins outside its page")
        yield start


def _is_ours(row: list[Value], places: Places) -> bool:
    """Whether a row could be of one of the journal's tables or indices."""
    match row:
        case [str(), int(), bytes()]:
            return True
        case [str(project), int() | str() as key, int(position)]:
            known = places.get(position)
            return known is not None and known[0] == project and key in known[1:]
        case [int(), str(), int(), str(), str(), bytes(), _, bytes(), int(), *rest]:
            return len(rest) == 5
    return False
