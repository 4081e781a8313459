"""Proofs that leave the house: checked with a key alone, where there is no journal.

That a record is one of those that were sealed is written as a https://c2sp.org/tlog-proof, whose
`extra` is what the record's hash is made of, as JSON. That one seal goes on from another is written
as witnesses of such logs take it (`add-checkpoint` of https://c2sp.org/tlog-witness). Below either
stands the seal, letter by letter.

What is read here comes from anybody: each form is taken to the letter, so that no two files are
the same proof, and nothing is believed that the signed root does not bear out.
"""

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from struct import error as StructError
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from journal import merkle, note
from journal import seal as seals
from journal.digest import sha256
from journal.errors import Invalid
from journal.note import Note
from journal.record import GENESIS, Record, canonical, commit
from journal.seal import Seal

_INCLUSION = "c2sp.org/tlog-proof@v1"
#: A record's payload has at most a million bytes, which JSON and base64 make more of.
LONGEST = 16_000_000

_Hex = Annotated[str, Meta(pattern=r"\A([0-9a-f]{2})*\Z")]


class Opened(Struct, frozen=True, forbid_unknown_fields=True):
    """What a record's commitment commits to."""

    data: str
    salt: _Hex
    actor: str | None
    session: str | None


class Shown(Struct, frozen=True, forbid_unknown_fields=True):
    """What a record's hash is made of, as docs/FORMAT.md has it."""

    previous: _Hex
    project: str
    version: int
    id: str
    type: str
    at: int
    occurred: int | None
    cause: str | None
    commitment: _Hex
    #: The payload, who and in which session, where they were to be shown.
    opened: Opened | None = None

    @property
    def hash(self) -> bytes:
        """The record's hash."""
        return sha256(
            canonical(
                bytes.fromhex(self.previous),
                self.project,
                self.version,
                self.id,
                self.type,
                self.at,
                self.occurred,
                self.cause,
                bytes.fromhex(self.commitment),
            )
        ).digest()


class Inclusion(Struct, frozen=True):
    """The proof that a record is one of those that a seal states."""

    record: Shown
    path: list[bytes]
    seal: Seal
    signed: Note


class Consistency(Struct, frozen=True):
    """The proof that what a seal states goes on from the first `old` records."""

    old: int
    path: list[bytes]
    seal: Seal
    signed: Note


# -- making them -----------------------------------------------------------------------------


def inclusion(sealed: bytes, records: Iterable[Record], version: int, payload: bool) -> bytes:
    """The proof about one of the records that were sealed; with what it says if that is asked."""
    seal, _ = seals.read(sealed)
    if not 1 <= version <= seal.size:
        raise Invalid(f"the seal is over versions 1 to {seal.size}, not {version}")
    found: list[Shown] = []

    def hashes() -> Iterable[bytes]:
        previous = GENESIS
        for record in records:
            if record.version == version:
                found.append(_shown(record, previous, payload))
            previous = record.hash
            yield record.hash

    path = _path(merkle.inclusion(_sealed(seal, hashes()), version - 1))
    extra = b64encode(msgspec.json.encode(found[0])).decode()
    head = [_INCLUSION, f"extra {extra}", f"index {version - 1}", *path]
    return "\n".join((*head, "", "")).encode() + sealed


def consistency(sealed: bytes, hashes: Iterable[bytes], old: Seal) -> bytes:
    """The proof that a seal goes on from an older one."""
    seal, _ = seals.read(sealed)
    if old.origin != seal.origin or old.size > seal.size:
        raise Invalid(
            f"a seal of {seal.size} records of {seal.origin} cannot go on from one of {old.size} "
            f"records of {old.origin}"
        )
    known = _sealed(old, _sealed(seal, hashes))
    path = _path(merkle.consistency(known, old.size))
    return "\n".join((f"old {old.size}", *path, "", "")).encode() + sealed


def _sealed(seal: Seal, hashes: Iterable[bytes]) -> Iterable[bytes]:
    """The hashes as they come; Invalid at the end if those that were sealed are others."""
    tree = merkle.Tree()
    for hash in hashes:
        if tree.size < seal.size:
            tree.add(hash)
        yield hash
    if tree.size != seal.size or tree.root() != seal.root:
        raise Invalid(
            f"the journal does not have the {seal.size} records of {seal.project} that were "
            "sealed; `passdown seal verify` says what is wrong"
        )


