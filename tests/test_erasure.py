"""Erasure: what is redacted stands in no file of the workspace any more, and the chain holds."""

import json
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import get_args

import pytest
from command import good, quick, run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import fields, replace
from strategies import Chain, events_of, histories

from journal import Handle, Journal, fold
from journal import events as e
from journal.audit import audit
from journal.erasing import of_text
from journal.errors import JournalDamaged, Rejected
from journal.events import VOCABULARY
from journal.masking import MASK, _fields, kind_of, masked, without
from journal.payload import decode, encode
from journal.recovery import recover_journal
from journal.store import Masked
from journal.workflows import generic
from journal.workspace import find
from projections.dialect import DIALECTS
from projections.files import inspect
from projections.tables import rows

SECRET = "hunter2-CORRECT-horse"


def standing(folder: Path, secret: str = SECRET) -> list[str]:
    """Every file of a workspace that has the secret in it or in its name, byte by byte."""
    found = []
    for path in folder.rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        if secret.encode() in content or secret in path.name:
            found.append(str(path.relative_to(folder)))
    return sorted(found)


def flaws(folder: Path) -> list[str]:
    """What an audit finds."""
    with Journal.open(folder) as journal:
        return [flaw.what for flaw in audit(journal.store)]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A workspace in which something happened, with tables, a cache and backups."""
    good(tmp_path, "init", "shop", "--title", "Web Shop")
    good(tmp_path, "step", "start", "1", "--actor", "worker-abc")
    good(tmp_path, "decide", "--key", "region", "--value", "sweden", "--rationale", "near")
    good(tmp_path, "tables")
    return tmp_path


def newest(folder: Path) -> int:
    """The version of the last record."""
    with Journal.open(folder) as journal:
        return journal.project(journal.projects()[0]).version


def plant(folder: Path, *command: str, stdin: bytes = b"") -> int:
    """Record something with the secret in it, and let it get into every copy; its version."""
    good(folder, *command, stdin=stdin)
    version = newest(folder)
    for n in range(300):  # so that the state is cached, and the log was checkpointed
        if n % 100 == 0:
            events = [{"type": "tokens.used", "data": {"input": n + k + 1}} for k in range(100)]
            lines = "\n".join(json.dumps(each) for each in events)
            good(folder, "append", "-", "--no-sync", stdin=lines.encode())
    good(folder, "show")
    good(folder, "note", "go on")
    assert standing(folder), "the secret was never there"
    return version


# -- kinds of secrets ------------------------------------------------------------------------

PLANTED = {
    "a rationale": ("decide", "Which key", "--choice", "ours", "--rationale", f"it is {SECRET}"),
    "a keyed value": ("decide", "--key", "password", "--value", SECRET),
    "a finding": ("finding", "open", f"leaks {SECRET}", "--detail", f"at {SECRET}"),
    "a blocker": ("blocker", "raise", f"waits for {SECRET}"),
    "an error": ("error", "record", f"cannot log in as {SECRET}"),
    "a question": ("question", "open", f"who knows {SECRET}?"),
    "a next action": ("next", f"log in with {SECRET}"),
}


@pytest.mark.parametrize("kind", PLANTED)
@pytest.mark.parametrize("by", ["version", "text"])
def test_no_file_has_it_any_more(shop: Path, kind: str, by: str) -> None:
    """Whatever the secret was said in, it is in no file of the workspace afterwards."""
    version = plant(shop, *PLANTED[kind])
    which = (str(version),) if by == "version" else ("--text", SECRET)
    done = good(shop, "redact", *which, "--reason", "it is a password", "--json").json
    assert done["ok"], done
    assert standing(shop) == []
    assert flaws(shop) == []
    assert quick(shop, "verify").code == 0
    shown = good(shop, "log", "-n", "0").out
    assert f"redacted version {version}: it is a password" in shown
    assert "(redacted)" in shown


def test_a_long_output_is_gone_with_its_pages(shop: Path) -> None:
    """300 KB of output fill pages of their own, and every one of them is wiped."""
    text = "\n".join(f"{n} {SECRET} {n * 7}" for n in range(9500))
    assert len(text) > 300_000
    event = {"type": "step.output_recorded", "data": {"step": "1", "text": text}}
    version = plant(shop, "append", "-", stdin=json.dumps(event).encode())
    good(shop, "redact", str(version), "--reason", "a dump")
    assert standing(shop) == []
    left = sqlite3.connect(shop / ".passdown" / "journal.db")
    with closing(left):
        [(data,)] = left.execute("SELECT data FROM records WHERE version = ?", (version,))
    assert json.loads(data) == {"step": "1", "text": MASK}


def test_neighbours_that_moved_leave_no_trace(shop: Path) -> None:
    """Where pages were split and merged by earlier redactions, no stale cell stays behind."""
    rng = random.Random(7)
    secrets = [f"{SECRET}-{n}-" for n in range(40)]
    lines = [
        json.dumps({"type": "finding.opened", "data": {"title": f"{s}{'x' * rng.randrange(900)}"}})
        for s in secrets
    ]
    good(shop, "append", "-", stdin="\n".join(lines).encode())
    while secrets:
        gone = [secrets.pop(rng.randrange(len(secrets))) for _ in range(10)]
        for each in gone:
            good(shop, "redact", "--text", each, "--reason", "one of them")
            assert standing(shop, each) == []
    assert flaws(shop) == []


def test_a_document_is_erased_with_its_digest(shop: Path) -> None:
    """A digest of what was erased would tell who guesses that the guess is right."""
    (shop / "plan.md").write_text(f"# Plan\n\nthe PIN is {SECRET}\n")
    version = plant(shop, "document", "plan", "plan.md")
    found = quick(shop, "redact", "--text", SECRET, "--reason", "a PIN")
    assert found.code == 1
    assert "plan.md still holds it" in found.err
    (shop / "plan.md").write_text("# Plan\n")
    assert good(shop, "redact", "--finish")
    assert standing(shop) == []
    with Journal.open(shop) as journal:
        [record] = journal.project("shop").records(version - 1, version)
    assert "digest" not in json.loads(record.data)


def test_an_actor_goes_where_names_are_to_go(shop: Path) -> None:
    """Who it was stays, unless that is asked for; a name everywhere goes by --text."""
    version = plant(shop, "finding", "open", "slow", "--actor", SECRET)
    good(shop, "redact", "--text", SECRET, "--as", "person-1", "--reason", "she asked for it")
    assert standing(shop) == []
    with Journal.open(shop) as journal:
        [record] = journal.project("shop").records(version - 1, version)
        assert record.actor == "person-1"
    version = plant(shop, "finding", "open", "slower", "--actor", SECRET)
    good(shop, "redact", str(version), "--names", "--reason", "he asked for it")
    assert standing(shop) == []


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A shared workspace whose agent has said the secret in mail, and left it in a snapshot."""
    agents = ("--agent", "coder", "--agent", "reviewer")
    good(tmp_path, "init", "desk", "--maintainer", "ada", *agents)
    good(tmp_path, "session", "start", "--actor", "coder")
    mail = ("mail", "post", f"see {SECRET}", "--to", "reviewer", "--actor", "coder")
    good(tmp_path, *mail, "--body", f"| {SECRET} |")
    good(tmp_path, "next", f"log in with {SECRET}", "--actor", "coder", "--agent", "coder")
    good(tmp_path, "worklog", "log", f"used {SECRET}", "--actor", "coder")
    good(tmp_path, "snapshot", "--why", f"tired of {SECRET}", "--actor", "coder")
    return tmp_path


