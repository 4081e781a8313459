"""The parts of a file in groups, each of which keeps the order that a file has it in.

A part belongs to the group that its name begins with, up to the first blank: `queue` and `queue
head` are of one, `MSG-20260208-001 Status` is of another. Whatever comes later stands after what it
follows by itself, so that the order of a file outlives what is added to it.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence

from journal.events import Leftover
from journal.state import Project
from projections import narrative
from projections.leftovers import Object
from projections.narrative import Piece

_ORDER = "order"


def group(name: str) -> str:
    """The group that a part is in."""
    return name.partition(" ")[0]


def form(
    name: str, project: Project, document: Object, gone: Callable[[str], bool] = lambda name: False
) -> Object:
    """A document with what adopted files say otherwise; of what is `gone` nothing is kept."""
    own = _grouped(_names(document))
    narrative.form(name, project, document)
    held = {
        left.path[1]: _held(left.file[0])
        for left in project.leftovers.get(name, ())
        if len(left.path) == 2 and left.path[0] == _ORDER and left.file
    }
    parts = document["parts"] if isinstance(document["parts"], dict) else {}
    order: list[str] = []
    for key in narrative.arranged(list(own), held.get("", ())):
        order += narrative.arranged(own[key], held.get(key, ()))
    document["order"] = [each for each in order if each in parts]
    kept = document["kept"] if isinstance(document["kept"], dict) else {}
    document["kept"] = {name: words for name, words in kept.items() if not gone(name)}
    return document


def left(
    file: Sequence[Piece],
    before: Object,
    alone: Object,
    shown: Object,
    *,
    removals: bool,
    settled: Container[str] = (),
    elsewhere: Container[str] = (),
) -> list[Leftover]:
    """What of a file is to be kept; groups that stand `elsewhere` than they belong are moved."""
    found = narrative.left(file, before, alone, shown, removals=removals, settled=settled)
    found = [each for each in found if len(each.path) > 1]  # but the order of all of them
    return [*found, *_orders(file, alone, shown, elsewhere)]


def _orders(
    file: Iterable[Piece], alone: Object, shown: Object, elsewhere: Container[str]
) -> Iterator[Leftover]:
    """The groups whose order in the file is another than is shown, and that of the groups."""
    own, now = _grouped(_names(alone)), _grouped(_names(shown))
    known = set(_names(alone))
    theirs = _grouped(piece.name for piece in file if piece.name in known)
    orders = {"": [key for key in theirs if key not in elsewhere], **theirs}
    for key, order in orders.items():
        present = list(now) if not key else now.get(key, [])
        there, held = set(order), set(present)
        if [x for x in order if x in held] != [x for x in present if x in there]:
            whole = narrative.arranged(own[key] if key else list(own), order)
            yield Leftover((_ORDER, key), "", (whole,))


def _held(value: object) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def contiguous(file: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces, where what stands apart from its group is handwriting."""
    past: set[str] = set()
    last = ""
    for piece in file:
        key = group(piece.name)
        if key and key != last:
            past.add(last)
            if key in past:
                piece = Piece("", piece.text)
            else:
                last = key
        yield piece


def _grouped(names: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(group(name), []).append(name)
    return found


def _names(document: Object) -> list[str]:
    return _held(document.get("order"))
