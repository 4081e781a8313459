"""The command line's frame: the typer app, and the one place that turns errors into exit codes."""

from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer
from msgspec.structs import replace

import passdown
from cli import exits, output
from cli.answers import ErrorAnswer, Failed
from cli.group import group, show_help_if_alone
from cli.timing import configure
from journal import workspace
from journal.errors import (
    JournalDamaged,
    JournalForeign,
    JournalMissing,
    NotFound,
    PassdownError,
    Rejected,
)

#: Which module has which commands, in the order of the help. Only that of the command is imported:
#: with all of them a command takes a sixth longer.
MODULES = {
    "projects": ("init", "projects"),
    "actor": ("actor",),
    "orchestration": ("execution",),
    "step": ("step", "transition", "gate"),
    "lease": ("lease",),
    "task": ("plan", "task", "blocker"),
    "decision": ("decide",),
    "question": ("question",),
    "finding": ("finding", "review", "error"),
    "session": ("session", "files", "next", "note"),
    "snapshot": ("snapshot",),
    "handoff": ("handoff",),
    "mail": ("mail",),
    "commitment": ("commitment",),
    "coordination": ("turn", "signal", "phase", "escalation"),
    "worklog": ("worklog",),
    "supervise": ("supervise",),
    "tokens": ("tokens",),
    "plans": ("document",),
    "archive": ("archive", "abort", "reopen"),
    "append": ("append",),
    "resume": ("resume",),
    "hook": ("hook",),
    "doctor": ("doctor",),
    "show": ("show",),
    "log": ("log",),
    "diff": ("diff",),
    "why": ("why",),
    "report": ("report",),
    "watch": ("watch",),
    "adopt": ("adopt",),
    "drift": ("drift",),
    "tables": ("tables", "search"),
    "care": ("sync", "verify", "recover"),
    "seal": ("seal",),
    "redact": ("redact",),
    "exchange": ("export", "import", "backup", "restore"),
    "setup": ("setup",),
    "mcp": ("mcp",),
}


def build(arguments: Sequence[str] = ()) -> typer.Typer:
    """The app with the command that is asked for, or with all of them where none is."""
    app = group(
        "The shift log for AI agents: append what happened, ask where to go on, replay how it came "
        "to be so.",
        name="passdown",
    )
    app.callback(invoke_without_command=True)(root)
    word = next((argument for argument in arguments if not argument.startswith("-")), "")
    asked = [module for module, commands in MODULES.items() if word in commands]
    for module in asked or MODULES:
        import_module(f"cli.{module}").register(app)
    return app


def root(
    context: typer.Context,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log what is done.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """The options in front of every command."""
    configure(verbose)
    if version:
        output.line(f"passdown {passdown.__version__}")
        raise typer.Exit
    show_help_if_alone(context)


def run(arguments: list[str]) -> int:
    """Run one command and give its exit code; every error ends here."""
    output.prepare()
    # Known to the right of the command as well, where typer would not look for it.
    options, rest = _options(arguments)
    debug = "--debug" in options
    options = [argument for argument in options if argument != "--debug"]
    try:
        return _run([*options, *rest], debug)
    except output.Undelivered as error:
        output.abandon()
        if error.reader_gone:
            return exits.OK
        output.note(f"stdout took no answer ({error}); give it room and ask again")
        return exits.UNAVAILABLE


def _options(arguments: list[str]) -> tuple[list[str], list[str]]:
    """The arguments in front of `--`, among which are the options, and the rest."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:end], arguments[end:]


def _run(arguments: list[str], debug: bool) -> int:
    as_json = "--json" in _options(arguments)[0]
    try:
        command = typer.main.get_command(build(arguments))
        result = command.main(arguments, "passdown", standalone_mode=False)
        output.deliver()
        return result if isinstance(result, int) else exits.OK
    except PassdownError as error:
        if debug:
            raise
        message = output.plain(str(error) + _readable(error))
        return _report(message, exits.code(error), as_json, error)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        where = context.command_path if context else "passdown"
        message = output.plain(error.format_message()).rstrip(".")
        return _report(f"{message}; see `{where} --help`", exits.USAGE, as_json, error)
    except (KeyboardInterrupt, typer.Abort):
        return exits.INTERRUPTED
    except output.Undelivered:
        raise
    except Exception as error:  # the last resort, so that nobody sees a traceback
        if debug:
            raise
        if isinstance(error, OSError) and error.filename is None:
            raise output.Undelivered(error) from error  # help is printed by typer
        message = f"{output.defect(error)}; run it again with --debug to see where"
        return _report(message, exits.BUG, as_json, error)


def _report(message: str, code: int, as_json: bool, error: Exception) -> int:
    """The error in a sentence, and as data where data was asked for."""
    output.note(message)
    if as_json:
        said = ErrorAnswer(type(error).__name__, message, code)
        if isinstance(error, Rejected):
            said = replace(said, asked=error.asked, state=error.state, allowed=error.allowed)
        if isinstance(error, NotFound):
            said = replace(said, near=error.near)
        try:
            output.document(Failed(said))
            output.deliver()
        except output.Undelivered:
            output.abandon()
    return code


def _readable(error: PassdownError) -> str:
    """What can still be read, when the journal itself cannot."""
    try:
        place = workspace.find()
    except PassdownError:
        return ""
    if isinstance(error, JournalDamaged | JournalForeign):
        from journal.salvage import salvage

        found = [
            f"{one.project} 1 to {len(one.records)} of {len(one.records) + one.lost}"
            for one in salvage(place.folder)
            if one.records
        ]
        return f"; readable: {', '.join(found) or 'no record'}"
    if isinstance(error, JournalMissing):
        from projections import ledger

        files = [path for path in ledger.read(place.folder) if (place.root / path).is_file()]
        return f"; still there: {', '.join(files)}" if files else ""
    return ""
