"""What a MAILBOX.md tells: messages that are new, and what was done about those that are known."""

import re
from collections.abc import Iterable

import msgspec
from msgspec import Struct, field

from journal import events as e
from journal.entities import is_maintainer
from journal.errors import Invalid, NotFound, PassdownError, Rejected
from journal.payloads import check_payload
from journal.peers import Message, MessageStatus
from journal.rules.names import known_actor
from journal.state import Project
from projections.adopting import titled
from projections.draft import Draft, moment_of
from projections.mailbox import acks
from projections.mailbox.reading import ID, Card
from projections.prose import text, unline
from projections.rows import Row

_BETWEEN = re.compile(r"(.+?)[ \t]*(?:->|→)[ \t]*(.+)\Z")
_DAY = re.compile(r"MSG-([0-9]{4})([0-9]{2})([0-9]{2})-")
_KINDS: dict[str, e.MessageKind] = {
    "notify": "notify",
    "request": "request",
    "decision-required": "decision-required",
    "approval-required": "approval-required",
}
_PRIORITIES: dict[str, e.Priority] = {"P0": "P0", "P1": "P1", "P2": "P2", "P3": "P2"}


class Telling(Struct):
    """A file that is being told: what it was rendered from, and what its cards turn out to be."""

    draft: Draft
    base: Project
    path: str
    #: Whether it is the first of its kind, so that it says how everything came to be.
    first: bool
    #: Id in the file -> the one that the message goes by.
    ids: dict[str, str] = field(default_factory=dict)
    #: Line of an ack -> its number among those of its message.
    numbers: dict[int, int] = field(default_factory=dict)
    #: Ids in the file of those whose payload is only text.
    broken: set[str] = field(default_factory=set)

    @property
    def messages(self) -> dict[str, Message]:
        return self.draft.project.messages


# -- who -------------------------------------------------------------------------------------


def actor(told: Telling, name: str, line: int) -> str:
    """The actor that a file means; in the first one whoever is named there takes part."""
    try:
        return titled(told.draft, name) if told.first else known_actor(told.draft.project, name)
    except PassdownError as error:
        raise Invalid(f"line {line}: {error}") from error


def mentioned(told: Telling, name: str) -> str:
    """The same of whoever is only mentioned; empty if nobody goes by that name."""
    try:
        return known_actor(told.draft.project, name) if name else ""
    except NotFound:
        return ""


def _does(
    told: Telling, message: Message, what: acks.What, how: e.Disposition = "resolved"
) -> tuple[str, ...]:
    """Who may do what about a message: the one whose it is to do first."""
    project = told.draft.project
    maintainers = [id for id in project.actors if is_maintainer(project, id)]
    if what == "deferred" or how == "abandoned":
        return tuple(maintainers)
    if what != "closed":
        return (message.to,)
    may = dict.fromkeys((message.sender, *(() if how == "withdrawn" else maintainers)))
    owner = message.closure_owner
    return (owner, *may) if owner in may else tuple(may)


# -- new messages ----------------------------------------------------------------------------


def add(told: Telling, card: Card) -> None:
    """Post a card that nobody knows, and tell what was done about it."""
    between = between_of(card.value("From"))
    if between is None:
        if told.first:
            return  # it is no message, but words that stay
        raise Invalid(
            f"line {card.line}: {card.id} does not say who it is from and to; give it a line "
            "'**From:** SENDER -> RECEIVER'"
        )
    line = card.at("From")
    sender, to = (actor(told, name, line) for name in between)
    body = "" if card.body is None else text(card.body.split("\n"))
    payload = _payload(told, card)
    if card.payload and payload is None:
        told.broken.add(card.id)
        body = "\n\n".join(filter(None, (body, card.payload.whole)))
    project = told.draft.project
    free = ID.match(card.id) is not None and card.id not in project.messages
    related = (unline(each.strip()) for each in card.value("Related").split(","))
    snapshot = unline(card.value("Snapshot"))
    event = e.MessagePosted(
        to,
        unline(card.value("Subject")) or body.partition("\n")[0] or card.id,
        body,
        sender,
        kind_of(card.value("Type")),
        priority_of(card.value("Priority")),
        mentioned(told, unline(card.value("Closure owner"))),
        due_of(card.value("Response needed by")),
        tuple(each for each in related if each in project.messages),
        payload,
        snapshot if snapshot in project.snapshots else "",
        card.id if free else "",
    )
    posted = moment_of(unline(card.value("Date")))
    if not propose(told, event, day_of(card.id) if posted is None else posted, sender, card.line):
        return
    id = next(reversed(told.messages))
    told.ids[card.id] = id
    tell_acks(told, card, id, range(len(card.acks)), acks.status_of(card.value("Status")))


def _payload(told: Telling, card: Card) -> e.Payload | None:
    """What is to be reviewed; in a first file one that is malformed is no more than text."""
    fenced = card.payload
    if fenced is None:
        return None
    try:
        if not fenced.text:
            raise Invalid("the payload has no end; close its fence, or restore the file")
        payload = fenced.payload
        check_payload(payload)
    except (Invalid, msgspec.ValidationError) as error:
        if told.first:
            return None
        raise Invalid(f"line {fenced.line}: {error}") from error
    return payload


def propose(
    told: Telling, event: e.Event, occurred: int | None, who: str, line: int, *, must: bool = True
) -> bool:
    """Propose what somebody did; of a first file what may not be stays only words."""
    try:
        return told.draft.add(event, occurred, actor=who, must=must and not told.first)
    except (Rejected, NotFound, Invalid) as error:
        raise Invalid(f"line {line}: {error}") from error


# -- what was done about them ----------------------------------------------------------------


