"""The file protocol: what is replaced is whole, what is foreign survives, what is equal is left."""

import os
import threading
import time
from pathlib import Path

import pytest
from faults import PROJECT, projections, write_settled

from journal import Handle, Journal
from journal.errors import JournalUnavailable
from journal.workspace import Workspace, find
from projections import atomic
from projections.files import inspect, sync


class Desk:
    """A workspace with one project, whose files are fresh."""

    def __init__(self, folder: Path) -> None:
        self.journal = Journal.create(folder)
        self.app: Handle = self.journal.open_project(PROJECT)
        self.workspace: Workspace = find(folder)
        self.sync()
        self.state = projections(folder)["session-state"]

    def sync(self) -> None:
        """Bring the files up to date."""
        sync(self.workspace, self.app)

    def statuses(self) -> set[str]:
        """How the files stand."""
        return {file.status for file in inspect(self.workspace, self.app)}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A workspace with one project, whose files are fresh."""
    return Desk(tmp_path)


def test_a_file_that_would_not_change_is_not_touched(desk: Desk) -> None:
    """A sync that has nothing to say leaves inode and time as they are."""
    before = desk.state.stat()
    desk.sync()
    after = desk.state.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert not desk.state.with_name("00-session-state.json.bak").exists()


def test_what_was_displaced_is_the_backup(desk: Desk) -> None:
    """Beside a file stands the version before it."""
    before = desk.state.read_bytes()
    desk.app.start_step("1")
    desk.sync()
    assert desk.state.read_bytes() != before
    assert desk.state.with_name("00-session-state.json.bak").read_bytes() == before


def test_the_mode_stays(desk: Desk) -> None:
    """A file keeps the permissions that somebody gave it."""
    desk.state.chmod(0o640)
    desk.app.start_step("1")
    desk.sync()
    assert desk.state.stat().st_mode & 0o7777 == 0o640


def test_leftovers_of_a_crash_are_removed(desk: Desk) -> None:
    """The next write clears the temporary files of one that was killed, and nothing else."""
    ours = desk.state.with_name(".00-session-state.json.passdown-0123456789abcdef")
    theirs = desk.state.with_name(".00-session-state.json.swp")
    ours.write_bytes(desk.state.read_bytes())
    theirs.write_bytes(b"an editor's")
    desk.app.start_step("1")
    desk.sync()
    assert not ours.exists()
    assert theirs.exists()


def test_a_link_inside_the_workspace_is_followed(desk: Desk, tmp_path: Path) -> None:
    """The file that a link leads to is written, and the link stays a link."""
    real = tmp_path / "state.json"
    desk.state.rename(real)
    desk.state.symlink_to(real)
    desk.app.start_step("1")
    desk.sync()
    assert desk.state.is_symlink()
    assert b'"current_step": 1' in real.read_bytes()
    assert desk.statuses() == {"fresh"}


def test_a_link_out_of_the_workspace_is_not_followed(
    desk: Desk, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What lies outside is neither read nor written, and the answer says why."""
    outside = tmp_path_factory.mktemp("outside") / "theirs.json"
    outside.write_bytes(b"theirs")
    desk.state.unlink()
    desk.state.symlink_to(outside)
    desk.app.start_step("1")
    [problem] = [file.problem for file in sync(desk.workspace, desk.app) if file.problem]
    assert "leads out of the workspace" in problem
    assert outside.read_bytes() == b"theirs"


def test_an_edit_between_look_and_write_survives(tmp_path: Path) -> None:
    """If the target is not what was expected, it stands there again and nobody has seen less."""
    target = tmp_path / "file"
    target.write_bytes(b"edited")
    with pytest.raises(atomic.Displaced):
        atomic.replace(target, b"ours", b"expected", None)
    with pytest.raises(atomic.Displaced):
        atomic.replace(target, b"ours", None, None)
    assert target.read_bytes() == b"edited"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("exchange", [atomic.exchange, atomic.exchange_by_links])
def test_two_files_are_exchanged(tmp_path: Path, exchange: atomic.Exchange) -> None:
    """Both ways of exchanging two files end the same, and leave nothing behind."""
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b"1")
    other.write_bytes(b"2")
    exchange(one, other)
    assert (one.read_bytes(), other.read_bytes()) == (b"2", b"1")
    assert sorted(os.listdir(tmp_path)) == ["one", "other"]


def test_no_edit_is_lost_to_a_race(desk: Desk) -> None:
    """Of 100 edits against a writer each is found: in the file, its backup, or set aside."""
    edits = [b'{"schema_version":"3.0","project":"p","steps":{},"n":%d}' % n for n in range(100)]
    done = threading.Event()

    def edit() -> None:
        for content in edits:
            write_settled(desk.state, content)
            while desk.state.read_bytes() == content and not done.is_set():
                sync(desk.workspace, desk.app, revert=True)
        done.set()

    editor = threading.Thread(target=edit)
    editor.start()
    n = 0
    while editor.is_alive():
        n += 1
        desk.app.open_finding(f"finding {n}")
        desk.sync()
    editor.join()
    kept = {path.read_bytes() for path in (desk.workspace.folder / "lost").iterdir()}
    kept |= {path.read_bytes() for path in desk.state.parent.glob("00-session-state.json*")}
    assert [content for content in edits if content not in kept] == []
    sync(desk.workspace, desk.app, revert=True)
    assert desk.statuses() == {"fresh"}
    assert n > 0


