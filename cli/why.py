"""Why something is as it is: the events that made it so, the newest first."""

from collections.abc import Iterable, Sequence
from typing import Annotated

import typer
from msgspec import Struct

from cli import options, output
from cli.answers import LeafAnswer, answers
from cli.describe import colour, describe
from cli.document import leaf_data
from cli.facts import by_value, leaf, lines
from cli.moments import version_at
from cli.recording import chosen, opened
from cli.screen import Cell, columns, fit, table
from journal import Handle, Project
from journal.changes import Change, apply, leafwise
from journal.clock import iso
from journal.entities import task_status
from journal.errors import NotFound
from journal.events import Event, Json
from journal.following import follow
from journal.leaves import ABSENT, Path, leaves, text
from journal.payload import decode
from journal.pointing import pointed_at
from journal.record import Record
from projections.values import as_text

#: The fields in which events say why.
_REASONS = (
    *("reason", "rationale", "resolution", "note", "answer", "handoff_reason", "details"),
    *("detail", "workaround", "notes", "impact"),
)


class ReasonAnswer(Struct, frozen=True):
    """An event that made something so; `reason` is what it says itself of why, or empty."""

    version: int
    id: str
    type: str
    at: str
    occurred: str | None
    actor: str | None
    session: str | None
    cause: str | None
    words: str
    reason: str
    changes: list[LeafAnswer]


class WhyAnswer(Struct, frozen=True):
    """What made something as it is, the newest event first."""

    project: str
    #: What was meant, and where that is one leaf, what is there: null if there is nothing.
    path: str
    paths: list[str]
    value: Json
    events: list[ReasonAnswer]
    #: How many older events there are.
    left_out: int


class Made(Struct, frozen=True):
    """A record and what it changed of what somebody asks about."""

    record: Record
    changes: list[Change]


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command("why")(why)


@answers(WhyAnswer)
def why(
    path: Annotated[
        str,
        typer.Argument(
            help="What: steps.2.status, decisions.region, or an id such as D004 or F002.severity."
        ),
    ],
    at: options.At = "",
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=0, help="The newest so many; 0 for all.")
    ] = 20,
    project: options.Project = "",
    as_json: options.AsJson = False,
) -> None:
    """Say why something is as it is: who made it so, when, in which session and for what reason.

    A path is as `passdown show --json` has it; what is gone can still be asked about.

    Example: passdown why steps.2.status
    """
    with opened() as (_, journal):
        handle = chosen(journal, project)
        upto = version_at(handle, at) if at else handle.version
        state = handle.at(upto) if at else handle.state
        paths = _pointed_at(handle, state, path, upto)
        found = made(state, handle.records(upto=upto), paths)
    shown = found[-limit:] if limit else found
    answer = WhyAnswer(
        handle.slug,
        text(paths[0]),
        [text(each) for each in paths],
        _value_at(state, paths),
        [_reason(each) for each in reversed(shown)],
        len(found) - len(shown),
    )
    if as_json:
        output.document(answer)
    else:
        _tell(answer, shown)


def _pointed_at(handle: Handle, state: Project, said: str, upto: int) -> list[Path]:
    """What is meant, also where it is gone by now."""
    try:
        return pointed_at(state, said)
    except NotFound:
        gone: dict[Path, Change] = {}
        for _, touches in follow(Project(handle.slug), handle.records(upto=upto)):
            lost_now = leafwise(touch for touch in touches if touch.new is ABSENT)
            gone |= {change.path: change for change in lost_now}
        there = {path for path, _ in leaves(state)}
        lost = [change.reversed() for path, change in gone.items() if path not in there]
        if not lost:
            raise
        try:
            return pointed_at(apply(state, lost), said)
        except NotFound:
            pass
        raise


def made(state: Project, records: Iterable[Record], paths: Sequence[Path]) -> list[Made]:
    """The records that changed what is at or below the paths; `state` is the one they lead to."""
    found = []
    following = Project(state.slug)
    wanted = {path[:2] for path in paths}
    fields = {path[0] for path in paths if len(path) == 1}
    blocked = _blockable(paths)
    status = ""
    for record, touches in follow(following, records):
        near = [x for x in touches if x.path in wanted or x.path[0] in fields]
        own = [x for x in leafwise(near) if any(_within(x.path, path) for path in paths)]
        if blocked and any(touch.path[0] in ("tasks", "blockers") for touch in touches):
            task = following.tasks.get(blocked)
            now = task_status(following, task) if task else ""
            if now != status and not any(x.path == ("tasks", blocked, "status") for x in own):
                own.append(Change(("tasks", blocked, "status"), status or ABSENT, now))
            status = now
        if own:
            found.append(Made(record, [by_value(change, following) for change in own]))
    return found


def _within(path: Path, wanted: Path) -> bool:
    return path[: len(wanted)] == wanted


def _blockable(paths: Sequence[Path]) -> str:
    """The task whose status is asked for, which is blocked or not by what happens to blockers."""
    for path in paths:
        if path[0] == "tasks" and len(path) > 1 and path[2:] in ((), ("status",)):
            return path[1]
    return ""


def _value_at(state: Project, paths: Sequence[Path]) -> Json:
    """What is at the one leaf that is asked about."""
    (first, *_) = paths
    if first[0] == "keyed":
        id = state.keyed.get(first[1])
        if id is None:
            return None
        part = paths[1][2] if len(paths[1]) == 3 else "value"
        return leaf_data(("decisions", id, part), getattr(state.decisions[id], part))
    if len(first) == 3 and first == ("tasks", first[1], "status") and first[1] in state.tasks:
        return task_status(state, state.tasks[first[1]])
    return next((leaf_data(path, value) for path, value in leaves(state) if path == first), None)


def _reason(each: Made) -> ReasonAnswer:
    record = each.record
    event = decode(record.type, record.data)
    return ReasonAnswer(
        record.version,
        record.id,
        record.type,
        iso(record.at),
        None if record.occurred is None else iso(record.occurred),
        record.actor,
        record.session,
        record.cause,
        describe(event),
        reason(event),
        [leaf(change, [record.version]) for change in each.changes],
    )


def reason(event: Event) -> str:
    """What an event says itself of why it happened."""
    for field in _REASONS:
        said = getattr(event, field, "")
        if isinstance(said, str) and said:
            return said
    return ""


def _tell(answer: WhyAnswer, shown: Sequence[Made]) -> None:
    room = columns()
    value = as_text(answer.value)
    output.line(fit(f"{answer.path}{f' is {value}' if value else ''}", room))
    for told, each in zip(answer.events, reversed(shown), strict=True):
        event = decode(each.record.type, each.record.data)
        who = ", ".join(filter(None, (told.actor, told.session))) or "-"
        row = [
            *(Cell(f"v{told.version}", "dim"), Cell(told.occurred or told.at, "dim")),
            *(Cell(fit(who, 40), "cyan"), Cell(told.words, colour(event))),
        ]
        said = [told.reason] if told.reason and told.reason not in told.words else []
        for line in table([row]):
            output.line(line)
        for line in (*(f"because: {x}" for x in said), *lines(each.changes)):
            output.line(f"    {fit(line, room - 4)}")
    if not answer.events:
        output.line("nothing has set it: it is as every project begins")
    if answer.left_out:
        output.note(f"{answer.left_out} older events; -n 0 shows them all")
