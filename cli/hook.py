"""The command that hosts of agents call; `cli.hooks` does the work, without typer."""

from typing import Annotated

import typer

from cli import options as shared
from cli import output
from cli.answers import answers
from cli.contracts import HOSTS
from projections.limits import BUDGET, LEAST


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command("hook")(hook)


@answers()
def hook(
    host: Annotated[str, typer.Argument(help=f"Whose hook: {', '.join(HOSTS)}.")],
    event: Annotated[str, typer.Argument(help="The host's event, such as SessionStart.")],
    agent: Annotated[str, typer.Option("--agent", help="Who works there; the host.")] = "",
    budget: Annotated[
        int, typer.Option("--budget", min=LEAST, help="The most tokens a brief may cost.")
    ] = BUDGET,
    project: shared.Project = "",
) -> None:
    """Answer a hook of an agent's host: the host's JSON on stdin, its answer on stdout, exit 0.

    Example: passdown hook claude-code SessionStart < /dev/null
    """
    from cli.hooks import answered

    options = ("--agent", agent, "--budget", str(budget), "--project", project)
    output.line(answered((host, event, *options)))
