"""What an entry says that stands in a file, whoever wrote it."""

import html
import re

from msgspec import Struct

from journal.events import Handoff
from projections import prose
from projections.draft import moment_of
from projections.worklog.entries import NONE
from projections.worklog.fences import fences

_HEADING = re.compile(r"### (?P<agent>[^\s:(#|<][^:(]{0,60}?)(?: \([^()]*\))?: +(?P<title>\S.*)")
_MARK = re.compile(r" <!-- (?P<id>[A-Za-z0-9._-]+) -->\Z")
_LOGGED = re.compile(r"(?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)(?:, refers to (?P<refers>.+))?")
#: Whoever writes by hand begins with the day.
_DATED = re.compile(r"[*_]*(\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?Z?)?)\b")
_FIELD = re.compile(r"(?P<key>[A-Za-z][A-Za-z /]{1,30}):(?: (?P<value>.*)|[ \t]*)")
_ITEM = re.compile(r"\s*- ?(?P<value>.*)|\s+(?P<more>\S.*)")


class Heading(Struct, frozen=True):
    """The heading of an entry; `known` is the id that it has, if any."""

    agent: str
    title: str
    known: str = ""


class Told(Struct, frozen=True):
    """What an entry says."""

    agent: str
    title: str
    text: str = ""
    at: int | None = None
    handoff: Handoff | None = None
    owner: str = ""
    refers: tuple[str, ...] = ()
    known: str = ""


def heading(line: str) -> Heading | None:
    """What a line says as the heading of an entry; None if it is none."""
    line = line.rstrip()
    mark = _MARK.search(line)
    found = _HEADING.fullmatch(line[: mark.start()] if mark else line)
    return Heading(found["agent"], found["title"], mark["id"] if mark else "") if found else None


def told(text: str) -> Told | None:
    """What the words of an entry say; None if they have no heading of one."""
    lines = text.strip().split("\n")
    top = heading(lines[0])
    if top is None:
        return None
    body = _stripped(lines[1:])
    logged = _LOGGED.fullmatch(body[0]) if body else None
    if top.known and logged:
        return _of_ours(top, logged, body)
    dated = _DATED.match(body[0]) if body else None
    at = moment_of(dated[1]) if dated else None
    spans = [(start, end) for start, end in fences(body) if _is_handoff(body[start + 1 : end])]
    if not spans:
        return Told(top.agent, top.title, "\n".join(body), at, known=top.known)
    start, end = spans[-1]
    around = (_stripped(body[:start]), _stripped(body[end + 1 :]))
    said = "\n\n".join("\n".join(part) for part in around if part)
    fields = _fields(body[start + 1 : end])
    owner = _one(fields, "owner")
    return Told(top.agent, top.title, said, at, _handoff(fields), owner, (), top.known)


def status(text: str) -> str:
    """The status in the handoff block of an entry's words; empty if it says none."""
    found = told(text)
    return found.handoff.status if found and found.handoff else ""


def _of_ours(top: Heading, logged: re.Match[str], body: list[str]) -> Told:
    """The words of an entry as we write them, to the letter."""
    rest = body[2:]
    begin = next((n for n, line in enumerate(rest) if line == "```text"), len(rest))
    fields = [
        (key, [prose.spelt(value) for value in values])
        for key, values in _fields(rest[begin + 1 :])
    ]
    return Told(
        plain(top.agent),
        plain(top.title),
        prose.text(rest[: begin - 1] if 0 < begin < len(rest) else rest[:begin]),
        moment_of(logged["at"]),
        _handoff(fields) if begin < len(rest) else None,
        _one(fields, "owner"),
        tuple(plain(each) for each in (logged["refers"] or "").split(", ") if each),
        top.known,
    )


def plain(text: str) -> str:
    """What a stretch of one line says that was made safe."""
    return html.unescape(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text))


def _stripped(lines: list[str]) -> list[str]:
    """The lines without the blank ones around them."""
    found = [n for n, line in enumerate(lines) if line.strip()]
    return lines[found[0] : found[-1] + 1] if found else []


def _is_handoff(lines: list[str]) -> bool:
    keys = {key for key, _ in _fields(lines)}
    return "status" in keys and bool({"handoff", "owner", "next owner"} & keys)


def _fields(lines: list[str]) -> list[tuple[str, list[str]]]:
    """The fields of a handoff block, each with its values."""
    found: list[tuple[str, list[str]]] = []
    for line in lines:
        if field := _FIELD.fullmatch(line):
            value = field["value"] or ""
            found.append((field["key"].lower(), [] if value in ("", NONE) else [value]))
        elif found and (item := _ITEM.fullmatch(line)):
            found[-1][1].append(item["more"] if item["value"] is None else item["value"])
    return found


def _handoff(fields: list[tuple[str, list[str]]]) -> Handoff:
    files = next((tuple(values) for key, values in fields if key == "changed files"), ())
    return Handoff(
        _one(fields, "status"),
        files,
        _one(fields, "tests run"),
        _one(fields, "blocking items"),
        _one(fields, "next owner"),
    )


def _one(fields: list[tuple[str, list[str]]], key: str) -> str:
    return next(("\n".join(values) for name, values in fields if name == key), "")
