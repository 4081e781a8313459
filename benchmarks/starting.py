"""Starting: the quickest commands, against an interpreter that does nothing."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

from benchmarks import histories
from benchmarks.comparison import Comparison, Measure, Timing, timed
from benchmarks.histories import PROJECT

BARE = "bare interpreter"
VERSION = "passdown --version"
SHOW = "passdown show"

COMPARISONS = (
    Comparison("version", "passdown --version", "times", VERSION, BARE, 2.5),
    Comparison("show", "passdown show", "times", SHOW, BARE, 11),
)

_TURNS = 5


def prepare(folder: Path, open: ExitStack) -> Iterator[Measure]:
    """A workspace with a project of forty records."""
    root = folder / "starting"
    with histories.create(root) as journal:
        histories.fill(journal.open_project(PROJECT), islice(histories.busy(), 39))
    command = str(Path(sys.executable).with_name("passdown"))
    environment = {key: value for key, value in os.environ.items() if "PASSDOWN" not in key}

    def starting(*words: str) -> Timing:
        return timed(
            lambda n: subprocess.run(
                words, cwd=root, env=environment, stdout=subprocess.DEVNULL, check=True
            ),
            1,
        )

    yield Measure(BARE, lambda: starting(sys.executable, "-c", "pass"), _TURNS)
    yield Measure(VERSION, lambda: starting(command, "--version"), _TURNS)
    yield Measure(SHOW, lambda: starting(command, "show"), _TURNS)
