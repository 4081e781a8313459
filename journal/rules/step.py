"""When it may happen: steps."""

from msgspec.structs import replace

from journal import events as e
from journal.entities import Project, Step, is_person
from journal.errors import Rejected
from journal.rules.names import find_step, new_id
from journal.rules.rule import By, Rules

_VERBS = {
    "pending": ("start", "skip"),
    "in_progress": ("checkpoint", "complete", "fail", "skip"),
    "complete": ("rerun",),
    "failed": ("retry", "skip"),
    "skipped": ("rerun",),
}


#: What else a command must be given.
_MORE = {"checkpoint": " CHECKPOINT", "fail": " MESSAGE"}


def _refuse(project: Project, step: Step, verb: str, why: str = "") -> Rejected:
    """What a step's state is, and which commands it allows."""
    state = f"it is {step.status}"
    if step.status == "in_progress" and step.started_by:
        state += f", started by {step.started_by}"
    offers = [_offer(project, step, known) for known in _VERBS[step.status] if known != verb]
    return Rejected(f"{verb} step {step.key} of {project.slug}", why or state, offers)


def _offer(project: Project, step: Step, verb: str) -> str:
    """The command as the project's policy allows it."""
    command = f"step {verb} {step.key}{_MORE.get(verb, '')}"
    if verb == "rerun" and not project.policy.rerun:
        return f"{command} --approved-by PERSON"
    return f"{command} --actor PERSON" if _needs_person(project, verb) else command


def _needs_person(project: Project, verb: str) -> bool:
    return verb == "skip" and project.policy.skip == "person"


def _step_planned(p: Project, x: e.StepPlanned, by: By) -> list[e.Event]:
    known = p.steps.get(x.plan.key)
    if known is None:
        return [x]
    # The agent may have changed since: it is whoever took the step.
    same = (known.name, known.optional, known.checkpoints, known.startup)
    if same == (x.plan.name, x.plan.optional, x.plan.checkpoints, x.plan.startup):
        return []
    raise Rejected(
        f"plan step {x.plan.key}", f"that step is {known.name!r} already", ["another key"]
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
    if _needs_person(p, "skip"):
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
    approved = is_person(p, x.approved_by or by.actor)
    if x.approved_by and not approved:
        raise Rejected(
            f"{x.mode} step {step.key}",
            f"{x.approved_by} is not known as a person or maintainer",
            ["the approval of one who is"],
        )
    if x.mode == "retry":
        if step.status != "failed":
            raise _refuse(p, step, "retry")
        limit = p.policy.retries
        if limit is not None and step.retries >= limit and not approved:
            why = f"it failed after {step.retries} of {limit} retries; a person must decide"
            raise Rejected(
                f"retry step {step.key} of {p.slug}",
                why,
                [f"step retry {step.key} --approved-by PERSON", f"step skip {step.key}"],
            )
    else:
        if step.status not in ("complete", "skipped"):
            raise _refuse(p, step, "rerun")
        if not p.policy.rerun and not approved:
            raise Rejected(
                f"rerun step {step.key} of {p.slug}",
                f"it is {step.status} and steps are not run again here",
                [f"step rerun {step.key} --approved-by PERSON"],
            )
    _check_alone(p, step, x.mode)
    return [replace(x, step=step.key)]


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


RULES: Rules = {
    e.StepPlanned: _step_planned,
    e.StepStarted: _step_started,
    e.StepCheckpointed: _step_checkpointed,
    e.StepCompleted: _step_completed,
    e.StepSkipped: _step_skipped,
    e.StepFailed: _step_failed,
    e.StepRestarted: _step_restarted,
    e.StepVerified: _step_verified,
    e.StepReconciled: _step_reconciled,
    e.StepOutputRecorded: _step_output_recorded,
}
