"""What the fold makes of events: a project and who acts in it."""

from msgspec.structs import replace

from journal import events as e
from journal.entities import Actor, Document, Gate, Project
from journal.record import Record
from journal.state.step import plan_step
from journal.state.table import Folds


def _project_opened(p: Project, x: e.ProjectOpened, r: Record) -> None:
    p.opening = x
    p.title = x.title
    p.workflow = x.workflow
    p.native = x.native
    p.policy = x.policy
    p.branch = x.branch
    p.execution = x.execution
    p.coordination = x.coordination
    if x.coordination is not None:
        p.revision = x.coordination.revision or 0
        maintainer = x.coordination.maintainer
        p.actors[maintainer] = Actor(maintainer, "maintainer", status="available")
    p.opened = r.time
    for plan in x.steps:
        plan_step(p, plan)


def _project_archived(p: Project, x: e.ProjectArchived, r: Record) -> None:
    p.archived = r.time
    p.moves = x.moves


def _project_aborted(p: Project, x: e.ProjectAborted, r: Record) -> None:
    p.aborted = r.time


def _project_reopened(p: Project, x: e.ProjectReopened, r: Record) -> None:
    p.archived = p.aborted = None


def _project_retitled(p: Project, x: e.ProjectRetitled, r: Record) -> None:
    p.title = x.title


def _branch_switched(p: Project, x: e.BranchSwitched, r: Record) -> None:
    p.branch = x.branch


def _execution_chosen(p: Project, x: e.ExecutionChosen, r: Record) -> None:
    was, now = p.execution or e.Execution(), x.execution
    p.execution = e.Execution(
        now.mode or was.mode,
        now.backend or was.backend,
        now.workflow or was.workflow,
        now.complexity or was.complexity,
    )


def _document_recorded(p: Project, x: e.DocumentRecorded, r: Record) -> None:
    p.documents[x.kind] = Document(x.kind, x.path, r.time, r.version, x.digest)


def _gate_passed(p: Project, x: e.GatePassed, r: Record) -> None:
    step = p.steps.get(x.step)
    run = step.started if step else None
    p.gates.append(Gate(x.gate, r.time, x.step, x.note, r.actor or "", run))


def _actor_registered(p: Project, x: e.ActorRegistered, r: Record) -> None:
    known = p.actors.get(x.actor, Actor(x.actor))
    p.actors[x.actor] = replace(known, role=x.role, title=x.title or known.title)


def _actor_status_changed(p: Project, x: e.ActorStatusChanged, r: Record) -> None:
    known = p.actors.get(x.actor, Actor(x.actor))
    p.actors[x.actor] = replace(known, status=x.status, note=x.note)


def _project_adopted(p: Project, x: e.ProjectAdopted, r: Record) -> None:
    p.adopted = x
    if x.projection:
        p.homes[x.projection] = x
    p.sources += (x.digest,)
    p.current = x.current
    p.revision = max(p.revision, x.revision)


def _leftovers_kept(p: Project, x: e.LeftoversKept, r: Record) -> None:
    kept = {left.path: left for left in (*p.leftovers.get(x.projection, ()), *x.leftovers)}
    p.leftovers[x.projection] = tuple(kept.values())
    p.originals += x.originals


def _bookkeeping(p: Project, x: e.Event, r: Record) -> None:
    """Bookkeeping: that it happened is in the journal, the state is as it was."""


FOLDS: Folds = {
    e.ProjectOpened: _project_opened,
    e.ProjectArchived: _project_archived,
    e.ProjectAborted: _project_aborted,
    e.ProjectReopened: _project_reopened,
    e.ExecutionChosen: _execution_chosen,
    e.DocumentRecorded: _document_recorded,
    e.ProjectRetitled: _project_retitled,
    e.BranchSwitched: _branch_switched,
    e.GatePassed: _gate_passed,
    e.ActorRegistered: _actor_registered,
    e.ActorStatusChanged: _actor_status_changed,
    e.ProjectAdopted: _project_adopted,
    e.LeftoversKept: _leftovers_kept,
    e.ProjectRecovered: _bookkeeping,
    e.DriftAdopted: _bookkeeping,
    e.DriftReverted: _bookkeeping,
}
