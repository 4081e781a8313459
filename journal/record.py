"""The envelope around an event, its canonical bytes, and the chain of hashes.

docs/FORMAT.md specifies every byte; tests pin it with vectors. A journal written today must verify
in ten years, in any language, so nothing here may change: a new layout is a new format version.
"""

from collections.abc import Callable
from functools import lru_cache
from struct import Struct as Layout
from struct import error as StructError

from msgspec import Struct
from msgspec.structs import astuple

from journal.digest import sha256

FORMAT = b"passdown record 1\n"
GENESIS = b""
#: What a project may be called.
SLUG = r"[a-z0-9][a-z0-9._-]{0,99}"

_LENGTH = Layout(">I").pack
_ABSENT = b"\xff\xff\xff\xff"
_INTEGER_FIELD = Layout(">Iq").pack


class Draft(Struct, frozen=True):
    """What is about to be appended: everything but what the store decides."""

    id: str
    type: str
    data: bytes
    salt: bytes
    occurred: int | None = None
    actor: str | None = None
    session: str | None = None
    cause: str | None = None


class Record(Struct, frozen=True, gc=False):
    """What was appended, as it stands in the store.

    It holds nothing that could hold it, so the collector need not look at the many there are.
    """

    position: int
    project: str
    version: int
    id: str
    type: str
    data: bytes
    salt: bytes | None
    commitment: bytes
    at: int
    occurred: int | None
    actor: str | None
    session: str | None
    cause: str | None
    hash: bytes

    def row(self) -> tuple[bytes | str | int | None, ...]:
        """The fields in their order, as a database takes them."""
        return astuple(self)

    @property
    def time(self) -> int:
        """When it really happened."""
        return self.at if self.occurred is None else self.occurred


def field(value: bytes | str | int | None) -> bytes:
    """One field: its length as u32 big-endian, then its bytes; absent is FFFFFFFF."""
    if value is None:
        return _ABSENT
    if isinstance(value, int):
        return _INTEGER_FIELD(8, value)
    if isinstance(value, str):
        value = value.encode()
    return _sized(value)


#: The lengths that most fields have, ready made: they are half of what hashing costs.
_LENGTHS = tuple(_LENGTH(n) for n in range(256))
#: The same for texts of which few are many times in a journal: projects, types, actors, sessions.
_RECURRING = 256


def _sized(value: bytes) -> bytes:
    size = len(value)
    return (_LENGTHS[size] if size < 256 else _LENGTH(size)) + value


@lru_cache(_RECURRING)
def _recurring(value: str | None) -> bytes:
    return _ABSENT if value is None else _sized(value.encode())


def commit(salt: bytes, data: bytes, actor: str | None, session: str | None) -> bytes:
    """The commitment: it binds payload, actor and session, and can outlive them."""
    return sha256(b"".join((salt, _sized(data), _recurring(actor), _recurring(session)))).digest()


def standing(record: Record) -> bytes:
    """The digest of what stands in a record now, which vouches for it once its salt is gone."""
    return commit(b"", record.data, record.actor, record.session)


def canonical(
    previous: bytes,
    project: str,
    version: int,
    id: str,
    type: str,
    at: int,
    occurred: int | None,
    cause: str | None,
    commitment: bytes,
) -> bytes:
    """The bytes that are hashed; the previous record's hash is the first of them."""
    return b"".join(
        (
            FORMAT,
            _sized(previous),
            _recurring(project),
            _INTEGER_FIELD(8, version),
            _sized(id.encode()),
            _recurring(type),
            _INTEGER_FIELD(8, at),
            field(occurred),
            field(cause),
            _sized(commitment),
        )
    )


def link(
    draft: Draft, position: int, project: str, version: int, previous: bytes, at: int
) -> Record:
    """The record that a draft becomes as `version` of the chain, after `previous`."""
    commitment = commit(draft.salt, draft.data, draft.actor, draft.session)
    body = canonical(
        previous,
        project,
        version,
        draft.id,
        draft.type,
        at,
        draft.occurred,
        draft.cause,
        commitment,
    )
    return Record(
        position,
        project,
        version,
        draft.id,
        draft.type,
        draft.data,
        draft.salt,
        commitment,
        at,
        draft.occurred,
        draft.actor,
        draft.session,
        draft.cause,
        sha256(body).digest(),
    )


def _nobody(record: Record) -> bool:
    return False


def flaw(
    record: Record,
    project: str,
    version: int,
    previous: bytes,
    accounted: Callable[[Record], bool] = _nobody,
) -> str | None:
    """What is wrong with a record that should stand at `version` after `previous`, if anything.

    Of one without a salt `accounted` knows whether it holds what a redaction left there.
    """
    if record.project != project or record.version != version:
        return f"version {version} is missing"
    try:
        body = canonical(
            previous,
            record.project,
            record.version,
            record.id,
            record.type,
            record.at,
            record.occurred,
            record.cause,
            record.commitment,
        )
        if sha256(body).digest() != record.hash:
            return "its hash does not match: it was changed, or the record before it"
        if record.salt is None:
            vouched = accounted(record)
            return None if vouched else "its salt is gone and no redaction vouches for what it says"
        if commit(record.salt, record.data, record.actor, record.session) != record.commitment:
            return "its payload, actor or session was changed"
    except (StructError, TypeError, AttributeError, UnicodeEncodeError):
        return "a field has a type that was never written"
    return None
