"""Snapshots out of an agent's file, ours and foreign ones, and what their bodies say.

The file is the agent's: an entry begins with its heading, has a fenced block of YAML, and ends
before the next heading of its rank. What a foreign one says in other words than ours is found as
far as it can be.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from journal.errors import Invalid
from journal.events import Json
from journal.payloads import normal
from projections import prose
from projections.peers import Standing
from projections.snapshot import parts as p
from projections.snapshot.parts import Change, Changed, Cited, Parts, ToRead

_HEADING = re.compile(
    r"^##[ \t]+(?=.*\bsnapshot\b)(?P<title>.*?(?:\bclose\b|\bstate\b).*)$", re.IGNORECASE
)
_OTHER = re.compile(r"#{1,2}(?:[ \t]|$)")
_FENCE = re.compile(r"[ \t]*(```+|~~~+)[ \t]*(?:ya?ml)?[ \t]*$")
_NUMBER = re.compile(r"\bSession ([0-9]{1,9})\b", re.IGNORECASE)
_RULE = re.compile(r"[ \t]*(?:-{3,}|\*{3,}|_{3,})[ \t]*$")
_FACT = re.compile(
    r"(?:[-*+][ \t]+)?(?:\*\*)?(?P<label>[A-Za-z ]{1,40}):(?:\*\*)?[ \t]+(?P<rest>.+)$"
)
_FACTS = {
    "session": "session_id",
    "agent": "agent",
    "date": "timestamp",
    "timestamp": "timestamp",
    "close reason": "close_reason",
    "revision token": "revision",
    "branch": "branch",
    "phase": "phase",
}
#: A file may be this large.
LARGEST = 20_000_000


class Entry(Struct, frozen=True):
    """A snapshot as it stands in a file."""

    title: str
    #: What stands in front as YAML, and why that cannot be read, if it cannot.
    front: dict[str, Json]
    wrong: str
    body: str
    #: The lines of the file on which the entry, and its body, begin.
    line: int
    body_line: int

    def word(self, key: str) -> str:
        """A value of the front matter as text; empty if it has none."""
        value = self.front.get(key)
        return value if isinstance(value, str) else "" if value is None else str(value)

    @property
    def number(self) -> int:
        """Which of its agent's sessions it closes, by its title."""
        found = _NUMBER.search(self.title)
        return int(found[1]) if found else 0


def entries(content: bytes) -> list[Entry]:
    """The snapshots of a file, in their order; Invalid if it is no text."""
    if len(content) > LARGEST:
        raise Invalid(
            f"the file has {len(content):,} bytes, and the file of an agent at most {LARGEST:,}; "
            "move what is old out of it"
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid(f"the file is no text: byte {error.start + 1} is not UTF-8") from error
    lines = text.replace("\r\n", "\n").split("\n")
    return list(_entries(lines))


def _entries(lines: Sequence[str]) -> Iterator[Entry]:
    starts = [n for n, line in enumerate(lines) if _OTHER.match(line)]
    for start, end in pairwise((*starts, len(lines))):
        found = _HEADING.match(lines[start])
        if found:
            yield _entry(found["title"].strip(), lines, start, end)


def _entry(title: str, lines: Sequence[str], start: int, end: int) -> Entry:
    first = next((n for n in range(start, end) if lines[n].startswith("### ")), end)
    front, wrong = _front(lines[start + 1 : first])
    while end > first and (not lines[end - 1].strip() or _RULE.match(lines[end - 1])):
        end -= 1
    body = normal("\n".join(lines[first:end]))
    return Entry(title, front, wrong, body, start + 1, first + 1)


def _front(lines: Sequence[str]) -> tuple[dict[str, Json], str]:
    """The mapping in the fenced block of YAML, and why there is none, if there is none."""
    from projections.composing import Composer  # whoever only writes an entry needs no YAML

    opened = next((n for n, line in enumerate(lines) if _FENCE.match(line)), None)
    if opened is None:
        return _labelled(lines), "it has no block of YAML in front"
    inside: list[str] = []
    for line in lines[opened + 1 :]:
        if _FENCE.match(line):
            break
        inside.append(line)
    # Some put marks of YAML around it, inside of the fence.
    block = "\n".join(line for line in inside if line.strip() not in ("---", "..."))
    try:
        return Composer("the front of a snapshot").document(block.encode()), ""
    except Invalid as error:
        return {}, str(error)


def _labelled(lines: Sequence[str]) -> dict[str, Json]:
    """The same from lines with a label each, as people write them who know no YAML."""
    found: dict[str, Json] = {}
    for line in lines:
        said = _FACT.match(line)
        key = _FACTS.get(said["label"].strip().lower(), "") if said else ""
        if said and key:
            found.setdefault(key, said["rest"].strip().strip("`"))
    return found


# -- what a body says ------------------------------------------------------------------------

_PART = re.compile(r"###[ \t]+(.*?)[ \t#]*$")
_COUNTED = re.compile(r"^[0-9]{1,3}[.)][ \t]+")
_NEXT = ("first action", "next action", "next step")
_ITEM = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)])[ \t]+")
_SPAN = re.compile(r"(`+)( ?)(.+?)\2\1(?!`)")
#: A path that stands in no span; what it is in the pattern of a span, is the third group here too.
_BARE = re.compile(r"()()((?=[^\s]*[./])[\w./@+-]*\w)(?=[\s,;:]|$)")
_LABEL = re.compile(r"(?:[-*][ \t]+)?\*\*(?P<label>[^*]+?):?\*\*:?[ \t]*(?P<rest>.*)$")
_ID = re.compile(r"(?P<id>MSG-[0-9]{8}-[0-9]{3,}|MSG-[0-9]{3,}|OQ-[0-9]{3,}|[CDT][0-9]{3,})\b")
#: An item as it is written here: its id, and behind a dash what is said of it.
_OURS = re.compile(r"- OQ-[0-9]{3,}(?: — |$)")
_LINES = re.compile(r"~([0-9,]+) lines")
_TOKENS = re.compile(r"~([0-9.,]+)(K?) tokens", re.IGNORECASE)
_UNSAID: Change = ""
_CHANGES: tuple[Change, ...] = ("created", "modified", "deleted")
_STANDING: dict[str, Standing] = {
    "complete": "complete",
    "completed": "complete",
    "done": "complete",
    "partial": "partial",
    "in progress": "partial",
    "in_progress": "partial",
    "blocked": "blocked",
}


