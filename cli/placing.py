"""Files that are somebody else's: read and replaced as a whole, never half, never elsewhere."""

import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from journal.disk import fsync
from journal.errors import Invalid, JournalUnavailable
from journal.workspace import FOLDER, Workspace
from projections.atomic import Displaced, replace

#: What a file becomes, of what it was; None where there is none.
Edit: TypeAlias = Callable[[bytes | None], bytes | None]

_ATTEMPTS = 5


def place(root: Path, path: str) -> Path:
    """Where a file of the workspace really is."""
    real = Workspace(root / FOLDER).inside(path)
    if real is None:
        raise Invalid(f"{path} leads out of the workspace through a link; remove the link")
    return real


def read(file: Path, shown: str) -> bytes | None:
    """What is in a file; None if there is none."""
    try:
        mode = file.stat().st_mode
        if not stat.S_ISREG(mode):
            kind = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
            raise Invalid(f"{shown} is {kind}; move it away, nothing was changed")
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise Invalid(f"{shown} would be in a file; move that away, nothing was changed") from None
    except OSError as e:
        raise JournalUnavailable(
            f"{shown} cannot be read: {e.strerror}; check its permissions, nothing was changed"
        ) from e


def as_text(content: bytes, shown: str) -> str:
    """The content as text."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise Invalid(f"{shown} is not UTF-8 text; nothing was changed") from None


def rewrite(file: Path, shown: str, edit: Edit) -> bool:
    """Edit a file in one step, and say whether that changed it."""
    for _ in range(_ATTEMPTS):
        before = read(file, shown)
        after = edit(before)
        if after == before:
            return False
        try:
            if before is not None:
                os.close(os.open(file, os.O_WRONLY))  # a read-only file is not to be replaced
            if after is None:
                _delete(file, before)
            else:
                replace(file, after, before, None)
            return True
        except (Displaced, FileNotFoundError):
            continue  # somebody wrote at the same moment; what they wrote is edited next
        except OSError as e:
            raise JournalUnavailable(
                f"{shown} cannot be written: {e.strerror}; check its permissions and ask again"
            ) from e
    raise JournalUnavailable(
        f"somebody else keeps changing {shown}; ask again, nothing was changed"
    )


def _delete(file: Path, expected: bytes | None) -> None:
    """Delete a file; what somebody else wrote into it meanwhile stands there again."""
    aside = file.with_name(f".{file.name}.passdown-{secrets.token_hex(8)}")
    file.rename(aside)
    if aside.read_bytes() != expected:
        aside.rename(file)
        raise Displaced
    aside.unlink()
    fsync(file.parent)


def prune(folder: Path, root: Path) -> None:
    """Remove a folder that is left empty, and those above it, below the root."""
    while folder != root and folder.is_relative_to(root):
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent
