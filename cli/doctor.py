"""What is installed, what really happened, and whether all is well, each finding with its fix."""

import os
import shlex
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, TypeAlias

import typer
from msgspec import Struct

from cli import exits, hooklog, options, output
from cli.answers import answers
from cli.hosts import Installed, installed
from cli.screen import Cell, table
from cli.unadopted import adoption
from journal import Handle, Journal
from journal import workspace as places
from journal.audit import audit
from journal.clock import iso
from journal.errors import (
    Invalid,
    JournalDamaged,
    JournalForeign,
    JournalMissing,
    JournalNewer,
    NotFound,
    PassdownError,
)
from journal.salvage import salvage
from journal.workspace import Workspace
from projections.files import FileState, inspect
from projections.settings import FILE as SETTINGS
from projections.unfinished import is_open

Grade: TypeAlias = Literal["well", "note", "problem"]
_SIGNS = {"well": Cell("✓", "green"), "note": Cell("·", "dim"), "problem": Cell("✗", "red")}


#: With less room than this a disk is full: a record takes a few pages of the log.
_ROOM = 1 << 17
_LOCKS = ("write.lock", "files.lock")
_NO_PLACE = "go to a folder that is there, and unset PASSDOWN_JOURNAL or have it name one that is"


class Diagnosis(Struct, frozen=True):
    """One thing that was looked at; where something is to be done, `fix` says what."""

    about: str
    grade: Grade
    what: str
    fix: str = ""


class HookAnswer(Struct, frozen=True):
    """A hook of a host: whether it is installed, and when it last fired in any project."""

    host: str
    event: str
    installed: bool
    fired: str | None


class Examined(Struct, frozen=True):
    """How everything is; `ok` if there is no problem."""

    ok: bool
    findings: list[Diagnosis]
    hooks: list[HookAnswer]


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command("doctor")(doctor)


@answers(Examined)
def doctor(as_json: options.AsJson = False) -> int:
    """Say what is installed, which hooks really fired, and whether journal and files are well.

    Example: passdown doctor
    """
    findings: list[Diagnosis] = []
    hooks: list[HookAnswer] = []
    used = False
    try:
        workspace = places.choose()
    except PassdownError as error:
        findings.append(Diagnosis("journal", "problem", str(error), _NO_PLACE))
    else:
        found, fired = _journal(workspace)
        hosts = installed(Path(os.path.realpath(workspace.root)))
        hooks += [
            HookAnswer(host.host, event, event in host.events, _when(fired, host.host, event))
            for host in hosts
            for event in (*host.events, *host.missing)
        ]
        used = any(host.events for host in hosts)
        findings += [*found, *_writing(workspace), *_hosts(hosts, fired), *_log(workspace)]
    findings += _tools(used)
    well = all(each.grade != "problem" for each in findings)
    if as_json:
        output.document(Examined(well, findings, hooks))
        return exits.OK if well else exits.NOT_WELL
    for line in table([[_SIGNS[x.grade], Cell(x.about), Cell(x.what)] for x in findings], indent=0):
        output.line(line)
    fixes = [each for each in findings if each.fix]
    if fixes:
        output.line()
        output.line("To do:")
        for each in fixes:
            output.line(f"  {each.about}: {each.fix}")
    return exits.OK if well else exits.NOT_WELL


# -- journal and files -----------------------------------------------------------------------


def _journal(workspace: Workspace) -> tuple[list[Diagnosis], dict[str, int]]:
    """How journal and files are, and when each hook last fired according to the journal."""
    fired: dict[str, int] = {}
    try:
        with Journal.open(places.find().folder) as journal:
            flaw = next(audit(journal.store), None)
            if flaw:
                raise JournalDamaged(flaw.what)
            found = [_counted(journal, workspace)]
            if is_open(workspace):
                what = "an erasure was begun and is not done"
                found.append(Diagnosis("erasure", "problem", what, "passdown redact --finish"))
            for slug in journal.projects():
                handle = journal.project(slug)
                for hook, at in handle.state.hooks.items():
                    fired[hook] = max(at, fired.get(hook, 0))
                # Settings that cannot be read are wrong for every project, and wrong once.
                found += [each for each in _files(workspace, handle) if each not in found]
    except PassdownError as error:
        grade: Grade = "problem" if os.path.lexists(workspace.folder) else "note"
        return [Diagnosis("journal", grade, str(error), _mended(workspace, error))], fired
    return found, fired


def _mended(workspace: Workspace, error: PassdownError) -> str:
    """What is to be done about a journal that cannot be read."""
    folder = workspace.folder
    shown = os.path.relpath(folder)
    if isinstance(error, JournalNewer):
        return "upgrade passdown: pip install --upgrade passdown"
    if not isinstance(error, JournalDamaged | JournalForeign | JournalMissing):
        return "mend that, then passdown verify"
    if os.path.lexists(folder) and not folder.is_dir():
        return f"move {shown} away, which is no folder, then passdown init PROJECT"
    if isinstance(error, JournalMissing) and not (folder.is_dir() and places.was_used(folder)):
        return _begun(workspace)
    if any(one.records for one in salvage(folder)):
        return "passdown recover --journal"
    return (
        f"put a backup of journal.db into {shown}; if there is none, nothing is left in it: move "
        f"{shown} away, then {_begun(workspace)}"
    )


def _begun(workspace: Workspace) -> str:
    """How a first project comes into a journal."""
    return adoption(workspace.root, Path.cwd()) or "passdown init PROJECT"


