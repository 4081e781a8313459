"""Steps: start, checkpoint, complete, skip, fail, retry, rerun, and the gates between them.

The phases of an orchestration are steps, which can also be adjusted, verified and reconciled.
"""

import sys
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from cli import options
from cli.group import group
from cli.manifest import (
    Assumptions,
    Created,
    Deleted,
    Integrations,
    Interfaces,
    Modified,
    Patterns,
    Warnings,
    downstream,
    manifest,
)
from cli.recording import recording
from journal import Project
from journal import events as e
from journal.errors import Invalid
from journal.payload import MAX_PAYLOAD
from projections.dialect import DIALECTS

steps = group("Start, checkpoint and finish steps, which are the phases of an orchestration.")

Agent = Annotated[str, typer.Option("--agent", help="Whom the step belongs to from now on.")]
ApprovedBy = Annotated[str, typer.Option("--approved-by", help="The person who allowed it.")]
Batch = Annotated[str, typer.Option("--batch", help="What they are called that start together.")]
Summary = Annotated[str, typer.Option("--summary", help="What came of it.")]
Output = Annotated[
    str, typer.Option("--output", help="What its agent gave as output; '-' reads it from stdin.")
]


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.add_typer(steps, name="step")
    recording(app, "transition")(transition)
    recording(app, "gate", then=DIALECTS["handoff"].render)(gate)


@recording(steps, "start")
def start(
    keys: Annotated[
        list[str], typer.Argument(metavar="STEP…", help="The steps' keys, such as 2 or 3_5.")
    ],
    agent: Agent = "",
    batch: Batch = "",
) -> list[e.Event]:
    """Begin work on a step, or on several at once: all of them, or none.

    Where the project's policy has steps run one at a time, only those that are planned as
    parallel run beside each other, whatever mode its execution is said to have.

    Example: passdown step start 2 --actor 03-Architect
    """
    return [e.StepStarted(key, agent, batch) for key in keys]


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
    summary: Summary = "",
    created: Created = None,
    modified: Modified = None,
    deleted: Deleted = None,
    interfaces: Interfaces = None,
    patterns: Patterns = None,
    integrations: Integrations = None,
    assumptions: Assumptions = None,
    warnings: Warnings = None,
    output: Output = "",
) -> list[e.Event]:
    """Record that a step is done, what it changed, and what it leaves for those that follow.

    A phase of an orchestration that says neither is to be reconciled before the archive.

    Example: passdown step complete 2 --artifact 02-architecture-assessment.md
    """
    files = tuple(artifacts or ()), tuple(context_files or ())
    left = downstream(interfaces, patterns, integrations, assumptions, warnings)
    return [
        *_outputs(step, output),
        *manifest(step, created, modified, deleted),
        e.StepCompleted(step, *files, summary, left),
    ]


@recording(steps, "reconcile")
def reconcile(
    step: options.Step,
    note: Annotated[str, typer.Option("--note", help="What was found out.")] = "",
    created: Created = None,
    modified: Modified = None,
    deleted: Deleted = None,
    interfaces: Interfaces = None,
    patterns: Patterns = None,
    integrations: Integrations = None,
    assumptions: Assumptions = None,
    warnings: Warnings = None,
) -> list[e.Event]:
    """Say after the fact what a complete step changed, or that there is nothing to say.

    Example: passdown step reconcile 2 --note "it only read files"
    """
    left = downstream(interfaces, patterns, integrations, assumptions, warnings)
    return [*manifest(step, created, modified, deleted), e.StepReconciled(step, note, left)]


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
    agent: options.Agent = "",
) -> e.Event:
    """Record that an attempt at a step failed; each failure is an error of its own.

    Example: passdown step fail 6 "quota exceeded" --kind dependency
    """
    return e.StepFailed(step, message, kind, agent)


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


