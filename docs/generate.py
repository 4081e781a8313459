"""CLI.md and EVENTS.md out of the code: `python docs/generate.py`. A test fails if they differ."""

import inspect
from collections.abc import Callable, Iterator
from copy import copy
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
import typer

from cli import answers, exits
from cli.app import build
from cli.document import project_data
from cli.recording import Asked
from journal import entities, peers
from journal.clock import Moment
from journal.entities import Project
from journal.events import VOCABULARY, event

DOCS = Path(__file__).parent
_WIDTH = 88

# -- CLI.md ----------------------------------------------------------------------------------


def commands(path: str = "passdown", command: Any = None) -> Iterator[tuple[str, Any]]:
    """Every command by what one types for it, groups before what is in them."""
    command = command or typer.main.get_command(build())
    yield path, command
    for name, each in getattr(command, "commands", {}).items():
        yield from commands(f"{path} {name}", each)


def forms(command: Any) -> tuple[Any, ...]:
    """The forms of answer that a command declares."""
    declared: tuple[Any, ...] = getattr(command.callback, "answers", ())
    return declared


@cache
def _shared() -> dict[str, Any]:
    """The options that recording commands share, by how they are written."""
    command = dict(commands())["passdown step start"]
    names = inspect.signature(Asked).parameters
    return {each.opts[0]: each for each in command.params if each.name in names}


def usage(path: str, command: Any) -> str:
    """What --help says, without the options that all recording commands share."""
    if answers.Recorded in forms(command):
        command = copy(command)
        command.params = [each for each in command.params if each.opts[0] not in _shared()]
    names = command.context_settings.get("help_option_names") or ["-h", "--help"]
    context = typer.Context(
        command,
        info_name=path,
        terminal_width=_WIDTH,
        max_content_width=_WIDTH,
        help_option_names=names,
    )
    shown: str = command.get_help(context)
    return shown.rstrip()


def cli() -> str:
    """The command line: every command's help, every form of answer, every exit code."""
    parts = [_CLI, "| exit code | means |", "|---|---|"]
    parts += [f"| {code} | {meaning} |" for code, meaning in exits.MEANING.items()]
    parts += ["", _RECORDING, "", "```text", *_shared_options(), "```"]
    for path, command in commands():
        parts += ["", f"## {path}", "", "```text", usage(path, command), "```"]
        if answers.Recorded in forms(command) and (without := _without(command)):
            parts += ["", f"It takes the options above but {', '.join(without)}."]
        if answered := [_link(form) for form in forms(command)]:
            parts += ["", f"`--json`: {' or '.join(answered)}"]
    parts += ["", "# Answers", "", _ANSWERS]
    for struct in _answers():
        parts += ["", *_struct(struct)]
    parts += ["", *_project()]
    return "\n".join((*parts, ""))


def _shared_options() -> list[str]:
    """The options of a recording command that every other one has too."""
    command: Any = copy(dict(commands())["passdown step start"])
    command.params = list(_shared().values())
    formatter = typer.Context(command, terminal_width=_WIDTH).make_formatter()
    command.format_options(typer.Context(command), formatter)
    return str(formatter.getvalue()).rstrip().splitlines()[1:]


def _without(command: Any) -> list[str]:
    """The shared options that a command does not take."""
    taken = {option for each in command.params for option in each.opts}
    return [f"`{option}`" for option in _shared() if option not in taken]


def _answers() -> list[type[msgspec.Struct]]:
    """The answers, and the Structs that they are made of."""
    found: dict[type[msgspec.Struct], None] = {}

    def visit(kind: Any) -> None:
        for each in (kind, *get_args(kind)):
            if each is not kind and get_args(each):
                visit(each)
            elif _is_struct(each) and each not in found and each is not event.Event:
                found[each] = None
                for field in get_type_hints(each).values():
                    visit(field)

    for each in vars(answers).values():
        if _is_struct(each) and each.__module__ == answers.__name__:
            visit(each)
    for _, command in commands():
        for form in forms(command):
            if form is not Project:  # the longest has a chapter of its own
                visit(form)
    return list(found)


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _link(form: Any) -> str:
    if get_origin(form) is list:
        return f"a list of {_link(get_args(form)[0])}"
    return f"[{form.__name__}](#{form.__name__.lower()})"


def _project() -> Iterator[str]:
    """The answer of `show --json`, and the things that a project consists of."""
    yield from (f"## {Project.__name__}", "", _PROJECT, "", "| field | type |", "|---|---|")
    hints = get_type_hints(Project, include_extras=True)
    same = {"project": "slug", "current_step": "current"}
    sums = dict[str, entities.Tokens]
    hints["tokens"] = dict[str, sums]  # by_agent and by_step
    for key in project_data(Project("x")):
        yield f"| `{key}` | {_type(hints[same.get(key, key)])} |"
    for module in (entities, peers):
        for name, kind in vars(module).items():
            if _is_struct(kind) and kind is not Project and kind.__module__ == module.__name__:
                yield from ("", *_struct(kind))
                assert name == kind.__name__


def _struct(kind: type[msgspec.Struct]) -> Iterator[str]:
    yield from (f"## {kind.__name__}", "", _doc(kind), "", "| field | type |", "|---|---|")
    hints = get_type_hints(kind, include_extras=True)
    for field in msgspec.structs.fields(kind):
        yield f"| `{field.encode_name}` | {_type(hints[field.name])} |"


