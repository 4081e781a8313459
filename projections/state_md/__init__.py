"""STATE.md: `.planning/STATE.md`, where a long initiative stands, in both directions.

The whole file is one YAML mapping in commented sections, always under 400 lines. Every value in it
follows from the state; what an adopted file says beyond that stays at its place for as long as the
state says there what it said on the day of adoption.
"""

from projections.state_md.adopting import ASIDE, adopt, adopt_bytes
from projections.state_md.document import NAME
from projections.state_md.progress import progress
from projections.state_md.reading import Source, read
from projections.state_md.rendering import RENDERER, intact, render, shown
from projections.state_md.writing import LINES

__all__ = [
    "ASIDE",
    "LINES",
    "NAME",
    "RENDERER",
    "Source",
    "adopt",
    "adopt_bytes",
    "intact",
    "progress",
    "read",
    "render",
    "shown",
]
