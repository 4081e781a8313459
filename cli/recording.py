"""What every recording command does: append, bring the files up to date, say what happened."""

import functools
import inspect
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import typer
from msgspec import Struct
from msgspec.structs import replace

from cli import options, output
from cli.answers import ArchivedAnswer, BlockerAnswer, Recorded, answers
from cli.describe import describe
from cli.document import record_data
from cli.progress import progress
from cli.timing import timed
from journal import Journal, Project
from journal import workspace as places
from journal.clock import parse
from journal.errors import Invalid, PassdownError, Rejected
from journal.events import Event, ProjectArchived, ProjectReopened
from journal.handle import Handle
from journal.payload import decode
from journal.request import Appended, Request
from journal.rules import named_paths, workspace_path
from journal.workspace import Workspace
from projections.dialect import TREES
from projections.files import FileState, sync

#: How a command finds out what it proposes, on the state of now and the time that it is.
Propose: TypeAlias = Callable[[Project, int], Sequence[Event]]
Proposed: TypeAlias = Event | Sequence[Event] | Propose
Proposal = TypeVar("Proposal", bound=Callable[..., Proposed])
Then: TypeAlias = Callable[[Project], bytes]


@contextmanager
def opened() -> Iterator[tuple[Workspace, Journal]]:
    """The workspace of the current folder and its journal."""
    workspace = places.find()
    with timed("opened", journal=str(workspace.folder)):
        journal = Journal.open(workspace.folder)
    with journal:
        yield workspace, journal


def chosen(journal: Journal, slug: str, naming: str = "with -p") -> Handle:
    """The project that was named, else the only one there is; `naming` says how it is named."""
    if slug:
        return journal.project(slug)
    known = journal.projects()
    if len(known) == 1:
        return journal.project(known[0])
    if not known:
        raise Invalid("the journal has no project yet; `passdown init PROJECT` opens one")
    raise Invalid(f"which project? there are {', '.join(known[:8])}; name one {naming}")


class Asked:
    """The options that every recording command takes, as they were given."""

    def __init__(
        self,
        project: options.Project = "",
        actor: options.Actor = "",
        session: options.Session = "",
        key: options.Key = "",
        occurred: options.Occurred = "",
        no_sync: options.NoSync = False,
        as_json: options.AsJson = False,
        lease: options.Lease = "",
    ) -> None:
        self.project = project
        self.actor = actor or None
        self.session = session or None
        self.key = key or None
        self.occurred = parse(occurred) if occurred else None
        self.no_sync = no_sync
        self.as_json = as_json
        self.lease = lease or None


#: Named here as well: without tables no command is to import what makes them.
_TABLES = "tables.db"

_SHARED = inspect.signature(Asked).parameters


def recording(
    group: typer.Typer, name: str, then: Then | None = None
) -> Callable[[Proposal], Proposal]:
    """Make a command of a function that says which event, or events, it proposes.

    The command takes what the function takes, and the options that all recording commands share;
    a shared option that the function takes as well is given to both. What `then` makes of the state
    is shown to a person after what was recorded.
    """

    def register(propose: Proposal) -> Proposal:
        own = inspect.signature(propose).parameters

        @functools.wraps(propose)
        def command(**given: Any) -> None:
            asked = Asked(**{option: given[option] for option in _SHARED})
            proposed = propose(**{option: given[option] for option in own})
            if callable(proposed):
                record_decided(asked, proposed)
            else:
                events = (proposed,) if isinstance(proposed, Event) else proposed
                record(asked, *events, then=then)

        taken = list({**own, **_SHARED}.values())
        command.__signature__ = inspect.Signature(taken)  # type: ignore[attr-defined]
        command.__annotations__ = {each.name: each.annotation for each in taken}
        group.command(name)(answers(Recorded)(command))
        return propose

    return register


def record(asked: Asked, *events: Event, then: Then | None = None) -> None:
    """Append the events that a command proposes, and report."""
    with opened() as (workspace, journal):
        append(asked, workspace, chosen(journal, asked.project), _requests(asked, events), then)


def record_decided(asked: Asked, propose: Propose) -> None:
    """Append the events that a command proposes once it knows the state, and report."""
    with opened() as (workspace, journal):
        handle = chosen(journal, asked.project)

        def requests(state: Project, now: int) -> list[Request]:
            proposed = _requests(asked, propose(state, now))
            check_links(workspace, proposed)
            return proposed

        with _refusing(asked):
            done = handle.append_decided(requests, id=asked.key)
        finish(asked, workspace, handle, done)


def _requests(asked: Asked, events: Sequence[Event]) -> list[Request]:
    return [
        Request(x, asked.actor, asked.session, asked.occurred, lease=asked.lease) for x in events
    ]


@contextmanager
def _refusing(asked: Asked) -> Iterator[None]:
    """Where the project had to be named, an offer without its name would not work."""
    try:
        yield
    except Rejected as no:
        raise (no.naming(asked.project) if asked.project else no) from None


