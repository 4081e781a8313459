"""The worklog: tell what was done, for those who come after; and move what is done with away."""

from typing import Annotated

import typer

from cli import options, output
from cli.answers import Recorded, answers
from cli.group import group
from cli.listing import show_list, state_of, told
from cli.peers import Compaction, EntryAnswer
from cli.recording import Asked, record_decided, recording
from cli.screen import Cell
from cli.texts import given
from journal import Project
from journal import events as e
from journal import workspace as places
from journal.peers import WorklogEntry
from journal.rules import workspace_path
from journal.rules.names import find
from journal.worklog import compactable, held_back

worklog = group("Log what was done, and move what is done with into the archive.")

Entry = Annotated[str, typer.Argument(help="The entry's id, such as W001, or 1.")]


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.add_typer(worklog, name="worklog")


@recording(worklog, "log")
def log_entry(
    title: Annotated[str, typer.Argument(help="What was done, on one line.")],
    text: Annotated[str, typer.Option("--text", help="More about it; '-' is stdin.")] = "",
    text_file: Annotated[
        str, typer.Option("--text-file", metavar="FILE", help="A file that has more about it.")
    ] = "",
    status: Annotated[
        str,
        typer.Option("--status", help='How it stands; "complete" and "done" complete the entry.'),
    ] = "",
    changed_files: Annotated[
        list[str] | None, typer.Option("--changed-file", help="A file that changed; repeatable.")
    ] = None,
    tests: Annotated[str, typer.Option("--tests", help="Which tests were run, and how.")] = "",
    blocking: Annotated[str, typer.Option("--blocking", help="What stands in the way.")] = "",
    next_owner: Annotated[str, typer.Option("--next-owner", help="Who goes on with it.")] = "",
    refers: Annotated[
        list[str] | None,
        typer.Option("--refers", help="An entry that it refers to, such as W001; repeatable."),
    ] = None,
    agent: options.Agent = "",
) -> e.Event:
    """Log what was done; what is said beyond title and text is its handoff block.

    Example: passdown worklog log "The parser reads numbers" --status partial --actor coder
    """
    places.find()  # before stdin is read: without a journal there is nowhere to log it
    files = tuple(map(workspace_path, changed_files or ()))
    handoff = e.Handoff(status, files, tests, blocking, next_owner)
    return e.WorklogEntryLogged(
        title,
        given(text, text_file, "--text"),
        agent,
        handoff=None if handoff == e.Handoff() else handoff,
        refers=tuple(refers or ()),
    )


@recording(worklog, "complete")
def complete_entry(
    entry: Entry,
    note: Annotated[str, typer.Option("--note", help="What came of it.")] = "",
) -> e.Event:
    """Record that nothing of an entry is open any more, so that it can move into the archive.

    Example: passdown worklog complete W001 --note "merged" --actor coder
    """
    return e.WorklogEntryCompleted(entry, note)


@answers(Recorded, Compaction)
def compact(
    entries: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ENTRY]…",
            help="The entries, such as W001; all that are completed and that no active one refers "
            "to if none is given.",
        ),
    ] = None,
    reason: options.Reason = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would move, and what has to stay.")
    ] = False,
    project: options.Project = "",
    actor: options.Actor = "",
    session: options.Session = "",
    key: options.Key = "",
    occurred: options.Occurred = "",
    no_sync: options.NoSync = False,
    as_json: options.AsJson = False,
    lease: options.Lease = "",
) -> None:
    """Move completed entries into the archive, as the maintainer, who so approves of it.

    Example: passdown worklog compact --reason "beyond 500 lines" --actor ada
    """
    if dry_run:
        _foretell(state_of(project), entries, as_json)
        return
    asked = Asked(project, actor, session, key, occurred, no_sync, as_json, lease)

    def propose(state: Project, now: int) -> list[e.Event]:
        return [e.WorklogCompacted(tuple(entries or compactable(state)), reason=reason)]

    record_decided(asked, propose)


worklog.command("compact")(compact)


def _foretell(state: Project, entries: list[str] | None, as_json: bool) -> None:
    """Say what a compaction would do."""
    known = [find("worklog entry", id, state.worklog) for id in entries or state.worklog]
    wanted = {entry.id for entry in known if entry.archived is None}
    kept = {id: f"{by} refers to it" for id, by in held_back(state, wanted).items()}
    if entries:
        kept |= {id: "it is not completed" for id in wanted if state.worklog[id].completed is None}
    kept = {id: kept[id] for id in state.worklog if id in kept}
    found = Compaction(state.slug, [id for id in compactable(state) if id in wanted], kept)
    if as_json:
        output.document(found)
        return
    if not found.entries:
        output.line(f"{state.slug}: no entry would move")
    for id in found.entries:
        output.line(f"would move: {id} {output.plain(state.worklog[id].title, 100)}")
    for id, why in found.kept.items():
        output.line(f"stays: {id}, {why}")


@answers(list[EntryAnswer])
def list_entries(
    every: Annotated[bool, typer.Option("--all", help="Also what is in the archive.")] = False,
    project: options.Project = "",
    as_json: options.AsJson = False,
) -> None:
    """List the entries of the worklog, the newest first.

    Example: passdown worklog list --all
    """
    state = state_of(project)
    found = [
        _answer(entry)
        for entry in reversed(state.worklog.values())
        if every or entry.archived is None
    ]
    head = ("id", "logged", "by", "status", "next owner", "title")
    show_list(found, as_json, head, _row, f"{state.slug}: nothing was logged")


worklog.command("list")(list_entries)


def _answer(entry: WorklogEntry) -> EntryAnswer:
    status = "active" if entry.completed is None else "completed"
    return told(EntryAnswer, entry, status="archived" if entry.archived is not None else status)


def _row(entry: EntryAnswer) -> list[Cell]:
    return [
        Cell(entry.id, "cyan"),
        Cell(entry.at, "dim"),
        Cell(entry.agent),
        Cell(entry.status, "" if entry.status == "active" else "dim"),
        Cell(entry.handoff.next_owner if entry.handoff else ""),
        Cell(entry.title),
    ]
