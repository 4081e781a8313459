"""Decisions."""

from typing import Annotated

import typer

from cli import options
from cli.recording import recording
from journal import events as e
from journal.errors import Invalid


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    recording(app, "decide")(decide)


def decide(
    title: Annotated[str, typer.Argument(help="What had to be decided.")] = "",
    choice: Annotated[str, typer.Option("--choice", "-c", help="What was decided.")] = "",
    rationale: Annotated[str, typer.Option("--rationale", "-r", help="Why.")] = "",
    name: Annotated[str, typer.Option("--key", "-k", help="The key it fills.")] = "",
    value: Annotated[str, typer.Option("--value", help="The value of that key.")] = "",
    alternative: Annotated[
        list[str] | None, typer.Option("--alternative", help="What was rejected; repeatable.")
    ] = None,
    impact: Annotated[str, typer.Option("--impact", help="What it changes.")] = "",
    reversible: Annotated[
        bool | None, typer.Option("--reversible/--irreversible", help="Whether it can be undone.")
    ] = None,
    kind: Annotated[
        e.DecisionKind | None, typer.Option("--kind", help="What sort of decision.")
    ] = None,
    step: options.AtStep = "",
) -> e.Event:
    """Record a decision.

    Example: passdown decide --key region --value swedencentral --rationale "data stays in the EU"
    """
    if value and not name:
        raise Invalid("--value needs the --key that it fills")
    if name and not value:
        raise Invalid(f"--key {name} needs its --value")
    return e.DecisionMade(
        title,
        choice,
        rationale,
        name,
        value if name else None,
        tuple(alternative or ()),
        impact,
        reversible,
        kind,
        step,
    )
