"""When it may happen: a project and who acts in it."""

from collections.abc import Sequence

from msgspec.structs import replace

from journal import events as e
from journal.entities import Project, is_maintainer, is_person, maintainer_of
from journal.errors import Invalid, Rejected
from journal.rules.names import (
    check_agent_id,
    check_own,
    check_waits,
    command,
    known_actor,
    only_person,
    step_or_current,
    workspace_path,
)
from journal.rules.rule import By, Rules


def check_steps(steps: Sequence[e.StepPlan], *, none: bool = False) -> None:
    """Refuse steps that no project can have; where agents share a workspace there may be none."""
    keys = [plan.key for plan in steps]
    if not keys and not none:
        raise Invalid("a project needs at least one step; name each of them")
    if len(set(keys)) != len(keys):
        raise Invalid(f"step keys must differ: {', '.join(keys)}; number them anew")
    check_waits({plan.key: plan.blocked_by for plan in steps})


def _project_opened(p: Project, x: e.ProjectOpened, by: By) -> list[e.Event]:
    check_steps(x.steps, none=x.coordination is not None)
    if x.coordination is not None:
        check_agent_id(x.coordination.maintainer)
        # In one spelling, so that the same folder is the same opening.
        folder = f"{workspace_path(x.coordination.workspace)}/"
        x = replace(x, coordination=replace(x.coordination, workspace=folder))
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
    if p.archived is not None:
        return []
    asked, person = f"archive {p.slug}", is_person(p, by.actor)
    vague = [step.key for step in p.steps.values() if step.to_reconcile]
    if vague and p.aborted is None and not (person and x.reason):
        raise Rejected(
            asked,
            f"nobody has said what {_steps(vague)} changed",
            [
                command("step", "reconcile", vague[0], "--note", "NOTE"),
                command("archive", "--actor", "PERSON", "--reason", "REASON"),
            ],
        )
    left = [s.key for s in p.steps.values() if s.status not in ("complete", "skipped")]
    if left and p.aborted is None and p.policy.skip == "person" and not person:
        raise Rejected(
            asked,
            f"{_steps(left)} {'is' if len(left) == 1 else 'are'} not done, and "
            f"{only_person(p, by, 'archives it all the same')}",
            [command("archive", "--actor", "PERSON"), command("resume")],
        )
    return [x]


def _steps(keys: Sequence[str]) -> str:
    return f"step{'' if len(keys) == 1 else 's'} {', '.join(keys)}"


def _project_aborted(p: Project, x: e.ProjectAborted, by: By) -> list[e.Event]:
    if p.aborted is not None:
        return []
    if p.archived is not None:
        raise Rejected(f"abort {p.slug}", "it is archived", [command("reopen")])
    if p.policy.skip == "person" and not is_person(p, by.actor):
        why = only_person(p, by, "aborts it")
        raise Rejected(f"abort {p.slug}", why, [command("abort", "--actor", "PERSON")])
    return [x]


def _project_reopened(p: Project, x: e.ProjectReopened, by: By) -> list[e.Event]:
    return [] if p.archived is None and p.aborted is None else [x]


def _execution_chosen(p: Project, x: e.ExecutionChosen, by: By) -> list[e.Event]:
    if p.execution is None:
        raise Rejected(f"choose how {p.slug} is executed", "it is no orchestration")
    now, was = x.execution, p.execution
    pairs = ((getattr(now, name), getattr(was, name)) for name in now.__struct_fields__)
    return [x] if any(asked not in ("", held) for asked, held in pairs) else []


def _document_recorded(p: Project, x: e.DocumentRecorded, by: By) -> list[e.Event]:
    held = p.documents.get(x.kind)
    same = held and (held.path, held.digest) == (x.path, x.digest)
    return [] if same else [x]


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
    if p.coordination is not None:
        check_agent_id(x.actor)
        if x.actor == maintainer_of(p) and x.role != "maintainer":
            raise Rejected(f"register {x.actor} as {x.role}", "it maintains this workspace")
        high = x.role in ("person", "maintainer") or (known is not None and known.role != x.role)
        if high and by.actor is not None and not is_maintainer(p, by.actor):
            raise Rejected(
                f"register {x.actor} as {x.role}", f"that is {maintainer_of(p)}'s to do here"
            )
    same = known and (known.role, known.title) == (x.role, x.title or known.title)
    return [] if same else [x]


def _actor_status_changed(p: Project, x: e.ActorStatusChanged, by: By) -> list[e.Event]:
    x = replace(x, actor=known_actor(p, x.actor))
    known = p.actors.get(x.actor)
    asked = f"say that {x.actor} is {x.status}"
    check_own(p, x.actor, by, asked)
    if p.coordination is not None and by.actor not in (x.actor, None) and not x.note:
        raise Invalid(f"why {asked}? whoever says it of somebody else gives a --note")
    of_maintainer = x.status in ("available", "away", "observing")
    if of_maintainer != is_maintainer(p, x.actor) and (of_maintainer or p.coordination):
        fit = "idle, active, blocked or offline"
        fit = "available, away or observing" if is_maintainer(p, x.actor) else fit
        raise Invalid(f"{x.actor} cannot be {x.status}; it can be {fit}")
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
