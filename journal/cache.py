"""What was made of a history, kept in files, so that opening a long one costs only its tail.

A file is replaced whole and never trusted: a wrong magic, fold number, checksum or shape, or a
record hash that the journal does not have, and it is as if it were not there.
"""

import fcntl
import os
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

import msgspec

from journal.state import FOLD, Project

_HEADER = struct.Struct(">8sIIQ32s")
_MAGIC = b"pdstate\n"
#: The whole state, what of it is live, or the brief that was made of that.
Part: TypeAlias = Literal["state", "live", "brief"]
T = TypeVar("T")


def read(folder: Path, slug: str, part: Part = "state") -> Project | None:
    """The cached state of a project, or the live part of it, if there is a sound one."""
    found = unpack(folder, slug, part, Project)
    if found is None:
        return None
    version, hash, project = found
    same = (project.slug, project.version, project.hash) == (slug, version, hash)
    return project if same else None


def unpack(folder: Path, slug: str, part: Part, kind: type[T]) -> tuple[int, bytes, T] | None:
    """The version and hash of the record that something was made at, and the thing itself."""
    try:
        content = (folder / f"{slug}.{part}").read_bytes()
        magic, fold, checksum, version, hash = _HEADER.unpack_from(content)
        body = content[_HEADER.size :]
        if magic != _MAGIC or fold != FOLD or zlib.crc32(body) != checksum:
            return None
        return version, hash, msgspec.msgpack.decode(body, type=kind)
    except (OSError, struct.error, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def write(folder: Path, project: Project, part: Part = "state") -> None:
    """Replace the cached state; a cache that cannot be written is only slower."""
    pack(folder, project, part, project)


def _always() -> bool:
    return True


def pack(
    folder: Path,
    project: Project,
    part: Part,
    thing: object,
    holds: Callable[[], bool] = _always,
) -> None:
    """Keep something that was made of a project as it is now, if that still `holds`.

    What is redacted meanwhile is gone once the cache was cleared, and does not come back in a file
    that was made of what had been read before: both are done with the folder locked.
    """
    fresh = folder / f".{project.slug}.{os.getpid()}.{id(thing):x}.new"
    try:
        body = msgspec.msgpack.encode(thing)
        header = _HEADER.pack(_MAGIC, FOLD, zlib.crc32(body), project.version, project.hash)
        folder.mkdir(exist_ok=True)
        with _locked(folder):
            if holds():
                fresh.write_bytes(header + body)
                os.replace(fresh, folder / f"{project.slug}.{part}")
    except (OSError, OverflowError):  # a sum may have outgrown the 64 bits of the format
        with suppress(OSError):
            fresh.unlink()


def clear(folder: Path) -> None:
    """Remove whatever is cached, also what a killed writer left."""
    with suppress(FileNotFoundError), _locked(folder):
        for path in folder.iterdir():
            path.unlink()


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
