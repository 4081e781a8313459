"""Caring for journal and files: sync, verify, recover."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from cli import exits, options, output
from cli.answers import JournalAnswer, Rebuilt, SalvagedAnswer, Synced, Verified, answers
from cli.progress import progress
from cli.proofs import HeldAnswer, ProofAnswer
from cli.recording import inspect_tables, keep_tables, opened
from journal import Handle, Journal
from journal import workspace as places
from journal.audit import audit
from journal.errors import Invalid, JournalError
from journal.ranges import cores
from journal.recovery import recover_journal
from journal.salvage import Salvaged, salvage
from journal.store import Flaw
from journal.workspace import Workspace
from projections.files import FileState, inspect, sync
from projections.unfinished import is_open


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command("sync")(sync_files)
    app.command("verify")(verify)
    app.command("recover")(recover)


@answers(Synced)
def sync_files(project: options.Project = "", as_json: options.AsJson = False) -> int:
    """Bring the files of every project, or of one, up to date.

    Example: passdown sync
    """
    with opened() as (workspace, journal):
        handles = _asked(journal, project)
        found = {each.slug: sync(workspace, each) for each in handles}
        tables = keep_tables(workspace, handles, whole=not project)
    return _report(found, tables, as_json)


def _asked(journal: Journal, project: str) -> list[Handle]:
    """The project that was named, else all."""
    return [journal.project(slug) for slug in ([project] if project else journal.projects())]


def _report(found: dict[str, list[FileState]], tables: list[FileState], as_json: bool) -> int:
    """What was done to each file; it is well if no file has a problem left."""
    every = (*found.values(), tables)
    well = all(file.well for files in every for file in files)
    if as_json:
        output.document(Synced(well, found, next(iter(tables), None)))
    for files in every:
        for file in files:
            if not as_json:
                done = f"{file.status}, written" if file.written else file.status
                kept = f"; old bytes in {file.kept}" if file.kept else ""
                output.line(f"{file.path}: {done}{kept}")
            if file.problem:
                output.note(file.problem)
    return exits.OK if well else exits.NOT_WELL


@answers(Verified, ProofAnswer)
def verify(
    path: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="Only prove by its stamp what this file shows."),
    ] = None,
    against: Annotated[
        list[Path] | None,
        typer.Option(
            "--against", help="A seal; the journal must still have what it states. Repeatable."
        ),
    ] = None,
    key: Annotated[
        list[str] | None,
        typer.Option("--key", help="A verifier key that seals must be signed with, or its file."),
    ] = None,
    project: options.Project = "",
    jobs: Annotated[
        int,
        typer.Option("--jobs", min=0, help="So many processes; as many as there are cores if 0."),
    ] = 0,
    as_json: options.AsJson = False,
) -> int:
    """Check the database, heads, chain, commitments and every projection file.

    With FILE, whatever it is called: that it is the replay at the version it names, or else the
    first line that is not.

    Example: passdown verify
    """
    if path and against:
        raise Invalid("a file is proved by the journal, and the journal by a seal: one at a time")
    with opened() as (workspace, journal):
        if path:
            from cli.proving import prove_file

            return prove_file(journal, path, project, as_json)
        held = _held(journal, against or (), key or ()) if against else []
        flaws = _flaws(journal, jobs or cores())
        files: dict[str, list[FileState]] = {}
        tables: list[FileState] = []
        try:
            handles = _asked(journal, project)
            for handle in handles:
                files[handle.slug] = inspect(workspace, handle)
            tables = inspect_tables(workspace, handles, whole=not project)
        except JournalError as error:
            if not flaws:
                flaws.append(Flaw(str(error)))
        versions = {} if flaws else {slug: journal.project(slug).state.version for slug in files}
    every = [one for each in (*files.values(), tables) for one in each]
    unfinished = is_open(workspace)
    well = not flaws and not unfinished
    well = well and all(map(_is_fresh, every)) and all(each.ok for each in held)
    if as_json:
        of_journal = JournalAnswer(not flaws, versions, flaws)
        output.document(Verified(well, of_journal, files, next(iter(tables), None), held))
    else:
        _show_journal(flaws, versions)
        if held:
            from cli.sealing import tell

            tell(held, signed=bool(key))
        for file in every:
            output.line(f"{file.path}: {file.status}")
    if flaws:
        output.note(
            "the journal is damaged; `passdown recover --journal` keeps every record before the "
            f"damage: {_sum(salvage(workspace.folder))}"
        )
    elif any(file.status in ("missing", "corrupt", "stale") for file in every):
        output.note(
            "not every file is fresh; `passdown recover` restores what is missing, corrupt or stale"
        )
    if unfinished:
        output.note("an erasure is not done; `passdown redact --finish` carries it to its end")
    for problem in [file.problem for file in every if file.problem]:
        output.note(problem)
    return exits.OK if well else exits.NOT_WELL


def _held(journal: Journal, against: Sequence[Path], key: Sequence[str]) -> list[HeldAnswer]:
    """How the journal stands against seals, which only few ask for."""
    from cli import sealing

    known = sealing.verifiers(key)
    return sealing.hold(journal, list(map(sealing.read_seal, against)), known)


def _flaws(journal: Journal, jobs: int) -> list[Flaw]:
    try:
        total = sum(head.version for head in journal.store.heads())
    except (JournalError, TypeError):
        total = None  # what is wrong with the heads, the audit says
    with progress("verifying", total) as advance:
        return list(audit(journal.store, advance, jobs))


def _is_fresh(file: FileState) -> bool:
    return file.status == "fresh" or (file.status == "taken" and file.well)


def _show_journal(flaws: list[Flaw], versions: dict[str, int]) -> None:
    for flaw in flaws:
        output.line(f"journal: {output.plain(flaw.what)}")
    for slug, version in versions.items():
        output.line(f"{slug}: {version} records, database, head, chain and commitments are well")


@answers(Synced, Rebuilt)
def recover(
    drifted: Annotated[
        bool,
        typer.Option("--drifted", help="Also replace what was edited by hand or is ahead."),
    ] = False,
    journal: Annotated[
        bool, typer.Option("--journal", help="Salvage a damaged journal into a new one.")
    ] = False,
    project: options.Project = "",
    actor: options.Actor = "",
    as_json: options.AsJson = False,
) -> int:
    """Restore files that are missing, corrupt or stale from the journal, byte for byte.

    Example: passdown recover
    """
    workspace = places.find()
    if journal:
        return _recover_journal(workspace, actor or None, as_json)
    with Journal.open(workspace.folder) as opened_journal:
        handles = _asked(opened_journal, project)
        found = {
            each.slug: sync(workspace, each, recover=True, revert=drifted, actor=actor or None)
            for each in handles
        }
        tables = keep_tables(workspace, handles, whole=not project, thorough=True)
    return _report(found, tables, as_json)


def _recover_journal(workspace: Workspace, actor: str | None, as_json: bool) -> int:
    done = recover_journal(workspace, actor)
    if as_json:
        data = [_data(one) for one in done.projects] if done else []
        output.document(Rebuilt(True, done is not None, done.kept if done else None, data))
    elif done is None:
        output.line("the journal is well, nothing to salvage")
    else:
        for one in done.projects:
            output.line(str(one))
        output.line(f"the damaged journal is kept in {done.kept}")
    if done:
        output.note("`passdown verify` shows which files are ahead of what was salvaged")
    return exits.OK


def _data(one: Salvaged) -> SalvagedAnswer:
    return SalvagedAnswer(one.project, len(one.records), one.lost, one.reason)


def _sum(found: list[Salvaged]) -> str:
    parts = [f"{x.project} {len(x.records)} of {len(x.records) + x.lost}" for x in found]
    return ", ".join(parts) or "none"
