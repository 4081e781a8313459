"""Seals, proofs and keys as files: whatever is named on the command line, read and written."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from cli import output
from cli.placing import read
from cli.proofs import HeldAnswer
from journal import Handle, Journal, note, seal
from journal.disk import fsync
from journal.errors import Invalid, JournalDamaged, JournalUnavailable, NotFound
from journal.note import Note, Signer, Verifier
from journal.seal import Seal

#: The variable that names the private key where no option does.
KEY = "PASSDOWN_SEAL_KEY"


class Sealed(Struct, frozen=True):
    """A seal as a file has it."""

    path: Path
    content: bytes
    seal: Seal
    signed: Note


def read_named(path: Path, what: str) -> bytes:
    """What is in a file that somebody named, wherever it is."""
    content = read(path, str(path))
    if content is None:
        raise NotFound(what, str(path), (), hint="check the path")
    return content


def read_seal(path: Path) -> Sealed:
    """A seal in a file; Invalid if what is there is none."""
    content = read_named(path, "seal")
    with naming(path):
        return Sealed(path, content, *seal.read(content))


def check_project(handle: Handle, found: Sequence[Sealed]) -> None:
    """Refuse seals of another project than the one that was named."""
    for each in found:
        if each.seal.project != handle.slug:
            raise Invalid(f"{each.path} is a seal of {each.seal.project}, not of {handle.slug}")


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Have what is wrong with a content name the file."""
    try:
        yield
    except Invalid as error:
        raise Invalid(f"{path}: {error}") from error


def write_new(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Write a file that is not there yet: seals and keys are never replaced, they cannot be made
    again."""
    begun = False
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        begun = True
        with open(descriptor, "wb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(descriptor)
        fsync(path.parent)
    except FileExistsError as error:
        raise Invalid(f"{path} is there already and is left as it is; name another") from error
    except OSError as error:
        if begun:
            path.unlink(missing_ok=True)  # half a seal would keep the whole one from its place
        raise JournalUnavailable(
            f"{path} cannot be written: {error.strerror}; mend that, or name another place"
        ) from error


# -- keys ------------------------------------------------------------------------------------


def usual_key(origin: str) -> Path:
    """Where the private key of a project is, where nobody names another: never beside the journal,
    for who can rewrite that could then sign it too."""
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return Path(config, "passdown", f"{origin.removeprefix('passdown/').replace('/', '-')}.key")


def signer(path: Path) -> Signer:
    """The private key in a file."""
    content = read(path, str(path))
    if content is None:
        hint = f"`passdown seal keygen` makes one, --key or {KEY} names another"
        raise NotFound("private key", str(path), (), hint=hint)
    note.need()
    with naming(path):
        return note.signer(_line(content))


def verifiers(keys: Sequence[str]) -> list[Verifier]:
    """The keys that are trusted, each as it is or in a file."""
    found = []
    for key in keys:
        if key.count("+") >= 2 and not os.path.lexists(key):
            found.append(note.verifier(key))
            continue
        content = read(Path(key), key)
        if content is None:
            hint = "name the file that `passdown seal keygen` made, or the key itself"
            raise NotFound("verifier key", key[:200], (), hint=hint)
        with naming(Path(key)):
            found.append(note.verifier(_line(content)))
    return found


def _line(content: bytes) -> str:
    return content.decode(errors="replace").removesuffix("\n")


# -- seals against a journal -----------------------------------------------------------------


def hold(journal: Journal, found: Sequence[Sealed], known: Sequence[Verifier]) -> list[HeldAnswer]:
    """Whether the journal has what each of the seals states, and who signed it."""
    verdicts: dict[Path, seal.Verdict] = {}
    for project in dict.fromkeys(each.seal.project for each in found):
        own = [each for each in found if each.seal.project == project]
        judged = _judged(journal, project, [each.seal for each in own])
        verdicts |= {each.path: verdict for each, verdict in zip(own, judged, strict=True)}
    return [_held(each, verdicts[each.path], known) for each in found]


def _judged(journal: Journal, project: str, seals: Sequence[Seal]) -> list[seal.Verdict]:
    """What the project's records, each checked against the chain, say of seals about it.

    What comes after is read too: it could be sound in itself and go on from something else.
    """
    broken: list[JournalDamaged] = []

    def hashes() -> Iterator[bytes]:
        try:
            for record in journal.handle(project).records():
                yield record.hash
        except JournalDamaged as error:
            broken.append(error)

    records = hashes()
    judged = seal.compare(seals, records)
    for _ in records:
        pass
    if broken:
        return [
            seal.Verdict(False, f"{each.what}; but {broken[0]}" if each.ok else str(broken[0]))
            for each in judged
        ]
    return judged


def _held(each: Sealed, verdict: seal.Verdict, known: Sequence[Verifier]) -> HeldAnswer:
    by = each.signed.signed_by(known) if known else None
    ok, what = verdict.ok, verdict.what
    if known and by is None:
        ok = False
        what = f"it is not signed by {_names(known)}, so that it is nobody's word; {what}"
    name = by.name if by else None
    return HeldAnswer(str(each.path), ok, what, each.seal.project, each.seal.size, name)


def trusted(each: Note, known: Sequence[Verifier], path: Path) -> Verifier:
    """Whose word a note is, of those who are trusted; Invalid if it is none's."""
    by = each.signed_by(known)
    if by is None:
        raise Invalid(f"{path}: it is not signed by {_names(known)}, so that it proves nothing")
    return by


def _names(known: Sequence[Verifier]) -> str:
    return " or ".join(f"{each.name} ({each.id.hex()})" for each in known)


def tell(held: Sequence[HeldAnswer], *, signed: bool) -> None:
    """Say how each seal stands."""
    for each in held:
        by = f", signed by {each.signed_by}" if each.signed_by else ""
        how = "well" if each.ok else "not well"
        output.line(f"{each.path}: {how}: {output.plain(each.what)}{by}")
    if not signed:
        output.note("no signature was checked; --key names the key that a seal must be signed with")
