"""What an agent adds to its snapshot in its own words, as options of the commands that take one."""

from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from cli.texts import given
from journal import Project
from journal import events as e
from journal import workspace as places
from journal.entities import Session
from journal.errors import Invalid
from journal.rules import workspace_path
from journal.workspace import Workspace
from projections.peers import Standing

if TYPE_CHECKING:
    from projections.snapshot import Words

Why: TypeAlias = Annotated[
    str,
    typer.Option("--why", help="What only the agent knows: why it did what it did; '-' is stdin."),
]
WhyFile: TypeAlias = Annotated[
    str, typer.Option("--why-file", metavar="FILE", help="A file that has it.")
]
Next: TypeAlias = Annotated[
    str, typer.Option("--next", help="The next action; the one that was set if not given.")
]
Status: TypeAlias = Annotated[
    Standing | None,
    typer.Option("--status", help="How the active task stands; what the state says if not given."),
]
CloseReason: TypeAlias = Annotated[
    e.CloseReason, typer.Option("--close-reason", help="Why the session is closed.")
]
Read: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--read",
        metavar="PATH[=WHY]",
        help="A file for whoever goes on, in the order of worth; repeatable.",
    ),
]


def said(
    why: str, why_file: str, following: str, status: Standing | None, read: list[str] | None
) -> "Words":
    """The words of the agent, out of its options."""
    from projections.snapshot import Words  # most sessions end, and files change, without one

    places.find()  # before stdin is read: without a journal there is nothing to take it of
    reading = []
    for each in read or ():
        path, _, reason = each.partition("=")
        reading.append((workspace_path(path), reason))
    return Words(given(why, why_file, "--why"), following, status, tuple(reading))


def taken(
    workspace: Workspace, state: Project, session: Session, words: "Words", reason: e.CloseReason
) -> list[e.Event]:
    """A snapshot of a session as it stands, with what the agent is to do next if it says so."""
    from cli.measuring import measured
    from projections.snapshot import compose, to_measure

    sizes = measured(workspace, to_measure(state, session, words))
    snapshot = compose(state, session, sizes, words, reason)
    if not words.next_action or state.next_actions.get(session.agent) == words.next_action:
        return [snapshot]
    return [e.NextActionSet(words.next_action, session.agent), snapshot]


def open_session(state: Project, name: str, agent: str) -> Session:
    """The session that is meant: by its name, else the one that the agent has open, else its last.

    Whether a snapshot of it may be taken is for the rules to say.
    """
    from journal.rules import By
    from journal.rules.names import find_session

    if name:
        return find_session(state, name, By())
    if not agent:
        raise Invalid("whose session? say so with --actor, or name it with --session")
    own = [each for each in state.sessions.values() if each.agent == agent]
    if not own:
        return Session("", 0, agent)  # of which the rules say that there is none
    return next((each for each in reversed(own) if each.status == "active"), own[-1])
