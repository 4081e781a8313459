"""What the doctor finds, and that each fix it names mends it."""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import bound_by_permissions, files, finished, good, quick, run

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


GONE = {
    "gone": "rm journal.db",
    "empty": ": > journal.db",
    "noise": "head -c 9000 /dev/urandom > journal.db",
    "a folder": "rm journal.db && mkdir journal.db",
    "another program's": 'rm journal.db && echo "$OTHER" | base64 -d > journal.db',
}


@pytest.mark.parametrize("backup", [True, False])
@pytest.mark.parametrize("script", GONE.values(), ids=GONE)
def test_a_journal_of_which_nothing_is_left(shop: Path, script: str, backup: bool) -> None:
    """Where nothing can be salvaged, a backup helps, or else what there is without a journal."""
    journal = shop / ".passdown/journal.db"
    content = journal.read_bytes()
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE other (x)")
    env = {"OTHER": b64encode(database.serialize()).decode()}
    done = finished(["sh", "-c", script], shop / ".passdown", env=env)
    assert done.code == 0, done
    [fix] = problems(shop).values()
    assert fix.startswith("put a backup of journal.db into .passdown; if there is none")
    assert fix.endswith("move .passdown away, then passdown adopt agent-output")
    if backup:
        if journal.is_dir():
            journal.rmdir()
        journal.write_bytes(content)
    else:
        (shop / ".passdown").rename(shop / "away")
        good(shop, "adopt", "agent-output")
        assert all("`passdown recover --drifted`" in fix for fix in problems(shop).values())
        good(shop, "recover", "--drifted")
    assert problems(shop) == {}


def test_a_foreign_file_that_was_a_journal(shop: Path) -> None:
    """Where its records are still in it, they are kept by the command that is named."""
    journal = shop / ".passdown/journal.db"
    journal.write_bytes(journal.read_bytes().replace(b"SQLite format 3", b"SQLite format 9", 1))
    [fix] = problems(shop).values()
    assert fix == "passdown recover --journal"
    good(shop, *fix.split()[1:])
    good(shop, "recover", "--drifted")
    assert problems(shop) == {}


def test_a_journal_of_a_newer_passdown(shop: Path) -> None:
    """It is well, and nothing here can read it."""
    with sqlite3.connect(shop / ".passdown/journal.db") as database:
        database.execute("PRAGMA user_version = 99")
    [fix] = problems(shop).values()
    assert fix == "upgrade passdown: pip install --upgrade passdown"


@pytest.mark.parametrize("lock", ["write.lock", "files.lock"])
def test_a_lock_that_is_none(shop: Path, lock: str) -> None:
    """What stands in the place of a lock keeps everything from being recorded."""
    path = shop / ".passdown" / lock
    path.unlink()
    path.mkdir()
    fix = f"move .passdown/{lock} away, it is made anew"
    assert problems(shop) == {f".passdown/{lock} is no regular file": fix}
    path.rmdir()
    good(shop, "finding", "open", "bad")
    assert problems(shop) == {}


@pytest.mark.parametrize("name", [".passdown", ".passdown/journal.db", ".passdown/write.lock"])
def test_what_may_not_be_written(shop: Path, name: str) -> None:
    """Everything can be read, and nothing can be recorded: that is not well."""
    path = shop / name
    mode = path.stat().st_mode
    path.chmod(0o555)
    done = run(shop, "doctor", before=bound_by_permissions)
    path.chmod(mode)
    assert done.code == exits.NOT_WELL
    assert f"{name} cannot be written" in done.out
    assert f"writing: make {name} writable for whoever runs passdown" in done.out