def tell_acks(
    told: Telling, card: Card, id: str, new: Iterable[int], goal: MessageStatus | None
) -> None:
    """Tell the new acks of a card whose status is now `goal`, if that is another."""
    lines = {n: acks.parsed(card.acks[n]) for n in new}
    message = told.messages[id]
    goal = None if goal == message.status and not told.first else goal
    decisive = _decisive(told, message, lines, goal) if goal else None
    was = told.base.messages.get(id)
    moved = was is not None and was.status != message.status
    for n, line in lines.items():
        what = acks.LEADS[goal] if goal and n == decisive and goal != "unread" else line.what
        beyond = goal and what in acks.RANK and acks.RANK[what] > acks.RANK[goal]
        if what is None or (beyond and (told.first or goal == "unread")):
            continue
        who = mentioned(told, line.who)
        if not who and told.first:
            continue
        event = acks.event(id, what, line, whole=what != line.what)
        before = len(told.messages[id].acks)
        # Where something else was done meanwhile, what can be no more stays as words.
        propose(told, event, line.at, who or line.who, line.line, must=not moved)
        if len(told.messages[id].acks) > before:
            told.numbers[line.line] = before + 1
    if goal and told.messages[id].status != goal:
        _reach(told, card, id, goal, moved)


def _decisive(
    told: Telling, message: Message, lines: dict[int, acks.Line], goal: MessageStatus
) -> int | None:
    """The ack that says what made it so: the last of somebody who may, if none says it better."""
    if goal == "unread":
        return None
    what = acks.LEADS[goal]
    may = _does(told, message, what)
    own = [n for n, line in lines.items() if mentioned(told, line.who) in may]
    own = [n for n in own if not lines[n].words.lower().startswith("posted")]
    said = [n for n in own if lines[n].what == what]
    found = said or own
    return found[-1] if found else None


def _reach(told: Telling, card: Card, id: str, goal: MessageStatus, moved: bool) -> None:
    """Bring a message of a first file to its status; in any other an ack has to say who did."""
    if told.first:
        posted = told.messages[id].posted
        for what in acks.ways(told.messages[id], goal):
            how = card.disposition if what == "closed" else "resolved"
            line = acks.Line("", posted, what, "", f"{told.path} has it as {goal}", card.line, how)
            for who in _does(told, told.messages[id], what, how)[:1]:
                propose(told, acks.event(id, what, line, whole=True), posted, who, card.line)
        return
    if moved:
        return
    status, at = told.messages[id].status, card.at("Status")
    if any(acks.parsed(each).what for each in card.acks if each.line in told.numbers):
        raise Invalid(
            f"line {at}: {id} is set to {goal}, and its Ack lines make it {status}; let the two "
            "agree"
        )
    for what in acks.ways(told.messages[id], goal):
        who = next(iter(_does(told, told.messages[id], what)), "")
        event = acks.event(id, what, acks.Line(who, None, what, goal, goal, at))
        propose(told, event, None, who, at)  # says so if the status cannot be reached at all
        raise Invalid(
            f"line {at}: {id} is set to {goal}, and no Ack line says who did that and why; add "
            f"one: **Ack:** NAME — YYYY-MM-DD — {goal}. WHY"
        )
    raise Invalid(f"line {at}: {id} is {status}, and nothing makes it {goal} again")


def close_by_row(told: Telling, row: Row, cards: set[str]) -> None:
    """Close what came into the summary; what has no card besides is posted and closed."""
    id, status = unline(row.values.get("id", "")), row.values.get("final status", "")
    if not ID.match(id) or (told.first and id in cards):
        return
    outcome = unline(row.values.get("outcome", "")) or status
    subject = unline(row.values.get("subject", "")) or outcome
    at = moment_of(unline(row.values.get("date", "")))
    at = day_of(id) if at is None else at
    if id not in told.messages:
        between = between_of(row.values.get("from to", ""))
        if between is None or not subject:
            return
        sender, to = (actor(told, name, row.line) for name in between)
        event = e.MessagePosted(to, subject, agent=sender, due="none", message=id)
        if not propose(told, event, at, sender, row.line):
            return
    message = told.messages[id]
    if message.status == "closed":
        return
    how = disposition_of(status)
    may = _does(told, message, "closed", how)
    named = mentioned(told, unline(row.values.get("closed by", "")))
    who = named if named in may else next(iter(may), message.sender)
    propose(told, e.MessageClosed(id, outcome or subject, how), at, who, row.line)


# -- words -----------------------------------------------------------------------------------


def kind_of(words: str) -> e.MessageKind:
    """What a message wants; anything that is not said otherwise is a request."""
    return _KINDS.get(words.strip("`").lower(), "request")


def priority_of(words: str) -> e.Priority:
    """How urgent it is; as usual where that is not said."""
    return _PRIORITIES.get(words.strip("`").upper()[:2], "P1")


def due_of(words: str) -> str:
    """By when an answer is needed: a time, the next session, or never."""
    plain = unline(words.strip("`"))
    if plain.lower() in ("", "none", "n/a", "-", "—"):
        return "none" if plain else ""
    return plain if moment_of(plain) is not None else "next session"


def disposition_of(words: str) -> e.Disposition:
    """How a message was closed, as far as the words say."""
    return next((each for each in acks.DISPOSITIONS if each in words.lower()), "resolved")


def day_of(id: str) -> int | None:
    """The day that an id names."""
    found = _DAY.match(id)
    return moment_of("-".join(found.groups())) if found else None


def between_of(words: str) -> tuple[str, str] | None:
    """Who a message is from and to, by their names."""
    found = _BETWEEN.match(words)
    return (unline(found[1].strip()), unline(found[2].strip())) if found else None
