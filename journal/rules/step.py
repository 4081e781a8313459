"""When it may happen: steps."""

from collections.abc import Iterator

from msgspec.structs import replace

from journal import events as e
from journal.entities import Actor, Project, Step, is_person
from journal.errors import Rejected
from journal.rules.names import find_step, new_id
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
        return [x]
    # The agent may have changed since: it is whoever took the step.
    same = (known.name, known.optional, known.checkpoints, known.startup)
    if same == (x.plan.name, x.plan.optional, x.plan.checkpoints, x.plan.startup):
        return []
    raise Rejected(
        f"plan step {x.plan.key}", f"that step is {known.name!r} already; choose another key"
    )


def _step_started(p: Project, x: e.StepStarted, by: By) -> list[e.Event]:
    step = find_step(p, x.step)
    mine = step.started_by == by.actor and x.agent in ("", step.agent)
    if step.status == "in_progress" and mine:
        return []
    if step.status != "pending":
        raise _refuse(p, step, "start")
    _check_alone(p, step, "start")
    return [replace(x, step=step.key)]


def _check_alone(p: Project, step: Step, verb: str) -> None:
    """Where steps do not run in parallel, only one of them is in progress."""
    running = [other.key for other in p.steps.values() if other.status == "in_progress"]
    if running and not p.policy.parallel:
        raise Rejected(
            f"{verb} step {step.key} of {p.slug}",
            f"step {running[0]} is in progress and steps do not run in parallel here",
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
            raise _refuse(
                p,
                step,
                "skip",
                f"only a person skips a step here, {by.actor or 'an unnamed actor'} is not one",
            )
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
        why = f"{x.approved_by} is not known as a person or maintainer, and one must approve"
        raise _refuse(p, step, x.mode, why)
    limit = p.policy.retries
    if x.mode == "retry" and limit is not None and step.retries >= limit and not approved:
        why = f"it failed after {step.retries} of {limit} retries; a person must decide"
        raise _refuse(p, step, x.mode, why)
    if x.mode == "rerun" and not p.policy.rerun and not approved:
        why = f"it is {step.status} and steps are not run again here"
        raise _refuse(p, step, x.mode, why)
    _check_alone(p, step, x.mode)
    return [replace(x, step=step.key)]


def _step_adopted(p: Project, x: e.StepAdopted, by: By) -> list[e.Event]:
    step = find_step(p, x.step)
    found = (step.status, step.sub_step, step.started, step.completed)
    files = (step.artifacts, step.context_files)
    same = found == (x.status, x.sub_step, x.started, x.completed)
    same = same and files == (x.artifacts, x.context_files)
    mine = not x.agent or (step.agent == x.agent and not step.agent_when)
    return [] if same and mine else [replace(x, step=step.key)]


def _step_verified(p: Project, x: e.StepVerified, by: By) -> list[e.Event]:
    step = find_step(p, x.step)
    was = step.verified
    if was and (was.passed, was.details, was.by) == (x.passed, x.details, by.actor or ""):
        return []
    return [replace(x, step=step.key)]


def _step_reconciled(p: Project, x: e.StepReconciled, by: By) -> list[e.Event]:
    step = find_step(p, x.step)
    return [] if step.reconciled == x.note else [replace(x, step=step.key)]


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
}
#: Whoever is meant by a command that only a person may give, or approve.
_PERSON = "PERSON"


def _offers(p: Project, x: e.StepStarted, by: By) -> Iterator[str]:
    """The commands that the rules would admit for this step now, and who must give them."""
    key = find_step(p, x.step).key
    person = replace(p, actors={**p.actors, _PERSON: Actor(_PERSON, "person")})
    tried: dict[str, e.Event] = {
        f"start {key}": e.StepStarted(key),
        f"checkpoint {key} CHECKPOINT": e.StepCheckpointed(key, "CHECKPOINT"),
        f"complete {key}": e.StepCompleted(key),
        f"fail {key} MESSAGE": e.StepFailed(key, "MESSAGE"),
        f"retry {key}": e.StepRestarted(key, "retry"),
        f"rerun {key}": e.StepRestarted(key, "rerun"),
        f"skip {key}": e.StepSkipped(key),
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
    e.StepVerified: _step_verified,
    e.StepReconciled: _step_reconciled,
    e.StepOutputRecorded: _step_output_recorded,
}
