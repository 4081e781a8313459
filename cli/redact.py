"""Erasing what must not be kept: from the records, and from every copy that is in reach."""

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Annotated, TypeAlias

import typer

from cli import exits, options, output
from cli.answers import ErasedAnswer, RedactedAnswer, answers
from cli.progress import progress
from cli.recording import chosen, opened
from journal import Handle, Journal
from journal.erasing import SHORTEST, Erasure, of_records, of_text, told_again
from journal.errors import Invalid, JournalUnavailable, NotFound
from journal.masking import MASK
from journal.record import Record
from journal.rules import By, check_redaction
from journal.workspace import Workspace
from projections import erasure, unfinished


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command("redact")(redact)


@answers(ErasedAnswer)
def redact(
    versions: Annotated[
        list[int] | None, typer.Argument(metavar="VERSION…", help="The records, by version.")
    ] = None,
    event: Annotated[
        list[str] | None, typer.Option("--event", help="A record by its id; repeatable.")
    ] = None,
    text: Annotated[
        str,
        typer.Option("--text", help="Replace this text wherever it stands; - reads it from stdin."),
    ] = "",
    instead: Annotated[
        str, typer.Option("--as", help="With --text: what is to stand in its place.")
    ] = MASK,
    reason: options.Reason = "",
    names: Annotated[
        bool, typer.Option("--names", help="With versions: also who did it, and who is named.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be redacted, and change nothing.")
    ] = False,
    finish: Annotated[
        bool, typer.Option("--finish", help="Carry an erasure to its end that was held up.")
    ] = False,
    project: options.Project = "",
    actor: options.Actor = "",
    session: options.Session = "",
    as_json: options.AsJson = False,
) -> int:
    """Erase what records hold, for good, with every copy in reach; that and why stays on record.

    Example: passdown redact 12 --reason "a customer's name was in it"
    """
    text = _read(text)
    asked = bool(versions or event) + bool(text) + finish
    if asked != 1:
        raise Invalid(
            "what is to be erased? name versions or an --event, or a --text, or --finish what was "
            "begun: one of these"
        )
    with opened() as (workspace, journal):
        plans: list[tuple[Handle, Plan]] = []
        if text:
            _check_text(text, instead, (reason, actor, session))
            for slug in [project] if project else journal.projects():
                plans.append((journal.project(slug), _text_plan(slug, text, instead)))
        elif not finish:
            handle = chosen(journal, project)
            wanted = {*(versions or ()), *_named(handle, event or ())}
            plans.append((handle, partial(_versions_plan, handle.slug, wanted, names)))
        found = _planned(plans)
        by = By(actor or None, session or None)
        for handle, erased in found:
            if erased.masks:
                check_redaction(handle.state, reason, by)
        cleared, done = erasure.Cleared(), dict[str, int]()
        if not dry_run:
            broken_off = finish and unfinished.lacks_records(workspace)
            if not finish:
                unfinished.begin(workspace)
            plan_of = {handle.slug: plan for handle, plan in plans}
            for handle, erased in found:
                if erased.masks:
                    done[handle.slug] = _carry_out(handle, plan_of[handle.slug], reason, by)
            if not broken_off:
                unfinished.redacted(workspace)
            cleared = _clear(workspace, journal, actor or None)
            if broken_off:
                cleared.open.append(_BROKEN_OFF)
        cleared.open += [f"it stays in {where}" for _, erased in found for where in erased.fixed]
        if text and not dry_run:
            cleared.open += _left(workspace, journal, text)
        if not (cleared.open or dry_run):
            unfinished.end(workspace)
        beyond = erasure.beyond(workspace, [journal.project(x) for x in journal.projects()])
        if text and not dry_run:
            beyond = [f"it stands in {x}" for x in erasure.elsewhere(workspace, text)] + beyond
        answer = ErasedAnswer(
            not cleared.open,
            dry_run,
            [_answer(erased, done.get(handle.slug)) for handle, erased in found],
            cleared.removed,
            cleared.open,
            {} if text else _also(journal, found),
            beyond,
        )
    _tell(answer, text, as_json)
    return exits.OK if answer.ok else exits.NOT_WELL


#: Nobody but who asked knows what the records were to lose: the mark does not say it.
_BROKEN_OFF = (
    "it broke off before every record was redacted, and what was to go is written nowhere: ask for "
    "the same once more, with its versions or its text"
)


def _read(text: str) -> str:
    """The text that is to go: on a command line, others see it and the shell remembers it."""
    if text != "-":
        return text
    try:
        return sys.stdin.buffer.read().decode().removesuffix("\n")
    except UnicodeDecodeError as e:
        raise Invalid("the text on stdin is not UTF-8; send it as that") from e


def _check_text(text: str, instead: str, said: Sequence[str]) -> None:
    """Refuse what would erase everything, or say again what is to be erased."""
    if len(text) < SHORTEST:
        raise Invalid(
            f"a text of {len(text)} characters stands in everything; name one of {SHORTEST} or "
            "more, or the versions"
        )
    if text in instead or any(text in each for each in said):
        raise Invalid(
            "what says why, by whom or in what place the text was erased has the text in it; say "
            "it without"
        )


