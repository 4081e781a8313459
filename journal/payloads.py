"""Payloads of messages and the tokens they go by."""

import re
from collections.abc import Iterable, Iterator

from journal.digest import sha256
from journal.errors import Invalid, quoted
from journal.events import Payload

#: What one part of a payload has at the most.
MOST_BYTES, MOST_LINES = 16 * 1024, 300

_CHECKSUM = re.compile(r"-h([0-9a-f]{8})(?:-p([0-9]{1,3})of([0-9]{1,3}))?\Z")


def normal(text: str) -> str:
    """The text as checksums are taken of it: lines end in LF, and no blank line is last."""
    return text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")


def checksum(text: str) -> str:
    """The first eight digits of the SHA-256 of a text."""
    return sha256(normal(text).encode()).hexdigest()[:8]


def token(day: str, topic: str, sequence: int, text: str) -> str:
    """The token of a revision: `REV-20260208-parser-01-h1a2b3c4d`."""
    return f"REV-{day.replace('-', '')}-{topic}-{sequence:02}-h{checksum(text)}"


def sequence(tokens: Iterable[str], topic: str) -> int:
    """The next number of a topic, after those that it has in the tokens."""
    form = re.compile(rf"REV-[0-9]{{8}}-{re.escape(topic)}-([0-9]{{1,9}})-h")
    found = (form.match(token) for token in tokens)
    return max((int(each[1]) for each in found if each), default=0) + 1


def matches(token: str, text: str) -> bool:
    """Whether a text is the one that a token was made for."""
    found = _CHECKSUM.search(token)
    return found is not None and found[1] == checksum(text)


def has_checksum(token: str) -> bool:
    """Whether a token says of which text it is."""
    return _CHECKSUM.search(token) is not None


def check_payload(payload: Payload) -> None:
    """Refuse a payload that is malformed: too large, or not the one of its token."""
    found = _CHECKSUM.search(payload.token)
    if found is None or found[1] != checksum(payload.text):
        raise Invalid(
            f"the payload is malformed: its checksum is h{checksum(payload.text)}, its token "
            f"{quoted(payload.token)} is of another text; make a new token for it"
        )
    if found[2] and not 1 <= int(found[2]) <= int(found[3]):
        raise Invalid(f"token {quoted(payload.token)} names no part; write it -p1of3")
    size, lines = len(payload.text.encode()), normal(payload.text).count("\n") + 1
    if size > MOST_BYTES or lines > MOST_LINES:
        raise Invalid(
            f"a payload has at most {MOST_BYTES // 1024} KiB and {MOST_LINES} lines, this has "
            f"{size:,} bytes and {lines:,} lines; post it in parts (`passdown mail post --payload`)"
        )


def parts(text: str) -> Iterator[str]:
    """A text in as many parts as it takes, cut at the ends of lines wherever that is possible."""
    part: list[str] = []
    size = 0
    for line in _lines(normal(text)):
        length = len(line.encode()) + 1
        if part and (size + length > MOST_BYTES or len(part) == MOST_LINES):
            yield "\n".join(part)
            part, size = [], 0
        part.append(line)
        size += length
    yield "\n".join(part)


def _lines(text: str) -> Iterator[str]:
    """The lines of a text; what is longer than a part is cut, between two characters."""
    for line in text.split("\n"):
        while len(line.encode()) >= MOST_BYTES:
            piece = line.encode()[: MOST_BYTES - 1].decode(errors="ignore")
            yield piece
            line = line[len(piece) :]
        yield line
