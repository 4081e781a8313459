"""An edited file beside what was rendered, for whoever wants to see what the edit changed."""

from msgspec import Struct

from journal.state import Project
from projections.active_session.changes import by_key
from projections.active_session.document import body_of, form, front_matter, part
from projections.active_session.reading import read
from projections.leftovers import Object


class Side(Struct, frozen=True):
    """One of the two: its front matter with the phases by key, and its body."""

    front: Object
    body: str


def sides(content: bytes, base: Project) -> tuple[Side, Side]:
    """What was rendered of a state, and what the file says now; Invalid if it cannot be read."""
    document, source = form(base), read(content)
    front, phases = part(document, "front"), part(part(document, "front"), "phases")
    shown = dict(zip(phases, _list(front_matter(front)), strict=True))
    theirs = by_key(source.document, phases)
    return (
        Side({**front, "phases": shown}, body_of(document)),
        Side({**source.document, "phases": theirs}, source.body),
    )


def _list(front: Object) -> list[Object]:
    phases = front["phases"]
    assert isinstance(phases, list)
    return phases
