"""What `--at` means: a version, a time, the id of an event, or a seal; and the state at that."""

import re
from pathlib import Path

from cli import options
from journal import Handle, Project
from journal.errors import Invalid

#: Versions are written without zeros in front, and the ids of events begin with one.
_VERSION = r"0|[1-9][0-9]{0,17}"
_BEGINNING = r"0[0-9a-fA-F]{7}[0-9a-fA-F-]*"


def state_at(handle: Handle, said: str) -> Project:
    """The state that a project had then; that of now if nothing is said."""
    if not said:
        return handle.state
    version = version_at(handle, said)
    if version == handle.version:
        return handle.state
    return handle.at(version)


def version_at(handle: Handle, said: str) -> int:
    """The last version that counts at a moment; of a time the last that was recorded by then."""
    if re.fullmatch(_VERSION, said):
        return int(said)
    if re.fullmatch(_BEGINNING, said) and (found := handle.version_of(said)):
        return found
    try:
        return handle.version_at(options.moment(said))
    except Invalid as error:
        if _is_time(said):
            raise
        if found := handle.version_of(said):
            return found
        if Path(said).is_file():
            return sealed_version(Path(said), handle.slug)
        raise Invalid(
            f"{said[:60]!r} is no moment of {handle.slug}; give a version, a time (ISO 8601, or 2h "
            "ago), or the id of an event or its first 8 digits; see `passdown log --json`"
        ) from error


def _is_time(said: str) -> bool:
    try:
        options.moment(said)
    except Invalid:
        return False
    return True


def sealed_version(path: Path, slug: str) -> int:
    """The version that a seal is about. No seal can be read yet, so every file is refused."""
    raise Invalid(
        f"{path} is a file and no moment of {slug}; `passdown diff` compares files with the journal"
    )