def _path(path: Sequence[bytes]) -> list[str]:
    return [b64encode(hash).decode() for hash in path]


def _shown(record: Record, previous: bytes, payload: bool) -> Shown:
    opened = None
    if payload:
        if record.salt is None:
            raise Invalid(
                f"what version {record.version} said was redacted; prove it without --payload"
            )
        opened = Opened(record.data.decode(), record.salt.hex(), record.actor, record.session)
    return Shown(
        previous.hex(),
        record.project,
        record.version,
        record.id,
        record.type,
        record.at,
        record.occurred,
        record.cause,
        record.commitment.hex(),
        opened,
    )


# -- checking them ---------------------------------------------------------------------------


def read(content: bytes) -> Inclusion | Consistency:
    """The proof that the content is; Invalid if it is none, or proves nothing of the kind.

    An inclusion is proved as far as the seal below it goes, a consistency as far as `follows` says:
    whose word the seal is, a signature tells.
    """
    if len(content) > LONGEST:
        raise Invalid(f"a proof has at most {LONGEST:,} bytes")
    above, blank, sealed = content.partition(b"\n\n")
    if not blank:
        raise Invalid("a proof has an empty line, and below it the seal that it is about")
    seal, signed = seals.read(sealed)
    try:
        lines = above.decode().split("\n")
    except UnicodeDecodeError as e:
        raise Invalid("a proof is text in UTF-8") from e
    if lines[0] != _INCLUSION:
        return Consistency(_number(lines, 0, "old"), _hashes(lines[1:]), seal, signed)
    index = _number(lines, 2, "index")
    proof = Inclusion(_record(lines), _hashes(lines[3:]), seal, signed)
    _check(proof, index)
    return proof


def follows(proof: Consistency, old: Seal) -> bool:
    """Whether a proof shows that its seal goes on from this older one."""
    new = proof.seal
    same = (new.origin, proof.old) == (old.origin, old.size)
    return same and merkle.continues(old.root, old.size, new.root, new.size, proof.path)


def _check(proof: Inclusion, index: int) -> None:
    """Refuse a proof that shows something else than what it says."""
    record, seal = proof.record, proof.seal
    try:
        hash = record.hash
    except (StructError, UnicodeEncodeError) as e:
        raise Invalid("the record in the proof has a field that no record has") from e
    if (record.project, record.version) != (seal.project, index + 1):
        raise Invalid(
            f"the proof is about version {index + 1} of {seal.project}, and the record in it is "
            f"version {record.version} of {record.project}"
        )
    if not merkle.includes(seal.root, seal.size, index, hash, proof.path):
        raise Invalid(
            f"the proof does not hold: the record in it is not version {index + 1} of those that "
            "were sealed"
        )
    if index == 0 and seal.first != hash.hex()[: seals.BEGINNING]:
        raise Invalid("the proof does not hold: the seal's first record has another hash")
    if said := record.opened:
        given = commit(bytes.fromhex(said.salt), said.data.encode(), said.actor, said.session)
        if given.hex() != record.commitment:
            raise Invalid("the proof does not hold: payload, actor or session are not the record's")


def _record(lines: list[str]) -> Shown:
    said = lines[1].removeprefix("extra ") if len(lines) > 1 else ""
    content = note.decoded(said) if len(lines) > 1 and lines[1].startswith("extra ") else None
    if content is None:
        raise Invalid("a proof has the record that it is about after `extra`, in base64")
    try:
        record = msgspec.json.decode(content, type=Shown)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as e:
        raise Invalid(f"the record in the proof cannot be read: {e}") from e
    if msgspec.json.encode(record) != content:
        raise Invalid("the record in the proof is not written as Passdown writes it")
    return record


def _number(lines: list[str], at: int, name: str) -> int:
    found = _NUMBER.fullmatch(lines[at]) if len(lines) > at else None
    if found is None or found[1] != name:
        raise Invalid(f"this is not a proof of Passdown: line {at + 1} does not say `{name} N`")
    return int(found[2])


_NUMBER = re.compile(r"(old|index) (0|[1-9][0-9]{0,18})")


def _hashes(lines: list[str]) -> list[bytes]:
    found = [note.decoded(line) for line in lines]
    hashes = [hash for hash in found if hash is not None and len(hash) == 32]
    if len(hashes) != len(lines) or len(hashes) > 64:
        raise Invalid("a proof has at most 64 hashes, a line each, in base64")
    return hashes
