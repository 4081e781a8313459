"""Getting back what was damaged: projections from the journal, the journal from its own pages."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from command import quick
from faults import CORRUPTIONS, PROJECT, corrupt, projections, status_of, write_settled

from journal import Journal
from journal.events import (
    DriftReverted,
    Event,
    FindingOpened,
    ProjectRecovered,
    QuestionOpened,
    RecoveredFile,
    TaskAdded,
)
from journal.handle import Handle
from journal.payload import decode
from journal.record import Record
from journal.salvage import salvage
from journal.workspace import Workspace, find
from projections.dialect import DIALECTS
from projections.files import FileState, inspect, sync

_PAGE = 4096
_TITLE = "fünf Sätze".encode()


class Place:
    """A workspace with one project, whose files are fresh."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # Of every dialect one file, also of those that only some projects usually have.
        every = "".join(f"[projections.{name}]\nenabled = true\n" for name in DIALECTS)
        (folder / "passdown.toml").write_text(every)
        self.journal = Journal.create(folder)
        self.workspace: Workspace = find(folder)
        self.handle: Handle = self.journal.open_project(PROJECT, title="Größenwächter – Süd")
        self.handle.open_finding("die Prüfung läuft über")
        self.handle.append(QuestionOpened("Wer übernimmt die Prüfung?"), TaskAdded("Prüfung"))
        self.sync()

    def sync(self, recover: bool = False, revert: bool = False) -> list[FileState]:
        """Bring the files up to date."""
        return sync(self.workspace, self.handle, recover=recover, revert=revert)

    def events(self) -> list[Event]:
        """What was recorded, in order."""
        return [decode(record.type, record.data) for record in self.handle.records()]

    def status(self, path: Path) -> str:
        """How one file stands."""
        return status_of(self.workspace, self.journal, path)

    def statuses(self) -> set[str]:
        """How the files stand, all together."""
        return {file.status for file in inspect(self.workspace, self.handle)}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A workspace with one project, whose files are fresh."""
    made = Place(tmp_path)
    yield made
    made.journal.close()


# -- projections -----------------------------------------------------------------------------


@pytest.mark.parametrize("ledger", ["with ledger", "without ledger"])
@pytest.mark.parametrize("kind", CORRUPTIONS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_damaged_file_comes_back_byte_for_byte(
    place: Place, dialect: str, kind: str, ledger: str
) -> None:
    """Damage is called by its name, undone to the byte and recorded, and its bytes are kept."""
    path = projections(place.folder)[dialect]
    before = path.read_bytes()
    damaged = corrupt(path, kind, random.Random(kind))
    if ledger == "without ledger":
        (place.workspace.folder / "ledger.json").unlink()
    status: Literal["missing", "corrupt"] = "missing" if damaged is None else "corrupt"
    assert place.status(path) == status

    found = {file.projection: file for file in place.sync(recover=True)}[dialect]

    assert path.read_bytes() == before
    assert (found.status, found.written, found.problem) == (status, True, "")
    assert place.events()[-1] == ProjectRecovered(
        "files", (RecoveredFile(found.path, status, found.kept),)
    )
    if damaged is not None:
        assert found.kept.startswith(os.path.join(".passdown", "lost"))
        assert (place.folder / found.kept).read_bytes() == damaged
    assert place.statuses() == {"fresh"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_stale_file_is_brought_up_to_date(place: Place, dialect: str) -> None:
    """A file of an earlier version is stale, and recovery records that it was replaced."""
    path = projections(place.folder)[dialect]
    old = path.read_bytes()
    place.handle.open_finding("noch eine Lücke")
    place.sync()
    new = path.read_bytes()
    write_settled(path, old)
    assert place.status(path) == "stale"

    place.sync(recover=True)

    assert path.read_bytes() == new
    assert [file.was for file in _recovered(place)[-1].files] == ["stale"]
    assert place.statuses() == {"fresh"}


def _recovered(place: Place) -> list[ProjectRecovered]:
    return [event for event in place.events() if isinstance(event, ProjectRecovered)]


def _edit(content: bytes) -> bytes:
    """What somebody might write into a file by hand."""
    edited = content.replace("Prüfung".encode(), b"Probe")
    edited = edited.replace("Größenwächter".encode(), b"Zwerg")
    assert edited != content
    return edited


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_edit_is_reported_and_left_alone(place: Place, dialect: str) -> None:
    """Neither sync nor recovery touches a file that somebody edited, nor records anything."""
    path = projections(place.folder)[dialect]
    edited = _edit(path.read_bytes())
    write_settled(path, edited)
    version = place.handle.state.version
    assert place.status(path) == "drifted"

    for recover in (False, True):
        found = {file.projection: file for file in place.sync(recover=recover)}[dialect]
        assert (found.status, found.written) == ("drifted", False)
        assert "edited outside Passdown" in found.problem

    assert path.read_bytes() == edited
    assert place.handle.state.version == version


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_edit_is_reverted_when_asked_and_kept(place: Place, dialect: str) -> None:
    """Reverting puts the journal's bytes back, records it, and keeps the edit aside."""
    path = projections(place.folder)[dialect]
    before = path.read_bytes()
    edited = _edit(before)
    write_settled(path, edited)

    found = {file.projection: file for file in place.sync(revert=True)}[dialect]

    assert path.read_bytes() == before
    assert place.events()[-1] == DriftReverted(found.path, found.kept)
    assert (place.folder / found.kept).read_bytes() == edited
    assert place.statuses() == {"fresh"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_old_file_that_was_cut_without_a_ledger(place: Place, dialect: str) -> None:
    """Half of what was written a while ago is no edit, though nothing says what it was."""
    path = projections(place.folder)[dialect]
    place.handle.open_finding("recorded and not yet written")
    corrupt(path, "halved", random.Random(1))
    (place.workspace.folder / "ledger.json").unlink()
    assert place.status(path) == "corrupt"
    place.sync(recover=True)
    assert place.statuses() == {"fresh"}


def test_ledger_and_cache_can_go_at_any_time(place: Place) -> None:
    """Without ledger and cache the state, the files and their standing are the same."""
    place.handle.append(*(FindingOpened(f"Lücke {n}") for n in range(400)))
    assert place.handle.state.version > 400
    place.sync()
    old = {path: path.read_bytes() for path in projections(place.folder).values()}
    cache = place.workspace.folder / "cache"
    assert cache.is_dir()
    for _ in range(2):
        state = place.handle.state
        shutil.rmtree(cache, ignore_errors=True)
        (place.workspace.folder / "ledger.json").unlink()
        with Journal.open(place.folder) as again:
            assert again.project(PROJECT).state == state
            assert {f.status for f in inspect(place.workspace, again.project(PROJECT))} == {"fresh"}
            sync(place.workspace, again.project(PROJECT))
        assert {path: path.read_bytes() for path in old} == old

    place.handle.open_finding("die letzte Lücke")
    (place.workspace.folder / "ledger.json").unlink()
    assert place.statuses() == {"stale"}, "the stamps alone must prove the files ours"
    place.sync()
    assert place.statuses() == {"fresh"}


# -- the journal -----------------------------------------------------------------------------


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    root = str(Path(__file__).parent.parent)
    env = {name: value for name, value in os.environ.items() if name != "PASSDOWN_JOURNAL"}
    return subprocess.run(
        [sys.executable, "-m", "passdown", *arguments],
        cwd=folder,
        env={**env, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture
def closed(tmp_path: Path) -> tuple[Path, list[Record]]:
    """A closed journal's file, and its records."""
    with Journal.create(tmp_path) as journal:
        handle = journal.open_project(PROJECT)
        for n in range(10):
            handle.append(*(FindingOpened(f"finding {n}-{m}, fünf Sätze") for m in range(20)))
        sync(find(tmp_path), handle)
        records = list(handle.records())
    assert not (tmp_path / ".passdown" / "journal.db-wal").exists()
    return tmp_path / ".passdown" / "journal.db", records


def _destroy(content: bytes, start: int) -> bytes:
    noise = random.Random(start).randbytes(_PAGE)
    return content[:start] + noise + content[start + _PAGE :]


def _middle_leaf(content: bytes) -> int:
    """Where the middle one of the pages is that records are on."""
    pages = range(_PAGE, len(content), _PAGE)
    leaves = [n for n in pages if content[n] == 0x0D and _TITLE in content[n : n + _PAGE]]
    return leaves[len(leaves) // 2]


def _salvaged(path: Path, records: list[Record], damaged: bytes) -> int:
    """Recover a damaged journal through the command; how many records came back."""
    folder = path.parent.parent
    path.write_bytes(damaged)
    assert _run(folder, "verify").returncode in (1, 7)
    assert path.read_bytes() == damaged

    done = _run(folder, "recover", "--journal")

    assert done.returncode == 0, done.stderr
    assert (folder / ".passdown" / "lost" / "journal-1" / "journal.db").read_bytes() == damaged
    with Journal.open(folder) as journal:
        *found, last = journal.project(PROJECT).records()
    assert found == records[: len(found)]
    recovered = decode(last.type, last.data)
    assert isinstance(recovered, ProjectRecovered)
    assert recovered.what == "journal"
    assert f"{len(found)} records salvaged" in done.stdout
    return len(found)


def test_without_its_header_page_every_record_is_salvaged(
    closed: tuple[Path, list[Record]],
) -> None:
    """Noise over the first page costs no record, and everything is well afterwards."""
    path, records = closed
    damaged = _destroy(path.read_bytes(), 0)
    assert _salvaged(path, records, damaged) == len(records)
    assert _run(path.parent.parent, "recover").returncode == 0
    assert _run(path.parent.parent, "verify").returncode == 0


def test_without_a_middle_page_the_records_before_it_are_salvaged(
    closed: tuple[Path, list[Record]],
) -> None:
    """Noise over a page of records costs those on it and after it, and no other."""
    path, records = closed
    content = path.read_bytes()
    start = _middle_leaf(content)
    before = sum(record.id.encode() in content[_PAGE:start] for record in records)
    count = _salvaged(path, records, _destroy(content, start))
    assert 0 < count < len(records)
    assert count <= before


def test_of_half_a_file_the_records_before_the_cut_are_salvaged(
    closed: tuple[Path, list[Record]],
) -> None:
    """A file cut in half gives back a prefix of its records."""
    path, records = closed
    content = path.read_bytes()
    assert 0 < _salvaged(path, records, content[: len(content) // 2]) < len(records)


@pytest.mark.parametrize("damage", ["flip", "zeroed frame", "header"])
def test_a_damaged_log_is_found_and_salvaged(tmp_path: Path, damage: str) -> None:
    """SQLite takes a bad frame for the end of its log, and would write over what is behind it:
    nothing is read or recorded then, and what was acknowledged is found."""
    with Journal.create(tmp_path) as journal:
        journal.open_project(PROJECT)
    child = os.fork()
    if child == 0:
        handle = Journal.open(tmp_path).project(PROJECT)
        for n in range(20):
            handle.open_finding(f"finding {n}")
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    wal = tmp_path / ".passdown" / "journal.db-wal"
    content = bytearray(wal.read_bytes())
    frame = 32 + (len(content) // 2 // (_PAGE + 24)) * (_PAGE + 24)
    match damage:
        case "flip":
            content[frame + 24 + _PAGE - 40] ^= 1
        case "zeroed frame":
            content[frame : frame + 24 + _PAGE] = bytes(24 + _PAGE)
        case _:
            content[17] ^= 1
    wal.write_bytes(content)
    (tmp_path / ".passdown" / "journal.db-shm").unlink(missing_ok=True)

    for command in (["verify"], ["show"], ["finding", "open", "over it"]):
        assert _run(tmp_path, *command).returncode == 7, command
    assert wal.read_bytes() == content
    done = _run(tmp_path, "recover", "--journal")
    assert done.returncode == 0, done.stderr
    with Journal.open(tmp_path) as journal:
        found = journal.project(PROJECT).state.open_findings
    expected = [f"finding {n}" for n in range(20)]
    assert list(found) == expected[: len(found)]
    assert len(found) >= (9 if damage == "flip" else 20 if damage == "header" else 9)


def test_the_longest_history_is_salvaged(tmp_path: Path) -> None:
    """A log of another continuation, which is shorter, does not hide the records of the file."""
    mine, other = tmp_path / "mine", tmp_path / "other"
    mine.mkdir()
    with Journal.create(mine) as journal:
        journal.open_project(PROJECT).open_finding("ours")
    shutil.copytree(mine, other)
    with Journal.open(mine) as journal:
        for n in range(8):
            journal.project(PROJECT).open_finding(f"mine {n}")
    child = os.fork()
    if child == 0:
        Journal.open(other).project(PROJECT).open_finding("theirs")
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    shutil.copy(other / ".passdown/journal.db-wal", mine / ".passdown/journal.db-wal")
    [found] = salvage(mine / ".passdown")
    assert len(found.records) == 10


def test_a_killed_salvage_loses_nothing(closed: tuple[Path, list[Record]]) -> None:
    """Kill -9 at any moment of `recover --journal`: the next one still finds every record."""
    path, records = closed
    folder, rng = path.parent.parent, random.Random(7)
    damaged = _destroy(path.read_bytes(), 0)
    for _ in range(40):
        path.write_bytes(damaged)
        child = os.fork()
        if child == 0:
            try:
                quick(folder, "recover", "--journal")
            finally:
                os._exit(0)
        time.sleep(rng.uniform(0, 0.05))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert quick(folder, "recover", "--journal").code == 0
        with Journal.open(folder) as journal:
            found = list(journal.project(PROJECT).records())
        assert found[: len(records)] == records
        assert list(path.parent.glob("journal.db.new*")) == []


_COMMANDS = (
    ("recover", "--journal"),
    ("recover",),
    ("verify",),
    ("sync",),
    ("show",),
    ("log",),
    ("projects",),
    ("init", PROJECT),
    ("finding", "open", "a new one"),
)


def test_no_command_puts_an_empty_journal_where_one_was_deleted(
    closed: tuple[Path, list[Record]],
) -> None:
    """With journal.db gone every command says so with exit code 6, and makes no new one."""
    path, _ = closed
    path.unlink()
    for command in _COMMANDS:
        done = _run(path.parent.parent, *command)
        assert done.returncode == 6, (command, done.stderr)
        assert done.stderr.strip()
        assert not path.exists(), command
        assert not (path.parent / "lost").exists(), command


def test_no_command_starts_anew_in_an_emptied_journal(
    closed: tuple[Path, list[Record]],
) -> None:
    """With journal.db emptied every command refuses with exit code 7, and leaves it empty."""
    path, _ = closed
    path.write_bytes(b"")
    for command in _COMMANDS:
        done = _run(path.parent.parent, *command)
        assert done.returncode == 7, (command, done.stderr)
        assert path.read_bytes() == b"", command


def test_a_sound_journal_is_not_rebuilt(closed: tuple[Path, list[Record]]) -> None:
    """Salvaging a journal that is well changes nothing."""
    path, _ = closed
    before = path.read_bytes()
    assert _run(path.parent.parent, "recover", "--journal").returncode == 0
    assert path.read_bytes() == before
    assert not (path.parent / "lost").exists()
