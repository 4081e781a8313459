"""Leases: hold a step or files alone, keep them, give them back."""

from typing import Annotated

import typer

from cli import options
from cli.answers import answers
from cli.group import group
from cli.listing import show_list, state_of, told
from cli.peers import LeaseAnswer
from cli.recording import recording
from cli.screen import Cell
from journal import Project, ids
from journal import events as e
from journal.clock import iso, now
from journal.entities import Lease, is_stale, lease_until
from journal.errors import Invalid

leases = group(
    "Hold a step alone, for as long as the lease is renewed; or files, for a few revisions."
)

Token = Annotated[str, typer.Argument(envvar="PASSDOWN_LEASE", help="The lease's token.")]


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.add_typer(leases, name="lease")


@recording(leases, "acquire")
def acquire(
    step: Annotated[
        str,
        typer.Argument(metavar="[STEP]", help="The step's key, such as 2 or 3_5; or name files."),
    ] = "",
    files: Annotated[
        list[str] | None,
        typer.Option("--file", help="A file of the workspace that is held; repeatable."),
    ] = None,
    agent: options.Agent = "",
    seconds: Annotated[
        int | None,
        typer.Option(
            "--seconds",
            min=1,
            max=2**31,
            help="On a step: it lasts so long if it is not renewed; 300 if not given.",
        ),
    ] = None,
    revisions: Annotated[
        int | None,
        typer.Option(
            "--revisions",
            min=1,
            max=10_000,
            help="On files: for so many revisions; the workspace says if not given.",
        ),
    ] = None,
    reason: options.Reason = "",
    token: Annotated[
        str, typer.Option("--token", help="A token of your choice; a random one if not given.")
    ] = "",
    key: options.Key = "",
) -> e.Event:
    """Hold a step alone; what is then recorded with --lease TOKEN is refused once it is lost.

    Another's lease can be taken over when it was not renewed in time. With --file it is on files
    of the workspace, and lasts until so many more revisions of what agents coordinate were made.

    Example: passdown lease acquire 2 --agent coder --token t-1
    """
    if files and seconds is not None:
        raise Invalid("a lease on files lasts for --revisions; leave out --seconds")
    if step and revisions is not None:
        raise Invalid("a lease on a step lasts for --seconds; leave out --revisions")
    # The same request again has to ask for the same lease, so its id serves as the token.
    return e.LeaseAcquired(
        token or key or ids.uuid7(now()),
        step,
        agent,
        seconds or 300,
        tuple(files or ()),
        revisions or 0,
        reason,
    )


@recording(leases, "renew")
def renew(token: Token) -> e.Event:
    """Keep a lease; on a step, within a fifth of its time after the last it changes nothing.

    Example: passdown lease renew t-1
    """
    return e.LeaseRenewed(token)


@recording(leases, "release")
def release(token: Token, reason: options.Reason = "") -> e.Event:
    """Give a lease back.

    Example: passdown lease release t-1
    """
    return e.LeaseReleased(token, reason=reason)


@answers(list[LeaseAnswer])
def list_leases(project: options.Project = "", as_json: options.AsJson = False) -> None:
    """List the leases that are held; one that is stale may be taken over.

    Example: passdown lease list
    """
    state = state_of(project)
    held = [lease for lease in state.leases.values() if lease.status == "held"]
    found = [_answer(state, lease) for lease in held]
    head = ("on", "by", "lasts", "token", "reason")
    show_list(found, as_json, head, _row, f"{state.slug}: nobody holds a lease")


leases.command("list")(list_leases)


def _answer(state: Project, lease: Lease) -> LeaseAnswer:
    until = None if lease.files else lease_until(lease)
    over = is_stale(state, lease) if until is None else now() >= until
    return told(LeaseAnswer, lease, until=None if until is None else iso(until), stale=over)


def _row(lease: LeaseAnswer) -> list[Cell]:
    lasts = (
        f"for {lease.revisions} revisions after {lease.revision}"
        if lease.until is None
        else f"until {lease.until}"
    )
    return [
        Cell(", ".join(lease.files) or f"step {lease.step}"),
        Cell(lease.agent or "-"),
        Cell(f"{lasts}, stale" if lease.stale else lasts, "yellow" if lease.stale else ""),
        Cell(lease.token, "cyan"),
        Cell(lease.reason),
    ]
