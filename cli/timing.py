"""Logs: structured, on stderr, only when asked for."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

_loud = False


def configure(loud: bool) -> None:
    """Tell what was done and how long it took, or be quiet."""
    global _loud
    _loud = loud
    if loud:
        # 82 ms of import, so only for those who asked.
        import sys

        import structlog

        structlog.configure(
            processors=[
                structlog.processors.TimeStamper(fmt="iso"),
                structlog.processors.add_log_level,
                structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty()),
            ],
            logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        )


@contextmanager
def timed(event: str, **facts: str | int) -> Iterator[None]:
    """Log that something was done, and how long it took."""
    start = time.perf_counter()
    yield
    if _loud:
        import structlog

        took = round((time.perf_counter() - start) * 1000, 2)
        structlog.get_logger().info(event, ms=took, **facts)
