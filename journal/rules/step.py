"""When it may happen: steps."""

from collections.abc import Iterator

from msgspec.structs import replace

from journal import events as e
from journal.entities import Actor, Project, Step, is_person, waits_on
from journal.errors import Invalid, Rejected
from journal.rules.names import check_waits, command, find_step, new_id, only_person, tries
from journal.rules.rule import By, Rules, admits, offering


def _refuse(project: Project, step: Step, verb: str, why: str = "") -> Rejected:
    """What a step's state is, where that does not allow what is asked."""
    state = f"it is {step.status}"
    if step.status == "in_progress" and step.started_by:
        state += f", started by {step.started_by}"
    return Rejected(f"{verb} step {step.key} of {project.slug}", why or state)


def _step_planned(p: Project, x: e.StepPlanned, by: By) -> list[e.Event]:
    known = p.steps.get(x.plan.key)
    if known is None:
        waits = {step.key: step.blocked_by for step in p.steps.values()}
        check_waits(waits | {x.plan.key: x.plan.blocked_by})
        return [x]
    # The agent may have changed since: it is whoever took the step.
    same = (known.name, known.optional, known.checkpoints, known.startup, known.blocked_by)
    plan = x.plan
    if same == (plan.name, plan.optional, plan.checkpoints, plan.startup, plan.blocked_by):
        return []
    raise Rejected(
        f"plan step {x.plan.key}", f"that step is {known.name!r} already; choose another key"
    )


def _step_adjusted(p: Project, x: e.StepAdjusted, by: By) -> list[e.Event]:
    step = find_step(p, x.step)
    if step.status in ("complete", "skipped"):
        raise _refuse(p, step, "adjust")
    x = replace(x, step=step.key)
    if x.blocked_by is not None:
        waits = tuple(find_step(p, key).key for key in x.blocked_by)
        x = replace(x, blocked_by=waits)
        check_waits({s.key: s.blocked_by for s in p.steps.values()} | {step.key: waits})
    given = (x.name or step.name, x.agent or step.agent)
    same = given == (step.name, step.agent)
    same = same and x.team in (None, step.team) and x.blocked_by in (None, step.blocked_by)
    same = same and x.parallel in (None, step.parallel) and x.files in (None, step.files)
    return [] if same else [x]


def _step_started(p: Project, x: e.StepStarted, by: By) -> list[e.Event]:
    step = find_step(p, x.step)
    mine = step.started_by == by.actor and x.agent in ("", step.agent)
    mine = mine and x.batch in ("", p.batch)
    if step.status == "in_progress" and mine:
        return []
    if step.status != "pending":
        raise _refuse(p, step, "start")
    _check_turn(p, step, "start")
    return [replace(x, step=step.key)]


def _check_turn(p: Project, step: Step, verb: str) -> None:
    """Refuse a step that waits on another, or would run beside one where that is not allowed."""
    if waiting := waits_on(p, step):
        these = " and ".join(f"step {each.key}, which is {each.status}" for each in waiting)
        raise _refuse(p, step, verb, f"it waits on {these}")
    running = [
        other.key
        for other in p.steps.values()
        if other.status == "in_progress" and not (step.parallel and other.parallel)
    ]
    if running and not p.policy.parallel:
        raise Rejected(
            f"{verb} step {step.key} of {p.slug}",
            f"step {running[0]} is in progress and steps do not run in parallel here, "
            "but for those that are planned to",
            [f"step complete {running[0]}", f"step fail {running[0]} MESSAGE"],
        )


def _step_checkpointed(p: Project, x: e.StepCheckpointed, by: By) -> list[e.Event]:
    step = find_step(p, x.step)
    if step.status != "in_progress":
        raise _refuse(p, step, "checkpoint")
    x = replace(x, step=step.key)
    known = set(x.artifacts) <= set(step.artifacts)
    known = known and set(x.context_files) <= set(step.context_files)
    return [] if known and step.sub_step == x.checkpoint else [x]


def _step_completed(p: Project, x: e.StepCompleted, by: By) -> list[e.Event]:
    step = find_step(p, x.step)
    if step.status != "in_progress":
        raise _refuse(p, step, "complete")
    return [replace(x, step=step.key)]


def _step_skipped(p: Project, x: e.StepSkipped, by: By) -> list[e.Event]:
    step = find_step(p, x.step)
    if step.status == "skipped" and step.reason == x.reason:
        return []
    if step.status in ("complete", "skipped"):
        raise _refuse(p, step, "skip")
    if p.policy.skip == "person":
        if not is_person(p, by.actor):
            raise _refuse(p, step, "skip", only_person(p, by, "skips a step"))
        if step.status == "in_progress":
            raise _refuse(p, step, "skip")
    return [replace(x, step=step.key)]


def _step_failed(p: Project, x: e.StepFailed, by: By) -> list[e.Event]:
    step = find_step(p, x.step)
    if step.status != "in_progress":
        raise _refuse(p, step, "fail")
    return [replace(x, step=step.key, error=new_id(x.error, "E{:03}", p.errors, "error"))]


