"""The live part of a state: what a brief may show and what sessions are decided by, no more.

Of a long history almost everything is settled: resolved, superseded, done. Whoever only has to say
how to go on, and that a session began, need not load that. The live part is cached beside the state
where that is large, and holds as long as only sessions came and went since.
"""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import TypeVar

from journal import cache
from journal import events as e
from journal.entities import Project, last_files, last_snapshot
from journal.handle import Handle

#: So many of the newest of a kind are kept; of more than that a hook shows only the count.
KEPT = 100
#: So many of the files that a session left are held against what is there.
LEFT = 50
#: So many of the newest signals between agents are told.
SIGNALS = 5
#: A state with fewer things than this is loaded as quickly whole.
LARGE = 2000

#: What leaves the live part as live as it was.
_QUIET = frozenset(
    event.type
    for event in (
        e.SessionStarted,
        e.SessionResumed,
        e.SessionHeartbeat,
        e.SessionNoted,
        e.SessionEnded,
        e.SessionCrashed,
        e.BriefShown,
    )
)

T = TypeVar("T")


def live(project: Project, kept: int = KEPT) -> Project:
    """The live part of a state; what it leaves out of a topic of the brief, it counts."""
    part = Project(project.slug)
    for name in _WHOLE:
        value = getattr(project, name)
        setattr(part, name, value.copy() if isinstance(value, dict | list) else value)
    part.findings = _newest(
        part, "findings", project.findings, kept, lambda x: not x.resolved and _must(x.severity)
    )
    part.open_findings = {finding.title: finding.id for finding in part.findings.values()}
    part.blockers = _newest(
        part, "blockers", project.blockers, kept, lambda x: x.status == "active"
    )
    part.questions = _newest(
        part, "questions", project.questions, kept, lambda x: x.status == "open"
    )
    part.errors = _newest(part, "errors", project.errors, kept, lambda x: x.resolved is None)
    failed = (project.errors.get(step.error) for step in project.steps.values())
    part.errors.update({error.id: error for error in failed if error and error.resolved})
    part.plans = project.plans.copy()
    part.tasks = {
        id: task
        for id, task in project.tasks.items()
        if task.status != "done" or (task.step in project.steps and project.steps[task.step].tasks)
    }
    _keep_peers(part, project, kept)
    _keep_files(part, project)
    _keep_decisions(part, project, kept)
    _keep_sessions(part, project, kept)
    older, newest = project.context[:-kept], project.context[-kept:]
    part.context = [note for note in older if note.contains][-kept:] + newest
    _count(part, "context", len(project.context) - len(part.context))
    return part


#: The fields that are taken as they are.
_WHOLE = (
    *("version", "hash", "content_version", "content_hash", "updated", "opening", "title"),
    *("workflow", "native", "policy", "branch", "opened", "archived", "current", "actors"),
    *("steps", "session_names", "next_actions", "hooks", "at_work"),
    *("aborted", "moves", "execution", "batch", "documents", "homes"),
    *("coordination", "revision", "phase", "phase_step", "turns", "numbers"),
)


def _must(severity: str) -> bool:
    return severity == "must_fix"


def _newest(
    part: Project, topic: str, things: dict[str, T], kept: int, holds: Callable[[T], bool]
) -> dict[str, T]:
    """The newest that hold, in their order."""
    found = [(id, thing) for id, thing in things.items() if holds(thing)]
    _count(part, topic, len(found) - kept)
    return dict(found[-kept:])


def _count(part: Project, topic: str, left_out: int) -> None:
    if left_out > 0:
        part.beyond[topic] = part.beyond.get(topic, 0) + left_out


