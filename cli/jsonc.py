"""JSON with comments and trailing commas, as text: what stands where, so that it can be edited.

Nothing is ever written anew. Comments and trailing commas are blanked in a copy of the same length,
which any JSON parser understands, and every place in the copy is the place in the text.
"""

import json
import re
from typing import Any

from msgspec import Struct

_BOM = "\ufeff"
_BLANK = re.compile(r"[ \t\r\n]*")
_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"?'
#: What is not closed reaches to the end, so that a scan never looks at a character twice.
_COMMENT = re.compile(rf"{_STRING}|//[^\r\n]*|/\*(?:.*?\*/|.*)", re.DOTALL)
#: A comma that follows no value is left for the parser to complain about.
_COMMA = re.compile(rf"{_STRING}|[\[{{,:][ \t\r\n]*,|,(?=[ \t\r\n]*[\]}}])", re.DOTALL)


class Unclear(Exception):
    """The text cannot be understood, or not without a doubt; says why, as a predicate."""


class Part(Struct, frozen=True):
    """A member of an object or an element of an array."""

    start: int
    #: Where the value begins; a member begins with its key.
    value: int
    end: int
    #: Where the comma behind it is.
    comma: int | None
    key: str
    content: Any


class Container(Struct, frozen=True):
    """An object or an array: its brackets, and what is between them."""

    opening: int
    closing: int
    parts: tuple[Part, ...]

    def named(self, key: str) -> Part | None:
        """The member with a key; a key that is there twice could mean either."""
        found = [part for part in self.parts if part.key == key]
        if len(found) > 1:
            raise Unclear(f"has the key {key!r} twice")
        return found[0] if found else None


class Document(Struct, frozen=True):
    """A text, the same without comments, and that without trailing commas."""

    text: str
    bare: str
    strict: str
    #: Where the value begins and ends; both the start of the text if there is none.
    start: int
    end: int
    content: Any

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing but blanks and comments."""
        return self.start == self.end

    @property
    def is_plain(self) -> bool:
        """Whether it is JSON as the standard has it, apart from a byte order mark."""
        return self.strict.lstrip() == self.text.removeprefix(_BOM).lstrip()


def scan(text: str) -> Document:
    """Understand a text."""
    bare = _COMMENT.sub(_without_comment, text)
    start = 0
    if bare.startswith(_BOM):
        bare, start = " " + bare[1:], 1
    strict = _COMMA.sub(_without_comma, bare)
    begin = _skip(strict, 0)
    if begin == len(strict):
        return Document(text, bare, strict, start, start, None)
    content, end = _value(strict, begin)
    if (rest := _skip(strict, end)) < len(strict):
        raise Unclear(f"is not JSON (line {_line(strict, rest)} has more than one value)")
    return Document(text, bare, strict, begin, end, content)


def container(document: Document, at: int) -> Container:
    """The object or array that begins at a place."""
    text = document.strict
    is_object = text[at] == "{"
    parts = []
    here = _skip(text, at + 1)
    while text[here] not in "}]":
        start, key = here, ""
        if is_object:
            key, here = _value(text, here)
            here = _skip(text, _skip(text, here) + len(":"))
        content, end = _value(text, here)
        after = _skip(document.bare, end)
        comma = after if document.bare[after] == "," else None
        parts.append(Part(start, here, end, comma, key, content))
        here = _skip(text, end)
        if text[here] == ",":
            here = _skip(text, here + 1)
    return Container(at, here, tuple(parts))


def _without_comment(found: re.Match[str]) -> str:
    token = found[0]
    if token[0] == '"' or (token[1] == "*" and (len(token) < 4 or not token.endswith("*/"))):
        return token
    return re.sub(r"[^\r\n]", " ", token)


def _without_comma(found: re.Match[str]) -> str:
    return " " if found[0] == "," else found[0]


def _skip(text: str, at: int) -> int:
    """The first place from here on that is not blank."""
    found = _BLANK.match(text, at)
    assert found is not None
    return found.end()


def _refuse(name: str) -> None:
    raise ValueError(name)


#: Numbers stay as they are written: their size is nobody's business here.
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_refuse)


def _value(text: str, at: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except RecursionError:
        raise Unclear("is nested too deeply") from None
    except json.JSONDecodeError as e:
        raise Unclear(f"is not JSON (line {_line(text, e.pos)})") from None
    except ValueError as e:
        raise Unclear(f"is not JSON ({e})") from None


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
