"""The brief that was made before it was asked for: a hook has no time to compose it.

It is the one that would be composed now, if it was made of the last record and none of the files
that it depends on has changed since.
"""

import os
from collections.abc import Iterable

from msgspec import Struct

import passdown
from journal import cache
from journal.events import BriefShown
from journal.handle import Handle
from journal.state import Project
from journal.workspace import Workspace


class Ready(Struct, frozen=True):
    """A brief for a host, what is shown of it, and how the files were that it depends on."""

    text: str
    seen: BriefShown
    #: Size and time of each file by its path; of one that was not there, nothing.
    files: dict[str, tuple[int, int] | None]
    #: Another release may render another brief.
    release: str = passdown.__version__


def ready(workspace: Workspace, handle: Handle, state: Project) -> Ready | None:
    """The brief that was made ready, if it is the one that would be composed now."""
    found = cache.unpack(handle.cached, handle.slug, "brief", Ready)
    if found is None:
        return None
    version, hash, kept = found
    same = (version, hash, kept.release) == (state.version, state.hash, passdown.__version__)
    return kept if same and traits(workspace, kept.files) == kept.files else None


def traits(workspace: Workspace, paths: Iterable[str]) -> dict[str, tuple[int, int] | None]:
    """Size and time of files; those that are not there have none."""
    found: dict[str, tuple[int, int] | None] = {}
    root = str(workspace.root)
    for path in (".passdown/ledger.json", *paths):
        try:
            status = os.stat(os.path.join(root, path))
            found[path] = status.st_size, status.st_mtime_ns
        except OSError:
            found[path] = None
    return found
