"""WORKLOG_ARCHIVE.md: the entries that a compaction moved out of WORKLOG.md."""

from functools import partial

from projections.worklog import adopting, rendering
from projections.worklog.document import ARCHIVE as NAME
from projections.worklog.rendering import RENDERER

__all__ = ["NAME", "RENDERER", "adopt_bytes", "intact", "render"]

render = partial(rendering.render, name=NAME)
intact = partial(rendering.intact, name=NAME)
adopt_bytes = partial(adopting.adopt_bytes, name=NAME)
