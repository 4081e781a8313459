"""A project and who acts in it: opened, archived, retitled, moved, recovered."""

from typing import ClassVar, Literal

from msgspec import Struct

from journal.events.event import Event, Name, Role, Text
from journal.events.step import Policy, StepPlan


class ProjectOpened(Event, frozen=True):
    """A project began; replay needs nothing beyond what this carries."""

    type: ClassVar[str] = "project.opened"
    title: Text
    workflow: str
    steps: tuple[StepPlan, ...]
    policy: Policy = Policy()
    native: str = ""
    branch: str = ""


class ProjectArchived(Event, frozen=True):
    """The project was closed; nothing but reopening is recorded after it."""

    type: ClassVar[str] = "project.archived"
    reason: str = ""


class ProjectReopened(Event, frozen=True):
    """An archived project goes on."""

    type: ClassVar[str] = "project.reopened"
    reason: str = ""


class ProjectRetitled(Event, frozen=True):
    """The project has another title; its slug never changes."""

    type: ClassVar[str] = "project.retitled"
    title: Text


class BranchSwitched(Event, frozen=True):
    """Work goes on on another branch."""

    type: ClassVar[str] = "project.branch_switched"
    branch: str


class GatePassed(Event, frozen=True):
    """A gate between steps was passed."""

    type: ClassVar[str] = "project.gate_passed"
    gate: Text
    step: str = ""
    note: str = ""


class RecoveredFile(Struct, frozen=True):
    """One file that recovery brought back, and what it had been."""

    path: str
    was: Literal["missing", "corrupt", "stale", "drifted"]
    kept: str = ""


class ProjectRecovered(Event, frozen=True):
    """Files, or the journal itself, were restored."""

    type: ClassVar[str] = "project.recovered"
    bookkeeping: ClassVar[bool] = True
    what: Literal["files", "journal"]
    files: tuple[RecoveredFile, ...] = ()
    note: str = ""


class ActorRegistered(Event, frozen=True):
    """An actor and its role are known; one that never registered is an agent."""

    type: ClassVar[str] = "actor.registered"
    actor: Name
    role: Role
    title: str = ""


class ActorStatusChanged(Event, frozen=True):
    """An actor is idle, active, blocked or offline."""

    type: ClassVar[str] = "actor.status_changed"
    actor: Name
    status: Literal["idle", "active", "blocked", "offline"]
    note: str = ""


class DriftReverted(Event, frozen=True):
    """A projection that was edited by hand was put back to what the journal says."""

    type: ClassVar[str] = "projection.drift_reverted"
    bookkeeping: ClassVar[bool] = True
    path: str
    kept: str = ""
