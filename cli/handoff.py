"""Handing work over: the message by which an agent takes up what another left."""

from typing import Annotated

import typer

from cli import options
from cli.recording import Propose, recording
from journal import Project
from journal import events as e
from journal.entities import last_snapshot, maintainer_of
from journal.errors import Invalid, NotFound, Rejected
from journal.peers import Snapshot
from journal.rules.names import command, known_actor


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    recording(app, "handoff")(hand_over)


def hand_over(
    to: Annotated[str, typer.Option("--to", metavar="AGENT", help="Who is to go on.")],
    predecessor: Annotated[
        str,
        typer.Option(
            "--from", metavar="AGENT", help="Whose work it is; the actor's own if not given."
        ),
    ] = "",
    note: Annotated[str, typer.Option("--note", help="A word beside what the snapshot says.")] = "",
    priority: Annotated[e.Priority, typer.Option("--priority", help="How urgent it is.")] = "P1",
    due: options.Due = "next session",
    actor: options.Actor = "",
) -> Propose:
    """Hand over what an agent left: mail that refers to its snapshot, and its task free to take.

    Example: passdown handoff --to reviewer --from coder --actor ada
    """

    def propose(state: Project, now: int) -> list[e.Event]:
        whose = _whose(state, predecessor, actor)
        left = last_snapshot(state, whose)
        if left is None:
            words = command("snapshot", "--agent", whose)
            raise Rejected(f"hand over what {whose} left", "it has left no snapshot", [words])
        message = e.MessagePosted(
            to,
            f"Handoff: {_task(state, left)}",
            _body(whose, to, left, note),
            kind="request",
            priority=priority,
            due=due,
            snapshot=left.token,
        )
        return [message, *_freed(state, left)]

    return propose


def _whose(state: Project, named: str, actor: str) -> str:
    """Whose work is handed over; the maintainer, who leaves none, has to say."""
    if named:
        whose = known_actor(state, named)
    elif actor and actor != maintainer_of(state):
        whose = actor
    else:
        last = next(reversed(state.snapshots.values()), None)
        raise Invalid(
            "whose work is handed over? say so with --from"
            + (f", such as --from {last.agent}" if last else "")
        )
    known = {*state.actors, *(session.agent for session in state.sessions.values())}
    if whose not in known:
        raise NotFound("agent", whose, known, hint="name one that had a session")
    return whose


def _task(state: Project, left: Snapshot) -> str:
    task = state.tasks.get(left.task)
    return f"{task.id} {task.title}" if task else left.task or "what is next"


def _body(whose: str, to: str, left: Snapshot, note: str) -> str:
    said = f"Take up what {whose} left ({left.status}): snapshot {left.token}."
    said += f" `passdown resume --agent {to} --from {whose}` shows it."
    said += f" Next action: {left.next_action}" if left.next_action else ""
    return f"{said}\n\n{note}" if note else said


def _freed(state: Project, left: Snapshot) -> list[e.Event]:
    """The task is given back, so that whoever goes on can take it."""
    task = state.tasks.get(left.task)
    if task is None or task.agent != left.agent or task.status not in ("claimed", "in_progress"):
        return []
    return [e.TaskReset(task.id, f"handed over with {left.token}")]
