"""Durability and locks, as the operating system has them."""

import fcntl
import os
import stat
from pathlib import Path


def fsync(path: Path) -> None:
    """Make a file's content, or a folder's entries, durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def lock(path: Path) -> int:
    """A descriptor that holds the lock on a file alone, until `unlock`."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def unlock(descriptor: int) -> None:
    """Let go of a lock; closing alone would not, while a forked child has the descriptor too."""
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)


_peeked: dict[tuple[int, int], int] = {}


def peek(path: Path) -> bytes:
    """The bytes of a file that SQLite may have open in this process; b"" if there is none.

    Closing any descriptor of a file drops every POSIX lock that the process holds on it. Another
    process would then take SQLite's log for abandoned and delete it under our connection, with
    all that is acknowledged afterwards. So the descriptor used here stays open.
    """
    try:
        found = path.stat()
    except OSError:
        return b""
    if not stat.S_ISREG(found.st_mode):
        return b""
    key = found.st_dev, found.st_ino
    if key not in _peeked:
        _peeked[key] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    return os.pread(_peeked[key], found.st_size, 0)
