"""The difference between two moments of a project, told as facts, with the events that made it."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Annotated

import typer
from msgspec import Struct

from cli import options, output
from cli.answers import ChangeAnswer, LeafAnswer, answers
from cli.facts import Fact, facts, leaf
from cli.log import session_names, sessions_of
from cli.moments import state_at, version_at
from cli.recording import chosen, opened
from cli.screen import Cell, table
from journal import Handle, Project
from journal.changes import Change, difference
from journal.clock import iso
from journal.errors import Invalid
from journal.following import follow
from journal.leaves import Path, same, text
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
    """What is found between two moments."""

    before: Project
    after: Project
    changes: list[Change]
    #: The versions that set a leaf in between.
    causes: dict[Path, list[int]]
    records: dict[int, CauseAnswer]


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command("diff")(diff)


@answers(DiffAnswer)
def diff(
    a: Annotated[
        str,
        typer.Argument(
            help="From this moment: a version (0 is before the first), a time, an event's id; "
            "or from this file.",
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
            answer = _of_session(handle, session)
        elif file := next((each for each in (a, b) if each and _is_file(handle, each)), ""):
            answer = _with_file(workspace, handle, a, b, file)
        else:
            answer = _of_moments(handle, a, b)
    if as_json:
        output.document(answer)
    else:
        _tell(answer)


# -- between moments -------------------------------------------------------------------------


def _of_moments(handle: Handle, a: str, b: str) -> DiffAnswer:
    first = version_at(handle, a)
    last = version_at(handle, b) if b else handle.version
    found = compared(handle, min(first, last), max(first, last))
    if first > last:
        found.before, found.after = found.after, found.before
        found.changes = [change.reversed() for change in found.changes]
    return _answer(handle, found, _moment(handle, first), _moment(handle, last))


def compared(handle: Handle, first: int, last: int) -> Compared:
    """What became of a project from one version to a later one, in about one fold."""
    if last:
        handle.check_version(last)
    after = handle.at(first) if first else Project(handle.slug)
    before = after.copy()
    causes: dict[Path, list[int]] = {}
    records: dict[int, CauseAnswer] = {}
    for record, changes in follow(after, handle.records(first, last)):
        records[record.version] = cause(record)
        for change in changes:
            causes.setdefault(change.path, []).append(record.version)
    return Compared(before, after, difference(before, after), causes, records)


def cause(record: Record) -> CauseAnswer:
    """A record as a cause of something."""
    return CauseAnswer(
        record.version, record.id, record.type, iso(record.at), record.actor, record.session
    )


def _moment(handle: Handle, version: int) -> MomentAnswer:
    at = next((record.at for record in handle.records(version - 1, version)), None)
    return MomentAnswer(version, None if not version or at is None else iso(at))


def _of_session(handle: Handle, session: str) -> DiffAnswer:
    """What the events of one session changed, whatever others did in between."""
    names = session_names(handle, session)
    state = Project(handle.slug)
    found = Compared(Project(handle.slug), state, [], {}, {})
    net: dict[Path, Change] = {}
    for record, changes in follow(state, handle.records()):
        if not names & sessions_of(record, decode(record.type, record.data)):
            continue
        found.records[record.version] = cause(record)
        _know(found.before, state, changes)
        for change in changes:
            known = net.get(change.path)
            old = change.old if known is None else known.old
            net[change.path] = Change(change.path, old, change.new)
            found.causes.setdefault(change.path, []).append(record.version)
    found.changes = [each for each in net.values() if not same(each.old, each.new)]
    first, last = min(found.records), max(found.records)
    id = next((state.session_names[each] for each in names if each in state.session_names), session)
    return _answer(handle, found, _moment(handle, first - 1), _moment(handle, last), id)


def _know(known: Project, state: Project, changes: Sequence[Change]) -> None:
    """Know the things that a session changed, since others may do away with them."""
    for path in {change.path[:2] for change in changes if len(change.path) == 3}:
        things = getattr(state, path[0])
        if isinstance(things, dict) and path[1] in things:
            getattr(known, path[0])[path[1]] = things[path[1]]


def _answer(
    handle: Handle,
    found: Compared,
    before: MomentAnswer,
    after: MomentAnswer,
    session: str | None = None,
) -> DiffAnswer:
    back = before.version > after.version
    told = facts(found.changes, found.causes, found.before, found.after, back=back)
    named = sorted({version for fact in told for version in _versions(fact, found.causes)})
    return DiffAnswer(
        handle.slug,
        before,
        after,
        session,
        None,
        [_fact(fact, found.causes) for fact in told],
        [found.records[version] for version in named],
        [],
    )


def _versions(fact: Fact, causes: Mapping[Path, Sequence[int]]) -> Iterator[int]:
    for change in fact.changes:
        yield from causes.get(change.path, ())


def _fact(fact: Fact, causes: Mapping[Path, Sequence[int]]) -> FactAnswer:
    changes = [leaf(change, causes.get(change.path, ())) for change in fact.changes]
    return FactAnswer(fact.words, text(fact.path), changes, list(fact.events), fact.quiet)


# -- between a moment and a file -------------------------------------------------------------


def _is_file(handle: Handle, said: str) -> bool:
    """Whether something names a file and no moment."""
    if not FilePath(said).is_file():
        return False
    try:
        version_at(handle, said)
    except Invalid:
        return True
    return False


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
