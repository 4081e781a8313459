"""Exchange: histories go elsewhere and come back whole, verified line by line."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import good, quick, run
from hypothesis import HealthCheck, given, settings
from strategies import Chain, histories

from journal import Journal
from journal.audit import audit
from journal.errors import PassdownError
from journal.exchange import add, lines
from journal.record import GENESIS, canonical, commit
from journal.sqlite import SqliteStore

HOSTILE = 'naïve 𝄞 🙂 " \\ \u2028 \u0085 </script> \t\n- x'


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A workspace with two projects, one of them with something redacted."""
    folder = tmp_path / "shop"
    folder.mkdir()
    good(folder, "init", "shop", "--title", HOSTILE)
    good(folder, "init", "web", "--workflow", "generic", "--step", "Build")
    for n in range(5):
        good(folder, "finding", "open", f"{HOSTILE} {n}", "--actor", "ünï", "-p", "shop")
    good(folder, "step", "start", "1", "--occurred", "2020-01-01T00:00:00Z", "-p", "shop")
    good(folder, "redact", "3", "-p", "shop", "--reason", "x")
    return folder


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """A folder without a journal."""
    folder = tmp_path / "empty"
    folder.mkdir()
    return folder


def exported(folder: Path, *arguments: str) -> bytes:
    """What `export` writes."""
    return good(folder, "export", *arguments).out.encode()


def imported(folder: Path, content: bytes, *arguments: str) -> Any:
    """What `import` answers."""
    return good(folder, "import", "-", "--json", *arguments, stdin=content).json


def flaws(folder: Path) -> list[str]:
    """What an audit finds."""
    with Journal.open(folder) as journal:
        return [flaw.what for flaw in audit(journal.store)]


# -- there and back --------------------------------------------------------------------------


def test_there_and_back_it_is_the_same(shop: Path, empty: Path) -> None:
    """Exported, imported into an empty journal and exported again: identical bytes."""
    content = exported(shop, "--all")
    answer = imported(empty, content)
    assert [(x["project"], x["known"]) for x in answer] == [("shop", 0), ("web", 0)]
    assert exported(empty, "--all") == content
    assert flaws(empty) == []
    assert quick(empty, "verify", "-p", "shop").code in (0, 1)
    theirs, ours = (good(f, "show", "-p", "shop", "--json").json for f in (shop, empty))
    assert theirs == ours


@settings(max_examples=15, suppress_health_check=list(HealthCheck), deadline=None)
@given(histories(12))
def test_any_history_comes_back(tmp_path_factory: pytest.TempPathFactory, events: Any) -> None:
    """Whatever is in it, every record comes back field by field."""
    chain = Chain("app")
    for n, event in enumerate(events):
        chain.add(event, "ada" if n % 2 else None, "s-1" if n % 3 else None, n if n % 2 else None)
    folders = [tmp_path_factory.mktemp("journal") for _ in range(2)]
    stores = [SqliteStore.create(folder) for folder in folders]
    journals = [Journal(store, folder) for store, folder in zip(stores, folders, strict=True)]
    stores[0].extend(chain.records)
    found = list(lines(journals[0].handle("app")))
    add(stores[1], found)
    assert list(stores[1].read("app")) == list(stores[0].read("app"))
    for store in stores:
        store.close()


def test_what_is_exported_later_only_adds_lines(shop: Path) -> None:
    """Kept in version control, the difference of two exports is exactly the new events."""
    before = exported(shop, "-p", "shop").splitlines()
    good(shop, "finding", "open", "one more", "-p", "shop")
    after = exported(shop, "-p", "shop").splitlines()
    assert after[: len(before)] == before
    assert len(after) == len(before) + 1


def test_a_file_is_written_whole(shop: Path) -> None:
    """Written to a file it is the same, and an older one is there until it is replaced."""
    target = shop / "shop.jsonl"
    for _ in range(2):
        good(shop, "export", "-p", "shop", "-o", str(target))
        assert target.read_bytes() == exported(shop, "-p", "shop")
    assert not list(shop.glob(".*passdown-*"))


@pytest.mark.parametrize(
    ("path", "why"),
    [
        (".passdown/journal.db", "within the journal's own folder"),
        (".passdown/x.jsonl", "within the journal's own folder"),
        ("agent-output/shop/00-session-state.json", "is something else than an export"),
        ("no/such/x.jsonl", "there is no folder no/such"),
        (".", "is a folder"),
        ("", "is a folder"),
        ("pipe", "is no file to write to"),
    ],
)
def test_an_export_takes_the_place_of_nothing_else(shop: Path, path: str, why: str) -> None:
    """Where something else is, be it the journal itself, one sentence says so and it stays."""
    os.mkfifo(shop / "pipe")
    before = contents(shop)
    found = quick(shop, "export", "-p", "shop", "-o", path)
    assert (found.code, why in found.err, found.err.count("\n")) == (3, True, 1)
    assert contents(shop) == before
    assert (shop / "pipe").is_fifo()


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a workspace but those that reading it touches."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {str(p): p.read_bytes() for p in paths if not p.name.endswith(("-shm", "-wal"))}


