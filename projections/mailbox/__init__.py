"""MAILBOX.md: what agents of a workspace write each other, in both directions.

What waits for whom, what is open, each open message with all that was done about it, and a line for
each that is closed. Handwriting stays where it is, to the letter.
"""

from projections.mailbox.adopting import adopt_bytes
from projections.mailbox.document import NAME
from projections.mailbox.rendering import RENDERER, intact, render

__all__ = ["NAME", "RENDERER", "adopt_bytes", "intact", "render"]
