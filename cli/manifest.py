"""What was done to files of the workspace, with the digest of each as it is now.

And what a step says when it is done: the files that it changed, and what it leaves for others.
"""

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from cli.recording import place_of
from journal import workspace as places
from journal.errors import Invalid, JournalUnavailable, NotFound
from journal.events import Downstream, FilesChanged
from journal.workspace import Workspace

Change: TypeAlias = Literal["created", "modified", "deleted"]
_Several: TypeAlias = list[str] | None

Created: TypeAlias = Annotated[
    _Several, typer.Option("--created", help="A file that it created; repeatable.")
]
Modified: TypeAlias = Annotated[
    _Several, typer.Option("--modified", help="A file that it modified; repeatable.")
]
Deleted: TypeAlias = Annotated[
    _Several, typer.Option("--deleted", help="A file that it deleted; repeatable.")
]
Interfaces: TypeAlias = Annotated[
    _Several, typer.Option("--interface", help="A key interface that it introduced; repeatable.")
]
Patterns: TypeAlias = Annotated[
    _Several, typer.Option("--pattern", help="A pattern that it established; repeatable.")
]
Integrations: TypeAlias = Annotated[
    _Several, typer.Option("--integration", help="A point where others tie in; repeatable.")
]
Assumptions: TypeAlias = Annotated[
    _Several, typer.Option("--assumption", help="What it takes for granted; repeatable.")
]
Warnings: TypeAlias = Annotated[
    _Several, typer.Option("--warning", help="What others have to beware of; repeatable.")
]


def manifest(
    step: str, created: _Several, modified: _Several, deleted: _Several
) -> list[FilesChanged]:
    """What a step did to files, each of which it can have done one thing to."""
    done: dict[Change, list[str]] = {
        "created": created or [],
        "modified": modified or [],
        "deleted": deleted or [],
    }
    seen: dict[str, Change] = {}
    for change, paths in done.items():
        for path in paths:
            other = seen.setdefault(os.path.normpath(path), change)
            if other != change:
                raise Invalid(f"{path[:200]!r} is said to be {other} and {change}; say which")
    return [each for change, paths in done.items() for each in changed(change, paths, step=step)]


def downstream(
    interfaces: _Several,
    patterns: _Several,
    integrations: _Several,
    assumptions: _Several,
    warnings: _Several,
) -> Downstream:
    """What a step leaves for those that come after it."""
    lists = (interfaces, patterns, integrations, assumptions, warnings)
    return Downstream(*(tuple(text for text in each or () if text.strip()) for each in lists))


def changed(
    change: Change, paths: Sequence[str], description: str = "", step: str = ""
) -> list[FilesChanged]:
    """That files were created, modified or deleted; what is deleted has no digest."""
    if change == "deleted" or not paths:
        return [FilesChanged(path, change, "", description, step) for path in paths]
    workspace = places.find()
    return [
        FilesChanged(path, change, digest(workspace, path), description, step) for path in paths
    ]


def digest(workspace: Workspace, path: str) -> str:
    """The SHA-256 of a file of the workspace as it is now."""
    with content(workspace, path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def content(workspace: Workspace, path: str) -> Iterator[BufferedReader]:
    """The content of a regular file of the workspace; refused where there is none to read."""
    place = place_of(workspace, path)
    try:
        # A pipe would be waited for, so it is not even opened.
        if not stat.S_ISREG(place.stat().st_mode):
            raise Invalid(f"{path!r} is not a regular file; only those have a digest")
        with place.open("rb") as file:
            yield file
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFound(
            "file",
            path,
            _beside(workspace.root, path),
            hint="name it relative to the workspace root",
        ) from error
    except OSError as error:
        raise JournalUnavailable(
            f"{path!r} cannot be read in {workspace.root}: {error.strerror}; nothing was recorded"
        ) from error


def _beside(root: Path, path: str) -> list[str]:
    """What else is in the folder of a file, as it would be named."""
    folder = os.path.dirname(path)
    try:
        return [os.path.join(folder, name) for name in sorted(os.listdir(root / folder))]
    except OSError:
        return []
