"""What the doctor finds, and that each fix it names mends it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from command import files, good, quick, run

from cli import exits


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A workspace with one project."""
    good(tmp_path, "init", "shop")
    return tmp_path


def examined(folder: Path) -> dict[str, Any]:
    """What the doctor says as data, with nothing written."""
    before = files(folder)
    path = {"PATH": f"{Path(__file__).parents[1]}/.venv/bin:{os.environ['PATH']}"}
    found: dict[str, Any] = quick(folder, "doctor", "--json", env=path).json
    assert files(folder) == before
    return found


def problems(folder: Path) -> dict[str, str]:
    """What is wrong, and how it is mended."""
    found = examined(folder)["findings"]
    return {each["what"]: each["fix"] for each in found if each["grade"] == "problem"}


def test_all_is_well(shop: Path) -> None:
    """A new project has no problem; that no host calls is a note."""
    found = examined(shop)
    assert found["ok"] is True
    assert problems(shop) == {}
    assert "no host calls Passdown here" in [each["what"] for each in found["findings"]]
    assert "To do:" in good(shop, "doctor").out


def test_nothing_at_all(tmp_path: Path) -> None:
    """Where there is no journal it says how to make one, and makes none."""
    said = good(tmp_path, "doctor").out
    assert "passdown init PROJECT" in said
    assert os.listdir(tmp_path) == []


def test_which_hooks_fired(shop: Path) -> None:
    """What is installed comes from the settings, what fired from the journal."""
    good(shop, "setup", "claude-code")
    hooks = {hook["event"]: hook for hook in examined(shop)["hooks"] if hook["installed"]}
    assert set(hooks) == {"SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd"}
    assert all(hook["fired"] is None for hook in hooks.values())
    told = json.dumps({"session_id": "abc", "cwd": str(shop), "source": "startup"}).encode()
    assert run(shop, "hook", "claude-code", "SessionStart", stdin=told).code == 0
    fired = {x["event"]: x["fired"] for x in examined(shop)["hooks"] if x["host"] == "claude-code"}
    assert fired["SessionStart"]
    assert fired["Stop"] is None


def test_hooks_of_which_some_are_gone(shop: Path) -> None:
    """A host that calls at some events only is a problem, and setup mends it."""
    good(shop, "setup", "codex")
    path = shop / ".codex/hooks.json"
    settings = json.loads(path.read_text())
    del settings["hooks"]["Stop"]
    path.write_text(json.dumps(settings))
    assert problems(shop) == {"Stop not in .codex/hooks.json": "passdown setup codex"}
    good(shop, "setup", "codex")
    assert problems(shop) == {}


def test_files_that_are_not_well(shop: Path) -> None:
    """A missing file is named with the command that restores it."""
    (shop / ".planning/STATE.md").unlink()
    assert problems(shop) == {".planning/STATE.md is missing": "passdown recover -p shop"}
    assert quick(shop, "doctor").code == exits.NOT_WELL
    good(shop, "recover", "-p", "shop")
    assert problems(shop) == {}


def test_a_damaged_journal(shop: Path) -> None:
    """Damage is named with the command that keeps what is readable."""
    journal = shop / ".passdown/journal.db"
    content = bytearray(journal.read_bytes())
    content[100:2000] = bytes(1900)
    journal.write_bytes(content)
    [(_, fix)] = problems(shop).items()
    assert fix == "passdown recover --journal"


def test_what_hooks_could_not_do(shop: Path) -> None:
    """A failure of a hook is on record where the doctor looks."""
    assert run(shop, "hook", "claude-code", "SessionStart", stdin=b"{").code == 0
    [said] = [x["what"] for x in examined(shop)["findings"] if x["about"] == "hook log"]
    assert "1 failures on record" in said
    assert "no valid JSON" in said
