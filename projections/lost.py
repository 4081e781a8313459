"""What had to make room and nobody else has: it is kept under .passdown/lost."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from journal.workspace import Workspace
from projections import atomic, stamp
from projections.places import Unusable, read_file


def set_aside(workspace: Workspace, name: str, content: bytes) -> str:
    """Keep displaced bytes, and say where, relative to the workspace."""
    kept = atomic.keep(workspace.folder / "lost", name, content)
    return os.path.relpath(kept, workspace.root)


def clear_beside(workspace: Workspace, path: Path) -> None:
    """Make room beside a file, and keep what is not ours.

    A killed writer may have left what it had displaced; and who had the file open when it was
    displaced has written into what is the backup now.
    """
    leftovers = atomic.leftovers(path)
    for beside in (*leftovers, atomic.backup_of(path)):
        _keep_foreign(workspace, beside, path.name)
    for leftover in leftovers:
        leftover.unlink()


def tidy(workspace: Workspace, path: Path, content: bytes) -> None:
    """Finish what a killed writer had begun beside a file: what it had displaced is the backup."""
    for leftover in atomic.leftovers(path):
        displaced = read_file(leftover)
        if displaced and displaced != content and stamp.holds(displaced):
            os.replace(leftover, atomic.backup_of(path))
        else:
            _keep_foreign(workspace, leftover, path.name)
            leftover.unlink()


def sweep(workspace: Workspace, leftovers: Mapping[Path, str]) -> None:
    """Remove what killed writers left in trees, and keep what is not ours."""
    for leftover, name in leftovers.items():
        with suppress(Unusable, OSError):
            _keep_foreign(workspace, leftover, name)
            leftover.unlink()


def _keep_foreign(workspace: Workspace, path: Path, name: str) -> None:
    """Set a file aside unless it is a whole one of ours."""
    content = read_file(path)
    if content and not stamp.holds(content):
        set_aside(workspace, name, content)
