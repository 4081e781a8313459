"""A fork may not find a call to SQLite in progress, nor a connection open.

SQLite has mutexes and a list of its file locks in each process. A child that inherits a held mutex
waits for it for ever, and one that inherits a connection believes in locks that only its parent
has. So what is open is closed before a fork, and opened again on both sides when it is wanted.
"""

import os
import threading
from collections.abc import Callable
from weakref import ref


class Forkable:
    """Something that is told of forks."""

    def hold(self) -> None:
        """Before a fork: let nothing be in progress, and keep it so."""

    def go_on(self) -> None:
        """After it, in the parent: let others in again."""

    def begin(self) -> None:
        """After it, in the child: locks may belong to threads that are not here, make new ones."""


_watched: set[ref[Forkable]] = set()
_forking = threading.RLock()
_held: list[Forkable] = []
_postponed: list[Callable[[], None]] = []


def watch(thing: Forkable) -> None:
    """Have a thing told of forks for as long as it lives."""
    _watched.add(ref(thing, _watched.discard))


def outside(call: Callable[[], None]) -> None:
    """Make a call to SQLite that no thing that is watched knows of: now, or after the fork that is
    going on. It never waits, because whoever calls may hold what the fork is waiting for."""
    if not _forking.acquire(blocking=False):
        _postponed.append(call)
        return
    try:
        call()
    finally:
        _forking.release()


def _before() -> None:
    _forking.acquire()
    _held.extend(thing for each in tuple(_watched) if (thing := each()))
    for thing in _held:
        thing.hold()


def _in_parent() -> None:
    for thing in _held:
        thing.go_on()
    _held.clear()
    while _postponed:
        _postponed.pop()()
    _forking.release()


def _in_child() -> None:
    global _forking
    for thing in _held:
        thing.begin()
    _held.clear()
    _forking = threading.RLock()


os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