def append(
    asked: Asked,
    workspace: Workspace,
    handle: Handle,
    requests: Sequence[Request],
    then: Then | None = None,
) -> None:
    """Append what was asked for, all or none; then bring the files up to date and report."""
    done = append_alone(asked, workspace, handle, requests)
    finish(asked, workspace, handle, done, then)


def append_alone(
    asked: Asked, workspace: Workspace, handle: Handle, requests: Sequence[Request]
) -> Appended:
    """Append what was asked for, all or none, and leave files and report to the caller."""
    check_links(workspace, requests)
    with (
        timed("appended", project=handle.slug, requests=len(requests)),
        progress(f"recording {len(requests):,} events"),
        placed(workspace, handle, requests) as (settled, notes),
        _refusing(asked),
    ):
        done = handle.append_all(settled, id=asked.key)
        return replace(done, cautions=(*done.cautions, *notes)) if notes else done


@contextmanager
def placed(
    workspace: Workspace, handle: Handle, requests: Sequence[Request]
) -> Iterator[tuple[Sequence[Request], Sequence[str]]]:
    """The requests with where files are moved by them, and what there is to say about that."""
    if not any(isinstance(x.event, ProjectArchived | ProjectReopened) for x in requests):
        yield requests, ()
        return
    from projections.archive import ready

    with ready(workspace, handle, requests) as told:
        yield told.requests, told.notes


class Upkeep(Struct, frozen=True):
    """How the files of a project came out of a sync; `synced` is None if there was none."""

    synced: bool | None = None
    files: tuple[FileState, ...] = ()
    problems: tuple[str, ...] = ()


def keep_files(workspace: Workspace, handle: Handle) -> Upkeep:
    """Bring the files up to date after an append; nothing that goes wrong here is a failure.

    What was recorded is not to look as if it were not: it would be recorded again.
    """
    try:
        with timed("synced", project=handle.slug):
            files = (*sync(workspace, handle), *keep_tables(workspace, [handle]))
            _make_ready(workspace, handle)
    except (PassdownError, OSError, KeyboardInterrupt) as error:
        said = str(error) or "interrupted"
        return Upkeep(
            False, (), (said if "passdown sync" in said else f"{said}; run `passdown sync`",)
        )
    except Exception as error:  # noqa: BLE001
        return Upkeep(False, (), (f"{output.defect(error)}; `passdown sync --debug` shows where",))
    problems = tuple(file.problem for file in files if file.problem)
    return Upkeep(all(file.well for file in files), files, problems)


def keep_tables(
    workspace: Workspace, handles: Sequence[Handle], *, whole: bool = False, thorough: bool = False
) -> list[FileState]:
    """Bring the tables up to date, where `passdown tables` has made any; see `tables.keep`."""
    if not os.path.lexists(workspace.folder / _TABLES):
        return []
    from projections import tables

    return [tables.keep(workspace, handles, whole=whole, thorough=thorough)]


def inspect_tables(
    workspace: Workspace, handles: Sequence[Handle], *, whole: bool = False
) -> list[FileState]:
    """How the tables stand, where there are any."""
    if not os.path.lexists(workspace.folder / _TABLES):
        return []
    from projections import tables

    return [tables.inspect(workspace, handles, whole=whole)]


def _make_ready(workspace: Workspace, handle: Handle) -> None:
    """Where hooks are at work, have the brief ready for the next; without, it takes longer."""
    with suppress(PassdownError, OSError):
        if handle.state.hooks:
            from cli.briefing import make_ready

            make_ready(workspace, handle)


def finish(
    asked: Asked, workspace: Workspace, handle: Handle, done: Appended, then: Then | None = None
) -> ArchivedAnswer | None:
    """Sync after an append and report both; from here on nothing may look like a failure.

    Returns where the files are of a project that was archived, for who asked for that.
    """
    archived = None
    by = (asked.actor, asked.session)
    done, offers, unclosed = closed(workspace, handle, done, *by, no_sync=asked.no_sync)
    upkeep = Upkeep() if asked.no_sync else keep_files(workspace, handle)
    problems = [*done.cautions, *proposed(handle, done), *unclosed, *upkeep.problems]
    try:
        archived = _archived(asked, workspace, handle, done)
        problems += archived.wanting if archived else []
        _answer(asked, done, upkeep, problems, _blockers(handle, done), offers, archived)
        if then is not None and not asked.as_json:
            output.line()
            output.raw(then(handle.state))
        output.deliver()
    except output.Undelivered:
        output.abandon()
        problems.append(f"recorded as version {done.version}, but stdout took no answer")
    except (PassdownError, OSError, KeyboardInterrupt) as error:
        problems.append(str(error) or "interrupted")
    except Exception as error:  # noqa: BLE001
        problems.append(f"recorded as version {done.version}, and {output.defect(error)}")
    for file in upkeep.files:
        if file.status == "corrupt" and file.written:
            where = f"; its bytes are in {file.kept}" if file.kept else ""
            output.note(f"{file.path} was corrupt and is restored{where}")
    for problem in problems:
        output.note(problem)
    return archived


