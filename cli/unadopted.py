"""State files that wait to be taken over, where there is no journal or none of its projects."""

import shlex
from pathlib import Path

#: What is looked for, and what is to be adopted if it is there.
_PLACES = {
    "agent-output/*/00-session-state.json": "agent-output",
    ".gemini/state/active-session.md": ".gemini/state/active-session.md",
    "docs/maestro/state/active-session.md": "docs/maestro/state/active-session.md",
    "working-session/TURNFILE.yaml": "working-session",
}


def adoption(root: Path, here: Path) -> str:
    """The command, typed here, that takes over state files below a folder or one above it."""
    for folder in (root, *root.parents):
        found = [what for pattern, what in _PLACES.items() if any(folder.glob(pattern))]
        if found:
            adopt = f"passdown adopt {' '.join(found)}"
            # A journal that is not there yet is made in the current folder.
            return adopt if folder == here else f"cd {shlex.quote(str(folder))} && {adopt}"
    return ""