DISKS = {
    "full": "mount -t tmpfs -o size=700k tmpfs disk && cp -r shop/. disk; "
    "cat /dev/zero >disk/fill 2>/dev/null; cd disk",
    "mounted read-only": "mount --bind shop shop; mount -o remount,ro,bind shop; cd shop",
}
MOUNT = ["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]


@pytest.mark.skipif(
    subprocess.run(MOUNT, capture_output=True, check=False).returncode != 0,
    reason="a disk cannot be mounted here",
)
@pytest.mark.parametrize("disk", DISKS)
def test_a_disk_that_takes_nothing(tmp_path: Path, disk: str) -> None:
    """A full disk, and one that is mounted read-only, are seen without writing to them."""
    for name in ("shop", "disk"):
        (tmp_path / name).mkdir()
    good(tmp_path / "shop", "init", "shop")
    script = f'{DISKS[disk]} && "$0" -m passdown doctor'
    done = finished(["unshare", "-rm", "sh", "-c", script, sys.executable], tmp_path)
    assert done.code == exits.NOT_WELL, done
    assert re.search(rf"✗ +writing .*{disk}", done.out), done


def test_a_file_in_the_place_of_a_folder(shop: Path) -> None:
    """First it has to go, and then the command works."""
    shutil.rmtree(shop / "agent-output")
    (shop / "agent-output").touch()
    fix = "move agent-output away, which is no folder, then passdown recover -p shop"
    assert set(problems(shop).values()) == {fix}
    (shop / "agent-output").unlink()
    good(shop, "recover", "-p", "shop")
    assert problems(shop) == {}


def test_a_file_in_the_place_of_the_journal(tmp_path: Path) -> None:
    """A file called .passdown is in the way."""
    (tmp_path / ".passdown").touch()
    [fix] = problems(tmp_path).values()
    assert fix == "move .passdown away, which is no folder, then passdown init PROJECT"


def test_settings_that_cannot_be_read(shop: Path) -> None:
    """The journal is well; what is wrong are the settings, once for all projects."""
    good(shop, "init", "other")
    (shop / "passdown.toml").write_text("broken")
    [(what, fix)] = problems(shop).items()
    assert what.startswith("passdown.toml: ")
    assert fix == "mend passdown.toml, then passdown sync"
    found = {each["about"]: each["grade"] for each in examined(shop)["findings"]}
    assert found["journal"] == "well"


@pytest.mark.parametrize("place", ["nowhere/at/all", ""])
def test_a_place_that_is_not_there(shop: Path, place: str) -> None:
    """A PASSDOWN_JOURNAL that leads nowhere, and a folder that is gone, are findings too."""
    gone = "" if place else "mkdir gone && cd gone && rmdir ../gone && "
    script = f'{gone}"$0" -m passdown doctor --json'
    env = {"PASSDOWN_JOURNAL": str(shop / place)} if place else {}
    env["PYTHONPATH"] = str(Path(__file__).parents[1])
    done = finished(["sh", "-c", script, sys.executable], shop, env=env)
    assert done.code == exits.NOT_WELL, done
    [found] = [each for each in done.json["findings"] if each["grade"] == "problem"]
    assert found["about"] == "journal"
    assert "PASSDOWN_JOURNAL" in found["fix"]


def test_no_host_and_no_journal(shop: Path) -> None:
    """Of several ways to begin one is named that can be typed."""
    fixes = [x["fix"] for x in examined(shop)["findings"] if x["about"] == "hooks"]
    assert fixes == ["passdown setup claude-code"]
    good(shop, *fixes[0].split()[1:])
    shutil.rmtree(shop / ".passdown")
    [fix] = [x["fix"] for x in examined(shop)["findings"] if x["about"] == "journal"]
    assert fix == "passdown adopt agent-output"
    good(shop, *fix.split()[1:])


def test_what_hooks_could_not_do(shop: Path) -> None:
    """A failure of a hook is on record where the doctor looks."""
    assert run(shop, "hook", "claude-code", "SessionStart", stdin=b"{").code == 0
    [said] = [x["what"] for x in examined(shop)["findings"] if x["about"] == "hook log"]
    assert "1 failures on record" in said
    assert "no valid JSON" in said


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_log_that_is_none(shop: Path, make: Callable[[Path], None]) -> None:
    """What stands in the place of the log is not waited for, and has to go."""
    make(shop / ".passdown/hooks.log")
    [fix] = problems(shop).values()
    assert fix == "move .passdown/hooks.log away"