# -- EVENTS.md -------------------------------------------------------------------------------


def events() -> str:
    """The vocabulary: every event by its type, with its fields."""
    parts = [_EVENTS]
    module = ""
    for tag, kind in VOCABULARY.items():
        if kind.__module__ != module:
            module = kind.__module__
            parts += ["", f"# {_title(module)}"]
        note = " Bookkeeping: it changes no file." if kind.bookkeeping else ""
        parts += ["", f"## {tag}", "", _doc(kind) + note]
        fields = list(_fields(kind))
        if fields:
            parts += ["", "| field | type | default |", "|---|---|---|", *fields]
    parts += ["", "# Parts of events"]
    for part in (event_part for event_part in _parts()):
        parts += ["", *_struct(part)]
    return "\n".join((*parts, ""))


def _title(module: str) -> str:
    """A module's first sentence without its full stop."""
    return _first(inspect.getdoc(__import__(module, fromlist=["x"]))).rstrip(".")


def _fields(kind: type[event.Event]) -> Iterator[str]:
    hints = get_type_hints(kind, include_extras=True)
    for field in msgspec.structs.fields(kind):
        made = field.default_factory
        value = field.default if made is msgspec.NODEFAULT else made()
        default = "required" if field.required else f"`{msgspec.json.encode(value).decode()}`"
        yield f"| `{field.name}` | {_type(hints[field.name])} | {default} |"


def _parts() -> list[type[msgspec.Struct]]:
    found: dict[type[msgspec.Struct], None] = {}

    def visit(kind: Any) -> None:
        for each in get_args(kind):
            visit(each)
        if _is_struct(kind) and kind not in found:
            found[kind] = None
            for field in get_type_hints(kind).values():
                visit(field)

    for kind in VOCABULARY.values():
        for name, hint in get_type_hints(kind).items():
            if name in kind.__struct_fields__:
                visit(hint)
    return list(found)


# -- both ------------------------------------------------------------------------------------


def _doc(thing: Any) -> str:
    return " ".join((inspect.getdoc(thing) or "").split())


def _first(text: str | None) -> str:
    return (text or "").split("\n")[0]


_NAMES: dict[Any, str] = {
    str: "text",
    int: "integer",
    float: "number",
    bool: "true or false",
    bytes: "bytes",
    Any: "any JSON",
    NoneType: "null",
}


def _type(kind: Any) -> str:
    """A type in words."""
    if kind == Moment:
        return "time"
    if kind == event.Json:
        return "any JSON"
    if kind in _NAMES:
        return _NAMES[kind]
    origin, args = get_origin(kind), get_args(kind)
    match origin:
        case _ if origin is Annotated:
            return f"{_type(args[0])}{_limits(args[1:])}"
        case _ if origin is Literal:
            return " or ".join(f"`{each}`" for each in args)
        case _ if origin in (Union, UnionType):
            return " or ".join(dict.fromkeys(_type(each) for each in args))
        case _ if origin in (list, tuple):
            return f"list of {_type(args[0])}"
        case _ if origin is dict:
            return f"object of {_type(args[1])}"
        case _ if _is_struct(kind):
            return "the event's own fields" if kind is event.Event else _link(kind)
    raise TypeError(f"no words for {kind!r}")


def _limits(notes: tuple[Any, ...]) -> str:
    [meta] = notes
    said = []
    if meta.ge is not None:
        said.append(f"at least {meta.ge}")
    if meta.le is not None:
        said.append(f"at most {meta.le}")
    if meta.min_length:
        said.append("not empty")
    if meta.pattern:
        said.append(f"`{meta.pattern}`".replace("|", "\\|"))
    return f", {', '.join(said)}" if said else ""


_CLI = """\
# The command line

Generated from the code by `python docs/generate.py`; a test fails if it is not what the code says.

Every command takes `--help`. With `--json` it prints one JSON document on one line, in the form
that stands below its help (`log` prints one for each record); a failure is [Failed](#failed), and
its sentence stands on stderr as well. stdout has data only. Colours and widths are those of the
terminal; into a pipe goes plain text, and `NO_COLOR` is honoured.

A thing is named by its id, or by a short form of it that can mean only one: `F007`, `f7` or `7`.
"""

_RECORDING = """\
Commands that record something take these options beside their own:"""

_ANSWERS = """\
Fields are added in later versions, never renamed or taken away. Times are ISO 8601 in UTC."""

_PROJECT = """\
What `show --json` prints: the whole state of a project. Things stand in objects by their id, with
every field there; `tokens` has the sums `by_agent` and `by_step`."""

_EVENTS = """\
# The vocabulary

Generated from the code by `python docs/generate.py`; a test fails if it is not what the code says.

Every change of state is one of these, for example `passdown append finding.opened
'{"title": "Key Vault allows public access"}'`. Types and field names are the storage format: more
are added, none is renamed. A field that names the thing itself, such as `finding` in
`finding.opened`, may be left out by whoever makes one: it gets the next id."""


DOCUMENTS: dict[str, Callable[[], str]] = {"CLI.md": cli, "EVENTS.md": events}


if __name__ == "__main__":
    for name, make in DOCUMENTS.items():
        (DOCS / name).write_text(make())