@pytest.mark.parametrize("content", [b"# My own notes\n", b"{}", b"\xff\xfe binary \0"])
def test_a_file_that_was_there_first_is_left_alone(tmp_path: Path, content: bytes) -> None:
    """What somebody put at a projection's path before we ever wrote there is theirs."""
    mine = tmp_path / "agent-output" / PROJECT / "00-handoff.md"
    mine.parent.mkdir(parents=True)
    write_settled(mine, content)
    desk = Desk(tmp_path)
    assert mine.read_bytes() == content
    assert desk.statuses() == {"fresh", "corrupt"}
    sync(desk.workspace, desk.app, recover=True)
    assert desk.statuses() == {"fresh"}
    assert [kept.read_bytes() for kept in (tmp_path / ".passdown/lost").iterdir()] == [content]


def test_a_file_from_the_future_keeps_nobody_waiting(desk: Desk) -> None:
    """A damaged file whose time lies ahead, as when clocks differ, is judged all the same."""
    desk.state.write_bytes(b"")
    os.utime(desk.state, (time.time() + 3600,) * 2)
    start = time.monotonic()
    assert desk.statuses() == {"fresh", "corrupt"}
    assert time.monotonic() - start < 30


def test_what_a_killed_writer_displaced_is_kept(desk: Desk) -> None:
    """Killed between exchange and backup, the temporary file is somebody's edit, and survives."""
    edit = b'{"somebody": "wrote this"}'
    desk.state.with_name(".00-session-state.json.passdown-0123456789abcdef").write_bytes(edit)
    desk.app.start_step("1")
    desk.sync()
    assert [kept.read_bytes() for kept in (desk.workspace.folder / "lost").iterdir()] == [edit]


def test_a_file_ahead_of_the_journal_is_kept(desk: Desk) -> None:
    """After an older journal was restored, the files that know more are not overwritten."""
    journal = desk.workspace.folder / "journal.db"
    desk.journal.close()
    old = journal.read_bytes()
    with Journal.open(desk.workspace.folder) as later:
        later.project(PROJECT).open_finding("found since the backup")
        sync(desk.workspace, later.project(PROJECT))
    newer = desk.state.read_bytes()
    journal.write_bytes(old)
    with Journal.open(desk.workspace.folder) as restored:
        app = restored.project(PROJECT)
        assert {file.status for file in inspect(desk.workspace, app)} == {"ahead"}
        app.start_step("1")
        found = sync(desk.workspace, app)
        assert all("records that the journal does not have" in file.problem for file in found)
        assert desk.state.read_bytes() == newer
        assert {file.status for file in sync(desk.workspace, app, revert=True)} == {"ahead"}
        assert {file.status for file in inspect(desk.workspace, app)} == {"fresh"}
    assert newer in {kept.read_bytes() for kept in (desk.workspace.folder / "lost").iterdir()}


def test_a_reverted_edit_is_recorded_even_without_a_ledger(desk: Desk) -> None:
    """What was done to a file is in the journal before the shortcuts are brought up to date."""
    ledger = desk.workspace.folder / "ledger.json"
    ledger.unlink()
    ledger.mkdir()
    write_settled(desk.state, desk.state.read_bytes().replace(b'"branch": ""', b'"branch": "x"'))
    with pytest.raises(JournalUnavailable):
        sync(desk.workspace, desk.app, revert=True)
    assert [record.type for record in desk.app.records()][-1] == "projection.drift_reverted"


@pytest.mark.parametrize("aim", [".passdown/journal.db", "main.py"])
def test_a_link_to_something_else_is_not_written_through(
    desk: Desk, tmp_path: Path, aim: str
) -> None:
    """A file that was replaced by a link does not lead us to overwrite what is not ours."""
    desk.journal.close()
    (tmp_path / "main.py").write_text("print('mine')")
    before = (tmp_path / aim).read_bytes()
    desk.state.unlink()
    desk.state.symlink_to(tmp_path / aim)
    with Journal.open(tmp_path) as journal:
        [problem] = [f.problem for f in sync(desk.workspace, journal.project(PROJECT)) if f.problem]
    assert "link" in problem or "not Passdown's" in problem
    assert (tmp_path / aim).read_bytes() == before


def test_an_edit_that_breaks_the_syntax_is_an_edit(desk: Desk) -> None:
    """What still ends in our stamp was not cut off, and is left to whoever is at work on it."""
    edited = desk.state.read_bytes().replace(b'"region": ""', b'"region": "my careful edit",')
    write_settled(desk.state, edited)
    desk.app.start_step("1")
    desk.sync()
    assert desk.state.read_bytes() == edited
    assert "drifted" in desk.statuses()
