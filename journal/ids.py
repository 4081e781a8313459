"""Ids: UUIDv7 in text form, ordered by time, unguessable in the rest."""

import os

from journal.digest import sha256


def uuid7(at: int, rest: bytes | None = None) -> str:
    """A UUIDv7 for a moment in microseconds; ten random bytes, or the given ones, fill it."""
    random = int.from_bytes(rest or os.urandom(10), "big")
    value = (at // 1000) << 80 | 0x7 << 76 | (random >> 64 & 0xFFF) << 64
    value |= 0b10 << 62 | random & (1 << 62) - 1
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def of_request(key: str | None, n: int, at: int) -> str:
    """The id of a request's nth record: the key itself, then ids that are known by the key."""
    if key is None:
        return uuid7(at)
    return uuid7(at, _rest(key, n)) if n else key


def belongs(id: str, key: str, n: int) -> bool:
    """Whether a record is the nth of the request with that key, and not only caused by it."""
    return id[14:] == uuid7(0, _rest(key, n))[14:]


def salt() -> bytes:
    """Sixteen random bytes for a commitment."""
    return os.urandom(16)


def _rest(key: str, n: int) -> bytes:
    return sha256(f"{n} {key}".encode()).digest()[:10]
