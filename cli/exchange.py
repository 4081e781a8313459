"""Taking histories elsewhere and back: export, import, backup, restore."""

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from cli import options, output
from cli.answers import BackedUp, ImportedAnswer, RestoredAnswer, answers
from cli.progress import progress
from cli.recording import chosen, keep_files, opened
from journal import Handle, Journal
from journal import workspace as places
from journal.backup import back_up, restore
from journal.errors import Invalid, JournalUnavailable
from journal.exchange import HEADING, Imported, add, lines
from journal.sqlite import SqliteStore
from journal.store import Head

#: So many lines are written at once.
_CHUNK = 1000


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command("export")(export)
    app.command("import")(import_)
    app.command("backup")(backup)
    app.command("restore")(restore_)


@answers()
def export(
    target: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file; stdout if not given.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every project.")] = False,
    first: Annotated[int, typer.Option("--from", min=1, help="From this version on.")] = 1,
    last: Annotated[int, typer.Option("--to", min=0, help="Up to this version.")] = 0,
    project: options.Project = "",
) -> None:
    """Write a history as lines of JSON, with everything needed to verify it.

    Example: passdown export -o shop.jsonl
    """
    with opened() as (workspace, journal):
        place = None if target is None else _place(workspace, target)
        if every and (first > 1 or last):
            raise Invalid("--from and --to are versions of one project; name it with -p")
        slugs = journal.projects() if every else [chosen(journal, project).slug]
        handles = [journal.project(slug) for slug in slugs]
        if last > handles[0].version or (last and last < first):
            raise Invalid(
                f"{slugs[0]} has versions 1 to {handles[0].version}; give --from and --to of those"
            )
        total = sum((last or handle.version) - first + 1 for handle in handles)
        with progress("exporting", total) as advance:
            found = chain.from_iterable(lines(handle, first, last or None) for handle in handles)
            pieces = _pieces(found, advance)
            if place is None:
                for piece in pieces:
                    output.raw(piece)
            else:
                _write(place, pieces)
        _warn(handles, first, last)


def _pieces(found: Iterable[bytes], advance: Callable[[int], None]) -> Iterator[bytes]:
    found = iter(found)
    while some := list(islice(found, _CHUNK)):
        yield b"".join(some)
        advance(len(some))


def _place(workspace: places.Workspace, target: Path) -> Path:
    """Where an export goes; refused if something else is there, which would be lost."""
    place = Path(os.path.realpath(target))
    if place.is_relative_to(os.path.realpath(workspace.folder)):
        raise Invalid(f"{target} is within the journal's own folder; write the export elsewhere")
    if place.is_dir():
        raise Invalid(f"{target} is a folder; name a file in it: {target / 'export.jsonl'}")
    if not os.path.lexists(place):
        if not place.parent.is_dir():
            raise Invalid(
                f"there is no folder {target.parent}; make it, or write the export elsewhere"
            )
        return place
    if not place.is_file():  # a device or a pipe: it would be replaced by a file
        raise Invalid(f"{target} is no file to write to; leave out --output for stdout")
    try:
        with open(place, "rb") as file:
            start = file.read(len(HEADING))
    except OSError as e:
        raise JournalUnavailable(
            f"{target} cannot be read: {e.strerror}; write the export elsewhere"
        ) from e
    if start and start != HEADING:
        raise Invalid(f"{target} is something else than an export; give it another name")
    return place


