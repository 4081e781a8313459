"""Bringing in the state files that are there already."""

import re
from collections.abc import Sequence
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer
from msgspec import Struct
from msgspec.structs import replace

from cli import exits, options, output
from cli.answers import AdoptedAnswer, ProposedAnswer, answers
from cli.describe import describe
from cli.document import record_data
from cli.documents import document_recorded
from cli.progress import progress
from cli.recording import keep_tables
from journal import Journal, Project, Request
from journal import events as e
from journal import workspace as places
from journal.clock import iso, now
from journal.digest import sha256
from journal.errors import Invalid, NotFound, PassdownError
from journal.record import SLUG
from journal.workspace import Workspace
from projections import active_session, session_state, stamp, state_md, together
from projections.files import sync, take_over

#: The files that are looked for in a folder, and what they are of.
_FILES = {
    "00-session-state.json": session_state.NAME,
    "STATE.md": state_md.NAME,
    "active-session.md": active_session.NAME,
    **together.FILES,
}
#: What a file says, before it is known what a project has of it.
Source: TypeAlias = session_state.Source | state_md.Source | active_session.Source | together.Source


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command("adopt")(adopt_files)


class _Found(Struct):
    """A file that can be adopted: what it says, which project it is, and what there is to say."""

    path: Path
    content: bytes
    source: Source
    slug: str
    title: str
    note: str = ""

    @property
    def warnings(self) -> list[str]:
        odd = [] if stamp.holds(self.content) else self.source.warnings
        return [self.note, *odd] if self.note else odd

    @property
    def projection(self) -> str:
        match self.source:
            case active_session.Source():
                return active_session.NAME
            case state_md.Source():
                return state_md.NAME
            case together.Source(projection=name):
                return name
        return session_state.NAME

    @property
    def place(self) -> str:
        """Where it is, from the workspace's root where it is below that."""
        return _place(self.path)

    @property
    def written_by_us(self) -> bool:
        signed = stamp.read(self.content)
        return signed is not None and signed.project == self.slug


def _place(path: Path) -> str:
    """Where a file is, from the workspace's root where it is below that."""
    root, path = places.choose().root, path.absolute()
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


@answers(list[AdoptedAnswer])
def adopt_files(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH…", help="State files, or folders with some.")
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the events, and change nothing.")
    ] = False,
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="Where nothing is readable, begin anew from the template."),
    ] = False,
    actor: options.Actor = "",
    session: options.Session = "",
    as_json: options.AsJson = False,
) -> int:
    """Bring in the state files that are there: session states of any version, STATE.md,
    active-session.md, or the files of a workspace that agents share; no word is lost.

    Example: passdown adopt agent-output
    """
    by = Request(e.ProjectReopened(), actor or None, session or None)
    found = _files(paths)
    done: list[AdoptedAnswer] = []
    failed: PassdownError | None = None
    with progress("adopting", len(found)) as advance:
        for nth, path in enumerate(found, start=1):
            try:
                done.append(_adopt(path, by, dry_run, fresh, found[nth:]))
            except PassdownError as error:
                if len(found) == 1:
                    raise
                failed = error
                output.note(f"{path}: {error}")
            advance(1)
    if as_json:
        output.document(done)
    for each in done:
        if not as_json:
            _tell(each)
        for warning in each.warnings:
            output.note(f"{each.path}: {warning}")
    return exits.code(failed) if failed else exits.OK


def _tell(each: AdoptedAnswer) -> None:
    if each.proposed:
        for proposed in each.proposed:
            output.line(f"{each.project}: would record {proposed.words}")
        return
    if not each.appended:
        output.line(f"{each.path}: {each.project} says all of it already, nothing recorded")
        return
    output.line(
        f"{each.path}: adopted as {each.project}, {len(each.appended)} events, "
        f"version {each.version}"
    )


# -- what is there ---------------------------------------------------------------------------


