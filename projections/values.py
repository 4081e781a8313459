"""Values of keyed decisions: any JSON that agents gave, in words."""

import msgspec

from journal.events import Json


def as_text(value: Json) -> str:
    """The value as text: strings as they are, nothing as nothing, all else as compact JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    return "" if value is None else msgspec.json.encode(value).decode()
