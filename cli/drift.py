"""Edits by hand: what they changed, and what becomes of them."""

from typing import Annotated

import typer

from cli import exits, options, output
from cli.answers import ChangeAnswer, DriftAnswer, answers
from cli.recording import chosen, keep_tables, opened
from cli.screen import Cell, table
from journal.errors import Invalid
from journal.events import Json
from projections.drift import drifts
from projections.files import sync
from projections.values import as_text


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command("drift")(drift)


@answers(DriftAnswer)
def drift(
    adopt: Annotated[
        bool, typer.Option("--adopt", help="Record what was edited, and render the file anew.")
    ] = False,
    revert: Annotated[
        bool, typer.Option("--revert", help="Put the journal's version back, and keep the edit.")
    ] = False,
    project: options.Project = "",
    actor: options.Actor = "",
    as_json: options.AsJson = False,
) -> int:
    """Show which files were edited outside Passdown, field by field; adopt or revert the edits.

    Example: passdown drift
    """
    if adopt and revert:
        raise Invalid("an edit is adopted or reverted, not both; give --adopt or --revert")
    with opened() as (workspace, journal):
        handle = chosen(journal, project)
        found = drifts(workspace, handle)
        files, tables = [], []
        if adopt or revert:
            files = sync(workspace, handle, adopt=adopt, revert=revert, actor=actor or None)
            tables = keep_tables(workspace, [handle])
    changes = [
        ChangeAnswer(each.path, change.where, change.was, change.now)
        for each in found
        for change in each.changes
    ]
    problems = [file.problem for file in (*files, *tables) if file.problem]
    left = found if not (adopt or revert) else problems
    answer = DriftAnswer(handle.slug, [each.path for each in found], changes, files)
    if as_json:
        output.document(answer)
    else:
        _tell(answer, adopt, revert)
    for problem in problems:
        output.note(problem)
    for file in files:
        if file.status == "corrupt" and file.written:
            output.note(f"{file.path} was corrupt and is restored; its bytes are in {file.kept}")
    return exits.NOT_WELL if left else exits.OK


def _tell(answer: DriftAnswer, adopt: bool, revert: bool) -> None:
    if not answer.drifted:
        output.line(f"{answer.project}: no file was edited outside Passdown")
        return
    for path in answer.drifted:
        output.line(path)
        rows = [
            [Cell(change.where, "cyan"), Cell(said(change.was), "red"), Cell(said(change.now))]
            for change in answer.changes
            if change.path == path
        ]
        for line in table(rows, indent=2):
            output.line(line)
    if adopt or revert:
        done = [x.path for x in answer.files if x.written and x.path in answer.drifted]
        word = "adopted" if adopt else "reverted"
        output.line(f"{word}: {', '.join(done) or 'nothing'}")
    else:
        output.line("`passdown drift --adopt` records it, `passdown drift --revert` puts it back")


def said(value: list[Json]) -> str:
    """What one side has, in words."""
    return ", ".join(map(as_text, value)) if value else "(nothing)"
