"""Resuming: what it costs to hold every file of an orchestration against what is there now."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path

from benchmarks import histories
from benchmarks.comparison import Comparison, Measure, timed
from benchmarks.histories import PROJECT
from cli.briefing import composed
from journal import Journal
from journal import events as e
from journal.workflows import generic, orchestration
from journal.workspace import Workspace
from projections.brief import fit
from projections.limits import BUDGET

_FILES = 5_000
#: Of so many, one is not as it was recorded.
_CHANGED = 50
_TURNS = 5
RESUME = f"resume with {_FILES:,} files"
LOOP = f"loop by hand: read and hash {_FILES:,} files"

COMPARISONS = (Comparison("resume", RESUME, "times", RESUME, LOOP),)


def prepare(folder: Path, open: ExitStack) -> Iterator[Measure]:
    """An orchestration whose first phase made every file, of 2 KB each, and is complete."""
    root = folder / "resume"
    with histories.create(root) as journal:
        flow = orchestration(generic(("Build", "Test")).steps)
        opened = e.ProjectOpened(
            PROJECT, flow.name, flow.steps, flow.policy, execution=flow.execution
        )
        handle = journal.handle(PROJECT)
        handle.append(opened)
        histories.fill(handle, _built(root))
        assert handle.state.files, "asking for the state is what caches it"
    paths = sorted(root.glob("src/*/*.py"))
    for path in paths[::_CHANGED]:
        path.write_bytes(b"changed\n")
    yield Measure(LOOP, lambda: timed(lambda n: _hash(paths), 1), _TURNS)
    yield Measure(RESUME, lambda: timed(lambda n: resume(root), 1), _TURNS)


def _built(root: Path) -> Iterator[e.Event]:
    yield e.StepStarted("1")
    for number in range(_FILES):
        path = f"src/part-{number % 50}/{number}.py"
        content = f"number = {number}\n".encode() * 128
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
        yield e.FilesChanged(path, "created", sha256(content).hexdigest(), step="1")
    yield e.StepCompleted("1")


def _hash(paths: Iterable[Path]) -> None:
    for path in paths:
        sha256(path.read_bytes()).hexdigest()


def resume(root: Path) -> str:
    """The brief as a new process would compose it."""
    with Journal.open(root) as journal:
        handle = journal.project(PROJECT)
        brief = composed(Workspace(root / ".passdown"), handle.state, handle=handle)
        assert len(brief.mismatches) == _FILES // _CHANGED
        return fit(brief, BUDGET)[1]
