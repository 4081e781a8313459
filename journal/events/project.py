"""A project and who acts in it: opened, aborted, archived, retitled, moved, recovered."""

from typing import ClassVar, Literal

from msgspec import Struct, field

from journal.events.coordination import Coordination
from journal.events.event import ActorStatus, Count, Event, Json, Name, Role, Text
from journal.events.step import Policy, StepPlan


class Execution(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """How an orchestration goes about its steps; empty is what its host does by default."""

    mode: str = ""
    backend: str = ""
    workflow: str = ""
    complexity: str = ""


class ProjectOpened(Event, frozen=True):
    """A project began; replay needs nothing beyond what this carries."""

    type: ClassVar[str] = "project.opened"
    title: Text
    workflow: str
    steps: tuple[StepPlan, ...]
    policy: Policy = Policy()
    native: str = ""
    branch: str = ""
    #: Only an orchestration has one.
    execution: Execution | None = None
    #: Only a workspace that several agents share has one.
    coordination: Coordination | None = None


class ProjectAdopted(Event, frozen=True):
    """What a file said was taken over; `current` is the step that the file was at."""

    type: ClassVar[str] = "project.adopted"
    source: Text
    digest: str
    format: str = ""
    current: str = ""
    note: str = ""
    #: The dialect that the file is of.
    projection: str = ""
    #: The revision of coordination that the file is at: ours never falls behind it.
    revision: Count = 0
    #: The content version that the file was rendered from, where it says so.
    base: int = 0
    #: By agent, the counts of input, output and cached tokens that it has otherwise than that; of
    #: nobody, those of all.
    tokens: dict[str, tuple[int, int, int]] = field(default_factory=dict)


class Leftover(Struct, frozen=True, omit_defaults=True):
    """A file's own words at a place in it: they stand for what is rendered there otherwise.

    `own` is the digest of what was rendered there, empty if nothing was; `file` has the one value
    of the file, or none if it had nothing there.
    """

    path: tuple[str, ...]
    own: str = ""
    file: tuple[Json, ...] = ()


class Original(Struct, frozen=True, omit_defaults=True):
    """A value of an adopted file that has no place in a valid one."""

    path: tuple[str, ...]
    value: Json = None


class LeftoversKept(Event, frozen=True):
    """What an adopted file says and the model has no place for is kept, and comes out again."""

    type: ClassVar[str] = "project.leftovers_kept"
    projection: str
    leftovers: tuple[Leftover, ...] = ()
    originals: tuple[Original, ...] = ()


class Move(Struct, frozen=True):
    """A file that has one place while a project is open, and another once it is archived."""

    active: str
    archived: str


class ProjectArchived(Event, frozen=True):
    """The project was closed; nothing but reopening is recorded after it."""

    type: ClassVar[str] = "project.archived"
    reason: str = ""
    moves: tuple[Move, ...] = ()


class ProjectAborted(Event, frozen=True):
    """The project was given up; it can be archived or reopened, and nothing else."""

    type: ClassVar[str] = "project.aborted"
    reason: str = ""


class ProjectReopened(Event, frozen=True):
    """A project that was archived or aborted goes on."""

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


class ExecutionChosen(Event, frozen=True):
    """An orchestration goes about its steps in another way; what is empty stays as it is."""

    type: ClassVar[str] = "project.execution_chosen"
    execution: Execution


class DocumentRecorded(Event, frozen=True):
    """A document that the work follows, as it was; `text` is empty where it is too long to keep."""

    type: ClassVar[str] = "document.recorded"
    paths: ClassVar[tuple[str, ...]] = ("path",)
    kind: Literal["design", "plan"]
    path: Text
    digest: str = ""
    text: str = ""


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
    coordinates: ClassVar[bool] = True
    actor: Name
    role: Role
    title: str = ""


class ActorStatusChanged(Event, frozen=True):
    """An actor is idle, active, blocked or offline; a maintainer available, away or observing."""

    type: ClassVar[str] = "actor.status_changed"
    coordinates: ClassVar[bool] = True
    actor: Name
    status: ActorStatus
    note: str = ""


class DriftAdopted(Event, frozen=True):
    """An edit by hand of a projection was taken over; the events before this say what it was."""

    type: ClassVar[str] = "projection.drift_adopted"
    bookkeeping: ClassVar[bool] = True
    path: str
    digest: str = ""


class DriftReverted(Event, frozen=True):
    """A projection that was edited by hand was put back to what the journal says."""

    type: ClassVar[str] = "projection.drift_reverted"
    bookkeeping: ClassVar[bool] = True
    path: str
    kept: str = ""
