"""How to go on with a project, from the journal, or from a file that was not adopted yet.

Nothing here writes, unless a session is to be started with it.
"""

import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct
from msgspec.structs import replace

from cli import options, output
from cli.answers import answers
from cli.briefing import composed, look, shown
from cli.moments import state_at
from cli.recording import chosen, keep_files
from journal import Handle, Journal, Project, Request
from journal import workspace as places
from journal.clock import iso, now
from journal.errors import Invalid, JournalMissing, JournalUnavailable, Rejected, near
from journal.events import SessionStarted
from journal.record import SLUG
from journal.request import check_name
from journal.workspace import FOLDER, Workspace
from projections import brief as briefs
from projections.brief import Brief, Form, fit, fresh, only
from projections.brief.rendering import render_topics
from projections.limits import BUDGET
from projections.protocol import Offer
from projections.values import visible_json

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
    predecessor: Annotated[
        str,
        typer.Option(
            "--from", metavar="AGENT", help="Whose work is taken up; the agent's own if not given."
        ),
    ] = "",
    session: Annotated[
        str, typer.Option("--session", help="Start this session, and record what it is shown.")
    ] = "",
    budget: Annotated[
        int | None, typer.Option("--budget", help=f"The most tokens it may cost; {BUDGET:,}.")
    ] = None,
    topics: Annotated[
        str, typer.Option("--only", help="These topics alone, whole; separated by commas.")
    ] = "",
    form: Annotated[Form, typer.Option("--format", help="As markdown or as JSON.")] = "md",
    at: options.At = "",
    project: options.Project = "",
    as_json: options.AsJson = False,
) -> None:
    """Say how to go on: which step, from where, what must not be missed, and the next command.

    Where agents share a workspace it begins with the snapshot of whoever went before. With --at it
    is as it would have been then, and no file is held against it.

    Example: passdown resume --step 2 --agent 03-Architect --budget 1000
    """
    wanted = tuple(topics.split(",")) if topics else ()
    asked = Asked(project, step, agent, session, budget, wanted, predecessor, at)
    output.line(answer(asked, "json" if as_json else form)[1].rstrip("\n"))


class Asked(Struct, frozen=True):
    """What is asked of a brief."""

    project: str = ""
    step: str = ""
    agent: str = ""
    session: str = ""
    budget: int | None = None
    topics: tuple[str, ...] = ()
    predecessor: str = ""
    at: str = ""


def answer(asked: Asked, form: Form = "md") -> tuple[Brief, str]:
    """The brief and its text: the journal's, else that of a file, else the fresh start."""
    workspace = _journal()
    known: list[str] = []
    if workspace is not None:
        with Journal.open(workspace.folder) as journal:
            known = journal.projects()
            name = asked.project
            adopted = name if name in known or not name else _adopted(workspace, name)
            if adopted in known or (known and not name):
                handle = chosen(journal, adopted)
                if asked.at:
                    return _cut(_past(workspace, handle, asked), asked, form)
                if asked.session:
                    return _started(workspace, handle, asked, form)
                brief = composed(
                    workspace,
                    handle.state,
                    asked.step,
                    asked.agent,
                    handle,
                    predecessor=asked.predecessor,
                )
                return _cut(brief, asked, form)
    if asked.at:
        raise Invalid("--at asks a journal, and none has this project yet; leave --at out")
    place = workspace or _place()
    brief = _without_journal(place, known, asked.project, asked.step, asked.agent)
    if asked.session:
        raise Rejected(
            f"start session {asked.session}",
            f"no journal has the project {brief.project} yet",
            [brief.command] if brief.command else (),
        )
    return _cut(brief, asked, form)


def _past(workspace: Workspace, handle: Handle, asked: Asked) -> Brief:
    """The brief as of then: what became of the files since is no part of it."""
    if asked.session:
        raise Invalid("a session starts now, not in the past; leave out --session or --at")
    state = state_at(handle, asked.at)
    brief = composed(
        workspace, state, asked.step, asked.agent, predecessor=asked.predecessor, past=True
    )
    say = (
        f"This is how it stood at version {state.version} of {handle.version}, "
        f"{iso(state.updated)}; no file was compared with it. {brief.say}"
    )
    return replace(brief, as_of=state.version, say=say)


def _cut(brief: Brief, asked: Asked, form: Form) -> tuple[Brief, str]:
    """The brief within its budget, or some topics of it without any."""
    if not asked.topics:
        return fit(brief, BUDGET if asked.budget is None else asked.budget, form)
    brief = only(brief, asked.topics)
    if asked.budget is not None:
        return fit(brief, asked.budget, form)
    return brief, visible_json(brief) if form == "json" else render_topics(brief)


def _started(workspace: Workspace, handle: Handle, asked: Asked, form: Form) -> tuple[Brief, str]:
    """The brief, once it is on record that a session began with exactly this."""
    made: list[tuple[Brief, str]] = []
    if asked.agent:
        check_name(asked.agent)
    # Files may be many: they are looked at before every other writer has to wait.
    found = look(workspace, handle.state)

    def propose(state: Project, now: int) -> list[Request]:
        whole = composed(
            workspace, state, asked.step, asked.agent, handle, found, asked.predecessor
        )
        brief, text = _cut(whole, asked, form)
        made.append((brief, text))
        actor = asked.agent or None
        return [
            Request(SessionStarted(asked.agent, asked.session), actor, asked.session),
            Request(replace(shown(brief, text), agent=asked.agent), actor, asked.session),
        ]

    handle.append_decided(propose)
    for problem in keep_files(workspace, handle).problems:
        output.note(problem)
    return made[-1]


def _without_journal(
    place: Workspace, known: Sequence[str], name: str, step: str, agent: str
) -> Brief:
    """The answer for what no journal has: `known` are the projects that it does have."""
    files = _state_files(place)
    if not name and len(files) > 1:
        raise Invalid(f"which project? there are {', '.join(files[:8])}; name one with -p")
    if not (name or files or known) and (adopt := _waiting(place)):
        return _unknown(_slug(place.root.name), adopt)
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


def _waiting(place: Workspace) -> str:
    """The command that takes over a file of another form, which only adoption reads."""
    from cli.unadopted import adoption

    return "" if os.environ.get("PASSDOWN_JOURNAL") else adoption(place.root, Path.cwd())


def _unknown(name: str, adopt: str) -> Brief:
    """The brief where a session stands in a file that says more once it is adopted."""
    begin = fresh(name)
    say = (
        "A session stands in a file that no journal knows yet: adopt it with the next command, "
        "then ask again how to go on."
    )
    offer = Offer("begin afresh", begin.command)
    return replace(begin, source="file", say=say, command=adopt, offers=(offer,))


def _slug(text: str) -> str:
    """A name for a project, out of that of its folder."""
    slug = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:100]
    return slug or "my-app"


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
    found = composed(workspace, file.project, step, agent)
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
