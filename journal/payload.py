"""Events as the bytes that are stored, and back."""

import re
from collections.abc import Iterator
from typing import Literal, get_args, get_origin, get_type_hints

import msgspec

from journal.errors import Invalid, JournalNewer, NotFound
from journal.events import VOCABULARY, Event, Json

MAX_PAYLOAD = 1 << 20
MAX_DEPTH = 64

_DECODERS: dict[str, msgspec.json.Decoder[Event]] = {}
_encode = msgspec.json.Encoder().encode
#: What makes a closer look worth its time: an escaped NUL, a number of many digits.
_SUSPICIOUS = re.compile(rb"\\u0000|[0-9]{19}")
_LONE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)


def encode(event: Event) -> bytes:
    """The payload's bytes, checked: what is stored decodes again to the same event."""
    try:
        data = _encode(event)
    except UnicodeEncodeError as e:
        raise Invalid(
            f"{event.type}: text with a lone surrogate cannot be stored; send valid Unicode"
        ) from e
    except (TypeError, ValueError, RecursionError) as e:
        raise Invalid(f"{event.type}: {e}") from e
    if len(data) > MAX_PAYLOAD:
        raise Invalid(
            f"{event.type}: the payload is {len(data):,} bytes, the limit is {MAX_PAYLOAD:,}; "
            "record a path to it instead"
        )
    if _SUSPICIOUS.search(data) or data.count(b"[") + data.count(b"{") > MAX_DEPTH:
        _check(event.type, msgspec.json.decode(data))
    if parse(event.type, data) != event:
        raise Invalid(f"{event.type}: a field has a value that JSON cannot hold as it is given")
    return data


def decode(tag: str, data: bytes) -> Event:
    """The event that stored bytes mean."""
    decoder = _DECODERS.get(tag) or _decoder(tag)
    if decoder is None:
        raise JournalNewer(
            f"the journal has an event of type {tag!r}, which this Passdown does not know; "
            "it was written by a newer one: upgrade passdown"
        )
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as e:
        raise JournalNewer(
            f"the journal has a {tag} event that this Passdown cannot read ({e}); "
            "it was written by a newer one: upgrade passdown"
        ) from e


def _decoder(tag: str) -> msgspec.json.Decoder[Event] | None:
    """The decoder of a type, made when it is first needed: making them all takes milliseconds."""
    if tag in VOCABULARY:
        _DECODERS[tag] = msgspec.json.Decoder(VOCABULARY[tag])
    return _DECODERS.get(tag)


def parse(tag: str, data: bytes) -> Event:
    """The event that a caller's JSON asks for; the message names the bad field."""
    decoder = _DECODERS.get(tag) or _decoder(tag)
    if decoder is None:
        nouns = ", ".join(dict.fromkeys(known.partition(".")[0] for known in VOCABULARY))
        raise NotFound("event type", tag, VOCABULARY, hint=f"there are events of {nouns}")
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as e:
        reason, _, where = str(e).partition(" - at ")
        where = where.strip("`") or "$"
        raise Invalid(f"{tag}: {reason} at {where}{_choices(tag, where)}", where=where) from e
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as e:
        # msgspec takes what follows a lone surrogate for missing and says that the text is cut.
        why = "text with a lone surrogate is not Unicode" if _LONE.search(data) else e
        raise Invalid(f"{tag}: not valid JSON ({why}); send it as UTF-8") from e


def _choices(tag: str, where: str) -> str:
    """What fields there are, or what may stand in one that takes only certain words."""
    if where == "$":
        return f"; its fields are {', '.join(VOCABULARY[tag].__struct_fields__)}"
    hint = get_type_hints(VOCABULARY[tag]).get(where.removeprefix("$."))
    words = [word for part in (hint, *get_args(hint)) for word in _words(part)]
    return f"; it is one of {', '.join(words)}" if words else ""


def _words(hint: object) -> Iterator[str]:
    return (word for word in get_args(hint) if get_origin(hint) is Literal)


def _check(tag: str, value: Json, where: str = "$", left: int = MAX_DEPTH) -> None:
    """Refuse what no file could carry: NUL, nesting without end, integers of more than 64 bits."""
    match value:
        case str() if "\0" in value:
            what = "text with a NUL character cannot be stored; remove it"
        case int() if not -(2**63) <= value < 2**64:
            what = "an integer has at most 64 bits; send it as text"
        case list() | dict() if left == 0:
            what = f"nested deeper than {MAX_DEPTH} levels; flatten the value"
        case list():
            for n, item in enumerate(value):
                _check(tag, item, f"{where}[{n}]", left - 1)
            return
        case dict():
            for key, item in value.items():
                _check(tag, key, where)
                _check(tag, item, f"{where}.{key}", left - 1)
            return
        case _:
            return
    raise Invalid(f"{tag}: {what} at {where[:200]}", where=where)
