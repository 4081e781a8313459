"""Coordination: leases, by which one agent at a time holds a step.

A lease goes by its token, which is made by whoever asks and names one lease for ever: a writer that
was asleep while somebody else took over is known by its old token.
"""

from typing import Annotated, ClassVar, TypeAlias

from msgspec import Meta

from journal.events.event import Event, Text

Seconds: TypeAlias = Annotated[int, Meta(ge=1, le=2**31)]


class LeaseAcquired(Event, frozen=True):
    """An agent holds a step, for so many seconds after each sign of life."""

    type: ClassVar[str] = "lease.acquired"
    token: Text
    step: str
    agent: str = ""
    seconds: Seconds = 300


class LeaseRenewed(Event, frozen=True):
    """The holder of a lease is still there: a sign of life, like a session's heartbeat.

    Every minute would otherwise give every file another stamp and another `updated`, though nothing
    was done; so a dialect may show who holds what, but not when it was renewed.
    """

    type: ClassVar[str] = "lease.renewed"
    bookkeeping: ClassVar[bool] = True
    token: Text
    step: str = ""


class LeaseReleased(Event, frozen=True):
    """The holder of a lease gave it back."""

    type: ClassVar[str] = "lease.released"
    token: Text
    step: str = ""
    reason: str = ""


class LeaseExpired(Event, frozen=True):
    """A lease was not renewed in time, and `agent` holds it no more."""

    type: ClassVar[str] = "lease.expired"
    token: Text
    step: str = ""
    agent: str = ""
