"""Questions that wait for an answer."""

from typing import Annotated

import typer

from cli import options
from cli.answers import answers
from cli.group import group
from cli.listing import show_list, state_of, told
from cli.peers import QuestionAnswer
from cli.recording import recording
from cli.screen import Cell
from journal import events as e

questions = group("Open, defer, resolve and list questions.")

Question = Annotated[str, typer.Argument(help="The question's id, such as OQ-001, or 1.")]


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.add_typer(questions, name="question")


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


@answers(list[QuestionAnswer])
def list_questions(project: options.Project = "", as_json: options.AsJson = False) -> None:
    """List the questions: those that are open first, then what can wait, then what is answered.

    Example: passdown question list
    """
    state = state_of(project)
    order = ("open", "deferred", "resolved")
    asked = sorted(state.questions.values(), key=lambda each: order.index(each.status))
    found = [told(QuestionAnswer, each) for each in asked]
    head = ("id", "status", "source", "question", "answer")
    show_list(found, as_json, head, _question, f"{state.slug}: nothing was asked")


questions.command("list")(list_questions)


def _question(each: QuestionAnswer) -> list[Cell]:
    return [
        Cell(each.id, "cyan"),
        Cell(each.status, "yellow" if each.status == "open" else "dim"),
        Cell(each.source),
        Cell(each.text),
        Cell(each.resolution),
    ]