def test_in_a_shared_workspace_the_maintainer_redacts(desk: Path) -> None:
    """An agent may not, and is told who may."""
    refused = quick(desk, "redact", "--text", SECRET, "--reason", "x", "--actor", "coder")
    assert refused.code == 5
    assert "for the maintainer, ada, to do" in refused.err


def test_mail_worklog_and_snapshots_are_erased(desk: Path) -> None:
    """They go from records and files; the file that is an agent's own is named instead."""
    chat = desk / "working-session" / "chat-coder.md"
    done = quick(desk, "redact", "--text", SECRET, "--reason", "x", "--actor", "ada")
    assert done.code == 1
    assert "chat-coder.md still holds it" in done.err
    assert standing(desk) == ["working-session/chat-coder.md"]
    chat.write_text(chat.read_text().replace(SECRET, MASK))
    good(desk, "redact", "--finish")
    assert standing(desk) == []
    assert quick(desk, "verify").code == 0


def test_a_snapshot_that_was_redacted_whole_is_not_missed(desk: Path) -> None:
    """What its agent's file still says of it is not called drift, and nothing is appended."""
    chat = desk / "working-session" / "chat-coder.md"
    with Journal.open(desk) as journal:
        taken = [r.version for r in journal.project("desk").records() if r.type == "snapshot.taken"]
    good(desk, "redact", *map(str, taken), "--reason", "x", "--actor", "ada")
    before = chat.read_bytes()
    good(desk, "sync")
    assert chat.read_bytes() == before
    assert quick(desk, "verify").code == 0
    assert quick(desk, "resume").code == 0
    assert good(desk, "snapshot", "list")


