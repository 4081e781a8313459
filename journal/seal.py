"""Seals: signed statements about the history of a project, kept where nobody can change them.

A seal is a checkpoint (https://c2sp.org/tlog-checkpoint), which is a signed note whose text is

    passdown/<project>/<the first 16 hexadecimal digits of the hash of its record 1>
    <how many records it has>
    <the root of RFC 6962 over their hashes, in base64>

Whoever rewrites a journal can make its chain and head fit; the root that somebody else has on paper
they cannot. docs/SEALS.md has the form byte by byte, and what a seal does not prove.
"""

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence

from msgspec import Struct

from journal import note
from journal.errors import Invalid, quoted
from journal.merkle import Tree
from journal.record import SLUG

#: What the origin has of the first record's hash: enough that no two histories share it by chance.
BEGINNING = 16


class Seal(Struct, frozen=True):
    """What is stated: so many records of a project have this root."""

    project: str
    #: The beginning of the hash of record 1, which tells histories of one name apart.
    first: str
    size: int
    root: bytes

    @property
    def origin(self) -> str:
        """Which log it is about."""
        return origin(self.project, self.first)

    @property
    def text(self) -> bytes:
        """What is signed."""
        return f"{self.origin}\n{self.size}\n{b64encode(self.root).decode()}\n".encode()


def origin(project: str, first: str) -> str:
    """What the log of a project is called; it never changes, whatever is recorded."""
    return f"passdown/{project}/{first[:BEGINNING]}"


def over(project: str, hashes: Iterable[bytes]) -> Seal:
    """The statement about a project whose records have these hashes, in their order."""
    tree, first = Tree(), ""
    for hash in hashes:
        first = first or hash.hex()[:BEGINNING]
        tree.add(hash)
    if not tree.size:
        raise Invalid(f"{project} has no records that could be sealed")
    return Seal(project, first, tree.size, tree.root())


def read(content: bytes) -> tuple[Seal, note.Note]:
    """What a seal states, and the note that says whose word it is; Invalid if it is no seal.

    Lines below the root are allowed there, signed with the rest, and say nothing to us.
    """
    signed = note.read(content)
    return of_text(signed.text), signed


def of_text(text: bytes) -> Seal:
    """What the text of a seal states."""
    log, *lines = text.decode().removesuffix("\n").split("\n")
    if len(lines) < 2 or not all(lines):
        raise Invalid("a seal has lines for the log, its size and its root, and no empty ones")
    found = _ORIGIN.fullmatch(log)
    if found is None:
        raise Invalid(f"{quoted(log)} is not the log of a project: passdown/<project>/<hash>")
    size = int(lines[0]) if _SIZE.fullmatch(lines[0]) else 0
    if not 0 < size < 2**63:
        raise Invalid(f"{quoted(lines[0])} is not a number of records, as a seal states it")
    root = note.decoded(lines[1])
    if root is None or len(root) != 32:
        raise Invalid(f"{quoted(lines[1])} is not a root in base64")
    return Seal(found[1], found[2], size, root)


_ORIGIN = re.compile(rf"passdown/({SLUG})/([0-9a-f]{{{BEGINNING}}})")
_SIZE = re.compile(r"[1-9][0-9]{0,18}")


# -- against a journal -----------------------------------------------------------------------


class Verdict(Struct, frozen=True):
    """Whether a journal has what a seal states, in a sentence."""

    ok: bool
    what: str


def compare(seals: Sequence[Seal], hashes: Iterable[bytes]) -> list[Verdict]:
    """Hold seals of one project against the hashes of its records, in one pass.

    Where one does not hold, those that do tell from where on the history is another.
    """
    tree, roots, wanted = Tree(), dict[int, bytes](), {seal.size for seal in seals}
    first, last = "", max(wanted, default=0)
    for hash in hashes:
        first = first or hash.hex()[:BEGINNING]
        tree.add(hash)
        if tree.size in wanted:
            roots[tree.size] = tree.root()
        if tree.size == last:
            break
    holds = [seal.first == first and roots.get(seal.size) == seal.root for seal in seals]
    known = [seal.size for seal, held in zip(seals, holds, strict=True) if held]
    return [
        Verdict(True, f"its {seal.size:,} records of {seal.project} are as they were sealed")
        if held
        else Verdict(False, _wrong(seal, first, tree.size, known))
        for seal, held in zip(seals, holds, strict=True)
    ]


def _wrong(seal: Seal, first: str, size: int, known: list[int]) -> str:
    """What has become of a history, whose beginnings of these sizes are known to be sound."""
    said = f"it states {seal.size:,} records of {seal.project}, and"
    if not size:
        return f"{said} the journal has none of them"
    if seal.first != first:
        return (
            f"{said} record 1 of the journal is not the one that it begins with: the history was "
            "replaced from the beginning, or this is another project of that name"
        )
    if after := min((each for each in known if each >= seal.size), default=0):
        return (
            f"{said} they are not those of the journal, which a seal over {after:,} states too: "
            "one of the two seals is of a fork"
        )
    before = max((each for each in known if each < seal.size), default=0)
    kept = f"; up to version {before} all is as it was sealed" if before else ""
    if size < seal.size:
        missing = seal.size - size
        return f"{said} the journal ends at version {size}, {missing:,} before that{kept}"
    return (
        f"{said} versions {before + 1} to {seal.size} of the journal are not those: something "
        f"there was changed, left out, put in or reordered{kept}"
    )
