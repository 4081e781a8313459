"""Mail that agents leave each other, and what they promise."""

from typing import Annotated, ClassVar, Literal, TypeAlias

from msgspec import Meta, Struct

from journal.events.event import Event, Name, Priority, Text

MessageKind: TypeAlias = Literal["notify", "request", "decision-required", "approval-required"]
Disposition: TypeAlias = Literal["resolved", "superseded", "withdrawn", "abandoned"]
#: `REV-20260208-parser-01-h1a2b3c4d`, and `-p1of3` for one part of several.
Token: TypeAlias = Annotated[
    str,
    Meta(pattern=r"^REV-[0-9]{8}-[A-Za-z0-9._-]{1,80}-h[0-9a-f]{8}(-p[0-9]{1,3}of[0-9]{1,3})?\Z"),
]


class Payload(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Content that is to be reviewed, and comes with the message: whole, or one part of several."""

    text: Text
    token: Token
    format: Literal["unified-diff", "full-text"] = "unified-diff"
    files: tuple[str, ...] = ()
    scope: Literal["full", "critical-only", "interface-only"] = "full"
    ask: Literal["apply-or-counter", "review-only", "fyi"] = "apply-or-counter"


class MessagePosted(Event, frozen=True):
    """Somebody left a message for somebody; `agent` is who wrote it."""

    type: ClassVar[str] = "message.posted"
    to: Name
    subject: Text
    body: str = ""
    agent: str = ""
    kind: MessageKind = "request"
    priority: Priority = "P1"
    closure_owner: str = ""
    #: By when an answer is needed: a time, `next session` or `none`.
    due: str = ""
    related: tuple[str, ...] = ()
    payload: Payload | None = None
    #: The token of the snapshot by which work is handed over.
    snapshot: str = ""
    message: str = ""


class MessageAcknowledged(Event, frozen=True):
    """The receiver has read a message and understood it; `token` is that of its payload."""

    type: ClassVar[str] = "message.acknowledged"
    message: str
    reason: Text
    token: str = ""


class MessageBlocked(Event, frozen=True):
    """The receiver cannot act before something else has happened, which `reason` names."""

    type: ClassVar[str] = "message.blocked"
    message: str
    reason: Text


class MessageResumed(Event, frozen=True):
    """What blocked a message is out of the way."""

    type: ClassVar[str] = "message.resumed"
    message: str
    reason: Text


class MessageActioned(Event, frozen=True):
    """The receiver has done what a message asks for."""

    type: ClassVar[str] = "message.actioned"
    message: str
    reason: Text
    token: str = ""


class MessageDeferred(Event, frozen=True):
    """The answer to a message is put off until what `reason` names; the message stays open."""

    type: ClassVar[str] = "message.deferred"
    message: str
    reason: Text


class MessageClosed(Event, frozen=True):
    """A message is done with, for ever."""

    type: ClassVar[str] = "message.closed"
    message: str
    reason: Text
    disposition: Disposition = "resolved"


class CommitmentMade(Event, frozen=True):
    """An agent promised something, to somebody or (no `to`) to all."""

    type: ClassVar[str] = "commitment.made"
    text: Text
    to: str = ""
    agent: str = ""
    due: str = ""
    commitment: str = ""


class CommitmentFulfilled(Event, frozen=True):
    """What was promised is done."""

    type: ClassVar[str] = "commitment.fulfilled"
    commitment: str
    note: str = ""


class CommitmentDropped(Event, frozen=True):
    """What was promised will not be done."""

    type: ClassVar[str] = "commitment.dropped"
    commitment: str
    reason: str = ""
