"""active-session.md: the state of an orchestrated session, in both directions.

Front matter over a body in markdown. The front matter is one mapping in two forms, block YAML or
JSON; the body is ours part by part, and whatever somebody writes between the parts is kept.
"""

from projections.active_session.adopting import ASIDE, adopt, adopt_bytes
from projections.active_session.comparing import Side, sides
from projections.active_session.document import NAME
from projections.active_session.reading import Source, read
from projections.active_session.rendering import FORMS, RENDERER, intact, render

__all__ = [
    "ASIDE",
    "FORMS",
    "NAME",
    "RENDERER",
    "Side",
    "Source",
    "adopt",
    "adopt_bytes",
    "intact",
    "read",
    "render",
    "sides",
]
