"""A terminal that is drawn on as a whole, and is afterwards as it was before."""

import os
import select
import signal
import sys
import termios
import tty
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from cli import output

_ENTER = b"\x1b[?1049h\x1b[?25l"  # the other screen, without a cursor
_LEAVE = b"\x1b[?25h\x1b[?1049l"
#: What is noticed while one waits: another size, Ctrl-Z, and the way back from it.
_NOTICES = {signal.SIGWINCH: b"s", signal.SIGTSTP: b"z", signal.SIGCONT: b"c"}
_ENDING = (signal.SIGTERM, signal.SIGHUP)


class Drawing:
    """The screen while it is drawn on."""

    def __init__(self) -> None:
        self._shown: list[str] = []
        self._size = os.terminal_size((0, 0))
        self._noticed, self._notice = os.pipe()
        os.set_blocking(self._notice, False)
        self._keyboard = sys.stdin.fileno() if sys.stdin and sys.stdin.isatty() else None
        self._before: list[Any] = []

    @property
    def height(self) -> int:
        """How many lines there are."""
        return os.get_terminal_size(sys.stdout.fileno()).lines

    def show(self, lines: Sequence[str]) -> None:
        """Have these lines on the screen and nothing else; what is there already stays."""
        size = os.get_terminal_size(sys.stdout.fileno())
        if size == self._size and self._shown == lines:
            return
        self._shown, self._size = list(lines), size
        drawn = "\r\n".join(f"{line}\x1b[K" for line in lines)
        output.raw(f"\x1b[H{drawn}\x1b[J".encode(errors="backslashreplace"))

    def wait(self, seconds: float) -> bool:
        """Wait so long, or until something is noticed; False if somebody asked for the end."""
        watched = [self._noticed, *([] if self._keyboard is None else [self._keyboard])]
        ready, _, _ = select.select(watched, [], [], seconds)
        if self._noticed in ready:
            found = os.read(self._noticed, 4096)
            if b"z" in found:
                self._put_aside()
            elif b"c" in found:
                self.take()
        if self._keyboard is not None and self._keyboard in ready:
            pressed = os.read(self._keyboard, 64)
            return bool(pressed) and b"q" not in pressed
        return True

    def notice(self, number: int, frame: FrameType | None) -> None:
        """Wake whoever waits."""
        with suppress(BlockingIOError):  # so many are noticed already
            os.write(self._notice, _NOTICES[signal.Signals(number)])

    def take(self) -> None:
        """Take the screen, and have keys come one by one and unseen."""
        if self._keyboard is not None:
            self._before = self._before or termios.tcgetattr(self._keyboard)
            tty.setcbreak(self._keyboard)
        self._shown = []
        output.raw(_ENTER)

    def give_back(self) -> None:
        """Have the terminal as it was."""
        if self._keyboard is not None and self._before:
            termios.tcsetattr(self._keyboard, termios.TCSADRAIN, self._before)
        output.raw(_LEAVE)

    def _put_aside(self) -> None:
        """Stop, with the terminal as it was, until somebody wants to go on."""
        self.give_back()
        ours = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, ours)
        self.take()

    def close(self) -> None:
        """Let go of what only the drawing needed."""
        os.close(self._noticed)
        os.close(self._notice)


@contextmanager
def drawing() -> Iterator[Drawing]:
    """The screen for as long as it takes; however that ends, the terminal is as it was."""
    screen = Drawing()
    before = {number: signal.getsignal(number) for number in (*_ENDING, *_NOTICES)}
    try:
        for number in before:
            signal.signal(number, screen.notice if number in _NOTICES else _end)
        screen.take()
        yield screen
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        screen.give_back()
        screen.close()


def _end(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
