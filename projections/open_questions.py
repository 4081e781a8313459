"""OPEN_QUESTIONS.md: what has to be answered, what can wait, and what is answered; both directions.

A row says all of a question, so that an edit of its status or its table moves it; nothing that was
answered is open again. Its words, and all that is no row, stay as somebody wrote them.
"""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

from msgspec import Struct

from journal import events as e
from journal.digest import sha256
from journal.entities import Question
from journal.errors import Invalid, NotFound, Rejected
from journal.request import Request
from journal.state import Project
from projections import groups, narrative
from projections.adopting import begun, concluded
from projections.draft import Draft, moment_of
from projections.leftovers import Object, digest
from projections.narrative import Piece
from projections.prose import line, unline
from projections.rows import (
    HEADING,
    Row,
    cells,
    column,
    head,
    hidden,
    lines_of,
    row,
    table,
    with_blanks_above,
)

NAME = "open-questions"
RENDERER = 1

Status: TypeAlias = Literal["open", "deferred", "resolved"]
#: The table of each status.
_SECTIONS: dict[Status, str] = {"open": "active", "deferred": "deferred", "resolved": "resolved"}
_STATUS: dict[str, Status] = {
    **{section: status for status, section in _SECTIONS.items()},
    "open": "open",
    "answered": "resolved",
    "closed": "resolved",
}
_COLUMNS = ("ID", "Source", "Question", "Status", "Resolution")
_HEAD = f"\n{head(*_COLUMNS)}"
_TITLE = "# Open Questions Registry\n"
_ABOUT = """
What has to be answered before work that depends on it can go on. A new question is a row with the
next ID and the status `open`; an answer is its resolution, with the status `resolved`.
"""
_ID = re.compile(r"OQ-[0-9]{3,9}\Z")
_NOTHING = ("", "—", "–", "-", "none")
#: Blank lines at the end, which are nobody's.
_ENDING = re.compile(r"\s*\n\s*\Z")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_UPDATED = re.compile(r"^Last updated:[ \t]*([0-9-]{10})", re.MULTILINE)
_TITLED = re.compile(r"(?:\A|\n)#[ \t]+Open Questions\b", re.IGNORECASE)
_NONE = re.compile(r"[ \t]*[*_]*No \w+ questions\b", re.IGNORECASE)
_HEADED = re.compile(r"(active|deferred|resolved)\b", re.IGNORECASE)


def render(project: Project) -> bytes:
    """The OPEN_QUESTIONS.md of a workspace."""
    return narrative.stamped(_form(project), project, RENDERER)


