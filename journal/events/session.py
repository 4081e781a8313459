"""Sessions and what they leave behind: files, tokens, context, the next action."""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from journal.events.event import Count, Event, Text


class FilesChanged(Event, frozen=True):
    """A file of the workspace was created, modified or deleted."""

    type: ClassVar[str] = "files.changed"
    paths: ClassVar[tuple[str, ...]] = ("path",)
    path: Text
    change: Literal["created", "modified", "deleted"] = "modified"
    digest: str = ""
    description: str = ""
    step: str = ""


class TokensUsed(Event, frozen=True):
    """What one call to a model cost."""

    type: ClassVar[str] = "tokens.used"
    input: Count = 0
    output: Count = 0
    cached: Count = 0
    agent: str = ""
    step: str = ""


class SessionStarted(Event, frozen=True):
    """An agent began a stretch of work. `name` and `host` are aliases of the session's id."""

    type: ClassVar[str] = "session.started"
    agent: str = ""
    name: str = ""
    host: str = ""
    note: str = ""
    continues: str = ""
    session: str = ""


class SessionHeartbeat(Event, frozen=True):
    """The session is still alive."""

    type: ClassVar[str] = "session.heartbeat"
    bookkeeping: ClassVar[bool] = True
    session: str = ""


class SessionNoted(Event, frozen=True):
    """Something worth telling the next session."""

    type: ClassVar[str] = "session.noted"
    text: Text
    kind: Literal["note", "deviation", "issue"] = "note"
    session: str = ""


class SessionEnded(Event, frozen=True):
    """A session was closed by its agent."""

    type: ClassVar[str] = "session.ended"
    session: str = ""
    completed: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()
    notes: str = ""
    context_usage: Annotated[float, Meta(ge=0, le=1)] | None = None
    handoff_reason: str = ""


class SessionCrashed(Event, frozen=True):
    """A session ended without closing."""

    type: ClassVar[str] = "session.crashed"
    session: str = ""
    reason: str = ""


class NextActionSet(Event, frozen=True):
    """What is to be done next, by an agent or (no agent) in the project."""

    type: ClassVar[str] = "next_action.set"
    text: str
    agent: str = ""


class ContextNoted(Event, frozen=True):
    """Something that whoever goes on must know."""

    type: ClassVar[str] = "context.noted"
    paths: ClassVar[tuple[str, ...]] = ("file",)
    kind: Literal["implementation", "next_step", "skill"]
    text: Text
    step: str = ""
    file: str = ""
