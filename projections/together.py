"""The files of a workspace that agents share, as they are found in a folder and brought in."""

import fnmatch
import os
import re
from pathlib import Path
from typing import Any

from msgspec import Struct

from journal.errors import Invalid
from journal.request import Request
from journal.state import Project
from projections.dialect import DIALECTS
from projections.settings import CHAT

#: The names that the files have, and what each is.
FILES = {
    dialect.path.removeprefix("{workspace}/"): name
    for name, dialect in DIALECTS.items()
    if dialect.path.startswith("{workspace}/")
}
#: The one that says whose the others are.
TURNFILE = "TURNFILE.yaml"
#: What the files of agents are called, that may have snapshots in them.
CHATS = "chat-*.md"
#: What such a file has, if it has a snapshot.
_SNAPSHOT = b"napshot"
_TURNFILE = re.compile(rb"^(?:\xef\xbb\xbf)?turnfile:", re.MULTILINE)


class Source(Struct, frozen=True):
    """A file of a shared workspace: what it is, and whose it says that it is, if it says that."""

    projection: str
    name: str = ""
    warnings: list[str] = []


def rank(name: str) -> int:
    """The place of a file among those that are adopted together: the first says whose they are."""
    names = list(FILES)
    # What agents are at stands in the first; their snapshots are of sessions that are over.
    if name in names:
        return 2 * names.index(name)
    return 1 if fnmatch.fnmatch(name, CHATS) else 0


def projection(name: str, content: bytes) -> str:
    """What a file is, by its name or else by what is in it; empty if it is none of these."""
    if name in FILES:
        return FILES[name]
    if fnmatch.fnmatch(name, CHATS):
        return CHAT
    is_turnfile = name.endswith((".yaml", ".yml")) and _TURNFILE.search(content)
    return FILES[TURNFILE] if is_turnfile else ""


def is_same_file(one: str, other: str) -> bool:
    """Whether two paths are of one file of a project, of which each agent has one of its own."""
    names = os.path.basename(one), os.path.basename(other)
    return names[0] == names[1] or not all(fnmatch.fnmatch(name, CHATS) for name in names)


def has_snapshot(path: Path) -> bool:
    """Whether the file of an agent may have something to bring in."""
    try:
        return _SNAPSHOT in path.read_bytes()
    except OSError:
        return False


def read(projection: str, content: bytes, file: str) -> Source:
    """What a file is; Invalid if it is not what it is called."""
    if projection == CHAT:
        from projections.snapshot import adopting

        return Source(projection, "", adopting.warnings(content, file))
    return Source(projection, _named(content) if projection == FILES[TURNFILE] else "")


def name_in(turnfile: Path) -> str:
    """What a TURNFILE.yaml calls its project; empty if it cannot be read."""
    try:
        return _named(turnfile.read_bytes())
    except (OSError, Invalid):
        return ""


def _named(content: bytes) -> str:
    from projections import turnfile

    about = turnfile.read(content).get("turnfile")
    name = about.get("project") if isinstance(about, dict) else ""
    return name if isinstance(name, str) else ""


def adopt(
    source: Source,
    content: bytes,
    project: Project,
    path: str,
    *,
    base: Project | None,
    removals: bool,
    now: int,
    by: Request,
) -> list[Request]:
    """The requests by which a project comes to what a file says."""
    told: dict[str, Any] = {"base": base, "removals": removals, "now": now, "by": by}
    if source.projection == CHAT:
        from projections.snapshot import adopting

        return adopting.adopt_bytes(content, project, path, **told)
    adopting_bytes = DIALECTS[source.projection].adopt
    assert adopting_bytes is not None
    return adopting_bytes(content, project, path, **told)
