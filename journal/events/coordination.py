"""Coordination: leases, turns, signals, the phase that all are in, and what is escalated.

A lease goes by its token, which is made by whoever asks and names one lease for ever: a writer that
was asleep while somebody else took over is known by its old token. A lease on a step lasts for so
many seconds, one on files for so many revisions of what is coordinated.
"""

from typing import Annotated, ClassVar, Literal, TypeAlias

from msgspec import Meta, Struct

from journal.events.event import Count, Event, Priority, Text

Seconds: TypeAlias = Annotated[int, Meta(ge=1, le=2**31)]
Signal: TypeAlias = Literal["ready", "blocked", "handoff", "yield", "request_turn", "notify"]
Revisions: TypeAlias = Annotated[int, Meta(ge=1, le=10_000)]


class Coordination(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """How several agents share a workspace: who maintains it, and what agents may do unasked."""

    maintainer: str
    workspace: str = "working-session/"
    version: str = "0.1.0"
    #: Who may hand work from one agent to another.
    handoff: Literal["maintainer", "anyone"] = "maintainer"
    #: So many revisions a lease on files lasts, where its holder does not say otherwise.
    lease: Revisions = 2
    #: The revision of the file that the workspace began with; what is recorded of that file, up to
    #: its being adopted, is of this one and makes no new ones.
    revision: Count | None = None


class LeaseAcquired(Event, frozen=True):
    """An agent holds a step, for so many seconds after each sign of life; or files, for revisions.

    Of two on the same file that of the smaller revision counts, then that of the smaller token.
    """

    type: ClassVar[str] = "lease.acquired"
    coordinates: ClassVar[bool] = True
    paths: ClassVar[tuple[str, ...]] = ("files",)
    token: Text
    step: str = ""
    agent: str = ""
    seconds: Seconds = 300
    files: tuple[str, ...] = ()
    #: 0 is as many as is usual there.
    revisions: Annotated[int, Meta(ge=0, le=10_000)] = 0
    reason: str = ""
    #: On files: since which revision, where a file tells that it is held; else since now.
    revision: Count = 0


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
    coordinates: ClassVar[bool] = True
    token: Text
    step: str = ""
    reason: str = ""


class LeaseExpired(Event, frozen=True):
    """A lease was not renewed in time, and `agent` holds it no more."""

    type: ClassVar[str] = "lease.expired"
    coordinates: ClassVar[bool] = True
    token: Text
    step: str = ""
    agent: str = ""


class TurnRequested(Event, frozen=True):
    """An agent asks to be next."""

    type: ClassVar[str] = "turn.requested"
    coordinates: ClassVar[bool] = True
    action: Text
    agent: str = ""
    priority: Priority = "P1"
    turn: str = ""


class TurnTaken(Event, frozen=True):
    """An agent's turn has come, and it waits no longer."""

    type: ClassVar[str] = "turn.taken"
    coordinates: ClassVar[bool] = True
    turn: str


class TurnWithdrawn(Event, frozen=True):
    """A turn is not wanted any more."""

    type: ClassVar[str] = "turn.withdrawn"
    coordinates: ClassVar[bool] = True
    turn: str
    reason: str = ""


class TurnMoved(Event, frozen=True):
    """The maintainer put a turn in front of another, or (no `before`) at the end."""

    type: ClassVar[str] = "turn.moved"
    coordinates: ClassVar[bool] = True
    turn: str
    before: str = ""
    reason: str = ""


class SignalSent(Event, frozen=True):
    """A short word from one agent to another, or to all."""

    type: ClassVar[str] = "signal.sent"
    coordinates: ClassVar[bool] = True
    kind: Signal
    to: str = "all"
    detail: str = ""
    agent: str = ""
    signal: str = ""


class PhaseAdvanced(Event, frozen=True):
    """The maintainer moved on to another phase, or to another step of it: both are free labels."""

    type: ClassVar[str] = "phase.advanced"
    coordinates: ClassVar[bool] = True
    phase: Text
    step: str = ""
    reason: str = ""


class EscalationRaised(Event, frozen=True):
    """Something waited too long, and the maintainer has to see to it."""

    type: ClassVar[str] = "escalation.raised"
    subject: Text
    reason: str = ""
    message: str = ""
    escalation: str = ""


class EscalationAnswered(Event, frozen=True):
    """The maintainer has seen to what was escalated."""

    type: ClassVar[str] = "escalation.answered"
    escalation: str
    answer: Text
