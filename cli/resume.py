"""How to go on with a project, from the journal, or from a file that was not adopted yet.

Nothing here writes.
"""

import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli import options, output
from cli.answers import answers
from cli.recording import chosen
from journal import Journal
from journal import workspace as places
from journal.clock import now
from journal.errors import Invalid, JournalMissing, JournalUnavailable, near
from journal.record import SLUG
from journal.workspace import FOLDER, Workspace
from projections import brief as briefs
from projections.brief import Brief, compose, fresh, named_files, render

if TYPE_CHECKING:
    from projections.unadopted import Unadopted


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command("resume")(resume)


@answers(Brief)
def resume(
    step: Annotated[
        str, typer.Option("--step", help="For this step; where the project stands if not given.")
    ] = "",
    agent: Annotated[str, typer.Option("--agent", help="Who goes on.")] = "",
    project: options.Project = "",
    as_json: options.AsJson = False,
) -> None:
    """Say how to go on: which step, from where, what to read, and the next command.

    Example: passdown resume --step 2 --agent 03-Architect
    """
    found = _answer(project, step, agent)
    if as_json:
        output.document(found)
    else:
        output.line(render(found).rstrip("\n"))


def _answer(name: str, step: str, agent: str) -> Brief:
    """The journal's answer, else that of a file, else the fresh start."""
    workspace = _journal()
    if workspace is None:
        return _without_journal(_place(), (), name, step, agent)
    with Journal.open(workspace.folder) as journal:
        known = journal.projects()
        adopted = name if name in known or not name else _adopted(workspace, name)
        if adopted in known or (known and not name):
            state = chosen(journal, adopted).state
            present = _present(workspace, named_files(state))
            return compose(state, step=step, agent=agent, present=present)
    return _without_journal(workspace, known, name, step, agent)


def _without_journal(
    place: Workspace, known: Sequence[str], name: str, step: str, agent: str
) -> Brief:
    """The answer for what no journal has: `known` are the projects that it does have."""
    files = _state_files(place)
    if not name and len(files) > 1:
        raise Invalid(f"which project? there are {', '.join(files[:8])}; name one with -p")
    name = name or (files[0] if files else _slug(place.root.name))
    if name in files:
        return _from_file(place, name, step, agent)
    Journal.check_slug(name)
    return fresh(name, near(name, dict.fromkeys((*known, *files))))


def _journal() -> Workspace | None:
    """The workspace, if a journal was ever made in it; one that has lost it is an error."""
    try:
        workspace = places.find()
    except JournalMissing:
        return None
    made = os.path.lexists(workspace.folder / "journal.db") or places.was_used(workspace.folder)
    return workspace if made else None


def _place() -> Workspace:
    """Where a journal would be: beside the `agent-output` that is here or above, else here."""
    place = places.choose()
    if not os.environ.get("PASSDOWN_JOURNAL"):
        for folder in (place.root, *place.root.parents):
            if (folder / "agent-output").is_dir():
                return Workspace(folder / FOLDER)
    return place


def _slug(text: str) -> str:
    """A name for a project, out of that of its folder."""
    slug = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:100]
    return slug or "my-app"


def _present(workspace: Workspace, paths: set[str]) -> set[str]:
    return {path for path in paths if (real := workspace.inside(path)) and os.path.isfile(real)}


# -- files that were not adopted -------------------------------------------------------------


def _state_files(workspace: Workspace) -> list[str]:
    """The projects that have a state file, or the backup of one."""
    folder = workspace.root / "agent-output"
    names = (briefs.STATE, f"{briefs.STATE}.bak")
    try:
        return [
            each
            for each in sorted(os.listdir(folder))
            if each.isprintable() and any((folder / each / name).is_file() for name in names)
        ]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as e:
        raise JournalUnavailable(
            f"{e.filename} cannot be read: {e.strerror}; check its permissions"
        ) from e


def _adopted(workspace: Workspace, name: str) -> str:
    """The project that adoption makes of a folder's file: it goes by the name in it."""
    from cli.adopt import slug

    if name not in _state_files(workspace):
        return ""
    file, _ = _read(workspace, name)
    try:
        return slug(file.name or name) if file else ""
    except Invalid:
        return ""


def _path(name: str) -> str:
    return f"{briefs.FOLDER.format(project=name)}/{briefs.STATE}"


def _read(workspace: Workspace, name: str) -> tuple["Unadopted | None", list[str]]:
    """What the file says, else its backup, else nothing; and why each that does not, does not."""
    from projections import unadopted

    path = _path(name)
    reasons: list[str] = []
    for place, of in ((path, ""), (f"{path}.bak", "of its .bak, ")):
        try:
            return unadopted.read(_project(name), _content(workspace, place), now()), reasons
        except Invalid as e:
            reasons.append(f"{of}{e}")
    return None, reasons


def _project(name: str) -> str:
    from cli.adopt import slug

    return name if re.fullmatch(SLUG, name) else slug(name)


def _from_file(workspace: Workspace, name: str, step: str, agent: str) -> Brief:
    from projections import unadopted

    path = _path(name)
    adopt = _adopt(workspace, path)
    file, reasons = _read(workspace, name)
    if file is None:
        return unadopted.unreadable(name, path, reasons, f"{adopt} --fresh")
    present = _present(workspace, named_files(file.project))
    found = compose(file.project, step=step, agent=agent, present=present)
    found = unadopted.from_file(found, file, f"{path}.bak" if reasons else path, adopt)
    return unadopted.from_backup(found, path, reasons[0]) if reasons else found


def _content(workspace: Workspace, path: str) -> bytes:
    real = workspace.inside(path)
    if real is None:
        raise Invalid("it leads out of the workspace")
    try:
        if not real.is_file():
            raise Invalid("it is not there")
        return real.read_bytes()
    except OSError as e:
        raise Invalid(f"{e.strerror}") from e


def _adopt(workspace: Workspace, path: str) -> str:
    """The command that adopts the file, as one types it here.

    Where there is no journal yet, one is made in the current folder: go to the right one first.
    """
    here = Path.cwd()
    if workspace.folder.is_dir() or here == workspace.root or os.environ.get("PASSDOWN_JOURNAL"):
        typed = os.path.relpath(workspace.root / path, here)
        return shlex.join(("passdown", "adopt", typed))
    root = shlex.quote(os.path.relpath(workspace.root, here))
    return f"cd {root} && {shlex.join(('passdown', 'adopt', path))}"
