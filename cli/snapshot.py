"""Snapshots: take one when a session closes, see whether one holds, and look at them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from cli import exits, leaving, options, output
from cli.answers import Recorded, answers
from cli.group import group
from cli.listing import show_list, state_of, told
from cli.peers import CheckAnswer, SnapshotAnswer, ValidationAnswer, WholeSnapshot
from cli.recording import Asked, chosen, opened, record_decided
from cli.screen import Cell
from journal import Project
from journal import events as e
from journal import workspace as places
from journal.clock import iso
from journal.errors import Invalid, NotFound
from journal.peers import Snapshot
from journal.workspace import Workspace
from projections import snapshot as snapshots
from projections.differences import differences

snapshot = group()

Token = Annotated[str, typer.Argument(metavar="TOKEN", help="Its token, or its agent's name.")]


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.add_typer(snapshot, name="snapshot")


@snapshot.callback(invoke_without_command=True)
@answers(Recorded)
def take(
    context: typer.Context,
    why: leaving.Why = "",
    why_file: leaving.WhyFile = "",
    following: leaving.Next = "",
    status: leaving.Status = None,
    close_reason: leaving.CloseReason = "completed",
    read: leaving.Read = None,
    agent: options.Agent = "",
    project: options.Project = "",
    actor: options.Actor = "",
    session: options.Session = "",
    key: options.Key = "",
    occurred: options.Occurred = "",
    no_sync: options.NoSync = False,
    as_json: options.AsJson = False,
    lease: options.Lease = "",
) -> None:
    """Compose what a session leaves from the state, and append it to its agent's own file.

    Example: passdown snapshot --why "the grammar is ambiguous, see src/parser.py" --actor coder
    """
    if context.invoked_subcommand is not None:
        return
    words = leaving.said(why, why_file, following, status, read)
    workspace = places.find()
    asked = Asked(project, actor, session, key, occurred, no_sync, as_json, lease)

    def propose(state: Project, now: int) -> list[e.Event]:
        meant = leaving.open_session(state, session, agent or actor)
        return leaving.taken(workspace, state, meant, words, close_reason)

    record_decided(asked, propose)


# -- whether they hold -----------------------------------------------------------------------


@answers(list[ValidationAnswer])
def validate(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="An agent's file; all that hold if not given."),
    ] = None,
    project: options.Project = "",
    as_json: options.AsJson = False,
) -> int:
    """Check snapshots: checksum, active task, mailbox, files and questions; exit 1 if one fails.

    Example: passdown snapshot validate
    """
    with opened() as (workspace, journal):
        state = chosen(journal, project).state
    found = list(_of_file(workspace, state, file) if file else _newest(workspace, state))
    if as_json:
        output.document(found)
    for each in found:
        if not as_json:
            _tell(each)
    if not found and not as_json:
        output.line(f"{state.slug}: no snapshot was taken yet")
    return exits.OK if all(each.valid for each in found) else exits.NOT_WELL


snapshot.command("validate")(validate)


def _newest(workspace: Workspace, state: Project) -> Iterator[ValidationAnswer]:
    """The snapshot that holds of each agent, by what the journal has of it."""
    last = {taken.agent: taken for taken in state.snapshots.values()}
    for taken in last.values():
        yield _checked(workspace, state, snapshots.recorded(taken), "")


def _of_file(workspace: Workspace, state: Project, file: Path) -> Iterator[ValidationAnswer]:
    """The snapshots that stand in a file, ours and foreign ones."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise Invalid(f"{file} cannot be read: {error.strerror}; check the path") from error
    entries = snapshots.entries(content)
    if not entries:
        raise Invalid(f"{file} has no snapshot; its heading is ## Session Close — State Snapshot")
    for entry in entries:
        yield _checked(workspace, state, snapshots.claimed(state, entry, file.name), str(file))


