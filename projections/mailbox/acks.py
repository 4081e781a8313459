"""Ack lines: who did what about a message, when, and why; as we write them, and as others do."""

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias, get_args

from msgspec import Struct

from journal import events as e
from journal.peers import Message, MessageStatus
from projections.draft import moment_of
from projections.mailbox.reading import Said
from projections.prose import text, unline

What: TypeAlias = Literal["acknowledged", "blocked", "resumed", "actioned", "deferred", "closed"]

_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.]+(?:Z|[+-][0-9:]+)?)?"
_DASH = r"[ \t]*(?:—|–|--?|,|[ \t])[ \t]*"
_USUAL = re.compile(
    rf"(?P<who>.{{1,200}}?){_DASH}(?P<date>{_DATE})[ \t]*(?:—|–|--?|:|,)?[ \t]*(?P<rest>.*)\Z"
)
#: How the protocol says that a closing is noted: `Closed (superseded) — Codex — 2026-02-08`.
_CLOSING = re.compile(
    rf"(?P<what>closed|deferred)(?P<how>[ \t]*\([a-z]+\))?{_DASH}(?P<who>.{{1,200}}?){_DASH}"
    rf"(?P<date>{_DATE})[ \t]*(?:—|–|--?|:|,)?[ \t]*(?P<rest>.*)\Z",
    re.IGNORECASE,
)
_VERBS: dict[str, What] = {
    "ack": "acknowledged",
    "acked": "acknowledged",
    "acknowledged": "acknowledged",
    "action": "actioned",
    "actioned": "actioned",
    "blocked": "blocked",
    "closed": "closed",
    "closure": "closed",
    "deferred": "deferred",
    "resumed": "resumed",
    "unblocked": "resumed",
}
_WHAT = re.compile(
    rf"(?P<what>{'|'.join(_VERBS)})\b(?:[ \t]*\((?P<how>[a-z]+)\)|[ \t]+as[ \t]+(?P<as>[a-z]+))?"
    r"(?:[ \t]*\((?P<token>REV-[^)\s]+)\))?"
    r"(?:(?P<end>[.:])(?:[ \t]+|\Z)|[ \t]+(?:—|–|--?)[ \t]+|\Z|(?=[ \t,;]))(?P<reason>.*)\Z",
    re.IGNORECASE | re.DOTALL,
)
DISPOSITIONS: tuple[e.Disposition, ...] = get_args(e.Disposition)


class Line(Struct, frozen=True):
    """What an ack says; it is only a note where it names nothing that is done about a message."""

    who: str
    at: int | None
    what: What | None
    reason: str
    #: All of its words, where they have to do as the reason.
    words: str
    line: int
    disposition: e.Disposition = "resolved"
    token: str = ""


def parsed(said: Said) -> Line:
    """What the words of an ack say."""
    closing = _CLOSING.match(said.words)
    found = closing or _USUAL.match(said.words)
    if found is None:
        return Line("", None, None, said.words, _whole(said.words, said.below), said.line)
    rest = found["rest"]
    if closing:
        rest = f"{found['what']}{found['how'] or ''}. {rest}"
    who, at = unline(found["who"].strip("*_ ")), moment_of(found["date"].replace(" ", "T"))
    did = _WHAT.match(rest)
    words = _whole(unline(rest), said.below)
    if did is None:
        return Line(who, at, None, words, words, said.line)
    how = (did["how"] or did["as"] or "").lower()
    disposition: e.Disposition = next((each for each in DISPOSITIONS if each == how), "resolved")
    reason = unline(did["reason"]) if did["end"] or not did["reason"] else unline(rest)
    if did["end"] == ":" and not reason and said.below.startswith("\n"):
        reason = text(said.below.strip("\n").split("\n"))
    else:
        reason = _whole(reason, said.below)
    what = _VERBS[did["what"].lower()]
    return Line(who, at, what, reason or words, words, said.line, disposition, did["token"] or "")


def _whole(words: str, below: str) -> str:
    rest = below.strip("\n")
    return f"{words}\n{rest}" if rest else words


def event(message: str, what: What, line: Line, *, whole: bool = False) -> e.Event:
    """The event that an ack stands for; `whole` where another word than its own says what."""
    reason = (line.words if whole else line.reason) or what
    match what:
        case "acknowledged":
            return e.MessageAcknowledged(message, reason, line.token)
        case "actioned":
            return e.MessageActioned(message, reason, line.token)
        case "blocked":
            return e.MessageBlocked(message, reason)
        case "resumed":
            return e.MessageResumed(message, reason)
        case "deferred":
            return e.MessageDeferred(message, reason)
        case "closed":
            return e.MessageClosed(message, reason, line.disposition)


#: How far a message has come with each status.
RANK: dict[str, int] = {"unread": 0, "acknowledged": 1, "blocked": 1, "actioned": 2, "closed": 3}
#: What leads to a status.
LEADS: dict[MessageStatus, What] = {
    "acknowledged": "acknowledged",
    "blocked": "blocked",
    "actioned": "actioned",
    "closed": "closed",
}


def status_of(words: str) -> MessageStatus | None:
    """The status that the words of a file mean; None if they mean none."""
    word = re.split(r"[^a-z]", words.strip("`*_ ").lower(), maxsplit=1)[0]
    if word in DISPOSITIONS:
        return "closed"
    return next((status for status in get_args(MessageStatus) if status == word), None)


def ways(message: Message, goal: MessageStatus) -> Iterator[What]:
    """What has to happen to a message for it to have a status."""
    if goal == "blocked" and message.status == "unread":
        yield "acknowledged"
    if goal != "unread":
        yield LEADS[goal]
