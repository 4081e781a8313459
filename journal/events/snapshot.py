"""Snapshots: what an agent leaves, when it closes a session, for whoever goes on."""

from typing import ClassVar, Literal, TypeAlias

from journal.events.event import Count, Event, Text

CloseReason: TypeAlias = Literal["completed", "context-exhausted", "timeout", "maintainer-directed"]


class SnapshotTaken(Event, frozen=True):
    """A session was closed with all that a successor needs.

    `body` is what stands in the agent's file from the first `###` on, to the letter; the token's
    checksum is over it. `number` is that of the session among the agent's own. One that stood in
    a file before it was recorded has the `heading` that it has there.
    """

    type: ClassVar[str] = "snapshot.taken"
    body: Text
    agent: str = ""
    session: str = ""
    number: Count = 0
    close_reason: CloseReason = "completed"
    status: Literal["complete", "partial", "blocked"] = "partial"
    task: str = ""
    next_action: str = ""
    branch: str = ""
    phase: str = ""
    #: That of coordination when it was taken.
    revision: Count = 0
    unread: Count = 0
    #: Which of the agent's snapshots it is, and its token.
    sequence: Count = 0
    token: str = ""
    heading: str = ""
