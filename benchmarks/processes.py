"""Several processes that append at once: to one project, where they contend, or to one each."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path

from benchmarks import histories
from benchmarks.comparison import Comparison, Measure, Timing

ONE = "1 process: command"
FOUR = "4 processes: command"
EIGHT = "8 processes: command"
FOUR_APART = "4 processes, a project each: command"
EIGHT_APART = "8 processes, a project each: command"

COMPARISONS = (
    Comparison("four", "4 processes, one project", "share", FOUR, ONE, 0.75),
    Comparison("four-apart", "4 processes, a project each", "share", FOUR_APART, ONE),
    Comparison("eight", "8 processes, one project", "share", EIGHT, ONE),
    Comparison("eight-apart", "8 processes, a project each", "share", EIGHT_APART, ONE),
    Comparison("worst-four", "worst append of 4 × 100, one project", "worst", FOUR, ONE),
    Comparison("worst-eight", "worst append of 8 × 100, one project", "worst", EIGHT, ONE, 50),
    Comparison("worst-apart", "worst append of 8 × 100, a project each", "worst", EIGHT_APART, ONE),
)

_APPENDS = 100


def prepare(folder: Path, open: ExitStack) -> Iterator[Measure]:
    """One journal, in which every run has projects of its own."""
    root = folder / "processes"
    histories.create(root).close()
    runs = count(1)

    def together(size: int) -> Timing:
        return _run(root, [f"run-{next(runs)}"] * size)

    def apart(size: int) -> Timing:
        return _run(root, [f"run-{next(runs)}" for _ in range(size)])

    yield Measure(ONE, lambda: together(1))
    yield Measure(FOUR, lambda: together(4))
    yield Measure(FOUR_APART, lambda: apart(4))
    yield Measure(EIGHT, lambda: together(8))
    yield Measure(EIGHT_APART, lambda: apart(8))


def _run(root: Path, projects: list[str]) -> Timing:
    """Start a process for each project named, let all begin at once, and wait for the last."""
    script = str(Path(__file__).with_name("appender.py"))
    with ExitStack() as running:
        started = [
            running.enter_context(
                subprocess.Popen(
                    [sys.executable, script, str(root), project, f"agent-{n}", str(_APPENDS)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            for n, project in enumerate(projects)
        ]
        for process in started:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n", "a process did not start"
        for process in started:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        said = [json.loads(process.communicate()[0]) for process in started]
    begun, ended, worst = zip(*said, strict=True)
    return Timing((max(ended) - min(begun)) / (_APPENDS * len(projects)), max(worst))
