"""What makes one state of another: leaf by leaf, so that it can be told, and applied.

The things of a state are frozen and shared between its versions: what is the same thing was not
touched, and costs nothing to compare.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from journal.entities import Project
from journal.leaves import ABSENT, Path, kinds, same, within


class Touch(NamedTuple):
    """A thing, or a field of the project that is no collection of them, before and after."""

    path: Path
    old: object
    new: object


class Change(Struct, frozen=True):
    """What one leaf was and is; ABSENT where there was, or is, nothing.

    A path to a collection is about the order in which its things stand.
    """

    path: Path
    old: object = ABSENT
    new: object = ABSENT

    def reversed(self) -> "Change":
        """The way back."""
        return Change(self.path, self.new, self.old)


def difference(before: Project, after: Project) -> list[Change]:
    """Every leaf at which two states differ, in the order of the state."""
    changes: list[Change] = []
    for name in before.__struct_fields__:
        old, new = getattr(before, name), getattr(after, name)
        if isinstance(old, dict):
            changes += between(name, old, new)
        elif isinstance(old, list):
            changes += between(name, _numbered(old), _numbered(new))
        elif not same(old, new):
            changes.append(Change((name,), old, new))
    return changes


def _numbered(things: list[object]) -> dict[str, object]:
    return {str(n): thing for n, thing in enumerate(things)}


def between(name: str, old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[Change]:
    """How a collection became another, and last its order if that does not follow."""
    return leafwise(touched(name, old, new))


def touched(name: str, old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[Touch]:
    """The things that are others than they were; the collection itself, if its order changed."""
    for key in dict.fromkeys((*old, *new)):
        was, now = old.get(key, ABSENT), new.get(key, ABSENT)
        if was is not now:
            yield Touch((name, key), was, now)
    kept = [key for key in old if key in new]
    follows = [*kept, *(key for key in new if key not in old)]
    if follows != list(new):
        yield Touch((name,), tuple(old), tuple(new))


def leafwise(touches: Iterable[Touch]) -> Iterator[Change]:
    """What was touched, leaf by leaf."""
    for path, old, new in touches:
        yield from of_thing(path, old, new)


def of_thing(path: Path, old: object, new: object) -> Iterator[Change]:
    """What changed of one thing; all of it where it came or went."""
    if old is new:
        return
    if old is ABSENT:
        yield from (Change(inner, ABSENT, leaf) for inner, leaf in within(path, new))
    elif new is ABSENT:
        yield from (Change(inner, leaf, ABSENT) for inner, leaf in within(path, old))
    elif isinstance(old, Struct) and len(path) == 2:
        for name in old.__struct_fields__:
            was, now = getattr(old, name), getattr(new, name)
            if was is not now and not same(was, now):
                yield Change((*path, name), was, now)
    elif not same(old, new):
        yield Change(path, old, new)


def apply(project: Project, changes: Iterable[Change]) -> Project:
    """A state with changes made to it; the one given stays as it is."""
    twin = project.copy()
    things: dict[tuple[str, str], dict[str, object]] = {}
    orders: list[Change] = []
    for change in changes:
        match change.path:
            case (name,) if isinstance(getattr(twin, name), dict):
                orders.append(change)
            case (name,):
                setattr(twin, name, change.new)
            case (name, key):
                _put(twin, name, key, change.new)
            case (name, key, part):
                things.setdefault((name, key), {})[part] = change.new
    for (name, key), parts in things.items():
        _put(twin, name, key, _made(twin, name, key, parts))
    for order in orders:
        (name,) = order.path
        found = getattr(twin, name)
        assert isinstance(order.new, tuple)
        setattr(twin, name, {key: found[key] for key in order.new})
    return twin


def _made(project: Project, name: str, key: str, parts: dict[str, object]) -> object:
    """A thing with other parts; ABSENT if nothing is left of it."""
    if ABSENT in parts.values():
        return ABSENT
    known = getattr(project, name)
    if isinstance(known, dict) and key in known:
        return replace(known[key], **parts)
    if isinstance(known, list) and int(key) < len(known):
        return replace(known[int(key)], **parts)
    return kinds()[name](**parts)


def _put(project: Project, name: str, key: str, thing: object) -> None:
    things = getattr(project, name)
    match things, thing is ABSENT:
        case dict(), True:
            del things[key]
        case dict(), False:
            things[key] = thing
        case list(), True:
            del things[-1]  # a list grows and shrinks only at its end
        case list(), False:
            things[int(key) :] = [thing, *things[int(key) + 1 :]]