def test_an_adopted_original_is_gone(tmp_path: Path) -> None:
    """What came in from a file goes from the records, the leftovers and the backup of the file."""
    good(tmp_path, "init", "shop")
    path = tmp_path / "agent-output" / "shop" / "00-session-state.json"
    state = json.loads(path.read_text())
    state.pop("_passdown")
    state["odd"] = {"of": [f"hand {SECRET}"]}
    state["decisions"]["note"] = SECRET
    path.write_text(json.dumps(state))
    good(tmp_path, "adopt", str(path))
    good(tmp_path, "finding", "open", "so that the file is written again")
    assert len(standing(tmp_path)) > 1
    good(tmp_path, "redact", "--text", SECRET, "--reason", "x")
    assert standing(tmp_path) == []
    assert "[redacted]" in path.read_text()
    assert quick(tmp_path, "verify").code == 0


def test_bytes_that_recovery_set_aside_are_gone(shop: Path) -> None:
    """Also a whole damaged journal that was kept, and an edit that was reverted."""
    version = plant(shop, *PLANTED["a finding"])
    database = shop / ".passdown" / "journal.db"
    content = bytearray(database.read_bytes())
    content[100] ^= 0xFF
    database.write_bytes(content)
    good(shop, "recover", "--journal")
    state = shop / ".planning" / "STATE.md"
    state.write_text(state.read_text().replace("Web Shop", f"Shop {SECRET}"))
    good(shop, "drift", "--revert")
    assert any("lost/journal-1" in path for path in standing(shop))
    good(shop, "redact", str(version), "--reason", "x")
    assert standing(shop) == []


# -- what is not done is said ----------------------------------------------------------------


def test_a_reader_that_holds_it_up_is_reported(shop: Path) -> None:
    """Somebody's snapshot keeps the old pages: that is no success, until it is finished."""
    version = plant(shop, *PLANTED["a finding"])
    with closing(sqlite3.connect(shop / ".passdown" / "journal.db")) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM records").fetchone()
        held = quick(shop, "redact", str(version), "--reason", "x", "--json")
        assert held.code == 1
        assert not held.json["ok"]
        assert "redact --finish" in held.err
        assert quick(shop, "verify").code == 1
        assert "erasure" in quick(shop, "doctor").out
        assert standing(shop)
        assert quick(shop, "redact", "--finish").code == 1
    assert good(shop, "redact", "--finish", "--json").json["ok"]
    assert standing(shop) == []
    assert quick(shop, "verify").code == 0


def test_a_file_that_somebody_edited_is_reported(shop: Path) -> None:
    """What was edited by hand is not taken away unasked, so the erasure is not done."""
    version = plant(shop, *PLANTED["a rationale"])
    state = shop / ".planning" / "STATE.md"
    text = state.read_text()
    state.write_text(text.replace("Web Shop", "Wob Shop"))
    assert quick(shop, "redact", str(version), "--reason", "x").code == (1 if SECRET in text else 0)
    adopted = quick(shop, "drift", "--adopt")
    if SECRET in text:
        assert "older than a redaction" in adopted.err
    good(shop, "drift", "--revert")
    good(shop, "redact", "--finish")
    assert standing(shop) == []


def test_an_edit_on_a_clean_file_can_be_adopted_after_a_redaction(shop: Path) -> None:
    """A redaction does not stand in the way of edits that were made on files of after it."""
    version = plant(shop, *PLANTED["a rationale"])
    good(shop, "redact", str(version), "--reason", "x")
    path = shop / "agent-output" / "shop" / "00-session-state.json"
    state = json.loads(path.read_text())
    state["decisions"]["region"] = "norway"
    path.write_text(json.dumps(state, indent=2))
    good(shop, "drift", "--adopt")
    assert "norway" in good(shop, "show").out