def sections(body: str) -> dict[str, tuple[int, list[str]]]:
    """The sections of a body by the part that each is, or by their own title: line and lines."""
    found: dict[str, tuple[int, list[str]]] = {}
    title = ""
    for n, line in enumerate(body.split("\n"), start=1):
        if heading := _PART.match(line):
            title = _named(heading[1])
            found.setdefault(title, (n, []))
        elif title:
            found[title][1].append(line)
    return found


def _named(title: str) -> str:
    """The part that a title means; itself where it means none."""
    begin = _COUNTED.sub("", title.lower())
    wanted = {
        p.ACTIVE: ("active task", "active work"),
        p.MAIL: ("mailbox",),
        p.COMMITMENTS: ("open commitments", "commitments"),
        p.MODIFIED: ("files modified", "files changed"),
        p.READING: ("files to read", "reading list"),
        p.DECISIONS: ("decision",),
        p.QUESTIONS: ("open questions", "oqs touched", "questions touched"),
    }
    return next((part for part, words in wanted.items() if begin.startswith(words)), title)


def read(body: str) -> Parts:
    """What a body says, as far as it can be told."""
    has = sections(body)
    active, mail = has.get(p.ACTIVE, (0, [])), has.get(p.MAIL, (0, []))
    status: Standing | Literal[""] = ""
    task = title = ""
    status_line = task_line = 0
    for n, label, rest in _labels(*_before(active, "next action")):
        if label == "status" and not status_line:
            word = re.match(r"in[ _]progress|[A-Za-z]+", rest)
            status, status_line = _STANDING.get(word[0].lower() if word else "", ""), n
        if label == "task" and not task_line:
            found = _ID.match(rest)
            task, task_line = (found["id"] if found else ""), n
            title = rest[found.end() :].strip() if found else rest
    counted = _unread_count(*mail)
    gone = _after(has.get(p.MODIFIED, (0, [])), "deleted")
    changed = _changes(*has.get(p.MODIFIED, (0, [])))
    absent = {each.line for each in _changes(*gone)}
    return Parts(
        status=status,
        task=task,
        title=title,
        next_action=_words(active, "next action") or _first(has),
        unread=_cited(*_after(mail, "unread")),
        to_acknowledge=_cited(*_after(mail, "pending acks")),
        unanswered=_cited(*_after(mail, "own posts without response")),
        commitments=_cited(*has.get(p.COMMITMENTS, (0, []))),
        modified=tuple(each for each in changed if each.line not in absent),
        deleted=tuple(each for each in changed if each.line in absent),
        reading=tuple(_reading(*has.get(p.READING, (0, [])))),
        decisions=_cited(*_before(has.get(p.DECISIONS, (0, [])), "in the agent's words")),
        why=_words(has.get(p.DECISIONS, (0, [])), "in the agent's words"),
        questions=_every(*has.get(p.QUESTIONS, (0, []))),
        status_line=status_line,
        task_line=task_line,
        unread_line=counted[0] or mail[0],
        unread_count=counted[1],
    )