def intact(content: bytes) -> bool:
    """Whether the content is an OPEN_QUESTIONS.md at all, whoever wrote it last."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return False
    return "\0" not in text and _TITLED.search(text) is not None and "\n## " in text


# -- what a state has ------------------------------------------------------------------------


def _own(project: Project, heads: Mapping[str, str] = MappingProxyType({})) -> Object:
    """The file that a state has alone; its tables have the columns of an adopted file, or of the
    heads that are given."""
    return narrative.own(dict(_parts(project, heads)))


def _form(project: Project) -> Object:
    document = _own(project)
    return groups.form(NAME, project, document)


def _parts(project: Project, heads: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    yield "title", _TITLE
    yield "about", _ABOUT
    for status, section in _SECTIONS.items():
        asked = [each for each in project.questions.values() if each.status == status]
        if status == "resolved":
            asked = sorted(asked, key=lambda each: each.resolved or 0)[::-1]
        columns = _columns(project, section, heads)
        yield section, f"\n## {section.capitalize()} Questions\n"
        yield f"{section} none", "" if asked else f"\n*No {section} questions.*\n"
        yield f"{section} head", _HEAD if asked else ""
        for each in asked:
            yield f"{section} {_key(each.id)}", _row(each, columns)
        yield f"{section} end", ""


def _key(id: str) -> str:
    return id.replace(" ", "\u00a0")


def _columns(project: Project, section: str, heads: Mapping[str, str]) -> list[str]:
    """The columns of a table: those of the file whose head stands there, for as long as it does."""
    words = heads.get(f"{section} head", "")
    for left in project.leftovers.get(NAME, ()):
        ours = left.path == ("parts", f"{section} head") and left.own == digest(_HEAD)
        if ours and left.file and not words:
            words = str(left.file[0])
    found = next((row for each in words.split("\n") if (row := cells(each))), [])
    names = [column(cell) for cell in found]
    return names if names and _is_ours(names) else [column(cell) for cell in _COLUMNS]


def _is_ours(columns: list[str]) -> bool:
    """Whether a table of these columns asks questions."""
    return columns[0] == "id" and any(each.startswith("question") for each in columns)


def _row(each: Question, columns: list[str]) -> str:
    words = (each.id, each.source, each.text, each.status, each.resolution)
    said = dict(zip((column(cell) for cell in _COLUMNS), words, strict=True))
    return row(*(_cell(said.get(name.partition(" ")[0], "")) for name in columns))


def _cell(word: str) -> str:
    """A word as a cell has it; one that means nothing to a reader is spelled."""
    if word and word in _NOTHING:
        return f"\\u{{{ord(word[0]):x}}}{word[1:]}"
    return line(word) or "—"


# -- what a file says ------------------------------------------------------------------------


class _Asked(Struct, frozen=True):
    """A question as its row has it."""

    id: str
    section: str
    #: What the cell says, if it says any.
    status: Status | None
    text: str
    source: str
    resolution: str
    row: Row


def _read(text: str, known: Project) -> list[Piece | _Asked]:
    lines = lines_of(text)
    at, found = 0, list[tuple[int, str]]()
    while at < len(lines):
        if past := hidden(lines, at):
            at = past
            continue
        heading = HEADING.match(lines[at].rstrip("\n"))
        if heading and len(heading[1]) < 3:
            found.append((at, _section(len(heading[1]), heading[2])))
        at += 1
    starts = [with_blanks_above(lines, at) for at, _ in found] + [len(lines)]
    entries: list[Piece | _Asked] = [Piece("", "".join(lines[: starts[0]]))]
    seen = set[str]()
    for n, (at, name) in enumerate(found):
        above, end = starts[n], starts[n + 1]
        if name in seen or not name:
            entries.append(Piece("", "".join(lines[above:end])))
            continue
        seen.add(name)
        entries.append(Piece(name, "".join(lines[above : at + 1])))
        if name == "title":
            rest = "".join(lines[at + 1 : end])
            about = _ABOUT if rest.startswith(_ABOUT) else ""
            entries += [Piece("about", about)] if about else []
            entries.append(Piece("", rest.removeprefix(about)))
        else:
            entries += _of_section(name, lines, at + 1, end, known)
    return entries


def _section(level: int, words: str) -> str:
    if level == 1:
        return "title" if words.lower().startswith("open questions") else ""
    found = _HEADED.match(words)
    return found[1].lower() if found else ""


def _of_section(
    section: str, lines: list[str], start: int, end: int, known: Project
) -> Iterator[Piece | _Asked]:
    at = start
    while at < end and not _NONE.match(lines[at]):
        at = hidden(lines, at) or at + 1
    if at < end:
        above = max(with_blanks_above(lines, at), start)
        yield Piece("", "".join(lines[start:above]))
        yield Piece(f"{section} none", "".join(lines[above : at + 1]))
        start = at + 1
    for entry in table(section, lines, start, end, fits=_is_ours):
        asked = _asked(entry, known) if isinstance(entry, Row) else None
        yield asked or Piece("" if isinstance(entry, Row) else entry.name, entry.text)


def _asked(found: Row, known: Project) -> _Asked | None:
    """What a row asks; None if it is the row of no question."""
    said = {name.partition(" ")[0]: words for name, words in found.values.items()}
    values = {name: "" if words in _NOTHING else unline(words) for name, words in said.items()}
    id = values.get("id", "").strip("`* ")
    if not (_ID.match(id) or id in known.questions) or not values.get("question"):
        return None
    word = values.get("status", "").strip("`* ").partition(" ")[0].lower()
    return _Asked(
        id,
        found.section,
        _STATUS.get(word),
        values["question"],
        values.get("source", ""),
        values.get("resolution", ""),
        found,
    )


# -- adopting it -----------------------------------------------------------------------------


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

    `base` is the state that the file was rendered from, the present one if that is not known; an
    answer is believed to be gone only with `removals`. `by` has who asks.
    """
    words = narrative.words(content, "an OPEN_QUESTIONS.md")
    words = _ENDING.sub("\n", f"{words}\n")
    if not intact(content):
        raise Invalid(
            "the file is no OPEN_QUESTIONS.md: it lacks its title '# Open Questions' or every "
            "section; it may have been cut, restore it"
        )
    found = sha256(content).hexdigest()
    if base is None and found in project.sources:
        return []
    draft = Draft(project, by, now)
    updated = _UPDATED.search(words)
    if not project.version:
        draft.occurred = moment_of(updated[1]) if updated else None
        begun(draft, path)
    first = base is None and NAME not in project.homes
    base = base or draft.project.copy()
    before = _form(base)
    entries = _read(words, draft.project)
    ids = _tell(draft, base, before, entries, first)
    left = _left(draft.project, base, before, entries, ids, removals or first, first)
    return concluded(draft, NAME, path, content, left)


