"""What is wrong or was looked at: findings, reviews, errors."""

from typing import Annotated

import typer

from cli import options
from cli.group import group
from cli.recording import recording
from journal import events as e

findings = group("Open and resolve findings.")
errors = group("Record and resolve errors.")


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.add_typer(findings, name="finding")
    app.add_typer(errors, name="error")
    recording(app, "review")(review)


@recording(findings, "open")
def open_finding(
    title: Annotated[str, typer.Argument(help="What is wrong.")],
    severity: Annotated[e.Severity, typer.Option("--severity", help="How bad.")] = "must_fix",
    detail: Annotated[str, typer.Option("--detail", help="More about it.")] = "",
    step: options.AtStep = "",
) -> e.Event:
    """Record that something is wrong with work that was produced.

    Example: passdown finding open "Key Vault allows public access"
    """
    return e.FindingOpened(title, severity, step, detail)


@recording(findings, "resolve")
def resolve_finding(
    finding: Annotated[str, typer.Argument(help="The finding's id, such as F001, or 1.")],
    resolution: options.Resolution = "",
    decision: Annotated[str, typer.Option("--decision", help="The decision that settled it.")] = "",
) -> e.Event:
    """Record that a finding was dealt with.

    Example: passdown finding resolve F001 --resolution "private endpoint added"
    """
    return e.FindingResolved(finding, resolution, decision)


def review(
    step: options.Step,
    complexity: Annotated[str, typer.Option("--complexity", help="How complex it was.")] = "",
    planned: Annotated[int, typer.Option("--planned", min=0, help="Passes planned.")] = 0,
    executed: Annotated[int, typer.Option("--executed", min=0, help="Passes executed.")] = 0,
    skipped: Annotated[
        list[str] | None, typer.Option("--skipped", help="A pass left out; repeatable.")
    ] = None,
    skip_reasons: Annotated[
        list[str] | None, typer.Option("--skip-reason", help="Why it was; repeatable.")
    ] = None,
    models: Annotated[
        list[str] | None, typer.Option("--model", help="A model that reviewed; repeatable.")
    ] = None,
) -> e.Event:
    """Record how a step's output was reviewed; the latest review of a step counts.

    Example: passdown review 2 --complexity standard --planned 3 --executed 2
    """
    lists = tuple(skipped or ()), tuple(skip_reasons or ()), tuple(models or ())
    return e.ReviewRecorded(step, complexity, planned, executed, *lists)


@recording(errors, "record")
def record_error(
    message: Annotated[str, typer.Argument(help="What went wrong.")],
    kind: options.Kind = "runtime",
    step: options.AtStep = "",
    task: Annotated[str, typer.Option("--task", help="The task in which it happened.")] = "",
    agent: options.Agent = "",
) -> e.Event:
    """Record that an attempt failed.

    Example: passdown error record "the registry did not answer" --kind timeout
    """
    return e.ErrorRecorded(message, kind, step, task, agent)


@recording(errors, "resolve")
def resolve_error(
    error: Annotated[str, typer.Argument(help="The error's id, such as E001, or 1.")],
    resolution: options.Resolution = "",
) -> e.Event:
    """Record that what was behind an error is mended.

    Example: passdown error resolve E001 --resolution "a longer timeout"
    """
    return e.ErrorResolved(error, resolution)
