"""The document as YAML, in fewer than 400 lines whatever is in it.

Of every list the newest entries are shown, and a comment says how many older ones there are. No
list starves another: each has lines that are its own, and what one does not need goes to the others
in the order of their worth. What is long inside an entry stands on one line.
"""

import re
from collections.abc import Mapping
from datetime import datetime

from journal.events import Json
from projections import yaml
from projections.leftovers import Object
from projections.state_md.document import LISTS, at, flat
from projections.yaml import Node, Written

#: The most lines that a STATE.md has.
LINES = 399
#: What is taller than this inside an entry, and an entry that is taller, stands on one line.
_TALL, _ENTRY, _TEXT = 8, 30, 40

HEADINGS = {
    "position": "# Current Position",
    "progress": "# Progress Tracking",
    "decisions": "# Decisions Made",
    "blockers": "# Active Blockers",
    "sessions": "# Session History",
    "next_action": "# Next Action",
    "resume_context": "# Context for Resume",
}
_TOP = ("initiative", "title", "position", "escalation", "progress")
_REST = "# Also in the File That Was Adopted"

#: Parts of the lines that a list has for its own, in the order in which spare lines are given.
_SHARES = {
    ("blockers",): 0.2,
    ("sessions",): 0.25,
    ("decisions",): 0.25,
    ("resume_context", "open_questions"): 0.07,
    ("resume_context", "files_modified_this_session"): 0.1,
    ("resume_context", "key_implementations"): 0.07,
}
#: What an adopted file has in the context beside that.
_BESIDE = ("resume_context", "")
_PLAIN = ("initiative", "id", "agent", "status", "continues", "files_modified_this_session")
_TIMES = ("date", "started", "ended", "identified_at", "blocked_since")
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"([Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?(Z|[+-][0-9]{2}:[0-9]{2})?)?"
)
#: A value that only YAML can say, as it was written.
VERBATIM = "!yaml"
#: The only entry of a list that is no list in the file, but this.
WHOLE = "!whole"


def written(document: Object, more: str) -> list[str]:
    """The lines of a document; `more` is the command that shows what is not in it."""
    shown, left_out = cut(document)
    whole = flat(shown)
    assert isinstance(whole, dict)
    lines = _lines(whole, left_out, more, _ENTRY)
    # A file may have a section that is no list and taller than all; on one line each they fit.
    return lines if len(lines) <= LINES - 2 else _lines(whole, left_out, more, 0)


def _lines(
    whole: Object, left_out: Mapping[tuple[str, ...], int], more: str, tall: int
) -> list[str]:
    """The lines, with every section on one that is taller than so many."""
    lines = ["# STATE.md"]
    rest = [key for key in whole if key not in HEADINGS and key not in _TOP]
    for key in (*_TOP, *(key for key in HEADINGS if key not in _TOP), *rest):
        if key not in whole:
            continue
        heading = HEADINGS.get(key) or (_REST if rest and key == rest[0] else "")
        if heading or key == "initiative":
            lines += ["", *filter(None, (heading,))]
        for path, count in left_out.items():
            if path[0] == key or (not path[0] and rest and key == rest[0]):
                what = path[-1].replace("_", " ") or "keys"
                lines.append(f"# {count:,} older {what} are not shown: {more}")
        node = _node(key, whole[key], _ENTRY)
        lines += yaml.mapping({key: node if tall else yaml.flow(node)})
    return lines


def cut(document: Object) -> tuple[Object, dict[tuple[str, ...], int]]:
    """The newest entries of every list that fit, and how many older ones do not."""
    lists = {path: at(document, path) for path in LISTS}
    known = {path: entries for path, entries in lists.items() if isinstance(entries, dict)}
    rest = {key: document[key] for key in document if key not in HEADINGS and key not in _TOP}
    heights: dict[tuple[str, ...], list[int]] = {
        path: [_height(path[-1], entry) for entry in entries.values()]
        for path, entries in known.items()
    }
    heights["",] = [len(yaml.mapping({k: _node(k, v, _ENTRY)})) for k, v in rest.items()]
    heights[_BESIDE] = [
        len(yaml.mapping({k: _node(k, v, _TALL)})) for k, v in _beside(document).items()
    ]
    bare = _without(document, dict.fromkeys(heights, 0))
    fixed = sum(len(yaml.mapping({k: _node(k, v, _ENTRY)})) for k, v in bare.items())
    # Two lines around each heading, a comment for each list, the title, and the stamp.
    room = LINES - fixed - 2 * (len(HEADINGS) + 1) - len(heights) - 5
    kept = _allot(heights, room)
    left_out = {path: len(heights[path]) - n for path, n in kept.items() if n < len(heights[path])}
    return _without(document, kept), left_out


