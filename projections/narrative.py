"""A markdown file as named parts: what a state says, and what somebody wrote, to the letter.

A file is cut into pieces whose texts, one after the other, are the file. A piece that a state may
render goes by a name; what goes by none is handwriting, and stays after the part that it followed.
Where a part has other words than the state would find, those stand for as long as the state would
still say there what it says now.
"""

import re
from collections.abc import Container, Iterable, Iterator, Mapping

import msgspec
from msgspec import Struct

from journal.errors import Invalid
from journal.events import Leftover
from journal.state import Project
from projections import stamp
from projections.leftovers import Object, apply, digest

#: What stands above the first part goes by this.
TOP = "top"
#: So much text in one place an event can keep, and so large a file is read.
_MOST, _LARGEST = 900_000, 20_000_000
_STAMP = re.compile(r"(?:^|\n)<!-- passdown project=[^\n]* -->[ \t]*(?:\n|\Z)")


class Piece(Struct, frozen=True):
    """A stretch of a file: the part that it is, or handwriting where it has no name."""

    name: str
    text: str


def own(parts: Mapping[str, str]) -> Object:
    """The document that a state has alone: its parts in their order."""
    return {"parts": dict(parts), "order": list(parts), "kept": {}}


def form(name: str, project: Project, document: Object) -> Object:
    """The same with what adopted files of that dialect say otherwise."""
    apply(document, project.leftovers.get(name, ()))
    return document


def text(document: Object) -> str:
    """The file: each part with what somebody wrote after it."""
    parts, kept = _texts(document, "parts"), _texts(document, "kept")
    written: list[str] = []
    for name in dict.fromkeys((TOP, *_names(document), *parts, *kept)):
        for each in (parts.get(name), kept.get(name)):
            if each:
                if written and not written[-1].endswith("\n"):
                    written.append("\n")
                written.append(each)
    return "".join(written)


def stamped(document: Object, project: Project, renderer: int) -> bytes:
    """The file with its stamp, which is the last line."""
    body = text(document)
    if body and not body.endswith("\n"):
        body += "\n"
    line = stamp.line(stamp.of(project, renderer))
    return stamp.stamped(f"{body}\n<!-- {line} -->\n".encode())


def words(content: bytes, kind: str) -> str:
    """The text of a file without its stamp; Invalid says why it is no text of that kind."""
    if len(content) > _LARGEST:
        raise Invalid(
            f"the file has {len(content):,} bytes, and {kind} at most {_LARGEST:,}; move what is "
            "done into an archive"
        )
    try:
        found = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid(
            f"the file is not {kind}: byte {error.start + 1} is not UTF-8; restore it"
        ) from error
    if "\0" in found:
        line = found.count("\n", 0, found.index("\0")) + 1
        raise Invalid(f"line {line}: it has a NUL character, which no text has; take it out")
    return _STAMP.sub("", found.replace("\r\n", "\n"))


# -- what a file says otherwise --------------------------------------------------------------


def moved(base: Object, project: Object) -> set[str]:
    """The parts that a state says otherwise by now than the one that a file was rendered from."""
    was, now = _texts(base, "parts"), _texts(project, "parts")
    return {name for name in (*was, *now) if was.get(name) != now.get(name)}


def left(
    file: Iterable[Piece],
    before: Object,
    alone: Object,
    shown: Object,
    *,
    removals: bool,
    settled: Container[str] = (),
) -> list[Leftover]:
    """What of a file is to be kept.

    `before` is the document that it was rendered from, `alone` what the state says by itself now
    and `shown` what it is rendered to now. What is missing is believed to be gone only with
    `removals`, and of `settled` parts nothing is believed: the state knows better.
    """
    found = _gathered(file, {*_texts(before, "parts"), *_texts(alone, "parts")})
    leftovers = [
        each
        for each in _parts(found, before, alone, shown, removals)
        if each.path[-1] not in settled
    ]
    leftovers += _kept(found, before, shown, removals)
    if order := _order(found, before, alone, shown):
        leftovers.append(order)
    return _checked(leftovers)


