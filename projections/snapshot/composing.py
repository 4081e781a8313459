"""A snapshot out of a state: what a journal knows, and the words that only the agent has."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from journal import events as e
from journal.entities import (
    Decision,
    File,
    Project,
    Session,
    last_session,
    last_snapshot,
    task_status,
)
from journal.mail import to_acknowledge, unanswered, unread
from journal.peers import Message, Snapshot
from projections.peers import ActiveTask, Standing, active_task, task_of
from projections.position import chosen
from projections.snapshot.parts import Changed, Cited, Parts, ToRead
from projections.snapshot.writing import body
from projections.values import as_text

#: So many files are listed to be read, the ones that were touched last.
_FILES = 20


class Words(Struct, frozen=True):
    """What the agent says itself; what it leaves empty is found in the state."""

    why: str = ""
    next_action: str = ""
    status: Standing | None = None
    #: Files to read, in their order, each with why.
    reading: tuple[tuple[str, str], ...] = ()


class Size(Struct, frozen=True):
    """How long a file of the workspace is."""

    lines: int | None
    tokens: int


#: How long the files are that are there.
Sizes: TypeAlias = Mapping[str, Size]
NO_WORDS = Words()


def compose(
    project: Project,
    session: Session,
    sizes: Sizes,
    words: Words = NO_WORDS,
    close_reason: e.CloseReason = "completed",
) -> e.SnapshotTaken:
    """The snapshot of a session as the state has it; `sizes` is of the files of `to_measure`."""
    parts = composed(project, session, sizes, words)
    at = filter(None, (project.phase, project.phase_step))
    return e.SnapshotTaken(
        body(parts),
        session.agent,
        session.id,
        close_reason=close_reason,
        status=parts.status or "complete",
        task=parts.task or parts.title,
        next_action=parts.next_action,
        branch=project.branch,
        phase=" / ".join(at),
        unread=len(parts.unread),
    )


def composed(project: Project, session: Session, sizes: Sizes, words: Words = NO_WORDS) -> Parts:
    """The parts of a snapshot as the state has them."""
    task = _task(project, session, words)
    files = _files(project, session)
    gone = [file for file in files if file.change == "deleted"]
    there = [file for file in files if file.change != "deleted"]
    return Parts(
        status=task.status,
        task=task.id,
        title=task.title,
        next_action=task.next_action,
        unread=_mail(unread(project, session.agent), "from"),
        to_acknowledge=_mail(_read(project, session.agent), "from"),
        unanswered=_mail(unanswered(project, session.agent), "to"),
        commitments=tuple(_commitments(project, session.agent)),
        modified=tuple(Changed(file.path, file.change, file.description) for file in there),
        deleted=tuple(Changed(file.path, "", file.description) for file in gone),
        reading=tuple(_reading(project, session, sizes, words.reading)),
        decisions=tuple(_decisions(project, session)),
        why=words.why,
        questions=tuple(_questions(project, session)),
    )


def left_open(project: Project, agent: str) -> Session | None:
    """The session of an agent that no snapshot closed, if that is its last one.

    One that went on after its snapshot, and has not ended since, was not closed by that.
    """
    session, last = last_session(project, agent), last_snapshot(project, agent)
    if session is None or last is None or last.session != session.id:
        return session
    went_on = session.status != "ended" and _went_on(project, session, last)
    return session if went_on else None


def _went_on(project: Project, session: Session, last: Snapshot) -> bool:
    """Whether something that a snapshot of the session would tell is later than the last one."""
    agent = session.agent
    if project.next_actions.get(agent, "") not in ("", last.next_action):
        return True
    done = (
        (x.at for x in project.files.values() if _is_of(session, x.agent, x.session, x.at)),
        (x.at for x in project.decisions.values() if _is_of(session, x.agent, x.session, x.at)),
        (
            max(x.assigned or 0, x.completed or 0)
            for x in project.tasks.values()
            if x.agent == agent
        ),
        (x.made for x in project.commitments.values() if x.agent == agent),
        # Whoever hands its work over has closed it.
        (x.posted for x in project.messages.values() if x.sender == agent and not x.snapshot),
    )
    return any(at > last.at for each in done for at in each)


def _task(project: Project, session: Session, words: Words) -> ActiveTask:
    """What the agent is at; of one that has nothing left the task that it did last."""
    at = _held(project, session) or _done(project, session)
    return ActiveTask(
        at.id, at.title, words.status or at.status, words.next_action or at.next_action
    )


def _held(project: Project, session: Session) -> ActiveTask | None:
    """What the session has in hand; of one that is over also what was taken from its agent."""
    if session.status == "active":
        return active_task(project, session.agent)
    lost = [task for task in project.tasks.values() if task.taken_from == session.agent]
    task = task_of(project, session.agent)
    task = task or max(lost, key=lambda task: task.interrupted or 0, default=None)
    if task is None:
        return None
    status: Standing = "blocked" if task_status(project, task) == "blocked" else "partial"
    next_action = project.next_actions.get(session.agent, "")
    return ActiveTask(task.id, task.title, status, next_action)


def _done(project: Project, session: Session) -> ActiveTask:
    own = [
        task
        for task in project.tasks.values()
        if task.agent == session.agent and (task.completed or 0) >= session.started
    ]
    last = max(own, key=lambda task: task.completed or 0, default=None)
    next_action = project.next_actions.get(session.agent, "")
    status: Standing = "partial" if next_action else "complete"
    return ActiveTask(last.id if last else "", last.title if last else "", status, next_action)


def _mail(found: Sequence[Message], side: str) -> tuple[Cited, ...]:
    return tuple(
        Cited(
            x.id,
            f"{side} {x.sender if side == 'from' else x.to} ({x.priority}, {x.kind}): {x.subject}",
        )
        for x in found
    )


def _read(project: Project, agent: str) -> list[Message]:
    """What waits for the agent to act, and is not unread any more."""
    return [x for x in to_acknowledge(project, agent) if x.status != "unread"]


def _commitments(project: Project, agent: str) -> Iterator[Cited]:
    for promise in project.commitments.values():
        if promise.agent == agent and promise.status == "open":
            due = f", due {promise.due}" if promise.due not in ("", "none") else ""
            yield Cited(promise.id, f"to {promise.to or 'all'}{due}: {promise.text}")


def _is_of(session: Session, agent: str, named: str | None, at: int) -> bool:
    """Whether something was done in a session; without a name by its agent, while it went on."""
    if named is not None:
        return named == session.id
    return agent == session.agent and session.started <= at <= (session.ended or at)


def _files(project: Project, session: Session) -> list[File]:
    """The files of the session, the one that was changed last first."""
    own = [x for x in project.files.values() if _is_of(session, x.agent, x.session, x.at)]
    return sorted(own, key=lambda file: file.at, reverse=True)


def to_measure(project: Project, session: Session, words: Words = NO_WORDS) -> dict[str, str]:
    """The files that whoever goes on may want to read, each with why, the most relevant first.

    Those that the agent names come before what its notes are about, and that before what it
    changed.
    """
    wanted: dict[str, str] = {}
    for path, why in words.reading:
        wanted.setdefault(path, why)
    for note in reversed(project.context):
        if note.file and note.session == session.id:
            wanted.setdefault(note.file, note.text)
    for file in _files(project, session):
        if file.change != "deleted":
            wanted.setdefault(file.path, file.description)
    return wanted


def _reading(
    project: Project, session: Session, sizes: Sizes, named: Sequence[tuple[str, str]]
) -> Iterator[ToRead]:
    """The files that are there, with what they cost; whatever the agent names is listed."""
    asked = {path for path, _ in named}
    wanted = to_measure(project, session, Words(reading=tuple(named)))
    there = [path for path in wanted if path in sizes or path in asked]
    for path in there[: max(_FILES, len(asked))]:
        size = sizes.get(path)
        lines, tokens = (size.lines, size.tokens) if size else (None, None)
        yield ToRead(path, lines, tokens, wanted[path])


def _decisions(project: Project, session: Session) -> Iterator[Cited]:
    """What was decided in the session and holds, each with why."""
    for made in project.decisions.values():
        own = _is_of(session, made.agent, made.session, made.at)
        if own and made.superseded_by is None:
            yield Cited(made.id, _decided(made))


def _decided(made: Decision) -> str:
    said = f"{made.key} = {as_text(made.value)}" if made.key else made.title
    choice = "" if made.key else chosen(made)
    what = ": ".join(filter(None, (said, choice)))
    against = f"instead of {', '.join(made.alternatives)}" if made.alternatives else ""
    impact = f"impact: {made.impact}" if made.impact else ""
    return "; ".join(filter(None, (what, made.rationale, against, impact)))


def _questions(project: Project, session: Session) -> Iterator[Cited]:
    for question in project.questions.values():
        own = [x for x in question.touches if _is_of(session, x.by, x.session, x.at)]
        if own:
            answer = f" — {question.resolution}" if question.resolution else ""
            yield Cited(question.id, f"({own[-1].what}) {question.text}{answer}")
