"""A project on one screen: what is wrong, its steps, who is at work, and what happened last."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from msgspec import Struct

from cli.alarms import Alarm
from cli.describe import colour, describe
from cli.screen import Cell, bar, cells, columns, fit, paint, table
from cli.sharing import sections
from cli.show import SIGNS
from journal.clock import iso
from journal.entities import Project, Session
from journal.payload import decode
from journal.record import Record
from journal.state import step_agent
from journal.supervision import stretch
from projections.position import ahead, is_done, next_action, outlook
from projections.protocol import together, unit

#: From here on there is room for two columns.
_WIDE = 110
#: So many alarms, steps and agents are shown at the most.
_ALARMS, _STEPS, _AGENTS = 6, 12, 6
#: So few steps and events are shown at the least, where the screen is that high.
_FEW_STEPS, _FEW_EVENTS = 3, 5
#: A part has an empty line and a title above it.
_TITLE = 2
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class Sight(Struct, frozen=True):
    """What one look at a project saw."""

    project: Project
    newest: Sequence[Record]
    alarms: Sequence[Alarm]
    now: int


def board(sight: Sight, height: int = 0) -> list[str]:
    """The lines of the screen; with a height no more than that, and the events fill it."""
    unreadable = any(alarm.kind == "journal" for alarm in sight.alarms)
    if unreadable and not sight.project.version:  # how it stands is not known
        lines = [paint(sight.project.slug, "bold"), *_alarms(sight.alarms)]
        return lines[:height] if height else lines
    lines = [*_head(sight), *_alarms(sight.alarms)]
    room = columns()
    left = height - len(lines) - 2 * _TITLE - _FEW_EVENTS if height else _STEPS
    if room >= _WIDE:
        half = (room - 3) // 2
        steps = [*_steps(sight, half, left), *_shared(sight, half, left)]
        agents = list(_agents(sight, room - half - 3 if steps else room))
        lines += beside(steps, agents, half) if steps else agents
    else:
        agents = list(_agents(sight, room))
        most = left - len(agents)
        lines += [*_steps(sight, room, most), *_shared(sight, room, most), *agents]
    left = max(height - len(lines) - _TITLE, 1) if height else len(sight.newest)
    lines += _events(sight.newest[-left:] if left else ())
    return lines[:height] if height else lines


def beside(left: Iterable[str], right: Iterable[str], wide: int) -> Iterator[str]:
    """Two columns of lines, the left one so wide."""
    for one, other in zip_longest(left, right, fillvalue=""):
        space = " " * (wide - cells(_COLOUR.sub("", one)))
        yield f"{one}{space} │ {other}".rstrip() if one or other else ""


def _head(sight: Sight) -> Iterator[str]:
    project, room = sight.project, columns()
    about = fit(
        f"{project.slug}, version {project.version:,}, {_ago(sight, project.updated)}", room
    )
    title = fit(project.title or project.slug, max(room - cells(about) - 2, 20))
    gap = room - cells(title) - cells(about)
    yield f"{paint(title, 'bold')}{' ' * gap}{about}" if gap > 1 else paint(title, "bold")
    if gap <= 1:
        yield about
    yield fit(f"Next: {next_action(project) or _outlook(project)}", room)


def _outlook(project: Project) -> str:
    if project.coordination is not None and not project.steps:
        return together(project).say
    return outlook(project, unit(project).capitalize())


def _ago(sight: Sight, moment: int) -> str:
    return f"{stretch(max(sight.now - moment, 0))} ago"


def _title(text: str, count: int, room: int, colour: str = "bold") -> str:
    return paint(fit(f"{text} ({count:,})" if count else text, room), colour)


def _alarms(found: Sequence[Alarm]) -> Iterator[str]:
    yield ""
    if not found:
        yield paint("No alarms", "green")
        return
    yield _title("Alarms", len(found), columns(), "red")
    rows = [[Cell(x.kind, "red"), Cell(x.about, "cyan"), Cell(x.text)] for x in found[:_ALARMS]]
    yield from table(rows, indent=2)
    if len(found) > _ALARMS:
        yield f"  … {len(found) - _ALARMS} more: passdown show"


def _steps(sight: Sight, room: int, most: int) -> Iterator[str]:
    """The steps around the one to work on, at most so many of them."""
    project = sight.project
    steps = list(project.steps.values())
    if not steps:
        return
    done = sum(map(is_done, steps))
    yield ""
    name = f"{unit(project).capitalize()}s"
    yield paint(fit(f"{name}  {bar(done, len(steps))}  {done} of {len(steps)}", room), "bold")
    at = ahead(project)
    middle = steps.index(at) if at in steps else len(steps)
    most = min(max(most, _FEW_STEPS), _STEPS)
    first = max(min(middle - most // 2, len(steps) - most), 0)
    rows = []
    for step in steps[first : first + most]:
        sign = SIGNS[step.status]
        agent = Cell(step_agent(project, step), "dim")
        status = Cell(step.sub_step or step.status, sign.colour)
        rows.append([sign, Cell(step.key), Cell(step.name), status, agent])
    yield from table(rows, right=(1,), indent=2, room=room)


def _shared(sight: Sight, room: int, most: int) -> Iterator[str]:
    """What agents that share a workspace without steps wait for."""
    project = sight.project
    if project.coordination is None or project.steps:
        return
    waiting = [
        (title, *item)
        for title, items in sections(project)
        if title in ("Mail", "Turns", "Commitments")
        for item in items
    ]
    if not waiting:
        return
    yield ""
    yield _title("Waiting", len(waiting), room)
    shown = waiting[: max(most, _FEW_STEPS)]
    rows = [[Cell(kind.lower(), "dim"), Cell(id, "cyan"), Cell(text)] for kind, id, text in shown]
    yield from table(rows, indent=2, room=room)


def _agents(sight: Sight, room: int) -> Iterator[str]:
    active = [x for x in sight.project.sessions.values() if x.status == "active"]
    active.sort(key=lambda session: _seen(session), reverse=True)
    yield ""
    yield _title("At work" if active else "Nobody is at work", len(active), room)
    rows = [
        [
            Cell(session.agent or "unnamed", "cyan"),
            Cell(session.id),
            Cell(f"{_ago(sight, _seen(session))}", "dim"),
            Cell(_task(sight.project, session)),
        ]
        for session in active[:_AGENTS]
    ]
    yield from table(rows, indent=2, room=room)
    if len(active) > _AGENTS:
        yield f"  … {len(active) - _AGENTS} more"


def _seen(session: Session) -> int:
    """When an agent was last heard of."""
    return max(session.started, session.progress, session.heartbeat or 0)


def _task(project: Project, session: Session) -> str:
    """What an agent has in hand."""
    own = (
        task
        for task in project.tasks.values()
        if task.status in ("claimed", "in_progress") and task.agent == session.agent
    )
    return next((f"{task.id} {task.title}" for task in own), "")


def _events(newest: Sequence[Record]) -> Iterator[str]:
    if not newest:
        return
    yield ""
    yield paint("Newest", "bold")
    rows = []
    for record in newest:
        event = decode(record.type, record.data)
        rows.append(
            [
                Cell(str(record.version), "dim"),
                Cell(iso(record.time)[11:19], "dim"),
                Cell(fit(record.actor or "-", 20), "cyan"),
                Cell(describe(event), colour(event)),
            ]
        )
    yield from table(rows, right=(0,), indent=2)