def _keep_peers(part: Project, project: Project, kept: int) -> None:
    """Of what agents leave each other whatever is still open, and the last snapshot of each."""
    part.messages = _newest(part, "mail", project.messages, kept, lambda x: x.status != "closed")
    part.commitments = _newest(
        part, "commitments", project.commitments, kept, lambda x: x.status == "open"
    )
    part.escalations = _newest(
        part, "escalations", project.escalations, kept, lambda x: x.answered is None
    )
    part.leases = {id: each for id, each in project.leases.items() if each.status == "held"}
    part.leased = project.leased.copy()
    part.signals = dict(list(project.signals.items())[-SIGNALS:])
    agents = dict.fromkeys(each.agent for each in project.snapshots.values())
    last = (last_snapshot(project, agent) for agent in agents)
    part.snapshots = {each.token: each for each in last if each}


def _keep_decisions(part: Project, project: Project, kept: int) -> None:
    """The newest values that hold, those that steps depend on, and the newest of the log."""
    asked = {when.decision for step in project.steps.values() for when in step.agent_when}
    keys = [*islice(reversed(project.keyed), kept)]
    keys += [key for key in project.keyed if key in asked and key not in set(keys)]
    part.keyed = {key: id for key, id in project.keyed.items() if key in set(keys)}
    logged = [
        id
        for id, decision in project.decisions.items()
        if not decision.key and decision.superseded_by is None
    ]
    held = {*part.keyed.values(), *logged[-kept:]}
    part.decisions = {id: made for id, made in project.decisions.items() if id in held}
    _count(part, "decisions", len(project.keyed) + len(logged) - len(held))


def _keep_files(part: Project, project: Project) -> None:
    """What the latest session changed and what was changed last: a new session may ask for both.

    Of an orchestration, which asks for all of them, the newest are kept, and the rest counted.
    """
    last = max(project.files.values(), key=lambda file: file.at, default=None)
    sessions = {file.session for file in last_files(project)} | ({last.session} if last else set())
    newest = sorted(project.files.values(), key=lambda file: file.at)
    for session in sessions:
        left = [file for file in newest if file.session == session][-LEFT:]
        part.files.update((file.path, file) for file in left)
    if project.execution is not None:
        part.files.update((file.path, file) for file in newest[-LEFT:])
        _count(part, "files", len(project.files) - len(part.files))
        begun = {s.key for s in project.steps.values() if s.status in ("in_progress", "failed")}
        touched = [(key, file) for key, file in project.manifest.items() if file.step in begun]
        part.manifest = dict(sorted(touched, key=lambda item: item[1].at)[-LEFT:])
        _count(part, "manifest", len(touched) - LEFT)


def _keep_sessions(part: Project, project: Project, kept: int) -> None:
    """The newest sessions, and all that are not over."""
    newest = set(islice(reversed(project.sessions), kept))
    part.sessions = {
        id: session
        for id, session in project.sessions.items()
        if id in newest or session.status == "active"
    }
    _count(part, "history", len(project.sessions) - len(part.sessions))


def is_large(project: Project) -> bool:
    """Whether loading the whole state takes so long that its live part is worth a file."""
    things: Iterable[object] = (getattr(project, name) for name in project.__struct_fields__)
    return sum(len(each) for each in things if isinstance(each, dict | list)) > LARGE


class LiveHandle(Handle):
    """A handle that knows only the live part of its project, and records only about sessions."""

    def _current(self) -> Project:
        state = self._state
        if state is None or not self._goes_on(state):
            state = self._state = self._load()
        return state

    def _load(self) -> Project:
        part = cache.read(self.cached, self.slug, "live")
        if part is not None and self._goes_on(part):
            return part
        whole = super()._load()
        super()._keep(whole)
        part = live(whole)
        if is_large(whole):
            self.keep(part, "live", part)
        return part

    def _goes_on(self, part: Project) -> bool:
        """Bring a live part up to date, if nothing but sessions came after it."""
        tail = self._store.read(self.slug, part.version)
        return all(record.type in _QUIET for record in tail) and self._follow(part)

    def _keep(self, state: Project) -> None:
        """Nothing: what is worth a file was written when it was loaded."""
