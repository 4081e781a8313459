"""The things a project consists of: frozen, so that a state can be shared and compared."""

from collections.abc import Iterable
from typing import Literal, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from journal import events as e
from journal.clock import Moment
from journal.peers import (
    Commitment,
    Escalation,
    Message,
    SentSignal,
    Snapshot,
    Turn,
    WorklogEntry,
)
from journal.record import GENESIS

StepStatus: TypeAlias = Literal["pending", "in_progress", "complete", "failed", "skipped"]
TaskStatus: TypeAlias = Literal["open", "claimed", "in_progress", "done"]


class Verification(Struct, frozen=True):
    """The last check of a step's result."""

    passed: bool
    details: str
    at: Moment
    by: str


class Step(Struct, frozen=True, omit_defaults=True):
    """A numbered unit of work. `started_by` is the actor; `agent` is whom the step belongs to."""

    key: str
    name: str
    agent: str = ""
    agent_when: tuple[e.AgentWhen, ...] = ()
    optional: bool = False
    checkpoints: tuple[str, ...] = ()
    startup: tuple[str, ...] = ()
    team: tuple[str, ...] = ()
    blocked_by: tuple[str, ...] = ()
    parallel: bool = False
    files: tuple[str, ...] = ()
    status: StepStatus = "pending"
    sub_step: str | None = None
    started: Moment | None = None
    completed: Moment | None = None
    artifacts: tuple[str, ...] = ()
    context_files: tuple[str, ...] = ()
    started_by: str | None = None
    retries: int = 0
    summary: str = ""
    reason: str = ""
    error: str = ""
    verified: Verification | None = None
    reconciled: str | None = None
    #: Whether it completed without a word on what it changed, and nobody has said it since.
    to_reconcile: bool = False
    downstream: e.Downstream = e.Downstream()
    #: How many tasks it has, and how many of them are done, where a file counts and names none.
    tasks: int = 0
    tasks_done: int = 0


class Plan(Struct, frozen=True, omit_defaults=True):
    """A plan for part of a step."""

    id: str
    step: str
    number: int
    name: str
    status: Literal["pending", "in_progress", "complete"] = "pending"
    started: Moment | None = None
    completed: Moment | None = None
    summary: str = ""


class Task(Struct, frozen=True, omit_defaults=True):
    """A piece of work for one agent. Being blocked is derived: see `task_status`."""

    id: str
    title: str
    step: str = ""
    plan: str = ""
    wave: int = 0
    priority: e.Priority = "P1"
    depends_on: tuple[str, ...] = ()
    description: str = ""
    status: TaskStatus = "open"
    agent: str = ""
    session: str | None = None
    created: Moment = 0
    assigned: Moment | None = None
    completed: Moment | None = None
    note: str = ""
    #: When it was taken from whoever was at it, and nobody has begun it again since.
    interrupted: Moment | None = None
    #: Whose it was when it was given back, until somebody takes it.
    taken_from: str = ""
    created_by: str = ""
    #: The revisions of coordination at which it was added, taken and done.
    created_revision: int = 0
    taken_revision: int | None = None
    done_revision: int | None = None


class Decision(Struct, frozen=True, omit_defaults=True):
    """What was decided, and why."""

    id: str
    at: Moment
    title: str = ""
    choice: str = ""
    rationale: str = ""
    key: str = ""
    value: e.Json = None
    alternatives: tuple[str, ...] = ()
    impact: str = ""
    reversible: bool | None = None
    kind: e.DecisionKind | None = None
    step: str = ""
    agent: str = ""
    session: str | None = None
    superseded_by: str | None = None


class Finding(Struct, frozen=True, omit_defaults=True):
    """Something wrong with work that was produced."""

    id: str
    title: str
    opened: Moment
    severity: e.Severity = "must_fix"
    step: str = ""
    detail: str = ""
    agent: str = ""
    resolved: Moment | None = None
    resolution: str = ""
    decision: str = ""


class Error(Struct, frozen=True, omit_defaults=True):
    """An attempt that failed."""

    id: str
    message: str
    kind: e.ErrorKind
    at: Moment
    step: str = ""
    task: str = ""
    agent: str = ""
    resolved: Moment | None = None
    resolution: str = ""


class Blocker(Struct, frozen=True, omit_defaults=True):
    """A condition outside the work that stands in its way."""

    id: str
    description: str
    raised: Moment
    affects: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    status: Literal["active", "bypassed", "resolved"] = "active"
    workaround: str = ""
    workaround_tasks: tuple[str, ...] = ()
    resolution: str = ""
    resolved: Moment | None = None


