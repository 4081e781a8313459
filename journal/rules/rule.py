"""What a rule is: a function from the state, a proposal and who proposes, to events."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from journal.entities import Project
from journal.events import Event


class By(Struct, frozen=True):
    """Who asks, in which session, and when."""

    actor: str | None = None
    session: str | None = None
    now: int = 0


Rules: TypeAlias = Mapping[type[Event], Callable[[Project, Any, By], list[Event]]]
