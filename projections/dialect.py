"""The dialects that a project can be shown in, by name."""

from collections.abc import Callable

from msgspec import Struct

from journal.state import Project
from projections import handoff, session_state, state_md


class Dialect(Struct, frozen=True):
    """A file format: where its file is, how it is rendered, and how one is recognised."""

    name: str
    #: Relative to the workspace; `{project}` stands for the slug.
    path: str
    render: Callable[[Project], bytes]
    #: Whether bytes are a file of this dialect at all; it answers for any bytes and never raises.
    intact: Callable[[bytes], bool]
    renderer: int


DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        Dialect(
            "session-state",
            "agent-output/{project}/00-session-state.json",
            session_state.render,
            session_state.intact,
            session_state.RENDERER,
        ),
        Dialect(
            "handoff",
            "agent-output/{project}/00-handoff.md",
            handoff.render,
            handoff.intact,
            handoff.RENDERER,
        ),
        Dialect(
            "state-md",
            ".planning/STATE.md",
            state_md.render,
            state_md.intact,
            state_md.RENDERER,
        ),
    )
}
