"""A forked child has its parent's locks and connections, and may use none of them."""

import os
from typing import Protocol
from weakref import WeakSet


class Forked(Protocol):
    """Something that begins afresh in a child."""

    def after_fork(self) -> None:
        """Let go of what is the parent's."""


_watched: WeakSet[Forked] = WeakSet()


def watch(thing: Forked) -> None:
    """Have a thing told when it finds itself in a child."""
    _watched.add(thing)


def _tell() -> None:
    for thing in list(_watched):
        thing.after_fork()


os.register_at_fork(after_in_child=_tell)
