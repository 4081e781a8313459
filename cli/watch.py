"""A project as it goes on, on the screen. Nothing here writes."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Annotated

import typer
from msgspec import Struct

from cli import options, output
from cli.alarms import Alarm, alarms, file_alarms
from cli.answers import RecordAnswer, answers
from cli.board import Sight, board
from cli.document import record_data
from cli.peers import ActorAnswer
from cli.recording import chosen, opened
from journal import Handle, Journal, Project
from journal.audit import audit
from journal.clock import now
from journal.errors import JournalError
from journal.record import Record
from journal.workspace import Workspace

#: As many events as the tallest screen has lines.
_NEWEST = 200
#: Where nothing is drawn, fewer are enough.
_FEW = 10
#: An audit may take this part of the time, and is not made more often than this, in seconds.
_SHARE, _SELDOM = 0.05, 5.0


class Watched(Struct, frozen=True):
    """How a project stands at one moment."""

    project: str
    version: int
    alarms: list[Alarm]
    #: Who has a session that goes on.
    at_work: list[ActorAnswer]
    newest: list[RecordAnswer]


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command("watch")(watch)


@answers(Watched)
def watch(
    interval: Annotated[
        float,
        typer.Option(
            "--interval", metavar="SECONDS", min=0.1, max=3600, help="How often it looks."
        ),
    ] = 1.0,
    once: Annotated[bool, typer.Option("--once", help="Look once, and be done.")] = False,
    project: options.Project = "",
    as_json: options.AsJson = False,
) -> None:
    """Show a project as it goes on: alarms, steps, who is at work, the newest events.

    It is drawn anew as things happen, until Ctrl-C or q. Into a pipe, and with --json, it looks
    once. `passdown log --follow` gives the events line by line.

    Example: passdown watch --once
    """
    with opened() as (workspace, journal):
        handle = chosen(journal, project)
        watcher = Watcher(workspace, journal, handle.slug)
        if as_json:
            output.document(_answer(watcher.look(_FEW)))
        elif once or not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
            for line in board(watcher.look(_FEW)):
                output.line(line)
        else:
            _draw(watcher, interval)


def _draw(watcher: "Watcher", interval: float) -> None:
    from cli.terminal import drawing

    with suppress(KeyboardInterrupt), drawing() as screen:
        while True:
            sight = watcher.look(_NEWEST)
            screen.show(board(sight, screen.height))
            if not screen.wait(interval):
                break


def _answer(sight: Sight) -> Watched:
    from cli.actor import known_actors

    return Watched(
        sight.project.slug,
        sight.project.version,
        list(sight.alarms),
        [each for each in known_actors(sight.project) if each.session],
        [record_data(record) for record in sight.newest],
    )


class Watcher:
    """Looks at a project again and again; a journal that cannot be read is an alarm, no end."""

    def __init__(self, workspace: Workspace, journal: Journal, slug: str) -> None:
        self._workspace = workspace
        self._slug = slug
        self._journal = journal
        self._state = Project(slug)
        self._newest: list[Record] = []
        self._file = self._identity()
        self._flaws: list[Alarm] = []
        self._next_audit = 0.0

    def look(self, most: int) -> Sight:
        """How the project stands now, with at most so many of the newest events."""
        found: list[Alarm] = []
        try:
            self._follow_file()
            handle = self._journal.project(self._slug)
            self._state = handle.state
            self._newest = _newest(handle, self._newest, most)
            found += self._audited()
        except JournalError as error:
            found.append(Alarm("journal", "", str(error)))
        moment = now()
        found += alarms(self._state, moment)
        found += _files(self._workspace, self._slug)
        return Sight(self._state, self._newest, found, moment)

    def _identity(self) -> tuple[int, int] | None:
        """Which file the journal is: one that was restored from a backup is another."""
        with suppress(OSError):
            traits = os.stat(self._workspace.folder / "journal.db")
            return traits.st_dev, traits.st_ino
        return None

    def _follow_file(self) -> None:
        identity = self._identity()
        if identity != self._file:
            fresh = Journal.open(self._workspace.folder)  # else the one at hand stays
            self._journal.close()
            self._journal = fresh
            self._file, self._newest, self._next_audit = identity, [], 0.0

    def _audited(self) -> list[Alarm]:
        """What an audit finds; it is made again only so often that it is no burden."""
        began = time.monotonic()
        if began >= self._next_audit:
            flaws = audit(self._journal.store)
            self._flaws = [Alarm("journal", flaw.project or "", flaw.what) for flaw in flaws]
            over = time.monotonic()
            self._next_audit = over + max((over - began) / _SHARE, _SELDOM)
        return self._flaws


def _newest(handle: Handle, known: list[Record], most: int) -> list[Record]:
    """The newest records; those that are known are not read again."""
    last = known[-1].version if known else 0
    head = handle.version
    if head < last:
        known, last = [], 0
    return [*known, *handle.records(max(last, head - most))][-most:]


def _files(workspace: Workspace, slug: str) -> Iterator[Alarm]:
    with suppress(OSError):
        yield from file_alarms(workspace, slug)
