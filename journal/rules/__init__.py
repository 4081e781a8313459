"""When something may happen: `decide(project, proposal, by)` gives the events that it amounts to.

A proposal is an event with blanks. A rule fills the blanks from the state, returns nothing where
it is already so, and raises Rejected, NotFound or Invalid where it may not be. Rules read the
state and their arguments, nothing else: no clock, no ids, no files.
"""

from journal.rules.decide import cautions, decide, ruled
from journal.rules.names import named_paths, session_named, workspace_path
from journal.rules.project import check_steps
from journal.rules.redaction import check_redaction
from journal.rules.rule import By

__all__ = [
    "By",
    "cautions",
    "check_redaction",
    "check_steps",
    "decide",
    "named_paths",
    "ruled",
    "session_named",
    "workspace_path",
]
