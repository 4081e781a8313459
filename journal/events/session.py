"""Sessions, what they are shown, and what they leave behind: files, tokens, context, what is next.

`hook` names the hook of an agent's host that an event was recorded by, such as `claude-code Stop`.
"""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta, field

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
    """An agent began a stretch of work. `name` and `host` are aliases of the session's id.

    One that was `over` long before it was reported says nothing of what its agent is at now.
    """

    type: ClassVar[str] = "session.started"
    coordinates: ClassVar[bool] = True
    agent: str = ""
    name: str = ""
    host: str = ""
    note: str = ""
    continues: str = ""
    session: str = ""
    hook: str = ""
    over: bool = False


class SessionResumed(Event, frozen=True):
    """A session that had ended went on: its host had only been waiting for the next word."""

    type: ClassVar[str] = "session.resumed"
    coordinates: ClassVar[bool] = True
    session: str = ""
    hook: str = ""


class SessionHeartbeat(Event, frozen=True):
    """The session is still alive."""

    type: ClassVar[str] = "session.heartbeat"
    bookkeeping: ClassVar[bool] = True
    session: str = ""
    hook: str = ""


class SessionNoted(Event, frozen=True):
    """Something worth telling the next session."""

    type: ClassVar[str] = "session.noted"
    text: Text
    kind: Literal["note", "deviation", "issue"] = "note"
    session: str = ""


class SessionEnded(Event, frozen=True):
    """A session was closed by its agent."""

    type: ClassVar[str] = "session.ended"
    coordinates: ClassVar[bool] = True
    session: str = ""
    completed: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()
    notes: str = ""
    context_usage: Annotated[float, Meta(ge=0, le=1)] | None = None
    handoff_reason: str = ""
    hook: str = ""


class SessionCrashed(Event, frozen=True):
    """A session ended without closing."""

    type: ClassVar[str] = "session.crashed"
    coordinates: ClassVar[bool] = True
    session: str = ""
    reason: str = ""


class BriefShown(Event, frozen=True):
    """An agent was shown the brief of a version: these items by topic, and so many not.

    `digest` is the SHA-256 of the text; `step` is the step that was asked about.
    """

    type: ClassVar[str] = "brief.shown"
    bookkeeping: ClassVar[bool] = True
    version: Count
    digest: str = ""
    agent: str = ""
    step: str = ""
    shown: dict[str, tuple[str, ...]] = field(default_factory=dict)
    left_out: dict[str, Count] = field(default_factory=dict)
    hook: str = ""


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
    #: A symbol or text that the file has, for as long as what was noted holds.
    contains: str = ""
