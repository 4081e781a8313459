"""Who acts here: say who somebody is and what they are at, and list them."""

from typing import Annotated

import typer

from cli import options
from cli.answers import answers
from cli.group import group
from cli.listing import show_list, state_of
from cli.peers import ActorAnswer
from cli.recording import recording
from cli.screen import Cell
from journal import Project
from journal import events as e
from journal.entities import Actor, task_status

actors = group("Say who acts here, as what, and what they are at.")

Who = Annotated[str, typer.Argument(metavar="ACTOR", help="Who it is.")]


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.add_typer(actors, name="actor")


@recording(actors, "register")
def register_actor(
    who: Who,
    role: Annotated[e.Role, typer.Option("--role", help="As what it acts.")] = "agent",
    title: Annotated[str, typer.Option("--title", help="What people call it.")] = "",
) -> e.Event:
    """Say who somebody is; an actor that was never registered is an agent.

    Example: passdown actor register ada --role person
    """
    return e.ActorRegistered(who, role, title)


@recording(actors, "status")
def change_status(
    who: Who,
    status: Annotated[
        e.ActorStatus,
        typer.Argument(
            help="idle, active, blocked or offline; of a maintainer available, away or observing."
        ),
    ],
    note: Annotated[
        str, typer.Option("--note", help="Why; needed where it is somebody else's status.")
    ] = "",
) -> e.Event:
    """Say what an actor is at: an agent of its own work, the maintainer also of others'.

    Example: passdown actor status coder blocked --note "waits for the review" --actor coder
    """
    return e.ActorStatusChanged(who, status, note)


@answers(list[ActorAnswer])
def list_actors(project: options.Project = "", as_json: options.AsJson = False) -> None:
    """List who acts here: role, status, and what each is at.

    Example: passdown actor list
    """
    state = state_of(project)
    found = known_actors(state)
    head = ("actor", "role", "status", "task", "session", "note")
    show_list(found, as_json, head, _row, f"{state.slug}: nobody has acted here yet")


actors.command("list")(list_actors)


def known_actors(state: Project) -> list[ActorAnswer]:
    """Those who are registered, and those who are known by their sessions and tasks alone."""
    named = [session.agent for session in state.sessions.values()]
    named += [task.agent for task in state.tasks.values()]
    others = (Actor(name) for name in dict.fromkeys(named) if name and name not in state.actors)
    return [_answer(state, actor) for actor in (*state.actors.values(), *others)]


def _answer(state: Project, actor: Actor) -> ActorAnswer:
    sessions = (x for x in reversed(state.sessions.values()) if x.agent == actor.id)
    return ActorAnswer(
        actor.id,
        actor.role,
        actor.title,
        actor.status,
        actor.note,
        _task(state, actor.id),
        next((x.id for x in sessions if x.status == "active"), None),
    )


def _task(state: Project, agent: str) -> str | None:
    """The task that an agent is at: one in progress before one that is blocked or only claimed."""
    own = [task for task in state.tasks.values() if task.agent == agent and task.status != "done"]
    order = ("claimed", "blocked", "in_progress")
    at = max(
        own,
        key=lambda task: (order.index(task_status(state, task)), task.assigned or 0),
        default=None,
    )
    return at.id if at else None


def _row(actor: ActorAnswer) -> list[Cell]:
    return [
        Cell(actor.actor, "bold"),
        Cell(actor.role),
        Cell(actor.status or "-", "yellow" if actor.status == "blocked" else ""),
        Cell(actor.task or "-"),
        Cell(actor.session or "-"),
        Cell(actor.note, "dim"),
    ]
