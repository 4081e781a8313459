"""Which sessions have stood still for too long with a task in hand, and what then happens to them.

Progress is whatever is recorded in a session but its heartbeats: a process can be alive and stuck.
"""

from collections.abc import Iterator

from msgspec import Struct

from journal import events as e
from journal.clock import Moment
from journal.entities import Project, Session, Task, is_over

#: How long a session may go without progress, in microseconds.
PATIENCE = 30 * 60 * 1_000_000

#: More tasks than this are counted in a reason, not named.
_NAMED = 5


class Stale(Struct, frozen=True):
    """An active session without progress, and the tasks that nobody else can take meanwhile."""

    session: Session
    tasks: tuple[Task, ...]
    #: When it last showed progress.
    since: Moment
    #: For how long it has not, in microseconds.
    idle: int

    @property
    def reason(self) -> str:
        """Why it counts as crashed."""
        return f"no progress for {stretch(self.idle)}"


def stale(project: Project, now: Moment, patience: int = PATIENCE) -> list[Stale]:
    """The sessions that hold a task and showed no progress for longer than that, oldest first."""
    if is_over(project):
        return []
    held: dict[str, list[Task]] = {}
    for task in project.tasks.values():
        if task.status in ("claimed", "in_progress"):
            held.setdefault(_holder(project, task), []).append(task)
    found = []
    for session in project.sessions.values():
        tasks = held.get(session.id)
        if session.status == "active" and tasks:
            since = max(session.progress, *(task.assigned or 0 for task in tasks))
            if now - since > patience:
                found.append(Stale(session, tuple(tasks), since, now - since))
    return found


def _holder(project: Project, task: Task) -> str:
    """The session in which a task was taken; where there is none or it is over, its agent's own."""
    if task.session:
        taken = project.session_names.get(task.session, task.session)
        session = project.sessions.get(taken)
        if session is None or session.status == "active":
            return taken
    own = [
        session
        for session in project.sessions.values()
        if session.status == "active" and session.agent == task.agent
    ]
    return max(own, key=lambda session: session.progress).id if own else ""


def crash(one: Stale) -> Iterator[e.Event]:
    """What is recorded about a stale session: that it crashed, and that its tasks are open."""
    yield e.SessionCrashed(one.session.id, f"{one.reason}, {_named(one.tasks)} reset")
    for task in one.tasks:
        yield e.TaskReset(task.id, f"{one.session.id} crashed, {one.reason}")


def _named(tasks: tuple[Task, ...]) -> str:
    if len(tasks) > _NAMED:
        return f"{len(tasks)} tasks"
    return ", ".join(task.id for task in tasks)


def stretch(microseconds: int) -> str:
    """A stretch of time in words, in the largest unit of which there are at least two."""
    seconds = microseconds // 1_000_000
    for unit, size in (("day", 86_400), ("hour", 3600), ("minute", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}s"
    return f"{seconds} second{'' if seconds == 1 else 's'}"
