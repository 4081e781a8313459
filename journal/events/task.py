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
    coordinates: ClassVar[bool] = True
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
    coordinates: ClassVar[bool] = True
    task: str
    agent: str = ""


class TaskStarted(Event, frozen=True):
    """Work on a task began."""

    type: ClassVar[str] = "task.started"
    coordinates: ClassVar[bool] = True
    task: str
    agent: str = ""


class TaskCompleted(Event, frozen=True):
    """A task is done."""

    type: ClassVar[str] = "task.completed"
    coordinates: ClassVar[bool] = True
    task: str
    note: str = ""


class TaskBlocked(Event, frozen=True):
    """A task cannot go on because of a blocker."""

    type: ClassVar[str] = "task.blocked"
    coordinates: ClassVar[bool] = True
    task: str
    blocker: str = ""
    reason: str = ""


class TaskUnblocked(Event, frozen=True):
    """No blocker holds the task any more."""

    type: ClassVar[str] = "task.unblocked"
    coordinates: ClassVar[bool] = True
    task: str
    reason: str = ""


class TaskReset(Event, frozen=True):
    """A task went back to open, with nobody on it."""

    type: ClassVar[str] = "task.reset"
    coordinates: ClassVar[bool] = True
    task: str
    reason: str = ""


class BlockerRaised(Event, frozen=True):
    """A condition outside the work stands in its way."""

    type: ClassVar[str] = "blocker.raised"
    coordinates: ClassVar[bool] = True
    description: Text
    affects: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    blocker: str = ""
    #: A way around it that is known and not taken yet.
    workaround: str = ""


class BlockerBypassed(Event, frozen=True):
    """Work goes on around a blocker."""

    type: ClassVar[str] = "blocker.bypassed"
    coordinates: ClassVar[bool] = True
    blocker: str
    workaround: Text
    tasks: tuple[str, ...] = ()


class BlockerResolved(Event, frozen=True):
    """A blocker is gone."""

    type: ClassVar[str] = "blocker.resolved"
    coordinates: ClassVar[bool] = True
    blocker: str
    resolution: str = ""
