"""Tables by event class whose parts are imported when first asked for.

What `events/step` can say is decided in `rules/step` and folded in `state/step`: the same word in
each place. A hook that only records a session imports none of the others.
"""

from importlib import import_module
from typing import TypeVar

from journal.events import VOCABULARY, Event

T = TypeVar("T")


class OnDemand(dict[type[Event], T]):
    """A table that is the sum of those in the modules of a package, one for each of the events'."""

    def __init__(self, package: str, table: str) -> None:
        self._package = package
        self._table = table

    def __missing__(self, event: type[Event]) -> T:
        module = import_module(f"{self._package}.{event.__module__.rpartition('.')[2]}")
        self.update(getattr(module, self._table))
        return self[event]

    def whole(self) -> frozenset[type[Event]]:
        """The classes that the whole table knows."""
        for event in VOCABULARY.values():
            self[event]
        return frozenset(self)
