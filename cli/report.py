"""A project as one page for whoever audits it. Nothing here writes but the page itself."""

import os
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from msgspec import Struct

from cli import exits, options, output
from cli.answers import answers
from cli.describe import describe
from cli.document import leaf_data
from cli.moments import version_at
from cli.progress import progress
from cli.recording import chosen, opened
from journal import Handle, Journal
from journal.audit import audit
from journal.errors import Invalid, JournalDamaged, JournalUnavailable
from journal.record import GENESIS, Record
from journal.store import Flaw
from journal.workspace import Workspace
from projections.atomic import Displaced, replace
from projections.report import Proof, is_page, page, report

#: An event is told in one line of so many characters.
_LINE = 240


class Reported(Struct, frozen=True):
    """The page that was written; `well` is whether the journal was found to be what was written."""

    project: str
    version: int
    path: str
    bytes: int
    well: bool
    flaws: list[Flaw]


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command("report")(make_report)


@answers(Reported)
def make_report(
    path: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write it; - is stdout."),
    ] = "audit.html",
    at: options.At = "",
    project: options.Project = "",
    as_json: options.AsJson = False,
) -> int:
    """Write a page that shows a project, its history and whether the journal holds.

    One file that needs no network and no server: open it with a double click, print it, pass it on.
    The same journal makes the same page, byte for byte.

    Example: passdown report -o audit.html
    """
    if path == "-" and as_json:
        raise Invalid("-o - and --json both want stdout; give the page a file")
    with opened() as (workspace, journal):
        handle = chosen(journal, project)
        target = Path(path)
        before = None if path == "-" else _standing(workspace, target)
        upto = version_at(handle, at) if at else None
        if upto is not None:
            handle.check_version(upto)
        records, damage = _records(handle, upto)
        flaws = _flaws(journal)  # after them, so that nothing is on the page that it did not see
        proof = _proof(handle.slug, records, flaws, damage)
        words = partial(describe, limit=_LINE)
        content = page(report(handle.slug, records, proof, words, leaf_data))
    if path == "-":
        output.raw(content)
    else:
        _write(target, content, before)
    answer = Reported(handle.slug, len(records), path, len(content), proof.well, flaws)
    if as_json:
        output.document(answer)
    elif path != "-":
        output.line(f"{path}: {handle.slug} at version {answer.version:,}, {len(content):,} bytes")
    if not proof.well:
        output.note("the journal is not well, and the page says so; see `passdown verify`")
    return exits.OK if proof.well else exits.NOT_WELL


def _flaws(journal: Journal) -> list[Flaw]:
    with progress("verifying") as advance:
        return list(audit(journal.store, advance))


def _records(handle: Handle, upto: int | None) -> tuple[list[Record], str]:
    """The records that can be read, and what is wrong with the one after them."""
    found: list[Record] = []
    try:
        found.extend(handle.records(upto=upto))
    except JournalDamaged as error:
        # What came before the damage is in the list, and worth a page of its own.
        if not found:
            raise
        return found, str(error)
    return found, ""


def _proof(slug: str, records: list[Record], flaws: list[Flaw], damage: str) -> Proof:
    hash = (records[-1].hash if records else GENESIS).hex()
    wrong = [flaw.what for flaw in flaws]
    if damage and not wrong:
        wrong.append(damage)
    if wrong:
        wrong.append(f"The page shows versions 1 to {len(records):,}, which can be read.")
        return Proof(False, len(records), hash, tuple(wrong))
    redacted = sum(record.salt is None for record in records)
    left = f", or in {redacted:,} what a redaction left there" if redacted else ""
    checked = (
        "The database passed its own check.",
        f"Each of the {len(records):,} records has the hash that its content and the record before "
        "it give; the last is the one that the head names.",
        f"Every payload, actor and session is what was committed to when it was recorded{left}.",
        f"To check it again: `passdown verify -p {slug}`; the hash above is that of the last "
        f"record in `passdown log -n 1 -p {slug} --json`.",
    )
    return Proof(True, len(records), hash, checked)


def _standing(workspace: Workspace, target: Path) -> bytes | None:
    """What is at the place of the page; refused if that is not a page, which would be lost."""
    where = Path(os.path.realpath(target))
    if where.is_relative_to(os.path.realpath(workspace.folder)):
        raise Invalid(f"{target} is within the journal's own folder; write the page elsewhere")
    try:
        if where.is_dir():
            raise Invalid(f"{target} is a folder; name a file in it: {target / 'audit.html'}")
        if where.exists() and not where.is_file():  # a device or a pipe would be replaced by a file
            raise Invalid(f"{target} is no file to write to; name one, or - for stdout")
        content = where.read_bytes()
    except FileNotFoundError:
        if not where.parent.is_dir():
            raise Invalid(
                f"there is no folder {target.parent}; make it, or write the page elsewhere"
            ) from None
        return None
    except OSError as error:
        raise JournalUnavailable(
            f"{target} cannot be read: {error.strerror}; write the page elsewhere"
        ) from error
    if content and not is_page(content):
        raise Invalid(f"{target} is something else than a report; give the page another name")
    return content


def _write(target: Path, content: bytes, before: bytes | None) -> None:
    try:
        replace(Path(os.path.realpath(target)), content, before, None)
    except Displaced:
        raise JournalUnavailable(
            f"{target} was changed while the page was made, and is left as it is; ask again"
        ) from None
    except OSError as error:
        raise JournalUnavailable(
            f"{target} cannot be written: {error.strerror}; write the page elsewhere"
        ) from error
