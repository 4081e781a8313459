"""The history of a project: what happened, filtered, and as it happens. Nothing here writes."""

import time
from collections import deque
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Annotated

import typer
from msgspec import Struct
from msgspec.structs import asdict

from cli import options, output
from cli.answers import ChangesAnswer, RecordAnswer, answers
from cli.describe import colour, describe
from cli.document import record_data
from cli.recording import chosen, opened
from cli.screen import Cell, columns, fit, table
from journal import Handle, Project
from journal.clock import iso
from journal.errors import NotFound
from journal.events import VOCABULARY, Event
from journal.leaves import INNER
from journal.payload import decode
from journal.record import Record
from journal.rules.names import find, find_step

#: How often `--follow` looks whether something was added, in seconds.
_PAUSE = 0.25

#: No journal has more versions than this, which is as far as its store can count.
_LAST = 2**63 - 1


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command("log")(log)


class Wanted(Struct, frozen=True):
    """Which records are asked for; what is empty asks for any."""

    types: tuple[str, ...]
    actor: str
    step: str
    #: The names that the session goes by.
    sessions: frozenset[str]
    since: int | None
    until: int | None

    def has(self, record: Record, event: Event) -> bool:
        """Whether a record is among them."""
        return (
            (not self.types or any(fnmatchcase(record.type, type) for type in self.types))
            and (not self.actor or record.actor == self.actor)
            and (not self.step or getattr(event, "step", "") == self.step)
            and (not self.sessions or bool(self.sessions & sessions_of(record, event)))
            and (self.since is None or record.time >= self.since)
            and (self.until is None or record.time <= self.until)
        )


EVERYTHING = Wanted((), "", "", frozenset(), None, None)


def sessions_of(record: Record, event: Event) -> set[str | None]:
    """In which session something was recorded, and which it is about."""
    return {record.session, getattr(event, "session", None)}


@answers(RecordAnswer, ChangesAnswer)
def log(
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=0, help="The newest so many; 0 for all.")
    ] = 50,
    after: Annotated[int, typer.Option("--after", min=0, help="Only after this version.")] = 0,
    types: Annotated[
        list[str] | None,
        typer.Option("--type", "-t", help="Only this type, such as step.* ; repeatable."),
    ] = None,
    actor: Annotated[str, typer.Option("--actor", "-a", help="Only what this actor did.")] = "",
    step: Annotated[str, typer.Option("--step", help="Only what belongs to this step.")] = "",
    session: Annotated[
        str, typer.Option("--session", "-s", help="Only what was done in this session.")
    ] = "",
    since: options.Since = "",
    until: options.Until = "",
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on as more is recorded, until Ctrl-C.")
    ] = False,
    changes: Annotated[
        bool, typer.Option("--changes", help="With what each event changed, leaf by leaf.")
    ] = False,
    project: options.Project = "",
    as_json: options.AsJson = False,
) -> None:
    """Show what happened, oldest first; with --json one record a line.

    Example: passdown log -n 10 --type "step.*" --since 2h
    """
    show = _show_changes if changes else _show
    with opened() as (_, journal):
        handle = chosen(journal, project)
        wanted = asked_for(
            handle,
            types or (),
            actor,
            step,
            session,
            options.moment(since) if since else None,
            options.moment(until) if until else None,
        )
        found, seen = newest(handle, wanted, min(limit, _LAST), min(after, _LAST))
        show(handle, found, as_json)
        while follow:
            output.deliver()
            time.sleep(_PAUSE)
            for record, hit in _read(handle, wanted, seen):
                seen = record.version
                if hit:
                    show(handle, [record], as_json)


def asked_for(
    handle: Handle,
    types: Iterable[str],
    actor: str = "",
    step: str = "",
    session: str = "",
    since: int | None = None,
    until: int | None = None,
) -> Wanted:
    """What somebody asks for in words; a name that means nothing is refused."""
    return Wanted(
        tuple(map(_type, types)),
        actor,
        find_step(handle.state, step).key if step else "",
        session_names(handle, session),
        since,
        until,
    )


def newest(
    handle: Handle, wanted: Wanted, limit: int, after: int = 0, upto: int | None = None
) -> tuple[list[Record], int]:
    """The newest that are wanted, in their order, 0 for all; and up to where was looked."""
    found: deque[Record] = deque(maxlen=limit or None)
    if limit and wanted == EVERYTHING:
        last = upto or handle.version
        after = max(after, last - limit)
    seen = after
    for record, hit in _read(handle, wanted, after, upto):
        seen = record.version
        if hit:
            found.append(record)
    return list(found), seen


def _read(
    handle: Handle, wanted: Wanted, after: int, upto: int | None = None
) -> Iterator[tuple[Record, bool]]:
    for record in handle.records(after, upto):
        yield record, wanted.has(record, decode(record.type, record.data))


def _type(pattern: str) -> str:
    """A type, or a pattern that at least one type matches; a noun alone means all of its."""
    nouns = {tag.partition(".")[0] for tag in VOCABULARY}
    pattern = f"{pattern}.*" if pattern in nouns else pattern
    if not any(fnmatchcase(tag, pattern) for tag in VOCABULARY):
        raise NotFound("event type", pattern, VOCABULARY, hint="see `passdown append --help`")
    return pattern


def session_names(handle: Handle, session: str) -> frozenset[str]:
    """Every name of the session that goes by that name."""
    if not session:
        return frozenset()
    known = handle.state.session_names
    id = known.get(session)
    if id is None:
        # A session need not have been started for something to be recorded in it.
        used = {record.session: record.session for record in handle.records() if record.session}
        id = find("session", session, {**used, **known})
    return frozenset({id, *(name for name, of in known.items() if of == id)})


def _show(handle: Handle, records: list[Record], as_json: bool) -> None:
    if as_json:
        for record in records:
            output.document(record_data(record))
        return
    rows = [_row(record) for record in records]
    for line in table(rows, right=(0,)):
        output.line(line)


def _show_changes(handle: Handle, records: list[Record], as_json: bool) -> None:
    """Each record with what it changed, which only a fold of all before it can tell."""
    from cli.facts import by_value, leaf, lines
    from journal.changes import leafwise
    from journal.following import follow

    if not records:
        return
    wanted = {record.version for record in records}
    first = min(wanted) - 1
    state = handle.at(first) if first else Project(handle.slug)
    for record, touches in follow(state, handle.records(first, max(wanted))):
        if record.version not in wanted:
            continue
        touched = (touch for touch in touches if touch.path[0] not in INNER)
        changes = [by_value(change, state) for change in leafwise(touched)]
        if as_json:
            told = [leaf(each, [record.version]) for each in changes]
            output.document(ChangesAnswer(**asdict(record_data(record)), changes=told))
            continue
        for line in table([_row(record)]):
            output.line(line)
        for line in lines(changes):
            output.line(f"    {fit(line, columns() - 4)}")


def _said(record: Record, event: Event) -> str:
    return describe(event) if record.salt is not None else f"(redacted) {describe(event)}"


def _row(record: Record) -> list[Cell]:
    event = decode(record.type, record.data)
    return [
        Cell(str(record.version), "dim"),
        Cell(iso(record.time), "dim"),
        Cell(fit(record.actor or "-", 20), "cyan"),
        Cell(_said(record, event), colour(event)),
    ]
