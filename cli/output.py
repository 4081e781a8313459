"""Printing. stdout is data only; whatever is said about it goes to stderr."""

import contextlib
import os
import sys

from projections.values import visible_json


class Undelivered(Exception):
    """stdout took no more: the reader has gone, the disk is full, or there is no stdout."""

    def __init__(self, error: OSError) -> None:
        super().__init__(error.strerror)
        self.reader_gone = isinstance(error, BrokenPipeError)


def line(text: str = "") -> None:
    """One line of output."""
    _write(f"{text}\n")


def document(value: object) -> None:
    """A JSON document on one line."""
    line(visible_json(value))


def raw(content: bytes) -> None:
    """Bytes as they are."""
    deliver()
    try:
        sys.stdout.buffer.write(content)
    except OSError as e:
        raise Undelivered(e) from e
    deliver()


def note(text: str) -> None:
    """One sentence beside the output."""
    with contextlib.suppress(OSError):  # there is nowhere left to complain to
        print(f"passdown: {text}", file=sys.stderr, flush=True)


def _write(text: str) -> None:
    try:
        sys.stdout.write(text)
    except OSError as e:
        raise Undelivered(e) from e


def deliver() -> None:
    """Make sure that what was printed has left the house."""
    try:
        sys.stdout.flush()
    except OSError as e:
        raise Undelivered(e) from e


def abandon() -> None:
    """Let what stdout still holds go nowhere: the interpreter would try once more, and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def prepare() -> None:
    """Text that the terminal cannot show is escaped, not a crash; a closed stream takes nothing."""
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def defect(error: BaseException) -> str:
    """What nobody foresaw, in words for whoever meets it."""
    return f"this is a defect in Passdown ({type(error).__name__}: {plain(str(error), 200)})"


def plain(text: str, limit: int = 0) -> str:
    """Text on one line, without anything that could steer a terminal; cut at `limit`."""
    shown = "".join(c if c.isprintable() else " " for c in text)
    shown = " ".join(shown.split())
    return shown if not limit or len(shown) <= limit else shown[: limit - 1] + "…"
