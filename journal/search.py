"""Finding records by the words in them."""

from collections.abc import Iterable, Iterator

import msgspec

from journal.events import Json
from journal.payload import decode
from journal.record import Record


def search(records: Iterable[Record], words: str) -> Iterator[Record]:
    """The records whose texts have all of the words, in any case and any order."""
    wanted = words.casefold().split()
    # Whether they can be there at all is told by the stored bytes, which are quicker to look at.
    stored = [msgspec.json.encode(word)[1:-1].decode() for word in wanted]
    for record in records:
        text = record.data.decode().casefold()
        if all(word in text for word in stored):
            event = msgspec.to_builtins(decode(record.type, record.data))
            said = " ".join(_texts(event)).casefold()
            if all(word in said for word in wanted):
                yield record


def _texts(value: Json) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for each in value:
                yield from _texts(each)
        case dict():
            for each in value.values():
                yield from _texts(each)
