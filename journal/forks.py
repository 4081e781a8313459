"""A fork may not find a call to SQLite in progress, nor a connection open.

SQLite has mutexes and a list of its file locks in each process. A child that inherits a held mutex
waits for it for ever, and one that inherits a connection believes in locks that only its parent
has. So every call goes through a gate. A fork closes the gate, waits until nobody is inside, closes
what is open, and both sides open it again when they want it.

Inside the gate nobody waits for a lock of ours: whoever holds it may be waiting at the gate.
"""

import os
import threading
from types import TracebackType
from weakref import ref


class Forkable:
    """Something that is told of forks."""

    def disconnect(self) -> None:
        """Before a fork, when nobody is inside the gate: close what is open."""

    def begin(self) -> None:
        """In the child: locks may belong to threads that are not here, make new ones."""


class Gate:
    """Lets any number of threads through, and any of them as often as it likes, until closed."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Be open, with nobody inside; in a child nobody is."""
        self._changed = threading.Condition()
        self._closed = False
        self._inside = 0
        self._own = threading.local()

    def __enter__(self) -> None:
        depth = getattr(self._own, "depth", 0)
        if not depth:
            with self._changed:
                while self._closed:
                    self._changed.wait()
                self._inside += 1
        self._own.depth = depth + 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        depth = getattr(self._own, "depth", 0)
        if not depth:
            return  # a child, which was forked inside
        self._own.depth = depth - 1
        if depth == 1:
            with self._changed:
                self._inside -= 1
                if self._closed:
                    self._changed.notify_all()

    def close(self) -> None:
        """Let nobody in any more, and wait until nobody but the caller is inside."""
        self.__enter__()
        with self._changed:
            while self._closed:
                self._inside -= 1  # two that fork at once would wait for each other
                self._changed.notify_all()
                self._changed.wait()
                self._inside += 1
            self._closed = True
            while self._inside > 1:
                self._changed.wait()

    def open(self) -> None:
        """Let them in again."""
        with self._changed:
            self._closed = False
            self._changed.notify_all()
        self.__exit__(None, None, None)


#: To be passed by every call to SQLite.
gate = Gate()
_watched: set[ref[Forkable]] = set()


def watch(thing: Forkable) -> None:
    """Have a thing told of forks for as long as it lives."""
    _watched.add(ref(thing, _watched.discard))


def _things() -> list[Forkable]:
    # A copy is made in one go; while a tuple grows, what is collected would drop out of the set.
    return [thing for each in _watched.copy() if (thing := each())]


def _before() -> None:
    gate.close()
    for thing in _things():
        thing.disconnect()


def _in_child() -> None:
    gate.begin()
    for thing in _things():
        thing.begin()


os.register_at_fork(before=_before, after_in_parent=gate.open, after_in_child=_in_child)
