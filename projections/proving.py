"""Whether a file is the replay of the journal at the version that its stamp names.

    proved      rendered from that version now, the same bytes come out
    differs     other bytes come out: the file, or the journal, is not what it was
    redacted    other bytes come out, and what the file shows was redacted since: that is no drift
    renderer    another version of the renderer made it, which is not here to make it again
    unstamped   it does not say what it was made from
    foreign     it was made from another project
    ahead       the journal ends before that version
    forked      the journal has another record at that version
    unknown     it is none of the files that Passdown renders

It may have any name and be anywhere: which of the files it is, is found out by what is in it.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Literal, TypeAlias

from msgspec import Struct

from journal.handle import Handle
from journal.record import Record
from journal.state import Project, evolve
from projections import stamp
from projections.dialect import DIALECTS, TREES, Dialect
from projections.planning import TIMELESS
from projections.stamp import Stamp

Outcome: TypeAlias = Literal[
    "proved",
    "differs",
    "redacted",
    "renderer",
    "unstamped",
    "foreign",
    "ahead",
    "forked",
    "unknown",
]

#: So much of a line is shown.
_WIDE = 100


class Difference(Struct, frozen=True):
    """The first line that is not the same; null where one side has ended before."""

    line: int
    ours: str | None
    theirs: str | None


class Proving(Struct, frozen=True):
    """What came of it, in a sentence and as data."""

    outcome: Outcome
    what: str
    stamp: Stamp | None = None
    projection: str = ""
    difference: Difference | None = None


def prove(content: bytes, handle: Handle, signed: Stamp) -> Proving:
    """Hold a file with this stamp against the replay of its project."""
    made = f"version {signed.version} of {signed.project}"
    if signed.version == TIMELESS:
        return _prove_page(content, handle, signed)
    last = handle.version
    if signed.version > last:
        what = f"it was made from {made}, and the journal ends at version {last}"
        return Proving("ahead", what, signed)
    record = next(handle.records(signed.version - 1, signed.version))
    if record.hash.hex() != signed.hash:
        what = (
            f"it was made from {made} with the hash {signed.hash[:16]}…, and the journal has "
            f"another record there, {record.hash.hex()[:16]}…"
        )
        return Proving("forked", what, signed)
    found = _nearest(content, handle.at(signed.version), list(_candidates(content)))
    return _judged(content, handle, signed, made, found)


def unstamped(content: bytes) -> Proving:
    """What there is to say of a file without a stamp."""
    kinds = [each.name for each in DIALECTS.values() if each.intact(content)]
    kinds += [each.name for each in TREES.values() if each.intact(content)]
    if not kinds:
        return Proving("unknown", "it is no file that Passdown renders: it has no stamp")
    what = "it has no stamp, so that nothing says which state it shows"
    return Proving("unstamped", what, projection=kinds[0])


def first_redacted(records: Iterable[Record]) -> int | None:
    """The first of the records whose payload was taken out; what it said cannot be shown again."""
    return next((record.version for record in records if record.salt is None), None)


def _judged(
    content: bytes, handle: Handle, signed: Stamp, made: str, found: "_Rendering"
) -> Proving:
    """What follows from the rendering that is most like the file."""
    name = found.projection
    if found.content == content:
        what = f"it is {made} as {name}, byte for byte (hash {signed.hash[:16]}…)"
        return Proving("proved", what, signed, name)
    whole = stamp.holds(content)
    if found.renderer != signed.renderer:
        what = (
            f"it was made from {made} by number {signed.renderer} of the renderer of {name}, and "
            f"here is number {found.renderer}: what the other would write is not known here, so "
            "that nothing is proved"
        )
        since = "" if whole else "; by its own digest it was changed since it was written"
        return Proving("renderer", f"{what}{since}", signed, name)
    upto = signed.version if signed.version != TIMELESS else None
    if whole and (redacted := first_redacted(handle.records(upto=upto))):
        what = (
            f"it was made from {made}, of which version {redacted} was redacted since: it can no "
            "longer be replayed, and was not changed by hand as far as its own digest tells"
        )
        return Proving("redacted", what, signed, name)
    told = "though its own digest holds" if whole else "and by its own digest it was changed"
    what = f"it is not {made} as {name}, {told}"
    return Proving("differs", what, signed, name, difference(found.content, content))


# -- which file it is ------------------------------------------------------------------------


class _Rendering(Struct, frozen=True):
    """What a file should be, if it is of this projection."""

    projection: str
    renderer: int
    content: bytes


_Candidate: TypeAlias = tuple[Dialect, Callable[[Project], bytes]]


def _candidates(content: bytes) -> Iterator[_Candidate]:
    """The dialects that a file may be of, in each of their forms; all if it is like none."""
    alike = [dialect for dialect in DIALECTS.values() if dialect.intact(content)]
    for dialect in alike or DIALECTS.values():
        for render in dialect.forms.values() or (dialect.render,):
            yield dialect, render


def _nearest(content: bytes, project: Project, candidates: Iterable[_Candidate]) -> _Rendering:
    """The rendering that the file is, or else the one that it is like for longest."""
    found = [
        _Rendering(dialect.name, dialect.renderer, render(project))
        for dialect, render in candidates
    ]
    return max(found, key=lambda each: (each.content == content, _alike(each.content, content)))


def _alike(one: bytes, other: bytes) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def difference(ours: bytes, theirs: bytes) -> Difference:
    """The first line that is not the same, from where it is not if it is long."""
    mine, other = ours.split(b"\n"), theirs.split(b"\n")
    same = zip(mine, other, strict=False)
    at = next((n for n, (a, b) in enumerate(same) if a != b), min(len(mine), len(other)))
    pair = [lines[at] if at < len(lines) else None for lines in (mine, other)]
    start = max(_alike(*(line or b"" for line in pair)) - _WIDE // 4, 0)
    return Difference(at + 1, *(_excerpt(line, start) for line in pair))


def _excerpt(line: bytes | None, start: int) -> str | None:
    if line is None:
        return None
    start = start if len(line) > _WIDE else 0
    shown = line[start:].decode(errors="backslashreplace")
    cut = shown if len(shown) <= _WIDE else f"{shown[:_WIDE]}…"
    return f"…{cut}" if start else cut


# -- files that show one entry ---------------------------------------------------------------


def _prove_page(content: bytes, handle: Handle, signed: Stamp) -> Proving:
    """A file of a tree names no version, but the entry as it shows it: that is looked for."""
    made = f"an entry of {signed.project}"
    tree = next((tree for tree in TREES.values() if tree.intact(content)), None)
    if tree is None:
        return Proving("unknown", "its stamp names no version, and it is of no tree", signed)
    if tree.renderer != signed.renderer:
        return _judged(content, handle, signed, made, _Rendering(tree.name, tree.renderer, b""))
    for version, project in _moments(handle):
        for page in tree.pages(project).values():
            if page.source == signed.hash:
                made = f"an entry of {signed.project} at version {version}"
                found = _Rendering(tree.name, tree.renderer, page.render(project))
                return _judged(content, handle, signed, made, found)
    if stamp.holds(content) and first_redacted(handle.records()):
        return _judged(content, handle, signed, made, _Rendering(tree.name, tree.renderer, b""))
    what = f"{made} that is shown in such a way was never there, at no version"
    return Proving("forked", what, signed, tree.name)


def _moments(handle: Handle) -> Iterator[tuple[int, Project]]:
    """The state of now, and then each that there was, from the beginning."""
    now = handle.state
    yield now.version, now
    then = Project(handle.slug)
    for record in handle.records():
        evolve(then, record)
        yield then.version, then
