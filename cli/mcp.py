"""The command that serves agents by the Model Context Protocol; `cli.server` does the work."""

from importlib.util import find_spec

import typer

from cli import options, output
from cli.answers import answers
from journal.errors import Invalid


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command("mcp")(mcp)


@answers()
def mcp(project: options.Project = "") -> None:
    """Serve agents over stdin and stdout by the Model Context Protocol, until stdin ends.

    Example: passdown mcp < /dev/null
    """
    if find_spec("mcp") is None:
        raise Invalid(
            "the MCP server needs a package that is not installed; pip install 'passdown[mcp]'"
        )
    from anyio import BrokenResourceError, ClosedResourceError

    from cli.server import server

    output.deliver()
    try:
        server(project).run()
    except* (BrokenPipeError, BrokenResourceError, ClosedResourceError):
        output.abandon()  # the host has gone
