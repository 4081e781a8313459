"""Proofs for others: export one from the journal, and check one with a key alone."""

from pathlib import Path
from typing import Annotated

import typer

from cli import options, output, sealing
from cli.answers import answers
from cli.proofs import CheckedAnswer, ExportedAnswer
from cli.recording import opened
from cli.sealing import Sealed
from journal import Handle, proof
from journal.clock import iso
from journal.errors import Invalid
from journal.note import Verifier
from journal.proof import Consistency, Inclusion

Into = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="A new file for it; stdout if not given."),
]
Since = Annotated[
    Path | None, typer.Option("--since", help="An older seal, which the other goes on from.")
]


def register(seals: typer.Typer) -> None:
    """Add these commands to the group of seals."""
    seals.command("prove")(prove)
    seals.command("check")(check)


# -- exporting -------------------------------------------------------------------------------


@answers(ExportedAnswer)
def prove(
    sealed: Annotated[Path, typer.Option("--seal", help="The seal that it is proved with.")],
    version: Annotated[
        int | None, typer.Argument(metavar="[VERSION]", help="The record, by its version.")
    ] = None,
    since: Since = None,
    payload: Annotated[
        bool, typer.Option("--payload", help="Show what the record says, and who said it.")
    ] = False,
    into: Into = None,
    project: options.Project = "",
    as_json: options.AsJson = False,
) -> None:
    """Export the proof that a record was sealed, or that a seal goes on from an older one.

    Example: passdown seal prove 1 --seal monday.seal
    """
    with opened() as (_, journal):
        named = journal.project(project) if project else None
        found = sealing.read_seal(sealed)
        if named:
            sealing.check_project(named, [found])
        handle = journal.project(found.seal.project)
        content, answer = _exported(handle, found, version, since, payload)
    if into:
        sealing.write_new(into, content)
    if as_json:
        project, size = found.seal.project, found.seal.size
        path = str(into) if into else None
        output.document(ExportedAnswer(project, *answer, size, content.decode(), path))
    elif into:
        shown = ", with what it says" if payload else ""
        output.line(f"{into}: {_claimed(found, *answer)}{shown}")
    else:
        output.raw(content)


def _exported(
    handle: Handle, found: Sealed, version: int | None, since: Path | None, payload: bool
) -> tuple[bytes, tuple[int | None, int | None]]:
    """The proof that is asked for, and what it is about: a version, or the size of a seal."""
    records = handle.records(upto=found.seal.size)
    if version is not None and since is None:
        return proof.inclusion(found.content, records, version, payload), (version, None)
    if since is None or version is not None or payload:
        raise Invalid(
            "a proof is about one record, by its VERSION, or about an older seal, by --since; name "
            "one of the two"
        )
    old = sealing.read_seal(since).seal
    hashes = (record.hash for record in records)
    return proof.consistency(found.content, hashes, old), (None, old.size)


def _claimed(found: Sealed, version: int | None, old: int | None) -> str:
    seal = found.seal
    if version is not None:
        return f"version {version} of {seal.project} is among the {seal.size:,} that were sealed"
    return f"the {seal.size:,} records of {seal.project} go on from the {old:,} sealed before"


# -- checking --------------------------------------------------------------------------------


@answers(CheckedAnswer)
def check(
    file: Annotated[Path, typer.Argument(metavar="PROOF", help="What `seal prove` exported.")],
    key: Annotated[
        list[str],
        typer.Option("--key", help="A verifier key that is trusted, or its file; repeatable."),
    ],
    since: Since = None,
    as_json: options.AsJson = False,
) -> None:
    """Check a proof, without any journal: only the key that the seal was signed with is needed.

    Example: passdown seal check 1.tlog-proof --key ../audit.key.pub
    """
    known = sealing.verifiers(key)
    content = sealing.read_named(file, "proof")
    with sealing.naming(file):
        found = proof.read(content)
    by = sealing.trusted(found.signed, known, file)
    if isinstance(found, Inclusion):
        if since is not None:
            raise Invalid(f"{file} is the proof of a record; --since is for that of two seals")
        answer = _of_record(found, by)
    else:
        answer = _of_seals(found, by, known, file, since)
    if as_json:
        output.document(answer)
        return
    output.line(answer.what)
    if answer.said is not None:
        output.line(f"  data     {output.plain(answer.said)}")
        output.line(f"  actor    {_shown(answer.actor)}")
        output.line(f"  session  {_shown(answer.session)}")


def _shown(text: str | None) -> str:
    return "(none)" if text is None else output.plain(text)


def _of_record(found: Inclusion, by: Verifier) -> CheckedAnswer:
    record, seal = found.record, found.seal
    type = output.plain(record.type)
    what = (
        f"proved: version {record.version} of {record.project}, {type} at {iso(record.at)}, is "
        f"among the {seal.size:,} records that {by.name} sealed"
    )
    if record.opened is None:
        what += "; what it says is not in the proof"
    said = record.opened
    return CheckedAnswer(
        what,
        record.project,
        seal.size,
        by.name,
        record.version,
        record.type,
        record.id,
        iso(record.at),
        record.hash.hex(),
        said.data if said else None,
        said.actor if said else None,
        said.session if said else None,
    )


def _of_seals(
    found: Consistency, by: Verifier, known: list[Verifier], file: Path, since: Path | None
) -> CheckedAnswer:
    if since is None:
        raise Invalid(f"{file} is about two seals; name the older one with --since")
    old = sealing.read_seal(since)
    sealing.trusted(old.signed, known, since)
    if not proof.follows(found, old.seal):
        raise Invalid(
            f"{file}: the proof does not hold: the seal in it does not go on from {since}"
        )
    seal = found.seal
    what = (
        f"proved: the {seal.size:,} records of {seal.project} that {by.name} sealed go on from the "
        f"{old.seal.size:,} of {since}"
    )
    return CheckedAnswer(what, seal.project, seal.size, by.name, old=old.seal.size)
