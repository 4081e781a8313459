"""The options that many commands share, each written once."""

from typing import Annotated, TypeAlias

import typer

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
    str, typer.Option("--step", help="The step it belongs to; the current one if not given.")
]
Artifacts: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--artifact", help="A file this produced, relative to the workspace; repeatable."),
]
ContextFiles: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--context-file", help="A file that was read for it; repeatable."),
]