@recording(steps, "adjust")
def adjust(
    step: options.Step,
    agent: Agent = "",
    name: Annotated[str, typer.Option("--name", help="What it is called from now on.")] = "",
    team: Annotated[
        list[str] | None,
        typer.Option("--team", help="Who works on it beside its agent; repeatable, '' for nobody."),
    ] = None,
    blocked_by: Annotated[
        list[str] | None,
        typer.Option("--blocked-by", help="A step it waits on; repeatable, '' for none."),
    ] = None,
    files: Annotated[
        list[str] | None,
        typer.Option("--file", help="A file it is planned to touch; repeatable, '' for none."),
    ] = None,
    parallel: Annotated[
        bool | None,
        typer.Option("--parallel/--no-parallel", help="Whether it may run beside others."),
    ] = None,
    reason: options.Reason = "",
    approved_by: ApprovedBy = "",
) -> Callable[[Project, int], Sequence[e.Event]]:
    """Change what was planned for a step that is not done; one that has failed is tried again.

    Example: passdown step adjust 2 --agent senior-coder --reason "it is harder than planned"
    """
    lists = _anew(team), _anew(blocked_by)
    adjusted = e.StepAdjusted(step, name, agent, *lists, parallel, _anew(files), reason)
    if adjusted == e.StepAdjusted(step, reason=reason):
        raise Invalid(
            f"what of step {step} is to be adjusted? give --agent, --name, --team, --blocked-by, "
            "--file or --parallel"
        )
    again = e.StepRestarted(step, "retry", reason, approved_by)

    def propose(state: Project, now: int) -> list[e.Event]:
        known = state.steps.get(step) or state.steps.get(step.replace(".", "_"))
        return [adjusted, again] if known and known.status == "failed" else [adjusted]

    return propose


@recording(steps, "verify")
def verify(
    step: options.Step,
    passed: Annotated[bool, typer.Option("--pass/--fail", help="How its result was found.")],
    details: Annotated[str, typer.Option("--details", help="What was checked, and found.")] = "",
) -> e.Event:
    """Record that somebody checked the result of a step.

    Example: passdown step verify 2 --pass --details "12 of 12 tests"
    """
    return e.StepVerified(step, passed, details)


@recording(steps, "output")
def record_output(
    step: options.Step,
    text: Annotated[str, typer.Argument(help="What was given; '-' reads it from stdin.")],
    agent: options.Agent = "",
) -> e.Event:
    """Record what an agent gave as the output of a step.

    Example: passdown step output 2 "Three options, the second is the cheapest" --agent architect
    """
    return e.StepOutputRecorded(step, _text(text), agent)


def transition(
    step: Annotated[str, typer.Argument(metavar="STEP", help="The step that is done.")],
    following: Annotated[
        list[str], typer.Argument(metavar="NEXT…", help="The step that begins, or several.")
    ],
    artifacts: options.Artifacts = None,
    context_files: options.ContextFiles = None,
    summary: Summary = "",
    decisions: Annotated[
        list[str] | None,
        typer.Option("--decide", metavar="KEY=VALUE", help="What was decided in it; repeatable."),
    ] = None,
    agent: Agent = "",
    passed: Annotated[
        str, typer.Option("--gate", metavar="NAME", help="The gate passed at its end.")
    ] = "",
    created: Created = None,
    modified: Modified = None,
    deleted: Deleted = None,
    interfaces: Interfaces = None,
    patterns: Patterns = None,
    integrations: Integrations = None,
    assumptions: Assumptions = None,
    warnings: Warnings = None,
    output: Output = "",
    batch: Batch = "",
) -> list[e.Event]:
    """Pass a step's gate, record its decisions, complete it, start the next: all of it, or nothing.

    Example: passdown transition 1 2 --artifact 01-requirements.md --decide region=swedencentral
    """
    files = tuple(artifacts or ()), tuple(context_files or ())
    decided = [_decision(text, step) for text in decisions or ()]
    gates = [e.GatePassed(passed, step)] if passed else []
    left = downstream(interfaces, patterns, integrations, assumptions, warnings)
    return [
        *gates,
        *decided,
        *_outputs(step, output),
        *manifest(step, created, modified, deleted),
        e.StepCompleted(step, *files, summary, left),
        *(e.StepStarted(key, agent, batch) for key in following),
    ]


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


def _anew(given: list[str] | None) -> tuple[str, ...] | None:
    """What stands for a list from now on; None leaves it as it is."""
    return None if given is None else tuple(filter(None, given))


def _outputs(step: str, output: str) -> list[e.StepOutputRecorded]:
    return [e.StepOutputRecorded(step, _text(output))] if output else []


def _text(given: str) -> str:
    """A text as it was given, or what stdin has."""
    if given != "-":
        return given
    if sys.stdin is None:
        raise Invalid("stdin is closed; send the output there, or give it as an argument")
    content = sys.stdin.buffer.read(MAX_PAYLOAD + 1)
    if len(content) > MAX_PAYLOAD:
        raise Invalid(
            f"the output on stdin is longer than {MAX_PAYLOAD:,} bytes; put it into a file and "
            "record that with `passdown files created`"
        )
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise Invalid(
            f"the output on stdin is not UTF-8 at byte {error.start:,}; send it as text"
        ) from error
    if not text:
        raise Invalid("there is no output on stdin, so there is nothing to record")
    return text
