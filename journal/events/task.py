"""Plans, tasks, and the blockers that stand in their way."""

from typing import ClassVar

from journal.events.event import Count, Event, Priority, Text


class PlanAdded(Event, frozen=True):
    """A plan for part of a step; its id is `<step>-<number>`."""

    type: ClassVar[str] = "plan.added"
    step: str
    name: Text
    number: Count = 0
    plan: str = ""


class PlanStarted(Event, frozen=True):
    """Work on a plan began."""

    type: ClassVar[str] = "plan.started"
    plan: str


class PlanCompleted(Event, frozen=True):
    """A plan is done."""

    type: ClassVar[str] = "plan.completed"
    plan: str
    summary: str = ""


class TaskAdded(Event, frozen=True):
    """A piece of work that one agent can do."""

    type: ClassVar[str] = "task.added"
    title: Text
    task: str = ""
    step: str = ""
    plan: str = ""
    wave: Count = 0
    priority: Priority = "P1"
    depends_on: tuple[str, ...] = ()
    description: str = ""


class TaskCounted(Event, frozen=True):
    """A step has so many tasks, so many of them done, according to a file that names none."""

    type: ClassVar[str] = "task.counted"
    step: str
    total: Count
    done: Count = 0


class TaskClaimed(Event, frozen=True):
    """An agent took a task."""

    type: ClassVar[str] = "task.claimed"
    task: str
    agent: str = ""


class TaskStarted(Event, frozen=True):
    """Work on a task began."""

    type: ClassVar[str] = "task.started"
    task: str
    agent: str = ""


class TaskCompleted(Event, frozen=True):
    """A task is done."""

    type: ClassVar[str] = "task.completed"
    task: str
    note: str = ""


class TaskBlocked(Event, frozen=True):
    """A task cannot go on because of a blocker."""

    type: ClassVar[str] = "task.blocked"
    task: str
    blocker: str = ""
    reason: str = ""


class TaskUnblocked(Event, frozen=True):
    """No blocker holds the task any more."""

    type: ClassVar[str] = "task.unblocked"
    task: str
    reason: str = ""


class TaskReset(Event, frozen=True):
    """A task went back to open, with nobody on it."""

    type: ClassVar[str] = "task.reset"
    task: str
    reason: str = ""


class BlockerRaised(Event, frozen=True):
    """A condition outside the work stands in its way."""

    type: ClassVar[str] = "blocker.raised"
    description: Text
    affects: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    blocker: str = ""
    #: A way around it that is known and not taken yet.
    workaround: str = ""


class BlockerBypassed(Event, frozen=True):
    """Work goes on around a blocker."""

    type: ClassVar[str] = "blocker.bypassed"
    blocker: str
    workaround: Text
    tasks: tuple[str, ...] = ()


class BlockerResolved(Event, frozen=True):
    """A blocker is gone."""

    type: ClassVar[str] = "blocker.resolved"
    blocker: str
    resolution: str = ""
