"""What the fold makes of events: mail and promises."""

from typing import Literal

from msgspec.structs import replace

from journal import events as e
from journal.entities import Project, count
from journal.peers import Ack, Commitment, Message, MessageStatus
from journal.record import Record
from journal.state.table import Folds


def _message_posted(p: Project, x: e.MessagePosted, r: Record) -> None:
    p.messages[x.message] = Message(
        x.message,
        x.agent or r.actor or "",
        x.to,
        x.subject,
        r.time,
        x.body,
        x.kind,
        x.priority,
        x.closure_owner,
        x.due,
        x.related,
        x.payload,
        x.snapshot,
    )
    count(p, x.message)


def _say(p: Project, message: str, status: MessageStatus | None, ack: Ack) -> None:
    """Note what somebody did about a message; no status leaves it as it was."""
    if known := p.messages.get(message):
        p.messages[message] = replace(known, status=status or known.status, acks=(*known.acks, ack))


def _acknowledged(p: Project, x: e.MessageAcknowledged, r: Record) -> None:
    ack = Ack("acknowledged", r.actor or "", r.time, x.reason, token=x.token)
    _say(p, x.message, "acknowledged", ack)


def _blocked(p: Project, x: e.MessageBlocked, r: Record) -> None:
    _say(p, x.message, "blocked", Ack("blocked", r.actor or "", r.time, x.reason))


def _resumed(p: Project, x: e.MessageResumed, r: Record) -> None:
    _say(p, x.message, "acknowledged", Ack("resumed", r.actor or "", r.time, x.reason))


def _actioned(p: Project, x: e.MessageActioned, r: Record) -> None:
    ack = Ack("actioned", r.actor or "", r.time, x.reason, token=x.token)
    _say(p, x.message, "actioned", ack)


def _deferred(p: Project, x: e.MessageDeferred, r: Record) -> None:
    _say(p, x.message, None, Ack("deferred", r.actor or "", r.time, x.reason))


def _closed(p: Project, x: e.MessageClosed, r: Record) -> None:
    ack = Ack("closed", r.actor or "", r.time, x.reason, x.disposition)
    _say(p, x.message, "closed", ack)


def _commitment_made(p: Project, x: e.CommitmentMade, r: Record) -> None:
    agent = x.agent or r.actor or ""
    p.commitments[x.commitment] = Commitment(x.commitment, x.text, r.time, agent, x.to, x.due)


def _settle(
    p: Project, id: str, status: Literal["fulfilled", "dropped"], note: str, r: Record
) -> None:
    if known := p.commitments.get(id):
        p.commitments[id] = replace(known, status=status, settled=r.time, note=note)


def _commitment_fulfilled(p: Project, x: e.CommitmentFulfilled, r: Record) -> None:
    _settle(p, x.commitment, "fulfilled", x.note, r)


def _commitment_dropped(p: Project, x: e.CommitmentDropped, r: Record) -> None:
    _settle(p, x.commitment, "dropped", x.reason, r)


FOLDS: Folds = {
    e.MessagePosted: _message_posted,
    e.MessageAcknowledged: _acknowledged,
    e.MessageBlocked: _blocked,
    e.MessageResumed: _resumed,
    e.MessageActioned: _actioned,
    e.MessageDeferred: _deferred,
    e.MessageClosed: _closed,
    e.CommitmentMade: _commitment_made,
    e.CommitmentFulfilled: _commitment_fulfilled,
    e.CommitmentDropped: _commitment_dropped,
}