def _beside(document: Object) -> Object:
    """What an adopted file has in the context beside our lists."""
    context = document.get("resume_context")
    return (
        {key: value for key, value in context.items() if ("resume_context", key) not in LISTS}
        if isinstance(context, dict)
        else {}
    )


def _allot(heights: dict[tuple[str, ...], list[int]], room: int) -> dict[tuple[str, ...], int]:
    """How many of the newest of each list are shown."""
    shares = {path: int(room * _SHARES.get(path, 0.05)) for path in heights}
    kept = {path: _fitting(heights[path], share) for path, share in shares.items()}
    spare = room - sum(sum(heights[path][len(heights[path]) - n :]) for path, n in kept.items())
    for path in (*_SHARES, ("",), _BESIDE):
        if path in heights:
            all_of, shown = heights[path], kept[path]
            more = _fitting(all_of[: len(all_of) - shown], spare)
            spare -= sum(all_of[len(all_of) - shown - more : len(all_of) - shown])
            kept[path] += more
    return kept


def _fitting(heights: list[int], room: int) -> int:
    """How many of the last fit."""
    count = 0
    for height in reversed(heights):
        room -= height
        if room < 0:
            break
        count += 1
    return count


def _without(document: Object, kept: Mapping[tuple[str, ...], int]) -> Object:
    """The document with only so many of the newest of each list."""

    def inner(value: Json, path: tuple[str, ...]) -> Json:
        if not isinstance(value, dict):
            return value
        if path in kept:
            return dict(list(value.items())[len(value) - kept[path] :])
        if path == _BESIDE[:1] and _BESIDE in kept:
            beside = list(_beside(document))
            out = set(beside[: len(beside) - kept[_BESIDE]])
            value = {key: each for key, each in value.items() if key not in out}
        return {key: inner(each, (*path, key)) for key, each in value.items()}

    rest = [key for key in document if key not in HEADINGS and key not in _TOP]
    gone = set(rest[: len(rest) - kept.get(("",), len(rest))])
    above = {path[0] for path in kept}
    return {
        key: inner(value, (key,)) if key in above else value
        for key, value in document.items()
        if key not in gone
    }


def _height(key: str, entry: Json) -> int:
    return len(yaml.mapping({key: [_node(key, entry, _ENTRY)]})) - 1


def _node(key: str, value: Json, tall: int) -> Node:
    """A value as YAML: what is taller than so many lines, on one."""
    node = _plain(key, value)
    if key in HEADINGS and isinstance(node, list):
        return node
    lines = len(yaml.mapping({key: node}))
    if key == "next_action":
        return node if lines <= _TEXT else yaml.text(str(value))
    return yaml.flow(node) if lines > tall and key != "resume_context" else node


def _plain(key: str, value: Json) -> Node:
    match value:
        case dict():
            if set(value) == {VERBATIM}:
                return Written(str(value[VERBATIM]))
            return {name: _node(name, inner, _TALL) for name, inner in value.items()}
        case [dict() as only] if set(only) == {WHOLE}:
            return Written(str(only[WHOLE]))
        case list():
            return [_node(key, inner, _ENTRY if key in HEADINGS else _TALL) for inner in value]
        case str():
            return _text(key, value)
        case None:
            return yaml.NULL
        case bool():
            return yaml.flag(value)
        case float():
            return yaml.real(value)
    return Written(value)


def as_it_is(key: str, value: Json) -> Json:
    """A value that stands in the place of a list, and is none."""
    return [{WHOLE: "".join(yaml.flow(_plain(key, value)))}]


def _text(key: str, value: str) -> Written:
    if key == "next_action":
        return yaml.literal(value)
    if key in _TIMES and is_time(value):
        return Written(value)
    return yaml.name(value) if key in _PLAIN else yaml.text(value)


def is_time(value: str) -> bool:
    """Whether a YAML reader takes it for a date or a time, plain as it is."""
    try:
        return bool(_TIME.fullmatch(value)) and datetime.fromisoformat(value) is not None
    except ValueError:
        return False