def _checked(
    workspace: Workspace, state: Project, found: snapshots.Claim, path: str
) -> ValidationAnswer:
    """What of one snapshot holds; of a file the lines are those of the file."""

    def exists(named: str) -> bool:
        real = workspace.inside(named)
        return real is not None and real.exists()

    failed = snapshots.checks(state, found.agent, found.token, found.body, found.taken, exists)
    first = found.body_line - 1 if path else 0
    checks = [
        CheckAnswer(
            name,
            not any(each.name == name for each in failed),
            [
                _told(each, each.line + first if each.line else found.line)
                for each in failed
                if each.name == name
            ],
        )
        for name in snapshots.NAMES
    ]
    later = found.superseded_by(state)
    valid = not (failed or found.wrong)
    return ValidationAnswer(
        found.token, found.agent, path, found.line, valid, later, checks, list(found.wrong)
    )


def _told(failed: snapshots.Check, line: int) -> str:
    where = f"line {line}" if line else ""
    return ": ".join(filter(None, (where, failed.value, failed.said)))


def _tell(each: ValidationAnswer) -> None:
    where = f"{each.file} line {each.line}: " if each.file else ""
    named = each.token or "a snapshot without a token"
    later = f", superseded by {each.superseded_by}" if each.superseded_by else ""
    how = "holds" if each.valid else "does not hold"
    output.line(f"{where}{output.plain(named, 120)} of {output.plain(each.agent, 80)} {how}{later}")
    for wrong in each.wrong:
        output.line(f"  front matter: {output.plain(wrong)}")
    for check in each.checks:
        for said in check.failed:
            output.line(f"  {check.name}: {output.plain(said)}")


# -- what there is ---------------------------------------------------------------------------


@answers(list[SnapshotAnswer])
def list_snapshots(project: options.Project = "", as_json: options.AsJson = False) -> None:
    """List the snapshots, the newest first.

    Example: passdown snapshot list
    """
    state = state_of(project)
    found = [_answer(state, each) for each in reversed(state.snapshots.values())]
    head = ("token", "agent", "session", "taken", "status", "task", "superseded by")
    show_list(found, as_json, head, _row, f"{state.slug}: no snapshot was taken yet")


snapshot.command("list")(list_snapshots)


def _answer(state: Project, taken: Snapshot) -> SnapshotAnswer:
    return told(SnapshotAnswer, taken, superseded_by=snapshots.recorded(taken).superseded_by(state))


def _row(each: SnapshotAnswer) -> list[Cell]:
    return [
        Cell(each.token, "cyan"),
        Cell(each.agent),
        Cell(each.session),
        Cell(each.at, "dim"),
        Cell(each.status),
        Cell(each.task),
        Cell(each.superseded_by, "dim"),
    ]


@answers(WholeSnapshot)
def show(
    token: Token,
    against: Annotated[
        str,
        typer.Option("--against", metavar="TOKEN", help="Only what is different from this one."),
    ] = "",
    project: options.Project = "",
    as_json: options.AsJson = False,
) -> None:
    """Show a snapshot as it stands in its agent's file, or how it differs from another.

    Example: passdown snapshot show coder
    """
    state = state_of(project)
    taken = _named(state, token)
    changed: list[str] = []
    if against:
        other = _named(state, against)
        lines = differences(other.body, taken.body)
        changed = list(lines) if lines is not None else taken.body.split("\n")
    if as_json:
        answer = _answer(state, taken)
        output.document(
            told(WholeSnapshot, taken, superseded_by=answer.superseded_by, changed=changed)
        )
        return
    if not against:
        output.raw(snapshots.entry(taken).encode())
        return
    output.line(f"from {other.token}, {iso(other.at)}, to {taken.token}, {iso(taken.at)}:")
    for line in changed or ["nothing is different"]:
        output.line(f"  {output.plain(line)}")


snapshot.command("show")(show)


def _named(state: Project, name: str) -> Snapshot:
    """A snapshot by its token, or the newest of an agent."""
    own = [each for each in state.snapshots.values() if each.agent == name]
    found = state.snapshots.get(name) or (own[-1] if own else None)
    if found is None:
        agents = dict.fromkeys(each.agent for each in state.snapshots.values())
        hint = "`passdown snapshot list` shows them" if state.snapshots else "none was taken yet"
        raise NotFound("snapshot", name, (*state.snapshots, *agents), hint=hint)
    return found