def _first(has: dict[str, tuple[int, list[str]]]) -> str:
    """What is to be done first, where a section of its own says it, as some write it."""
    for title, (_, lines) in has.items():
        if _COUNTED.sub("", title.lower()).startswith(_NEXT):
            return prose.text(lines).strip()
    return ""


def _labels(line: int, lines: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """The labels in a section, in lower case, with what follows them on their lines."""
    for n, each in enumerate(lines, start=line + 1):
        if found := _LABEL.match(each):
            yield n, found["label"].strip().lower(), found["rest"].strip()


def _after(section: tuple[int, list[str]], label: str) -> tuple[int, list[str]]:
    """The part of a section below one of its labels, up to the next."""
    line, lines = section
    at = next((n for n, each, _ in _labels(line, lines) if each == label), None)
    if at is None:
        return 0, []
    below = lines[at - line :]
    end = next((n for n, each in enumerate(below) if _LABEL.match(each)), len(below))
    return at, below[:end]


def _before(section: tuple[int, list[str]], label: str) -> tuple[int, list[str]]:
    """The part of a section above one of its labels; all of it where there is none."""
    line, lines = section
    at = next((n for n, each, _ in _labels(line, lines) if each == label), None)
    return (line, lines) if at is None else (line, lines[: at - line - 1])


def _words(section: tuple[int, list[str]], label: str) -> str:
    """The text of the agent under a label, to the letter."""
    line, lines = section
    for n, each, rest in _labels(line, lines):
        if each == label:
            if rest:
                return rest
            below = lines[n - line :]
            while below and not below[0]:
                below = below[1:]
            while below and not below[-1]:
                below = below[:-1]
            return prose.text(below)
    return ""


def _unread_count(line: int, lines: Sequence[str]) -> tuple[int, int | None]:
    """How many are unread by the first label that says so in a number."""
    for n, label, rest in _labels(line, lines):
        if label.endswith("unread"):
            number = re.match(r"[0-9]{1,6}\b", rest)
            if number or rest.lower().startswith("none"):
                return n, int(number[0]) if number else 0
            return n, None
    return 0, None


def _cited(line: int, lines: Sequence[str]) -> tuple[Cited, ...]:
    """The things that items begin with."""
    found = []
    for n, each in enumerate(lines, start=line + 1):
        item = _ITEM.match(each)
        named = _ID.match(each, item.end()) if item else None
        if named:
            said = each[named.end() :].strip().removeprefix("—").strip()
            found.append(Cited(named["id"], said, n))
    return tuple(found)


def _every(line: int, lines: Sequence[str]) -> tuple[Cited, ...]:
    """Every question that is named, wherever on a line; of an item of ours only the first."""
    found = []
    for n, each in enumerate(lines, start=line + 1):
        named = [x for x in _ID.finditer(each) if x["id"].startswith("OQ-")]
        ours = _OURS.match(each)
        found += [Cited(x["id"], "", n) for x in (named[:1] if ours else named)]
    return tuple(found)


def _changes(line: int, lines: Sequence[str], path: re.Pattern[str] = _SPAN) -> list[Changed]:
    found = []
    for n, each in enumerate(lines, start=line + 1):
        item = _ITEM.match(each)
        span = path.match(each, item.end()) if item else None
        if span:
            said = each[span.end() :].strip().removeprefix("—").strip()
            change = next((x for x in _CHANGES if said.startswith(x)), _UNSAID)
            said = said.removeprefix(change).removeprefix(":").strip() if change else said
            found.append(Changed(span[3], change, said, n))
    return found


def _reading(line: int, lines: Sequence[str]) -> Iterator[ToRead]:
    for each in _changes(line, lines) or _changes(line, lines, _BARE):
        raw = lines[each.line - line - 1]
        size, tokens = _LINES.search(raw), _TOKENS.search(raw)
        cost = tokens or size
        why = raw[cost.end() :].strip().removeprefix("—").strip() if cost else ""
        yield ToRead(
            each.path,
            int(size[1].replace(",", "")) if size else None,
            _number(tokens) if tokens else None,
            why,
            each.line,
        )


def _number(found: re.Match[str]) -> int | None:
    try:
        return round(float(found[1].replace(",", "")) * (1000 if found[2] else 1))
    except ValueError:
        return None
