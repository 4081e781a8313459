"""WORKLOG.md and WORKLOG_ARCHIVE.md: what was done, told for those who come after, in both
directions.

The worklog has a status block and the index of decisions above the entries of each session; the
archive has the entries that a compaction moved there. `archive` is the same for the second file.
"""

from projections.worklog.adopting import adopt_bytes
from projections.worklog.document import NAME
from projections.worklog.rendering import RENDERER, intact, render

__all__ = ["NAME", "RENDERER", "adopt_bytes", "intact", "render"]
