"""TURNFILE.yaml: who is doing what in a workspace that agents share, in both directions.

One YAML document under the strictness rules of the format: its keys, its words, its order, and no
reference that leads nowhere. What a file says beyond that stays in the journal, and stands below
as a comment.
"""

from projections.turnfile.adopting import adopt_bytes
from projections.turnfile.document import DONE, NAME, SIGNALS, own, shown
from projections.turnfile.reading import read
from projections.turnfile.rendering import RENDERER, intact, render

__all__ = [
    "DONE",
    "NAME",
    "RENDERER",
    "SIGNALS",
    "adopt_bytes",
    "intact",
    "own",
    "read",
    "render",
    "shown",
]
