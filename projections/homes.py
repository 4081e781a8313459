"""Where the file of an orchestration is at home, and where in the archive it goes."""

import os
import re

from journal.errors import Invalid
from journal.events import Move
from journal.rules import workspace_path
from journal.state import Project
from journal.workspace import FOLDER
from projections.dialect import Dialect

#: The folder beside a file that it is moved to.
ARCHIVE = "archive"


def origin(project: Project, dialect: Dialect) -> str:
    """Where in the workspace the file of that dialect was adopted from; empty if nowhere."""
    home = project.homes.get(dialect.name) if dialect.moves else None
    if home is None:
        return ""
    try:
        path = workspace_path(home.source)
    except Invalid:
        return ""
    return path if _is_home(path) else ""


def _is_home(path: str) -> bool:
    """Whether a file can stay there: a backup, or what recovery set aside, is a copy of one."""
    return path.endswith(".md") and path.split("/")[0] != FOLDER


def archived(project: Project) -> Move | None:
    """The move of the project's own file, which comes last and goes by the session's name."""
    last = project.moves[-1] if project.moves else None
    named = last is not None and os.path.basename(last.archived) == f"{session_id(project)}.md"
    return last if named else None


def session_id(project: Project) -> str:
    """What the archived file is called: the project's native id, if that can name a file."""
    return project.native if _NAME.fullmatch(project.native) else project.slug


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def in_archive(path: str, name: str = "") -> str:
    """Where a file goes once the project is archived; empty if it is in an archive already."""
    folder, own = os.path.split(path)
    if os.path.basename(folder) == ARCHIVE:
        return ""
    return os.path.join(folder, ARCHIVE, name or own)
