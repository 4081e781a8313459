"""What a rule is: a function from the state, a proposal and who proposes, to events."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from journal.entities import Project
from journal.errors import PassdownError, Rejected
from journal.events import Event


class By(Struct, frozen=True):
    """Who asks, in which session, when, under which lease, and of which time."""

    actor: str | None = None
    session: str | None = None
    now: int = 0
    lease: str | None = None
    #: When it really happened, if that is not now.
    occurred: int | None = None


Rule: TypeAlias = Callable[[Project, Any, By], list[Event]]
Rules: TypeAlias = Mapping[type[Event], Rule]
Offers: TypeAlias = Callable[[Project, Any, By], Iterable[str]]


def offering(rule: Rule, offers: Offers) -> Rule:
    """The rule, whose refusals say what the same asker may do instead."""

    def decide(p: Project, x: Any, by: By) -> list[Event]:
        try:
            return rule(p, x, by)
        except Rejected as no:
            if no.allowed:
                raise
            raise Rejected(no.asked, no.state, offers(p, x, by)) from None

    return decide


def admits(rules: Rules, p: Project, x: Event, by: By) -> bool:
    """Whether the event would be recorded if it were asked for."""
    try:
        return bool(rules[type(x)](p, x, by))
    except PassdownError:
        return False
