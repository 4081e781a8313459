"""What an adopted file says beyond, or otherwise than, what its state would be rendered as.

A leftover belongs to a place in the document: where the state still renders what it rendered when
the file was adopted, the file's own words stand; where it renders something else by now, that
counts. So nothing of a file is lost, and nothing in it outlives what it was about.
"""

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from typing import TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from journal.digest import sha256
from journal.events import Json, Leftover, LeftoversKept, Original

Object: TypeAlias = dict[str, Json]
Kept = TypeVar("Kept", Leftover, Original)

#: One event keeps so many bytes of leftovers at the most.
_CHUNK = 400_000


class Places(Struct, frozen=True):
    """The documents that an adoption is about, and how they are to be compared."""

    #: As the state alone has it now, and with the leftovers that there are.
    own: Object
    shown: Object
    #: What the file was rendered from, and the file itself.
    before: Object
    file: Object
    #: The parts that are no fact of their own, or that events say all of.
    told: frozenset[str]
    #: The parts whose members are taken as they are, not field by field.
    whole: tuple[str, ...] = ()


def differences(own: Object, file: Object, whole: Iterable[str] = ()) -> Iterator[Leftover]:
    """Every place where a file differs from its rendering; `whole` names the parts whose members
    are taken as they are, not field by field."""
    for key in dict.fromkeys((*own, *file)):
        if key in own and key in file:
            yield from _within((key,), own[key], file[key], 1 if key in whole else 0)
        else:
            yield _leftover((key,), own.get(key), key in own, file.get(key), key in file)


def _within(path: tuple[str, ...], own: Json, file: Json, levels: int) -> Iterator[Leftover]:
    if same(own, file):
        return
    if not (isinstance(own, dict) and isinstance(file, dict)) or len(path) > levels > 0:
        yield _leftover(path, own, True, file, True)
        return
    for key in dict.fromkeys((*own, *file)):
        inner = (*path, key)
        if key in own and key in file:
            yield from _within(inner, own[key], file[key], levels)
        else:
            yield _leftover(inner, own.get(key), key in own, file.get(key), key in file)


def _leftover(
    path: tuple[str, ...], own: Json, in_own: bool, file: Json, in_file: bool
) -> Leftover:
    return Leftover(path, digest(own) if in_own else "", (file,) if in_file else ())


def apply(document: Object, leftovers: Iterable[Leftover]) -> None:
    """Put the file's own words back, wherever the document still says what it said then."""
    for leftover in leftovers:
        *folders, key = leftover.path
        parent: Json = document
        for folder in folders:
            parent = parent.get(folder) if isinstance(parent, dict) else None
        if not isinstance(parent, dict):
            continue
        if (digest(parent[key]) if key in parent else "") == leftover.own:
            if leftover.file:
                parent[key] = deepcopy(leftover.file[0])  # at its place, where it has one
            else:
                parent.pop(key, None)


def digest(value: Json) -> str:
    """A value in a few characters, for comparison; the order of keys does not count."""
    return sha256(msgspec.json.encode(value, order="deterministic")).hexdigest()[:16]


def same(one: Json, other: Json) -> bool:
    """Whether two values are the same JSON, where 1 is neither true nor 1.0."""
    return digest(one) == digest(other)


# -- what no event says ----------------------------------------------------------------------


def remaining(places: Places, removals: bool, fresh: bool) -> Iterator[Leftover]:
    """Where the file would not come out again as it is, although it says something of its own."""
    base = places.own if fresh else places.before
    told: set[tuple[str, ...]] = set()
    for place in differences(base, places.file, whole=places.whole):
        gone = not place.file or place.file[0] in ("", None, [], {})
        if place.path[0] in places.told or (gone and not (removals or fresh)):
            continue
        path = _root(places.own, place.path)
        file = place.file if path == place.path else _at(places.file, path) or ()
        now, rendered = _at(places.shown, path), _at(places.own, path)
        joined = not fresh and _joined(_at(places.before, path), file, now)
        if path in told or joined or (now is not None and same(list(now), list(file))):
            continue
        told.add(path)
        yield Leftover(path, digest(rendered[0]) if rendered else "", file)


def kept(
    projection: str, leftovers: Sequence[Leftover], originals: Sequence[Original]
) -> Iterator[LeftoversKept]:
    """As many events as it takes to keep all of it."""
    yield from (LeftoversKept(projection, part, ()) for part in _parts(leftovers))
    yield from (LeftoversKept(projection, (), part) for part in _parts(originals))


def _parts(things: Sequence[Kept]) -> Iterator[tuple[Kept, ...]]:
    part: list[Kept] = []
    size = 0
    for thing in things:
        length = len(msgspec.json.encode(thing))
        if part and size + length > _CHUNK:
            yield tuple(part)
            part, size = [], 0
        part.append(thing)
        size += length
    if part:
        yield tuple(part)


def _root(document: Object, path: tuple[str, ...]) -> tuple[str, ...]:
    """The beginning of a path up to where the document has nothing of it."""
    for length in range(1, len(path)):
        if not _at(document, path[:length]):
            return path[:length]
    return path


def _at(document: Object, path: Sequence[str]) -> tuple[Json, ...] | None:
    """The one value at a place, or none; None if there is no such place at all."""
    parent: Json = document
    for key in path[:-1]:
        parent = parent.get(key) if isinstance(parent, dict) else None
    if not isinstance(parent, dict):
        return None
    return (parent[path[-1]],) if path[-1] in parent else ()


def _joined(
    base: tuple[Json, ...] | None, file: tuple[Json, ...], now: tuple[Json, ...] | None
) -> bool:
    """Whether a list has what came to the file's and not what left it, whatever else it has."""
    match base, file, now:
        case (list(old),), (list(new),), (list(found),):
            came, left = [x for x in new if x not in old], [x for x in old if x not in new]
            return all(x in found for x in came) and not any(x in found for x in left)
    return False
