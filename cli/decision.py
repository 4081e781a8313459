"""Decisions, and the questions that wait for one."""

from typing import Annotated

import typer

from cli import options
from cli.group import group
from cli.recording import recording
from journal import events as e
from journal.errors import Invalid

questions = group("Open, defer and resolve questions.")

Question = Annotated[str, typer.Argument(help="The question's id, such as OQ-001, or 1.")]


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.add_typer(questions, name="question")
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


@recording(questions, "open")
def open_question(
    text: Annotated[str, typer.Argument(help="What has to be answered.")],
    source: Annotated[str, typer.Option("--source", help="Where it came up.")] = "",
    step: Annotated[str, typer.Option("--step", help="The step it belongs to.")] = "",
) -> e.Event:
    """Record that something has to be answered.

    Example: passdown question open "Which regions must it run in?" --source review
    """
    return e.QuestionOpened(text, source, step)


@recording(questions, "defer")
def defer_question(question: Question, reason: options.Reason = "") -> e.Event:
    """Record that the answer can wait.

    Example: passdown question defer OQ-001 --reason "not before the pilot"
    """
    return e.QuestionDeferred(question, reason)


@recording(questions, "resolve")
def resolve_question(question: Question, resolution: options.Resolution = "") -> e.Event:
    """Record the answer to a question.

    Example: passdown question resolve OQ-001 --resolution "two regions of the EU"
    """
    return e.QuestionResolved(question, resolution)