def test_an_older_copy_is_not_drift(shop: Path) -> None:
    """A stamped file from before is no longer replayable, which is said, and it is replaced."""
    version = plant(shop, *PLANTED["a keyed value"])
    path = shop / "agent-output" / "shop" / "00-session-state.json"
    before = path.read_bytes()
    good(shop, "redact", str(version), "--reason", "x")
    path.write_bytes(before)
    with Journal.open(shop) as journal:
        [found] = [
            file for file in inspect(find(shop), journal.project("shop")) if file.path in str(path)
        ]
    assert found.status == "stale"
    assert "cannot be replayed" in found.problem
    good(shop, "sync")
    assert SECRET.encode() not in path.read_bytes()


def test_what_else_holds_the_same_words_is_offered(shop: Path) -> None:
    """A version is redacted alone; where the same words stand again, the command says so."""
    words = f"the password is {SECRET}"
    good(shop, "finding", "open", words)
    first = newest(shop)
    good(shop, "error", "record", f"seen: {words}")
    done = good(shop, "redact", str(first), "--reason", "x", "--json").json
    assert done["also"] == {"shop": [first + 1]}


def test_other_files_that_have_it_are_named(shop: Path) -> None:
    """An export, a report and notes of a person are not ours to change, and are said."""
    good(shop, "finding", "open", f"the key is {SECRET}")
    good(shop, "export", "-o", "all.jsonl")
    good(shop, "report", "-o", "audit.html")
    (shop / "notes.txt").write_text(f"{SECRET}\n")
    done = good(shop, "redact", "--text", SECRET, "--reason", "a key", "--json").json
    named = [f"it stands in {name}" for name in ("all.jsonl", "audit.html", "notes.txt")]
    assert done["beyond"][:3] == named


def test_a_text_in_an_id_stays_and_is_named(shop: Path) -> None:
    """What the chain is made of cannot be erased, and that is not called done."""
    good(shop, "finding", "open", "slow", "--id", f"key-{SECRET}")
    done = quick(shop, "redact", "--text", SECRET, "--reason", "x")
    assert done.code == 1
    assert "part of the chain" in done.err


def test_what_people_had_written_before_is_named(shop: Path) -> None:
    """Reports, exports and backups in the workspace are theirs to remove; which, it says."""
    version = plant(shop, *PLANTED["a finding"])
    (shop / "kept").mkdir()
    good(shop, "report", "-o", "page.html")
    good(shop, "export", "-o", "kept/shop.jsonl")
    good(shop, "backup", "kept/shop.db")
    (shop / "mine.html").write_text("<!doctype html><p>mine</p>")
    found = good(shop, "redact", str(version), "--reason", "x", "--json").json
    sentence = "reports, exports and backups in the workspace: "
    assert f"{sentence}kept/shop.db, kept/shop.jsonl, page.html" in found["beyond"]


def test_a_dry_run_changes_nothing(shop: Path) -> None:
    """What would be redacted is said, and every file is as it was."""
    version = plant(shop, *PLANTED["a finding"])
    before = standing(shop)
    done = good(shop, "redact", "--text", SECRET, "--reason", "x", "--dry-run", "--json").json
    assert done["projects"][0]["redacted"] == [version]
    assert standing(shop) == before
    assert newest(shop) > version


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("redact",), 3, "what is to be erased"),
        (("redact", "3"), 3, "--reason"),
        (("redact", "3", "--text", "longer", "--reason", "x"), 3, "one of these"),
        (("redact", "99", "--reason", "x"), 4, "99"),
        (("redact", "--event", "nobody", "--reason", "x"), 4, "nobody"),
        (("redact", "--text", "abc", "--reason", "x"), 3, "3 characters"),
        (("redact", "--text", "near", "--reason", "nearly"), 3, "say it without"),
        (("append", "record.redacted", '{"records":[],"reason":"x"}'), 5, "erases nothing"),
    ],
)
def test_what_is_refused(shop: Path, arguments: tuple[str, ...], code: int, said: str) -> None:
    """A refusal says why, and nothing is changed."""
    before = newest(shop)
    found = quick(shop, *arguments)
    assert (found.code, newest(shop)) == (code, before), found
    assert said in found.err
    assert not (shop / ".passdown" / "erasing").exists()


def test_asked_again_it_is_done_already(shop: Path) -> None:
    """The same again adds no record, and removes what is left of copies."""
    version = plant(shop, *PLANTED["a finding"])
    good(shop, "redact", str(version), "--reason", "x")
    before = newest(shop)
    again = good(shop, "redact", str(version), "--reason", "x", "--json").json
    assert again["projects"][0]["already"] == [version]
    assert newest(shop) == before


