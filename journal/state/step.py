"""What the fold makes of events: steps."""

from typing import Any

from msgspec.structs import replace

from journal import events as e
from journal.entities import Error, Output, Project, Step, Verification, step_order
from journal.record import Record
from journal.state.table import Folds


def joined(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    """Both, in the order they came, each once."""
    return tuple(dict.fromkeys((*old, *new))) if new else old


def plan_step(project: Project, plan: e.StepPlan) -> None:
    """Add a step; steps stay in numerical order."""
    last = next(reversed(project.steps), plan.key)
    project.steps[plan.key] = Step(
        plan.key,
        plan.name,
        plan.agent,
        plan.agent_when,
        plan.optional,
        plan.checkpoints,
        plan.startup,
        plan.team,
        plan.blocked_by,
        plan.parallel,
        plan.files,
    )
    if step_order(plan.key) < step_order(last):
        project.steps = dict(sorted(project.steps.items(), key=lambda item: step_order(item[0])))


def _step_planned(p: Project, x: e.StepPlanned, r: Record) -> None:
    plan_step(p, x.plan)


def _taken_by(agent: str) -> dict[str, Any]:
    """An agent that is named outright belongs to the step, whatever was planned or decided."""
    return {"agent": agent, "agent_when": ()} if agent else {}


def _step_started(p: Project, x: e.StepStarted, r: Record) -> None:
    if step := p.steps.get(x.step):
        p.steps[x.step] = replace(
            step,
            status="in_progress",
            started=r.time,
            started_by=r.actor,
            **_taken_by(x.agent),
        )
        p.current = x.step
        p.batch = x.batch or p.batch


def _step_adjusted(p: Project, x: e.StepAdjusted, r: Record) -> None:
    if step := p.steps.get(x.step):
        p.steps[x.step] = replace(
            step,
            name=x.name or step.name,
            team=step.team if x.team is None else x.team,
            blocked_by=step.blocked_by if x.blocked_by is None else x.blocked_by,
            parallel=step.parallel if x.parallel is None else x.parallel,
            files=step.files if x.files is None else x.files,
            **_taken_by(x.agent),
        )


def _step_checkpointed(p: Project, x: e.StepCheckpointed, r: Record) -> None:
    if step := p.steps.get(x.step):
        p.steps[x.step] = replace(
            step,
            sub_step=x.checkpoint,
            artifacts=joined(step.artifacts, x.artifacts),
            context_files=joined(step.context_files, x.context_files),
        )


def _step_completed(p: Project, x: e.StepCompleted, r: Record) -> None:
    if step := p.steps.get(x.step):
        silent = p.policy.manifest and x.downstream == e.Downstream()
        p.steps[x.step] = replace(
            step,
            status="complete",
            completed=r.time,
            sub_step=None,
            artifacts=joined(step.artifacts, x.artifacts),
            context_files=joined(step.context_files, x.context_files),
            summary=x.summary or step.summary,
            error="",
            downstream=x.downstream,
            to_reconcile=silent and not _has_files(p, x.step),
            reconciled=None,
        )


def _has_files(p: Project, step: str) -> bool:
    return any(file.step == step for file in p.manifest.values())


def _step_skipped(p: Project, x: e.StepSkipped, r: Record) -> None:
    if step := p.steps.get(x.step):
        _answer(p, step, "skipped", x.reason, r)
        p.steps[x.step] = replace(step, status="skipped", sub_step=None, reason=x.reason, error="")


def _answer(p: Project, step: Step, how: str, reason: str, r: Record) -> None:
    """What was done about the failure that a step stands at."""
    error = p.errors.get(step.error)
    if error and error.resolved is None:
        said = f"{how}: {reason}" if reason else how
        p.errors[error.id] = replace(error, resolved=r.time, resolution=said)


def _step_failed(p: Project, x: e.StepFailed, r: Record) -> None:
    agent = x.agent or r.actor or ""
    p.errors[x.error] = Error(x.error, x.message, x.kind, r.time, x.step, agent=agent)
    if step := p.steps.get(x.step):
        p.steps[x.step] = replace(step, status="failed", error=x.error, reason=x.message)


def _step_restarted(p: Project, x: e.StepRestarted, r: Record) -> None:
    step = p.steps.get(x.step)
    if step is None:
        return
    _answer(p, step, "retried", x.reason, r)
    again = replace(
        step,
        status="in_progress",
        completed=None,
        started_by=r.actor,
        error="",
        reason="",
        **_taken_by(x.agent),
    )
    if x.mode == "retry":
        again = replace(again, retries=step.retries + 1)
    else:
        again = replace(again, started=r.time, sub_step=None, context_files=(), verified=None)
    p.steps[x.step] = again
    p.current = x.step


def _step_adopted(p: Project, x: e.StepAdopted, r: Record) -> None:
    if step := p.steps.get(x.step):
        p.steps[x.step] = replace(
            step,
            status=x.status,
            sub_step=x.sub_step,
            started=x.started,
            completed=x.completed,
            artifacts=x.artifacts,
            context_files=x.context_files,
            error="",
            reason="",
            retries=step.retries if x.retries is None else x.retries,
            **_taken_by(x.agent),
        )


def _step_verified(p: Project, x: e.StepVerified, r: Record) -> None:
    if step := p.steps.get(x.step):
        checked = Verification(x.passed, x.details, r.time, r.actor or "")
        p.steps[x.step] = replace(step, verified=checked)


def _step_reconciled(p: Project, x: e.StepReconciled, r: Record) -> None:
    if step := p.steps.get(x.step):
        known = x.downstream if x.downstream != e.Downstream() else step.downstream
        p.steps[x.step] = replace(step, reconciled=x.note, to_reconcile=False, downstream=known)


def _step_output_recorded(p: Project, x: e.StepOutputRecorded, r: Record) -> None:
    p.outputs.append(Output(x.step, x.text, r.time, x.agent or r.actor or ""))


FOLDS: Folds = {
    e.StepPlanned: _step_planned,
    e.StepStarted: _step_started,
    e.StepAdjusted: _step_adjusted,
    e.StepCheckpointed: _step_checkpointed,
    e.StepCompleted: _step_completed,
    e.StepSkipped: _step_skipped,
    e.StepFailed: _step_failed,
    e.StepRestarted: _step_restarted,
    e.StepAdopted: _step_adopted,
    e.StepVerified: _step_verified,
    e.StepReconciled: _step_reconciled,
    e.StepOutputRecorded: _step_output_recorded,
}
