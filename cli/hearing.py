"""Hearing what a host says on stdin, also one that does not speak quite as it should.

Hosts written in JavaScript cut a text in the middle of an emoji, send null for what they do not
know, or leave the pipe open. None of that keeps a session from being recorded.
"""

import sys
from io import BufferedIOBase, BytesIO
from typing import cast

import msgspec

from cli.contracts import Told
from journal.errors import Invalid

_CHUNK = 1 << 16
_MOST = 1 << 24


def hear() -> Told:
    """What the host says, as soon as that is whole: it may never end what it says."""
    content = bytearray()
    stdin = cast(BufferedIOBase, sys.stdin.buffer) if sys.stdin else BytesIO()
    while chunk := stdin.read1(_CHUNK):
        if len(content) > _MOST:
            continue  # it is read all the same: a host may not expect that nobody listens
        content += chunk
        if content[-_CHUNK:].rstrip().endswith(b"}") and (told := _understood(content)):
            return told
    if len(content) > _MOST:
        raise Invalid(f"the host sent more than {_MOST >> 20} MiB on stdin")
    told = _understood(content)
    if told is None:
        raise Invalid("the host sent no valid JSON on stdin")
    return told


def _understood(content: bytearray) -> Told | None:
    try:
        return msgspec.json.decode(content, type=Told)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _guessed(content)


def _guessed(content: bytearray) -> Told | None:
    """What can be taken from JSON with half characters or values of another type, if anything."""
    import json

    try:
        said = json.loads(content.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict):
        return None
    fields = {name: said.get(name) for name in Told.__struct_fields__}
    return Told(**{name: value for name, value in fields.items() if isinstance(value, str)})
