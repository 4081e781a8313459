"""The faults that a journal and its files must survive, for the tests and for the soak.

Whoever calls gives the random numbers, so that a failure can be repeated from its seed.
"""

import ctypes  # noqa: F401  # loaded before the forks, which then import nothing while they run
import os
import random
import re
import signal
import time
from collections import Counter
from itertools import count
from pathlib import Path

import yaml  # noqa: F401

from journal import Journal, Project
from journal.audit import audit
from journal.errors import JournalError
from journal.events import FindingOpened
from journal.payload import decode
from journal.record import Record
from journal.sqlite import SqliteStore
from journal.store import Flaw, Head
from journal.workspace import Workspace, find
from projections import stamp
from projections.files import inspect, sync
from projections.settings import targets

PROJECT = "my-app"
#: Longer than the second for which a file may still be in somebody's hands.
SETTLED = 5.0

# -- killed writers --------------------------------------------------------------------------


def kill_round(folder: Path, rng: random.Random) -> list[str]:
    """Kill -9 a writer in the middle of its work; the titles that were acknowledged to it."""
    run = f"{rng.getrandbits(64):016x}"
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            _write_on(folder, run, writing)
        finally:
            os._exit(1)
    os.close(writing)
    with open(reading, "rb") as acknowledged:
        time.sleep(rng.uniform(0, 0.08))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        titles = acknowledged.read().decode().splitlines()
    assert os.WIFSIGNALED(status), "the writer stopped by itself"
    check_files_whole(folder)
    return titles


def _write_on(folder: Path, run: str, acknowledge: int) -> None:
    workspace = find(folder)
    journal = Journal.open(folder)
    handle = journal.project(PROJECT)
    for n in count(1):
        title = f"{run} über {n}"
        handle.open_finding(title)
        os.write(acknowledge, f"{title}\n".encode())
        sync(workspace, handle)


def check_files_whole(folder: Path) -> None:
    """Every projection is absent or complete, whatever moment the writer was killed in."""
    for path in projections(folder).values():
        if path.exists():
            assert stamp.holds(path.read_bytes()), f"{path} is half written"


def check_acknowledged(folder: Path, acknowledged: list[str]) -> None:
    """Everything acknowledged is there, nothing is there twice, journal and files are well."""
    workspace = find(folder)
    with Journal.open(folder) as journal:
        handle = journal.project(PROJECT)
        sync(workspace, handle, recover=True)
        events = [decode(record.type, record.data) for record in handle.records()]
        titles = Counter(event.title for event in events if isinstance(event, FindingOpened))
        lost = [title for title in acknowledged if titles[title] == 0]
        assert not lost, f"acknowledged and lost: {lost}"
        twice = [title for title, times in titles.items() if times > 1]
        assert not twice, f"there twice: {twice}"
        assert list(audit(journal.store)) == []
        assert {file.status for file in inspect(workspace, handle)} == {"fresh"}


# -- damaged files ---------------------------------------------------------------------------

CORRUPTIONS = ("emptied", "halved", "cut in a character", "noise", "{}", "deleted")


def projections(folder: Path) -> dict[str, Path]:
    """Where each projection of the project is, by dialect."""
    return {t.dialect.name: folder / t.path for t in targets(folder, Project(PROJECT))}


def corrupt(path: Path, kind: str, rng: random.Random) -> bytes | None:
    """Damage a file in one of the CORRUPTIONS, long ago; what is in it then."""
    content = path.read_bytes()
    if kind == "deleted":
        path.unlink()
        path.with_name(path.name + ".bak").unlink(missing_ok=True)
        return None
    match kind:
        case "emptied":
            damaged = b""
        case "halved":
            damaged = content[: len(content) // 2]
        case "cut in a character":
            leads = [n for n, byte in enumerate(content) if byte >= 0xC0]
            damaged = content[: rng.choice(leads) + 1]
        case "noise":
            damaged = b"\xff" + rng.randbytes(rng.randrange(1, 5000))
        case _:
            damaged = b"{}"
    write_settled(path, damaged)
    return damaged


def write_settled(path: Path, content: bytes) -> None:
    """Put bytes into a file as if that had been a while ago."""
    path.write_bytes(content)
    past = time.time() - SETTLED
    os.utime(path, (past, past))


def corrupt_round(folder: Path, rng: random.Random) -> None:
    """Damage one file of the project, and get it back byte for byte."""
    path = rng.choice(list(projections(folder).values()))
    kind = rng.choice(CORRUPTIONS)
    workspace = find(folder)
    with Journal.open(folder) as journal:
        handle = journal.project(PROJECT)
        sync(workspace, handle)
        before = path.read_bytes()
        damaged = corrupt(path, kind, rng)
        status = "missing" if damaged is None else "corrupt"
        assert status_of(workspace, journal, path) == status, f"{path}, {kind}"
        sync(workspace, handle, recover=True)
        assert path.read_bytes() == before, f"{path} was not restored after {kind}"


def status_of(workspace: Workspace, journal: Journal, path: Path) -> str:
    """How one file stands."""
    found = inspect(workspace, journal.project(PROJECT))
    return next(file.status for file in found if workspace.root / file.path == path)


# -- flipped bits ----------------------------------------------------------------------------

View = list[tuple[Head, list[Record]]]


def flip(content: bytes, rng: random.Random, within: int | None = None) -> bytes:
    """The content with one bit of it, or of its first bytes, the other way round."""
    bit = rng.randrange(8 * (within or len(content)))
    flipped = bytearray(content)
    flipped[bit // 8] ^= 1 << bit % 8
    return bytes(flipped)


def view(store: SqliteStore) -> View:
    """All that a reader sees: every head, and every record of its project."""
    return [(head, list(store.read(head.project))) for head in store.heads()]


def flip_round(pristine: bytes, expected: View, folder: Path, rng: random.Random) -> bool:
    """Flip one bit of a database; whether a reader sees it, in which case the audit must too."""
    # One in five in the first page: the header and the schema are small and matter most.
    flipped = flip(pristine, rng, 4096 if rng.random() < 0.2 else None)
    return check_flip(pristine, flipped, expected, folder)


#: How a flaw names a record, a page, or the file's first page, by what is told from that alone.
NAMED = re.compile(
    r"version \d+ of|[Pp]age \d+|row \d+|head of|definition of|SQLite database|database schema"
    r"|format \d+"
)


def check_flip(pristine: bytes, flipped: bytes, expected: View, folder: Path) -> bool:
    """Whether a reader sees that a database was changed; if so the audit finds it as well."""
    changed = next(n for n, byte in enumerate(flipped) if byte != pristine[n])
    where = f"byte {changed} is {flipped[changed]:#04x}, was {pristine[changed]:#04x}"
    folder.mkdir()
    (folder / "journal.db").write_bytes(flipped)
    try:
        seen, flaws = _seen_and_found(folder, expected)
    except Exception as error:
        error.add_note(where)
        raise
    assert flaws or not seen, f"nobody noticed: {where}"
    said = " ".join(flaw.what for flaw in flaws)
    assert not seen or NAMED.search(said), f"nobody says which record or page: {where}: {said}"
    return seen


def _seen_and_found(folder: Path, expected: View) -> tuple[bool, list[Flaw]]:
    try:
        store = SqliteStore.open(folder)
    except JournalError as error:
        return True, [Flaw(str(error))]
    try:
        try:
            seen = view(store) != expected
        except JournalError:
            seen = True
        return seen, list(audit(store))
    finally:
        store.close()
