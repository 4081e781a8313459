"""What hooks could not do, line by line in `.passdown/hooks.log`: whoever looks later, reads it.

Whatever stands in its place, nobody ever waits for it.
"""

import os
import stat
from pathlib import Path

NAME = "hooks.log"
_LIMIT = 64 * 1024


def add(folder: Path, line: str) -> None:
    """Add a line, if there is a regular file to add it to, or none yet."""
    path = folder / NAME
    log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK, 0o666)
    try:
        found = os.fstat(log)
        if not stat.S_ISREG(found.st_mode):
            return
        os.write(log, f"{line}\n".encode(errors="backslashreplace"))
    finally:
        os.close(log)
    if found.st_size > _LIMIT:
        os.replace(path, folder / f"{NAME}.1")


def lines(folder: Path) -> list[str]:
    """What is in the log; OSError if something else stands in its place."""
    try:
        log = os.open(folder / NAME, os.O_RDONLY | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return []
    with open(log, encoding="utf-8", errors="replace") as content:
        if not stat.S_ISREG(os.fstat(log).st_mode):
            raise OSError(f"{NAME} is not a regular file")
        return content.read().splitlines()