def pieces(document: Object) -> list[Piece]:
    """A document as the pieces that it is written in."""
    parts, kept = _texts(document, "parts"), _texts(document, "kept")
    found = []
    for name in (TOP, *_names(document)):
        found += [Piece(name, parts[name])] if name in parts else []
        found += [Piece("", kept[name])] if name in kept else []
    return found


def _gathered(file: Iterable[Piece], known: set[str]) -> Object:
    """A file as a document; a part that nobody knows, or a second one of a name, is handwriting."""
    parts: dict[str, str] = {}
    kept: dict[str, str] = {}
    last = TOP
    for piece in file:
        if piece.name in known and piece.name not in parts:
            last = piece.name
            parts[last] = piece.text
        elif piece.text:
            kept[last] = kept.get(last, "") + piece.text
    return {"parts": dict(parts), "order": list(parts), "kept": dict(kept)}


def _parts(
    found: Object, before: Object, alone: Object, shown: Object, removals: bool
) -> Iterator[Leftover]:
    was, now = _texts(before, "parts"), _texts(alone, "parts")
    file, held = _texts(found, "parts"), _texts(shown, "parts")
    for name, words in file.items():
        if name in now and words not in (was.get(name), held.get(name)):
            yield Leftover(("parts", name), digest(now[name]), (words,))
    if removals:
        for name in was:
            if name not in file and name in held:
                yield Leftover(("parts", name), digest(now[name]))


def _kept(found: Object, before: Object, shown: Object, removals: bool) -> Iterator[Leftover]:
    """The handwriting that is another; to what was added meanwhile at its end nothing happens."""
    file, was, held = (_texts(each, "kept") for each in (found, before, shown))
    now = _texts(shown, "parts")
    for name in dict.fromkeys((*file, *was)):
        words, old, present = file.get(name, ""), was.get(name, ""), held.get(name, "")
        lost = name not in _texts(found, "parts") and name not in (TOP, *now)
        if words == old or (not words and (lost or not removals)):
            continue
        if present != old and present.startswith(old):
            words += present.removeprefix(old)
        if words != present:
            yield Leftover(("kept", name), "", (words,) if words else ())


def _order(found: Object, before: Object, alone: Object, shown: Object) -> Leftover | None:
    """The order of the parts, where somebody changed it."""
    file = _names(found)
    there, now = set(file), set(_texts(alone, "parts"))
    if file == [name for name in _names(before) if name in there]:
        return None
    order = [name for name in file if name in now]
    placed = set(order)
    if order == [name for name in _names(shown) if name in placed]:
        return None
    return Leftover(("placed",), "", (order,))


def _checked(leftovers: list[Leftover]) -> list[Leftover]:
    for leftover in leftovers:
        size = sum(len(msgspec.json.encode(value)) for value in leftover.file)
        if size > _MOST:
            raise Invalid(
                f"the file has {size:,} bytes of handwriting in one place, and at most {_MOST:,} "
                "can be kept; move some of it to a file of its own"
            )
    return leftovers


def _texts(document: Object, key: str) -> dict[str, str]:
    found = document.get(key)
    return {k: v for k, v in found.items() if isinstance(v, str)} if isinstance(found, dict) else {}


def _names(document: Object) -> list[str]:
    """The parts in their order: as somebody placed them."""
    return arranged(_list(document, "order"), _list(document, "placed"))


def arranged(order: list[str], placed: Iterable[str]) -> list[str]:
    """Names in the order that they were placed in, and each that came later after the one that it
    follows by itself."""
    known, first = set(order), ""
    fixed = [name for name in dict.fromkeys(placed) if name in known]
    there = set(fixed)
    after: dict[str, list[str]] = {first: []}
    last = first
    for name in order:
        if name in there:
            last = name
        else:
            after.setdefault(last, []).append(name)
    return [*after[first], *(each for name in fixed for each in (name, *after.get(name, ())))]


def _list(document: Object, key: str) -> list[str]:
    found = document.get(key)
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []
