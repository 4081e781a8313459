"""What stands in a record once it was redacted: the same event, without what was said in it.

Every field of the vocabulary that holds text is of one of these kinds; a test sees to that.

    text    what somebody said: masked
    name    who somebody is: masked where that is asked for
    key     ids, steps, paths, labels that other events refer to: they stay, so that a history
            with a masked record folds as it did
    trace   digests made of the text, and what would be looked for in a file: emptied

Keys stay where a record is masked whole. A text that is named is replaced wherever it stands, in
keys as well: in all records at once, so that what referred to each other still does.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Literal, TypeAlias, get_args, get_origin

from msgspec import Struct
from msgspec.structs import fields, replace

from journal.errors import Invalid
from journal.events import Json
from journal.payload import decode, encode

MASK = "[redacted]"

TEXTS = frozenset(
    (
        *("action", "alternatives", "answer", "assumptions", "blocking", "body", "checkpoint"),
        *("checkpoints", "choice", "completed", "description", "detail"),
        *("details", "due", "file", "handoff_reason", "heading", "impact", "integration_points"),
        *("interfaces", "issues", "name", "next_action", "note", "notes", "patterns", "phase"),
        *("rationale", "reason", "resolution", "skip_reasons", "skipped", "source", "status"),
        *("sub_step", "subject", "summary", "tests", "text", "title", "value", "warnings"),
        *("workaround",),
    )
)
NAMES = frozenset(
    (
        *("actor", "agent", "approved_by", "closure_owner", "host", "maintainer"),
        *("models_used", "next_owner", "team", "to", "tokens"),
    )
)
KEYS = frozenset(
    (
        *("active", "affects", "archived", "artifacts", "backend", "batch", "before"),
        *("blocked_by", "blocker", "branch", "by", "changed_files", "commitment", "complexity"),
        *("context_files", "continues", "current", "decision", "depends_on", "digest", "entries"),
        *("entry", "error", "escalation", "files", "finding", "format", "gate", "hook", "kept"),
        *("key", "left_out", "message", "mode", "native", "path", "plan", "projection"),
        *("question", "refers", "related", "session", "shown", "signal", "snapshot", "startup"),
        *("step", "task", "tasks", "token", "turn", "version", "workflow", "workspace"),
    )
)
TRACES = frozenset(("contains", "own"))

#: Where a field is not what others of that name are: the class and the field.
APART = {
    "ActorRegistered.title": "name",
    "AgentWhen.value": "key",
    "ContextNoted.file": "key",
    "DocumentRecorded.digest": "trace",
    "ErrorRecorded.message": "text",
    "Handoff.status": "text",
    "PhaseAdvanced.step": "text",
    "ProjectAdopted.source": "key",
    "SessionStarted.name": "name",
    "SnapshotTaken.task": "text",
    "StepFailed.message": "text",
}


def kind_of(cls: type[Struct], name: str) -> str:
    """Of which kind a field is; empty if nobody has said so."""
    known = APART.get(f"{cls.__name__}.{name}")
    if known:
        return known
    kinds = {"text": TEXTS, "name": NAMES, "key": KEYS, "trace": TRACES}
    return next((kind for kind, fields in kinds.items() if name in fields), "")


def masked(tag: str, data: bytes, *, names: bool = False) -> bytes:
    """A payload without what was said in it, nor, where that is asked for, who somebody is."""
    change = {"text": _hidden, "name": _hidden if names else _kept, "key": _kept, "trace": _emptied}
    event = decode(tag, data)
    try:
        return encode(_changed(event, lambda cls, name: change[kind_of(cls, name) or "text"]))
    except Invalid:  # of very many short texts the masks are longer than the texts
        change["text"] = _shortest
        return encode(_changed(event, lambda cls, name: change[kind_of(cls, name) or "text"]))


def without(tag: str, data: bytes, text: str, instead: str = MASK) -> bytes:
    """A payload in which a text stands nowhere any more, nor what was made of it."""
    event = decode(tag, data)

    def replaced(value: Any) -> Any:
        return _replaced(value, text, instead)

    def change(cls: type[Struct], name: str) -> Change:
        return _emptied if kind_of(cls, name) == "trace" else replaced

    touched = any(text in each for each in texts_of(event))
    return encode(_changed(event, change)) if touched else data


def texts_of(value: object) -> Iterator[str]:
    """Every text in an event, and every number where anything may stand."""
    match value:
        case Struct():
            for name in value.__struct_fields__:
                yield from texts_of(getattr(value, name))
        case dict():
            for key, each in value.items():
                yield from texts_of(key)
                yield from texts_of(each)
        case list() | tuple():
            for each in value:
                yield from texts_of(each)
        case str():
            yield value
        case int() | float() if not isinstance(value, bool):
            yield str(value)


Change: TypeAlias = Callable[[Any], Any]


def _changed(thing: Any, change: Callable[[type[Struct], str], Change]) -> Any:
    """A thing with every field changed that holds text, and the things in it likewise."""
    news = {}
    kind: type[Struct] = type(thing)
    for name, free in _fields(kind):
        value = getattr(thing, name)
        if isinstance(value, Struct):
            news[name] = _changed(value, change)
        elif isinstance(value, tuple) and value and isinstance(value[0], Struct):
            news[name] = tuple(_changed(each, change) for each in value)
        elif free:
            news[name] = change(kind, name)(value)
    changed = {name: value for name, value in news.items() if value != getattr(thing, name)}
    return replace(thing, **changed) if changed else thing


@cache
def _fields(cls: type[Struct]) -> tuple[tuple[str, bool], ...]:
    """The fields of a class, and whether each may hold any text."""
    return tuple((field.name, _is_free(field.type)) for field in fields(cls))


def _is_free(hint: Any) -> bool:
    if hint in (str, Any):
        return True
    return get_origin(hint) is not Literal and any(map(_is_free, get_args(hint)))


def _kept(value: Json) -> Json:
    return value


def _hidden(value: Any) -> Any:
    """The value with the mask for every text in it, and 0 for every number."""
    match value:
        case str():
            return MASK if value else value
        case bool() | None:
            return value
        case int() | float():
            return type(value)()
        case dict():
            return {key: _hidden(each) for key, each in value.items()}
        case _:
            return type(value)(map(_hidden, value))


def _shortest(value: Any) -> Any:
    """As little as can stand for a value."""
    match value:
        case str() | list() | dict():
            return MASK if value else value
        case tuple():
            return tuple(map(_shortest, value[:1]))
        case _:
            return _hidden(value)


def _emptied(value: Any) -> Any:
    return "" if isinstance(value, str) else value


def _replaced(value: Any, text: str, instead: str) -> Any:
    match value:
        case str():
            return value.replace(text, instead)
        case bool() | None:
            return value
        case int() | float():
            return instead if text in str(value) else value
        case dict():
            return {
                _replaced(key, text, instead): _replaced(each, text, instead)
                for key, each in value.items()
            }
        case _:
            return type(value)(_replaced(each, text, instead) for each in value)
