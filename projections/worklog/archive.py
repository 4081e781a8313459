"""WORKLOG_ARCHIVE.md: the entries that a compaction moved out of WORKLOG.md."""

from journal.request import Request
from journal.state import Project
from projections.worklog import adopting, rendering
from projections.worklog.document import ARCHIVE as NAME
from projections.worklog.rendering import RENDERER

__all__ = ["NAME", "RENDERER", "adopt_bytes", "intact", "render"]


def render(project: Project) -> bytes:
    """The archive of a state."""
    return rendering.render(project, NAME)


def intact(content: bytes) -> bool:
    """Whether bytes are an archive of a worklog at all; it answers for any bytes."""
    return rendering.intact(content, NAME)


def adopt_bytes(
    content: bytes,
    project: Project,
    path: str,
    *,
    base: Project | None = None,
    removals: bool = False,
    now: int,
    by: Request,
) -> list[Request]:
    """The requests by which a project comes to what an edited archive says."""
    return adopting.adopt_bytes(
        content, project, path, name=NAME, base=base, removals=removals, now=now, by=by
    )
