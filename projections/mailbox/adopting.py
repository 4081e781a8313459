"""From what a MAILBOX.md says to the requests that make it so.

The file is held against a base, what it was rendered from. A card that is new is posted by whom it
is from; an ack that is new is what whoever it names did. A message stays as it was posted, and does
not go away: only what is done about it is believed. The first file that is adopted is believed in
whatever status it has its messages, and comes out again to the letter.
"""

import re
from collections.abc import Iterator

from journal import events as e
from journal.clock import day
from journal.digest import sha256
from journal.errors import Invalid, quoted
from journal.request import Request
from journal.state import Project
from projections import groups, narrative
from projections.adopting import begun, concluded
from projections.draft import Draft, moment_of
from projections.leftovers import Object
from projections.mailbox import acks, telling
from projections.mailbox.document import (
    ABOUT,
    CLOSED,
    HEADINGS,
    INBOX,
    NAME,
    QUEUE,
    TITLE,
    form,
    key,
    own,
)
from projections.mailbox.reading import Card, Sheet, read
from projections.mailbox.rendering import intact
from projections.mailbox.telling import Telling
from projections.narrative import Piece
from projections.prose import unline
from projections.rows import Row, cells

#: Blank lines at the end, which are nobody's.
_ENDING = re.compile(r"\s*\n\s*\Z")


def adopt_bytes(
    content: bytes,
    project: Project,
    path: str,
    *,
    base: Project | None = None,
    removals: bool = False,
    now: int,
    by: Request,
) -> list[Request]:
    """The requests by which a workspace comes to what a file says.

    `base` is the state that the file was rendered from, the present one if that is not known;
    what is missing in the file is believed to be gone only with `removals`. `by` has who asks.
    """
    words = narrative.words(content, "a MAILBOX.md")
    words = _ENDING.sub("\n", f"{words}\n")
    if not intact(content):
        raise Invalid(
            "the file is no MAILBOX.md: it lacks its title or the heading '## Active Messages'; it "
            "may have been cut, restore it"
        )
    digest = sha256(content).hexdigest()
    if base is None and digest in project.sources:
        return []
    draft = Draft(project, by, now)
    if not project.version:
        begun(draft, path)
    first = base is None and NAME not in project.homes
    base = base or draft.project.copy()
    before = form(base)
    sheet = read(words, {*base.messages, *project.messages})
    told = Telling(draft, base, path, first)
    _tell(told, sheet, before)
    left = _left(told, sheet, before, removals)
    return concluded(draft, NAME, path, content, left)


def _tell(told: Telling, sheet: Sheet, before: Object) -> None:
    """Propose what a file says beyond what it was rendered from, the oldest of it first."""
    was = read(narrative.text(before), told.base.messages)
    shown = {card.id: card for card in reversed(was.cards)}
    rows = {(row.section, row.text) for row in was.rows}
    if told.first:
        for row in sheet.rows:
            if row.section == INBOX and (name := unline(row.values.get("agent", ""))):
                telling.actor(told, name, row.line)
    cards = {card.id for card in sheet.cards}
    for row in reversed(sheet.rows):
        if row.section == CLOSED and (row.section, row.text) not in rows:
            telling.close_by_row(told, row, cards if told.first else set())
    numbers, noted = _numbered(before), {card.text for card in was.cards}
    once = {card.id: card for card in reversed(sheet.cards)}
    for card in reversed([card for card in sheet.cards if once[card.id] is card]):
        if card.id in told.base.messages:
            told.ids[card.id] = card.id
            _compare(told, card, shown.get(card.id), numbers.get(key(card.id), {}))
        elif card.text not in noted:
            telling.add(told, card)


def _numbered(before: Object) -> dict[str, dict[str, int]]:
    """The acks that a file was rendered with: by message, the number of each by its words."""
    found: dict[str, dict[str, int]] = {}
    for name, words in _part(before, "parts").items():
        group, _, rest = name.partition(" ")
        if rest.startswith("ack "):
            found.setdefault(group, {})[words.strip()] = int(rest.removeprefix("ack "))
    return found


def _compare(told: Telling, card: Card, was: Card | None, numbers: dict[str, int]) -> None:
    """Tell what was done about a message that the file was rendered with."""
    message = told.base.messages[card.id]
    noted = [ack.text.strip() for ack in was.acks] if was else []
    new = []
    for n, ack in enumerate(card.acks):
        if number := numbers.pop(ack.text.strip(), None):
            told.numbers[ack.line] = number
        elif ack.text.strip() not in noted:
            new.append(n)
    if was is not None and card.text != was.text:
        _check_same(told, card, was)
    said = card.value("Status")
    goal = acks.status_of(said)
    if said and goal is None and not (was and said == was.value("Status")) and not told.first:
        raise Invalid(
            f"line {card.at('Status')}: {quoted(said)} is no status of a message; it is unread, "
            "acknowledged, blocked, actioned or closed"
        )
    if message.status == "closed":
        if goal not in (None, "closed") and not told.first:
            raise Invalid(
                f"line {card.line}: {card.id} is closed, and nothing makes it {goal} again; post a "
                "new message"
            )
        return
    same = was is not None and goal == acks.status_of(was.value("Status"))
    telling.tell_acks(told, card, card.id, new, None if same else goal)


