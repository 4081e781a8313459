"""When it may happen: mail and promises.

| status | acknowledge | block | resume | action | close |
|---|---|---|---|---|---|
| unread | receiver | | | receiver | sender, maintainer |
| acknowledged | (it is so) | receiver | | receiver | sender, maintainer |
| blocked | | (it is so) | receiver | receiver | sender, maintainer |
| actioned | | | | (it is so) | sender, maintainer |
| closed | | | | | |

The maintainer may defer whatever is not closed. Only the sender withdraws, only the maintainer
abandons. Nothing that is closed opens again.
"""

from collections.abc import Iterator
from typing import Literal, TypeAlias

from msgspec.structs import replace

from journal import events as e
from journal.clock import day, parse
from journal.entities import Project, is_maintainer, maintainer_of
from journal.errors import Invalid, NotFound, Rejected, quoted
from journal.payloads import check_payload
from journal.peers import Message, MessageStatus
from journal.rules.names import check_own, command, find, known_actor, new_id, next_id
from journal.rules.rule import By, Rules, admits, offering

Part: TypeAlias = Literal["receiver", "sender", "maintainer"]

#: Who may do what to a message of which status, and what becomes of it.
_TABLE: dict[tuple[MessageStatus, type[e.Event]], tuple[MessageStatus, tuple[Part, ...]]] = {
    ("unread", e.MessageAcknowledged): ("acknowledged", ("receiver",)),
    ("unread", e.MessageActioned): ("actioned", ("receiver",)),
    ("unread", e.MessageClosed): ("closed", ("sender", "maintainer")),
    ("acknowledged", e.MessageBlocked): ("blocked", ("receiver",)),
    ("acknowledged", e.MessageActioned): ("actioned", ("receiver",)),
    ("acknowledged", e.MessageClosed): ("closed", ("sender", "maintainer")),
    ("blocked", e.MessageResumed): ("acknowledged", ("receiver",)),
    ("blocked", e.MessageActioned): ("actioned", ("receiver",)),
    ("blocked", e.MessageClosed): ("closed", ("sender", "maintainer")),
    ("actioned", e.MessageClosed): ("closed", ("sender", "maintainer")),
}
_VERBS: dict[type[e.Event], str] = {
    e.MessageAcknowledged: "acknowledge",
    e.MessageBlocked: "block",
    e.MessageResumed: "resume",
    e.MessageActioned: "action",
    e.MessageDeferred: "defer",
    e.MessageClosed: "close",
}
_DISPOSERS: dict[str, tuple[Part, ...]] = {"withdrawn": ("sender",), "abandoned": ("maintainer",)}


def _parts(p: Project, message: Message, actor: str | None) -> set[Part]:
    """What an actor is to a message."""
    parts: set[Part] = set()
    if actor == message.to:
        parts.add("receiver")
    if actor == message.sender:
        parts.add("sender")
    if is_maintainer(p, actor):
        parts.add("maintainer")
    return parts


def _message_posted(p: Project, x: e.MessagePosted, by: By) -> list[e.Event]:
    sender, to = known_actor(p, x.agent or by.actor or ""), known_actor(p, x.to)
    if not sender:
        raise Invalid("who posts this message? say so with --actor")
    if sender == to:
        raise Invalid(f"{sender} cannot post to itself; note it with `passdown next` instead")
    if by.actor not in (sender, None) and not is_maintainer(p, by.actor):
        raise Rejected(f"post as {sender}", f"{by.actor} is neither that nor the maintainer")
    if x.due not in ("", "none", "next session"):
        parse(x.due)
    if x.payload is not None:
        check_payload(x.payload)
    if x.snapshot and x.snapshot not in p.snapshots:
        raise NotFound("snapshot", x.snapshot, p.snapshots)
    _check_handoff(p, x, by)
    related = tuple(find("message", id, p.messages).id for id in x.related)
    id = new_id(x.message, "", p.messages, "message") if x.message else message_id(p, by)
    closer = known_actor(p, x.closure_owner) if x.closure_owner else sender
    return [replace(x, agent=sender, to=to, related=related, closure_owner=closer, message=id)]


def message_id(p: Project, by: By, beyond: int = 0) -> str:
    """The next id of the day, so many further on: MSG-20260208-001."""
    return next_id(p, f"MSG-{day(by.now).replace('-', '')}-", beyond)


def _check_handoff(p: Project, x: e.MessagePosted, by: By) -> None:
    """Handing work over is the maintainer's act, unless the project lets anyone do it."""
    policy = p.coordination.handoff if p.coordination else "anyone"
    if x.snapshot and policy == "maintainer" and not is_maintainer(p, by.actor):
        raise Rejected(
            f"hand over to {x.to}",
            f"here that is for the maintainer, {maintainer_of(p)}, to do",
            [command("handoff", "--to", x.to, "--actor", maintainer_of(p))],
        )