#: What is to be erased of the records of a project.
Plan: TypeAlias = Callable[[Iterator[Record]], Erasure]


def _text_plan(slug: str, text: str, instead: str) -> Plan:
    return lambda records: of_text(slug, records, text, instead)


def _versions_plan(slug: str, wanted: set[int], names: bool, records: Iterator[Record]) -> Erasure:
    found = of_records(slug, records, wanted, names=names)
    if found.empty and not (found.masks or found.already):
        hint = "" if names else "; --names masks who did it"
        raise Invalid(f"{_versions(found.empty)} of {slug} says nothing to erase{hint}")
    return found


def _planned(plans: list[tuple[Handle, Plan]]) -> list[tuple[Handle, Erasure]]:
    """What is to be erased, where there is anything."""
    with progress("looking", sum(handle.version for handle, _ in plans)) as advance:
        found = [(handle, plan(_counted(handle.records(), advance))) for handle, plan in plans]
    return [(h, x) for h, x in found if x.masks or x.fixed or x.already or x.empty]


def _counted(records: Iterator[Record], advance: Callable[[int], None]) -> Iterator[Record]:
    for record in records:
        if record.version % 1000 == 0:
            advance(1000)
        yield record


def _named(handle: Handle, events: Sequence[str]) -> Iterator[int]:
    for id in events:
        record = handle.find(id)
        if record is None:
            raise NotFound("event", id, (), hint=f"see `passdown log -p {handle.slug} --json`")
        yield record.version


def _carry_out(handle: Handle, plan: Plan, reason: str, by: By) -> int:
    """Redact the records, as they are while nobody else writes; the version that says so."""
    done = handle.redact(
        lambda records: plan(records).masks, reason, actor=by.actor, session=by.session
    )
    return done.version


def _clear(workspace: Workspace, journal: Journal, actor: str | None) -> erasure.Cleared:
    """Remove the copies, and scrub the database; what fails is still to be done."""
    handles = [journal.project(slug) for slug in journal.projects()]
    with progress("erasing"):
        cleared = erasure.clear(workspace, handles, actor)
        try:
            scrubbed = journal.store.scrub()
        except JournalUnavailable as error:
            cleared.open.append(str(error).replace("; nothing was recorded", ""))
        else:
            if not scrubbed:
                cleared.open.append(
                    "the bytes are still in the journal's own files, since somebody has been "
                    "reading there all along; close what reads journal.db"
                )
    return cleared


def _left(workspace: Workspace, journal: Journal, text: str) -> list[str]:
    """Where a text stands all the same."""
    handles = [journal.project(slug) for slug in journal.projects()]
    return [
        f"{path} still holds it and is not Passdown's to change; take it out there"
        for path in erasure.holding(workspace, handles, text)
    ]


def _also(journal: Journal, found: list[tuple[Handle, Erasure]]) -> dict[str, list[int]]:
    """The other records that hold what these held, in any project."""
    texts = {text for _, erased in found for text in erased.texts}
    told = {}
    for slug in journal.projects() if texts else ():
        own = {version for _, x in found if x.project == slug for version in x.versions}
        versions = [n for n in told_again(journal.project(slug).records(), texts) if n not in own]
        if versions:
            told[slug] = versions
    return told


def _answer(erased: Erasure, by: int | None) -> RedactedAnswer:
    return RedactedAnswer(erased.project, erased.versions, erased.already, erased.empty, by)


def _tell(answer: ErasedAnswer, text: str, as_json: bool) -> None:
    if as_json:
        output.document(answer)
    else:
        _tell_person(answer, text)
    for sentence in answer.open:
        output.note(sentence)
    if answer.open and answer.open != [_BROKEN_OFF] and not answer.dry_run:
        output.note("the erasure is not done: see to that, then run `passdown redact --finish`")


def _tell_person(answer: ErasedAnswer, text: str) -> None:
    for each in answer.projects:
        if each.redacted:
            verb = "would redact" if answer.dry_run else "redacted"
            by = f" v{each.by}" if each.by else ""
            output.line(f"{each.project}{by}: {verb} {_versions(each.redacted)}")
        if each.already:
            output.line(f"{each.project}: {_versions(each.already)} redacted before")
        if each.empty:
            output.line(f"{each.project}: nothing to erase in {_versions(each.empty)}")
    if text and not answer.projects:
        output.line("no record holds the text")
    for path in answer.removed:
        output.line(f"removed {path}")
    for slug, versions in answer.also.items():
        named = " ".join(map(str, versions[:20]))
        output.line(
            f"the same words stand in {_versions(versions)} of {slug} too: `passdown redact "
            f"{named} -p {slug} --reason REASON`"
        )
    output.line("out of reach:")
    for sentence in answer.beyond:
        output.line(f"  {sentence}")


def _versions(versions: Sequence[int]) -> str:
    named = ", ".join(map(str, versions[:20]))
    more = f" and {len(versions) - 20:,} more" if len(versions) > 20 else ""
    return f"version{'' if len(versions) == 1 else 's'} {named}{more}"