def _files(paths: list[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        if not (path.exists() or path.with_name(f"{path.name}.bak").exists()):
            raise NotFound("file", str(path), (), hint="name a state file, or a folder with some")
        inside = _inside(path) if path.is_dir() else [path]
        if not inside:
            names = " and no ".join(_FILES)
            raise Invalid(f"there is no {names} below {path}; name the file itself")
        found += inside
    return _with_turnfiles(sorted(found, key=lambda path: together.rank(path.name)))


def _with_turnfiles(found: list[Path]) -> list[Path]:
    """The files, and before the first of a workspace that is not known the TURNFILE.yaml beside it.

    That says whose they are, and by which ids its agents go, which others write as they like.
    """
    with_them: list[Path] = []
    for path in found:
        beside = path.with_name(together.TURNFILE)
        shared = path.name in together.FILES or fnmatch(path.name, together.CHATS)
        wanted = shared and beside.is_file() and beside not in found
        if wanted and beside not in with_them and not _project_of(path.absolute().parent):
            with_them.append(beside)
        with_them.append(path)
    return with_them


def _inside(folder: Path) -> list[Path]:
    """The state files below a folder; of a shared workspace first the one that says whose it is."""
    found = sorted(x for name in _FILES for x in folder.rglob(name))
    found += sorted(x for x in folder.rglob(together.CHATS) if together.has_snapshot(x))
    return sorted(found, key=lambda path: together.rank(path.name))


def _look(path: Path) -> _Found:
    """What a file says, or its backup where the file cannot be read."""
    backup = path.with_name(f"{path.name}.bak")
    try:
        return _found(path, path)
    except (Invalid, OSError) as error:
        if isinstance(error, Invalid) and error.where:
            raise  # it can be read, and is of a version that is not known
        why = _reason(path, error)
    try:
        found = _found(path, backup)
    except (Invalid, OSError) as error:
        begin = f", or `passdown adopt --fresh {path}` begins anew with every step pending"
        raise Invalid(
            f"{why}, and {_reason(backup, error)}; restore one of them"
            f"{'' if _is_markdown(path) else begin}"
        ) from error
    found.note = f"{why}; its backup was read instead"
    return found


def _reason(path: Path, error: Exception) -> str:
    said = error.strerror if isinstance(error, OSError) else str(error)
    return f"{path} cannot be read ({said})"


def _found(path: Path, at: Path) -> _Found:
    content = at.read_bytes()
    source = _source(path, content)
    if isinstance(source, together.Source):
        return _Found(path, content, source, _workspace_of(path, content, source), "")
    name = source.name or path.absolute().parent.name
    return _Found(path, content, source, slug(name), "" if re.fullmatch(SLUG, name) else name)


def _workspace_of(path: Path, content: bytes, source: together.Source) -> str:
    """The project that a file of a shared workspace belongs to: its own word, that of its stamp,
    the project that has this folder, what the TURNFILE beside it says, or the folder above."""
    signed = stamp.read(content)
    if signed is not None:
        return signed.project
    folder = path.absolute().parent
    if known := _project_of(folder):
        return known
    beside = folder / together.TURNFILE
    told = source.name or (together.name_in(beside) if beside.is_file() else "")
    return slug(told or folder.parent.name)


def _project_of(folder: Path) -> str:
    """The project that has a folder as the workspace that its agents share."""
    with suppress(PassdownError):
        workspace = places.find()
        with Journal.open(workspace.folder) as journal:
            for name in journal.projects():
                shared = journal.project(name).state.coordination
                if shared and (workspace.root / shared.workspace).resolve() == folder.resolve():
                    return name
    return ""


def _source(path: Path, content: bytes) -> Source:
    if projection := together.projection(path.name, content):
        return together.read(projection, content, path.name)
    # An archived session is called after its id, so that only what is in it tells.
    told = _is_markdown(path) and active_session.intact(content)
    if told or _FILES.get(path.name) == active_session.NAME:
        return active_session.read(content)
    return state_md.read(content) if _is_markdown(path) else session_state.read(content)


def _is_markdown(path: Path) -> bool:
    return path.suffix in (".md", ".yaml", ".yml")


def slug(name: str) -> str:
    """The name of a project as near to a given one as may be."""
    near = re.sub(r"[^a-z0-9._-]+", "-", name.lower()).strip("-._")[:100].replace("..", ".")
    if not re.fullmatch(SLUG, near):
        raise Invalid(f"no project can be named after {name[:60]!r}; rename it in the file")
    return near


# -- taking it over --------------------------------------------------------------------------


def _adopt(
    path: Path, by: Request, dry_run: bool, fresh: bool, following: Sequence[Path] = ()
) -> AdoptedAnswer:
    """Bring in one file; of those that are `following` nothing is to be said yet."""
    try:
        found = _look(path)
    except Invalid as error:
        if not fresh or error.where or _is_markdown(path):
            raise
        return _begin_anew(path, by, str(error), dry_run)
    if dry_run:
        return _rehearsed(found, by)
    workspace = places.choose()
    with Journal.create(workspace.root) as journal:
        handle = journal.handle(found.slug)

        def propose(state: Project, moment: int) -> list[Request]:
            made = _requests(found, state, by, moment, journal)
            return [_with_document(workspace, request) for request in made]

        done = handle.append_decided(propose)
        take_over(workspace, handle, found.path, found.content)
        files = sync(workspace, handle, recover=bool(found.note), actor=by.actor)
        files += keep_tables(workspace, [handle])
    waiting = {_place(path) for path in following}
    problems = [file.problem for file in files if file.problem and file.path not in waiting]
    own = (file.path for file in files if file.projection == found.projection)
    written = next((path for path in own if together.is_same_file(path, found.place)), "")
    if written and written != found.place:
        problems.append(f"it stays as it is; the project's file is {written} from now on")
    return AdoptedAnswer(
        str(path),
        found.slug,
        done.version,
        [record_data(record) for record in done.records],
        [],
        [*found.warnings, *problems],
    )


def _requests(
    found: _Found, state: Project, by: Request, moment: int, journal: Journal | None = None
) -> list[Request]:
    digest = sha256(found.content).hexdigest()
    if digest in state.sources:
        return []
    _check_same(found, state)
    base = _base(found, journal) if journal else None
    if base is not None and stamp.holds(found.content):
        return []  # it is what was rendered, to the byte
    about = (state, found.place, digest)
    told: dict[str, Any] = {"base": base, "title": found.title, "removals": base is not None}
    match found.source:
        case together.Source():
            told.pop("title")  # it has the name that it has in the file
            made = together.adopt(
                found.source, found.content, state, found.place, **told, now=moment, by=by
            )
        case active_session.Source():
            made = active_session.adopt(found.source, *about, **told, now=moment, by=by)
        case state_md.Source():
            made = state_md.adopt(found.source, *about, **told, now=moment, by=by)
        case session_state.Source():
            made = session_state.adopt(found.source, *about, **told, now=moment, by=by)
    if found.note and made:
        note = e.ProjectRecovered("files", note=found.note)
        made.append(Request(note, by.actor, by.session))
    return made


def _with_document(workspace: Workspace, request: Request) -> Request:
    """A document that a file names, recorded as it is now; one that is not there by its name."""
    match request.event:
        case e.DocumentRecorded(kind=kind, path=path):
            with suppress(PassdownError):
                return replace(request, event=document_recorded(workspace, kind, path))
    return request


def _check_same(found: _Found, state: Project) -> None:
    """Refuse a second file of a project that came from another."""
    known = state.adopted.source if state.adopted else ""
    same_kind = _is_markdown(Path(known)) == _is_markdown(found.path)
    if isinstance(found.source, together.Source):
        if state.version and state.coordination is None:
            raise Invalid(
                f"{state.slug} is no workspace that agents share, and {found.place} is of one; "
                "adopt it in a folder whose name is no project yet"
            )
        home = state.homes.get(found.projection)
        known, same_kind = (home.source if home else ""), True
    if known and known != found.place and same_kind and not found.written_by_us:
        raise Invalid(
            f"{state.slug} was adopted from {known} already, and {found.place} would be the same "
            "project; give it another name in the file"
        )


def _base(found: _Found, journal: Journal) -> Project | None:
    """The state that the file was rendered from, if it was one of this journal."""
    signed = stamp.read(found.content)
    if signed is None or signed.project != found.slug or found.slug not in journal.projects():
        return None
    handle = journal.project(found.slug)
    record = next(handle.records(signed.version - 1, signed.version), None)
    known = record is not None and record.hash.hex() == signed.hash
    return handle.at(signed.version) if known else None


def _rehearsed(found: _Found, by: Request) -> AdoptedAnswer:
    """What would be recorded; no workspace is made for it."""
    try:
        workspace: Workspace | None = places.find()
    except PassdownError:
        workspace = None
    requests: list[Request] = []
    version = 0
    if workspace:
        with Journal.open(workspace.folder) as journal:
            state = journal.handle(found.slug).state
            version = state.version
            requests = _requests(found, state, by, now(), journal)
    else:
        requests = _requests(found, Project(found.slug), by, now())
    proposed = [_proposed(request) for request in requests]
    return AdoptedAnswer(str(found.path), found.slug, version, [], proposed, found.warnings)


def _proposed(request: Request) -> ProposedAnswer:
    moment = None if request.occurred is None else iso(request.occurred)
    return ProposedAnswer(request.event.type, describe(request.event), request.event, moment)


def _begin_anew(path: Path, by: Request, why: str, dry_run: bool) -> AdoptedAnswer:
    """The last resort: a project from the template, every step pending, and the loss recorded."""
    name = slug(path.absolute().parent.name)
    reason = why.partition("; restore")[0]
    if dry_run:
        event = e.ProjectRecovered("files", note=reason)
        return AdoptedAnswer(str(path), name, 0, [], [_proposed(Request(event))], [reason])
    workspace = places.choose()
    with Journal.create(workspace.root) as journal:
        handle = journal.open_project(name, actor=by.actor, session=by.session)
        handle.append(e.ProjectRecovered("files", note=f"begun anew: {reason}"), actor=by.actor)
        sync(workspace, handle, recover=True, actor=by.actor)
        keep_tables(workspace, [handle])
        records = [record_data(record) for record in handle.records()]
        version = handle.state.version
    return AdoptedAnswer(str(path), name, version, records, [], [f"{reason}; begun anew"])
