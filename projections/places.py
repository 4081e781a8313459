"""Where the files of a workspace are, and what is in them."""

import os
import stat
import time
from pathlib import Path
from typing import Literal

from msgspec import Struct, field

from journal.digest import sha256
from journal.workspace import Workspace
from projections import ledger

_SETTLED = 1.0


class Unusable(Exception):
    """The path cannot hold a projection; the text says why."""


class Folders(Struct, frozen=True):
    """The folders of a workspace: where each really is, is looked up once."""

    workspace: Workspace
    known: dict[str, Path] = field(default_factory=dict)

    def folder(self, path: str) -> Path:
        """Where a folder really is, if projections may be in it."""
        if path not in self.known:
            self.known[path] = place_of(self.workspace, path)
        return self.known[path]

    def place(self, path: str) -> Path:
        """Where a file really is, if a projection may be there."""
        folder, name = os.path.split(path)
        place = self.folder(folder) / name
        return place_of(self.workspace, path) if place.is_symlink() else place

    def key(self, place: Path) -> str:
        """The ledger goes by where a file really is: a link leads to somebody else's."""
        return str(place).removeprefix(f"{str(self.folder('')).rstrip(os.sep)}{os.sep}")


def place_of(workspace: Workspace, path: str) -> Path:
    """Where a file really is, if a projection may be there."""
    real = workspace.inside(path)
    if real is None:
        raise Unusable(f"{path} leads out of the workspace through a link; remove the link")
    if real.is_relative_to(os.path.realpath(workspace.folder)):
        raise Unusable(f"{path} leads to the journal's own files through a link; remove the link")
    return real


def read_file(path: Path) -> bytes | None:
    """What is in a file; None if there is none."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
        raise Unusable(f"{path} is {kind}; move it away")
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def settles(path: Path, content: bytes) -> bool:
    """Whether a file stays as it is until nobody has touched it for a second."""
    age = time.time() - path.stat().st_mtime
    end = time.monotonic() + (_SETTLED - age if 0 <= age < _SETTLED else _SETTLED * (age < 0))
    while time.monotonic() < end:
        time.sleep(0.05)
        if read_file(path) != content:
            return False
    return True


def traits_of(path: Path, content: bytes) -> tuple[int, int]:
    """Size and time of a file that holds this content, if it still does."""
    try:
        found = path.stat()
    except OSError:
        return -1, 0
    return (found.st_size, found.st_mtime_ns) if found.st_size == len(content) else (-1, 0)


def altered(workspace: Workspace, slug: str) -> dict[str, Literal["changed", "missing"]]:
    """The files of a project that are not what was written last.

    The ledger alone tells, and so quickly; what it is that was changed, only a closer look does.
    Who keeps a file's size and its time to the nanosecond is not seen here, but by `verify`.
    """
    found: dict[str, Literal["changed", "missing"]] = {}
    folders = Folders(workspace)
    for path, entry in ledger.read(workspace.folder).items():
        if entry.project == slug:
            try:
                place = folders.place(path)
                traits = place.stat()
                if (traits.st_size, traits.st_mtime_ns) == (entry.size, entry.modified):
                    continue
                content = read_file(place)
            except (FileNotFoundError, NotADirectoryError):
                content = None
            except (Unusable, OSError):
                content = b""
            if content is None:
                found[path] = "missing"
            elif sha256(content).hexdigest() != entry.digest:
                found[path] = "changed"
    return found
