"""What agents are told to type works: the skill, and the section in AGENTS.md."""

import re
import shlex
import sys
from pathlib import Path

import pytest
import yaml
from command import finished, good, run

from cli import section, skill

PYTHON = sys.executable

SKILL = skill.content().decode()
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", SKILL, re.MULTILINE | re.DOTALL)
COMMANDS = [line for block in BLOCKS for line in block.splitlines()]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A workspace with one project, as an agent finds it."""
    good(tmp_path, "init", "shop")
    return tmp_path


def test_the_form_of_the_skill() -> None:
    """A host that reads skills understands it, and it costs an agent little."""
    _, front, text = SKILL.split("---\n", 2)
    facts = yaml.safe_load(front)
    assert set(facts) == {"name", "description"}
    assert facts["name"] == "passdown"
    assert len(facts["description"]) <= 1024
    assert len(SKILL.splitlines()) < 150
    assert not re.findall(r"`passdown ", text.replace("\n```", "")), "commands stand in blocks"


def test_every_moment_is_taught() -> None:
    """Step start, sub-step, step done, decision, finding, blocker and session close."""
    for words in (
        *("step start", "step checkpoint", "step complete", "decide", "finding open"),
        *("blocker raise", "session end", "resume"),
    ):
        assert any(line.startswith(f"passdown {words} ") for line in COMMANDS), words


def test_every_command_of_the_skill(shop: Path) -> None:
    """Typed one after the other into one shell, each succeeds and says nothing on stderr."""
    typed = shop / "typed.sh"
    typed.write_text("\n".join(("set -e", *COMMANDS)))
    path = shop / "bin"
    path.mkdir()
    (path / "passdown").write_text(f'#!/bin/sh\nexec {shlex.quote(PYTHON)} -m passdown "$@"\n')
    (path / "passdown").chmod(0o755)
    done = finished(["sh", "-c", f"PATH={shlex.quote(str(path))}:$PATH sh typed.sh"], shop)
    assert (done.code, done.err) == (0, ""), done
    state = good(shop, "show", "--json").json
    assert state["sessions"]["session-001"]["status"] == "ended"
    assert state["steps"]["2"]["status"] == "complete"
    records = good(shop, "log", "-n", "0", "--json").out.splitlines()
    assert all('"session":"night-shift"' in line for line in records[3:])


def test_every_command_of_the_section() -> None:
    """What AGENTS.md shows are commands that there are, with options that they have."""
    shown = re.findall(r"`(passdown [a-z][^`]*)`", section.write(None).replace("\n  ", " "))
    assert len(shown) >= 15
    for command in shown:
        words = shlex.split(command)[1:]
        options = [word for word in words if word.startswith("-")]
        names = words[: next((n for n, word in enumerate(words) if not word.islower()), None)]
        said = help_of(names)
        assert all(option in said for option in options), command


def help_of(names: list[str]) -> str:
    """The help of the command that the first of these words name."""
    for count in (2, 1):
        said = run(Path.cwd(), *names[:count], "--help")
        if said.code == 0 and len(names) >= count:
            return said.out
    raise AssertionError(f"there is no command {' '.join(names)}")
