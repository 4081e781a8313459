"""When it may happen: a project and who acts in it."""

from collections.abc import Iterable

from msgspec.structs import replace

from journal import events as e
from journal.entities import Project
from journal.errors import Invalid, Rejected
from journal.rules.names import step_or_current
from journal.rules.rule import By, Rules


def check_steps(steps: Iterable[e.StepPlan]) -> None:
    """Refuse steps that no project can have."""
    keys = [plan.key for plan in steps]
    if not keys:
        raise Invalid("a project needs at least one step; name each of them")
    if len(set(keys)) != len(keys):
        raise Invalid(f"step keys must differ: {', '.join(keys)}; number them anew")


def _project_opened(p: Project, x: e.ProjectOpened, by: By) -> list[e.Event]:
    check_steps(x.steps)
    if not p.version:
        return [x]
    if p.opening and replace(p.opening, branch="") == replace(x, branch=""):
        return []
    raise Rejected(
        f"open {p.slug}",
        f"it is there already ({p.workflow}, version {p.version}); a new one needs another name",
        [f"show -p {p.slug}"],
    )


def _project_archived(p: Project, x: e.ProjectArchived, by: By) -> list[e.Event]:
    return [] if p.archived is not None else [x]


def _project_reopened(p: Project, x: e.ProjectReopened, by: By) -> list[e.Event]:
    return [] if p.archived is None else [x]


def _project_retitled(p: Project, x: e.ProjectRetitled, by: By) -> list[e.Event]:
    return [] if p.title == x.title else [x]


def _branch_switched(p: Project, x: e.BranchSwitched, by: By) -> list[e.Event]:
    return [] if p.branch == x.branch else [x]


def _gate_passed(p: Project, x: e.GatePassed, by: By) -> list[e.Event]:
    x = replace(x, step=step_or_current(p, x.step))
    step = p.steps.get(x.step)
    passed = (x.gate, x.step, x.note, step.started if step else None)
    again = any((gate.gate, gate.step, gate.note, gate.run) == passed for gate in p.gates)
    return [] if again else [x]


def _actor_registered(p: Project, x: e.ActorRegistered, by: By) -> list[e.Event]:
    known = p.actors.get(x.actor)
    same = known and (known.role, known.title) == (x.role, x.title or known.title)
    return [] if same else [x]


def _actor_status_changed(p: Project, x: e.ActorStatusChanged, by: By) -> list[e.Event]:
    known = p.actors.get(x.actor)
    return [] if known and (known.status, known.note) == (x.status, x.note) else [x]


def _project_adopted(p: Project, x: e.ProjectAdopted, by: By) -> list[e.Event]:
    return [] if p.adopted == x else [x]


def _leftovers_kept(p: Project, x: e.LeftoversKept, by: By) -> list[e.Event]:
    kept = {left.path: left for left in p.leftovers.get(x.projection, ())}
    last = {left.path: left for left in x.leftovers}
    news = tuple(left for left in last.values() if kept.get(left.path) != left)
    originals = tuple(each for each in x.originals if each not in p.originals)
    return [replace(x, leftovers=news, originals=originals)] if news or originals else []


def _bookkeeping(p: Project, x: e.Event, by: By) -> list[e.Event]:
    return [x]


RULES: Rules = {
    e.ProjectOpened: _project_opened,
    e.ProjectArchived: _project_archived,
    e.ProjectReopened: _project_reopened,
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
