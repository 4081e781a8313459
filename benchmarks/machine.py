"""What the figures were measured on."""

import os
import platform
import sqlite3
from pathlib import Path

from msgspec import Struct

import passdown


class Machine(Struct, frozen=True):
    """The machine, and what was installed on it."""

    processor: str
    cores: int
    memory_gb: int
    system: str
    filesystem: str
    python: str
    sqlite: str
    passdown: str
    #: How many processes wanted to run when the measuring began.
    load: float

    def __str__(self) -> str:
        return (
            f"{self.processor}, {self.cores} cores, {self.memory_gb} GB, {self.system}, "
            f"{self.filesystem}; Python {self.python}, SQLite {self.sqlite}, "
            f"Passdown {self.passdown}; load {self.load:.1f} at the beginning"
        )


def describe(folder: Path) -> Machine:
    """This machine, with the disk that a folder is on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return Machine(
        _processor(),
        os.cpu_count() or 1,
        round(memory / 2**30),
        f"{platform.system()} {platform.release().split('-')[0]}",
        _filesystem(folder),
        platform.python_version(),
        sqlite3.sqlite_version,
        passdown.__version__,
        os.getloadavg()[0],
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _filesystem(folder: Path) -> str:
    """The kind of file system: an fsync on a tmpfs costs nothing, and then no ratio means much."""
    try:
        mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    except OSError:
        return "unknown file system"
    real = os.path.realpath(folder)
    holding = [m for m in mounts if os.path.commonpath((real, m[1])) == m[1]]
    return max(holding, key=lambda mount: len(mount[1]))[2]
