"""What is installed, what really happened, and whether all is well, each finding with its fix."""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, TypeAlias

import typer
from msgspec import Struct

from cli import exits, options, output
from cli.answers import answers
from cli.hooks import LOG
from cli.hosts import Installed, installed
from cli.screen import Cell, table
from journal import Journal
from journal import workspace as places
from journal.audit import audit
from journal.clock import iso
from journal.errors import JournalDamaged, JournalForeign, JournalMissing, PassdownError
from journal.workspace import Workspace
from projections.files import FileState, inspect

Grade: TypeAlias = Literal["well", "note", "problem"]
_SIGNS = {"well": Cell("✓", "green"), "note": Cell("·", "dim"), "problem": Cell("✗", "red")}


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
    workspace = places.choose()
    found, fired = _journal(workspace)
    hosts = installed(Path(os.path.realpath(workspace.root)))
    hooks = [
        HookAnswer(host.host, event, event in host.events, _when(fired, host.host, event))
        for host in hosts
        for event in (*host.events, *host.missing)
    ]
    used = any(host.events for host in hosts)
    findings = [*found, *_hosts(hosts, fired), *_log(workspace), *_tools(used)]
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


def _journal(workspace: Workspace) -> tuple[list[Diagnosis], dict[str, int]]:
    """How journal and files are, and when each hook last fired according to the journal."""
    fired: dict[str, int] = {}
    try:
        with Journal.open(workspace.folder) as journal:
            flaws = list(audit(journal.store))
            if flaws:
                raise JournalDamaged(flaws[0].what)
            found = [_counted(journal)]
            for slug in journal.projects():
                handle = journal.project(slug)
                for hook, at in handle.state.hooks.items():
                    fired[hook] = max(at, fired.get(hook, 0))
                found += [_file(slug, file) for file in inspect(workspace, handle)]
    except JournalMissing as error:
        made = places.was_used(workspace.folder) if workspace.folder.is_dir() else False
        grade: Grade = "problem" if made else "note"
        return [Diagnosis("journal", grade, str(error), "passdown init PROJECT")], fired
    except PassdownError as error:
        damaged = isinstance(error, JournalDamaged | JournalForeign)
        fix = "passdown recover --journal" if damaged else "mend that, then passdown verify"
        return [Diagnosis("journal", "problem", str(error), fix)], fired
    return found, fired


def _counted(journal: Journal) -> Diagnosis:
    heads = journal.store.heads()
    records = sum(head.version for head in heads)
    what = f"{records:,} records in {len(heads)} projects: database, heads and chain are well"
    fix = "" if heads else "passdown init PROJECT"
    return Diagnosis("journal", "well", what, fix)


def _file(slug: str, file: FileState) -> Diagnosis:
    about = f"file of {slug}"
    if file.status == "fresh" or (file.status == "taken" and file.well):
        return Diagnosis(about, "well", f"{file.path} is {file.status}")
    fix = file.problem or f"passdown recover -p {slug}"
    return Diagnosis(about, "problem", f"{file.path} is {file.status}", fix)


def _hosts(hosts: list[Installed], fired: dict[str, int]) -> Iterator[Diagnosis]:
    """What each host calls, and whether it ever did."""
    if not any(host.events or host.problem for host in hosts):
        fix = "passdown setup claude-code, gemini or codex"
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
    with suppress(OSError):
        lines = (workspace.folder / LOG).read_text(errors="replace").splitlines()
        if lines:
            what = f"{len(lines)} failures on record, the last: {lines[-1]}"
            path = os.path.relpath(workspace.folder / LOG)
            yield Diagnosis("hook log", "note", what, f"rm {path} once that is settled")


def _tools(hooked: bool) -> Iterator[Diagnosis]:
    if shutil.which("passdown") is None:
        grade: Grade = "problem" if hooked else "note"
        fix = "install it where the shell of a host finds it"
        yield Diagnosis("command", grade, "passdown is not on the PATH, where hooks look", fix)
    if find_spec("mcp") is None:
        what = "the MCP server needs a package that is not installed"
        yield Diagnosis("mcp", "note", what, "pip install 'passdown[mcp]'")