def _write(target: Path, pieces: Iterator[bytes]) -> None:
    """Put an export at its place once it is whole."""
    fresh = target.with_name(f".{target.name}.passdown-{os.urandom(4).hex()}")
    try:
        with open(fresh, "wb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, target)
    except OSError as e:
        raise JournalUnavailable(f"{target} cannot be written: {e.strerror}") from e
    finally:
        fresh.unlink(missing_ok=True)


def _warn(handles: list[Handle], first: int, last: int) -> None:
    """Say what cannot be imported alone, because what vouches for it comes later."""
    for handle in handles if last else ():
        named = handle.redactions().named()
        later = [by for version, (by, _) in named.items() if first <= version <= last < by]
        if later:
            output.note(
                f"what was redacted up to version {last} is vouched for by version {max(later)}, "
                "without which this cannot be imported"
            )


@answers(list[ImportedAnswer])
def import_(
    source: Annotated[str, typer.Argument(metavar="FILE", help="An export; - is stdin.")],
    no_sync: options.NoSync = False,
    as_json: options.AsJson = False,
) -> None:
    """Take the records of an export into this journal, all or none; known ones are passed over.

    Example: passdown import shop.jsonl
    """
    with _read(source) as (file, size), _journal() as (workspace, journal):
        with progress("importing", size) as advance:
            found = add(journal.store, _counted(file, source, advance))
        for each in found:
            _tell_imported(each, as_json)
            if each.added and not no_sync:
                for problem in keep_files(workspace, journal.project(each.project)).problems:
                    output.note(problem)
        if any(each.redacted for each in found):
            from projections import unfinished

            unfinished.redacted(workspace)
            output.note(
                "what was redacted there is redacted here now; `passdown redact --finish` removes "
                "the copies that were made of it"
            )
    if as_json:
        output.document([_imported(each) for each in found])


def _imported(each: Imported) -> ImportedAnswer:
    return ImportedAnswer(each.project, each.added, each.known, each.redacted, each.version)


def _tell_imported(each: Imported, as_json: bool) -> None:
    if not as_json:
        redacted = f", {each.redacted:,} redacted" if each.redacted else ""
        output.line(
            f"{each.project} v{each.version}: {each.added:,} records imported, "
            f"{each.known:,} known before{redacted}"
        )


@contextmanager
def _read(source: str) -> Iterator[tuple[BinaryIO, int | None]]:
    if source == "-":
        yield sys.stdin.buffer, None
        return
    try:
        file = open(source, "rb")  # noqa: SIM115
    except OSError as e:
        raise Invalid(f"{source} cannot be read: {e.strerror}; name an export, or -") from e
    with file:
        yield file, os.fstat(file.fileno()).st_size


def _counted(file: BinaryIO, source: str, advance: Callable[[int], None]) -> Iterator[bytes]:
    """The lines of a file, which tell how far it has been read."""
    read = 0
    try:
        for line in file:
            yield line
            read += len(line)
            if read > 1 << 20:
                advance(read)
                read = 0
    except OSError as e:
        raise Invalid(f"{source} cannot be read: {e.strerror}; nothing was imported") from e


@contextmanager
def _journal() -> Iterator[tuple[places.Workspace, Journal]]:
    """The journal of the current folder, made if there is none; if nothing comes in, it goes."""
    workspace = places.choose()
    new = not workspace.folder.exists()
    try:
        with Journal.create(workspace.root) as journal:
            yield workspace, journal
    except BaseException:
        if new:
            shutil.rmtree(workspace.folder, ignore_errors=True)
        raise


@answers(BackedUp)
def backup(
    target: Annotated[Path, typer.Argument(metavar="FILE", help="Where the backup goes.")],
    as_json: options.AsJson = False,
) -> None:
    """Copy the whole journal to a file, as of one moment while others write, and verify the copy.

    Example: passdown backup shop.db
    """
    with opened() as (_, journal), progress("backing up"):
        assert isinstance(journal.store, SqliteStore)
        heads = back_up(journal.store, target)
    if as_json:
        output.document(BackedUp(str(target), _versions(heads)))
    else:
        _tell_heads(heads, f"backed up to {target}")


@answers(RestoredAnswer)
def restore_(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A backup.")],
    force: Annotated[
        bool, typer.Option("--force", help="Also if the journal has records that it lacks.")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Put a backup in the place of the journal, once it is verified; the old one is set aside.

    Example: passdown restore shop.db
    """
    workspace = places.choose()
    if not workspace.folder.exists():
        places.create(workspace.root)
    with progress("restoring"):
        done = restore(workspace, source, force=force)
    if as_json:
        output.document(RestoredAnswer(_versions(done.heads), done.kept))
    else:
        _tell_heads(done.heads, f"restored from {source}")
        if done.kept:
            output.line(f"the journal that was there is kept in {done.kept}")
        output.line(
            "`passdown verify` shows which files are ahead of it, `passdown sync` writes them"
        )


def _versions(heads: list[Head]) -> dict[str, int]:
    return {head.project: head.version for head in heads}


def _tell_heads(heads: list[Head], done: str) -> None:
    records = sum(head.version for head in heads)
    projects = f"{len(heads)} project{'' if len(heads) == 1 else 's'}"
    output.line(f"{records:,} records of {projects} {done}")