def test_the_format_is_verified_without_passdown(shop: Path) -> None:
    """From the lines alone the chain can be followed in any language."""
    previous = GENESIS
    heading, *records = map(json.loads, exported(shop, "-p", "shop").splitlines())
    assert heading == {"passdown-export": 1, "project": "shop", "from": 1, "previous": ""}
    for n, x in enumerate(records, start=1):
        assert x["version"] == n
        commitment = bytes.fromhex(x["commitment"])
        if x["salt"] is not None:
            salt, data = bytes.fromhex(x["salt"]), x["data"].encode()
            assert commit(salt, data, x.get("actor"), x.get("session")) == commitment
        own = (x["id"], x["type"], x["at"], x.get("occurred"), x.get("cause"), commitment)
        import hashlib

        hash = hashlib.sha256(canonical(previous, "shop", n, *own)).digest()
        assert hash.hex() == x["hash"]
        previous = hash


# -- again, and onwards ----------------------------------------------------------------------


def test_again_it_adds_nothing(shop: Path, empty: Path) -> None:
    """The same file twice is the same journal; one that went on adds its tail."""
    content = exported(shop, "-p", "shop")
    imported(empty, content)
    assert imported(empty, content)[0]["added"] == 0
    good(shop, "finding", "open", "one more", "-p", "shop")
    assert imported(empty, exported(shop, "-p", "shop"))[0]["added"] == 1
    good(shop, "finding", "open", "and one", "-p", "shop")
    tail = exported(shop, "-p", "shop", "--from", "9")
    assert len(tail.splitlines()) == 3
    found = imported(empty, tail)[0]
    assert (found["added"], found["known"]) == (1, 1)
    assert exported(empty, "-p", "shop") == exported(shop, "-p", "shop")
    assert imported(empty, content)[0]["known"] == len(content.splitlines()) - 1


def test_a_range_needs_what_comes_before_it(shop: Path, empty: Path) -> None:
    """What does not go on from what the journal has is refused, and why is said."""
    tail = exported(shop, "-p", "shop", "--from", "4")
    found = quick(empty, "import", "-", stdin=tail)
    assert found.code == 5
    assert "up to version 0" in found.err
    assert not (empty / ".passdown").exists()


def test_another_history_is_refused(shop: Path, empty: Path) -> None:
    """Of a project that went on elsewhere, the version is named where they part."""
    content = exported(shop, "-p", "shop")
    imported(empty, content)
    last = len(content.splitlines()) - 1
    for folder in (shop, empty):
        good(folder, "finding", "open", "here and there", "-p", "shop")
    found = quick(empty, "import", "-", stdin=exported(shop, "-p", "shop"))
    assert found.code == 5
    assert f"they part at version {last + 1}" in found.err
    assert flaws(empty) == []


def test_what_was_redacted_there_is_redacted_here(shop: Path, empty: Path) -> None:
    """A redaction reaches whoever imported the records before."""
    good(shop, "finding", "open", "a secret of ours", "-p", "shop")
    imported(empty, exported(shop, "-p", "shop"))
    version = str(len(exported(shop, "-p", "shop").splitlines()) - 1)
    good(shop, "redact", version, "-p", "shop", "--reason", "x")
    assert imported(empty, exported(shop, "-p", "shop"))[0]["redacted"] == 1
    assert exported(empty, "-p", "shop") == exported(shop, "-p", "shop")
    assert quick(empty, "verify").code == 1
    good(empty, "redact", "--finish")
    for path in empty.rglob("*"):
        assert not path.is_file() or b"a secret of ours" not in path.read_bytes(), path


def test_what_is_redacted_here_stays_so(shop: Path, empty: Path) -> None:
    """An export of before does not bring back what was erased since."""
    good(shop, "finding", "open", "a secret of ours", "-p", "shop")
    content = exported(shop, "-p", "shop")
    version = len(content.splitlines()) - 1
    good(shop, "redact", str(version), "-p", "shop", "--reason", "x")
    before = exported(shop, "-p", "shop")
    imported(shop, content)
    assert exported(shop, "-p", "shop") == before


def test_a_redacted_record_needs_who_vouches_for_it(shop: Path, empty: Path) -> None:
    """A range that ends before the redaction says so when it is made, and is refused."""
    cut = quick(shop, "export", "-p", "shop", "--to", "5")
    assert "vouched for by version" in cut.err
    found = quick(empty, "import", "-", stdin=cut.out.encode())
    assert found.code == 3
    assert "line 4" in found.err


