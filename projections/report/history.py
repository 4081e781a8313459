"""The events of a page: each with what it says and what it changed, found in one pass."""

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

import msgspec
from msgspec import Struct

from journal import events as e
from journal.changes import Change, leafwise
from journal.entities import Project
from journal.following import follow
from journal.leaves import ABSENT, INNER, Path, kinds
from journal.payload import decode
from journal.record import Record
from projections.report.shape import Event, Leaf, Tone
from projections.report.texts import Names, Text, Texts
from projections.report.timeline import Timeline
from projections.report.times import milliseconds
from projections.values import as_text

#: How an event is said in words, and what is at a leaf as data: the command line knows both.
Words: TypeAlias = Callable[[e.Event], str]
Shown: TypeAlias = Callable[[Path, object], e.Json]

#: Fields that nearly every event moves on, and that say nothing of their own.
_NOISE = frozenset((("sessions", "progress"),))

#: How an event looks by its last word, and where that depends on what it is about, by both.
_TONES: dict[str, Tone] = {
    **dict.fromkeys(("completed", "resolved", "passed", "fulfilled", "answered"), "good"),
    **dict.fromkeys(("failed", "crashed", "raised", "blocked", "aborted", "error.recorded"), "bad"),
    **dict.fromkeys(("restarted", "skipped", "reset", "bypassed", "dropped"), "warn"),
    **dict.fromkeys(("finding.opened", "question.opened"), "warn"),
    "started": "busy",
}


class Restart(NamedTuple):
    """A step that was tried or run again, and when."""

    event: e.StepRestarted
    at: int
    version: int


class History:
    """The pass over the records of a project, and what it found."""

    def __init__(self, slug: str, words: Words, shown: Shown) -> None:
        self.project = Project(slug)
        self.events: list[Event] = []
        self.restarts: list[Restart] = []
        self.timeline = Timeline()
        self.texts = Texts()
        self.things: dict[tuple[str, str], int] = {}
        self.fields, self.types, self.actors, self.sessions = Names(), Names(), Names(), Names()
        self.last: Record | None = None
        self._words = words
        self._shown = shown
        for names in (self.fields, self.actors, self.sessions):
            names.number("")

    def read(self, records: Iterable[Record]) -> "History":
        """Go through the records."""
        for record, touches in follow(self.project, records):
            event = decode(record.type, record.data)
            changes = list(leafwise(touches))
            self.timeline.note(self.project, record, changes)
            if isinstance(event, e.StepRestarted):
                self.restarts.append(Restart(event, record.time, record.version))
            self.events.append(self._event(record, event, changes))
            self.last = record
        return self

    def thing(self, collection: str, key: str) -> int:
        """The number of a thing."""
        return self.things.setdefault((collection, key), len(self.things))

    def _event(self, record: Record, event: e.Event, changes: list[Change]) -> Event:
        step = getattr(event, "step", "")
        recorded = None if record.occurred is None else milliseconds(record.at)
        return Event(
            milliseconds(record.time),
            recorded,
            self.types.number(record.type),
            self.actors.number(record.actor or ""),
            self.sessions.number(record.session or ""),
            step if isinstance(step, str) else "",
            self._words(event),
            _TONES.get(record.type) or _TONES.get(record.type.partition(".")[2], ""),
            event.bookkeeping,
            record.salt is None,
            record.id,
            record.cause or "",
            record.hash.hex(),
            tuple(self._data(event)),
            tuple(self._changes(changes)),
        )

    def _data(self, event: e.Event) -> Iterable[str | Leaf]:
        for name, value in msgspec.to_builtins(event).items():
            is_list = isinstance(getattr(event, name), tuple)
            yield from (name, self._whole(value) if is_list else self._text(value))

    def _changes(self, changes: list[Change]) -> Iterable[int | Leaf]:
        for change in changes:
            name, *rest = change.path
            if name in INNER or (name, change.path[-1]) in _NOISE or _is_blank(change):
                continue
            thing = self.thing(name, rest[0]) if rest else self.thing("", self._own(name))
            field = self.fields.number(rest[1] if len(rest) > 1 else "")
            yield from (thing, field, self._leaf(change))

    def _own(self, name: str) -> str:
        """How a leaf of the project itself is called: that of a collection is its order."""
        is_order = isinstance(getattr(self.project, name), dict)
        return f"order of {name}" if is_order else name

    def _leaf(self, change: Change) -> Leaf:
        """What a leaf is now; of a list, how it differs from what it was."""
        if change.new is ABSENT:
            return None
        if not isinstance(change.new, tuple):
            return self._text(self._shown(change.path, change.new))
        old = change.old if isinstance(change.old, tuple) else ()
        same = _same(old, change.new)
        came = self._shown(change.path, change.new[same:])
        assert isinstance(came, list)
        return (same, len(old) - same, *map(self._text, came))

    def _whole(self, items: list[e.Json]) -> Leaf:
        return (0, 0, *map(self._text, items))

    def _text(self, value: e.Json) -> Text:
        return self.texts.put(as_text(value))


def _same(old: tuple[object, ...], new: tuple[object, ...]) -> int:
    """How many things at the beginning of two lists are the same."""
    if new[: len(old)] == old:  # a list that grew, as most do
        return len(old)
    pairs = enumerate(zip(old, new, strict=False))
    return next((n for n, (was, now) in pairs if was != now), min(len(old), len(new)))


def _is_blank(change: Change) -> bool:
    """Whether a new thing has at this leaf what every new one has."""
    if change.old is not ABSENT or len(change.path) < 3:
        return False
    blank = _blanks(kinds()[change.path[0]]).get(change.path[2], ABSENT)
    return change.new == blank and type(change.new) is type(blank)


_BLANKS: dict[type[Struct], dict[str, object]] = {}


def _blanks(kind: type[Struct]) -> dict[str, object]:
    if kind not in _BLANKS:
        fields = msgspec.structs.fields(kind)
        _BLANKS[kind] = {each.name: each.default for each in fields if not each.required}
    return _BLANKS[kind]
