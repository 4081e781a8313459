"""From the bytes of a TURNFILE.yaml to what it says; Invalid says why it is none."""

import re

from journal.errors import Invalid, quoted
from journal.events import Json
from projections.leftovers import Object
from projections.turnfile import shape
from projections.turnfile.document import part
from projections.turnfile.rendering import LARGEST
from projections.turnfile.shape import OPTIONAL, REVISIONS, USUAL, Shape

_WHAT = "a TURNFILE.yaml"
_MAPPINGS = ("turnfile", "agents", "maintainer", "coordination", "locks")
_LISTS = ("turn_queue", "messages")
_TAB = re.compile(rb"^ *\t", re.MULTILINE)


def read(content: bytes) -> Object:
    """What a file says, its sections in place; Invalid if it is no TURNFILE.yaml."""
    if len(content) > LARGEST:
        raise Invalid(
            f"the file has {len(content):,} bytes, and no TURNFILE.yaml has more than "
            f"{LARGEST:,}; put the right one there"
        )
    _check_strict(content)
    from projections.composing import Composer  # a reader of YAML takes 25 ms to import

    document = Composer(_WHAT).document(content)
    gone = [key for key in (*_MAPPINGS, *_LISTS) if key not in document]
    if gone:
        raise Invalid(
            f"the file is not {_WHAT}, or was cut: it has no {', no '.join(gone)}; complete it"
        )
    for key in _MAPPINGS:
        document[key] = _of(key, document[key], {})
    for key in _LISTS:
        document[key] = _of(key, document[key], [])
    coordination = part(document, "coordination")
    coordination["tasks"] = _of("coordination.tasks", coordination.get("tasks"), {})
    if not shape.is_number(coordination.get("revision")):
        said = quoted(coordination.get("revision"))
        raise Invalid(f"coordination.revision is {said}; it has to be a number that counts writes")
    _check_ids(document["messages"])
    return document


def _of(key: str, value: Json, empty: Json) -> Json:
    if value is not None and type(value) is not type(empty):
        wanted = "mapping" if isinstance(empty, dict) else "list"
        raise Invalid(f"{key} is no {wanted}; the file is not {_WHAT}, mend that section")
    return empty if value is None else value


def _check_strict(content: bytes) -> None:
    """Refuse what YAML has and this format forbids."""
    if tab := _TAB.search(content):
        raise Invalid(f"line {_line(content, tab.start())}: a tab indents it; use two spaces")
    if b"&" not in content and b"*" not in content:
        return
    import yaml as reader

    try:
        for event in reader.parse(content.decode("utf-8-sig"), Loader=reader.SafeLoader):
            if getattr(event, "anchor", None):
                line = event.start_mark.line + 1 if event.start_mark else 1
                raise Invalid(
                    f"line {line}: the format has no anchors and no aliases; write it out"
                )
    except (reader.YAMLError, RecursionError, ValueError):
        return  # what it is instead is said by whoever reads the whole


def _line(content: bytes, at: int) -> int:
    return content.count(b"\n", 0, at) + 1


def _check_ids(messages: Json) -> None:
    seen: set[str] = set()
    for entry in messages if isinstance(messages, list) else ():
        id = entry.get("id") if isinstance(entry, dict) else None
        if isinstance(id, str):
            if id in seen:
                raise Invalid(f"messages has the id {quoted(id)} twice; give each its own")
            seen.add(id)


# -- what fits the format, and what does not -----------------------------------------------------


class Fitted:
    """The parts of a file that fit the format, each entry complete; and the rest by its place."""

    def __init__(self, source: Object, before: Object) -> None:
        self.foreign: Object = {}
        coordination = part(source, "coordination")
        revision = coordination["revision"]
        self._revision = revision if isinstance(revision, int) else 0
        sections = {*_MAPPINGS, *_LISTS}
        self._rest(source, sections)
        was = part(before, "coordination")
        tasks = {key: value for key, value in coordination.items() if key != "tasks"}
        self.document: Object = {
            "turnfile": self._one("turnfile", source, shape.TURNFILE, before),
            "agents": self._each("agents", part(source, "agents"), shape.AGENT, before),
            "maintainer": self._one("maintainer", source, shape.MAINTAINER, before),
            "coordination": {
                **self._fields("coordination", tasks, shape.COORDINATION, was),
                "tasks": self._each("tasks", part(coordination, "tasks"), shape.TASK, was),
            },
            "locks": self._each("locks", part(source, "locks"), shape.LOCK, before),
        }
        self.turns = self._items("turn_queue", source, shape.TURN)
        self.signals = self._items("messages", source, shape.SIGNAL)

    def _rest(self, source: Object, known: set[str]) -> None:
        for key, value in source.items():
            if key not in known:
                self.foreign[key] = value

    def _one(self, key: str, source: Object, keys: Shape, before: Object) -> Object:
        return self._fields(key, part(source, key), keys, part(before, key))

    def _each(self, key: str, entries: Object, keys: Shape, before: Object) -> Object:
        found: Object = {}
        for id, entry in entries.items():
            was = part(before, key, id)
            usual = dict(USUAL[key])
            if key == "tasks":
                usual["description"] = id
            place = f"{key}.{id}"
            fields = self._fields(place, _entry(entry), keys, was or usual)
            if id and isinstance(entry, dict) and fields.keys() >= keys.keys() - OPTIONAL:
                found[id] = fields
            else:
                self.foreign[place] = entry
        return found

    def _items(self, key: str, source: Object, keys: Shape) -> list[Object]:
        found: list[Object] = []
        entries = source[key]
        for n, entry in enumerate(entries if isinstance(entries, list) else ()):
            place = f"{key}[{n}]"
            fields = self._fields(place, _entry(entry), keys, USUAL[key])
            if isinstance(entry, dict) and fields.keys() >= keys.keys():
                found.append(fields)
            else:
                self.foreign[place] = entry
        return found

    def _fields(self, place: str, entry: Object, keys: Shape, usual: Object) -> Object:
        """The fields of an entry that fit; where one does not, or is missing, what is usual."""
        found: Object = {}
        for key, value in entry.items():
            fits = key in keys and keys[key](value)
            if fits and key in REVISIONS and isinstance(value, int):
                fits = value <= self._revision
            if fits:
                found[key] = value
            elif value is not None:
                self.foreign[f"{place}.{key}"] = value
        return {
            key: found[key] if key in found else usual[key]
            for key in keys
            if key in found or key in usual
        }


def _entry(entry: Json) -> Object:
    return entry if isinstance(entry, dict) else {}
