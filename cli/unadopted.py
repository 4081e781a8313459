"""State files that wait to be taken over, where there is no journal or none of its projects."""

import shlex
from pathlib import Path

_FOLDER = "agent-output"
_FILE = "00-session-state.json"


def adoption(root: Path, here: Path) -> str:
    """The command, typed here, that takes over state files below a folder or one above it."""
    for folder in (root, *root.parents):
        if any((folder / _FOLDER).glob(f"*/{_FILE}")):
            adopt = f"passdown adopt {_FOLDER}"
            # A journal that is not there yet is made in the current folder.
            return adopt if folder == here else f"cd {shlex.quote(str(folder))} && {adopt}"
    return ""
