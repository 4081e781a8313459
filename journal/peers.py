"""What agents that share a workspace leave each other: mail, promises, turns, snapshots, a log."""

from typing import Literal, TypeAlias

from msgspec import Struct

from journal import events as e
from journal.clock import Moment

MessageStatus: TypeAlias = Literal["unread", "acknowledged", "blocked", "actioned", "closed"]


class Ack(Struct, frozen=True, omit_defaults=True):
    """A line under a message: what somebody did about it, and why."""

    what: Literal["acknowledged", "blocked", "resumed", "actioned", "deferred", "closed"]
    by: str
    at: Moment
    reason: str
    disposition: str = ""
    token: str = ""


class Message(Struct, frozen=True, omit_defaults=True):
    """A message from one agent to another."""

    id: str
    sender: str
    to: str
    subject: str
    posted: Moment
    body: str = ""
    kind: e.MessageKind = "request"
    priority: e.Priority = "P1"
    closure_owner: str = ""
    due: str = ""
    related: tuple[str, ...] = ()
    payload: e.Payload | None = None
    snapshot: str = ""
    status: MessageStatus = "unread"
    acks: tuple[Ack, ...] = ()
    escalated: str = ""
    #: When the receiver's host was told, at the end of a turn, that it waits.
    pointed_out: Moment | None = None


class Commitment(Struct, frozen=True, omit_defaults=True):
    """What an agent promised."""

    id: str
    text: str
    made: Moment
    agent: str = ""
    to: str = ""
    due: str = ""
    status: Literal["open", "fulfilled", "dropped"] = "open"
    settled: Moment | None = None
    note: str = ""


class Turn(Struct, frozen=True, omit_defaults=True):
    """An agent that asked to be next, and waits; `requested` is the revision of that."""

    id: str
    agent: str
    action: str
    priority: e.Priority
    requested: int = 0


class SentSignal(Struct, frozen=True, omit_defaults=True):
    """A short word between agents."""

    id: str
    sender: str
    to: str
    kind: e.Signal
    revision: int
    at: Moment
    detail: str = ""


class Escalation(Struct, frozen=True, omit_defaults=True):
    """What the maintainer has to see to."""

    id: str
    subject: str
    raised: Moment
    reason: str = ""
    message: str = ""
    answer: str = ""
    answered: Moment | None = None


class Snapshot(Struct, frozen=True, omit_defaults=True):
    """What an agent left when it closed a session; the newest of an agent is the one that holds."""

    token: str
    agent: str
    at: Moment
    body: str
    session: str = ""
    number: int = 0
    sequence: int = 0
    close_reason: e.CloseReason = "completed"
    status: Literal["complete", "partial", "blocked"] = "partial"
    task: str = ""
    next_action: str = ""
    branch: str = ""
    phase: str = ""
    revision: int = 0
    unread: int = 0
    #: What its entry is called, if that stood in a file before it was recorded.
    heading: str = ""


class WorklogEntry(Struct, frozen=True, omit_defaults=True):
    """One entry of the worklog."""

    id: str
    title: str
    at: Moment
    text: str = ""
    agent: str = ""
    number: int = 0
    handoff: e.Handoff | None = None
    refers: tuple[str, ...] = ()
    completed: Moment | None = None
    note: str = ""
    archived: Moment | None = None
