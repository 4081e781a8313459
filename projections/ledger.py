"""What was written where: a shortcut, and who owns a path that projects share.

It can be deleted at any time. A stamp proves the same of a file, only with more work.
"""

import os
from pathlib import Path

import msgspec
from msgspec import Struct

from journal.errors import JournalUnavailable


class Entry(Struct, frozen=True):
    """The last thing written to a path."""

    project: str
    projection: str
    #: Version and hash of the last record that the file shows.
    version: int
    hash: str
    digest: str
    #: Of what was displaced last, and is the backup: who writes into that now came too late.
    backup: str = ""
    #: Size and time of the file once it was written: while it has them, it is taken for the same.
    size: int = -1
    modified: int = 0


def read(folder: Path) -> dict[str, Entry]:
    """The entries by path; an unreadable ledger is an empty one."""
    try:
        return msgspec.json.decode((folder / "ledger.json").read_bytes(), type=dict[str, Entry])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return {}


def write(folder: Path, entries: dict[str, Entry]) -> None:
    """Replace the ledger; the caller holds files.lock."""
    ledger = folder / "ledger.json"
    fresh = folder / "ledger.json.new"
    try:
        fresh.write_bytes(msgspec.json.format(msgspec.json.encode(entries), indent=1) + b"\n")
        os.replace(fresh, ledger)
    except OSError as e:
        raise JournalUnavailable(
            f"{ledger} cannot be written: {e.strerror}; the files are up to date, "
            "move it away and run `passdown sync`"
        ) from e