class File(Struct, frozen=True, omit_defaults=True):
    """The last change to a file of the workspace."""

    path: str
    change: Literal["created", "modified", "deleted"]
    at: Moment
    digest: str = ""
    description: str = ""
    step: str = ""
    agent: str = ""
    session: str | None = None


class Document(Struct, frozen=True, omit_defaults=True):
    """A document that the work follows; the record of that version may have its text."""

    kind: Literal["design", "plan"]
    path: str
    at: Moment
    version: int
    digest: str = ""


class Tokens(Struct, frozen=True, omit_defaults=True):
    """A sum of tokens."""

    input: int = 0
    output: int = 0
    cached: int = 0


class Session(Struct, frozen=True, omit_defaults=True):
    """An agent's stretch of work."""

    id: str
    started: Moment
    agent: str = ""
    name: str = ""
    host: str = ""
    status: Literal["active", "ended", "crashed"] = "active"
    ended: Moment | None = None
    heartbeat: Moment | None = None
    note: str = ""
    continues: str = ""
    completed: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    context_usage: float | None = None
    handoff_reason: str = ""
    reason: str = ""
    #: When something was last recorded in it that is not bookkeeping.
    progress: Moment = 0
    #: Whether it was over long before it was reported.
    over: bool = False


class Touch(Struct, frozen=True, omit_defaults=True):
    """What somebody did about a question, and in which session."""

    what: Literal["opened", "deferred", "resolved"]
    at: Moment
    by: str = ""
    session: str | None = None


class Question(Struct, frozen=True, omit_defaults=True):
    """Something that has to be answered."""

    id: str
    text: str
    opened: Moment
    source: str = ""
    step: str = ""
    status: Literal["open", "deferred", "resolved"] = "open"
    resolution: str = ""
    resolved: Moment | None = None
    touches: tuple[Touch, ...] = ()


class Actor(Struct, frozen=True, omit_defaults=True):
    """Who acts here, and as what."""

    id: str
    role: e.Role = "agent"
    title: str = ""
    status: e.ActorStatus | None = None
    note: str = ""


class Context(Struct, frozen=True, omit_defaults=True):
    """Something that whoever goes on must know."""

    kind: Literal["implementation", "next_step", "skill"]
    text: str
    at: Moment
    step: str = ""
    file: str = ""
    session: str | None = None
    #: A symbol or text that the file has, for as long as what was noted holds.
    contains: str = ""


class Output(Struct, frozen=True, omit_defaults=True):
    """What an agent gave as the output of a step."""

    step: str
    text: str
    at: Moment
    agent: str = ""


class Gate(Struct, frozen=True, omit_defaults=True):
    """A gate that was passed."""

    gate: str
    at: Moment
    step: str = ""
    note: str = ""
    by: str = ""
    #: When the step had been started: run again, it has its gates before it again.
    run: Moment | None = None


class Lease(Struct, frozen=True, omit_defaults=True):
    """One agent's hold on a step, for so many seconds after it was last renewed; or on files, for
    so many revisions after the one at which it was acquired."""

    token: str
    step: str
    acquired: Moment
    renewed: Moment
    seconds: int = 300
    agent: str = ""
    session: str | None = None
    status: Literal["held", "released", "expired"] = "held"
    ended: Moment | None = None
    files: tuple[str, ...] = ()
    revision: int = 0
    revisions: int = 0
    reason: str = ""