# -- killed, and in other hands --------------------------------------------------------------


@pytest.mark.parametrize("delay", [0.05, 0.15, 0.2, 0.25, 0.3, 0.4, 0.6])
def test_killed_in_the_middle_it_is_carried_to_its_end(shop: Path, delay: float) -> None:
    """At whatever moment it is killed, asked again nothing is left, and the chain holds."""
    version = plant(shop, *PLANTED["a finding"])
    command = [sys.executable, "-m", "passdown", "redact", str(version), "--reason", "x"]
    process = subprocess.Popen(command, cwd=shop, stdout=subprocess.DEVNULL)
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert flaws(shop) == []
    good(shop, "redact", str(version), "--reason", "x")
    assert standing(shop) == []
    assert flaws(shop) == []
    assert not (shop / ".passdown" / "erasing").exists()
    assert good(shop, "log", "-t", "record.redacted").out.count("redacted version") == 1


def test_what_broke_off_among_the_records_is_not_called_done(shop: Path) -> None:
    """Killed between two projects it is not done till it is asked for again; --finish says so."""
    good(shop, "init", "web", "--workflow", "generic", "--step", "Build")
    good(shop, "note", SECRET, "-p", "shop")
    good(shop, "note", SECRET, "-p", "web")
    with Journal.open(shop) as journal:  # as far as one that was killed had come
        (shop / ".passdown" / "erasing").touch()
        shop_app = journal.project("shop")
        shop_app.redact(lambda x: of_text("shop", x, SECRET, MASK).masks, "x")
    for _ in range(2):
        found = quick(shop, "redact", "--finish")
        assert found.code == 1
        assert "ask for the same once more" in found.err
    assert quick(shop, "verify").code == 1
    good(shop, "redact", "--text", SECRET, "--reason", "x")
    assert standing(shop) == []
    assert not (shop / ".passdown" / "erasing").exists()
    good(shop, "redact", "--finish")


def test_a_handle_that_had_read_it_forgets_it(shop: Path) -> None:
    """A process that lives on neither shows nor caches what was erased meanwhile."""
    version = plant(shop, *PLANTED["a keyed value"])
    with Journal.open(shop) as journal:
        handle = journal.project("shop")
        before = handle.state
        assert SECRET in str(before)
        run(shop, "redact", str(version), "--reason", "x")
        handle.keep(before, "state", before)
        assert standing(shop) == []
        assert SECRET not in str(handle.state)
        for n in range(600):
            handle.open_finding(f"finding {n}")
        assert SECRET not in str(handle.state)
    assert standing(shop) == []


def test_the_same_request_again_is_known_after_its_redaction(shop: Path) -> None:
    """Nobody can tell any more whether it said the same; its id was there, and nothing is added."""
    with Journal.open(shop) as journal:
        handle = journal.project("shop")
        first = handle.open_finding(SECRET, id="review-1")
        good(shop, "redact", str(first.version), "--reason", "x")
        assert handle.open_finding(SECRET, id="review-1").repeated


# -- the chain -------------------------------------------------------------------------------


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Handle]:
    """A project with two findings, the first of them redacted."""
    with Journal.create(tmp_path) as journal:
        handle = journal.open_project("my-app", generic(("Build",)))
        handle.open_finding("one")
        handle.open_finding("two")
        handle.redact(lambda records: [mask(handle, 2)], "because", actor="ada")
        yield handle


def mask(handle: Handle, version: int) -> Masked:
    """A record without what it said."""
    [record] = handle.records(version - 1, version)
    data = masked(record.type, record.data)
    return Masked(version, data, record.actor, record.session)


def audited(handle: Handle) -> list[str]:
    """What an audit finds in the journal of a handle."""
    return [flaw.what for flaw in audit(handle._store)]


def test_the_chain_is_as_it_was(app: Handle) -> None:
    """Commitment and hash stay; the redaction is a later record, and an audit finds all well."""
    records = list(app.records())
    assert records[1].salt is None
    assert decode(records[1].type, records[1].data) == e.FindingOpened(MASK, finding="F001")
    last = decode(records[-1].type, records[-1].data)
    assert isinstance(last, e.RecordRedacted)
    assert [each.version for each in last.records] == [2]
    assert audited(app) == []
    assert app.at(3).findings["F001"].title == MASK


