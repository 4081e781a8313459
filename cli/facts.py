"""What changed between two states as a person would say it, fact by fact.

A fact is about one thing and covers those of its leaves that changed with it; it names the events
that did it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from cli.answers import LeafAnswer
from cli.document import leaf_data
from journal.changes import Change
from journal.clock import iso
from journal.entities import Project
from journal.leaves import ABSENT, INNER, Path, kinds, text
from projections.position import chosen
from projections.values import as_text


class Fact(Struct, frozen=True):
    """One fact, what it is about, the leaves that changed, and the versions that did it."""

    words: str
    path: Path
    changes: tuple[Change, ...]
    events: tuple[int, ...]
    #: Whether only times and counts moved on, of which a person need not hear.
    quiet: bool = False


#: How a thing of each collection is called.
_NOUNS = {
    **{"steps": "step {}", "plans": "plan {}", "tasks": "task {}", "decisions": "decision {}"},
    **{"findings": "finding {}", "errors": "error {}", "blockers": "blocker {}"},
    **{"reviews": "review of step {}", "files": "file {}", "manifest": "file of step {}"},
    **{"documents": "{} document", "questions": "question {}", "leases": "lease {}"},
    **{"tokens": "tokens of {}", "tokens_by_step": "tokens of step {}", "turns": "turn {}"},
    **{"context": "context note {}", "outputs": "output {}", "gates": "gate {}"},
    **{"signals": "signal {}", "escalations": "escalation {}", "messages": "message {}"},
    **{"commitments": "commitment {}", "snapshots": "snapshot {}", "worklog": "entry {}"},
    **{"homes": "adopted {} file", "actors": "{}", "sessions": "{}"},
}


def _by(agent: str) -> str:
    return f" by {agent}" if agent else ""


def _to(agent: str) -> str:
    return f" to {agent}" if agent else ""


def _said(said: str) -> str:
    return f": {said}" if said else ""


def _made(x: Any) -> str:
    what = f"made: {x.title or x.key} = {chosen(x)}"
    return f"{what} (superseded by {x.superseded_by})" if x.superseded_by else what


#: What to say of a thing that was not there before.
_CAME: dict[str, Callable[[Any], str]] = {
    "actors": lambda x: f"registered as {x.role}",
    "steps": lambda x: f"planned{_said(x.name)}",
    "plans": lambda x: f"added{_said(x.name)}",
    "tasks": lambda x: f"added{_said(x.title)}",
    "decisions": _made,
    "findings": lambda x: f"opened ({x.severity}): {x.title}",
    "reviews": lambda x: f"recorded: {x.passes_executed} passes",
    "errors": lambda x: f"recorded ({x.kind}): {x.message}",
    "blockers": lambda x: f"raised: {x.description}",
    "files": lambda x: x.change,
    "manifest": lambda x: x.change,
    "documents": lambda x: f"recorded: {x.path}",
    "sessions": lambda x: f"started{_by(x.agent)}",
    "questions": lambda x: f"opened: {x.text}",
    "context": lambda x: f"noted ({x.kind}): {x.text}",
    "outputs": lambda x: f"of step {x.step} recorded: {x.text}",
    "gates": lambda x: f"passed: {x.gate}",
    "leases": lambda x: f"acquired{_by(x.agent)}: {', '.join(x.files) or f'step {x.step}'}",
    "turns": lambda x: f"asked for{_by(x.agent)}: {x.action}",
    "signals": lambda x: f"{x.kind} sent{_by(x.sender)}{_to(x.to)}{_said(x.detail)}",
    "escalations": lambda x: f"raised: {x.subject}",
    "messages": lambda x: f"posted{_by(x.sender)}{_to(x.to)}: {x.subject}",
    "commitments": lambda x: f"made{_by(x.agent)}: {x.text}",
    "snapshots": lambda x: f"taken{_by(x.agent)}",
    "worklog": lambda x: f"logged{_by(x.agent)}: {x.title}",
    "homes": lambda x: f"is {x.source}",
}

#: Of each collection the field that says how far a thing is, what its values mean, the field with
#: the reason for that, and the fields that only follow it.
_BECAME: dict[str, tuple[str, dict[str, str], Sequence[str], frozenset[str]]] = {
    "steps": (
        "status",
        {"pending": "is pending again", "in_progress": "started", "complete": "completed"}
        | {"failed": "failed", "skipped": "skipped"},
        ("reason", "summary"),
        frozenset(("started", "completed", "started_by", "summary", "reason", "error"))
        | {"to_reconcile", "reconciled", "retries"},
    ),
    "plans": (
        "status",
        {"in_progress": "started", "complete": "completed"},
        ("summary",),
        frozenset(("started", "completed", "summary")),
    ),
    "tasks": (
        "status",
        {"open": "open again", "claimed": "claimed", "in_progress": "started", "done": "done"},
        ("note",),
        frozenset(("assigned", "completed", "note", "session", "interrupted", "taken_from"))
        | {"taken_revision", "done_revision"},
    ),
    "findings": (
        "resolved",
        {"": "open again", "*": "resolved"},
        ("resolution",),
        frozenset(("resolution", "decision")),
    ),
    "errors": (
        "resolved",
        {"": "unresolved again", "*": "resolved"},
        ("resolution",),
        frozenset(("resolution",)),
    ),
    "blockers": (
        "status",
        {"active": "active again", "bypassed": "bypassed", "resolved": "resolved"},
        ("resolution", "workaround"),
        frozenset(("workaround", "workaround_tasks", "resolution", "resolved")),
    ),
    "sessions": (
        "status",
        {"active": "went on", "ended": "ended", "crashed": "crashed"},
        ("reason", "handoff_reason"),
        frozenset(("ended", "reason", "handoff_reason")),
    ),
    "questions": (
        "status",
        {"open": "open again", "deferred": "deferred", "resolved": "resolved"},
        ("resolution",),
        frozenset(("resolution", "resolved", "touches")),
    ),
    "leases": (
        "status",
        {"held": "held again", "released": "released", "expired": "expired"},
        (),
        frozenset(("ended",)),
    ),
    "escalations": (
        "answered",
        {"": "unanswered again", "*": "answered"},
        ("answer",),
        frozenset(("answer",)),
    ),
    "messages": (
        "status",
        {"unread": "unread again", "acknowledged": "acknowledged", "blocked": "blocked"}
        | {"actioned": "actioned", "closed": "closed"},
        (),
        frozenset(("acks",)),
    ),
    "commitments": (
        "status",
        {"open": "open again", "fulfilled": "fulfilled", "dropped": "dropped"},
        ("note",),
        frozenset(("settled", "note")),
    ),
}
#: What moves on with every sign of life or count.
_QUIET = {"progress", "heartbeat", "assigned", "renewed", "pointed_out", "revision"}
_QUIET |= {"created_revision", "taken_revision", "done_revision"}
#: How values look that say nothing; a time that nobody set is the first there is.
_NOTHING = ("[]", "{}", iso(0))


class _Thing(Struct):
    """One thing, and what changed of it."""

    path: Path
    entity: Any
    parts: dict[str, Change]

    @property
    def noun(self) -> str:
        """How it is called."""
        name, key = self.path
        return _NOUNS.get(name, f"{name.replace('_', ' ')} {{}}").format(key or "nobody")

    def is_all(self, side: str) -> bool:
        """Whether there was, or is, nothing of it."""
        return all(getattr(change, side) is ABSENT for change in self.parts.values())


def facts(
    changes: Iterable[Change],
    causes: Mapping[Path, Sequence[int]],
    before: Project,
    after: Project,
    *,
    back: bool = False,
) -> list[Fact]:
    """The facts that changes amount to, in the order in which they came to be so; those that lead
    back in time did not happen, and nothing is said of them as if it had."""
    things: dict[Path, _Thing] = {}
    single: list[Change] = []
    for change in changes:
        name = change.path[0]
        if name in INNER:
            continue
        if len(change.path) == 3:
            path = change.path[:2]
            if path not in things:
                things[path] = _Thing(path, _entity(path, before, after), {})
            things[path].parts[change.path[2]] = change
        else:
            single.append(change)
    found = [fact for change in single for fact in _single(change, causes, before, after, things)]
    for thing in things.values():
        found += _facts(thing, causes, back)
    return sorted(found, key=lambda fact: fact.events[:1])


def _entity(path: Path, before: Project, after: Project) -> object:
    """A thing as it is, or as it was if it has gone."""
    for project in (after, before):
        things = getattr(project, path[0])
        if isinstance(things, list):
            things = {str(n): thing for n, thing in enumerate(things)}
        if path[1] in things:
            return things[path[1]]
    return None


def _events(changes: Iterable[Change], causes: Mapping[Path, Sequence[int]]) -> tuple[int, ...]:
    return tuple(sorted({version for x in changes for version in causes.get(x.path, ())}))


def _single(
    change: Change,
    causes: Mapping[Path, Sequence[int]],
    before: Project,
    after: Project,
    things: dict[Path, _Thing],
) -> Iterator[Fact]:
    """The fact of a leaf that is no part of a thing."""
    path = change.path
    name = text(path[:1]).replace("_", " ")
    if path[0] == "keyed":
        values = [_value(id, before, after) for id in (change.old, change.new)]
        covered = [change]
        for id in (change.old, change.new):
            thing = things.get(("decisions", str(id)))
            if thing and (id == change.new or thing.parts.keys() == {"superseded_by"}):
                covered += things.pop(thing.path).parts.values()
        words = f"decision {path[1]} {_moved(*values)}"
        yield Fact(words, path, tuple(covered), _events([change], causes))
        return
    if len(path) == 1 and isinstance(getattr(after, path[0]), dict):
        came = not (isinstance(change.old, tuple) and isinstance(change.new, tuple))
        is_quiet = came or path[0] != "turns"
        words = f"{name} stand in another order"
        yield Fact(words, path, (change,), _events([change], causes), is_quiet)
        return
    if path[0] == "next_actions":
        name = f"next action of {path[1]}" if path[1] else "next action"
    elif len(path) == 2:
        name = f"{name} {path[1]}"
    if path[0] in ("archived", "aborted"):
        words = f"project {path[0] if change.new else 'reopened'}"
    else:
        words = f"{name} {_moved(*_shown(change))}"
    yield Fact(words, path, (change,), _events([change], causes))


def _value(id: object, before: Project, after: Project) -> str:
    """What a keyed decision chose."""
    for project in (after, before):
        if id in project.decisions:
            return chosen(project.decisions[str(id)])
    return ""


def _shown(change: Change) -> tuple[str, str]:
    """Both sides of a change as text."""
    old, new = (as_text(leaf_data(change.path, side)) for side in (change.old, change.new))
    return "" if old in _NOTHING else old, "" if new in _NOTHING else new


def _moved(old: str, new: str) -> str:
    if old and new:
        return f"changed from {old} to {new}"
    return f"is now {new}" if new else f"is no longer {old}" if old else "changed"


def _facts(thing: _Thing, causes: Mapping[Path, Sequence[int]], back: bool) -> Iterator[Fact]:
    """The facts about one thing: that it came, how far it is, and what else is new about it."""
    name = thing.path[0]
    left = dict(thing.parts)
    found: list[tuple[str, list[Change]]] = []
    born: set[int] = set()
    if came := thing.is_all("old"):
        events = _events(left.values(), causes)
        born = set(events[:1])
    elif thing.is_all("new"):
        yield Fact(
            f"{thing.noun} gone", thing.path, tuple(left.values()), _events(left.values(), causes)
        )
        return
    if became := _became(thing, came):
        words, fields = became
        if back:
            words = _part(fields[0], thing.parts[fields[0]])
        found.append((words, [left.pop(field) for field in fields if field in left]))
    if came:
        words = _CAME[name](thing.entity) if name in _CAME else "added"
        yield Fact(f"{thing.noun} {words}", thing.path, tuple(left.values()), tuple(sorted(born)))
        left = {}
    if name == "decisions" and "superseded_by" in left:
        change = left.pop("superseded_by")
        words = f"superseded by {change.new}" if change.new else "holds again"
        found.append((words, [change]))
    quiet = [left.pop(field) for field in list(left) if field in _QUIET]
    for field, change in left.items():
        found.append((_part(field, change), [change]))
    for words, covered in found:
        if quiet:
            covered, quiet = [*covered, *quiet], []
        events = tuple(v for v in _events(covered, causes) if v not in born) or tuple(born)
        yield Fact(f"{thing.noun} {words}", thing.path, tuple(covered), events)
    if quiet:
        words = " and ".join(change.path[-1].replace("_", " ") for change in quiet)
        events = _events(quiet, causes)
        yield Fact(f"{thing.noun}: {words}", thing.path, tuple(quiet), events, quiet=True)


def _became(thing: _Thing, came: bool) -> tuple[str, list[str]] | None:
    """How far a thing has come, in words, and the fields that say so."""
    if thing.path[0] not in _BECAME:
        return None
    field, meaning, reasons, follows = _BECAME[thing.path[0]]
    change = thing.parts.get(field)
    if change is None:
        return None
    new = change.new
    if came and new == _blank(type(thing.entity), field):
        return None
    word = meaning.get(str(new), "") or meaning.get("*" if new else "", "")
    if thing.path[0] == "steps" and new == "in_progress" and change.old not in (ABSENT, "pending"):
        word = "started again"
    # What was said with it, and not what was said before or since.
    said = (thing.parts[each].new for each in reasons if each in thing.parts)
    reason = next((str(each) for each in said if each and each is not ABSENT), "")
    fields = [field, *(each for each in follows if each in thing.parts)]
    if "sub_step" in thing.parts and thing.parts["sub_step"].new is None:
        fields.append("sub_step")
    return f"{word or f'{field} is {new}'}{_said(reason)}", fields


def _blank(kind: type[Struct], field: str) -> object:
    """What a field is where nothing was said."""
    pairs = zip(reversed(kind.__struct_fields__), reversed(kind.__struct_defaults__), strict=False)
    return dict(pairs).get(field)


def _part(field: str, change: Change) -> str:
    """What is new about one field of a thing."""
    if field == "sub_step" and change.new:
        return f"reached {change.new}"
    name = field.replace("_", " ")
    match leaf_data(change.path, change.old), leaf_data(change.path, change.new):
        case list(old), list(new):
            came, went = ([x for x in a if x not in b] for a, b in ((new, old), (old, new)))
            parts = (
                f"{how} {_listed(some)}"
                for how, some in (("added", came), ("removed", went))
                if some
            )
            return f"{name}: {'; '.join(parts) or 'in another order'}"
    return f"{name} {_moved(*_shown(change))}"


def _listed(items: list[Any]) -> str:
    return ", ".join(map(as_text, items))


# -- leaf by leaf ----------------------------------------------------------------------------


def leaf(change: Change, versions: Sequence[int]) -> LeafAnswer:
    """A change as data."""
    how: Literal["added", "changed", "removed"] = "changed"
    if change.old is ABSENT or change.new is ABSENT:
        how = "added" if change.old is ABSENT else "removed"
    old, new = (leaf_data(change.path, side) for side in (change.old, change.new))
    return LeafAnswer(text(change.path), how, old, new, list(versions))


def lines(changes: Iterable[Change]) -> Iterator[str]:
    """Each leaf that changed, on a line; a thing that came or went is one line."""
    whole: dict[Path, list[Change]] = {}
    for change in changes:
        if change.path[0] in INNER or change.path[-1] in _QUIET:
            continue
        whole.setdefault(change.path[:2], []).append(change)
    for path, parts in whole.items():
        if len(parts[0].path) == 3 and all(change.old is ABSENT for change in parts):
            said = (f"{x.path[-1]} {_shown(x)[1]}" for x in parts if _tells(x) or len(parts) == 1)
            yield f"+ {text(path)}: {', '.join(said)}"
        elif len(parts[0].path) == 3 and all(change.new is ABSENT for change in parts):
            yield f"- {text(path)}"
        else:
            yield from (_line(change) for change in parts)


def _tells(change: Change) -> bool:
    """Whether a leaf of a thing that came says more than its key and what all of them begin with."""
    name, key, field = change.path
    return change.new not in (key, _blank(kinds()[name], field)) and bool(_shown(change)[1])


def _line(change: Change) -> str:
    old, new = (side or "nothing" for side in _shown(change))
    return f"{text(change.path)}: {old} → {new}"
