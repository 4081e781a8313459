"""How long files of the workspace are: lines, and about how many tokens it costs to read them."""

import os
from collections.abc import Iterable
from contextlib import suppress

from journal.workspace import Workspace
from projections.snapshot import Size

#: About so many characters are one token.
_CHARACTERS = 4
#: Of what is larger only the size tells.
_MOST = 1 << 24


def measured(workspace: Workspace, paths: Iterable[str]) -> dict[str, Size]:
    """The files that are there, with their length."""
    found: dict[str, Size] = {}
    for path in paths:
        real = workspace.inside(path)
        if real is None or not real.is_file():
            continue
        with suppress(OSError):
            found[path] = _size(real)
    return found


def _size(path: str | os.PathLike[str]) -> Size:
    length = os.path.getsize(path)
    if length > _MOST:
        return Size(None, -(-length // _CHARACTERS))
    with open(path, "rb") as file:
        content = file.read()
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return Size(None, -(-length // _CHARACTERS))  # what is no text has no lines
    return Size(len(text.splitlines()), -(-len(text) // _CHARACTERS))
