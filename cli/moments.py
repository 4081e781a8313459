"""What `--at` means: a version, a time, the id of an event, or a seal; and the state at that."""

import os
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


def version_at(handle: Handle, said: str, first: int = 1) -> int:
    """The last version that counts at a moment; of a time the last that was recorded by then.
    With 0 as `first` that may be before there were any."""
    if re.fullmatch(_VERSION, said):
        return int(said)
    if re.fullmatch(_BEGINNING, said) and (found := handle.version_of(said)):
        return found
    try:
        return handle.version_at(options.moment(said), first)
    except Invalid as error:
        if _is_time(said):
            raise
        if found := handle.version_of(said):
            return found
        if os.path.isfile(said):
            return sealed_version(Path(said), handle)
        raise Invalid(
            f"{said[:60]!r} is no moment of {handle.slug}; give a version, a time (ISO 8601, or 2h "
            "ago), the id of an event or its first 8 digits, or a seal; see `passdown log`"
        ) from error


def _is_time(said: str) -> bool:
    try:
        options.moment(said)
    except Invalid:
        return False
    return True


def sealed_version(path: Path, handle: Handle) -> int:
    """The version that a seal is about, if the journal has what it states; whose word it is, is
    for `passdown verify --against` to check."""
    from cli.sealing import check_project, read_seal
    from journal.seal import compare

    found = read_seal(path)
    check_project(handle, [found])
    size = found.seal.size
    [verdict] = compare([found.seal], (record.hash for record in handle.records(upto=size)))
    if not verdict.ok:
        raise Invalid(f"{path} is no moment of this journal: {verdict.what}")
    return size
