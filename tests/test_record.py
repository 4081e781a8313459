"""The record's bytes, pinned: a journal written today verifies in ten years, in any language."""

import hashlib
import struct
from typing import Any

import pytest
from msgspec.structs import replace

from journal.record import GENESIS, Draft, Record, canonical, commit, field, flaw, link


def plain_field(value: Any) -> bytes:
    """One field, written from the specification and not from the code."""
    if value is None:
        return bytes.fromhex("ffffffff")
    if isinstance(value, int):
        return struct.pack(">I", 8) + struct.pack(">q", value)
    body = value if isinstance(value, bytes) else value.encode("utf-8")
    return struct.pack(">I", len(body)) + bytes(body)


def plain_commitment(record: Record) -> bytes:
    """SHA-256 of the salt and the fields data, actor, session."""
    assert record.salt is not None
    hashed = hashlib.sha256(record.salt)
    for value in (record.data, record.actor, record.session):
        hashed.update(plain_field(value))
    return hashed.digest()


def plain_hash(previous: bytes, record: Record) -> bytes:
    """SHA-256 of the canonical bytes, version 1."""
    hashed = hashlib.sha256(b"passdown record 1\n")
    values = [previous, record.project, record.version, record.id, record.type]
    values += [record.at, record.occurred, record.cause, record.commitment]
    for value in values:
        hashed.update(plain_field(value))
    return hashed.digest()


CANONICAL = (
    "70617373646f776e207265636f726420310a"
    "0000000101"
    "0000000161"
    "000000080000000000000002"
    "0000000169"
    "00000003742e75"
    "000000080000000000000003"
    "ffffffff"
    "00000000"
    "0000000102"
)
FIRST = link(
    Draft("01940000-0000-7000-8000-000000000001", "finding.opened", b'{"title":"x"}', bytes(16)),
    position=1,
    project="app",
    version=1,
    previous=GENESIS,
    at=1_767_261_600_000_000,
)
SECOND = link(
    Draft(
        "01940000-0000-7000-8000-000000000002",
        "session.noted",
        '{"text":"naïve 𝄞 🙂"}'.encode(),
        bytes(range(16)),
        occurred=-1,
        actor="ünï 🙂",
        session="",
        cause=FIRST.id,
    ),
    position=7,
    project="app",
    version=2,
    previous=FIRST.hash,
    at=1_767_261_600_000_001,
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "ffffffff"),
        ("", "00000000"),
        (b"", "00000000"),
        ("a", "0000000161"),
        ("é", "00000002c3a9"),
        ("e\u0301", "0000000365cc81"),
        ("𝄞", "00000004f09d849e"),
        (b"\x00\xff", "0000000200ff"),
        (0, "000000080000000000000000"),
        (1, "000000080000000000000001"),
        (-1, "00000008ffffffffffffffff"),
        (2**63 - 1, "000000087fffffffffffffff"),
    ],
)
def test_a_field_is_its_length_and_its_bytes(value: Any, expected: str) -> None:
    """Text is UTF-8 as given, integers are 8 bytes, absent is FFFFFFFF."""
    assert field(value).hex() == expected == plain_field(value).hex()


def test_the_canonical_bytes_are_pinned() -> None:
    """The canonical bytes of a small record are exactly these."""
    found = canonical(b"\x01", "a", 2, "i", "t.u", 3, None, "", b"\x02")
    assert found.hex() == CANONICAL


def test_a_chain_of_two_records_is_pinned() -> None:
    """Commitments and hashes of a fixed chain are these literals, for ever."""
    assert (
        FIRST.commitment.hex() == "40d0927745ca343b37721f76acb4b37b9bdaae7b0e4fafdc976aa59d6c63b1da"
    )
    assert FIRST.hash.hex() == "16ebb3fbe962d7c93fa9e621949e7c850e7a1185eaf8dd1ecf7f798bdf6b1e5b"
    assert (
        SECOND.commitment.hex()
        == "d7a09557f3fd78cab3f444e9271bcf677df7eb4e3688557c1a94a7c5cc9ad2e2"
    )
    assert SECOND.hash.hex() == "1dc6e47891f416705f15350dbe1c6db2266e14df233c93820a120e146fb2845f"


def test_the_specification_alone_gives_the_same_chain() -> None:
    """Somebody who has read only the specification computes the same hashes."""
    assert plain_commitment(FIRST) == FIRST.commitment
    assert plain_hash(b"", FIRST) == FIRST.hash
    assert plain_commitment(SECOND) == SECOND.commitment
    assert plain_hash(FIRST.hash, SECOND) == SECOND.hash


def test_absent_and_empty_differ() -> None:
    """No actor is not an empty actor, and no cause is not an empty cause."""
    salt = bytes(16)
    assert commit(salt, b"", None, None) != commit(salt, b"", "", None)
    assert commit(salt, b"", None, None) != commit(salt, b"", None, "")
    assert commit(salt, b"", "", None) != commit(salt, b"", None, "")
    rest = (b"", "a", 1, "i", "t", 1)
    assert canonical(*rest, None, None, b"") != canonical(*rest, None, "", b"")
    assert canonical(*rest, None, None, b"") != canonical(*rest, 0, None, b"")


def test_text_does_not_move_between_fields() -> None:
    """The same letters cut elsewhere give another hash."""
    assert commit(bytes(16), b"", "ab", "c") != commit(bytes(16), b"", "a", "bc")


def test_a_lone_surrogate_is_refused() -> None:
    """Text that is not Unicode has no bytes."""
    with pytest.raises(UnicodeEncodeError):
        field("\ud800")


def test_a_sound_chain_has_no_flaw() -> None:
    """What was linked is accepted."""
    assert flaw(FIRST, "app", 1, GENESIS) is None
    assert flaw(SECOND, "app", 2, FIRST.hash) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("project", "web"),
        ("version", 3),
        ("id", "another"),
        ("type", "session.ended"),
        ("data", b"{}"),
        ("salt", bytes(16)),
        ("salt", None),
        ("commitment", bytes(32)),
        ("at", 5),
        ("occurred", None),
        ("occurred", 0),
        ("actor", None),
        ("actor", "eve"),
        ("session", None),
        ("session", "s"),
        ("cause", None),
        ("cause", ""),
        ("hash", bytes(32)),
        ("at", "soon"),
        ("at", 2**63),
        ("id", None),
        ("id", 1.5),
        ("data", "text"),
        ("commitment", None),
        ("actor", 7),
    ],
)
def test_a_changed_field_is_a_flaw(name: str, value: Any) -> None:
    """Any field but the position, changed to anything, is found without an exception."""
    changed = replace(SECOND, **{name: value})
    assert flaw(changed, "app", 2, FIRST.hash)


def test_every_field_is_covered() -> None:
    """Each field of a record is part of the chain, except the position, which is local."""
    for name in Record.__struct_fields__:
        value = getattr(SECOND, name)
        other = value + type(value)(1) if isinstance(value, int) else value + value[:0] + value
        if not value:
            other = "x"
        found = flaw(replace(SECOND, **{name: other}), "app", 2, FIRST.hash)
        assert (found is None) == (name == "position"), name


def test_a_record_elsewhere_in_the_chain_is_a_flaw() -> None:
    """A sound record after another predecessor, or in another place, is not accepted."""
    assert flaw(SECOND, "app", 2, GENESIS)
    assert flaw(SECOND, "app", 1, FIRST.hash)
    assert flaw(SECOND, "web", 2, FIRST.hash)
