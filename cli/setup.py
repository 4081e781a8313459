"""Setting up: hosts of agents are told to call Passdown, and agents how to work with it."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer
from msgspec import Struct

from cli import entries, exits, options, output, placing, section, skill
from cli.answers import answers
from cli.hosts import HOSTS, Host, look
from journal import workspace as places
from journal.errors import Invalid

Target: TypeAlias = Literal["claude-code", "gemini", "codex", "agents-md", "skill"]
#: A file as text after it was set up, or taken back; of what it is now.
TextEdit: TypeAlias = Callable[[str | None], str | None]


class SetupAnswer(Struct, frozen=True):
    """What is set up where: of hooks the events, else the one thing there is."""

    target: str
    path: str
    #: Whether it is as was asked for: all there, or after --remove nothing.
    ok: bool
    changed: bool
    installed: list[str]
    missing: list[str]
    #: What --print shows: the file as it would be written.
    content: str | None
    warnings: list[str]


class _Job(Struct, frozen=True):
    """A file to be set up, what is done to it, and how it then stands."""

    shown: str
    file: Path
    root: Path
    install: placing.Edit
    remove: placing.Edit
    #: What is there and what is not, and what is to be said about it.
    look: Callable[[], tuple[list[str], list[str], list[str]]]
    hint: str = ""


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command("setup")(setup)


@answers(SetupAnswer)
def setup(
    target: Annotated[Target, typer.Argument(help="What is set up.", show_default=False)],
    check: Annotated[
        bool, typer.Option("--check", help="Only say what is there; exit code 1 if not all is.")
    ] = False,
    remove: Annotated[
        bool, typer.Option("--remove", help="Take it out again, and leave all else as it was.")
    ] = False,
    show: Annotated[
        bool, typer.Option("--print", help="Only print the file as it would be written.")
    ] = False,
    to: Annotated[
        str, typer.Option("--to", metavar="DIR", help=f"The folder of skills; {skill.FOLDER}.")
    ] = "",
    as_json: options.AsJson = False,
) -> int:
    """Have a host of agents call Passdown by hooks, or tell agents how to work with it.

    Example: passdown setup claude-code
    """
    if check + remove + show > 1:
        raise Invalid("--check, --remove and --print exclude each other; give one of them")
    if to and target != "skill":
        raise Invalid(f"--to says where the skill goes; {target} has a place of its own")
    job = _job(target, to)
    changed, content = False, None
    if show:
        content = job.install(placing.read(job.file, job.shown)) or b""
    elif not check:
        changed = placing.rewrite(job.file, job.shown, job.remove if remove else job.install)
        if remove and changed and not job.file.exists():
            placing.prune(job.file.parent, job.root)
    there, missing, warnings = job.look()
    answer = SetupAnswer(
        target,
        job.shown,
        not there if remove else show or not missing,
        changed,
        there,
        missing,
        None if content is None else content.decode(),
        warnings,
    )
    if as_json:
        output.document(answer)
    elif content is not None:
        output.raw(content)
    else:
        _tell(answer, check, remove)
    for warning in (*warnings, *([job.hint] if job.hint and changed and not remove else [])):
        output.note(warning)
    return exits.OK if answer.ok else exits.NOT_WELL


def _tell(answer: SetupAnswer, check: bool, remove: bool) -> None:
    if check:
        said = f"installed: {', '.join(answer.installed) or 'nothing'}"
        if answer.missing:
            said += f"; missing: {', '.join(answer.missing)}"
    elif remove and answer.installed:
        said = f"{', '.join(answer.installed)} kept, which is more than setup wrote"
    elif remove:
        said = "removed" if answer.changed else "nothing installed, nothing changed"
    elif answer.changed:
        said = f"{', '.join(answer.installed)} installed"
    else:
        said = "already installed, nothing changed"
    output.line(f"{answer.path}: {said}")


def _job(target: Target, to: str) -> _Job:
    root = Path(os.path.realpath(places.choose().root))
    if target == "skill":
        return _skill(root, to)
    return _agents(root) if target == "agents-md" else _hooks(root, HOSTS[target])


def _hooks(root: Path, host: Host) -> _Job:
    def stand() -> tuple[list[str], list[str], list[str]]:
        found = look(root, host)
        return list(found.events), list(found.missing), [found.problem] if found.problem else []

    return _Job(
        host.path,
        placing.place(root, host.path),
        root,
        _on_text(host.path, lambda text: entries.install(text, host)),
        _on_text(host.path, lambda text: None if text is None else entries.remove(text, host)),
        stand,
        host.hint,
    )


def _agents(root: Path) -> _Job:
    shown = _agents_file(root)
    file = placing.place(root, shown)

    def stand() -> tuple[list[str], list[str], list[str]]:
        text = placing.as_text(placing.read(file, shown) or b"", shown)
        if section.find(text) is None:
            return [], ["section"], []
        if section.is_current(text):
            return ["section"], [], []
        other = "the section is of another version; `passdown setup agents-md` renews it"
        return ["section"], ["section of this version"], [other]

    return _Job(
        shown,
        file,
        root,
        _on_text(shown, section.write),
        _on_text(shown, lambda text: None if text is None else section.erase(text)),
        stand,
    )


def _agents_file(root: Path) -> str:
    """The file that has our section, else AGENTS.md, unless there is only a CLAUDE.md."""
    there = [name for name in ("AGENTS.md", "CLAUDE.md") if (root / name).exists()]
    for name in there:
        text = placing.as_text(placing.read(placing.place(root, name), name) or b"", name)
        if section.find(text) is not None:
            return name
    return there[0] if there else "AGENTS.md"


def _skill(root: Path, to: str) -> _Job:
    if to:
        file = Path(os.path.realpath(skill.path_in(Path(to))))
        shown = os.fsencode(skill.path_in(Path(to))).decode(errors="backslashreplace")
    else:
        shown = str(skill.path_in(Path(skill.FOLDER)))
        file = placing.place(root, shown)
    own = f"{shown} was changed by hand and is kept; move it away"

    def stand() -> tuple[list[str], list[str], list[str]]:
        found = placing.read(file, shown)
        if found is None:
            return [], ["skill"], []
        if found == skill.content():
            return ["skill"], [], []
        other = f"{shown} is of another version; `passdown setup skill` renews it"
        return ["skill"], ["skill of this version"], [other if skill.is_untouched(found) else own]

    def install(found: bytes | None) -> bytes:
        if found is not None and not skill.is_untouched(found):
            raise Invalid(f"{own} to have the skill of this version")
        return skill.content()

    def remove(found: bytes | None) -> bytes | None:
        return None if found is None or skill.is_untouched(found) else found

    return _Job(shown, file, root, install, remove, stand)


def _on_text(shown: str, edit: TextEdit) -> placing.Edit:
    """An edit of text as one of bytes."""

    def edited(content: bytes | None) -> bytes | None:
        text = edit(None if content is None else placing.as_text(content, shown))
        return None if text is None else text.encode()

    return edited
