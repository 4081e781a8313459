"""The dialects that a project can be shown in, by name."""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from journal.request import Request
from journal.state import Project
from projections import handoff, session_state, state_md


class Adopt(Protocol):
    """The requests by which a project comes to what a file says; Invalid if it cannot be read."""

    def __call__(
        self,
        content: bytes,
        project: Project,
        path: str,
        *,
        base: Project | None = None,
        removals: bool = False,
        now: int,
        by: Request,
    ) -> list[Request]: ...


class Dialect(Struct, frozen=True):
    """A file format: where its file is, how it is rendered, and how one is recognised."""

    name: str
    #: Relative to the workspace; `{project}` stands for the slug.
    path: str
    render: Callable[[Project], bytes]
    #: Whether bytes are a file of this dialect at all; it answers for any bytes and never raises.
    intact: Callable[[bytes], bool]
    renderer: int
    #: What an edited file comes to, for dialects that can be read back.
    adopt: Adopt | None = None


DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        Dialect(
            "session-state",
            "agent-output/{project}/00-session-state.json",
            session_state.render,
            session_state.intact,
            session_state.RENDERER,
            session_state.adopt_bytes,
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
