"""The difference between two moments of a project, told as facts, with the events that made it."""

from collections.abc import Iterable, Sequence
from pathlib import Path as FilePath
from typing import Annotated

import typer
from msgspec import Struct

from cli import options, output
from cli.answers import ChangeAnswer, LeafAnswer, answers
from cli.facts import Fact, Thing, facts, leaf
from cli.log import session_names, sessions_of
from cli.moments import state_at, version_at
from cli.recording import chosen, opened
from cli.screen import Cell, table
from journal import Handle, Project
from journal.changes import Touch
from journal.clock import iso
from journal.errors import Invalid
from journal.following import follow
from journal.leaves import INNER, Path, text
from journal.payload import decode
from journal.record import Record
from journal.workspace import Workspace

#: So many events of one fact are named in a line.
_NAMED = 3


class FactAnswer(Struct, frozen=True):
    """One fact about one thing: in words, leaf by leaf, and by which versions it came to be so."""

    fact: str
    path: str
    changes: list[LeafAnswer]
    events: list[int]
    #: Whether only times and counts moved on.
    quiet: bool


class CauseAnswer(Struct, frozen=True):
    """An event that made a difference."""

    version: int
    id: str
    type: str
    at: str
    actor: str | None
    session: str | None


class MomentAnswer(Struct, frozen=True):
    """A version of a project, and when it was recorded; 0 is before there was anything."""

    version: int
    at: str | None


class DiffAnswer(Struct, frozen=True):
    """What changed between two moments, or in a session, or between a moment and a file."""

    project: str
    #: null where that side is a file; of a session, where the project stood around it.
    before: MomentAnswer | None
    after: MomentAnswer | None
    session: str | None
    file: str | None
    facts: list[FactAnswer]
    #: Every event that a fact names, by its version.
    events: list[CauseAnswer]
    #: Where one side is a file: how it differs, `was` on the first side and `now` on the other.
    changes: list[ChangeAnswer]


class Compared(Struct):
    """What was touched between two moments, by which records, and the state at the later one."""

    state: Project
    things: dict[Path, Thing]
    records: dict[int, tuple[str, str, int, str | None, str | None]]

    def add(self, record: Record, touches: Iterable[Touch], whole: bool = True) -> None:
        """Know what a record touched."""
        self.records[record.version] = (
            *(record.id, record.type, record.at),
            *(record.actor, record.session),
        )
        for path, old, new in touches:
            if path[0] not in INNER:
                if path not in self.things:
                    self.things[path] = Thing(path, whole)
                self.things[path].touches.append((record.version, old, new))

    def cause(self, version: int) -> CauseAnswer:
        """A record as a cause of something."""
        id, type, at, actor, session = self.records[version]
        return CauseAnswer(version, id, type, iso(at), actor, session)


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command("diff")(diff)


@answers(DiffAnswer)
def diff(
    a: Annotated[
        str,
        typer.Argument(
            help="From this moment: a version (0 is before the first), a time, an event's id, "
            "a seal; or from this file.",
        ),
    ] = "",
    b: Annotated[str, typer.Argument(help="To this moment or file; to now if not given.")] = "",
    session: Annotated[
        str, typer.Option("--session", "-s", help="What this session changed, in place of A and B.")
    ] = "",
    project: options.Project = "",
    as_json: options.AsJson = False,
) -> None:
    """Show what changed between two moments, each fact with the events that made it so.

    Between a moment and a file it shows how the file differs from what the journal says.

    Example: passdown diff 2h
    """
    if bool(a) == bool(session):
        raise Invalid("the difference from what? give a moment or a file, or --session, not both")
    with opened() as (workspace, journal):
        handle = chosen(journal, project)
        if session:
            answer = _of_session(handle, session, as_json)
        elif file := next((each for each in (a, b) if each and _is_file(handle, each)), ""):
            answer = _with_file(workspace, handle, a, b, file)
        else:
            answer = _of_moments(handle, a, b, as_json)
    if as_json:
        output.document(answer)
    else:
        _tell(answer)


# -- between moments -------------------------------------------------------------------------


def _of_moments(handle: Handle, a: str, b: str, leafwise: bool) -> DiffAnswer:
    first = version_at(handle, a, 0)
    last = version_at(handle, b, 0) if b else handle.version
    found = compared(handle, min(first, last), max(first, last))
    if first > last:
        found.things = {path: thing.back() for path, thing in found.things.items()}
    return _answer(handle, found, _moment(handle, first), _moment(handle, last), leafwise)


def compared(handle: Handle, first: int, last: int) -> Compared:
    """What became of a project from one version to a later one, in about one fold."""
    if last:
        handle.check_version(last)
    state = handle.at(first) if first else Project(handle.slug)
    found = Compared(state, {}, {})
    for record, touches in follow(state, handle.records(first, last)):
        found.add(record, touches)
    return found


