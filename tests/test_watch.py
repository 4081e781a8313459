"""Watching a project: what is on the screen, as things happen, on a terminal of any size."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command import files, good, quick, run
from reporting import Clock, hostile
from strategies import MINUTE

from cli.board import Sight, beside, board
from cli.screen import cells
from journal import Journal, Project
from journal import events as e
from journal.clock import now
from journal.workflows import generic

ENTER, LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A workspace with one project."""
    good(tmp_path, "init", "shop")
    return tmp_path


class Terminal:
    """A terminal in which `passdown watch` runs."""

    def __init__(self, folder: Path, *args: str, columns: int = 80, lines: int = 24) -> None:
        self.main, self.side = pty.openpty()
        self.resize(columns, lines)
        self.before = termios.tcgetattr(self.side)
        kept = {x: os.environ[x] for x in os.environ if x not in ("COLUMNS", "LINES", "NO_COLOR")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "passdown", "watch", "--interval", "0.1", *args],
            cwd=folder,
            stdin=self.side,
            stdout=self.side,
            stderr=self.side,
            env={**kept, "TERM": "xterm-256color"},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        self.sent = ""

    def resize(self, columns: int, lines: int) -> None:
        """Give the terminal another size; whoever is in it is told."""
        fcntl.ioctl(self.main, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def type(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self.main, keys)

    def sends(self, seconds: float) -> bool:
        """Whether there is something to read from it by then."""
        poll = select.poll()  # it takes any descriptor, and a whole run of tests has many open
        poll.register(self.main, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def until(self, wanted: Callable[[str], bool], seconds: float = 20) -> str:
        """What is on the screen, once it is as wanted."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.sends(0.1):
                self.sent += os.read(self.main, 65536).decode(errors="replace")
            shown = self.screen()
            if wanted(shown):
                return shown
        raise AssertionError(f"not seen in {seconds} s: {self.sent[-3000:]!r}")

    def has(self, text: str) -> str:
        """What is on the screen, once a text is."""
        return self.until(lambda shown: text in shown)

    def screen(self) -> str:
        """The last whole screen that was drawn, without colours."""
        drawn = self.sent.rpartition("\x1b[J")[0].rpartition("\x1b[H")[2]
        return re.sub(r"\x1b\[[0-9;]*[mK]|\r", "", drawn)

    def end(self) -> int:
        """The exit code, once the process is over."""
        while self.process.poll() is None:
            self.until(lambda shown: True, 1)
        if self.sends(0.2):
            self.sent += os.read(self.main, 65536).decode(errors="replace")
        return self.process.wait(20)

    def close(self) -> None:
        """Let go of everything."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.main)
        os.close(self.side)


@pytest.fixture
def watching() -> Iterator[Callable[..., Terminal]]:
    """Opens terminals, and closes them all."""
    opened: list[Terminal] = []

    def watch(folder: Path, *args: str, columns: int = 80, lines: int = 24) -> Terminal:
        opened.append(Terminal(folder, *args, columns=columns, lines=lines))
        return opened[-1]

    yield watch
    for each in opened:
        each.close()


# -- on a terminal ---------------------------------------------------------------------------


def test_what_happens_is_seen(shop: Path, watching: Callable[..., Terminal]) -> None:
    """Steps, sessions, events and alarms are on the screen soon after they are recorded."""
    terminal = watching(shop)
    assert "No alarms" in terminal.has("Nobody is at work")
    good(shop, "session", "start", "night", "--actor", "coder")
    good(shop, "step", "start", "1", "--actor", "coder", "--session", "night")
    terminal.until(lambda shown: "coder  session-001" in shown and "step 1 started" in shown)
    good(shop, "blocker", "raise", "no quota in the region")
    assert "Alarms (1)" in terminal.has("blocker  block-001  no quota in the region")
    good(shop, "blocker", "resolve", "1")
    terminal.has("No alarms")


def test_files_and_journal_raise_alarms(shop: Path, watching: Callable[..., Terminal]) -> None:
    """A file that somebody changed is an alarm, and so is a journal that is not what it was."""
    terminal = watching(shop, columns=160)
    terminal.has("No alarms")
    (shop / ".planning/STATE.md").write_text("mine now\n")
    terminal.has(".planning/STATE.md  is not what was written; `passdown verify` says how")
    (shop / ".planning/STATE.md").unlink()
    terminal.has(".planning/STATE.md  is missing; `passdown recover` restores it")
    os.rename(shop / ".passdown/journal.db", shop / "elsewhere.db")
    terminal.has("journal  ")
    os.rename(shop / "elsewhere.db", shop / ".passdown/journal.db")
    terminal.until(lambda shown: "journal  " not in shown and "STATE.md" in shown)


def test_a_resize_is_followed(shop: Path, watching: Callable[..., Terminal]) -> None:
    """Another size of the terminal gives another screen, in which nothing is cut or wrapped."""
    terminal = watching(shop)
    terminal.has("Steps")
    for columns, lines in ((130, 30), (40, 12), (80, 24)):
        terminal.resize(columns, lines)
        marks = columns >= 110
        shown = terminal.until(
            lambda text, columns=columns, marks=marks: (  # type: ignore[misc]
                ("│" in text) == marks
                and max(map(cells, text.split("\n"))) in range(columns - 20, columns + 1)
            )
        )
        assert len(shown.split("\n")) <= lines


@pytest.mark.parametrize("key", [b"\x03", b"q"])
def test_the_terminal_is_left_as_it_was(
    shop: Path, watching: Callable[..., Terminal], key: bytes
) -> None:
    """After Ctrl-C, or q, the other screen, the cursor and the keyboard are back."""
    terminal = watching(shop)
    terminal.has("Steps")
    assert termios.tcgetattr(terminal.side) != terminal.before
    terminal.type(key)
    assert terminal.end() == 0
    assert terminal.sent.startswith(ENTER)
    assert terminal.sent.endswith(LEAVE)
    assert "Traceback" not in terminal.sent
    assert termios.tcgetattr(terminal.side) == terminal.before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_whoever_is_told_to_end_cleans_up(
    shop: Path, watching: Callable[..., Terminal], number: signal.Signals
) -> None:
    """Told to end from outside, it leaves the terminal as it was too."""
    terminal = watching(shop)
    terminal.has("Steps")
    terminal.process.send_signal(number)
    assert terminal.end() == 0
    assert terminal.sent.endswith(LEAVE)
    assert termios.tcgetattr(terminal.side) == terminal.before


def test_an_idle_screen_is_not_drawn_again(shop: Path, watching: Callable[..., Terminal]) -> None:
    """Where nothing happens and no second goes by, nothing is sent."""
    with Journal.open(shop / ".passdown", Clock()) as journal:
        journal.open_project("old", generic(("Build",)))
    terminal = watching(shop, "-p", "old")
    terminal.has("Steps")
    time.sleep(1)
    terminal.until(lambda shown: True, 1)
    assert terminal.sent.count("\x1b[H") == 1


# -- without a terminal ----------------------------------------------------------------------


def test_into_a_pipe_it_looks_once(shop: Path) -> None:
    """Without a terminal there is one look, as plain text, and that is all."""
    good(shop, "step", "start", "1")
    result = run(shop, "watch")
    assert result.code == 0
    assert "\x1b" not in result.out
    assert "step 1 started" in result.out
    assert run(shop, "watch", "--once").out.count("Newest") == 1


def test_as_data(shop: Path) -> None:
    """As data it has the alarms, who is at work, and the newest records."""
    good(shop, "session", "start", "night", "--actor", "coder")
    good(shop, "step", "start", "1", "--actor", "coder")
    good(shop, "step", "fail", "1", "no compiler", "--actor", "coder")
    answer = good(shop, "watch", "--json").json
    assert answer["alarms"] == [{"kind": "failed", "about": "step 1", "text": "no compiler"}]
    assert [each["actor"] for each in answer["at_work"]] == ["coder"]
    assert [each["version"] for each in answer["newest"]] == [1, 2, 3, 4]


def test_watching_changes_nothing(shop: Path) -> None:
    """A look leaves the workspace as it is."""
    (shop / ".planning/STATE.md").unlink()
    before = files(shop)
    run(shop, "watch", "--once")
    assert files(shop) == before


def test_a_damaged_journal_is_an_alarm(shop: Path) -> None:
    """Where the journal is damaged that is the first alarm."""
    good(shop, "finding", "open", "leak in the pipe")
    database = shop / ".passdown" / "journal.db"
    content = bytearray(database.read_bytes())
    content[content.index(b"leak in the pipe")] ^= 1
    database.write_bytes(content)
    without_cache(shop)
    first = quick(shop, "watch", "--json").json["alarms"][0]
    assert first["kind"] == "journal"
    assert "version 2 of shop" in first["text"]
    board_then = quick(shop, "watch", "--once").out
    assert "version 2 of shop is damaged" in board_then
    for unknown in ("version 0", "Next:", "Nobody is at work"):
        assert unknown not in board_then


def without_cache(folder: Path) -> None:
    """Take the cached states away."""
    for path in (folder / ".passdown" / "cache").glob("*"):
        path.unlink()


# -- the board -------------------------------------------------------------------------------


def sight(folder: Path, slug: str = "shop", later: int = 0) -> Sight:
    """A look at a project."""
    with Journal.open(folder / ".passdown") as journal:
        handle = journal.project(slug)
        return Sight(handle.state, list(handle.records()), (), now() + later)


def test_a_stale_session_is_an_alarm(tmp_path: Path) -> None:
    """A session with a task in hand and no progress for half an hour is told of."""
    clock = Clock()
    clock.now = now() - 47 * MINUTE
    with Journal.create(tmp_path, clock) as journal:
        handle = journal.open_project("shop", generic(("Build",)))
        handle.append(e.TaskAdded("write it", step="1"))
        handle.append(e.SessionStarted(name="night"), actor="coder")
        handle.append(e.TaskStarted("T001"), actor="coder", session="night")
    [alarm] = good(tmp_path, "watch", "--json").json["alarms"]
    assert alarm["kind"] == "stale"
    assert alarm["about"] == "session-001 of coder"
    assert alarm["text"] == "no progress for 47 minutes, with 1 task in hand"


@pytest.mark.parametrize("columns", [40, 80, 120, 200])
@pytest.mark.parametrize("lines", [10, 24, 50])
def test_no_text_is_too_much_for_the_board(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: int, lines: int
) -> None:
    """Whatever is in a project, no line is too wide, there are not too many, none steers."""
    hostile(tmp_path, 300).close()
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = board(sight(tmp_path, "hostile"), lines)
    assert len(shown) <= lines
    assert max(map(cells, shown)) <= columns
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202e\u2066]", "".join(shown))


def test_the_newest_events_fill_the_screen(tmp_path: Path) -> None:
    """The last event is at the bottom, with as many before it as there is room for."""
    with Journal.create(tmp_path, Clock()) as journal:
        handle = journal.open_project("shop", generic(("Build",)))
        handle.append(*(e.NextActionSet(f"thing {n}") for n in range(100)))
    shown = board(sight(tmp_path), 40)
    assert len(shown) == 40
    assert shown[-1].endswith("next: thing 99")


def test_columns_stand_beside_each_other() -> None:
    """The right column begins at the same cell, also where the left one is painted or shorter."""
    lines = list(beside(["\x1b[31mred\x1b[0m", "漢字"], ["a", "b", "c"], 6))
    assert lines == ["\x1b[31mred\x1b[0m    │ a", "漢字   │ b", "       │ c"]


def test_a_project_without_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    """A project of which nothing could be read still has a board."""
    monkeypatch.setenv("COLUMNS", "80")
    assert "shop, version 0" in board(Sight(Project("shop"), (), (), now()))[0]