def _message_moved(p: Project, x: e.MessageAcknowledged, by: By) -> list[e.Event]:
    """What is done about a message: by the table, and nothing else."""
    message = find("message", x.message, p.messages)
    verb = _VERBS[type(x)]
    asked = f"{verb} {message.id}"
    if not by.actor:
        raise Invalid(f"who is to {verb} {message.id}? say so with --actor")
    parts = _parts(p, message, by.actor)
    x = replace(x, message=message.id)
    if isinstance(x, e.MessageDeferred):
        if message.status == "closed":
            raise Rejected(asked, "it is closed; post a new message")
        _may(asked, parts, ("maintainer",), message, by)
        return [x]
    found = _TABLE.get((message.status, type(x)))
    if found is None:
        if message.status == _REACHED[type(x)] and parts & set(_WHO[type(x)]):
            return []
        over = "it is closed, and nothing that is closed opens again: post a new message"
        raise Rejected(asked, over if message.status == "closed" else f"it is {message.status}")
    _may(asked, parts, found[1], message, by)
    if isinstance(x, e.MessageClosed) and x.disposition in _DISPOSERS:
        _may(f"{asked} as {x.disposition}", parts, _DISPOSERS[x.disposition], message, by)
    token = getattr(x, "token", "")
    if token and (message.payload is None or token != message.payload.token):
        has = message.payload.token if message.payload else "none"
        raise Rejected(f"{asked} with token {quoted(token)}", f"its payload has {has}")
    return [x]


def _may(asked: str, parts: set[Part], allowed: tuple[Part, ...], message: Message, by: By) -> None:
    """Refuse whoever has no part in it that allows this."""
    if parts & set(allowed):
        return
    names = {"receiver": message.to, "sender": message.sender, "maintainer": "the maintainer"}
    who = " or ".join(names[part] for part in allowed)
    raise Rejected(asked, f"it is for {who} to do, not for {by.actor}")


_REACHED: dict[type[e.Event], MessageStatus] = {
    e.MessageAcknowledged: "acknowledged",
    e.MessageBlocked: "blocked",
    e.MessageResumed: "acknowledged",
    e.MessageActioned: "actioned",
    e.MessageClosed: "closed",
}
_WHO: dict[type[e.Event], tuple[Part, ...]] = {
    event: parts for (_, event), (_, parts) in _TABLE.items()
}

_MOVES: Rules = dict.fromkeys(_VERBS, _message_moved)


def _offers(p: Project, x: e.MessageAcknowledged, by: By) -> Iterator[str]:
    """What the same actor may do about the message now."""
    id = find("message", x.message, p.messages).id
    tried: dict[str, e.Event] = {
        "ack": e.MessageAcknowledged(id, "REASON"),
        "block": e.MessageBlocked(id, "REASON"),
        "resume": e.MessageResumed(id, "REASON"),
        "action": e.MessageActioned(id, "REASON"),
        "defer": e.MessageDeferred(id, "REASON"),
        "close": e.MessageClosed(id, "REASON"),
    }
    for word, event in tried.items():
        if admits(_MOVES, p, event, by):
            yield command("mail", word, id, "--reason", "REASON")


# -- promises --------------------------------------------------------------------------------


def _commitment_made(p: Project, x: e.CommitmentMade, by: By) -> list[e.Event]:
    agent = known_actor(p, x.agent or by.actor or "")
    if not agent:
        raise Invalid("who promises this? say so with --actor")
    check_own(p, agent, by, f"promise something as {agent}")
    if x.due not in ("", "none", "next session"):
        parse(x.due)
    to = known_actor(p, x.to) if x.to else ""
    id = new_id(x.commitment, "C{:03}", p.commitments, "commitment")
    return [replace(x, agent=agent, to=to, commitment=id)]


def _commitment_settled(
    p: Project, x: e.CommitmentFulfilled | e.CommitmentDropped, by: By
) -> list[e.Event]:
    known = find("commitment", x.commitment, p.commitments)
    reached = "fulfilled" if isinstance(x, e.CommitmentFulfilled) else "dropped"
    verb = "fulfil" if reached == "fulfilled" else "drop"
    check_own(p, known.agent, by, f"{verb} commitment {known.id}")
    if known.status == reached:
        return []
    if known.status != "open":
        raise Rejected(f"{verb} commitment {known.id}", f"it is {known.status}")
    return [replace(x, commitment=known.id)]


RULES: Rules = {
    **{cls: offering(rule, _offers) for cls, rule in _MOVES.items()},
    e.MessagePosted: _message_posted,
    e.CommitmentMade: _commitment_made,
    e.CommitmentFulfilled: _commitment_settled,
    e.CommitmentDropped: _commitment_settled,
}