# -- what does not verify --------------------------------------------------------------------

Edit = Callable[[list[dict[str, Any]]], object]


def changed(content: bytes, edit: Edit) -> bytes:
    """An export whose lines were edited."""
    found = [json.loads(line) for line in content.splitlines()]
    edit(found)
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in found).encode()


EDITS: dict[str, tuple[int, Edit]] = {
    "a payload": (6, lambda x: x[5].update(data='{"title":"forged","finding":"F004"}')),
    "an actor": (6, lambda x: x[5].update(actor="eve")),
    "a time": (6, lambda x: x[5].update(at=1)),
    "a type": (6, lambda x: x[5].update(type="error.recorded")),
    "a hash": (6, lambda x: x[5].update(hash="00" * 32)),
    "no hash": (6, lambda x: x[5].update(hash="")),
    "a salt": (6, lambda x: x[5].update(salt="00" * 16)),
    "a salt that is gone": (6, lambda x: x[5].update(salt=None)),
    "a redacted payload": (4, lambda x: x[3].update(data='{"title":"forged","finding":"F002"}')),
    "a record left out": (6, lambda x: x.pop(5)),
    "two swapped": (6, lambda x: x.insert(5, x.pop(6))),
    "a record twice": (7, lambda x: x.insert(5, x[5])),
    "a version": (6, lambda x: x[5].update(version=99)),
    "text in a number": (6, lambda x: x[5].update(at="soon")),
    "a field more": (6, lambda x: x[5].update(more=1)),
    "no heading": (1, lambda x: x.pop(0)),
    "another project": (2, lambda x: x[0].update(project="web")),
    "a path": (1, lambda x: x[0].update(project="../x")),
    "another beginning": (1, lambda x: x[0].update(previous="00" * 32)),
}


@pytest.mark.parametrize("what", EDITS)
def test_what_does_not_verify_is_refused(shop: Path, empty: Path, what: str) -> None:
    """The line is named, and nothing is imported."""
    number, edit = EDITS[what]
    found = quick(empty, "import", "-", stdin=changed(exported(shop, "-p", "shop"), edit))
    assert found.code in (3, 5), found
    assert f"line {number}" in found.err
    assert "nothing was" in found.err or found.code == 5
    assert not (empty / ".passdown").exists()


def test_a_newer_format_says_so(shop: Path, empty: Path) -> None:
    """What a newer Passdown wrote is not called damaged."""
    content = exported(shop, "-p", "shop")
    newer = changed(content, lambda x: x[0].update({"passdown-export": 2}))
    found = quick(empty, "import", "-", stdin=newer)
    assert (found.code, "upgrade" in found.err) == (8, True)


@pytest.mark.parametrize("content", [b"", b"\n", b"{}\n", b"\xff\xfe\n", b"SQLite format 3\0"])
def test_what_is_no_export_is_refused(empty: Path, content: bytes) -> None:
    """Whatever is given instead, the answer is a sentence and nothing is made."""
    found = quick(empty, "import", "-", stdin=content)
    assert (found.code, "line 1" in found.err) == (3, True)
    assert not (empty / ".passdown").exists()


def test_a_file_that_is_cut_is_refused(shop: Path, empty: Path) -> None:
    """A last line without its end is no line."""
    content = exported(shop, "-p", "shop")
    for cut in (1, 2, 100):
        assert quick(empty, "import", "-", stdin=content[:-cut]).code == 3


def test_every_byte_that_is_changed_is_noticed(shop: Path, empty: Path) -> None:
    """Whichever byte of an export is another, it is refused, or it means the same."""
    content = exported(shop, "-p", "shop", "--to", "4") + b""
    store = SqliteStore.create(empty)
    whole = exported(shop, "-p", "shop")
    begin = whole.index(b"\n") + 1
    line = whole[begin : whole.index(b"\n", begin)]
    heading = whole[:begin]
    for n in range(0, len(line), 3):
        flipped = line[:n] + bytes([line[n] ^ 1]) + line[n + 1 :]
        with pytest.raises(PassdownError):
            add(store, [heading, flipped + b"\n"])
    assert content.startswith(heading)
    assert store.heads() == []
    store.close()


# -- backup and restore ----------------------------------------------------------------------


def write_on(folder: Path) -> "subprocess.Popen[bytes]":
    """A process that records findings until it is killed."""
    script = (
        "import sys\nfrom journal import Journal\n"
        "app = Journal.open(sys.argv[1]).project('web')\n"
        "for n in range(10**6): app.open_finding(f'finding {n}')\n"
    )
    return subprocess.Popen([sys.executable, "-c", script, str(folder)])


