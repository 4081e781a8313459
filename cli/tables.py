"""The projects as tables that any SQLite tool opens, and finding things by their words."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from msgspec import Struct

from cli import exits, options, output
from cli.answers import answers
from cli.recording import opened
from cli.screen import Cell, columns, fit, paint, table
from journal.errors import Invalid
from journal.workspace import Workspace
from projections import tables as relational
from projections.tables import Hit

#: More than anybody reads, and as far as SQLite can count.
_MOST = 2**63 - 1


class TablesAnswer(Struct, frozen=True):
    """The file with the tables, how it was found, and how many rows are in each table now."""

    ok: bool
    path: str
    status: str
    written: bool
    rows: dict[str, int]
    problem: str


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command("tables")(tables)
    app.command("search")(search)


# -- tables ----------------------------------------------------------------------------------


@answers(TablesAnswer)
def tables(
    to: Annotated[
        Path | None,
        typer.Option("--to", help="Make them in this file instead, once.", show_default=False),
    ] = None,
    project: options.Project = "",
    as_json: options.AsJson = False,
) -> int:
    """Keep the projects as tables in .passdown/tables.db, up to date until that is deleted.

    Example: passdown tables
    """
    with opened() as (workspace, journal):
        slugs = [project] if project else journal.projects()
        handles = [journal.project(slug) for slug in slugs]
        kept = workspace.folder / relational.FILE
        if to is None or os.path.realpath(to) == os.path.realpath(kept):
            done = relational.keep(workspace, handles, whole=not project, thorough=True)
            rows = {} if done.problem else relational.counts(kept)
            answer = TablesAnswer(
                done.well, done.path, done.status, done.written, rows, done.problem
            )
        else:
            _refuse_inside(workspace, to)
            relational.copy((handle.state for handle in handles), to)
            rows = relational.counts(to)
            answer = TablesAnswer(True, os.fspath(to), "fresh", True, rows, "")
    if as_json:
        output.document(answer)
    else:
        _show(answer)
    if answer.problem:
        output.note(answer.problem)
    return exits.OK if answer.ok else exits.NOT_WELL


def _refuse_inside(workspace: Workspace, to: Path) -> None:
    if Path(os.path.realpath(to)).is_relative_to(os.path.realpath(workspace.folder)):
        raise Invalid(f"{to} is among the journal's own files; choose a path elsewhere")


def _show(answer: TablesAnswer) -> None:
    output.line(f"{answer.path}: {answer.status}{', written' if answer.written else ''}")
    rows = [(name, f"{count:,}") for name, count in answer.rows.items()]
    for line in table(rows, right=(1,), indent=2):
        output.line(line)


# -- search ----------------------------------------------------------------------------------


@answers(list[Hit])
def search(
    words: Annotated[list[str], typer.Argument(help="All of them, in any order.")],
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="The best so many.")] = 20,
    project: Annotated[
        str,
        typer.Option("--project", "-p", envvar="PASSDOWN_PROJECT", help="Only in this project."),
    ] = "",
    as_json: options.AsJson = False,
) -> None:
    """Find decisions, blockers, notes, findings and all else by the words in them, best first.

    Of the last word its beginning is enough.

    Example: passdown search key vault
    """
    with opened() as (workspace, journal):
        slug = journal.project(project).slug if project else ""
        hits = relational.search(workspace, journal, " ".join(words), slug, min(limit, _MOST))
        several = not slug and len(journal.projects()) > 1
    if as_json:
        output.document(hits)
        return
    for line in _lines(hits, several):
        output.line(line)
    if not hits:
        output.note("nothing has these words in it")


def _lines(hits: list[Hit], several: bool) -> Iterator[str]:
    """Which thing it is, how it stands, since when; and the words as they stand in it."""
    rows = [
        [
            *([Cell(hit.project, "dim")] if several else []),
            Cell(hit.kind, "cyan"),
            Cell(fit(hit.item, 30), "bold"),
            Cell(hit.status),
            Cell(hit.at or "", "dim"),
            Cell(" "),
        ]
        for hit in hits
    ]
    for hit, line in zip(hits, table(rows), strict=True):
        yield line
        yield f"    {_highlighted(hit, columns() - 4)}"


def _highlighted(hit: Hit, room: int) -> str:
    shown = fit(hit.snippet, room)
    parts = []
    last = 0
    for begin, end in hit.matches:
        if begin < len(shown):
            parts += [shown[last:begin], paint(shown[begin:end], "yellow")]
            last = end
    return "".join((*parts, shown[last:]))
