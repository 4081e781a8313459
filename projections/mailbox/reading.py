"""A MAILBOX.md as whoever wrote it means it: cards, rows, and all else, to the letter."""

import re
from collections.abc import Container, Iterator
from functools import partial
from typing import get_args

from msgspec import Struct, convert, field

from journal import events as e
from projections.mailbox.document import ACTIVE, CLOSED, COLUMNS, INBOX, QUEUE, TITLE, is_ours
from projections.narrative import Piece
from projections.prose import unline
from projections.rows import FENCE, HEADING, Row, hidden, lines_of, table, with_blanks_above

ID = re.compile(r"MSG-[0-9]{8}-[0-9]{3,9}\Z")
_SECTIONS = {
    "inbox snapshot": INBOX,
    "open queue": QUEUE,
    "active messages": ACTIVE,
    "closed summary": CLOSED,
    "quick reply": "about",
}
_FIELD = re.compile(r"\*\*([A-Za-z][A-Za-z -]{0,40}):\*\*[ \t]*(.*?)[ \t]*\Z")
_ACK = re.compile(r"\*\*Ack:\*\*", re.IGNORECASE)
_ENVELOPE = re.compile(r"(?:\*\*)?Revision(?: token)?:(?:\*\*)?[ \t]*`?(REV-\S+?)`?[ \t]*\Z")
_OF_ENVELOPE = re.compile(
    r"(?:\*\*)?(Format|Review scope|Ask|Part|Files):(?:\*\*)?[ \t]*(.*?)[ \t]*\Z"
    r"|[ \t]*-[ \t]+(.+)\Z"
)
FIELDS = (
    *("From", "Date", "Type", "Priority", "Subject", "Status"),
    *("Closure owner", "Response needed by", "Related", "Snapshot", "Escalated"),
)
_FIELDS = {name.lower(): name for name in FIELDS}


class Fenced(Struct, frozen=True):
    """What stands between fences, and what is said about it above them; all of it is `whole`."""

    token: str
    text: str
    line: int
    about: dict[str, str]
    files: tuple[str, ...]
    whole: str = ""

    @property
    def payload(self) -> e.Payload:
        """What is to be reviewed, as far as it is well said."""
        said = {"scope": self.about.get("review scope"), "ask": self.about.get("ask")}
        said |= {"format": self.about.get("format")}
        given = {name: words for name, words in said.items() if words}
        files = tuple(self.files)
        return convert({"text": self.text, "token": self.token, "files": files, **given}, e.Payload)


class Said(Struct, frozen=True):
    """An ack: the words after `**Ack:**`, and what stands below them."""

    words: str
    below: str
    text: str
    line: int


class Card(Struct):
    """A message as its card has it; its pieces go by the ends of their names."""

    id: str
    line: int
    text: str
    active: bool = True
    fields: dict[str, tuple[str, int]] = field(default_factory=dict)
    body: str | None = None
    payload: Fenced | None = None
    acks: list[Said] = field(default_factory=list)
    pieces: list[tuple[str, str]] = field(default_factory=list)

    def value(self, name: str) -> str:
        """What a field says."""
        return self.fields.get(name, ("", 0))[0]

    def at(self, name: str) -> int:
        """The line of a field, or the one that the card begins in."""
        return self.fields.get(name, ("", self.line))[1]

    @property
    def disposition(self) -> e.Disposition:
        """How it was closed, where its status says that."""
        words = self.value("Status").lower()
        return next((each for each in get_args(e.Disposition) if each in words), "resolved")


class Sheet(Struct, frozen=True):
    """A file in its order."""

    entries: list[Piece | Card | Row]

    @property
    def cards(self) -> list[Card]:
        return [entry for entry in self.entries if isinstance(entry, Card)]

    @property
    def rows(self) -> list[Row]:
        return [entry for entry in self.entries if isinstance(entry, Row)]


def read(text: str, known: Container[str] = ()) -> Sheet:
    """What a file says; `known` are ids of messages that are no usual ones."""
    return Sheet(list(_entries(text, known)))


# -- the file --------------------------------------------------------------------------------


