"""Groups of commands: `passdown step start` is the command `start` of the group `step`."""

import typer
from typer.models import Default

from cli import exits, output


def group(about: str = "", name: str | None = None) -> typer.Typer:
    """A group; without a command it shows its help.

    One that does something by itself says in its own function what it is about.
    """
    app = typer.Typer(
        name=name,
        help=about or Default(None),
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(show_help_if_alone)
    return app


def show_help_if_alone(context: typer.Context) -> None:
    """Without a command there is nothing to do but to say which there are."""
    if context.invoked_subcommand is None:
        output.line(context.get_help())
        raise typer.Exit(exits.USAGE)
