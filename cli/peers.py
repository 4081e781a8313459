"""What `--json` promises of what agents leave each other; see cli/answers.py.

Apart from those, so that only the commands that answer with them have them to import.
"""

from typing import Literal

from msgspec import Struct

from journal import events as e
from journal.peers import MessageStatus


class ActorAnswer(Struct, frozen=True):
    """Who acts here; `task` and `session` are what it is at, null if there is nothing."""

    actor: str
    role: e.Role
    title: str
    status: e.ActorStatus | None
    note: str
    task: str | None
    session: str | None


class MessageAnswer(Struct, frozen=True):
    """A message without its words. `overdue` says why it has waited too long, if it has."""

    id: str
    sender: str
    to: str
    subject: str
    status: MessageStatus
    kind: e.MessageKind
    priority: e.Priority
    posted: str
    due: str
    closure_owner: str
    #: The token of its payload, if it has one.
    token: str | None
    overdue: str


class AckAnswer(Struct, frozen=True):
    """What somebody did about a message, and why."""

    what: Literal["acknowledged", "blocked", "resumed", "actioned", "deferred", "closed"]
    by: str
    at: str
    reason: str
    disposition: str
    token: str


class PayloadAnswer(Struct, frozen=True):
    """What is to be reviewed with a message: the whole of it, or the part that its token names."""

    text: str
    token: str
    format: Literal["unified-diff", "full-text"]
    files: list[str]
    scope: Literal["full", "critical-only", "interface-only"]
    ask: Literal["apply-or-counter", "review-only", "fyi"]


class WholeMessage(MessageAnswer, frozen=True):
    """A message with its words, its payload, and all that was done about it."""

    body: str
    related: list[str]
    payload: PayloadAnswer | None
    #: The token of the snapshot by which work is handed over, if it is a handoff.
    snapshot: str
    #: The escalation that it came to, if it did.
    escalated: str
    acks: list[AckAnswer]


class CommitmentAnswer(Struct, frozen=True):
    """What an agent promised, and what became of it."""

    id: str
    text: str
    agent: str
    to: str
    due: str
    status: Literal["open", "fulfilled", "dropped"]
    made: str
    settled: str | None
    note: str


class QuestionAnswer(Struct, frozen=True):
    """A question, and what was said to it."""

    id: str
    text: str
    status: Literal["open", "deferred", "resolved"]
    source: str
    step: str
    opened: str
    resolution: str
    resolved: str | None


class TurnAnswer(Struct, frozen=True):
    """An agent that waits for its turn; `requested` is the revision at which it asked."""

    id: str
    agent: str
    action: str
    priority: e.Priority
    requested: int


class SignalAnswer(Struct, frozen=True):
    """A short word from one agent to another, or to all."""

    id: str
    sender: str
    to: str
    kind: e.Signal
    detail: str
    revision: int
    at: str


class EscalationAnswer(Struct, frozen=True):
    """What the maintainer has to see to, or has seen to."""

    id: str
    subject: str
    reason: str
    message: str
    raised: str
    answer: str
    answered: str | None


class LeaseAnswer(Struct, frozen=True):
    """A lease that is held: on a step until a time, or on files for so many revisions."""

    token: str
    agent: str
    step: str
    files: list[str]
    acquired: str
    #: Until when it lasts if it is not renewed; null of files.
    until: str | None
    revision: int
    revisions: int
    stale: bool
    reason: str


class HandoffAnswer(Struct, frozen=True):
    """What an entry of the worklog says to whoever goes on."""

    status: str
    changed_files: list[str]
    tests: str
    blocking: str
    next_owner: str


class EntryAnswer(Struct, frozen=True):
    """An entry of the worklog; `number` is that of the session that it was logged in."""

    id: str
    title: str
    agent: str
    number: int
    at: str
    status: Literal["active", "completed", "archived"]
    text: str
    handoff: HandoffAnswer | None
    refers: list[str]
    note: str


class Compaction(Struct, frozen=True):
    """What `worklog compact` would move into the archive, and what stays because of which entry."""

    project: str
    entries: list[str]
    kept: dict[str, str]


class SnapshotAnswer(Struct, frozen=True):
    """What an agent left when it closed a session, without its words."""

    token: str
    agent: str
    session: str
    at: str
    close_reason: e.CloseReason
    status: Literal["complete", "partial", "blocked"]
    task: str
    next_action: str
    branch: str
    phase: str
    revision: int
    unread: int
    #: The token of the agent's newest one, if that is another.
    superseded_by: str


class WholeSnapshot(SnapshotAnswer, frozen=True):
    """A snapshot with its body; `changed` is how that differs from the one it is held against."""

    body: str
    changed: list[str]


class CheckAnswer(Struct, frozen=True):
    """One check of a snapshot, and each thing that does not hold: its line, value, and why."""

    name: Literal["checksum", "active task", "mailbox", "files", "questions"]
    passed: bool
    failed: list[str]


class ValidationAnswer(Struct, frozen=True):
    """Whether a snapshot holds: of the journal, or as it stands on that line of a file."""

    token: str
    agent: str
    file: str
    line: int
    valid: bool
    superseded_by: str
    checks: list[CheckAnswer]
    #: What is wrong with what stands in front of it.
    wrong: list[str]