def _entries(text: str, known: Container[str]) -> Iterator[Piece | Card | Row]:
    lines = lines_of(text)
    headings = list(_headings(lines, known))
    starts = [with_blanks_above(lines, at) for at, _, _ in headings] + [len(lines)]
    yield Piece("", "".join(lines[: starts[0]]))
    section, seen = "", set[str]()
    for n, (at, kind, name) in enumerate(headings):
        above, end = starts[n], starts[n + 1]
        if kind == "card":
            yield _card(name, lines, above, at, end, section == ACTIVE)
            continue
        section = name
        if name in seen or not name:
            yield Piece("", "".join(lines[above:end]))
            continue
        seen.add(name)
        if name in COLUMNS:
            yield Piece(name, "".join(lines[above : at + 1]))
            yield from table(name, lines, at + 1, end, fits=partial(is_ours, name), hides=_hidden)
        elif name == ACTIVE:
            yield Piece(name, "".join(lines[above : at + 1]))
            yield Piece(f"{ACTIVE} end", "")
            yield Piece("", "".join(lines[at + 1 : end]))
        elif name == TITLE:
            yield Piece(name, "".join(lines[above : at + 1]))
            yield Piece("", "".join(lines[at + 1 : end]))
        else:
            yield Piece(name, "".join(lines[above:end]))


def _headings(lines: list[str], known: Container[str]) -> Iterator[tuple[int, str, str]]:
    """Where what begins that a reader of markdown sees: a section, a card, or another section."""
    at, titled = 0, False
    while at < len(lines):
        line = lines[at].rstrip("\n")
        if end := _hidden(lines, at):
            at = end
            continue
        if found := HEADING.match(line):
            level, words = len(found[1]), found[2]
            id = unline(words)
            if level == 3 and (words.startswith("MSG-") or id in known):
                yield at, "card", id.split()[0] if words.startswith("MSG-") else id
            elif level == 2:
                plain = re.sub(r"[ \t]*\([^)]*\)\Z", "", words).lower()
                yield at, "section", _SECTIONS.get(plain, "")
            elif level == 1 and not titled:
                titled = True
                yield at, "section", TITLE
        at += 1


def _hidden(lines: list[str], at: int) -> int:
    """The line after a comment or fence that begins here; 0 if none does, or has no end.

    Only a payload has a card within.
    """
    end = hidden(lines, at)
    if end and FENCE.match(lines[at].rstrip("\n")) and not _has_envelope(lines, at):
        inside = range(at + 1, end - 1)
        return 0 if any(lines[n].startswith("### MSG-") for n in inside) else end
    return end


def _has_envelope(lines: list[str], at: int) -> bool:
    """Whether what is fenced is a payload: above it stands its token, and what belongs to that."""
    for above in range(at - 1, max(at - 100_000, -1), -1):
        line = lines[above].rstrip("\n")
        if _ENVELOPE.match(line):
            return True
        if line.strip() and not _OF_ENVELOPE.match(line):
            return False
    return False


# -- cards -----------------------------------------------------------------------------------


def _card(id: str, lines: list[str], above: int, at: int, end: int, active: bool) -> Card:
    found = Card(id, at + 1, "".join(lines[above:end]), active)
    below = at + 1
    while below < end and not lines[below].strip():
        below += 1
    found.pieces.append(("", "".join(lines[above:below])))
    below = _fields(found, lines, below, end)
    last = _without_rule(lines, below, end)
    _texts(found, lines, below, last)
    found.pieces.append(("end", ""))
    found.pieces.append(("-", "".join(lines[last:end])))
    return found


def _fields(found: Card, lines: list[str], at: int, end: int) -> int:
    """Read the head of a card; the line after it is where its text begins."""
    while at < end:
        line = lines[at].rstrip("\n")
        field_ = _FIELD.match(line)
        if field_ is None or (_ENVELOPE.match(line) and _is_fenced(lines, at, end)):
            return at
        name = _FIELDS.get(field_[1].strip().lower(), "")
        if field_[1].lower() == "ack":
            found.acks.append(Said(field_[2], "", lines[at], at + 1))
            found.pieces.append(("ack", lines[at]))
        elif name and name not in found.fields:
            found.fields[name] = (field_[2], at + 1)
            found.pieces.append((name, lines[at]))
        else:
            found.pieces.append(("-", lines[at]))
        at += 1
    return at


