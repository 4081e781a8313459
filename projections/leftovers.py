"""What an adopted file says beyond, or otherwise than, what its state would be rendered as.

A leftover belongs to a place in the document: where the state still renders what it rendered when
the file was adopted, the file's own words stand; where it renders something else by now, that
counts. So nothing of a file is lost, and nothing in it outlives what it was about.
"""

from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import TypeAlias

import msgspec

from journal.digest import sha256
from journal.events import Json, Leftover

Object: TypeAlias = dict[str, Json]


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
