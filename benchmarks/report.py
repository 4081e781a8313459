"""The figures as a table for people, as JSON for machines, and as a page of the documentation."""

from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from benchmarks.comparison import Result
from benchmarks.machine import Machine

_BEGIN, _END = "<!-- figures: begin -->\n", "<!-- figures: end -->\n"
_HEADINGS = ("", "takes", "against", "takes", "ratio", "target", "")


class Report(Struct, frozen=True):
    """One run."""

    machine: Machine
    rounds: int
    results: list[Result]
    #: Peers that could not be measured.
    missing: tuple[str, ...] = ()
    #: Whether the source tree was measured instead of the installed wheel.
    source: bool = False


def as_json(report: Report) -> str:
    """The whole report; times are in seconds."""
    return msgspec.json.format(msgspec.json.encode(report), indent=2).decode()


def as_table(report: Report) -> str:
    """A table of fixed columns, and what it was measured on."""
    rows = [_HEADINGS, *(_cells(result) for result in report.results)]
    wide = [max(len(row[n]) for row in rows) for n in range(len(_HEADINGS))]
    lines = [
        "  ".join(
            cell.rjust(wide[n]) if n in (1, 3, 4, 5) else cell.ljust(wide[n])
            for n, cell in enumerate(row)
        ).rstrip()
        for row in rows
    ]
    return "\n".join((*lines, "", *_notes(report)))


def as_markdown(report: Report) -> str:
    """A table for a page, and what it was measured on."""
    rows = (_HEADINGS, ("---", "--:", "---", "--:", "--:", "--:", "---"))
    cells = (*rows, *(_cells(result) for result in report.results))
    table = "\n".join(f"| {' | '.join(row)} |" for row in cells)
    return "\n\n".join((table, *_notes(report))) + "\n"


def write_page(report: Report, page: Path) -> None:
    """Replace the figures on a page, between the two lines that mark them."""
    before, _, rest = page.read_text().partition(_BEGIN)
    _, _, after = rest.partition(_END)
    page.write_text(f"{before}{_BEGIN}\n{as_markdown(report)}\n{_END}{after}")


def _notes(report: Report) -> Iterable[str]:
    yield f"{report.rounds} rounds. {report.machine}."
    if report.source:
        yield "Measured on the source tree, not on the built wheel."
    if report.missing:
        yield (
            f"Not installed, so not measured: {', '.join(report.missing)} (`make bench PEERS=1`)."
        )


def _cells(result: Result) -> tuple[str, ...]:
    target = "" if result.target is None else _target(result)
    met = {None: "", True: "met", False: "missed"}[result.met]
    ratio = f"{result.figure:.1f} ms" if result.kind == "worst" else f"{result.figure:.2f}"
    took, against = _duration(result.seconds), _duration(result.against_seconds)
    if result.kind == "worst":
        return result.what, took, "", "", ratio, target, met
    return result.what, took, result.against, against, ratio, target, met


def _target(result: Result) -> str:
    match result.kind:
        case "share":
            return f"≥ {result.target:g}"
        case "times":
            return f"≤ {result.target:g}"
        case _:
            return f"< {result.target:g} ms"


def _duration(seconds: float) -> str:
    return f"{seconds * 1e6:.0f} µs" if seconds < 0.001 else f"{seconds * 1e3:.2f} ms"
