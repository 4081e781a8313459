"""Reading: a project's state, now or then, and its history. Nothing here writes."""

from typing import Annotated, Literal

import typer

from cli import options, output
from cli.describe import describe
from cli.document import project_data, record_data
from cli.recording import chosen, opened
from journal import Handle, Project
from journal.clock import iso, parse
from journal.payload import decode
from journal.state import active_blockers, step_agent
from projections.dialect import DIALECTS
from projections.position import chosen as chosen_value
from projections.position import keyed, next_action, outlook

Form = Literal["session-state", "handoff", "state-md", "json"]
SIGNS = {"pending": "·", "in_progress": "▶", "complete": "✓", "failed": "✗", "skipped": "–"}


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command("show")(show)
    app.command("log")(log)


def show(
    form: Annotated[
        Form | None, typer.Option("--as", help="As one of the files, or as JSON.")
    ] = None,
    at: Annotated[str, typer.Option("--at", help="As it was: a version, or a time.")] = "",
    project: options.Project = "",
    as_json: options.AsJson = False,
) -> None:
    """Show where a project stands, or stood.

    Example: passdown show --as handoff --at 12
    """
    with opened() as (_, journal):
        handle = chosen(journal, project)
        state = _moment(handle, at)
    if form == "json" or (as_json and not form):
        output.document(project_data(state))
    elif form:
        content = DIALECTS[form].render(state)
        if as_json:
            output.document({"project": state.slug, "as": form, "content": content.decode()})
        else:
            output.raw(content)
    else:
        _summary(state)


def _moment(handle: Handle, at: str) -> Project:
    if not at:
        return handle.state
    version = at.isdecimal() and len(at) < 19
    return handle.at(int(at) if version else handle.version_at(parse(at)))


def _summary(state: Project) -> None:
    output.line(f"{output.plain(state.title, 60)}  ({state.slug}, {state.workflow})")
    where = f"version {state.version}, updated {iso(state.updated)}"
    output.line(where + (f", branch {output.plain(state.branch, 60)}" if state.branch else ""))
    if state.archived is not None:
        output.line(f"archived {iso(state.archived)}")
    output.line()
    wide = max((len(step.name) for step in state.steps.values()), default=0)
    for step in state.steps.values():
        agent = output.plain(step_agent(state, step), 30)
        sub = f"  after {output.plain(step.sub_step, 40)}" if step.sub_step else ""
        name = output.plain(step.name, 40)
        row = f"  {SIGNS[step.status]} {step.key:>4}  {name:{min(wide, 40)}}  {step.status:11}"
        output.line(f"{row}  {agent}{sub}".rstrip())
    _list("Open findings", [f"{id}  {title}" for title, id in state.open_findings.items()])
    _list("Active blockers", [f"{b.id}  {b.description}" for b in active_blockers(state)])
    _list(
        "Decisions",
        [f"{key} = {chosen_value(decision)}" for key, decision in keyed(state).items()]
        + [
            f"{decision.id}  {decision.title or decision.choice}"
            for decision in state.decisions.values()
            if not decision.key and decision.superseded_by is None
        ],
    )
    output.line()
    output.line(f"Next: {output.plain(next_action(state) or outlook(state), 200)}")


def _list(title: str, items: list[str], most: int = 10) -> None:
    if items:
        output.line()
        output.line(f"{title} ({len(items)})")
        for item in items[-most:]:
            output.line(f"  {output.plain(item, 100)}")
        if len(items) > most:
            output.line(f"  … {len(items) - most} older: passdown show --as json")


def log(
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=0, help="The newest so many; 0 for all.")
    ] = 50,
    after: Annotated[int, typer.Option("--after", min=0, help="Only after this version.")] = 0,
    project: options.Project = "",
    as_json: options.AsJson = False,
) -> None:
    """Show what happened, oldest first; with --json one record a line.

    Example: passdown log -n 10
    """
    with opened() as (_, journal):
        handle = chosen(journal, project)
        head = journal.store.head(handle.slug)
        if limit and head:
            after = max(after, head.version - limit)
        for record in handle.records(after):
            if as_json:
                output.document(record_data(record))
                continue
            who = output.plain(record.actor or "-", 20)
            words = describe(decode(record.type, record.data))
            output.line(f"{record.version:>6}  {iso(record.time)}  {who:20}  {words}")
