"""The card of a message: its fields, what it says, what is to be reviewed, what was done about it.

Each line of the head is a part of its own, so that another status changes that line alone.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Protocol

from journal import events as e
from journal.clock import day, iso
from journal.payloads import normal
from journal.peers import Ack, Message
from projections.prose import block, hidden, line

_DAY = 86_400_000_000
_STAMP = re.compile(r"(?:# |<!-- )passdown project=")
_LANGUAGE = {"unified-diff": "diff", "full-text": "text"}


class Called(Protocol):
    """What actors are called."""

    def __getitem__(self, actor: str, /) -> str: ...


def card(message: Message, key: str, names: Called) -> Iterator[tuple[str, str]]:
    """The parts of the card of a message that is not closed, by their names."""
    yield key, f"\n### {line(message.id)}\n\n"
    for field, value in fields(message, names).items():
        yield f"{key} {field}", f"**{field}:** {value}\n"
    if message.body:
        yield f"{key} body", "\n" + text(message.body)
    if message.payload:
        yield f"{key} payload", "\n" + envelope(message.payload)
    for n, ack in enumerate(message.acks, start=1):
        yield f"{key} ack {n}", "\n" + said(ack, names)
    yield f"{key} end", ""


def fields(message: Message, names: Called) -> Mapping[str, str]:
    """The fields of a card, in their order."""
    found = {
        "From": f"{names[message.sender]} -> {names[message.to]}",
        "Date": when(message.posted),
        "Type": message.kind,
        "Priority": message.priority,
        "Subject": line(message.subject),
        "Status": message.status,
        "Closure owner": names[message.closure_owner or message.sender],
        "Response needed by": line(message.due),
        "Related": ", ".join(map(line, message.related)),
        "Snapshot": line(message.snapshot),
        "Escalated": line(message.escalated),
    }
    return {field: value for field, value in found.items() if value}


def when(at: int) -> str:
    """A time as the file has it: a day, where no more than that is known."""
    return iso(at) if at % _DAY else day(at)


def text(words: str) -> str:
    """Text of agents as a block of lines, of which none is more than text to any reader."""
    return "".join(f"{each}\n" for each in hidden(block(words)))


def said(ack: Ack, names: Called) -> str:
    """The line that says what somebody did, and why; a reason of several lines follows it."""
    how = f" ({ack.disposition})" if ack.disposition else ""
    token = f" ({ack.token})" if ack.token else ""
    head = f"**Ack:** {names[ack.by]} — {when(ack.at)} — {ack.what}{how}{token}"
    if "\n" not in ack.reason:
        return f"{head}. {line(ack.reason)}\n"
    return f"{head}:\n\n{text(ack.reason)}"


def envelope(payload: e.Payload) -> str:
    """A payload between fences that no line of it can end, below what is to be known about it."""
    lines = normal(payload.text).split("\n")
    longest = max((len(run) for each in lines for run in re.findall("`+", each)), default=0)
    marks = "`" * max(longest + 1, 3)
    head = [
        f"Revision: {payload.token}",
        f"Format: {payload.format}",
        f"Review scope: {payload.scope}",
        f"Ask: {payload.ask}",
        *(["Files:"] if payload.files else []),
        *(f"  - {line(path)}" for path in payload.files),
    ]
    fenced = [f"{marks}{_LANGUAGE[payload.format]}", *lines, marks]
    if any(_STAMP.match(each) for each in lines):
        # Indented with its fence it is the same to whoever reads markdown, and no stamp of ours.
        fenced = [f" {each}" for each in fenced]
    return "".join(f"{each}\n" for each in (*head, "", *fenced))
