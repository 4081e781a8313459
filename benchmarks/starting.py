"""Starting: the quickest commands, against an interpreter that does nothing."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from itertools import islice
from pathlib import Path

from benchmarks import histories
from benchmarks.comparison import Comparison, Measure, Timing, timed
from benchmarks.histories import PROJECT

BARE = "bare interpreter"
VERSION = "passdown --version"
SHOW = "passdown show"
HOOK = "passdown hook claude-code SessionStart"

COMPARISONS = (
    Comparison("version", "passdown --version", "times", VERSION, BARE, 2.5),
    Comparison("show", "passdown show", "times", SHOW, BARE, 11),
    Comparison("hook", "hook SessionStart, 100,000 records", "times", HOOK, BARE, 5),
)

_TURNS = 5
_LONG = 100_000


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
    hooked = folder / "hooked"
    with histories.create(hooked) as journal:
        histories.fill(journal.open_project(PROJECT), islice(histories.busy(), _LONG - 1))
    hook = partial(_hook, hooked, command, environment)
    hook()  # the first one makes everything ready for those that follow
    yield Measure(HOOK, hook, _TURNS)


def _hook(root: Path, command: str, environment: dict[str, str]) -> Timing:
    """One session that begins: recorded, with its brief; then wait for what it left to a child."""
    told = {"session_id": f"{time.time_ns()}", "cwd": str(root), "source": "startup"}
    words = (command, "hook", "claude-code", "SessionStart")
    begun = time.time_ns()
    taken = timed(
        lambda n: subprocess.run(
            words,
            cwd=root,
            env=environment,
            input=json.dumps(told).encode(),
            stdout=subprocess.DEVNULL,
            check=True,
        ),
        1,
    )
    ready = root / ".passdown/cache" / f"{PROJECT}.brief"
    while not ready.exists() or ready.stat().st_mtime_ns < begun:
        time.sleep(0.02)
    time.sleep(0.1)
    return taken
