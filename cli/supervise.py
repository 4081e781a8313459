"""Finding the sessions that died in the middle of a task, and giving their tasks back."""

import re
import time
from collections.abc import Iterable, Iterator
from typing import Annotated

import typer
from msgspec import Struct
from msgspec.structs import replace

from cli import options, output
from cli.answers import answers
from cli.recording import Upkeep, keep_files, opened
from journal import Handle, Project, Request
from journal.clock import iso, now
from journal.errors import Invalid, JournalUnavailable
from journal.supervision import Stale, crash, stale

_SECONDS = {"s": 1, "m": 60, "": 60, "h": 3600, "d": 86_400}


class StaleSession(Struct, frozen=True):
    """A session that showed no progress since then, and the tasks that are open again."""

    session: str
    agent: str
    since: str
    minutes: int
    reason: str
    tasks: list[str]


class SupervisedProject(Struct, frozen=True):
    """The sessions of a project that were marked as crashed; of an archived one there are none."""

    project: str
    archived: bool
    crashed: list[StaleSession]
    #: Whether every file is up to date; null if nothing was recorded.
    synced: bool | None
    warnings: list[str]


class Supervised(Struct, frozen=True):
    """What was done in each project; with `dry_run` it is what would be done."""

    dry_run: bool
    projects: list[SupervisedProject]


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command("supervise")(supervise)


@answers(Supervised)
def supervise(
    after: Annotated[
        str,
        typer.Option(
            "--after",
            envvar="PASSDOWN_STALE_AFTER",
            metavar="TIME",
            help="How long without progress is too long: minutes, or like 90s, 45m, 2h.",
        ),
    ] = "30m",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done, and record nothing.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Look again and again, until Ctrl-C.")
    ] = False,
    every: Annotated[
        int,
        typer.Option(
            "--every", metavar="SECONDS", min=1, max=86_400, help="How often --watch looks."
        ),
    ] = 60,
    project: Annotated[
        str,
        typer.Option(
            "--project",
            "-p",
            envvar="PASSDOWN_PROJECT",
            help="Only this project; all if not given.",
        ),
    ] = "",
    actor: options.Actor = "supervisor",
    as_json: options.AsJson = False,
) -> None:
    """Mark sessions as crashed that hold a task and show no progress, and open their tasks again.

    Whatever is recorded in a session is progress, but for its heartbeats. With --watch only what
    was done is told, with --json one answer for each look that found something.

    Example: passdown supervise --dry-run
    """
    patience = _microseconds(after)
    by = None if dry_run else actor or "supervisor"
    if not watch:
        _tell(_look(project, patience, by), dry_run, as_json)
        return
    told: set[tuple[str, str, str]] = set()
    while True:
        try:
            news = (_untold(each, told) for each in _look(project, patience, by))
            _tell((each for each in news if each.crashed), dry_run, as_json, quiet=True)
        except JournalUnavailable as error:
            output.note(f"{error}; the next look is in {every} s")
        output.deliver()
        time.sleep(every)


def _microseconds(text: str) -> int:
    """How long a stretch of time is that somebody wrote."""
    said = re.fullmatch(r"([0-9]{1,6})([smhd]?)", text)
    if not said:
        raise Invalid(f"{text[:60]!r} is no stretch of time; give minutes, or like 90s, 45m or 2h")
    return int(said[1]) * _SECONDS[said[2]] * 1_000_000


def _look(project: str, patience: int, actor: str | None) -> Iterator[SupervisedProject]:
    """Look once at every project, or at one; without an actor nothing is done about it."""
    with opened() as (workspace, journal):
        for slug in [project] if project else journal.projects():
            handle = journal.project(slug)
            state = handle.state
            if state.archived is not None:
                yield SupervisedProject(slug, True, [], None, [])
                continue
            if actor is None:
                found = stale(state, now(), patience)
            else:
                found = give_back(handle, patience, actor)
            upkeep = keep_files(workspace, handle) if found and actor is not None else Upkeep()
            crashed = [_answer(one) for one in found]
            yield SupervisedProject(slug, False, crashed, upkeep.synced, _warnings(upkeep))


def give_back(handle: Handle, patience: int, actor: str) -> list[Stale]:
    """Mark stale sessions as crashed and open their tasks, all or none.

    However many supervisors look at the same time, one of them does it.
    """
    found: list[Stale] = []

    def propose(state: Project, moment: int) -> list[Request]:
        found[:] = stale(state, moment, patience)
        return [Request(event, actor) for one in found for event in crash(one)]

    handle.append_decided(propose)
    return found


def _warnings(upkeep: Upkeep) -> list[str]:
    """What is to be known about the files."""
    restored = [
        f"{file.path} was corrupt and is restored"
        + (f"; its bytes are in {file.kept}" if file.kept else "")
        for file in upkeep.files
        if file.status == "corrupt" and file.written
    ]
    return [*restored, *upkeep.problems]


def _answer(one: Stale) -> StaleSession:
    return StaleSession(
        one.session.id,
        one.session.agent,
        iso(one.since),
        one.idle // 60_000_000,
        one.reason,
        [task.id for task in one.tasks],
    )


def _untold(each: SupervisedProject, told: set[tuple[str, str, str]]) -> SupervisedProject:
    """What no earlier look has told; without recording the same is found again and again."""
    new = [one for one in each.crashed if (each.project, one.session, one.since) not in told]
    told.update((each.project, one.session, one.since) for one in new)
    return replace(each, crashed=new)


def _tell(
    projects: Iterable[SupervisedProject], dry_run: bool, as_json: bool, quiet: bool = False
) -> None:
    """What was found in each project, as it is found; as data all at once, unless it is nothing."""
    answers = []
    for each in projects:
        answers.append(each)
        for problem in each.warnings:
            output.note(problem)
        for line in () if as_json else _lines(each, dry_run):
            output.line(output.plain(line))
    if as_json and (answers or not quiet):
        output.document(Supervised(dry_run, answers))


def _lines(each: SupervisedProject, dry_run: bool) -> Iterator[str]:
    """A line for each session, or one that there is none."""
    would = "would be " if dry_run else ""
    for one in each.crashed:
        whose = f"{one.session} of {one.agent}" if one.agent else one.session
        state = "would be marked as crashed" if dry_run else "crashed"
        tasks = f"{', '.join(one.tasks)} {would}open again"
        yield f"{each.project}: {whose} {state} ({one.reason}); {tasks}"
    if each.archived:
        yield f"{each.project}: archived, left alone"
    elif not each.crashed:
        yield f"{each.project}: every session with a task shows progress"
