"""Our entries in a host's settings: put in and taken out again, and not a byte more.

An entry goes right behind the opening bracket of what it belongs to, and what was there follows.
How it was before can be read off what stands between that bracket and the entry:

    nothing         the object or list was there, and empty
    blanks          it was there with something in it, which follows; or it is all ours
    two blanks      (around the whole) the file was there, and empty

So taking out leaves what was there, and takes along what would not be there without us.
"""

from collections.abc import Collection, Iterable

from msgspec import Struct

from cli import hosts, jsonc
from cli.hosts import Host

_UNIT = "  "
_EMPTY_FILE = "  "


class _Cut(Struct, frozen=True):
    """A stretch of text, and what goes in its place."""

    start: int
    end: int
    text: str = ""


def install(text: str | None, host: Host) -> str:
    """The settings with our entry at every event; as they were where it is there already."""
    if text is None:
        return f"{_made('{}', [_hooks(host, chr(10) + _UNIT, _UNIT)], chr(10), _UNIT)}\n"
    found = hosts.understood(text, host)
    newline = "\r\n" if "\r\n" in text else "\n"
    if found.is_empty:
        member = _hooks(host, newline + _UNIT, _UNIT)
        made = f"{{{_EMPTY_FILE}{member}{_EMPTY_FILE}}}"
        return text[: found.start] + made + text[found.start :]
    root = jsonc.container(found, found.start)
    margin = _margin(found, root, newline + _UNIT)
    unit = (margin.lstrip("\r\n") if "\n" in margin else "") or _UNIT
    part = root.named("hooks")
    if part is None:
        return _applied(text, [_put(root, [_hooks(host, margin, unit)], margin)])
    hooks = jsonc.container(found, part.value)
    inner = _margin(found, hooks, _deeper(margin, unit))
    there = hosts.found_events(found, host)
    cuts, members = [], []
    for event in (event for event in host.events if event not in there):
        groups = hooks.named(event)
        if groups is None:
            members.append(_event(host, event, inner, unit))
        else:
            groups_there = jsonc.container(found, groups.value)
            beside = _margin(found, groups_there, "")
            cuts.append(_put(groups_there, [hosts.entry(host, event)], beside))
    if members:
        cuts.append(_put(hooks, members, inner))
    return _applied(text, cuts)


def remove(text: str, host: Host) -> str | None:
    """The settings without any entry of ours; None if there would be no file without us."""
    found = hosts.understood(text, host)
    root = None if found.is_empty else jsonc.container(found, found.start)
    part = root.named("hooks") if root is not None else None
    if root is None or part is None:
        return text
    hooks = jsonc.container(found, part.value)
    cuts: list[_Cut] = []
    ours = set()
    for member in hooks.parts:
        if isinstance(member.content, list):
            groups = jsonc.container(found, member.value)
            mine = {group.start for group in groups.parts if _all_ours(group, host)}
            if mine and _is_made(found, groups, mine):
                ours.add(member.start)
            else:
                cuts += _taken(found, groups, mine)
                cuts += _handlers(found, groups, mine, host)
    if not ours:
        return _applied(text, cuts)
    if not _is_made(found, hooks, ours):
        return _applied(text, [*cuts, *_taken(found, hooks, ours)])
    blanks = text[root.opening + 1 : part.start]
    if _is_made(found, root, {part.start}) and ("\n" in blanks or blanks == _EMPTY_FILE):
        left = text[: root.opening] + text[root.closing + 1 :]
        return None if "\n" in blanks and not left.strip("\ufeff \t\r\n") else left
    return _applied(text, [*cuts, *_taken(found, root, {part.start})])


# -- putting in ------------------------------------------------------------------------------


def _hooks(host: Host, margin: str, unit: str) -> str:
    """The member that has all of ours; `margin` is what stands in front of its line."""
    inner = _deeper(margin, unit)
    members = [_event(host, event, inner, unit) for event in host.events]
    return f'"hooks": {_made("{}", members, margin, unit)}'


