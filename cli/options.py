"""The options that many commands share, each written once."""

import re
from typing import Annotated, TypeAlias

import typer

from journal.clock import now, parse
from journal.errors import Invalid
from journal.events import ErrorKind

Project: TypeAlias = Annotated[
    str,
    typer.Option(
        "--project",
        "-p",
        envvar="PASSDOWN_PROJECT",
        help="The project; needless if it is the only.",
    ),
]
Actor: TypeAlias = Annotated[
    str, typer.Option("--actor", "-a", envvar="PASSDOWN_ACTOR", help="Who does this.")
]
Session: TypeAlias = Annotated[
    str, typer.Option("--session", "-s", envvar="PASSDOWN_SESSION", help="In which session.")
]
Lease: TypeAlias = Annotated[
    str,
    typer.Option(
        "--lease", envvar="PASSDOWN_LEASE", help="The token of a lease; refused if it is lost."
    ),
]
Key: TypeAlias = Annotated[
    str, typer.Option("--id", help="The request's own id: the same request again adds nothing.")
]
Occurred: TypeAlias = Annotated[
    str, typer.Option("--occurred", help="When it really happened, if not now (ISO 8601).")
]
NoSync: TypeAlias = Annotated[
    bool, typer.Option("--no-sync", help="Record only; leave the files for a later `sync`.")
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="The answer as data.")]
Step: TypeAlias = Annotated[str, typer.Argument(help="The step's key, such as 2 or 3_5.")]
AtStep: TypeAlias = Annotated[
    str,
    typer.Option("--step", "--phase", help="The step it belongs to; the current one if not given."),
]
Artifacts: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--artifact", help="A file this produced, relative to the workspace; repeatable."),
]
ContextFiles: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--context-file", help="A file that was read for it; repeatable."),
]
Agent: TypeAlias = Annotated[
    str, typer.Option("--agent", help="Whose it is; the actor's if not given.")
]
Reason: TypeAlias = Annotated[str, typer.Option("--reason", "-r", help="Why.")]
Resolution: TypeAlias = Annotated[
    str, typer.Option("--resolution", "-r", help="What was done about it.")
]
Tasks: TypeAlias = Annotated[
    list[str] | None, typer.Option("--task", help="The id of a task that it concerns; repeatable.")
]
Kind: TypeAlias = Annotated[ErrorKind, typer.Option("--kind", help="What sort of failure.")]
Due: TypeAlias = Annotated[
    str, typer.Option("--due", help='By when: a time (ISO 8601), "next session" or "none".')
]
Since: TypeAlias = Annotated[
    str, typer.Option("--since", help="Not before this time; ISO 8601, or 90m, 2h, 3d ago.")
]
Until: TypeAlias = Annotated[
    str, typer.Option("--until", help="Not after this time; ISO 8601, or 90m, 2h, 3d ago.")
]
At: TypeAlias = Annotated[
    str,
    typer.Option(
        "--at",
        metavar="MOMENT",
        help="As it was: a version, a time (ISO 8601, or 2h ago), an event's id, or a seal.",
    ),
]

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def moment(text: str) -> int:
    """The moment that a time means, or a stretch of time before now: 90m, 2h, 3d."""
    ago = re.fullmatch(r"([0-9]{1,9})([smhdw])( ago)?", text)
    if ago:
        return now() - int(ago[1]) * _UNITS[ago[2]] * 1_000_000
    try:
        return parse(text)
    except Invalid as error:
        raise Invalid(f"{error}, or like 90m, 2h or 3d for so long ago") from error
