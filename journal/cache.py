"""A folded state kept in a file, so that opening a long history costs only its tail.

The file is replaced whole and never trusted: a wrong magic, fold number, checksum or shape, or a
record hash that the journal does not have, and it is as if it were not there.
"""

import os
import struct
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from journal.state import FOLD, Project

_HEADER = struct.Struct(">8sIIQ32s")
_MAGIC = b"pdstate\n"
#: The whole state, or what of it is live.
Part: TypeAlias = Literal["state", "live"]


def read(folder: Path, slug: str, part: Part = "state") -> Project | None:
    """The cached state of a project, or the live part of it, if there is a sound one."""
    try:
        content = (folder / f"{slug}.{part}").read_bytes()
        magic, fold, checksum, version, hash = _HEADER.unpack_from(content)
        body = content[_HEADER.size :]
        if magic != _MAGIC or fold != FOLD or zlib.crc32(body) != checksum:
            return None
        project = msgspec.msgpack.decode(body, type=Project)
    except (OSError, struct.error, msgspec.MsgspecError, UnicodeDecodeError):
        return None
    if (project.slug, project.version, project.hash) != (slug, version, hash):
        return None
    return project


def write(folder: Path, project: Project, part: Part = "state") -> None:
    """Replace the cached state; a cache that cannot be written is only slower."""
    fresh = folder / f".{project.slug}.{os.getpid()}.{id(project):x}.new"
    try:
        body = msgspec.msgpack.encode(project)
        header = _HEADER.pack(_MAGIC, FOLD, zlib.crc32(body), project.version, project.hash)
        folder.mkdir(exist_ok=True)
        fresh.write_bytes(header + body)
        os.replace(fresh, folder / f"{project.slug}.{part}")
    except (OSError, OverflowError):  # a sum may have outgrown the 64 bits of the format
        with suppress(OSError):
            fresh.unlink()
