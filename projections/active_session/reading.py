"""From the bytes of an active-session.md to what it says; Invalid says why it is none."""

import re
from typing import Literal

from msgspec import Struct

from journal.errors import Invalid, quoted
from journal.events import Json
from projections import strict_json
from projections.leftovers import Object, digest

#: So large a file is read at the most, and so large a front matter that is block YAML.
_MOST, _MOST_YAML = 20_000_000, 2_000_000
_FENCE = re.compile(r"^---[ \t]*$", re.MULTILINE)
_KEY = re.compile(r"[0-9]{1,9}(_[0-9]{1,9})*", re.ASCII)


class Source(Struct):
    """What a file says: the front matter, its phases by their keys, and the body to the letter."""

    document: Object
    body: str
    form: Literal["json", "yaml"]
    warnings: list[str] = []

    @property
    def name(self) -> str:
        """What the file calls its session."""
        return str(self.document["session_id"])


def read(content: bytes) -> Source:
    """What an active-session.md says; Invalid if it is none."""
    front, text = _apart(content)
    form: Literal["json", "yaml"] = "json" if front.lstrip()[:1] == "{" else "yaml"
    document = _json(front) if form == "json" else _yaml(front)
    _check(document)
    source = Source(document, text, form)
    if document.get("status") == "completed":
        source.warnings.append(
            "it says that the session is completed, and stays open: `passdown archive` closes it"
        )
    return source


def _apart(content: bytes) -> tuple[str, str]:
    """The front matter, on the lines that it has in the file, and the body."""
    if len(content) > _MOST:
        raise Invalid(
            f"the file has {len(content):,} bytes, and an active-session.md at most {_MOST:,}; "
            "move the outputs of agents out of it"
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid(
            f"the file is not an active-session.md: byte {error.start + 1} is not UTF-8; restore it"
        ) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise Invalid(f"line {line}: it has a NUL character, which no text has; take it out")
    if text.partition("\n")[0].endswith("\r"):
        text = text.replace("\r\n", "\n")
    opening = _FENCE.match(text)
    if opening is None:
        raise Invalid(
            "the file is not an active-session.md: it does not begin with front matter, a line of "
            "--- above it"
        )
    closing = _FENCE.search(text, opening.end() + 1)
    if closing is None:
        raise Invalid(
            "the front matter has no closing ---, the file was cut; restore it from a copy, or "
            "complete it by hand"
        )
    return text[opening.end() : closing.start()], text[closing.end() + 1 :]


def _json(front: str) -> Object:
    def pairs(items: list[tuple[str, Json]]) -> Object:
        found: Object = {}
        for key, value in items:
            if key in found:
                raise Invalid(f"{quoted(key)} stands there twice in the front matter; take one out")
            found[key] = value
        return found

    try:
        document = strict_json.decode(front, pairs)
    except (ValueError, RecursionError) as error:
        why = str(error).splitlines()[0][:200]
        raise Invalid(f"the front matter is not JSON: {why}; mend that line") from error
    if not isinstance(document, dict):
        raise Invalid("the front matter is no mapping; restore it from a copy")
    return document


def _yaml(front: str) -> Object:
    if len(front) > _MOST_YAML:
        raise Invalid(
            f"the front matter has {len(front):,} characters, and as YAML at most {_MOST_YAML:,} "
            "are read; write it as JSON"
        )
    from projections.composing import Composer  # a reader of YAML takes 25 ms to import

    return Composer("an active-session.md").document(front.encode())


def _check(document: Object) -> None:
    """Refuse what has no session or no phases, or has them in a form that tells nothing."""
    name, phases = document.get("session_id"), document.get("phases")
    if not (isinstance(name, str) and name.strip()):
        raise Invalid("the file is not an active-session.md: it has no session_id")
    if not (isinstance(phases, list) and phases):
        raise Invalid("the file is not an active-session.md: it has no list of phases")
    known: set[str] = set()  # 1 and "1" are two phases
    for n, phase in enumerate(phases, start=1):
        if not isinstance(phase, dict):
            raise Invalid(f"phase {n} of the list is no mapping; mend it")
        id = phase.get("id")
        if not _is_id(id) or digest(id) in known:
            what = "is that of another phase too" if _is_id(id) else "names no phase"
            raise Invalid(
                f"the id of phase {n} of the list is {quoted(id)}, which {what}; give each phase "
                "its own number"
            )
        known.add(digest(id))
        if isinstance(phase.get("errors"), dict):
            raise Invalid(f"the errors of phase {quoted(id)} are no list; mend them")


def _is_id(id: Json) -> bool:
    """Whether a phase can go by it: a number of a step, or words."""
    return bool(id.strip()) if isinstance(id, str) else bool(key_of(id))


def key_of(id: Json) -> str:
    """The key of a step that goes by this id, if there were no other; empty if it is no number."""
    if isinstance(id, bool) or not isinstance(id, int | float | str):
        return ""
    key = str(id).replace(".", "_")
    return key if _KEY.fullmatch(key) else ""


# -- the body --------------------------------------------------------------------------------

_HEADING = re.compile(r"(?:(?<=\n)\n|\A\n)?^## Phase ([0-9][0-9._]*):[^\n]*\n?", re.MULTILINE)


class Section(Struct, frozen=True):
    """A stretch of the body from the heading of a phase to the next; above the first, no phase."""

    key: str
    heading: str
    text: str


def split(body: str, keys: dict[str, str]) -> list[Section]:
    """The sections of a body; `keys` has the key of the phase that each number means."""
    headings = [found for found in _HEADING.finditer(body) if found[1] in keys]
    ends = [*(found.start() for found in headings), len(body)]
    sections = [Section("", "", body[: ends[0]])]
    for found, end in zip(headings, ends[1:], strict=True):
        sections.append(Section(keys[found[1]], found[0], body[found.end() : end]))
    return sections
