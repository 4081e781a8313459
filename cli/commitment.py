"""What agents promise each other."""

from typing import Annotated

import typer

from cli import options
from cli.answers import answers
from cli.group import group
from cli.listing import show_list, state_of, told
from cli.peers import CommitmentAnswer
from cli.recording import recording
from cli.screen import Cell
from journal import events as e

commitments = group("Say what you promise, and what became of it.")

Commitment = Annotated[str, typer.Argument(help="The commitment's id, such as C001, or 1.")]


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.add_typer(commitments, name="commitment")


@recording(commitments, "make")
def make(
    text: Annotated[str, typer.Argument(help="What is promised.")],
    to: Annotated[str, typer.Option("--to", help="To whom; to all if not given.")] = "",
    due: options.Due = "",
    agent: options.Agent = "",
) -> e.Event:
    """Promise something; it stands in every snapshot until it is fulfilled or dropped.

    Example: passdown commitment make "Review the lexer" --due "next session" --actor reviewer
    """
    return e.CommitmentMade(text, to, agent, due)


@recording(commitments, "fulfil")
def fulfil(
    commitment: Commitment,
    note: Annotated[str, typer.Option("--note", help="What came of it.")] = "",
) -> e.Event:
    """Record that what was promised is done.

    Example: passdown commitment fulfil C001 --note "two remarks" --actor reviewer
    """
    return e.CommitmentFulfilled(commitment, note)


@recording(commitments, "drop")
def drop(commitment: Commitment, reason: options.Reason = "") -> e.Event:
    """Record that what was promised will not be done.

    Example: passdown commitment drop C001 --reason "the lexer is gone" --actor reviewer
    """
    return e.CommitmentDropped(commitment, reason)


@answers(list[CommitmentAnswer])
def list_commitments(project: options.Project = "", as_json: options.AsJson = False) -> None:
    """List what was promised, what is still open first.

    Example: passdown commitment list
    """
    state = state_of(project)
    promised = sorted(state.commitments.values(), key=lambda each: each.status != "open")
    found = [told(CommitmentAnswer, each) for each in promised]
    head = ("id", "status", "by", "to", "due", "promise")
    show_list(found, as_json, head, _promise, f"{state.slug}: nothing was promised")


commitments.command("list")(list_commitments)


def _promise(each: CommitmentAnswer) -> list[Cell]:
    return [
        Cell(each.id, "cyan"),
        Cell(each.status, "" if each.status == "open" else "dim"),
        Cell(each.agent),
        Cell(each.to or "all"),
        Cell(each.due or "-"),
        Cell(each.text),
    ]
