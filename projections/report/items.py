"""The things of a project as the sections of a page: what there is to know about each."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from journal.clock import iso
from journal.entities import Project, task_status
from journal.supervision import stretch
from projections.position import chosen
from projections.report.history import History
from projections.report.shape import Item, Section, Tone
from projections.report.texts import Text
from projections.report.times import milliseconds

#: What is said about a thing: label and text.
About = Iterable[tuple[str, str]]


#: A choice no longer than this stands beside what it was about.
_HEADLINE = 60


class _Kind(NamedTuple):
    """How the things of one collection look on the page."""

    name: str
    title: str
    sign: Callable[[Project, Any], tuple[str, Tone]]
    headline: Callable[[Any], str]
    about: Callable[[Any], About]
    begin: Callable[[Any], int | None] = lambda x: None
    end: Callable[[Any], int | None] = lambda x: None
    lasts: bool = False


def _decision(p: Project, x: Any) -> tuple[str, Tone]:
    if x.superseded_by is not None:
        return "superseded", "quiet"
    return "in force", "good"


def _decided(x: Any) -> str:
    """What was decided, with the choice where that is short."""
    what, choice = x.title or x.key, chosen(x)
    if len(choice) > _HEADLINE:
        choice = ""
    return ": ".join(filter(None, (what, choice))) or x.id


def _chosen(x: Any) -> About:
    yield "Chosen", "" if len(chosen(x)) <= _HEADLINE else chosen(x)
    yield "Reason", x.rationale
    yield "Alternatives", "\n".join(x.alternatives)
    yield "Impact", x.impact
    yield "Kind", (x.kind or "").replace("_", " ")
    yield "Reversible", {True: "yes", False: "no", None: ""}[x.reversible]
    yield "Key", x.key if x.title else ""
    yield "Superseded by", x.superseded_by or ""
    yield from _where(x)


def _where(x: Any) -> About:
    """Where in the work a thing belongs, and to whom."""
    for label, field in (("Step", "step"), ("Task", "task"), ("Agent", "agent")):
        yield label, getattr(x, field, "") or ""
    yield "Session", getattr(x, "session", None) or ""


def _resolved(p: Project, x: Any) -> tuple[str, Tone]:
    return ("open", "bad") if x.resolved is None else ("resolved", "good")


def _blocker(p: Project, x: Any) -> tuple[str, Tone]:
    tones: dict[str, Tone] = {"active": "bad", "bypassed": "warn"}
    return x.status, tones.get(x.status, "good")


def _task(p: Project, x: Any) -> tuple[str, Tone]:
    status = task_status(p, x)
    tones: dict[str, Tone] = {"blocked": "bad", "done": "good", "open": "quiet"}
    return status.replace("_", " "), tones.get(status, "busy")


def _changed(p: Project, x: Any) -> tuple[str, Tone]:
    tones: dict[str, Tone] = {"deleted": "warn", "created": "good"}
    return x.change, tones.get(x.change, "busy")


def _settled(good: str, *quiet: str) -> Callable[[Project, Any], tuple[str, Tone]]:
    def sign(p: Project, x: Any) -> tuple[str, Tone]:
        return x.status, "good" if x.status == good else "quiet" if x.status in quiet else "warn"

    return sign


def _acks(x: Any) -> str:
    return "\n".join(
        f"{iso(ack.at)} {ack.what} by {ack.by or 'nobody named'}: {ack.reason}" for ack in x.acks
    )


_KINDS = {
    "decisions": _Kind(
        "decisions",
        "Decisions",
        _decision,
        _decided,
        _chosen,
        lambda x: x.at,
    ),
    "blockers": _Kind(
        "blockers",
        "Blockers",
        _blocker,
        lambda x: x.description,
        lambda x: (
            ("Affects", ", ".join(x.affects)),
            ("Tasks", ", ".join(x.tasks)),
            ("Way around", x.workaround),
            ("Resolution", x.resolution),
        ),
        lambda x: x.raised,
        lambda x: x.resolved,
        lasts=True,
    ),
    "errors": _Kind(
        "errors",
        "Errors and retries",
        _resolved,
        lambda x: x.message,
        lambda x: (("Kind", x.kind.replace("_", " ")), *_where(x), ("Resolution", x.resolution)),
        lambda x: x.at,
        lambda x: x.resolved,
        lasts=True,
    ),
    "findings": _Kind(
        "findings",
        "Findings",
        _resolved,
        lambda x: x.title,
        lambda x: (
            ("Severity", x.severity.replace("_", " ")),
            ("Detail", x.detail),
            *_where(x),
            ("Resolution", x.resolution),
            ("Decision", x.decision),
        ),
        lambda x: x.opened,
        lambda x: x.resolved,
        lasts=True,
    ),
    "questions": _Kind(
        "questions",
        "Questions",
        _settled("resolved", "deferred"),
        lambda x: x.text,
        lambda x: (("From", x.source), *_where(x), ("Answer", x.resolution)),
        lambda x: x.opened,
        lambda x: x.resolved,
        lasts=True,
    ),
    "tasks": _Kind(
        "tasks",
        "Tasks",
        _task,
        lambda x: x.title,
        lambda x: (
            ("Description", x.description),
            ("Priority", x.priority),
            ("Depends on", ", ".join(x.depends_on)),
            *_where(x),
            ("Note", x.note),
        ),
        lambda x: x.assigned or x.created,
        lambda x: x.completed,
    ),
    "messages": _Kind(
        "mail",
        "Mail",
        _settled("closed", "acknowledged", "actioned"),
        lambda x: x.subject,
        lambda x: (
            ("From", x.sender),
            ("To", x.to),
            ("Asks", f"{x.kind.replace('-', ' ')}, {x.priority}"),
            ("Due", x.due),
            ("Body", x.body),
            ("To review", x.payload.text if x.payload else ""),
            ("What was done", _acks(x)),
            ("Escalated as", x.escalated),
        ),
        lambda x: x.posted,
    ),
    "escalations": _Kind(
        "escalations",
        "Escalations",
        lambda p, x: ("open", "bad") if x.answered is None else ("answered", "good"),
        lambda x: x.subject,
        lambda x: (("Why", x.reason), ("Message", x.message), ("Answer", x.answer)),
        lambda x: x.raised,
        lambda x: x.answered,
        lasts=True,
    ),
    "commitments": _Kind(
        "commitments",
        "Commitments",
        _settled("fulfilled", "dropped"),
        lambda x: x.text,
        lambda x: (("By", x.agent), ("To", x.to or "all"), ("Due", x.due), ("Note", x.note)),
        lambda x: x.made,
        lambda x: x.settled,
    ),
    "turns": _Kind(
        "turns",
        "Turns",
        lambda p, x: (x.priority, "busy"),
        lambda x: x.action,
        lambda x: (("Agent", x.agent), ("Asked at revision", str(x.requested))),
    ),
    "snapshots": _Kind(
        "snapshots",
        "Snapshots",
        _settled("complete"),
        lambda x: x.next_action or x.token,
        lambda x: (
            ("Token", x.token),
            ("Closed because", x.close_reason.replace("_", " ")),
            *_where(x),
            ("Body", x.body),
        ),
        lambda x: x.at,
    ),
    "worklog": _Kind(
        "worklog",
        "Worklog",
        lambda p, x: ("in progress", "busy") if x.completed is None else ("done", "good"),
        lambda x: x.title,
        lambda x: (("Agent", x.agent), ("Entry", x.text), ("Note", x.note)),
        lambda x: x.at,
        lambda x: x.completed,
    ),
    "files": _Kind(
        "files",
        "Files",
        _changed,
        lambda x: x.path,
        lambda x: (("About", x.description), *_where(x), ("Digest", x.digest)),
        lambda x: x.at,
    ),
}


def sections(history: History) -> Iterator[Section]:
    """Every section that has something in it, in the order of the page."""
    for collection, kind in _KINDS.items():
        things = getattr(history.project, collection)
        items = [_item(history, collection, kind, key, things[key]) for key in things]
        if collection == "errors":
            items += _restarts(history)
            items.sort(key=lambda item: item.begin or 0)
        if items:
            said = _says(kind, items, milliseconds(history.project.updated))
            yield Section(kind.name, kind.title, said, tuple(items))


def _item(history: History, collection: str, kind: _Kind, key: str, x: Any) -> Item:
    sign, tone = kind.sign(history.project, x)
    begin, end = kind.begin(x), kind.end(x)
    return Item(
        history.thing(collection, key),
        0,
        "" if collection == "files" else key,
        sign,
        tone,
        history.texts.put(kind.headline(x)),
        tuple(_told(history, kind.about(x))),
        None if begin is None else milliseconds(begin),
        None if end is None else milliseconds(end),
        kind.lasts,
    )


def _told(history: History, about: About) -> Iterator[tuple[str, Text]]:
    return ((label, history.texts.put(text)) for label, text in about if text)


def _restarts(history: History) -> Iterator[Item]:
    """Every time that a step was tried again, or run again."""
    for event, at, version in history.restarts:
        step = history.project.steps.get(event.step)
        name = f"{event.step} {step.name}" if step else event.step
        again = "tried again" if event.mode == "retry" else "run again"
        about = (
            ("Why", event.reason),
            ("Approved by", event.approved_by),
            ("Agent", event.agent),
        )
        yield Item(
            history.thing("steps", event.step),
            version,
            f"step {event.step}",
            event.mode,
            "warn",
            history.texts.put(f"Step {name} {again}"),
            tuple(_told(history, about)),
            milliseconds(at),
            None,
            False,
        )


def _says(kind: _Kind, items: list[Item], now: int) -> str:
    """How many there are of each sort, and how long they lasted."""
    counts: dict[str, int] = {}
    for item in items:
        counts[item.sign] = counts.get(item.sign, 0) + 1
    said = ", ".join(f"{count:,} {sign}" for sign, count in counts.items())
    if not kind.lasts:
        return said
    lasted = sorted(x.end - x.begin for x in items if x.begin is not None and x.end is not None)
    if not lasted:
        return said
    longest, half = (stretch(lasted[n] * 1000) for n in (-1, len(lasted) // 2))
    if len(lasted) == 1:
        return f"{said}; what is over took {longest}"
    return f"{said}; the longest took {longest}, half of them at most {half}"
