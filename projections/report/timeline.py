"""When steps were at work, agents had their sessions, and blockers stood in the way."""

from collections.abc import Iterator
from typing import NamedTuple

from journal.changes import Change
from journal.entities import Blocker, Project, Session, Step, step_agent
from journal.record import Record
from projections.report.shape import Lane, Span, Tone, Use
from projections.report.texts import Texts
from projections.report.times import milliseconds

#: How each status of a step, a session and a blocker looks.
TONES: dict[str, Tone] = {
    **{"complete": "good", "in_progress": "busy", "failed": "bad", "skipped": "quiet"},
    **{"pending": "", "ended": "good", "crashed": "bad"},
    **{"active": "busy", "bypassed": "warn", "resolved": "good"},
}
#: So many points say how a sum grew.
_POINTS = 240


class _Sum(NamedTuple):
    """What an agent had used in all after a record."""

    version: int
    at: int
    total: int


class Timeline:
    """Notes what only the way to a state can tell: every attempt at a step, how every sum grew."""

    def __init__(self) -> None:
        self._begun: dict[str, int] = {}
        self._attempts: dict[str, list[Span]] = {}
        self._growth: dict[str, list[_Sum]] = {}

    def note(self, project: Project, record: Record, changes: list[Change]) -> None:
        """Note what one record did."""
        for change in changes:
            match change.path:
                case ("steps", key, "status"):
                    self._step(project.steps[key], str(change.new), record.time)
                case ("tokens", agent, _):
                    used = project.tokens[agent]
                    total = used.input + used.output + used.cached
                    growth = self._growth.setdefault(agent, [])
                    if growth and growth[-1].version == record.version:
                        growth.pop()
                    growth.append(_Sum(record.version, milliseconds(record.time), total))

    def _step(self, step: Step, status: str, now: int) -> None:
        begun = self._begun.pop(step.key, None)
        if status == "in_progress":
            again = step.key in self._attempts  # its own time is that of the first attempt
            self._begun[step.key] = now if again or step.started is None else step.started
        elif begun is None and step.started is not None and step.completed is not None:
            begun = step.started  # a file told of it when it was over
        if begun is not None:
            over = step.completed if status == "complete" and step.completed else now
            span = _span(begun, over, TONES.get(status, ""), status.replace("_", " "))
            self._attempts.setdefault(step.key, []).append(span)

    def lanes(self, project: Project, texts: Texts) -> Iterator[Lane]:
        """The lines of the timeline, in the order of the page."""
        for step in project.steps.values():
            spans = self._attempts.get(step.key, [])
            if step.key in self._begun:
                spans = [*spans, _span(self._begun[step.key], None, "busy", "in progress")]
            tone, title = TONES[step.status], texts.put(step.name)
            about = step_agent(project, step)
            yield Lane("step", step.key, title, about, step.status, tone, tuple(spans))
        by_agent: dict[str, list[Session]] = {}
        for session in project.sessions.values():
            by_agent.setdefault(session.agent, []).append(session)
        for agent, sessions in by_agent.items():
            many = f"{len(sessions):,} session{'' if len(sessions) == 1 else 's'}"
            status = "active" if any(x.status == "active" for x in sessions) else "ended"
            spans = [_span(x.started, x.ended, TONES[x.status], _said(x)) for x in sessions]
            tone = TONES[status]
            title = texts.put(agent or "unnamed")
            yield Lane("agent", agent, title, many, status, tone, tuple(spans))
        for blocker in project.blockers.values():
            tone = _tone(blocker)
            span = _span(blocker.raised, blocker.resolved, tone, blocker.status)
            title = texts.put(blocker.description)
            yield Lane("blocker", blocker.id, title, "", blocker.status, tone, (span,))

    def uses(self, project: Project) -> Iterator[Use]:
        """What each agent used, the most first."""
        sums = project.tokens.items()
        for agent, used in sorted(sums, key=lambda x: -(x[1].input + x[1].output + x[1].cached)):
            growth = self._growth.get(agent, [])
            every = max(-(-len(growth) // _POINTS), 1)
            kept = [*growth[every - 1 : -1 : every], *growth[-1:]]
            points = tuple(number for each in kept for number in (each.at, each.total))
            yield Use(agent, used.input, used.output, used.cached, points)


def _said(session: Session) -> str:
    return f"{session.id} {session.name}".strip()


def _tone(blocker: Blocker) -> Tone:
    return "bad" if blocker.status == "active" else TONES[blocker.status]


def _span(begin: int, end: int | None, tone: Tone, name: str) -> Span:
    over = None if end is None else milliseconds(max(begin, end))
    return Span(milliseconds(begin), over, tone, name)