def proposed(handle: Handle, done: Appended) -> list[str]:
    """What whoever logged something is to propose to the maintainer, where the log is too long."""
    if not any(record.type == "worklog.entry_logged" for record in done.records):
        return []
    from cli.sharing import proposals

    return proposals(handle.state)


def closed(
    workspace: Workspace,
    handle: Handle,
    done: Appended,
    actor: str | None,
    session: str | None,
    *,
    no_sync: bool = False,
) -> tuple[Appended, Sequence[str], Sequence[str]]:
    """What was recorded in all, what is offered next, and what went wrong, after a last phase."""
    last = any(record.type in _CLOSING for record in done.records)
    if not last or handle.state.execution is None:
        return done, (), ()
    from cli.closing import closing

    found = closing(workspace, handle, done, actor, session, no_sync=no_sync)
    return found.done, found.offers, found.problems


#: The events with which a last phase is done.
_CLOSING = ("step.completed", "step.skipped", "step.reconciled")


def _archived(
    asked: Asked, workspace: Workspace, handle: Handle, done: Appended
) -> ArchivedAnswer | None:
    """Where the files of a project are that was archived now, or is so already."""
    anew = any(record.type == "project.archived" for record in done.records)
    if (done.records and not anew) or handle.state.archived is None:
        return None
    from cli.closing import where

    return where(workspace, handle.state, anew=anew, no_sync=asked.no_sync)


def _blockers(handle: Handle, done: Appended) -> list[tuple[BlockerAnswer, str]]:
    """What came of blockers, where the request was about any, as data and in words."""
    if not any(record.type in _BLOCKING for record in done.records):
        return []
    from cli.blockers import outcomes, said

    state = handle.state
    events = [decode(record.type, record.data) for record in done.records]
    return [(outcome, said(state, outcome)) for outcome in outcomes(state, events)]


#: The events that may block something, or free it.
_BLOCKING = (
    *("blocker.raised", "blocker.bypassed", "blocker.resolved"),
    *("task.blocked", "task.unblocked"),
)


def _answer(
    asked: Asked,
    done: Appended,
    upkeep: Upkeep,
    problems: list[str],
    blockers: list[tuple[BlockerAnswer, str]],
    offers: Sequence[str],
    archived: ArchivedAnswer | None,
) -> None:
    if not asked.as_json:
        _tell(done)
        for sentence in (words for _, words in blockers if words):
            output.line(f"  {sentence}")
        if archived is not None:
            from cli.closing import said

            for sentence in said(archived, anew=bool(done.records), no_sync=asked.no_sync):
                output.line(f"  {sentence}")
        for offer in offers:
            output.line(f"  all phases are done: `passdown {offer}`")
        return None
    return output.document(
        Recorded(
            done.project,
            done.version,
            [record_data(record) for record in done.records],
            done.repeated,
            upkeep.synced,
            list(filter(_is_told, upkeep.files)),
            problems,
            [outcome for outcome, _ in blockers],
            list(offers),
            archived,
        )
    )


def _is_told(file: FileState) -> bool:
    """Of a tree, whose files may be very many, only what was written or is not well is told."""
    return file.projection not in TREES or file.written or bool(file.problem)


def _tell(done: Appended) -> None:
    if not done.records:
        output.line(f"{done.project} v{done.version}: already so, nothing recorded")
    many = len(done.records) > 20
    for record in done.records[: 5 if many else None]:
        again = " (known id, recorded before)" if done.repeated else ""
        event = decode(record.type, record.data)
        output.line(f"{done.project} v{record.version}: {describe(event)}{again}")
    if many:
        output.line(f"{done.project} v{done.version}: … {len(done.records)} events in all")


def check_links(workspace: Workspace, requests: Sequence[Request]) -> None:
    """Refuse a file that is in the workspace by name and elsewhere through a link."""
    for n, request in enumerate(requests):
        try:
            for path in named_paths(request.event):
                place_of(workspace, path)
        except Invalid as error:
            error.nth = n
            raise


def place_of(workspace: Workspace, path: str) -> Path:
    """Where a file is that somebody named; refused if that is not in the workspace."""
    normal, root = os.path.normpath(path), str(workspace.root)
    if normal.startswith(f"{root}/"):
        meant = os.path.relpath(normal, root)
        raise Invalid(f"path {path[:200]!r} must be relative to the workspace root: {meant!r}")
    place = workspace.inside(workspace_path(path))
    if place is None:
        raise Invalid(f"{path!r} leads out of the workspace through a link; name the file itself")
    return place
