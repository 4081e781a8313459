"""A bar for whoever waits longer than a second."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

#: Whoever waits less long than this, in seconds, sees nothing.
_PATIENCE = 1.0


class _Bar:
    def __init__(self, what: str, total: int | None) -> None:
        self._what = what
        self._total = total
        self._done = 0
        self._shown: Progress | None = None
        self._over = False
        self._lock = threading.Lock()

    def show(self) -> None:
        # 50 ms of import, paid by those who have waited for a second already.
        from rich.console import Console
        from rich.progress import Progress

        with self._lock:
            if self._over:
                return
            self._shown = Progress(console=Console(stderr=True), transient=True)
            self._shown.add_task(self._what, total=self._total, completed=self._done)
            self._shown.start()

    def advance(self, by: int) -> None:
        self._done += by
        if self._shown is not None:
            self._shown.update(self._shown.task_ids[0], completed=self._done)

    def close(self) -> None:
        with self._lock:
            self._over = True
            if self._shown is not None:
                self._shown.stop()


@contextmanager
def progress(what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Call what this gives with how much more is done; a bar is shown on stderr, if that is a
    terminal and it takes long enough. Without a total it only shows that something goes on."""
    if not (sys.stderr and sys.stderr.isatty()):
        yield lambda by: None
        return
    bar = _Bar(what, total)
    timer = threading.Timer(_PATIENCE, bar.show)
    timer.daemon = True
    timer.start()
    try:
        yield bar.advance
    finally:
        timer.cancel()
        bar.close()
