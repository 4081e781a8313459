"""When the worklog has become too long: what could move into the archive, and who is to say so."""

import shlex

from journal.entities import Project, maintainer_of
from journal.worklog import compactable
from projections.leftovers import Object
from projections.narrative import pieces
from projections.worklog.document import form, is_above

#: The body of a worklog is to have no more lines than this.
MOST = 500


def length(project: Project) -> int:
    """How many lines a worklog has beside its status block and decision index."""
    return _length(form(project))


def proposal(project: Project) -> str | None:
    """One sentence that proposes a compaction; None where the worklog is not too long."""
    if project.coordination is None or not project.worklog:
        return None
    lines = length(project)
    if lines <= MOST:
        return None
    active = sum(each.archived is None for each in project.worklog.values())
    ready = len(compactable(project))
    so = f"WORKLOG.md has {lines:,} lines beside its status block and decision index, above {MOST}"
    if not ready:
        return (
            f"{so}, and none of its {active:,} entries can move into the archive: complete those "
            f"that are done with `passdown {_words(project, 'complete', 'ENTRY')}`"
        )
    words = _words(project, "compact", "--actor", maintainer_of(project))
    return (
        f"{so}: {ready:,} of its {active:,} entries are completed and can move into the archive; "
        f"the maintainer approves of that with `passdown {words}`"
    )


def _words(project: Project, *words: str) -> str:
    return shlex.join(("worklog", *words, "-p", project.slug))


def _length(document: Object) -> int:
    """The lines of what stands below title, status block and decision index."""
    lines, above = 0, True
    for piece in pieces(document):
        above = is_above(piece.name) if piece.name else above
        lines += 0 if above else piece.text.count("\n")
    return lines
