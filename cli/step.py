"""Steps: start, checkpoint, complete, skip, fail, retry, rerun, and the gates between them."""

from typing import Annotated

import typer

from cli import options
from cli.group import group
from cli.recording import recording
from journal import events as e
from journal.errors import Invalid
from projections.dialect import DIALECTS

steps = group("Start, checkpoint and finish steps.")

Agent = Annotated[str, typer.Option("--agent", help="Whom the step belongs to from now on.")]
ApprovedBy = Annotated[str, typer.Option("--approved-by", help="The person who allowed it.")]


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.add_typer(steps, name="step")
    recording(app, "transition")(transition)
    recording(app, "gate", then=DIALECTS["handoff"].render)(gate)


@recording(steps, "start")
def start(step: options.Step, agent: Agent = "") -> e.Event:
    """Begin work on a step.

    Example: passdown step start 2 --actor 03-Architect
    """
    return e.StepStarted(step, agent)


@recording(steps, "checkpoint")
def checkpoint(
    step: options.Step,
    reached: Annotated[str, typer.Argument(metavar="CHECKPOINT", help="The sub-step reached.")],
    artifacts: options.Artifacts = None,
    context_files: options.ContextFiles = None,
) -> e.Event:
    """Record that a sub-step was reached.

    Example: passdown step checkpoint 2 phase_2_waf --artifact docs/waf.md
    """
    files = tuple(artifacts or ()), tuple(context_files or ())
    return e.StepCheckpointed(step, reached, *files)


@recording(steps, "complete")
def complete(
    step: options.Step,
    artifacts: options.Artifacts = None,
    context_files: options.ContextFiles = None,
    summary: Annotated[str, typer.Option("--summary", help="What came of it.")] = "",
) -> e.Event:
    """Record that a step is done.

    Example: passdown step complete 2 --artifact 02-architecture-assessment.md
    """
    files = tuple(artifacts or ()), tuple(context_files or ())
    return e.StepCompleted(step, *files, summary)


@recording(steps, "skip")
def skip(step: options.Step, reason: options.Reason = "") -> e.Event:
    """Go on without a step.

    Example: passdown step skip 3 --reason "no diagrams wanted"
    """
    return e.StepSkipped(step, reason)


@recording(steps, "fail")
def fail(
    step: options.Step,
    message: Annotated[str, typer.Argument(help="What went wrong.")],
    kind: options.Kind = "runtime",
) -> e.Event:
    """Record that an attempt at a step failed.

    Example: passdown step fail 6 "quota exceeded" --kind dependency
    """
    return e.StepFailed(step, message, kind)


@recording(steps, "retry")
def retry(step: options.Step, reason: options.Reason = "", approved_by: ApprovedBy = "") -> e.Event:
    """Try a failed step again.

    Example: passdown step retry 6 --reason "quota was raised"
    """
    return e.StepRestarted(step, "retry", reason, approved_by)


@recording(steps, "rerun")
def rerun(step: options.Step, reason: options.Reason = "", approved_by: ApprovedBy = "") -> e.Event:
    """Run a finished step again.

    Example: passdown step rerun 2 --reason "requirements changed"
    """
    return e.StepRestarted(step, "rerun", reason, approved_by)


def transition(
    step: Annotated[str, typer.Argument(metavar="STEP", help="The step that is done.")],
    following: Annotated[str, typer.Argument(metavar="NEXT", help="The step that begins.")],
    artifacts: options.Artifacts = None,
    context_files: options.ContextFiles = None,
    summary: Annotated[str, typer.Option("--summary", help="What came of it.")] = "",
    decisions: Annotated[
        list[str] | None,
        typer.Option("--decide", metavar="KEY=VALUE", help="What was decided in it; repeatable."),
    ] = None,
    agent: Agent = "",
    passed: Annotated[
        str, typer.Option("--gate", metavar="NAME", help="The gate passed at its end.")
    ] = "",
) -> list[e.Event]:
    """Pass a step's gate, record its decisions, complete it, start the next: all of it, or nothing.

    Example: passdown transition 1 2 --artifact 01-requirements.md --decide region=swedencentral
    """
    files = tuple(artifacts or ()), tuple(context_files or ())
    decided = [_decision(text, step) for text in decisions or ()]
    gates = [e.GatePassed(passed, step)] if passed else []
    moved = e.StepCompleted(step, *files, summary), e.StepStarted(following, agent)
    return [*gates, *decided, *moved]


def gate(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the gate is called.")],
    step: options.AtStep = "",
    note: Annotated[str, typer.Option("--note", help="What was said at it.")] = "",
) -> e.Event:
    """Record that a gate was passed, and show what the handoff says.

    Example: passdown gate requirements-approved --step 1 --note "signed off by Ann"
    """
    return e.GatePassed(name, step, note)


def _decision(text: str, step: str) -> e.DecisionMade:
    key, equals, value = text.partition("=")
    if not (key and equals and value):
        raise Invalid(f"--decide {text[:60]!r} is no decision; write it as KEY=VALUE")
    return e.DecisionMade(key=key, value=value, step=step)