def _tell(
    draft: Draft, base: Project, before: Object, entries: list[Piece | _Asked], first: bool
) -> dict[str, str]:
    """Propose what rows say beyond what the file was rendered with; ids in the file -> by now."""
    was = [x for x in _read(narrative.text(before), base) if isinstance(x, _Asked)]
    shown, same = {x.id: x for x in reversed(was)}, {(x.section, x.row.text) for x in was}
    ids: dict[str, str] = {}
    told = set[str]()
    asked = [entry for entry in entries if isinstance(entry, _Asked)]
    # What was answered last stands on top.
    asked.sort(key=lambda each: each.section == "resolved")
    count = sum(each.section != "resolved" for each in asked)
    for each in asked[:count] + asked[count:][::-1]:
        known = base.questions.get(each.id)
        if (each.section, each.row.text) in same:
            ids.setdefault(each.id, each.id)
        elif each.id not in told:
            told.add(each.id)
            if known is None:
                ids[each.id] = _open(draft, each, first)
            else:
                ids[each.id] = each.id
                _change(draft, known, each, shown.get(each.id), first)
    return ids


def _open(draft: Draft, each: _Asked, first: bool) -> str:
    """Ask what nobody asked yet; where its id is taken by now it gets the next one."""
    free = each.id not in draft.project.questions
    date = _DATE.search(each.resolution)
    at = moment_of(date[0]) if date else None
    opened = e.QuestionOpened(each.text, each.source, question=each.id if free else "")
    _propose(draft, opened, at, each)
    id = next(reversed(draft.project.questions))
    status = each.status or _STATUS[each.section]
    if status != "open":
        _propose(draft, _settled(id, status, each.resolution), at, each)
    return id


def _change(draft: Draft, known: Question, each: _Asked, shown: _Asked | None, first: bool) -> None:
    """Tell what became of a question: its cell says so, or the table that it is in now."""
    status = each.status or _STATUS[each.section]
    if status == known.status:
        status = _STATUS[each.section]
    now = draft.project.questions[each.id]
    said = each.resolution != (shown.resolution if shown else known.resolution)
    if status == known.status and not (said and status == "deferred"):
        return
    if status == now.status and status == "resolved":
        return
    if status == "open":
        if first or now != known:
            return
        raise Invalid(
            f"line {each.row.line}: {each.id} is {known.status} and cannot be open again; ask a "
            "new question"
        )
    date = _DATE.search(each.resolution) if said else None
    event = _settled(each.id, status, each.resolution)
    try:
        _propose(draft, event, moment_of(date[0]) if date else None, each)
    except Invalid:
        if now == known and not first:
            raise  # else something was done about it meanwhile, and that holds


def _settled(id: str, status: Status, words: str) -> e.Event:
    return e.QuestionResolved(id, words) if status == "resolved" else e.QuestionDeferred(id, words)


def _propose(draft: Draft, event: e.Event, at: int | None, each: _Asked) -> None:
    try:
        draft.add(event, at, must=True)
    except (Invalid, Rejected, NotFound) as error:
        raise Invalid(f"line {each.row.line}: {error}") from error


def _left(
    project: Project,
    base: Project,
    before: Object,
    entries: list[Piece | _Asked],
    ids: dict[str, str],
    removals: bool,
    first: bool,
) -> list[e.Leftover]:
    """Where the file would not come out again as it is, although it says something of its own."""
    file = list(groups.contiguous(_pieces(project, entries, ids, before)))
    heads = {piece.name: piece.text for piece in file if piece.name.endswith(" head")}
    alone, shown = _own(project, heads if first else {}), _form(project)
    before = alone if first else before
    named = {piece.name for piece in file}
    was = before["parts"]
    assert isinstance(was, dict)
    settled = {name for name, words in was.items() if not words} - named
    sections = _SECTIONS.values()
    settled |= {*sections, *(f"{section} head" for section in sections)} - named
    waiting = ("active ", "deferred ")
    rows = {f"{_SECTIONS[each.status]} {_key(id)}" for id, each in project.questions.items()}
    settled |= {name for name in rows if name.startswith(waiting) and name not in named}
    for id, each in project.questions.items():
        known = base.questions.get(id)
        if known is not None and known != each:
            settled.add(f"{_SECTIONS[each.status]} {_key(id)}")
    return groups.left(file, before, alone, shown, removals=removals, settled=settled)


def _pieces(
    project: Project, entries: list[Piece | _Asked], ids: dict[str, str], before: Object
) -> Iterator[Piece]:
    """The file as parts: a row that belongs into another table by now is our row there, and one
    that is there twice is words."""
    once, parts = set[str](), before["parts"]
    assert isinstance(parts, dict)
    for entry in entries:
        match entry:
            case Piece():
                yield entry
            case _Asked():
                id, name = ids.get(entry.id, ""), f"{entry.section} {_key(entry.id)}"
                known = project.questions.get(id)
                at_home = known is not None and _SECTIONS[known.status] == entry.section
                if id == entry.id and (at_home or name in parts) and name not in once:
                    yield Piece(name, entry.row.text)
                    once.add(name)
                elif id == entry.id and name in once:
                    yield Piece("", entry.row.text)
