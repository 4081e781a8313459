"""Steps: planned, started, checkpointed, completed, and the ways they go wrong."""

from typing import Annotated, ClassVar, Literal, TypeAlias

from msgspec import Meta, Struct

from journal.events.event import Count, ErrorKind, Event, StepKey, Text

AdoptedStatus: TypeAlias = Literal["pending", "in_progress", "complete", "failed", "skipped"]


class AgentWhen(Struct, frozen=True):
    """The agent that a step gets once a keyed decision has a certain value."""

    decision: str
    value: str
    agent: str


class StepPlan(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A step as the workflow plans it."""

    key: StepKey
    name: Text
    agent: str = ""
    agent_when: tuple[AgentWhen, ...] = ()
    optional: bool = False
    checkpoints: tuple[str, ...] = ()
    #: Files an agent may load when it starts the step, beside the state itself.
    startup: tuple[str, ...] = ()
    #: Who is at work on it beside the agent that it belongs to.
    team: tuple[str, ...] = ()
    #: The steps that must be done before it starts.
    blocked_by: tuple[str, ...] = ()
    #: Whether it may run beside others where steps otherwise run one at a time.
    parallel: bool = False
    #: The files that it is planned to touch.
    files: tuple[str, ...] = ()


class Policy(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Which transitions a project allows. The rules are one; this is what differs."""

    rerun: bool = True
    #: Retries of a failed step before a person must approve; None is without limit.
    retries: Annotated[int, Meta(ge=0)] | None = None
    #: Who may leave a step undone: skip it, abort the project, or archive it unfinished.
    skip: Literal["anyone", "person"] = "anyone"
    #: Whether steps run at the same time; where not, only those that are planned to.
    parallel: bool = True
    #: Whether a step that completes has to say what it changed, or what it leaves for others.
    manifest: bool = False


class Downstream(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a step leaves for those that come after it."""

    interfaces: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    integration_points: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class StepPlanned(Event, frozen=True):
    """A step was added to the workflow after the project opened."""

    type: ClassVar[str] = "step.planned"
    plan: StepPlan


class StepStarted(Event, frozen=True):
    """Work on a step began."""

    type: ClassVar[str] = "step.started"
    step: str
    agent: str = ""
    #: The batch of steps that it was started with.
    batch: str = ""


class StepAdjusted(Event, frozen=True):
    """A step goes on with other parameters; those that are not given stay as they are."""

    type: ClassVar[str] = "step.adjusted"
    paths: ClassVar[tuple[str, ...]] = ("files",)
    step: str
    name: str = ""
    agent: str = ""
    team: tuple[str, ...] | None = None
    blocked_by: tuple[str, ...] | None = None
    parallel: bool | None = None
    files: tuple[str, ...] | None = None
    reason: str = ""


class StepCheckpointed(Event, frozen=True):
    """A sub-step was reached."""

    type: ClassVar[str] = "step.checkpointed"
    paths: ClassVar[tuple[str, ...]] = ("artifacts", "context_files")
    step: str
    checkpoint: Text
    artifacts: tuple[str, ...] = ()
    context_files: tuple[str, ...] = ()


class StepCompleted(Event, frozen=True):
    """A step is done."""

    type: ClassVar[str] = "step.completed"
    paths: ClassVar[tuple[str, ...]] = ("artifacts", "context_files")
    step: str
    artifacts: tuple[str, ...] = ()
    context_files: tuple[str, ...] = ()
    summary: str = ""
    downstream: Downstream = Downstream()


class StepSkipped(Event, frozen=True):
    """It was decided to go on without a step."""

    type: ClassVar[str] = "step.skipped"
    step: str
    reason: str = ""


class StepFailed(Event, frozen=True):
    """An attempt at a step failed; the failure stays as an error of its own."""

    type: ClassVar[str] = "step.failed"
    step: str
    message: Text
    kind: ErrorKind = "runtime"
    agent: str = ""
    error: str = ""


class StepRestarted(Event, frozen=True):
    """A failed step is retried, or a finished one run again."""

    type: ClassVar[str] = "step.restarted"
    step: str
    mode: Literal["retry", "rerun"]
    reason: str = ""
    approved_by: str = ""
    agent: str = ""


class StepAdopted(Event, frozen=True):
    """How a step stands according to a file, where no history tells how it came to that."""

    type: ClassVar[str] = "step.adopted"
    step: str
    status: AdoptedStatus
    agent: str = ""
    sub_step: str | None = None
    started: int | None = None
    completed: int | None = None
    artifacts: tuple[str, ...] = ()
    context_files: tuple[str, ...] = ()
    #: How often it was retried, where the file counts that.
    retries: Count | None = None


class StepVerified(Event, frozen=True):
    """Somebody checked the result of a step."""

    type: ClassVar[str] = "step.verified"
    step: str
    passed: bool
    details: str = ""


class StepReconciled(Event, frozen=True):
    """What a step really changed was established after the fact."""

    type: ClassVar[str] = "step.reconciled"
    step: str
    note: str = ""
    downstream: Downstream = Downstream()


class StepOutputRecorded(Event, frozen=True):
    """What an agent gave as the output of a step."""

    type: ClassVar[str] = "step.output_recorded"
    step: str
    text: Text
    agent: str = ""
