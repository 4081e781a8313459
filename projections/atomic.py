"""Replacing, moving or removing a file: nobody ever sees half of it, no foreign edit is lost.

The new bytes are exchanged with the old in one step where the system can do that, so that what was
displaced is exactly what stood there, and can be looked at. (Checking first and renaming after
lost every sixth of the edits that came in between.)
"""

import errno
import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from journal.digest import sha256
from journal.disk import fsync

#: Swaps what two paths name.
Exchange: TypeAlias = Callable[[Path, Path], None]

_EXCHANGE = 2  # RENAME_EXCHANGE on Linux, RENAME_SWAP on macOS
_NO_REPLACE = 1, 4  # RENAME_NOREPLACE on Linux, RENAME_EXCL on macOS
#: What a system or a file system says that has no such call.
_UNKNOWN = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP)


class Displaced(Exception):
    """What stood at the path was not what was expected; it is there as it was."""


def replace(target: Path, content: bytes, expected: bytes | None, backup: Path | None) -> None:
    """Put `content` at `target`, which holds `expected`; what it held becomes `backup`.

    Raises Displaced, with the target as it was found, if it held something else.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = _write_beside(target, content)
    try:
        if expected is None:
            os.link(fresh, target)
        else:
            _swap(fresh, target, content, expected)
    except (Displaced, FileExistsError):
        fresh.unlink(missing_ok=True)
        raise Displaced from None
    # Whatever else goes wrong, the temporary file stays: it may be what was displaced.
    if expected is None or backup is None:
        fresh.unlink()
    else:
        os.replace(fresh, backup)
    fsync(target.parent)


def remove(target: Path, expected: bytes) -> None:
    """Take away a file that holds `expected`; raises Displaced, with the file there, if not."""
    aside = _beside(target)
    try:
        os.rename(target, aside)
    except FileNotFoundError:
        raise Displaced from None
    if aside.read_bytes() != expected:
        # An edit came in between: put it back, unless yet another file is there by now.
        with suppress(FileExistsError):
            os.link(aside, target)
            aside.unlink()
        raise Displaced
    aside.unlink()
    fsync(target.parent)


def move(origin: Path, goal: Path) -> None:
    """Give a file another place, folders and all; raises FileExistsError where there is one.

    Killed in between, it leaves the file at both places: moved again, it is at the new one alone.
    """
    _make(goal.parent)
    if is_same(origin, goal):
        origin.unlink()
    elif not _rename(origin, goal):
        move_by_links(origin, goal)
    fsync(goal.parent)
    fsync(origin.parent)


def move_by_links(origin: Path, goal: Path) -> None:
    """Move a file where the system has no call that spares what is there."""
    os.link(origin, goal)
    fsync(goal.parent)
    if not is_same(origin, goal):
        goal.unlink()
        raise Displaced  # somebody has put another file there since
    origin.unlink()


def is_same(one: Path, other: Path) -> bool:
    """Whether two paths name one file."""
    try:
        return os.path.samestat(one.lstat(), other.lstat())
    except (FileNotFoundError, NotADirectoryError):
        return False


def _rename(origin: Path, goal: Path) -> bool:
    """Rename a file unless that replaces another; False where the system cannot promise it."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(origin), os.fsencode(goal)
    if hasattr(libc, "renameat2"):
        failed = libc.renameat2(-100, names[0], -100, names[1], _NO_REPLACE[0])
    elif hasattr(libc, "renamex_np"):
        failed = libc.renamex_np(*names, _NO_REPLACE[1])
    else:
        return False
    code = ctypes.get_errno() if failed else 0
    if code and code not in _UNKNOWN:
        raise OSError(code, os.strerror(code), str(goal))
    return not code


def _make(folder: Path) -> None:
    """Make a folder and those above it, durably."""
    if not folder.is_dir():
        _make(folder.parent)
        folder.mkdir(exist_ok=True)
        fsync(folder.parent)


def keep(folder: Path, name: str, content: bytes) -> Path:
    """Set displaced bytes aside in a folder; the same bytes are kept once."""
    kept = folder / f"{sha256(content).hexdigest()[:12]}-{name}"
    if not kept.exists():
        folder.mkdir(exist_ok=True)
        replace(kept, content, None, None)
    return kept


def leftovers(target: Path) -> list[Path]:
    """What a killed writer left beside a file: its own words, or those it had displaced."""
    if not target.parent.is_dir():
        return []
    return [p for p in target.parent.iterdir() if p.name.startswith(_prefix(target))]


def backup_of(path: Path) -> Path:
    """Where the version of a file that was displaced last stays."""
    return path.with_name(path.name + ".bak")


def _beside(target: Path) -> Path:
    """A name in the same folder that nobody has."""
    return target.with_name(_prefix(target) + secrets.token_hex(8))


def _prefix(target: Path) -> str:
    return f".{target.name}.passdown-"


def _swap(fresh: Path, target: Path, content: bytes, expected: bytes) -> None:
    """Exchange two files; if what comes out is not `expected`, exchange them back."""
    try:
        exchange(fresh, target)
    except FileNotFoundError:
        raise Displaced from None  # it has gone meanwhile, and nothing was exchanged
    ours, foreign = content, fresh.read_bytes()
    if foreign == expected:
        return
    # An edit came in between: put it back. If yet another one arrives while we do, what comes out
    # is not what we put in; then that one is the newest, and goes back in its turn.
    while True:
        exchange(fresh, target)
        came = fresh.read_bytes()
        if came == ours:
            raise Displaced
        ours, foreign = foreign, came


def exchange(one: Path, other: Path) -> None:
    """Swap two files in one step, or as near to it as the system comes."""
    import ctypes  # 9 ms, wanted only when a file really changes

    libc = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(one), os.fsencode(other)
    if hasattr(libc, "renameat2"):
        at_cwd = -100
        if libc.renameat2(at_cwd, names[0], at_cwd, names[1], _EXCHANGE) == 0:
            return
    elif hasattr(libc, "renamex_np") and libc.renamex_np(*names, _EXCHANGE) == 0:
        return
    exchange_by_links(one, other)


def exchange_by_links(one: Path, other: Path) -> None:
    """Swap two files where the system has no call for it; `other` is never absent meanwhile."""
    aside = one.with_name(f"{one.name}.aside")
    os.link(other, aside)
    os.replace(one, other)
    os.rename(aside, one)


def _write_beside(target: Path, content: bytes) -> Path:
    """A temporary file in the same folder, with the target's mode, on disk."""
    fresh = _beside(target)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with open(descriptor, "wb") as file:
            if target.exists():
                os.fchmod(descriptor, target.stat().st_mode & 0o7777)
            file.write(content)
            file.flush()
            os.fsync(descriptor)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise
    return fresh