class Project(Struct):
    """Everything that a project's history amounts to."""

    slug: str
    version: int = 0
    hash: bytes = GENESIS
    #: Version, hash and time of the last record that is not bookkeeping.
    content_version: int = 0
    content_hash: bytes = GENESIS
    updated: Moment = 0

    #: How the project was begun, to know the same beginning again.
    opening: e.ProjectOpened | None = None
    title: str = ""
    workflow: str = ""
    native: str = ""
    policy: e.Policy = e.Policy()
    branch: str = ""
    opened: Moment = 0
    archived: Moment | None = None
    aborted: Moment | None = None
    #: Where files are while the project is open, and where once it is archived.
    moves: tuple[e.Move, ...] = ()
    #: Only an orchestration has one; and the batch of steps that was started last.
    execution: e.Execution | None = None
    batch: str = ""
    #: The step that was started last.
    current: str = ""

    actors: dict[str, Actor] = field(default_factory=dict)
    steps: dict[str, Step] = field(default_factory=dict)
    plans: dict[str, Plan] = field(default_factory=dict)
    tasks: dict[str, Task] = field(default_factory=dict)
    decisions: dict[str, Decision] = field(default_factory=dict)
    #: Key of a keyed decision -> id of the one that holds.
    keyed: dict[str, str] = field(default_factory=dict)
    findings: dict[str, Finding] = field(default_factory=dict)
    #: Title of an open finding -> its id.
    open_findings: dict[str, str] = field(default_factory=dict)
    reviews: dict[str, e.ReviewRecorded] = field(default_factory=dict)
    errors: dict[str, Error] = field(default_factory=dict)
    blockers: dict[str, Blocker] = field(default_factory=dict)
    files: dict[str, File] = field(default_factory=dict)
    #: Step and path -> what the step did to the file.
    manifest: dict[str, File] = field(default_factory=dict)
    #: Kind of a document -> the one that holds.
    documents: dict[str, Document] = field(default_factory=dict)
    tokens: dict[str, Tokens] = field(default_factory=dict)
    tokens_by_step: dict[str, Tokens] = field(default_factory=dict)
    sessions: dict[str, Session] = field(default_factory=dict)
    #: An agent -> how many of its sessions go on.
    at_work: dict[str, int] = field(default_factory=dict)
    #: A hook of a host -> when it last fired.
    hooks: dict[str, Moment] = field(default_factory=dict)
    #: Any name a session goes by -> its id.
    session_names: dict[str, str] = field(default_factory=dict)
    questions: dict[str, Question] = field(default_factory=dict)
    next_actions: dict[str, str] = field(default_factory=dict)
    context: list[Context] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    gates: list[Gate] = field(default_factory=list)
    leases: dict[str, Lease] = field(default_factory=dict)
    #: Key of a step -> token of the lease by which it is held.
    leased: dict[str, str] = field(default_factory=dict)
    #: Only a workspace that several agents share has one. The revision counts what is coordinated
    #: anywhere; phase and its step are the maintainer's labels.
    coordination: e.Coordination | None = None
    revision: int = 0
    phase: str = ""
    phase_step: str = ""
    turns: dict[str, Turn] = field(default_factory=dict)
    signals: dict[str, SentSignal] = field(default_factory=dict)
    escalations: dict[str, Escalation] = field(default_factory=dict)
    messages: dict[str, Message] = field(default_factory=dict)
    commitments: dict[str, Commitment] = field(default_factory=dict)
    snapshots: dict[str, Snapshot] = field(default_factory=dict)
    worklog: dict[str, WorklogEntry] = field(default_factory=dict)
    #: The beginning of an id -> the highest number that one of that kind was given.
    numbers: dict[str, int] = field(default_factory=dict)
    #: The last file that was adopted, and what it says that the model has no place for.
    adopted: e.ProjectAdopted | None = None
    #: Name of a dialect -> the last file of it that was adopted.
    homes: dict[str, e.ProjectAdopted] = field(default_factory=dict)
    #: The digests of every file that was ever adopted.
    sources: tuple[str, ...] = ()
    leftovers: dict[str, tuple[e.Leftover, ...]] = field(default_factory=dict)
    originals: tuple[e.Original, ...] = ()
    #: Topic of the brief, or field -> how many of its items are not in this state, where it is only
    #: the live part of one; a whole state leaves nothing out.
    beyond: dict[str, int] = field(default_factory=dict)

    def copy(self) -> "Project":
        """A second container with the same frozen entities; folding one leaves the other."""
        twin = Project(self.slug)
        for name in self.__struct_fields__:
            value = getattr(self, name)
            setattr(twin, name, value.copy() if isinstance(value, dict | list) else value)
        for id, decision in self.decisions.items():
            if isinstance(decision.value, list | dict):
                from copy import deepcopy

                twin.decisions[id] = replace(decision, value=deepcopy(decision.value))
        return twin


# -- what follows from the facts -------------------------------------------------------------


def step_order(key: str) -> tuple[int, ...]:
    """Steps are ordered numerically: 3, 3_5, 4, 10."""
    return tuple(int(part) for part in key.split("_"))


def step_agent(project: Project, step: Step) -> str:
    """Whom a step belongs to, where that depends on a decision."""
    for when in step.agent_when:
        held = project.keyed.get(when.decision)
        if held is not None and project.decisions[held].value == when.value:
            return when.agent
    return step.agent


