"""passdown.toml: which projections are written, where, and what becomes of edits by hand.

    drift = "adopt"

    [projections.state-md]
    path = ".planning/{project}/STATE.md"

    [projections.handoff]
    enabled = false

What the file does not mention stays as it is without it.
"""

import os
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from journal.errors import Invalid, NotFound
from journal.rules import workspace_path
from journal.workspace import FOLDER
from projections.dialect import DIALECTS, Dialect

FILE = "passdown.toml"


class _Projection(Struct, frozen=True, forbid_unknown_fields=True):
    path: str = ""
    enabled: bool = True


class _Settings(Struct, frozen=True, forbid_unknown_fields=True):
    projections: dict[str, _Projection] = {}
    drift: Literal["report", "adopt"] = "report"


class Target(Struct, frozen=True):
    """One file that a project is rendered to."""

    dialect: Dialect
    path: str
    #: Whether projects share the path, so that only the first to write it may.
    shared: bool
    #: Whether an edit by hand is adopted without being asked for.
    adopts: bool = False


def targets(root: Path, project: str) -> list[Target]:
    """The files of a project, as the workspace's settings have them."""
    settings = _read(root / FILE)
    found = []
    for name, dialect in DIALECTS.items():
        chosen = settings.projections.get(name, _Projection())
        if chosen.enabled:
            template = chosen.path or dialect.path
            path = _allowed(template.replace("{project}", project), name)
            adopts = settings.drift == "adopt" and dialect.adopt is not None
            found.append(Target(dialect, path, "{project}" not in template, adopts))
    _check_apart(root, found)
    return found


def _allowed(path: str, name: str) -> str:
    """A path in the workspace that is not ours for something else."""
    normal = os.path.normpath(workspace_path(path))
    if normal == FILE or normal.split("/")[0] == FOLDER:
        raise Invalid(f"{FILE}: {name} cannot be written to {path}; choose a path of its own")
    return normal


def _check_apart(root: Path, found: list[Target]) -> None:
    """Refuse two projections at one place, whichever links lead there, also as a backup."""
    names: dict[str, str] = {}
    for target in found:
        name = target.dialect.name
        place = os.path.realpath(root / target.path)
        for taken in (place, f"{place}.bak"):
            other = names.setdefault(taken, name)
            if other != name:
                raise Invalid(
                    f"{FILE}: {other} and {name} would both be written to {target.path}; "
                    "give each a path of its own"
                )


def _read(path: Path) -> _Settings:
    try:
        if not path.is_file() and path.exists():
            raise Invalid(f"{FILE} is not a regular file; put the settings into one")
        text = path.read_bytes()
    except FileNotFoundError:
        return _Settings()
    except OSError as e:
        raise Invalid(f"{FILE} cannot be read: {e.strerror}") from e
    try:
        settings = msgspec.toml.decode(text, type=_Settings)
    except (msgspec.MsgspecError, UnicodeDecodeError) as e:
        raise Invalid(f"{FILE}: {e}; see docs/SETTINGS.md") from e
    for name in settings.projections:
        if name not in DIALECTS:
            raise NotFound("projection", name, DIALECTS, hint=f"see {FILE}")
    return settings