def _event(host: Host, event: str, margin: str, unit: str) -> str:
    return f'"{event}": {_made("[]", [hosts.entry(host, event)], margin, unit)}'


def _made(brackets: str, items: Iterable[str], margin: str, unit: str) -> str:
    """An object or list of our own; the blank behind its bracket says that it is."""
    inner = _deeper(margin, unit)
    outer = margin if "\n" in margin else " "
    return f"{brackets[0]}{inner}{f',{inner}'.join(items)}{outer}{brackets[1]}"


def _deeper(margin: str, unit: str) -> str:
    """What stands in front of what is one level further in; on one line, a blank."""
    return margin + unit if "\n" in margin else " "


def _margin(found: jsonc.Document, container: jsonc.Container, otherwise: str) -> str:
    """What stands in front of the first part: a line break and its indentation, or blanks."""
    if not container.parts:
        return otherwise
    gap = found.text[container.opening + 1 : container.parts[0].start]
    line = gap.rfind("\n")
    if line < 0:
        return gap[: len(gap) - len(gap.lstrip(" \t\r"))]
    start = line - 1 if gap[:line].endswith("\r") else line
    rest = gap[line + 1 :]
    return gap[start : line + 1] + rest[: len(rest) - len(rest.lstrip(" \t"))]


def _put(container: jsonc.Container, items: list[str], margin: str) -> _Cut:
    """The items in front of all others."""
    at = container.opening + 1
    if container.parts:
        return _Cut(at, at, "".join(f"{margin}{item}," for item in items))
    return _Cut(at, at, f",{margin}".join(items))


# -- taking out ------------------------------------------------------------------------------


def _all_ours(group: jsonc.Part, host: Host) -> bool:
    inner = hosts.handlers(group.content)
    return bool(inner) and all(hosts.is_ours(one, host) for one in inner)


def _handlers(
    found: jsonc.Document, groups: jsonc.Container, gone: Collection[int], host: Host
) -> Iterable[_Cut]:
    """Handlers of ours that somebody moved into an entry with others."""
    for group in groups.parts:
        inside = hosts.handlers(group.content)
        if group.start not in gone and any(hosts.is_ours(one, host) for one in inside):
            members = jsonc.container(found, group.value).parts
            inner = [member for member in members if member.key == "hooks"][-1]
            handlers = jsonc.container(found, inner.value)
            mine = {one.start for one in handlers.parts if hosts.is_ours(one.content, host)}
            yield from _taken(found, handlers, mine)


def _is_made(found: jsonc.Document, container: jsonc.Container, gone: Collection[int]) -> bool:
    """Whether a container would not be there without us: it holds nothing else, not even words."""
    stretch = slice(container.opening, container.closing)
    return (
        len(gone) == len(container.parts)
        and found.text[container.opening + 1].isspace()
        and found.text[stretch] == found.bare[stretch]
    )


def _taken(
    found: jsonc.Document, container: jsonc.Container, gone: Collection[int]
) -> Iterable[_Cut]:
    """The parts that begin there, with the blanks before and the comma behind; comments stay."""
    before = container.opening + 1
    last_comma = None
    for part in container.parts:
        if part.start in gone:
            blank = not found.text[before : part.start].strip(" \t\r\n")
            yield _Cut(before if blank else part.start, part.end)
            comma = part.comma if part.comma is not None else last_comma
            if comma is not None:
                yield _Cut(comma, comma + 1)
        else:
            last_comma = part.comma
        before = part.comma + 1 if part.comma is not None else part.end


def _applied(text: str, cuts: Iterable[_Cut]) -> str:
    pieces, here = [], 0
    for cut in sorted(cuts, key=lambda each: each.start):
        pieces += [text[here : cut.start], cut.text]
        here = cut.end
    return "".join([*pieces, text[here:]])
