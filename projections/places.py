"""Where the files of a workspace are, and what is in them."""

import os
import stat
from pathlib import Path
from typing import Literal

from journal.digest import sha256
from journal.workspace import Workspace
from projections import ledger


class Unusable(Exception):
    """The path cannot hold a projection; the text says why."""


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


def altered(workspace: Workspace, slug: str) -> dict[str, Literal["changed", "missing"]]:
    """The files of a project that are not what was written last.

    The ledger alone tells, and so quickly; what it is that was changed, only a closer look does.
    Who keeps a file's size and its time to the nanosecond is not seen here, but by `verify`.
    """
    found: dict[str, Literal["changed", "missing"]] = {}
    for path, entry in ledger.read(workspace.folder).items():
        if entry.project == slug:
            try:
                place = place_of(workspace, path)
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
