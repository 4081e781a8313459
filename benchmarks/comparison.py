"""Measures, and the ratios between them that are worth knowing.

Each round runs every measure, one after the other, and the short ones several times in turn, so
that a ratio compares two figures of the same moments: a disk that is slow for a while is slow for
both.
"""

import gc
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import mean, median
from typing import Literal, Protocol

from msgspec import Struct


class Timing(Struct, frozen=True):
    """Seconds that one operation took, on average and at worst."""

    each: float
    worst: float


class Measure(Struct, frozen=True):
    """Something that can be timed again and again."""

    name: str
    run: Callable[[], Timing]
    #: How often in a round.
    turns: int = 1


class Comparison(Struct, frozen=True):
    """One measure against another.

    share  how much of the reference's speed is reached; more is better
    times  how many times as long as the reference it takes; less is better
    worst  the longest single operation of all rounds, in milliseconds
    """

    name: str
    what: str
    kind: Literal["share", "times", "worst"]
    measure: str
    against: str
    target: float | None = None


class Result(Struct, frozen=True):
    """What a comparison came to: medians of all rounds, times in seconds."""

    name: str
    what: str
    kind: str
    measure: str
    seconds: float
    against: str
    against_seconds: float
    figure: float
    target: float | None
    met: bool | None


class Subject(Protocol):
    """A module of measures that share their journals."""

    __name__: str

    @property
    def COMPARISONS(self) -> tuple[Comparison, ...]:
        """What it compares, in the order of the table."""

    def prepare(self, folder: Path, open: ExitStack) -> Iterable[Measure]:
        """Make what the measures need; whatever is open closes with the stack."""


def timed(work: Callable[[int], object], count: int) -> Timing:
    """The time of one call, from so many; each is told its number."""
    total = worst = 0.0
    for n in range(count):
        start = time.perf_counter()
        work(n)
        took = time.perf_counter() - start
        total += took
        worst = max(worst, took)
    return Timing(total / count, worst)


def run(measures: Iterable[Measure], rounds: int) -> Iterator[dict[str, Timing]]:
    """The timings of every round."""
    measures = list(measures)
    turns = max(measure.turns for measure in measures)
    for _ in range(rounds):
        gc.collect()  # no round pays for the garbage of the one before
        timings: dict[str, list[Timing]] = {measure.name: [] for measure in measures}
        for turn in range(turns):
            for measure in measures:
                if turn < measure.turns:
                    timings[measure.name].append(measure.run())
        yield {name: _together(each) for name, each in timings.items()}


def _together(timings: list[Timing]) -> Timing:
    return Timing(mean(each.each for each in timings), max(each.worst for each in timings))


def compare(comparison: Comparison, rounds: list[dict[str, Timing]]) -> Result:
    """A comparison over all rounds: the median of each round's own ratio."""
    ours = [timings[comparison.measure] for timings in rounds]
    theirs = [timings[comparison.against] for timings in rounds]
    pairs = list(zip(ours, theirs, strict=True))
    target = comparison.target
    match comparison.kind:
        case "share":
            figure = median(reference.each / own.each for own, reference in pairs)
            met = target is None or figure >= target
        case "times":
            figure = median(own.each / reference.each for own, reference in pairs)
            met = target is None or figure <= target
        case "worst":
            figure = max(own.worst for own in ours) * 1000
            met = target is None or figure < target
    return Result(
        comparison.name,
        comparison.what,
        comparison.kind,
        comparison.measure,
        median(own.each for own in ours),
        comparison.against,
        median(reference.each for reference in theirs),
        figure,
        target,
        None if target is None else met,
    )