def test_a_redaction_can_be_redacted(app: Handle) -> None:
    """Its reason goes, what it vouches for it goes on to vouch for."""
    app.redact(lambda records: [mask(app, 4)], "the reason said too much")
    assert audited(app) == []
    assert "because" not in str([record.data for record in app.records()])


def test_a_record_is_redacted_once(app: Handle) -> None:
    """The store refuses to change again what no salt vouches for."""
    with pytest.raises(Rejected, match="redacted before"):
        app.redact(lambda records: [mask(app, 2)], "again")
    assert audited(app) == []


def raw(app: Handle, statement: str) -> None:
    """Change the database as somebody would who goes around the API."""
    path = app.cached.parent / "journal.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("DROP TRIGGER IF EXISTS records_unchanged")
        connection.execute(statement)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # or a stale page would still have it


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE records SET salt = NULL, data = x'7b7d' WHERE version = 3",
        'UPDATE records SET data = CAST(\'{"title":"forged"}\' AS BLOB) WHERE version = 2',
        "UPDATE records SET actor = 'eve' WHERE version = 2",
    ],
)
def test_what_no_redaction_vouches_for_is_damage(app: Handle, statement: str) -> None:
    """Taking a salt away, or changing what a redaction left, is found and named."""
    raw(app, statement)
    assert any("no redaction vouches" in what for what in audited(app))
    with pytest.raises(JournalDamaged, match="no redaction vouches"):
        list(app.records())


def test_what_was_erased_stays_so_where_a_journal_is_salvaged(app: Handle) -> None:
    """Recovery keeps redacted records, and what follows them, also where the redaction is lost."""
    workspace = find(app.cached.parent.parent)
    raw(app, "UPDATE records SET hash = zeroblob(32) WHERE version = 4")
    done = recover_journal(workspace)
    assert done is not None
    assert done.projects[0].unvouched == (2,)
    with Journal.open(workspace.root) as journal:
        handle = journal.project("my-app")
        assert audited(handle) == []
        assert handle.state.findings["F001"].title == MASK
        assert handle.state.findings["F002"].title == "two"


# -- masks -----------------------------------------------------------------------------------


def unclassified(cls: type[Struct]) -> Iterator[str]:
    """The fields of a class, and of the classes in it, that nobody has said the kind of."""
    for field in fields(cls):
        hints = [field.type]
        while hints:
            hint = hints.pop()
            hints += get_args(hint)
            if isinstance(hint, type) and issubclass(hint, Struct):
                yield from unclassified(hint)
    for name, free in _fields(cls):
        if free and not kind_of(cls, name):
            yield f"{cls.__name__}.{name}"


def test_every_field_is_of_a_kind() -> None:
    """Whatever can hold text, somebody has said whether it is masked."""
    assert [name for cls in VOCABULARY.values() for name in unclassified(cls)] == []


@settings(max_examples=40, suppress_health_check=list(HealthCheck), deadline=None)
@given(histories(12), st.data())
def test_a_history_with_masked_records_folds_and_renders(
    events: list[e.Event], data: st.DataObject
) -> None:
    """Whatever is masked, of whatever history, decodes for ever, folds, and every view of it can
    be made."""
    chain = Chain("app")
    for event in events:
        chain.add(event, "ada", "session-001")
    chosen = data.draw(st.sets(st.integers(0, len(events) - 1)))
    names = data.draw(st.booleans())
    records = [
        replace(record, salt=None, data=masked(record.type, record.data, names=names))
        if n in chosen
        else record
        for n, record in enumerate(chain.records)
    ]
    project = fold("app", records)
    assert {*project.steps} == {*chain.project.steps}
    assert {*project.decisions} == {*chain.project.decisions}
    for dialect in DIALECTS.values():
        if dialect.usual(project):
            dialect.render(project)
    assert rows(project)


@given(st.sampled_from(list(VOCABULARY.values())), st.data())
@settings(max_examples=60, suppress_health_check=list(HealthCheck), deadline=None)
def test_a_text_is_nowhere_after_it_was_replaced(cls: type[e.Event], data: st.DataObject) -> None:
    """Neither in values nor in keys, whatever the event is; and it decodes."""
    payload = encode(data.draw(events_of(cls)))
    once = without(cls.type, payload, "worker", "person")
    assert b"worker" not in once
    assert decode(cls.type, once)
