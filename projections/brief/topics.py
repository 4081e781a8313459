"""The topics of a brief, in the order of their worth, and how one item of each is shown."""

import shlex
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from journal.errors import NotFound
from projections.brief.brief import Brief, Item, Phase, Reading, Section
from projections.markdown import clip, code, fence, inline
from projections.protocol import Caution, Offer

#: One thing of a topic: what it is depends on the topic.
Entry: TypeAlias = Any
#: An item is shown whole or not at all.
_WHOLE = 1 << 30


class Topic(Struct, frozen=True):
    """A field of the brief, what it and its items are called, how one looks and is known."""

    name: str
    title: str
    noun: str
    line: Callable[[Entry], str]
    id: Callable[[Entry], str]
    #: Whether an agent that does not see it would do the wrong thing.
    vital: bool = False


def _item(item: Item) -> str:
    return f"{inline(item.id, _WHOLE)} — {inline(item.text, _WHOLE)}"


def _mismatch(item: Item) -> str:
    """The item with what is offered, and below it the lines that go with it."""
    said = f"{_item(item)}{_offered(item.offers)}"
    block = "\n".join(f"  {line}" for line in fence(item.lines, "diff"))
    return f"{said}\n\n{block}\n" if item.lines else said


def _phase(phase: Phase) -> str:
    named = inline(f"{phase.phase} {phase.name}", _WHOLE)
    return f"phase {named} — {inline(phase.text, _WHOLE)}"


def _offer(offer: Offer) -> str:
    return f"{inline(offer.what, _WHOLE)}: {code(offer.command, _WHOLE)}"


def _warning(warning: Caution) -> str:
    return f"{inline(warning.text, _WHOLE)}{_offered(warning.offers)}"


def _offered(offers: Iterable[Offer]) -> str:
    said = "; or ".join(map(_offer, offers))
    return f" Offered: {said}" if said else ""


def _message(item: Item) -> str:
    return f"{_item(item)}{_offered(item.offers)}"


def _section(section: Section) -> str:
    """A part as a quotation, in which no line can be taken for one of the brief."""
    quoted = "\n".join(f"  > {line}".rstrip() for line in section.text.split("\n"))
    return f"**{inline(section.part, _WHOLE)}**\n\n{quoted}\n"


def _part(section: Section) -> str:
    return section.part


def _reading(reading: Reading) -> str:
    lines = "" if reading.lines is None else f"{reading.lines:,} lines, "
    why = f" — {inline(reading.why, _WHOLE)}" if reading.why else ""
    return f"{_path(reading.path)} ({lines}about {reading.tokens:,} tokens){why}"


def _read(reading: Reading) -> str:
    return clip(reading.path)


def _path(path: str) -> str:
    return code(path, _WHOLE)


def _id(item: Item) -> str:
    return item.id


TOPICS: dict[str, Topic] = {
    topic.name: topic
    for topic in (
        Topic("texts", "In full", "texts of the top cut short", _item, _id, True),
        Topic("offers", "Or instead", "offers", _offer, lambda offer: clip(offer.command), True),
        Topic("warnings", "Warnings", "warnings", _warning, lambda said: clip(said.text), True),
        Topic("checks", "Of the snapshot does not hold", "failed checks", _item, _id, True),
        Topic(
            "snapshot", "Left by the predecessor", "parts of the snapshot", _section, _part, True
        ),
        Topic("coordination", "Coordination", "facts of coordination", _item, _id),
        Topic("status", "Status block", "lines of the status block", _item, _id),
        Topic("mail", "Mail", "messages", _message, _id, True),
        Topic("reading", "Read on resume", "files to read on resume", _reading, _read),
        Topic("mismatches", "Not as it was left", "things not as left", _mismatch, _id, True),
        Topic("findings", "Open must-fix findings", "must-fix findings", _item, _id, True),
        Topic("blockers", "Active blockers", "blockers", _item, _id, True),
        Topic("errors", "Unresolved errors", "errors", _item, _id, True),
        Topic("phases", "Phases", "phases", _phase, lambda each: clip(each.phase), True),
        Topic("questions", "Open questions", "questions", _item, _id, True),
        Topic("commitments", "Open commitments", "commitments", _item, _id, True),
        Topic("drift", "Files that are not as written", "changed files", _item, _id, True),
        Topic("decisions", "Decisions", "decisions", _item, _id),
        Topic("context", "Context", "notes", _item, lambda note: clip(note.text)),
        Topic("load", "Read at the start", "files to read", _reading, _read),
        Topic("missing", "Named for the start, and missing", "missing files", _path, clip),
        Topic("skip_reading", "Read already: do not read again", "files read", _path, clip),
        Topic("artifacts", "Produced by this step so far", "artifacts", _path, clip),
        Topic("history", "History", "entries of history", _item, _id),
    )
}


def entries(brief: Brief, topic: Topic) -> tuple[Entry, ...]:
    """What a brief has on a topic."""
    found: tuple[Entry, ...] = getattr(brief, topic.name)
    return found


#: What stands at the top of a brief, as people call it.
_TOP = {
    "title": "title",
    "say": "what to do",
    "name": "step",
    "agent": "agent",
    "checkpoint": "checkpoint",
    "next_action": "next action",
}


def texts(brief: Brief, shortest: int = 0) -> tuple[Item, ...]:
    """The texts at the top of a brief that are longer than so much."""
    found = ((what, getattr(brief, name)) for name, what in _TOP.items())
    return tuple(Item(what, text) for what, text in found if len(clip(text, _WHOLE)) > shortest)


def only(brief: Brief, names: Iterable[str]) -> Brief:
    """The brief with these topics; what it has on others is counted as left out."""
    wanted = set(map(_named, names))
    left_out = dict(brief.left_out)
    for name in TOPICS.keys() - wanted:
        if count := len(entries(brief, TOPICS[name])):
            left_out[name] = left_out.get(name, 0) + count
    left_out = {name: left_out[name] for name in TOPICS if name in left_out}
    dropped = dict.fromkeys(TOPICS.keys() - wanted, ())
    brief = replace(brief, texts=texts(brief), left_out=left_out)
    return replace(brief, **dropped, more=showing(brief, left_out) if left_out else "")


def _named(name: str) -> str:
    if name not in TOPICS:
        raise NotFound("topic", name, TOPICS, hint=f"there are {', '.join(TOPICS)}")
    return name


def showing(brief: Brief, names: Iterable[str]) -> str:
    """The command that shows these topics whole."""
    words = ("passdown", "resume", "--only", ",".join(names), "-p", brief.project)
    step = ("--step", brief.asked) if brief.asked else ()
    at = ("--at", str(brief.as_of)) if brief.as_of is not None else ()
    reader = ("--agent", brief.reader) if brief.reader else ()
    before = ("--from", brief.predecessor) if brief.predecessor else ()
    return shlex.join((*words, *step, *at, *reader, *before))
