"""What changed between two states as a person would say it, fact by fact.

A fact is about one thing and covers those of its leaves that changed with it; it names the events
that did it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal

from msgspec import Struct

from cli.answers import LeafAnswer
from cli.document import leaf_data
from journal.changes import Change, of_thing
from journal.clock import iso
from journal.entities import Project
from journal.leaves import ABSENT, INNER, Path, kinds, same, text
from projections.position import chosen
from projections.values import as_text


class Thing:
    """One thing of a state, or a field that is none, and how events touched it one by one.

    `whole` says that no other event touched it in between, so that only both ends count.
    """

    def __init__(self, path: Path, whole: bool = True) -> None:
        self.path = path
        self.whole = whole
        self.touches: list[tuple[int, object, object]] = []

    @property
    def old(self) -> object:
        """What it was at first."""
        return self.touches[0][1]

    @property
    def new(self) -> Any:
        """What it is at last."""
        return self.touches[-1][2]

    @property
    def entity(self) -> Any:
        """What it is, or was if it has gone."""
        return self.old if self.new is ABSENT else self.new

    @property
    def noun(self) -> str:
        """How it is called."""
        name, key = self.path
        return _NOUNS.get(name, f"{name.replace('_', ' ')} {{}}").format(key or "nobody")

    def changes(self) -> dict[Path, Change]:
        """What changed of it in the end, by leaf."""
        if self.whole:
            return {change.path: change for change in of_thing(self.path, self.old, self.new)}
        net: dict[Path, Change] = {}
        for _, old, new in self.touches:
            for change in of_thing(self.path, old, new):
                first = net.get(change.path, change).old
                net[change.path] = Change(change.path, first, change.new)
        return {path: each for path, each in net.items() if not same(each.old, each.new)}

    def events(self, paths: Collection[Path] = ()) -> tuple[int, ...]:
        """The versions that touched it, or set one of these leaves of it."""
        if len(self.touches) == 1:
            return (self.touches[0][0],)
        found = (
            version
            for version, old, new in self.touches
            if not paths or any(_sets(path, old, new) for path in paths)
        )
        return tuple(sorted(found))

    def back(self) -> "Thing":
        """The same the other way round."""
        twin = Thing(self.path, self.whole)
        twin.touches = [(version, new, old) for version, old, new in reversed(self.touches)]
        return twin


def _sets(path: Path, old: object, new: object) -> bool:
    """Whether a thing that became another is another at this leaf."""
    if len(path) < 3 or old is ABSENT or new is ABSENT:
        return True
    return not same(getattr(old, path[2]), getattr(new, path[2]))


class Fact(Struct, frozen=True):
    """One fact, what it is about, the leaves that changed, and the versions that did it."""

    words: str
    path: Path
    events: tuple[int, ...]
    changes: tuple[Change, ...]
    #: The things whose events set those leaves.
    things: tuple[Thing, ...]
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


def facts(things: Mapping[Path, Thing], state: Project, *, back: bool = False) -> list[Fact]:
    """The facts that touches amount to, in the order in which they came to be so; the state knows
    every decision. Those that lead back in time did not happen, and are not told as if they had.
    """
    left = dict(things)
    found: list[Fact] = []
    for path, thing in things.items():
        if path[0] == "keyed":
            found += _keyed(thing, left, state)
            del left[path]
    for path, thing in left.items():
        if path[0] not in INNER:
            isolated = len(path) == 1 or not isinstance(thing.entity, Struct)
            found += _single(thing) if isolated else _facts(thing, back)
    return sorted(found, key=lambda fact: fact.events[:1])


def _keyed(thing: Thing, left: dict[Path, Thing], state: Project) -> Iterator[Fact]:
    """The fact that a key has another value, with the decision that gave it."""
    covered = list(thing.changes().values())
    if not covered:
        return
    old, new = covered[0].old, covered[0].new
    told = covered[0] = by_value(covered[0], state)
    of = [thing]
    for id in (old, new):
        decision = left.get(("decisions", str(id)))
        if decision is None:
            continue
        changes = decision.changes()
        only_left = {path[-1] for path in changes} == {"superseded_by"}
        made = decision.old is ABSENT and id == new
        if made or only_left or (decision.new is ABSENT and id == old):
            of.append(left.pop(decision.path))
            covered += (change for change in changes.values() if not made or _tells(change))
    words = f"decision {thing.path[1]} {_moved(*_shown(told))}"
    yield Fact(words, thing.path, thing.events(), tuple(covered), tuple(of))


def _single(thing: Thing) -> Iterator[Fact]:
    """The fact of what has no parts."""
    path = thing.path
    name = text(path[:1]).replace("_", " ")
    for change in thing.changes().values():
        quiet = False
        if len(path) == 1 and _is_order(thing):
            quiet = path[0] != "turns"  # where others stand follows from what came and went
            words = f"{name} stand in another order"
        elif path[0] in ("archived", "aborted"):
            words = f"project {path[0] if change.new else 'reopened'}"
        else:
            if path[0] == "next_actions":
                name = f"next action of {path[1]}" if path[1] else "next action"
            elif len(path) == 2:
                name = f"{name} {path[1]}"
            words = f"{name} {_moved(*_shown(change))}"
        yield Fact(words, path, thing.events(), (change,), (thing,), quiet)


def _is_order(thing: Thing) -> bool:
    """Whether it is about the order of a collection."""
    return thing.path[0] in kinds() or thing.path[0] == "next_actions"


def by_value(change: Change, state: Project) -> Change:
    """A change of the decision that a key holds as one of what was decided."""
    if change.path[0] != "keyed":
        return change
    return Change(change.path, _decided(change.old, state), _decided(change.new, state))


def _decided(id: object, state: Project) -> object:
    decision = state.decisions.get(str(id))
    if decision is None:
        return ABSENT
    return decision.choice if decision.value is None else decision.value


def _shown(change: Change) -> tuple[str, str]:
    """Both sides of a change as text."""
    old, new = (as_text(leaf_data(change.path, side)) for side in (change.old, change.new))
    return "" if old in _NOTHING else old, "" if new in _NOTHING else new


def _moved(old: str, new: str) -> str:
    if old and new:
        return f"changed from {old} to {new}"
    return f"is now {new}" if new else f"is no longer {old}" if old else "changed"


def _facts(thing: Thing, back: bool) -> Iterator[Fact]:
    """The facts about one thing: that it came, how far it is, and what else is new about it."""
    name = thing.path[0]
    left = {path[-1]: change for path, change in thing.changes().items()}
    if not left:
        return
    came = thing.old is ABSENT
    if thing.new is ABSENT:
        changes = tuple(left.values())
        yield Fact(f"{thing.noun} gone", thing.path, thing.events(), changes, (thing,))
        return
    found: list[tuple[str, list[Change]]] = []
    if became := _became(thing, left, came):
        words, fields = became
        if back:
            words = _part(fields[0], left[fields[0]])
        found.append((words, [left.pop(field) for field in fields]))
    born: tuple[int, ...] = ()
    if came:
        born = thing.events()[:1]
        words = _CAME[name](thing.entity) if name in _CAME else "added"
        said = tuple(change for change in left.values() if _tells(change))
        yield Fact(f"{thing.noun} {words}", thing.path, born, said, (thing,))
        left = {}
    if name == "decisions" and "superseded_by" in left:
        change = left.pop("superseded_by")
        words = f"superseded by {change.new}" if change.new else "holds again"
        found.append((words, [change]))
    quiet = [left.pop(field) for field in list(left) if field in _QUIET]
    found += [(_part(field, change), [change]) for field, change in left.items()]
    for words, covered in found:
        events = thing.events([change.path for change in covered])
        if quiet:
            covered, quiet = [*covered, *quiet], []
        events = tuple(version for version in events if version not in born) or born
        yield Fact(f"{thing.noun} {words}", thing.path, events, tuple(covered), (thing,))
    if quiet:
        words = " and ".join(change.path[-1].replace("_", " ") for change in quiet)
        events = thing.events([change.path for change in quiet])
        words = f"{thing.noun}: {words}"
        yield Fact(words, thing.path, events, tuple(quiet), (thing,), quiet=True)


def _became(thing: Thing, parts: Mapping[str, Change], came: bool) -> tuple[str, list[str]] | None:
    """How far a thing has come, in words, and the fields that say so."""
    if thing.path[0] not in _BECAME:
        return None
    field, meaning, reasons, follows = _BECAME[thing.path[0]]
    change = parts.get(field)
    if change is None:
        return None
    new = change.new
    if came and new == _blank(kinds()[thing.path[0]], field):
        return None
    word = meaning.get(str(new), "") or meaning.get("*" if new else "", "")
    if thing.path[0] == "steps" and new == "in_progress" and change.old not in (ABSENT, "pending"):
        word = "started again"
    # What was said with it, and not what was said before or since.
    said = (parts[each].new for each in reasons if each in parts)
    reason = next((str(each) for each in said if each and each is not ABSENT), "")
    fields = [field, *(each for each in follows if each in parts)]
    if "sub_step" in parts and parts["sub_step"].new is None:
        fields.append("sub_step")
    return f"{word or f'{field} is {new}'}{_said(reason)}", fields


@cache
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
    """Whether a leaf of a thing that came says more than its key, or what all begin with."""
    name, key, field = change.path
    return change.new not in (key, _blank(kinds()[name], field), None, "", ())


def _line(change: Change) -> str:
    old, new = (side or "nothing" for side in _shown(change))
    return f"{text(change.path)}: {old} → {new}"
