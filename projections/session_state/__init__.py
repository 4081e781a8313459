"""Session state v3.0: `agent-output/{project}/00-session-state.json`, in both directions.

The file is valid for its schema whatever agents recorded. A value that the schema forbids at its
place is left out there and stands under `_passdown.kept` instead: valid beats verbatim.
"""

from projections.session_state.adopting import ASIDE, adopt, adopt_bytes, preview
from projections.session_state.reading import Source, read
from projections.session_state.rendering import NAME, RENDERER, flat, form, intact, render

__all__ = [
    "ASIDE",
    "NAME",
    "RENDERER",
    "Source",
    "adopt",
    "adopt_bytes",
    "flat",
    "form",
    "intact",
    "preview",
    "read",
    "render",
]
