"""From the bytes of a STATE.md to what it says; Invalid says why it is none."""

from msgspec import Struct

from journal.errors import Invalid
from journal.events import Json
from projections.leftovers import Object
from projections.state_md.writing import VERBATIM

_WITH_IDS = ("decisions", "blockers", "sessions")


class Source(Struct):
    """What a file says."""

    document: Object
    warnings: list[str] = []

    @property
    def name(self) -> str:
        """What the file calls its initiative, else its title."""
        return str(self.document.get("initiative") or self.document.get("title") or "")


def read(content: bytes) -> Source:
    """What a STATE.md says; Invalid if it is none."""
    from projections.state_md.composing import compose  # a reader of YAML takes 25 ms to import

    document = compose(content)
    if VERBATIM in document or not {"initiative", "title", "position"} & document.keys():
        raise Invalid("the file is not a STATE.md: it has neither initiative nor position")
    for section in _WITH_IDS:
        _check_ids(section, document.get(section))
    return Source(document)


def _check_ids(section: str, entries: Json) -> None:
    seen: set[str] = set()
    for entry in entries if isinstance(entries, list) else ():
        id = entry.get("id") if isinstance(entry, dict) else None
        if isinstance(id, str):
            if id in seen:
                raise Invalid(f"{section} has the id {id!r} twice; give each entry its own")
            seen.add(id)
