"""Events, rules, state and storage: the journal is the truth, every file is a view of it."""

from journal.errors import PassdownError
from journal.handle import Handle
from journal.journal import Journal
from journal.request import Appended, Request
from journal.state import Project, evolve, fold

__all__ = [
    "Appended",
    "Handle",
    "Journal",
    "PassdownError",
    "Project",
    "Request",
    "evolve",
    "fold",
]
