"""Values as text: of keyed decisions, and as JSON that a terminal shows as it is."""

import json
import re

import msgspec

from journal.events import Json

#: What a terminal obeys or hides and JSON does not escape: DEL, C1, marks of direction.
_UNSEEN = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def as_text(value: Json) -> str:
    """The value as text: strings as they are, nothing as nothing, all else as compact JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    return "" if value is None else msgspec.json.encode(value).decode()


def visible_json(value: object) -> str:
    """Any value as JSON on one line, with what could not be seen escaped."""
    try:
        text = msgspec.json.encode(value).decode()
    except UnicodeEncodeError:  # a path of the system that is not Unicode
        text = json.dumps(msgspec.to_builtins(value), separators=(",", ":"))
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
