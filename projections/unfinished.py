"""Whether an erasure was begun and is not done.

While one is under way a mark stands in `.passdown/erasing`. Whoever is killed in between leaves it,
and `passdown redact --finish` carries it to its end. What records were to lose is written nowhere,
so until they have lost it, only the same request again goes on; the mark is empty till then.
"""

from pathlib import Path

from journal.disk import fsync
from journal.errors import JournalUnavailable
from journal.workspace import Workspace

#: What the mark says once the records are redacted, and only copies are left.
_COPIES = b"copies\n"


def begin(workspace: Workspace) -> None:
    """Note that records are to be redacted, so that it is known if that does not come to an end."""
    _note(workspace, b"")


def redacted(workspace: Workspace) -> None:
    """Note that no record is left to be redacted, and that copies are to be removed."""
    _note(workspace, _COPIES)


def _note(workspace: Workspace, content: bytes) -> None:
    mark = _mark(workspace)
    try:
        mark.write_bytes(content)
        fsync(mark)
        fsync(workspace.folder)
    except OSError as e:
        raise JournalUnavailable(
            f"{mark} cannot be written: {e.strerror}; mend that and ask for the same again"
        ) from e


def is_open(workspace: Workspace) -> bool:
    """Whether copies of what was redacted may still be there."""
    return _mark(workspace).exists()


def lacks_records(workspace: Workspace) -> bool:
    """Whether it broke off before every record was redacted."""
    try:
        return _mark(workspace).read_bytes() != _COPIES
    except FileNotFoundError:
        return False
    except OSError:  # it is there, and what it says is not known
        return True


def end(workspace: Workspace) -> None:
    """Note that no copy is left."""
    _mark(workspace).unlink(missing_ok=True)


def _mark(workspace: Workspace) -> Path:
    return workspace.folder / "erasing"
