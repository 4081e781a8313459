"""JSON as values, held to what a journal can keep: no NaN, no number beyond 64 bits, no abyss."""

import json
from collections.abc import Callable

import msgspec

from journal.events import Json
from journal.payload import MAX_DEPTH
from projections.leftovers import Object


def decode(text: str, pairs: Callable[[list[tuple[str, Json]]], Object]) -> Json:
    """The value that a text is; ValueError or RecursionError says why it is none.

    `pairs` makes a mapping of its members, and decides what becomes of a key that is there twice.
    """
    value: Json = json.loads(
        text,
        object_pairs_hook=pairs,
        parse_constant=_constant,
        parse_int=_whole,
        parse_float=_real,
    )
    msgspec.json.encode(value)  # which refuses text that is not Unicode
    _check_depth(value, MAX_DEPTH - 8)  # leftovers stand inside an event
    return value


def _constant(name: str) -> Json:
    raise ValueError(f"{name} is not JSON")


def _whole(digits: str) -> int:
    number = int(digits)
    if not -(2**63) <= number < 2**64:
        raise ValueError("a number has more than 64 bits")
    return number


def _real(digits: str) -> float:
    number = float(digits)
    if abs(number) == float("inf"):
        raise ValueError("a number is too large")
    return number


def _check_depth(value: Json, left: int) -> None:
    if left == 0:
        raise ValueError("it is nested too deeply")
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            _check_depth(item, left - 1)
