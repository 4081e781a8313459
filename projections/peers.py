"""What an agent of a shared workspace is at, as every file there says it."""

from typing import Literal, TypeAlias

from msgspec import Struct

from journal.entities import Project, Task, last_session, last_snapshot, task_status

Standing: TypeAlias = Literal["complete", "partial", "blocked"]


class ActiveTask(Struct, frozen=True):
    """The task that an agent is at, or was when it closed its last session, and what comes next."""

    #: Empty where it is no task of the project.
    id: str
    title: str
    status: Standing
    next_action: str = ""

    @property
    def named(self) -> str:
        """The task as one stretch of text: its id and title."""
        return " ".join(filter(None, (self.id, self.title)))


def active_task(project: Project, agent: str) -> ActiveTask | None:
    """What an agent is at; None if it is at nothing.

    Of an agent whose session is closed its snapshot says it, until somebody has done that task.
    """
    last = last_snapshot(project, agent)
    session = last_session(project, agent)
    open_ = any(x.agent == agent and x.status == "active" for x in project.sessions.values())
    if last is not None and not open_ and (session is None or session.id == last.session):
        known = project.tasks.get(last.task)
        if known is not None and known.status == "done" and last.status != "complete":
            return None
        title = known.title if known else last.task
        id = known.id if known else ""
        return ActiveTask(id, title, last.status, last.next_action) if title else None
    next_action = project.next_actions.get(agent, "")
    task = task_of(project, agent)
    if task is None:
        return ActiveTask("", next_action, "partial", next_action) if next_action else None
    status: Standing = "blocked" if task_status(project, task) == "blocked" else "partial"
    return ActiveTask(task.id, task.title, status, next_action)


def task_of(project: Project, agent: str) -> Task | None:
    """The task that an agent has begun last, else the one that it has claimed last."""
    own = [task for task in project.tasks.values() if task.agent == agent]
    begun = [task for task in own if task.status == "in_progress"]
    held = begun or [task for task in own if task.status == "claimed"]
    return max(held, key=lambda task: task.assigned or task.created, default=None)