def test_the_restore_drill(shop: Path, tmp_path: Path) -> None:
    """A backup made while others write is whole; the journal is lost, and comes back from it."""
    writer = write_on(shop)
    try:
        time.sleep(0.7)
        target = tmp_path / "backup.db"
        for _ in range(3):
            done = run(shop, "backup", str(target), "--json")
            assert done.code == 0, done
            time.sleep(0.1)
    finally:
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    backed = done.json["versions"]
    assert backed["web"] > 2
    for name in ("journal.db", "journal.db-wal", "journal.db-shm"):
        (shop / ".passdown" / name).unlink(missing_ok=True)
    assert quick(shop, "show", "-p", "web").code == 6
    assert good(shop, "restore", str(target), "--json").json["versions"] == backed
    assert flaws(shop) == []
    good(shop, "recover", "--drifted")
    good(shop, "finding", "open", "goes on", "-p", "shop")
    assert quick(shop, "verify", "-p", "shop").code == 0


def test_a_restore_does_not_lose_records_unasked(shop: Path, tmp_path: Path) -> None:
    """What only the present journal has is counted, and it is set aside where that is asked."""
    target = tmp_path / "backup.db"
    good(shop, "backup", str(target))
    for n in range(3):
        good(shop, "finding", "open", f"later {n}", "-p", "web")
    found = quick(shop, "restore", str(target))
    assert found.code == 5
    assert "3 records of web" in found.err
    assert flaws(shop) == []
    kept = good(shop, "restore", str(target), "--force", "--json").json["kept"]
    assert (shop / kept / "journal.db").is_file()
    assert "later" not in good(shop, "log", "-p", "web").out


def test_a_damaged_journal_is_not_overwritten_unasked(shop: Path, tmp_path: Path) -> None:
    """Where nobody can tell what it has, the way to salvage is offered first."""
    target = tmp_path / "backup.db"
    good(shop, "backup", str(target))
    (shop / ".passdown" / "journal.db").write_bytes(b"not a database" * 1000)
    found = quick(shop, "restore", str(target))
    assert found.code == 5
    assert "recover --journal" in found.err
    good(shop, "restore", str(target), "--force")
    assert flaws(shop) == []


def test_a_damaged_backup_is_not_restored(shop: Path, tmp_path: Path) -> None:
    """A backup is verified before anything is touched."""
    target = tmp_path / "backup.db"
    good(shop, "backup", str(target))
    content = bytearray(target.read_bytes())
    content[content.index("naïve".encode())] ^= 1
    target.write_bytes(content)
    before = (shop / ".passdown" / "journal.db").read_bytes()
    found = quick(shop, "restore", str(target), "--force")
    assert found.code == 3, found
    assert (shop / ".passdown" / "journal.db").read_bytes() == before


def test_into_an_empty_folder(shop: Path, empty: Path, tmp_path: Path) -> None:
    """On another machine a backup makes the journal, and its files come with the next sync."""
    target = tmp_path / "backup.db"
    good(shop, "backup", str(target))
    good(empty, "restore", str(target))
    assert exported(empty, "--all") == exported(shop, "--all")


@pytest.mark.parametrize("name", ["notes.txt", ".passdown/journal.db", "nowhere/b.db"])
def test_a_backup_does_not_overwrite_anything_else(shop: Path, name: str) -> None:
    """Only an older backup is replaced."""
    (shop / "notes.txt").write_text("mine")
    before = (shop / ".passdown" / "journal.db").stat().st_ino
    assert quick(shop, "backup", name).code == 3
    assert (shop / "notes.txt").read_text() == "mine"
    assert (shop / ".passdown" / "journal.db").stat().st_ino == before


def test_a_handle_goes_on_after_a_restore(shop: Path, tmp_path: Path) -> None:
    """A process that lives on sees the restored journal, and appends to that."""
    target = tmp_path / "backup.db"
    good(shop, "backup", str(target))
    with Journal.open(shop) as journal:
        web = journal.project("web")
        web.open_finding("later")
        assert web.state.findings
        good(shop, "restore", str(target), "--force")
        assert not web.state.findings
        web.open_finding("anew")
    assert flaws(shop) == []


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (
            b"<!doctype html>" * 400,
            "no journal.html is no sound journal: it is not a SQLite database",
        ),
        (b"", "no journal.html is no sound journal: it is empty"),
    ],
)
def test_what_is_no_backup_is_refused_in_a_sentence(shop: Path, content: bytes, why: str) -> None:
    """It says of the file that was named what is wrong with it, and nothing of copies."""
    (shop / "no journal.html").write_bytes(content)
    before = contents(shop)
    found = quick(shop, "restore", "no journal.html", "--force")
    assert (found.code, found.err) == (3, f"passdown: {why}; nothing was changed\n")
    assert contents(shop) == before