def _counted(journal: Journal, workspace: Workspace) -> Diagnosis:
    heads = journal.store.heads()
    records = sum(head.version for head in heads)
    what = f"{records:,} records in {len(heads)} projects: database, heads and chain are well"
    return Diagnosis("journal", "well", what, "" if heads else _begun(workspace))


def _files(workspace: Workspace, handle: Handle) -> list[Diagnosis]:
    """How the files of a project are, or why the settings do not say which they are."""
    try:
        return [_file(workspace, handle.slug, file) for file in inspect(workspace, handle)]
    except (Invalid, NotFound) as error:
        shown = os.path.relpath(workspace.root / SETTINGS)
        return [Diagnosis("settings", "problem", str(error), f"mend {shown}, then passdown sync")]


def _file(workspace: Workspace, slug: str, file: FileState) -> Diagnosis:
    about = f"file of {slug}"
    if file.status == "fresh" or (file.status == "taken" and file.well):
        return Diagnosis(about, "well", f"{file.path} is {file.status}")
    fix = file.problem or f"passdown recover -p {slug}"
    if hindrance := _hindrance(workspace.root / file.path):
        fix = f"{hindrance}, then {fix}"
    return Diagnosis(about, "problem", f"{file.path} is {file.status}", fix)


def _hindrance(path: Path) -> str:
    """What has to be done before a file can be written to its place, if anything."""
    above = next(folder for folder in path.parents if os.path.lexists(folder))
    if not above.is_dir():
        return f"move {os.path.relpath(above)} away, which is no folder"
    return "" if _may_write(above) else f"make {os.path.relpath(above)} writable"


# -- what a record needs ---------------------------------------------------------------------


def _writing(workspace: Workspace) -> Iterator[Diagnosis]:
    """Why nothing could be recorded, as far as that is to be seen without writing."""
    folder = workspace.folder
    if not folder.is_dir():
        return
    disk = os.statvfs(folder)
    shown = os.path.relpath(folder)
    if disk.f_flag & os.ST_RDONLY:
        fix = "mount it so that it can be written"
        yield Diagnosis("writing", "problem", f"{shown} is on a disk mounted read-only", fix)
        return
    if disk.f_bavail * disk.f_frsize < _ROOM:
        fix = "make room on that disk"
        yield Diagnosis("writing", "problem", f"the disk of {shown} is full", fix)
    journal = ("journal.db", "journal.db-wal", "journal.db-shm")
    places = [folder / name for name in (*_LOCKS, *journal) if os.path.lexists(folder / name)]
    for path in (folder, *places):
        shown = os.path.relpath(path)
        if path.name in _LOCKS and not path.is_file():
            fix = f"move {shown} away, it is made anew"
            yield Diagnosis("writing", "problem", f"{shown} is no regular file", fix)
        elif not _may_write(path):
            fix = f"make {shown} writable for whoever runs passdown"
            yield Diagnosis("writing", "problem", f"{shown} cannot be written", fix)


def _may_write(path: Path) -> bool:
    """Whether a file can be written, or entries of a folder."""
    return os.access(path, os.W_OK | os.X_OK if path.is_dir() else os.W_OK)


# -- hosts -----------------------------------------------------------------------------------


def _hosts(hosts: list[Installed], fired: dict[str, int]) -> Iterator[Diagnosis]:
    """What each host calls, and whether it ever did."""
    if not any(host.events or host.problem for host in hosts):
        fix = "passdown setup claude-code"  # or another host, which its help names
        yield Diagnosis("hooks", "note", "no host calls Passdown here", fix)
    for host in hosts:
        about, setup = f"hooks of {host.host}", f"passdown setup {host.host}"
        if host.problem:
            yield Diagnosis(about, "problem", host.problem, f"mend {host.path}, then {setup}")
        elif host.events and host.missing:
            missing = ", ".join(host.missing)
            yield Diagnosis(about, "problem", f"{missing} not in {host.path}", setup)
        elif host.events:
            times = [at for hook, at in fired.items() if hook.startswith(f"{host.host} ")]
            if times:
                last = f"installed, last fired {iso(max(times))}"
                yield Diagnosis(about, "well", last)
            else:
                fix = f"start a session in {host.host}; if nothing changes, see its hook settings"
                yield Diagnosis(about, "note", "installed, and never fired so far", fix)


def _when(fired: dict[str, int], host: str, event: str) -> str | None:
    at = fired.get(f"{host} {event}")
    return None if at is None else iso(at)


def _log(workspace: Workspace) -> Iterator[Diagnosis]:
    """What hooks could not do, if anything."""
    shown = os.path.relpath(workspace.folder / hooklog.NAME)
    try:
        lines = hooklog.lines(workspace.folder)
    except OSError as error:
        why = error.strerror or "it is no regular file"
        yield Diagnosis("hook log", "problem", f"{shown} is of no use: {why}", f"move {shown} away")
        return
    if lines:
        what = f"{len(lines)} failures on record, the last: {lines[-1]}"
        yield Diagnosis("hook log", "note", what, f"rm {shlex.quote(shown)} once that is settled")


def _tools(hooked: bool) -> Iterator[Diagnosis]:
    if shutil.which("passdown") is None:
        grade: Grade = "problem" if hooked else "note"
        fix = "install it where the shell of a host finds it"
        yield Diagnosis("command", grade, "passdown is not on the PATH, where hooks look", fix)
    if find_spec("mcp") is None:
        what = "the MCP server needs a package that is not installed"
        yield Diagnosis("mcp", "note", what, "pip install 'passdown[mcp]'")
