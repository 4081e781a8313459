"""Signed notes: a text that anybody can read, with signatures below it (https://c2sp.org/signed-note).

A note is a text that ends in LF, an empty line, and for each signature an em dash, a space, the
name of a key, a space, and in base64 the key's id and the signature. The id is the beginning of the
SHA-256 over name, LF, 01 and public key, so that a name alone does not make a key known. Keys are
written as others write them who use such notes (golang.org/x/mod/sumdb/note):

    <name>+<id in hexadecimal>+<base64 of 01 and the public key>
    PRIVATE+KEY+<name>+<id in hexadecimal>+<base64 of 01 and the seed of the private key>

Only signing and checking signatures take the `cryptography` package, which is loaded for that.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from msgspec import Struct

from journal.digest import sha256
from journal.errors import Invalid, quoted

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

#: No note is longer, or has more signatures; more than this is not a note but an attack.
LONGEST = 1_000_000
MOST = 100

_NO_TEXT = "a signed note is text in UTF-8"
_ED25519 = b"\x01"
_PRIVATE = "PRIVATE+KEY+"
_KEY = re.compile(r"([^+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)")
_SIGNATURE = re.compile(r"— (\S+) (\S+)")
_CONTROL = re.compile(r"[\0-\x09\x0b-\x1f]")


class Verifier(Struct, frozen=True):
    """The public half of a key, which tells whether that key has signed something."""

    name: str
    public: bytes

    @property
    def id(self) -> bytes:
        """Four bytes by which its signatures are found; whether they hold is another question."""
        return sha256(self.name.encode() + b"\n" + _ED25519 + self.public).digest()[:4]

    def __str__(self) -> str:
        return f"{self.name}+{self.id.hex()}+{b64encode(_ED25519 + self.public).decode()}"

    def holds(self, text: bytes, signature: bytes) -> bool:
        """Whether this key made a signature over a text."""
        need()
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(signature, text)
        except (InvalidSignature, ValueError):
            return False
        return True


class Signer(Struct, frozen=True):
    """A private key; whoever has it can sign."""

    name: str
    seed: bytes

    @property
    def verifier(self) -> Verifier:
        """Its public half."""
        return Verifier(self.name, self._key().public_key().public_bytes_raw())

    def written(self) -> str:
        """The key as its file has it. There is no `__str__`: nothing shows it by accident."""
        id = self.verifier.id.hex()
        return f"{_PRIVATE}{self.name}+{id}+{b64encode(_ED25519 + self.seed).decode()}"

    def __repr__(self) -> str:
        return f"Signer({self.name!r})"

    def sign(self, text: bytes) -> bytes:
        """The note that has this text."""
        _check_text(text)
        signature = b64encode(self.verifier.id + self._key().sign(text)).decode()
        return text + f"\n— {self.name} {signature}\n".encode()

    def _key(self) -> "Ed25519PrivateKey":
        need()
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(self.seed)


class Signature(Struct, frozen=True):
    """One signature of a note, which may be anybody's."""

    name: str
    id: bytes
    signature: bytes


class Note(Struct, frozen=True):
    """A note that is well-formed; what it says is nobody's word before a signature is checked."""

    text: bytes
    signatures: tuple[Signature, ...]

    def signed_by(self, known: Sequence[Verifier]) -> Verifier | None:
        """The first of the known keys that signed it; None if a signature of one does not hold.

        Signatures of keys that are not known say nothing, for or against.
        """
        keys = {(key.name, key.id): key for key in known}
        signers = []
        for each in self.signatures:
            if key := keys.get((each.name, each.id)):
                if not key.holds(self.text, each.signature):
                    return None
                signers.append(key)
        return next(iter(signers), None)


# -- reading ---------------------------------------------------------------------------------


def read(content: bytes) -> Note:
    """The note that the content is; Invalid, with what is wrong, if it is none to the last byte."""
    if len(content) > LONGEST:
        raise Invalid(f"a signed note has at most {LONGEST:,} bytes")
    text, blank, below = content.rpartition(b"\n\n")
    if not blank or not below:
        raise Invalid("a signed note has a text, an empty line, and signatures below that")
    _check_text(text + b"\n")
    try:
        lines = below.decode().split("\n")
    except UnicodeDecodeError as e:
        raise Invalid(_NO_TEXT) from e
    if lines.pop():
        raise Invalid("the last line of a signed note ends in a line feed, as every other")
    if len(lines) > MOST:
        raise Invalid(f"a signed note has at most {MOST} signatures")
    return Note(text + b"\n", tuple(map(_signature, lines)))


def _check_text(text: bytes) -> None:
    """Refuse what no note may say."""
    try:
        shown = text.decode()
    except UnicodeDecodeError as e:
        raise Invalid(_NO_TEXT) from e
    if _CONTROL.search(shown):
        raise Invalid("a signed note has no control characters, and its lines end in LF alone")
    if not shown.strip("\n") or not shown.endswith("\n"):
        raise Invalid("a signed note has a text, which ends in a line feed")


def _signature(line: str) -> Signature:
    found = _SIGNATURE.fullmatch(line)
    content = decoded(found[2]) if found else None
    if found is None or content is None or len(content) < 5 or not _is_name(found[1]):
        raise Invalid(f"{quoted(line)} is not the line of a signature")
    return Signature(found[1], content[:4], content[4:])


def decoded(text: str) -> bytes | None:
    """What base64 stands for, if it is written in the one way that it is to be written in."""
    try:
        content = b64decode(text, validate=True)
    except ValueError:
        return None
    return content if b64encode(content).decode() == text else None


# -- keys ------------------------------------------------------------------------------------


def named(name: str, seed: bytes) -> Signer:
    """The key that a name and 32 random bytes make."""
    if not (_is_name(name) and name.isprintable()):
        raise Invalid(f"{quoted(name)} cannot name a key; a name has neither spaces nor +")
    return Signer(name, seed)


def verifier(text: str) -> Verifier:
    """The public half of a key, as it is written."""
    name, id, content = _key(text, "a verifier key, <name>+<id>+<key>")
    found = Verifier(name, content)
    if found.id.hex() != id:
        raise Invalid(f"the id {id} in the verifier key of {name} is not that of its key")
    return found


def signer(text: str) -> Signer:
    """A private key, as its file has it."""
    what = f"a private key, {_PRIVATE}<name>+<id>+<key>"
    if not text.startswith(_PRIVATE):
        raise Invalid(f"this is not {what}")
    name, id, content = _key(text.removeprefix(_PRIVATE), what)
    found = Signer(name, content)
    if found.verifier.id.hex() != id:
        raise Invalid(f"the id {id} in the private key of {name} is not that of its key")
    return found


def _key(text: str, what: str) -> tuple[str, str, bytes]:
    """Name, id and key; what is wrong is said without the text, which may be a secret."""
    found = _KEY.fullmatch(text)
    content = decoded(found[3]) if found else None
    if found is None or content is None or not _is_name(found[1]):
        raise Invalid(f"this is not {what}")
    if content[:1] != _ED25519 or len(content) != 33:
        raise Invalid(f"the key of {quoted(found[1])} is not one of Ed25519, which is all we take")
    return found[1], found[2], content[1:]


def _is_name(name: str) -> bool:
    return name != "" and not any(c.isspace() or c == "+" for c in name)


def need() -> None:
    """Refuse in a sentence where the package that signs is not installed."""
    if find_spec("cryptography") is None:
        raise Invalid(
            "signatures need a package that is not installed; pip install 'passdown[sign]'"
        )
