"""Measure the installed Passdown against its references: `make bench` runs this."""

import argparse
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import journal
from benchmarks import (
    appending,
    exchanging,
    large,
    loading,
    peers,
    processes,
    replaying,
    resuming,
    searching,
    starting,
)
from benchmarks.comparison import Comparison, Subject, Timing, compare, run
from benchmarks.machine import describe
from benchmarks.report import Report, as_json, as_markdown, as_table, write_page

SUBJECTS: tuple[Subject, ...] = (
    appending,
    peers,
    replaying,
    loading,
    large,
    exchanging,
    searching,
    resuming,
    processes,
    starting,
)


def main() -> int:
    """Run every comparison that was asked for, and say what it came to."""
    asked = _arguments()
    exchanging.RECORDS = asked.records
    source = not _is_installed()
    if source and not asked.source:
        print(
            f"the journal found here is {journal.__file__}, not an installed wheel; "
            "run `make bench`, or give --source to measure it all the same",
            file=sys.stderr,
        )
        return 2
    wanted = [each for each in _comparisons() if not asked.only or each.name in asked.only]
    with tempfile.TemporaryDirectory(prefix="passdown-bench-", dir=asked.folder) as folder:
        machine = describe(Path(folder))
        rounds = _measure(wanted, Path(folder), asked.rounds)
    results = [compare(each, rounds) for each in wanted]
    missing = () if asked.only else peers.MISSING
    report = Report(machine, len(rounds), results, missing, source)
    if asked.page:
        write_page(report, asked.page)
    form = as_json if asked.json else as_markdown if asked.markdown else as_table
    print(form(report))
    return 0


def _measure(wanted: list[Comparison], folder: Path, rounds: int) -> list[dict[str, Timing]]:
    """Prepare what is needed and no more, then measure it round by round."""
    names = {name for each in wanted for name in (each.measure, each.against)}
    measures = []
    with ExitStack() as open:
        for subject in SUBJECTS:
            if names.isdisjoint(_provided(subject)):
                continue
            _tell(f"preparing {subject.__name__.rpartition('.')[2]}")
            measures += [each for each in subject.prepare(folder, open) if each.name in names]
        done = []
        for timings in run(measures, rounds):
            done.append(timings)
            _tell(f"round {len(done)} of {rounds}")
        _tell("")
        return done


def _comparisons() -> list[Comparison]:
    return [each for subject in SUBJECTS for each in subject.COMPARISONS]


def _provided(subject: Subject) -> set[str]:
    """The measures of a subject: peers name a reference that is another's."""
    names = {each.measure for each in subject.COMPARISONS}
    return names if subject is peers else names | {each.against for each in subject.COMPARISONS}


def _is_installed() -> bool:
    """Whether what is measured lies in this interpreter's own packages."""
    return Path(journal.__file__ or "").resolve().is_relative_to(Path(sys.prefix).resolve())


def _tell(words: str) -> None:
    """Say on a terminal what is being done; the line is written over by the next."""
    if sys.stderr.isatty():
        print(f"\r\033[K{words}", end="", file=sys.stderr, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    names = [each.name for each in _comparisons()]
    parser.add_argument("--rounds", type=int, default=9, help="how often each is measured")
    parser.add_argument(
        "--only", nargs="+", choices=names, metavar="NAME", help=f"of {', '.join(names)}"
    )
    parser.add_argument(
        "--records",
        type=int,
        default=exchanging.RECORDS,
        help="how many records are exported, imported and verified",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print data")
    form.add_argument("--markdown", action="store_true", help="print a table for a page")
    parser.add_argument("--page", type=Path, help="also put the table into this page")
    # /tmp is often kept in memory, where durability costs nothing.
    parser.add_argument("--folder", default="/var/tmp", help="where journals are made")
    parser.add_argument("--source", action="store_true", help="measure what is not installed")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
