"""Mail that waits: what is unread, and what has waited too long.

A window is counted in sessions of the receiver, not by the clock: of P0 mail its next turn, which
is over when a session of the receiver ends; of P1 mail, and of any that is due by the next session,
a whole session that began later. A due time that passed counts as well. What is blocked, put off,
or only a notice never waits too long.
"""

from journal.clock import Moment, iso, parse
from journal.entities import Project
from journal.peers import Message


def unread(project: Project, agent: str) -> list[Message]:
    """What an agent has not read yet, the oldest first."""
    found = (x for x in project.messages.values() if x.to == agent and x.status == "unread")
    return sorted(found, key=lambda message: message.posted)


def unread_at(project: Project, agent: str, moment: Moment) -> list[Message]:
    """What an agent had not read at some moment."""
    return [
        message
        for message in project.messages.values()
        if message.to == agent
        and message.posted <= moment
        and not any(ack.at <= moment and ack.what != "deferred" for ack in message.acks)
    ]


def to_acknowledge(project: Project, agent: str) -> list[Message]:
    """What an agent has to answer for: read or not, and not yet done."""
    waiting = ("unread", "acknowledged", "blocked")
    return [x for x in project.messages.values() if x.to == agent and x.status in waiting]


def unanswered(project: Project, agent: str) -> list[Message]:
    """What an agent posted, and nobody has acted on yet."""
    waiting = ("unread", "acknowledged", "blocked")
    return [x for x in project.messages.values() if x.sender == agent and x.status in waiting]


def overdue(project: Project, message: Message, now: int, ending: str = "") -> str:
    """Why a message has waited too long; nothing if it has not. `ending` is a session that ends."""
    deferred = message.acks and message.acks[-1].what == "deferred"
    if message.status != "unread" or message.kind == "notify" or deferred:
        return ""
    ended = [
        session
        for session in project.sessions.values()
        if session.agent == message.to
        and (session.id == ending or (session.ended is not None and session.ended > message.posted))
    ]
    if message.priority == "P0" and ended:
        return f"{message.to} did not acknowledge it within its next turn (P0)"
    whole = any(session.started > message.posted for session in ended)
    if whole and (message.priority == "P1" or message.due == "next session"):
        window = f"its next session ({message.priority})"
        return f"{message.to} did not acknowledge it within {window}"
    if message.due not in ("", "none", "next session") and parse(message.due) < now:
        return f"{message.to} did not acknowledge it by {iso(parse(message.due))}"
    return ""