def _without_rule(lines: list[str], start: int, end: int) -> int:
    """Where a card ends without the rule that parts it from the next."""
    last = end
    while last > start and not lines[last - 1].strip():
        last -= 1
    if last > start and re.fullmatch(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}\s*", lines[last - 1]):
        last -= 1
        while last > start and not lines[last - 1].strip():
            last -= 1
        return last
    return last


def _texts(found: Card, lines: list[str], start: int, end: int) -> None:
    """Read what a card says: first the body, then a payload, and what was done about it."""
    at = start
    while at < end:
        stop = _next_ack(lines, at, end)
        first = at
        while first < end and not lines[first].strip():
            first += 1
        if first < end and _ACK.match(lines[first]):
            stop = _next_ack(lines, first + 1, end)
            stop = _trimmed(lines, first, stop)
            words = lines[first].rstrip("\n").split(":**", 1)[1].strip()
            below = "".join(lines[first + 1 : stop])
            found.acks.append(Said(words, below, "".join(lines[at:stop]), first + 1))
            found.pieces.append(("ack", "".join(lines[at:stop])))
        elif found.body is None and found.payload is None:
            stop = _trimmed(lines, at, stop)
            _body(found, lines, at, stop)
        else:
            stop = _trimmed(lines, at, stop)
            found.pieces.append(("-", "".join(lines[at:stop])))
        at = max(stop, at + 1)


def _trimmed(lines: list[str], start: int, end: int) -> int:
    while end > start and not lines[end - 1].strip():
        end -= 1
    return max(end, start + 1)


def _next_ack(lines: list[str], at: int, end: int) -> int:
    """Where the next ack begins, or the end; none is inside a fence or a comment."""
    while at < end:
        hidden = _hidden(lines, at)
        if 0 < hidden <= end:
            at = hidden
            continue
        if _ACK.match(lines[at]):
            return at
        at += 1
    return end


def _body(found: Card, lines: list[str], start: int, end: int) -> None:
    """Read the text of a message, and the payload that may follow it."""
    for at in range(start, end):
        if _ENVELOPE.match(lines[at].rstrip("\n")) and _is_fenced(lines, at, end):
            above = with_blanks_above(lines[start:at], at - start) + start
            stop = _payload(found, lines, at, end)
            if above > start:
                _words(found, lines, start, above)
            found.pieces.append(("payload", "".join(lines[max(above, start) : stop])))
            if stop < end:
                found.pieces.append(("-", "".join(lines[stop:end])))
            return
    _words(found, lines, start, end)


def _words(found: Card, lines: list[str], start: int, end: int) -> None:
    text = "".join(lines[start:end])
    first = start
    while first < end and not lines[first].strip():
        first += 1
    found.body = "".join(lines[first:end]).removesuffix("\n")
    found.pieces.append(("body", text))


def _is_fenced(lines: list[str], at: int, end: int) -> bool:
    """Whether fences follow, with nothing between that does not belong to the envelope."""
    for below in range(at + 1, end):
        line = lines[below].rstrip("\n")
        if FENCE.match(line):
            return True
        if line.strip() and not _OF_ENVELOPE.match(line):
            return False
    return False


def _payload(found: Card, lines: list[str], at: int, end: int) -> int:
    token = _ENVELOPE.match(lines[at].rstrip("\n"))
    about, files = dict[str, str](), list[str]()
    below = at + 1
    while not FENCE.match(lines[below].rstrip("\n")):
        said = _OF_ENVELOPE.match(lines[below].rstrip("\n"))
        if said and said[1]:
            about[said[1].lower()] = said[2]
        elif said:
            files.append(unline(said[3].strip()))
        below += 1
    stop = hidden(lines, below)
    last = stop - 1 if 0 < stop <= end else end
    margin = len(lines[below]) - len(lines[below].lstrip(" "))
    inside = [_outdented(line, margin) for line in lines[below + 1 : last]]
    text = "".join(inside).removesuffix("\n") or "\n"
    if not 0 < stop <= end:
        text = ""  # it has no end
    assert token is not None
    after = last + 1 if 0 < stop <= end else end
    whole = "".join(lines[at:after]).rstrip("\n")
    found.payload = Fenced(token[1], text, below + 1, about, tuple(files), whole)
    return after


def _outdented(line: str, margin: int) -> str:
    blanks = len(line) - len(line.lstrip(" "))
    return line[min(margin, blanks) :]
