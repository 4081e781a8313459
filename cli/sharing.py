"""Workspaces that several agents share: how one is opened, and what is going on there."""

from collections.abc import Iterator
from typing import Annotated, Literal, TypeAlias

import typer

from cli.peers import ActorAnswer
from journal import Project
from journal.clock import now
from journal.entities import maintainer_of
from journal.errors import Invalid
from journal.events import Coordination
from journal.mail import overdue
from journal.peers import Message
from journal.workflows import Workflow

Maintainer: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--maintainer", metavar="ACTOR", help="Who maintains it, as a workspace that agents share."
    ),
]
Folder: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--workspace",
        metavar="FOLDER",
        help="Where a shared workspace has its files; working-session if not given.",
    ),
]
Agents: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--agent", help="An agent that shares the workspace; repeatable."),
]
HandedOver: TypeAlias = Annotated[
    Literal["maintainer", "anyone"] | None,
    typer.Option("--handoff", help="Who hands work over there; the maintainer if not given."),
]
LeaseRevisions: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--lease-revisions",
        min=1,
        max=10_000,
        help="For so many revisions a lease on files lasts there; 2 if not given.",
    ),
]

#: A workspace that is shared needs no steps: phases and tasks say where it stands.
SHARED = Workflow("shared", ())


def coordination(
    maintainer: str | None,
    folder: str | None,
    agents: list[str] | None,
    handoff: Literal["maintainer", "anyone"] | None,
    revisions: int | None,
) -> Coordination | None:
    """How the workspace is shared, if it is."""
    given = {
        "--workspace": folder,
        "--agent": agents or None,
        "--handoff": handoff,
        "--lease-revisions": revisions,
    }
    if maintainer is None:
        if named := [option for option, value in given.items() if value is not None]:
            raise Invalid(
                f"{named[0]} is for a workspace that agents share; say with --maintainer who "
                "maintains it"
            )
        return None
    if maintainer in (agents or ()):
        raise Invalid(f"{maintainer} maintains the workspace, and is no --agent; leave that out")
    usual = Coordination(maintainer)
    return Coordination(
        maintainer,
        usual.workspace if folder is None else folder,
        handoff=handoff or usual.handoff,
        lease=usual.lease if revisions is None else revisions,
    )


def standing(state: Project) -> str:
    """How a shared workspace stands, on one line."""
    maintainer = state.actors.get(maintainer_of(state))
    status = f" ({maintainer.status})" if maintainer and maintainer.status else ""
    said = [f"shared, maintained by {maintainer_of(state)}{status}", f"revision {state.revision}"]
    said += [f"phase {state.phase}"] if state.phase else []
    said += [f"step {state.phase_step}"] if state.phase_step else []
    return ", ".join(said)


def sections(state: Project) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """What is going on in a shared workspace: a title, and by its id what belongs under it."""
    from cli.actor import known_actors

    others = [each for each in known_actors(state) if each.actor != maintainer_of(state)]
    yield "Agents", [(each.actor, _at(each)) for each in others]
    mail = [each for each in state.messages.values() if each.status != "closed"]
    yield "Mail", [(x.id, f"{x.sender} to {x.to}, {_late(state, x)}: {x.subject}") for x in mail]
    turns = sorted(state.turns.values(), key=lambda turn: turn.priority)
    yield "Turns", [(x.id, f"{x.agent}, {x.priority}: {x.action}") for x in turns]
    promised = [x for x in state.commitments.values() if x.status == "open"]
    yield "Commitments", [(x.id, f"{x.agent} to {x.to or 'all'}: {x.text}") for x in promised]
    raised = [x for x in state.escalations.values() if x.answered is None]
    yield "Escalations", [(x.id, x.subject) for x in raised]
    entries = [x for x in state.worklog.values() if x.completed is None and x.archived is None]
    yield "Worklog", [(x.id, f"{x.agent}: {x.title}") for x in entries]


def proposals(state: Project) -> list[str]:
    """What the maintainer is asked to approve of."""
    from projections.worklog.compaction import proposal

    found = proposal(state)
    return [found] if found else []


def _at(actor: ActorAnswer) -> str:
    """What an agent is at, in words."""
    role = "" if actor.role == "agent" else actor.role
    task = f"task {actor.task}" if actor.task else ""
    return ", ".join(filter(None, (role, actor.status or "idle", task, actor.session, actor.note)))


def _late(state: Project, message: Message) -> str:
    return f"{message.status}, overdue" if overdue(state, message, now()) else message.status