def _check_same(told: Telling, card: Card, was: Card) -> None:
    """Refuse another message under the same id: what was posted does not change."""
    for name, (words, line) in card.fields.items():
        if name in ("Status", "Escalated") or name not in was.fields:
            continue
        if _meant(told, name, words) != _meant(told, name, was.value(name)):
            raise Invalid(
                f"line {line}: the {name} of {card.id} is {quoted(was.value(name))} since it was "
                f"posted, and not {quoted(words)}; post a new message instead"
            )
    if was.payload and (card.payload is None or card.payload.text != was.payload.text):
        line = card.payload.line if card.payload else card.line
        raise Invalid(
            f"line {line}: the payload of {card.id} is malformed, it is not the one of "
            f"{was.payload.token}; post what is new with a token of its own"
        )


def _meant(told: Telling, name: str, words: str) -> object:
    """What a field means, whichever its words are."""
    match name:
        case "From":
            found = telling.between_of(words)
            return found and tuple(telling.mentioned(told, each) or each for each in found)
        case "Closure owner":
            return telling.mentioned(told, unline(words)) or words
        case "Date":
            at = moment_of(unline(words))
            return words if at is None else day(at)
        case "Type":
            return telling.kind_of(words)
        case "Priority":
            return telling.priority_of(words)
        case "Response needed by":
            return telling.due_of(words)
    return " ".join(unline(words).split())


# -- what is kept ----------------------------------------------------------------------------


def _left(told: Telling, sheet: Sheet, before: Object, removals: bool) -> list[e.Leftover]:
    """Where the file would not come out again as it is, although it says something of its own."""
    project = told.draft.project
    file = list(groups.contiguous(_pieces(told, sheet)))
    head = next((piece.text for piece in file if piece.name == f"{CLOSED} head"), "")
    alone, shown = own(project, head), form(project)
    if told.first:
        before = alone
    elsewhere = {key(told.ids.get(card.id, card.id)) for card in sheet.cards if not card.active}
    return groups.left(
        file,
        before,
        alone,
        shown,
        removals=removals or told.first,
        settled=_settled(told, sheet, file, before, alone),
        elsewhere=set() if told.first else elsewhere,
    )


def _pieces(told: Telling, sheet: Sheet) -> Iterator[Piece]:
    """The file as parts, each by the name that it has by now; a second card of an id is words."""
    once = set[str]()
    for entry in sheet.entries:
        match entry:
            case Piece():
                yield entry
            case Row():
                inbox = entry.section == INBOX
                name = unline(entry.values.get("agent" if inbox else "id", ""))
                who = telling.mentioned(told, name) if inbox else ""
                yield Piece(f"{entry.section} {key(who or name)}", entry.text)
            case Card() if entry.id in once:
                yield Piece("", entry.text)
            case Card():
                once.add(entry.id)
                yield from _of_card(told, entry)


def _of_card(told: Telling, card: Card) -> Iterator[Piece]:
    id = told.ids.get(card.id)
    if id is None:
        yield Piece("", card.text)
        return
    known = told.base.messages.get(id)
    if told.messages[id].status == "closed" and (known is None or known.status == "closed"):
        yield Piece(f"{key(id)} closed", card.text)
        return
    lines = iter(card.acks)
    for name, words in card.pieces:
        match name:
            case "":
                # Under another id it has our heading.
                yield Piece(key(id), words) if id == card.id else Piece("", "")
            case "ack":
                number = told.numbers.get(next(lines).line)
                yield Piece(f"{key(id)} ack {number}" if number else "", words)
            case "-":
                yield Piece("", words)
            case "payload" | "body" if card.id in told.broken:
                yield Piece(f"{key(id)} body" if name == "body" or card.body is None else "", words)
            case _:
                yield Piece(f"{key(id)} {name}", words)


def _settled(
    told: Telling, sheet: Sheet, file: list[Piece], before: Object, alone: Object
) -> set[str]:
    """The parts of which the state knows better, whatever the file has there, or does not have."""
    parts = _part(alone, "parts")
    named = {piece.name for piece in file}
    found = {*HEADINGS, *(f"{section} head" for section in HEADINGS)} - named
    found |= {name for name, words in _part(before, "parts").items() if not words} - named
    live = {key(id) for id, each in told.messages.items() if each.status != "closed"}
    for name in parts:
        group, _, rest = name.partition(" ")
        if group in live:
            whole = told.first and group in named and rest not in ("From", "Status")
            found |= {name} if rest == "Escalated" or not (name in named or whole) else set()
        elif group in (INBOX, QUEUE) and rest and name not in named:
            found |= set() if group == INBOX and told.first else {name}
    for card in sheet.cards:
        id = told.ids.get(card.id)
        status = acks.status_of(card.value("Status"))
        if id and status not in (None, told.messages[id].status):
            found.add(f"{key(id)} Status")
    for piece in file:
        group, _, rest = piece.name.partition(" ")
        if group in (INBOX, QUEUE) and rest not in ("", "head", "end") and piece.name in parts:
            theirs, ours = (cells(words) or [] for words in (piece.text, parts[piece.name]))
            if [unline(x) for x in theirs[:3]] != [unline(x) for x in ours[:3]]:
                found.add(piece.name)
    return found - {TITLE, ABOUT}


def _part(document: Object, name: str) -> dict[str, str]:
    found = document[name]
    assert isinstance(found, dict)
    return found