def _step_restarted(p: Project, x: e.StepRestarted, by: By) -> list[e.Event]:
    step = find_step(p, x.step)
    if step.status not in (("failed",) if x.mode == "retry" else ("complete", "skipped")):
        raise _refuse(p, step, x.mode)
    approved = is_person(p, x.approved_by or by.actor)
    if x.approved_by and not approved:
        why = (
            f"{x.approved_by} is not known as a person or maintainer, and one must approve "
            f"(`passdown {command('actor', 'register', x.approved_by)} --role person`)"
        )
        raise _refuse(p, step, x.mode, why)
    limit = p.policy.retries
    if x.mode == "retry" and limit is not None and step.retries >= limit and not approved:
        why = f"it failed after {tries(p, step)} retries; a person must decide"
        raise _refuse(p, step, x.mode, why)
    if x.mode == "rerun" and not p.policy.rerun and not approved:
        why = f"it is {step.status} and steps are not run again here"
        raise _refuse(p, step, x.mode, why)
    _check_turn(p, step, x.mode)
    return [replace(x, step=step.key)]


def _step_adopted(p: Project, x: e.StepAdopted, by: By) -> list[e.Event]:
    step = find_step(p, x.step)
    found = (step.status, step.sub_step, step.started, step.completed)
    files = (step.artifacts, step.context_files)
    same = found == (x.status, x.sub_step, x.started, x.completed)
    same = same and files == (x.artifacts, x.context_files)
    same = same and x.retries in (None, step.retries)
    mine = not x.agent or (step.agent == x.agent and not step.agent_when)
    return [] if same and mine else [replace(x, step=step.key)]


def _step_verified(p: Project, x: e.StepVerified, by: By) -> list[e.Event]:
    step = find_step(p, x.step)
    if step.status in ("pending", "skipped"):
        raise _refuse(p, step, "verify", f"it is {step.status}, so there is no result of it")
    was = step.verified
    if was and (was.passed, was.details, was.by) == (x.passed, x.details, by.actor or ""):
        return []
    return [replace(x, step=step.key)]


def _has_files(p: Project, step: Step) -> bool:
    """Whether anything is on record that the step did to a file."""
    return any(file.step == step.key for file in p.manifest.values())


def _step_reconciled(p: Project, x: e.StepReconciled, by: By) -> list[e.Event]:
    step = find_step(p, x.step)
    if step.status != "complete":
        raise _refuse(p, step, "reconcile")
    told = x.note.strip() or x.downstream != e.Downstream() or _has_files(p, step)
    if step.to_reconcile and not told:
        raise Invalid(
            f"what did step {step.key} change? name its files, what it leaves for others, or say "
            "in a note that there is nothing"
        )
    same = x.downstream in (e.Downstream(), step.downstream) and x.note == (step.reconciled or "")
    return [] if same and not step.to_reconcile else [replace(x, step=step.key)]


def _step_output_recorded(p: Project, x: e.StepOutputRecorded, by: By) -> list[e.Event]:
    return [replace(x, step=find_step(p, x.step).key)]


#: How a step moves on.
_MOVES: Rules = {
    e.StepStarted: _step_started,
    e.StepCheckpointed: _step_checkpointed,
    e.StepCompleted: _step_completed,
    e.StepSkipped: _step_skipped,
    e.StepFailed: _step_failed,
    e.StepRestarted: _step_restarted,
    e.StepReconciled: _step_reconciled,
}
#: Whoever is meant by a command that only a person may give, or approve.
_PERSON = "PERSON"


def _offers(p: Project, x: e.StepStarted, by: By) -> Iterator[str]:
    """The commands that the rules would admit for this step now, and who must give them."""
    step = find_step(p, x.step)
    key, said = step.key, e.StepReconciled(step.key, "NOTE")
    person = replace(p, actors={**p.actors, _PERSON: Actor(_PERSON, "person")})
    tried: dict[str, e.Event] = {
        f"start {key}": e.StepStarted(key),
        f"checkpoint {key} CHECKPOINT": e.StepCheckpointed(key, "CHECKPOINT"),
        f"complete {key}": e.StepCompleted(key),
        f"fail {key} MESSAGE": e.StepFailed(key, "MESSAGE"),
        f"retry {key}": e.StepRestarted(key, "retry"),
        f"rerun {key}": e.StepRestarted(key, "rerun"),
        f"skip {key}": e.StepSkipped(key),
        **({f"reconcile {key} --note NOTE": said} if step.to_reconcile else {}),
    }
    for words, event in tried.items():
        if admits(_MOVES, p, event, by):
            yield f"step {words}"
        elif admits(_MOVES, person, event, replace(by, actor=_PERSON)):
            option = "approved-by" if isinstance(event, e.StepRestarted) else "actor"
            yield f"step {words} --{option} {_PERSON}"


RULES: Rules = {
    **{cls: offering(rule, _offers) for cls, rule in _MOVES.items()},
    e.StepPlanned: _step_planned,
    e.StepAdopted: _step_adopted,
    e.StepVerified: offering(_step_verified, _offers),
    e.StepAdjusted: offering(_step_adjusted, _offers),
    e.StepOutputRecorded: _step_output_recorded,
}
