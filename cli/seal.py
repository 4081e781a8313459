"""Seals: sign what the journal is now, and prove with that what it was."""

import os
import secrets
from base64 import b64encode
from pathlib import Path
from typing import Annotated

import typer

from cli import evidence, exits, options, output, sealing
from cli.answers import answers
from cli.group import group
from cli.proofs import HeldAnswer, KeyAnswer, SealAnswer
from cli.recording import chosen, opened
from journal import Handle, note, seal
from journal.errors import Invalid, Rejected

seals = group()

Keys = Annotated[
    list[str] | None,
    typer.Option("--key", help="A verifier key that is trusted, or its file; repeatable."),
]
Against = Annotated[
    list[Path] | None,
    typer.Option(
        "--against", help="A seal; the journal must still have what it states. Repeatable."
    ),
]


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.add_typer(seals, name="seal")
    evidence.register(seals)


@seals.callback(invoke_without_command=True)
@answers(SealAnswer)
def sign(
    context: typer.Context,
    into: evidence.Into = None,
    key: Annotated[
        Path | None,
        typer.Option("--key", envvar=sealing.KEY, help="The file of the private key."),
    ] = None,
    against: Against = None,
    project: options.Project = "",
    as_json: options.AsJson = False,
) -> None:
    """Write a signed statement about all records that a project has; see docs/SEALS.md.

    Example: passdown seal --key ../audit.key
    """
    if context.invoked_subcommand is not None:
        return
    with opened() as (_, journal):
        handle = chosen(journal, project)
        held = sealing.hold(journal, list(map(sealing.read_seal, against or ())), ())
        for each in held:
            if not each.ok or each.project != handle.slug:
                why = each.what if not each.ok else f"it is a seal of {each.project}"
                raise Rejected(f"seal {handle.slug}", f"{each.path} does not hold: {why}")
        stated = seal.over(handle.slug, (record.hash for record in handle.records()))
    signer = sealing.signer(key or sealing.usual_key(stated.origin))
    content = signer.sign(stated.text)
    if into:
        sealing.write_new(into, content)
    if as_json:
        root = b64encode(stated.root).decode()
        path = str(into) if into else None
        answer = (stated.project, stated.origin, stated.size, root, str(signer.verifier))
        output.document(SealAnswer(*answer, content.decode(), path))
    elif into:
        output.line(f"{into}: {stated.size:,} records of {stated.project}, by {signer.name}")
    else:
        output.raw(content)


# -- keys ------------------------------------------------------------------------------------


@seals.command("keygen")
@answers(KeyAnswer)
def keygen(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="For the private key; in ~/.config if not given."),
    ] = None,
    name: Annotated[
        str, typer.Option("--name", help="What the key is called; as the project's log if not.")
    ] = "",
    project: options.Project = "",
    as_json: options.AsJson = False,
) -> None:
    """Make a key: a private file, and beside it (.pub) what others check with.

    Example: passdown seal keygen ../audit.key
    """
    with opened() as (workspace, journal):
        origin = _origin(chosen(journal, project))
    signer = note.named(name or origin, secrets.token_bytes(32))
    path = file or sealing.usual_key(origin)
    public = path.with_name(f"{path.name}.pub")
    verifier = str(signer.verifier)
    for each in (path, public):
        if os.path.lexists(each):
            raise Invalid(f"{each} is there already and is left as it is; name another")
    if file is None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    sealing.write_new(path, f"{signer.written()}\n".encode(), 0o600)
    sealing.write_new(public, f"{verifier}\n".encode())
    if as_json:
        output.document(KeyAnswer(signer.name, verifier, str(path), str(public)))
    else:
        output.line(verifier)
        output.line(f"the private key is in {path}; give the line above, or {public}, to others")
    if os.path.realpath(path).startswith(os.path.realpath(workspace.root) + os.sep):
        output.note(
            f"{path} is in the workspace: whoever can rewrite the journal there can sign it too, "
            "so move it to where they cannot read it"
        )


def _origin(handle: Handle) -> str:
    first = next(handle.records(upto=1))
    return seal.origin(handle.slug, first.hash.hex())


# -- checking --------------------------------------------------------------------------------


@seals.command("verify")
@answers(list[HeldAnswer])
def verify(
    files: Annotated[list[Path], typer.Argument(metavar="SEAL…", help="One seal or several.")],
    key: Keys = None,
    project: options.Project = "",
    as_json: options.AsJson = False,
) -> int:
    """Hold the journal against seals: what they state must be there, and the rest go on from it.

    Example: passdown seal verify monday.seal --key ../audit.key.pub
    """
    with opened() as (_, journal):
        known = sealing.verifiers(key or ())
        found = list(map(sealing.read_seal, files))
        if project:
            sealing.check_project(journal.project(project), found)
        held = sealing.hold(journal, found, known)
    if as_json:
        output.document(held)
    else:
        sealing.tell(held, signed=bool(known))
    return exits.OK if all(each.ok for each in held) else exits.NOT_WELL
