"""A state as leaves: every fact of a project at a path of its own, such as steps.2.status.

A path has up to three parts: the field of the project, the key of a thing in it (in a list its
number), and the field of that thing. What is at its end is compared and replaced as a whole.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import TypeAlias, get_args, get_origin, get_type_hints

import msgspec
from msgspec import UNSET, Struct

from journal.entities import Project

Path: TypeAlias = tuple[str, ...]

#: What stands at a path where there is nothing.
ABSENT = UNSET

#: Where the state is in its journal, which every record moves on.
PLACE = frozenset(("version", "hash", "content_version", "content_hash", "updated"))
#: What only counts, finds or times what other fields say, or keeps words of an adopted file.
INNER = PLACE | {
    *("opening", "open_findings", "session_names", "leased", "numbers", "hooks", "revision"),
    *("sources", "leftovers", "originals", "beyond", "at_work"),
}

#: Fields that `passdown show --json` has under another name.
_SHOWN: dict[str, Path] = {
    "current": ("current_step",),
    "tokens": ("tokens", "by_agent"),
    "tokens_by_step": ("tokens", "by_step"),
    "keyed": ("decisions",),
}


def leaves(project: Project) -> Iterator[tuple[Path, object]]:
    """Every leaf of a state but its slug, in the order of the state."""
    for name in project.__struct_fields__:
        value = getattr(project, name)
        if name != "slug":
            for key, thing in _members(value):
                path = (name,) if key is None else (name, key)
                yield from ((inner, leaf) for inner, leaf in within(path, thing, key is not None))


def _members(value: object) -> Iterator[tuple[str | None, object]]:
    match value:
        case dict():
            yield from value.items()
        case list():
            yield from ((str(n), thing) for n, thing in enumerate(value))
        case _:
            yield None, value


def within(path: Path, thing: object, member: bool = True) -> Iterator[tuple[Path, object]]:
    """The leaves of one thing of a collection; anything else is a leaf itself."""
    if member and isinstance(thing, Struct):
        for name in thing.__struct_fields__:
            yield (*path, name), getattr(thing, name)
    else:
        yield path, thing


def same(one: object, other: object) -> bool:
    """Whether two leaves say the same, where 1 is neither true nor 1.0."""
    if one is other:
        return True
    if one != other or one is ABSENT or other is ABSENT:
        return False
    return msgspec.msgpack.encode(one) == msgspec.msgpack.encode(other)


@cache
def kinds() -> dict[str, type[Struct]]:
    """The fields of a project that are collections of things, and what those are."""
    hints = get_type_hints(Project)
    found = {}
    for name, hint in hints.items():
        inner = get_args(hint)[-1] if get_origin(hint) in (dict, list) else None
        if isinstance(inner, type) and issubclass(inner, Struct):
            found[name] = inner
    return found


def text(path: Path) -> str:
    """A path as one writes it; a part with a dot or a blank in it stands in quotes."""
    return ".".join((*_SHOWN.get(path[0], path[:1]), *map(_part, path[1:])))


def _part(part: str) -> str:
    plain = part and part.isprintable() and not any(mark in part for mark in '. "')
    return part if plain else msgspec.json.encode(part).decode()


def inside(value: object, parts: Iterable[str]) -> bool:
    """Whether a value has something at a path within it."""
    for part in parts:
        match value:
            case Struct() if part in value.__struct_fields__:
                value = getattr(value, part)
            case dict() if part in value:
                value = value[part]
            case _:
                return False
    return True
