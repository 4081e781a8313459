"""On which pages of a database something stands that no journal has.

Where SQLite only says that its file is malformed, this says where. Every row is held against the
form of the tables and indices, every entry of an index against the record that it leads to.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import TypeAlias

from journal.pages import INDEX_LEAF, TABLE_LEAF, Pages, Value, varint

_INDEX_NODE = 0x02
_TABLE_NODE = 0x05
#: What the pages that hold nothing but bytes, or nothing, begin with: a small number.
_OTHER = 0x00

#: Project, version and id of each record, by its position.
Places: TypeAlias = dict[int, tuple[str, int, str]]


def doubtful(pages: Pages) -> list[int]:
    """The numbers of such pages. The first, with header and schema, is not looked at.

    Those that are broken in themselves come alone: what leads to them is as it was.
    """
    numbers = range(2, pages.count + 1)
    broken = [number for number in numbers if _is_broken(pages, pages.page(number))]
    if broken:
        return broken
    places = dict(_places(pages))
    led_to = Counter(child for number in numbers for child in _children(pages.page(number)))
    return [
        number
        for number in numbers
        if not _is_likely(pages, pages.page(number), places)
        or any(led_to[child] > 1 for child in _children(pages.page(number)))
    ]


def _places(pages: Pages) -> Iterator[tuple[int, tuple[str, int, str]]]:
    for row in pages.rows():
        match row:
            case [int(position), str(project), int(version), str(id), *rest] if len(rest) == 10:
                yield position, (project, version, id)


def _is_broken(pages: Pages, page: bytes) -> bool:
    """Whether a page is of no kind, or its rows are not whole, apart and of a form of ours."""
    kind = page[0]
    if kind not in (TABLE_LEAF, INDEX_LEAF, _INDEX_NODE, _TABLE_NODE):
        return kind != _OTHER
    try:
        if not all(0 < child <= pages.count for child in _children(page)):
            return True
        if kind == _TABLE_NODE:
            return False
        rows = [(at, *pages.cell(page, at)) for at in _rows(page)]
    except (IndexError, ValueError):
        return True
    ends = sorted((at, end) for at, _, end in rows)
    apart = all(end <= later for (_, end), (later, _) in pairwise(ends))
    return not (apart and all(_is_ours(row) for _, row, _ in rows))


def _is_likely(pages: Pages, page: bytes, places: Places) -> bool:
    """Whether what leads to records, or to pages with records, leads to those that it says."""
    if page[0] == _TABLE_NODE:
        keys = [varint(page, at + 4)[0] for at in _starts(page)]
        found = zip(_children(page)[1:], keys, strict=True)
        return all(_last(pages, child) in (key, None) for child, key in found)
    if page[0] not in (INDEX_LEAF, _INDEX_NODE):
        return True
    for at in _rows(page):
        match pages.cell(page, at)[0]:
            case [str(project), int() | str() as key, int(position)]:
                known = places.get(position)
                if known is None or known[0] != project or key not in known[1:]:
                    return False
    return True


def _last(pages: Pages, number: int) -> int | None:
    """The position of the last record on a page, which is what leads to it says; None if there are
    other pages between."""
    page = pages.page(number)
    last = None
    for at in _rows(page) if page[0] == TABLE_LEAF else ():
        position = pages.cell(page, at)[0][0]
        last = position if isinstance(position, int) else None
    return last


def _children(page: bytes) -> list[int]:
    """The pages that a page leads to: the last of them, then the others."""
    if page[0] not in (_INDEX_NODE, _TABLE_NODE):
        return []
    return [int.from_bytes(page[at : at + 4], "big") for at in (8, *_starts(page))]


def _rows(page: bytes) -> list[int]:
    """Where the rows of a page begin."""
    return [at + 4 if page[0] == _INDEX_NODE else at for at in _starts(page)]


def _starts(page: bytes) -> Iterator[int]:
    """Where the cells of a page begin."""
    first = 12 if page[0] in (_INDEX_NODE, _TABLE_NODE) else 8
    for n in range(int.from_bytes(page[3:5], "big")):
        start = int.from_bytes(page[first + 2 * n : first + 2 * n + 2], "big")
        if not first <= start < len(page):
            raise ValueError("a row begins outside its page")
        yield start


def _is_ours(row: list[Value]) -> bool:
    """Whether a row could be of one of the journal's tables or indices."""
    match row:
        case [str(), int(), bytes()] | [str(), int() | str(), int()]:
            return True
        case [int(), str(), int(), str(), str(), bytes(), _, bytes(), int(), *rest]:
            return len(rest) == 5
    return False
