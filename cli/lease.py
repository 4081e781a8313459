"""Leases: hold a step alone, keep it, give it back."""

from typing import Annotated

import typer

from cli import options
from cli.group import group
from cli.recording import recording
from journal import events as e
from journal import ids
from journal.clock import now

leases = group("Hold a step alone, for as long as the lease is renewed.")

Token = Annotated[str, typer.Argument(envvar="PASSDOWN_LEASE", help="The lease's token.")]


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.add_typer(leases, name="lease")


@recording(leases, "acquire")
def acquire(
    step: options.Step,
    agent: options.Agent = "",
    seconds: Annotated[
        int,
        typer.Option("--seconds", min=1, max=2**31, help="It lasts so long if it is not renewed."),
    ] = 300,
    token: Annotated[
        str, typer.Option("--token", help="A token of your choice; a random one if not given.")
    ] = "",
    key: options.Key = "",
) -> e.Event:
    """Hold a step alone; what is then recorded with --lease TOKEN is refused once it is lost.

    Another's lease can be taken over when it was not renewed in time.

    Example: passdown lease acquire 2 --agent coder --token t-1
    """
    # The same request again has to ask for the same lease, so its id serves as the token.
    return e.LeaseAcquired(token or key or ids.uuid7(now()), step, agent, seconds)


@recording(leases, "renew")
def renew(token: Token) -> e.Event:
    """Keep a lease; within a fifth of its time after the last renewal it changes nothing.

    Example: passdown lease renew t-1
    """
    return e.LeaseRenewed(token)


@recording(leases, "release")
def release(token: Token, reason: options.Reason = "") -> e.Event:
    """Give a lease back.

    Example: passdown lease release t-1
    """
    return e.LeaseReleased(token, reason=reason)