def manifest_key(step: str, path: str) -> str:
    """What a step did to a file goes by both; no key of a step has a blank in it."""
    return f"{step} {path}"


def waits_on(project: Project, step: Step) -> list[Step]:
    """The steps that must be done before this one, and are not."""
    before = (project.steps[key] for key in step.blocked_by if key in project.steps)
    return [each for each in before if each.status not in ("complete", "skipped")]


def is_over(project: Project) -> bool:
    """Whether the project was archived or given up, so that nothing goes on in it."""
    return project.archived is not None or project.aborted is not None


def active_blockers(project: Project) -> list[Blocker]:
    """The blockers that still stand in the way."""
    return [blocker for blocker in project.blockers.values() if blocker.status == "active"]


def task_status(
    project: Project, task: Task
) -> Literal["open", "claimed", "in_progress", "blocked", "done"]:
    """A task is blocked while an active blocker names it, whatever it was before."""
    if task.status != "done" and any(task.id in b.tasks for b in active_blockers(project)):
        return "blocked"
    return task.status


def is_of(project: Project, name: str | None, session: Session) -> bool:
    """Whether a session is meant by a name that it may go by."""
    return name is not None and project.session_names.get(name, name) == session.id


def last_files(project: Project) -> list[File]:
    """The files that the latest session changed, else the last one that changed any.

    A deleted file is left out, because whoever resumes checks that what is listed exists.
    """
    present = [file for file in project.files.values() if file.change != "deleted"]
    if not present:
        return []
    latest = next(reversed(project.sessions.values()), None)
    own = [file for file in present if latest and is_of(project, file.session, latest)]
    if own:
        return own
    last = max(present, key=lambda file: file.at).session
    return [file for file in present if file.session == last]


def last_snapshot(project: Project, agent: str) -> Snapshot | None:
    """The snapshot of an agent that holds: the newest, whenever it was reported."""
    own = (each for each in reversed(project.snapshots.values()) if each.agent == agent)
    return max(own, key=lambda each: each.at, default=None)


def last_session(project: Project, agent: str) -> Session | None:
    """The session of an agent that began last, whenever it was reported.

    One that says that it begins in some years has begun when it was reported.
    """
    own = (each for each in reversed(project.sessions.values()) if each.agent == agent)
    return max(own, key=lambda each: min(each.started, each.progress), default=None)


def held_lease(project: Project, step: str) -> Lease | None:
    """The lease by which a step is held, stale or not."""
    return project.leases.get(project.leased.get(step, ""))


def lease_until(lease: Lease) -> int:
    """When a lease goes stale if it is not renewed."""
    return lease.renewed + lease.seconds * 1_000_000


def actor_role(project: Project, actor: str | None) -> e.Role:
    """An actor that never registered is an agent."""
    known = project.actors.get(actor or "")
    return known.role if known else "agent"


def is_person(project: Project, actor: str | None) -> bool:
    """Whether the actor may decide what only a person may."""
    return actor_role(project, actor) in ("person", "maintainer")


def maintainer_of(project: Project) -> str:
    """Who maintains the workspace; empty if nobody is known to."""
    if project.coordination is not None:
        return project.coordination.maintainer
    return next((id for id, each in project.actors.items() if each.role == "maintainer"), "")


def is_maintainer(project: Project, actor: str | None) -> bool:
    """Whether the actor maintains the workspace."""
    return actor_role(project, actor) == "maintainer"


def leases_on(project: Project, files: Iterable[str]) -> list[Lease]:
    """The leases that are held on any of the files, the one that counts first."""
    wanted = set(files)
    held = (each for each in project.leases.values() if each.status == "held")
    found = [lease for lease in held if wanted & set(lease.files)]
    return sorted(found, key=lambda lease: (lease.revision, lease.token))


def is_stale(project: Project, lease: Lease) -> bool:
    """Whether a lease on files has lasted for more revisions than it was taken for."""
    return project.revision - lease.revision > lease.revisions


def count(project: Project, id: str) -> None:
    """Know an id as given, so that no later one is the same, whatever became of its thing."""
    words, number = number_of(id)
    project.numbers[words] = max(number, project.numbers.get(words, 0))


def number_of(id: str) -> tuple[str, int]:
    """The beginning of an id and the number at its end: of SIG-012 they are SIG- and 12."""
    words = id.rstrip("0123456789")
    return words, int(id[len(words) :][:18] or 0)
