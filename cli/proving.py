"""`passdown verify FILE`: whether a file is the replay of the journal at the version it names."""

from pathlib import Path

from cli import exits, output
from cli.proofs import ProofAnswer
from cli.sealing import read_named
from journal import Journal
from projections import stamp
from projections.proving import Proving, prove, unstamped


def prove_file(journal: Journal, path: Path, project: str, as_json: bool) -> int:
    """Say whether a file, whatever it is called, is what its stamp says."""
    known = journal.project(project).slug if project else ""
    found = _proving(journal, read_named(path, "file"), known)
    ok = found.outcome == "proved"
    if as_json:
        output.document(_answer(path, found, ok))
    else:
        output.line(f"{path}: {found.outcome}: {found.what}")
        if found.difference:
            output.line(f"  line {found.difference.line}")
            output.line(f"    journal  {_shown(found.difference.ours)}")
            output.line(f"    file     {_shown(found.difference.theirs)}")
    return exits.OK if ok else exits.NOT_WELL


def _proving(journal: Journal, content: bytes, project: str) -> Proving:
    signed = stamp.read(content)
    if signed is None:
        return unstamped(content)
    if project not in ("", signed.project):
        return Proving("foreign", f"it was made from {signed.project}, not {project}", signed)
    if signed.project not in journal.projects():
        what = f"it was made from {signed.project}, which this journal does not have"
        return Proving("foreign", what, signed)
    return prove(content, journal.project(signed.project), signed)


def _answer(path: Path, found: Proving, ok: bool) -> ProofAnswer:
    signed = found.stamp
    return ProofAnswer(
        str(path),
        ok,
        found.outcome,
        found.what,
        signed.project if signed else "",
        signed.version if signed else None,
        signed.hash if signed else "",
        found.projection,
        signed.renderer if signed else None,
        found.difference,
    )


def _shown(line: str | None) -> str:
    """A line so that blanks at its end and control characters in it are seen."""
    return "(nothing: it has ended)" if line is None else repr(line)
