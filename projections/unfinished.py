"""Whether an erasure was begun and is not done.

While one is under way a mark stands in `.passdown/erasing`. Whoever is killed in between leaves it,
and `passdown redact --finish` carries it to its end.
"""

from pathlib import Path

from journal.disk import fsync
from journal.errors import JournalUnavailable
from journal.workspace import Workspace


def begin(workspace: Workspace) -> None:
    """Note that copies are to be removed, so that it is known if that does not come to an end."""
    mark = _mark(workspace)
    try:
        mark.touch()
        fsync(workspace.folder)
    except OSError as e:
        raise JournalUnavailable(
            f"{mark} cannot be written: {e.strerror}; nothing was redacted: mend that and ask again"
        ) from e


def is_open(workspace: Workspace) -> bool:
    """Whether copies of what was redacted may still be there."""
    return _mark(workspace).exists()


def end(workspace: Workspace) -> None:
    """Note that no copy is left."""
    _mark(workspace).unlink(missing_ok=True)


def _mark(workspace: Workspace) -> Path:
    return workspace.folder / "erasing"
