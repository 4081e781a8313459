"""What people see: on terminals of any width, with any text and any number of things."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from command import good, run

from cli.screen import Cell, cells, fit, table

LONG = "a long story of what went wrong " * 12
WIDE = "漢字かな交じり文🙂" * 20


def seen(
    folder: Path,
    *args: str,
    columns: int = 80,
    env: dict[str, str] | None = None,
    command: Sequence[str] = ("-m", "passdown"),
) -> str:
    """What a terminal of that width is sent."""
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    kept = {
        name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")
    }
    process = subprocess.Popen(
        [sys.executable, *command, *args],
        cwd=folder,
        stdin=side,
        stdout=side,
        stderr=side,
        env={**kept, "TERM": "xterm-256color", **(env or {})},
    )
    os.close(side)
    sent = b""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:  # the terminal was hung up
            break
        if not part:
            break
        sent += part
    os.close(main)
    assert process.wait() == 0, sent
    return sent.decode().replace("\r\n", "\n")


def plain(text: str) -> str:
    """Without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def fill(folder: Path, items: int) -> None:
    """A project with so many things of every kind, each with more text than a line has room."""
    title = f"{LONG}{WIDE}"
    good(folder, "init", "shop", "--title", title, "--branch", LONG, "--step", WIDE, "--step", LONG)
    lines = [
        {"type": type, "data": {field: f"{n} {text}"}, "actor": f"{WIDE[:40]}"}
        for n in range(items)
        for text in (LONG, WIDE)
        for type, field in (
            ("finding.opened", "title"),
            ("decision.made", "title"),
            ("blocker.raised", "description"),
            ("task.added", "title"),
            ("question.opened", "text"),
            ("error.recorded", "message"),
            ("session.started", "name"),
        )
        if not (type == "session.started" and text is WIDE)
    ]
    for line in lines:
        if line["type"] == "session.started":
            line["data"] = {"name": f"session of {lines.index(line)}"}
    good(folder, "append", "-", stdin="\n".join(map(json.dumps, lines)).encode())


@pytest.mark.parametrize("columns", [40, 80, 120])
@pytest.mark.parametrize("items", [0, 1, 500])
def test_nothing_is_wider_than_the_terminal(tmp_path: Path, items: int, columns: int) -> None:
    """No line of show, log, projects and tokens is longer than the terminal, for any text."""
    fill(tmp_path, items)
    for args in (["show"], ["log"], ["projects"], ["tokens"]):
        for line in plain(seen(tmp_path, *args, columns=columns)).splitlines():
            assert cells(line) <= columns, (args, line)


def test_colours_are_for_terminals(tmp_path: Path) -> None:
    """A terminal gets colours, unless NO_COLOR is set; a pipe gets the same text without them."""
    good(tmp_path, "init", "shop")
    coloured = seen(tmp_path, "show", columns=160)
    assert "\x1b[" in coloured
    assert plain(coloured) == run(tmp_path, "show").out
    assert "\x1b[" not in seen(tmp_path, "show", columns=160, env={"NO_COLOR": "1"})


WAIT = """
import time
from cli.progress import progress
with progress("verifying", 4) as advance:
    for _ in range(4):
        time.sleep({})
        advance(1)
print("done")
"""


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_a_bar_for_whoever_waits(tmp_path: Path, columns: int) -> None:
    """What takes longer than a second shows a bar on a terminal, and nothing is left of it."""
    waited = seen(tmp_path, columns=columns, command=["-c", WAIT.format(0.8)])
    assert "verifying" in waited
    assert "75%" in waited
    assert waited.endswith("done\n")
    assert seen(tmp_path, columns=columns, command=["-c", WAIT.format(0.01)]) == "done\n"


def test_a_column_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """The widest column is cut until the table fits, the others stay whole."""
    monkeypatch.delenv("COLUMNS", raising=False)
    [line] = table([["1", Cell("x" * 500), "end"]])
    assert cells(line) == 160
    assert line.startswith("1  xxx")
    assert line.endswith("…  end")
    assert table([]) == []


@pytest.mark.parametrize("room", range(1, 30))
def test_text_that_fits(room: int) -> None:
    """A text cut to a width has that width at the most, also where a character takes two cells."""
    assert cells(fit(WIDE, room)) <= room
    assert cells(fit(LONG, room)) <= room
    assert fit("e\u0301", 1) == "e\u0301"


# -- log -------------------------------------------------------------------------------------


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A project in which two agents did something, one of them in a session."""
    good(tmp_path, "init", "shop")
    good(tmp_path, "session", "start", "night", "--host", "h-1", "-a", "ada")
    good(tmp_path, "step", "start", "1", "-a", "ada", "-s", "night")
    good(tmp_path, "step", "complete", "1", "-a", "ada", "-s", "h-1")
    good(tmp_path, "step", "start", "2", "-a", "bob", "--occurred", "2026-03-02T10:15:00Z")
    good(tmp_path, "finding", "open", "x", "-a", "bob")
    return tmp_path


FILTERS = {
    "--type step.*": [3, 4, 5],
    "--type step": [3, 4, 5],
    "--type step.started --type finding": [3, 5, 6],
    "--actor bob": [5, 6],
    "--step 1": [3, 4],
    "--session night": [2, 3, 4],
    "--session session-001": [2, 3, 4],
    "--session 1": [2, 3, 4],
    "--after 99999999999999999999": [],
    "--limit 99999999999999999999 --after 5": [6],
    "--until 2026-03-03": [5],
    "--since 1h": [1, 2, 3, 4, 6],
    "--since 2026-03-01 --until 2026-03-02T10:15:00Z": [5],
    "--type step --limit 1": [5],
    "--after 4": [5, 6],
    "--actor nobody": [],
}


@pytest.mark.parametrize("options", FILTERS)
def test_log_shows_what_is_asked_for(shop: Path, options: str) -> None:
    """Filters by type, actor, step, session and time, alone and together."""
    shown = good(shop, "log", "--json", *options.split()).out.splitlines()
    assert [json.loads(line)["version"] for line in shown] == FILTERS[options]


def test_log_follows(shop: Path) -> None:
    """`log --follow` shows what is recorded meanwhile, as it is recorded, until Ctrl-C."""
    command = [sys.executable, "-m", "passdown", "log", "-n", "1", "--follow", "--type", "finding"]
    following = subprocess.Popen(command, cwd=shop, stdout=subprocess.PIPE, text=True)
    assert following.stdout is not None
    try:
        assert "F001 opened" in following.stdout.readline()
        good(shop, "step", "complete", "2")
        good(shop, "finding", "open", "y")
        start = time.monotonic()
        assert "F002 opened" in following.stdout.readline()
        assert time.monotonic() - start < 30
    finally:
        following.send_signal(signal.SIGINT)
    assert following.wait() == 130