def _moment(handle: Handle, version: int) -> MomentAnswer:
    at = next((record.at for record in handle.records(version - 1, version)), None)
    return MomentAnswer(version, None if not version or at is None else iso(at))


def _of_session(handle: Handle, session: str, leafwise: bool) -> DiffAnswer:
    """What the events of one session changed, whatever others did in between."""
    names = session_names(handle, session)
    state = Project(handle.slug)
    found = Compared(state, {}, {})
    for record, touches in follow(state, handle.records()):
        if names & sessions_of(record, decode(record.type, record.data)):
            found.add(record, touches, whole=False)
    first, last = min(found.records), max(found.records)
    id = next((state.session_names[each] for each in names if each in state.session_names), session)
    before, after = _moment(handle, first - 1), _moment(handle, last)
    return _answer(handle, found, before, after, leafwise, id)


def _answer(
    handle: Handle,
    found: Compared,
    before: MomentAnswer,
    after: MomentAnswer,
    leafwise: bool,
    session: str | None = None,
) -> DiffAnswer:
    """The facts with their events; with every leaf only where somebody looks at those."""
    told = facts(found.things, found.state, back=before.version > after.version)
    facts_told = [_fact(fact, leafwise) for fact in told]
    named = {
        version
        for fact in facts_told
        for version in (*fact.events, *(v for each in fact.changes for v in each.events))
    }
    causes = [found.cause(version) for version in sorted(named)]
    return DiffAnswer(handle.slug, before, after, session, None, facts_told, causes, [])


def _fact(fact: Fact, leafwise: bool) -> FactAnswer:
    things = {thing.path: thing for thing in fact.things}
    shown = fact.changes if leafwise else ()
    changes = [leaf(x, things[x.path[:2]].events([x.path])) for x in shown]
    return FactAnswer(fact.words, text(fact.path), changes, list(fact.events), fact.quiet)


# -- between a moment and a file -------------------------------------------------------------


def _is_file(handle: Handle, said: str) -> bool:
    """Whether something names a file and no moment."""
    if not FilePath(said).is_file() or _is_seal(FilePath(said)):
        return False
    try:
        version_at(handle, said, 0)
    except Invalid:
        return True
    return False


def _is_seal(path: FilePath) -> bool:
    """Whether a file is a seal, whatever that is about."""
    from cli.sealing import read_seal

    try:
        read_seal(path)
    except Invalid:
        return False
    return True


def _with_file(workspace: Workspace, handle: Handle, a: str, b: str, file: str) -> DiffAnswer:
    """How a file differs from what a state is rendered as."""
    from projections.compared import compare

    said = b if file == a else a
    if said and _is_file(handle, said):
        raise Invalid("both are files; one side is a moment of the journal")
    state = state_at(handle, said)
    found = compare(workspace, handle.state, state, FilePath(file))
    moment = _moment(handle, state.version)
    changes = [
        ChangeAnswer(file, x.where, *((x.now, x.was) if file == a else (x.was, x.now)))
        for x in found
    ]
    before, after = (None, moment) if file == a else (moment, None)
    return DiffAnswer(handle.slug, before, after, None, file, [], [], changes)


# -- for people ------------------------------------------------------------------------------


def _tell(answer: DiffAnswer) -> None:
    from cli.drift import said

    sides = [answer.file if x is None else _side(x) for x in (answer.before, answer.after)]
    of = f"what {answer.session} changed, " if answer.session else ""
    output.line(f"{answer.project}: {of}{sides[0]} to {sides[1]}")
    if answer.file:
        rows = [
            [Cell(x.where, "cyan"), Cell(said(x.was), "red"), Cell(said(x.now))]
            for x in answer.changes
        ]
    else:
        events = {event.version: event for event in answer.events}
        rows = [
            [Cell(fact.fact), Cell(_causes([events[v] for v in fact.events]), "dim")]
            for fact in answer.facts
            if not fact.quiet
        ]
    for line in table(rows, indent=2):
        output.line(line)
    if not rows:
        output.line("  nothing")


def _side(moment: MomentAnswer) -> str:
    return f"version {moment.version}{f' ({moment.at})' if moment.at else ''}"


def _causes(events: Sequence[CauseAnswer]) -> str:
    """The last events that made it so, the newest first."""
    newest = [
        f"v{event.version} {event.type}{f' by {event.actor}' if event.actor else ''}"
        for event in reversed(events[-_NAMED:])
    ]
    more = len(events) - len(newest)
    return ", ".join((*newest, *([f"{more} more"] if more else [])))
