"""The tables: always what the state says, whatever was asked of the journal or done to the file."""

import json
import os
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from command import files, good, quick, run
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlite_utils import Database
from test_docs import blocks
from test_laws import requests

from journal import Journal, Project
from journal import events as e
from journal.errors import PassdownError
from journal.workspace import Workspace
from projections import tables
from projections.position import ahead

ROOT = Path(__file__).parents[1]
START = 1_767_261_600_000_000


# -- what the state says ---------------------------------------------------------------------


def told(p: Project) -> dict[str, list[dict[str, Any]]]:
    """The rows of a project as the documents promise them."""
    slug = p.slug
    here = p.steps.get(p.current) or next(iter(p.steps.values()), None)
    of_here = [task for task in p.tasks.values() if here and task.step == here.key]
    at_work = sorted(
        (task for task in of_here if task.status in ("claimed", "in_progress")),
        key=lambda task: (task.status == "in_progress", task.assigned or 0),
    )
    task = next(
        (
            t
            for t in at_work
            if (t.status, t.assigned) == (at_work[-1].status, at_work[-1].assigned)
        ),
        None,
    )
    plans = [
        x for x in p.plans.values() if x.status == "in_progress" and here and x.step == here.key
    ]
    plan = max(plans, key=lambda plan: plan.number) if plans else None
    if plan is None and task is not None:
        plan = p.plans.get(task.plan)
    done = [step for step in p.steps.values() if step.status in ("complete", "skipped")]
    stuck = {id for b in p.blockers.values() if b.status == "active" for id in b.tasks}
    complete = bool(p.steps) and len(done) == len(p.steps)
    return {
        "initiatives": [
            {
                "id": slug,
                "title": p.title,
                "native_id": p.native or None,
                "workflow": p.workflow,
                "status": "archived" if p.archived else "complete" if complete else "active",
                "opened_at": p.opened // 1000,
                "updated_at": p.updated // 1000,
            }
        ],
        "initiative_state": [
            {
                "initiative_id": slug,
                "current_phase": int(here.key.split("_")[0]) if here else 0,
                "current_plan": plan.number if plan else None,
                "current_task": f"{slug}/{task.id}" if task else None,
                "current_wave": (task.wave or None) if task else None,
                "status": here.status if here else "pending",
                "updated_at": p.updated // 1000,
            }
        ],
        "initiative_decisions": [
            {
                "id": f"{slug}/{d.id}",
                "initiative_id": slug,
                "date": d.at // 1000,
                "context": d.title or d.key,
                "reason": d.rationale or None,
                "alternatives_json": list(d.alternatives),
                "reversible": d.reversible,
            }
            for d in p.decisions.values()
            if d.superseded_by is None
        ],
        "initiative_blockers": [
            {
                "id": f"{slug}/{b.id}",
                "initiative_id": slug,
                "status": b.status,
                "description": b.description,
                "identified_at": b.raised // 1000,
                "affects_json": list(b.affects),
                "workaround": b.workaround or None,
                "resolution": b.resolution or None,
                "resolved_at": b.resolved // 1000 if b.resolved is not None else None,
            }
            for b in p.blockers.values()
        ],
        "session_history": [
            {
                "id": f"{slug}/{s.id}",
                "initiative_id": slug,
                "agent_id": s.agent or None,
                "started_at": s.started // 1000,
                "ended_at": s.ended // 1000 if s.ended is not None else None,
                "context_usage": s.context_usage,
                "completed_json": list(s.completed),
                "issues_json": list(s.issues),
                "handoff_reason": s.handoff_reason or None,
            }
            for s in p.sessions.values()
        ],
        "tasks": [
            {
                "id": f"{slug}/{t.id}",
                "initiative_id": slug,
                "title": t.title,
                "phase": t.step or None,
                "plan": t.plan or None,
                "wave": t.wave or None,
                "status": "blocked" if t.id in stuck and t.status != "done" else t.status,
                "priority": t.priority,
                "agent": t.agent or None,
                "depends_on_json": [f"{slug}/{other}" for other in t.depends_on],
                "assigned_at": t.assigned // 1000 if t.assigned is not None else None,
                "completed_at": t.completed // 1000 if t.completed is not None else None,
            }
            for t in p.tasks.values()
        ],
    }


def progress_told(p: Project) -> dict[str, int]:
    """The figures of a project's progress."""
    here = p.steps.get(p.current) or next(iter(p.steps.values()), None)
    if here and here.status in ("complete", "skipped"):
        here = ahead(p) or here  # the counters begin anew with the next
    of_here = [task for task in p.tasks.values() if here and task.step == here.key]
    total = max(here.tasks if here else 0, len(of_here))
    done = (here.tasks_done if here else 0) + sum(task.status == "done" for task in of_here)
    return {
        "phases_total": len(p.steps),
        "phases_completed": sum(s.status in ("complete", "skipped") for s in p.steps.values()),
        "current_phase_tasks": total,
        "current_phase_completed": min(total, done),
    }


def check(folder: Path, *projects: Project, file: str = ".passdown/tables.db") -> None:
    """The tables are whole, and have just the rows of these projects."""
    with closing(sqlite3.connect(f"file:{folder / file}?mode=ro", uri=True)) as db:
        db.row_factory = sqlite3.Row
        assert [row[0] for row in db.execute("PRAGMA integrity_check")] == ["ok"]
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        for table in told(Project("x")):
            rows = [dict(row) for row in db.execute(f"SELECT * FROM {table}")]
            for row in rows:
                for name in [name for name in row if name.endswith("_json")]:
                    row[name] = json.loads(row[name])
                row.pop("decision", None)
                figures = row.pop("progress_json", None)
                if figures is not None:
                    [of] = [p for p in projects if p.slug == row["initiative_id"]]
                    assert progress_told(of).items() <= figures.items()
                    assert figures["bar"].endswith("%")
            expected = [row for project in projects for row in told(project)[table]]
            assert sorted(rows, key=repr) == sorted(expected, key=repr), table
        meta = db.execute("SELECT project, version, hash FROM passdown_meta")
        assert sorted(map(tuple, meta)) == sorted(
            (p.slug, p.version, p.hash.hex()) for p in projects
        )
        check_words(db)


def check_words(db: sqlite3.Connection) -> None:
    """The index of the words is of the texts that are there."""
    with closing(sqlite3.connect(":memory:")) as twin:
        db.backup(twin)
        twin.execute("INSERT INTO texts_fts (texts_fts, rank) VALUES ('integrity-check', 1)")


# -- what may happen to the file -------------------------------------------------------------


def by_hand(statement: str) -> Callable[[Path], None]:
    """Somebody changes the tables with a tool of their own."""

    def change(path: Path) -> None:
        with closing(sqlite3.connect(path)) as db, suppress(sqlite3.IntegrityError), db:
            db.execute(statement)

    return change


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _noise(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 3)
        file.write(os.urandom(8192))


def _in_wal(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("UPDATE initiatives SET title = 'forged'")


HARM: dict[str, Callable[[Path], object]] = {
    "none": lambda path: None,
    "deleted": Path.unlink,
    "emptied": lambda path: path.write_bytes(b""),
    "not a database": lambda path: path.write_bytes(b"# notes\n" * 1000),
    "cut": _cut,
    "noise": _noise,
    "another's database": lambda path: shutil.copy(path.with_name("journal.db"), path),
    "updated": by_hand("UPDATE initiatives SET title = 'forged'"),
    "rows deleted": by_hand("DELETE FROM tasks"),
    "row added": by_hand("INSERT INTO tasks (id, initiative_id) VALUES ('x/T9', 'x')"),
    "marks deleted": by_hand("DELETE FROM passdown_meta"),
    "table dropped": by_hand("DROP TABLE initiative_blockers"),
    "column added": by_hand("ALTER TABLE tasks ADD COLUMN mine TEXT"),
    "words deleted": by_hand("DELETE FROM texts_fts_data"),
    "changed in WAL mode": _in_wal,
    "older form": by_hand("PRAGMA user_version = 0"),
}


@settings(deadline=None, max_examples=40)
@given(requests(), st.lists(st.sampled_from([*HARM, "none", "none"]), min_size=3, max_size=3))
def test_the_tables_are_what_the_state_says(history: list[e.Event], harms: list[str]) -> None:
    """After any requests, and whatever was done to the file, a sync makes them so again."""
    with tempfile.TemporaryDirectory() as folder, Journal.create(folder, lambda: START) as journal:
        workspace = Workspace(journal.folder)
        app = journal.handle("my-app")
        app.append(history[0])
        tables.keep(workspace, [app], whole=True)
        part = len(history) // len(harms) + 1
        for n, harm in enumerate(harms):
            HARM[harm](journal.folder / tables.FILE)
            for event in history[n * part : (n + 1) * part]:
                with suppress(PassdownError):
                    app.append(event, actor="ada")
            done = tables.keep(workspace, [app])
            assert done.well, done
            check(Path(folder), app.state)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A workspace with two projects and their tables."""
    good(tmp_path, "init", "shop", "--title", "Web Shop")
    good(tmp_path, "init", "blog", "--no-sync")
    (tmp_path / "passdown.toml").write_text(
        '[projections.state-md]\npath = ".planning/{project}/STATE.md"\n'
    )
    good(tmp_path, "tables")
    return tmp_path


def state(folder: Path, project: str) -> Project:
    with Journal.open(folder) as journal:
        return journal.project(project).state


def whole(folder: Path) -> None:
    """The tables have both projects."""
    check(folder, state(folder, "shop"), state(folder, "blog"))


@pytest.mark.parametrize("harm", HARM)
def test_every_harm_is_noticed_and_mended(shop: Path, harm: str) -> None:
    """`verify` sees it, the next recording command mends it for all projects and says nothing."""
    good(shop, "sync")
    HARM[harm](shop / ".passdown/tables.db")
    seen = quick(shop, "verify", "--json").json["tables"]
    assert seen is None if harm == "deleted" else (seen["status"] == "fresh") == (harm == "none")
    if harm == "deleted":
        return
    done = good(shop, "next", "Go on", "-p", "shop", "--json").json
    assert done["synced"]
    assert done["warnings"] == []
    whole(shop)
    assert good(shop, "verify").code == 0


def test_damage_that_leaves_no_trace(shop: Path) -> None:
    """With its size and time as they were, a changed file is found by `verify`, and recovered."""
    path = shop / ".passdown/tables.db"
    good(shop, "sync")
    time_was = path.stat().st_mtime_ns
    path.write_bytes(path.read_bytes().replace(b"Web Shop", b"Web Shot"))
    os.utime(path, ns=(time_was, time_was))
    seen = quick(shop, "verify")
    assert ".passdown/tables.db: corrupt" in seen.out
    assert seen.code == 1
    assert ".passdown/tables.db: corrupt, written" in good(shop, "recover").out
    whole(shop)


# -- when they are there ---------------------------------------------------------------------


def test_off_until_asked_for(tmp_path: Path) -> None:
    """Without `passdown tables` nothing makes them, and nothing of what makes them is imported."""
    good(tmp_path, "init", "shop")
    script = (
        "import sys\nfrom cli.app import run\nassert run(['next', 'Go on']) == 0\n"
        "assert run(['sync']) == 0\n"
        "print(sorted(m for m in sys.modules if m.startswith(('sqlite_utils', 'projections.ta'))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
    assert not (tmp_path / ".passdown/tables.db").exists()


def test_up_to_date_with_the_other_files(shop: Path) -> None:
    """Every command that records changes in them what differs, in the same file."""
    file = (shop / ".passdown/tables.db").stat().st_ino
    for command in ("step start 1", "decide --key region --value eu", "task add x --step 1"):
        good(shop, *command.split(), "-p", "shop")
        whole(shop)
    assert (shop / ".passdown/tables.db").stat().st_ino == file
    good(shop, "next", "later", "-p", "blog", "--no-sync")
    assert quick(shop, "verify", "--json").json["tables"]["status"] == "stale"
    assert good(shop, "sync", "--json").json["tables"]["status"] == "stale"
    whole(shop)
    assert ".passdown/tables.db: fresh" in good(shop, "verify").out
    before = files(shop)
    assert good(shop, "tables", "--json").json["written"] is False
    assert files(shop) == before


def test_up_to_date_after_an_edit_by_hand(tmp_path: Path) -> None:
    """What was adopted or put back, of a file that somebody edited, is in them at once."""
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    good(here, "init", "shop", "--title", "Web Shop")
    good(here, "tables")
    path = here / "agent-output/shop/00-session-state.json"
    for way in ("--adopt", "--revert"):
        path.write_text(path.read_text().replace('"decisions": {', '"decisions": {"region": "eu",'))
        quick(here, "drift", way)
        check(here, state(here, "shop"))
    assert state(here, "shop").version > 1
    shutil.copytree(path.parent, there / "agent-output/shop")
    good(there, "init", "blog")
    good(there, "tables")
    good(there, "adopt", "agent-output/shop/00-session-state.json")
    check(there, state(there, "blog"), state(there, "shop"))


def test_a_project_that_is_gone(shop: Path) -> None:
    """A journal restored from an older backup has fewer records, and so have the tables."""
    backup = shop.with_name("backup")
    shutil.copytree(shop, backup)
    good(shop, "step", "start", "1", "-p", "shop")
    good(shop, "init", "third")
    shutil.copy(shop / ".passdown/tables.db", backup / ".passdown/tables.db")
    shutil.copystat(shop / ".passdown/tables.db", backup / ".passdown/tables.db")
    good(backup, "sync")
    whole(backup)
    good(backup, "next", "another past", "-p", "shop")
    good(shop, "next", "one past", "-p", "shop")
    shutil.copy2(shop / ".passdown/tables.db", backup / ".passdown/tables.db")
    good(backup, "next", "x", "-p", "shop")
    whole(backup)


def test_what_stands_in_their_place(shop: Path) -> None:
    """Where the tables cannot be written a recording succeeds, and says what is wrong."""
    path = shop / ".passdown/tables.db"
    path.unlink()
    path.mkdir()
    done = good(shop, "next", "Go on", "-p", "shop", "--json")
    assert done.json["synced"] is False
    assert ".passdown/tables.db is a folder; move it away" in done.err
    assert quick(shop, "tables").code == 1
    assert len(good(shop, "search", "Go", "--json").json) == 1
    path.rmdir()
    assert good(shop, "next", "Go farther", "-p", "shop").err == ""


# -- several at once -------------------------------------------------------------------------


def test_a_reader_is_not_in_the_way(shop: Path) -> None:
    """Who reads in a transaction goes on reading what was there; others read what is there now."""
    path = shop / ".passdown/tables.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        title = "SELECT title FROM initiatives WHERE id = 'shop'"
        assert reader.execute(title).fetchone() == ("Web Shop",)
        good(shop, "append", "project.retitled", '{"title": "Market"}', "-p", "shop")
        assert reader.execute(title).fetchone() == ("Web Shop",)
        with closing(sqlite3.connect(path)) as other:
            assert other.execute(title).fetchone() == ("Market",)
    whole(shop)


def test_several_processes_at_once(shop: Path) -> None:
    """Commands of several processes leave tables of the last record of each project."""
    script = (
        "import sys\nfrom cli.app import run\n"
        "codes = {run(['finding', 'open', f'{sys.argv[1]} {n}', '-p', sys.argv[1]])"
        " for n in range(15)}\nassert codes == {0}, codes"
    )
    started = [
        subprocess.Popen(
            [sys.executable, "-c", script, name],
            cwd=shop,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        for name in ("shop", "blog", "shop")
    ]
    said = [process.communicate(timeout=120)[1] for process in started]
    assert said == [b"", b"", b""]
    whole(shop)


def test_killed_at_any_moment(shop: Path) -> None:
    """A writer that is killed leaves tables that the next one brings up to date, and no litter."""
    with Journal.open(shop) as journal:
        app = journal.project("shop")
        for n in range(12):
            app.open_finding(f"finding {n}")
            if n % 3 == 0:
                (shop / ".passdown/tables.db").unlink(missing_ok=True)
            child = os.fork()
            if child == 0:
                try:
                    with Journal.open(shop) as own:
                        tables.keep(Workspace(own.folder), [own.project("shop")])
                finally:
                    os._exit(0)
            time.sleep(0.004 * n)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            assert tables.keep(Workspace(journal.folder), [app]).well
            whole(shop)
    (shop / ".passdown/tables.db").unlink()
    good(shop, "tables")
    assert [name for name in os.listdir(shop / ".passdown") if "passdown-" in name] == []


# -- their form ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """The tables of a project in which much has happened, as sqlite-utils has them."""
    folder = tmp_path_factory.mktemp("tables")
    good(folder, "init", "shop", "--title", "Web Shop")
    for command in (
        *("step start 1", "plan add 1 schema", "plan start 1-1", "task add first --step 1"),
        *("task add second --step 1 --depends-on T001", "task add third"),
        *("decide --key region --value eu", "decide auth --choice OAuth --rationale simple"),
        *("blocker raise 'no key' --task T003", "session start night", "session end night"),
    ):
        good(folder, *shlex.split(command))
    good(folder, "tables", "--to", "shop.db")
    database = Database(folder / "shop.db")
    yield database
    database.close()


RECOMMENDED = {
    "initiative_state": (
        "initiative_id TEXT, current_phase INTEGER, current_plan INTEGER, current_task TEXT, "
        "current_wave INTEGER, status TEXT, progress_json TEXT, updated_at INTEGER"
    ),
    "initiative_decisions": (
        "id TEXT, initiative_id TEXT, date INTEGER, context TEXT, decision TEXT, reason TEXT, "
        "alternatives_json TEXT, reversible BOOLEAN"
    ),
    "initiative_blockers": (
        "id TEXT, initiative_id TEXT, status TEXT, description TEXT, identified_at INTEGER, "
        "affects_json TEXT, workaround TEXT, resolution TEXT, resolved_at INTEGER"
    ),
    "session_history": (
        "id TEXT, initiative_id TEXT, agent_id TEXT, started_at INTEGER, ended_at INTEGER, "
        "context_usage REAL, completed_json TEXT, issues_json TEXT, handoff_reason TEXT"
    ),
}


@pytest.mark.parametrize("name", RECOMMENDED)
def test_the_recommended_columns(made: Database, name: str) -> None:
    """The four tables have the names, types, order and keys of the recommended schema."""
    table = made.table(name)
    assert ", ".join(f"{c.name} {c.type}" for c in table.columns) == RECOMMENDED[name]
    assert table.pks == [RECOMMENDED[name].split()[0]]
    [key] = table.foreign_keys
    assert (key.column, key.other_table, key.other_column) == ("initiative_id", "initiatives", "id")


def test_every_table_is_described(made: Database) -> None:
    """TABLES.md has every table; every initiative_id is a foreign key and has an index."""
    names = [name for name in made.table_names() if not name.startswith("texts_fts_")]
    page = (ROOT / "docs/TABLES.md").read_text()
    for name in names:
        assert f"`{name}`" in page
        table = made.table(name)
        if "initiative_id" in [c.name for c in table.columns] and not name.endswith("_fts"):
            assert [key.other_table for key in table.foreign_keys] == ["initiatives"]
            assert "initiative_id" in [*table.pks, *(i.columns[0] for i in table.indexes)]
    assert made.table("texts").detect_fts() == "texts_fts"


def test_what_the_checks_refuse(made: Database) -> None:
    """A status that does not exist cannot be put in."""
    for table in ("initiative_blockers", "tasks", "initiatives"):
        with pytest.raises(sqlite3.IntegrityError, match="CHECK"), made.atomic():
            made.execute(f"UPDATE {table} SET status = 'new'")


def test_the_queries_in_the_document(made: Database) -> None:
    """The SQL in TABLES.md runs and finds what it is for."""
    [page] = blocks((ROOT / "docs/TABLES.md").read_text(), "sql")
    decided, blocked, waiting = (made.execute(sql).fetchall() for sql in page.split(";")[:3])
    assert [row[2:] for row in decided] == [("region", "eu"), ("auth", "OAuth")]
    assert blocked == [("shop/T003", "third", "no key")]
    assert waiting == [("second", "first")]


# -- a copy ----------------------------------------------------------------------------------


def test_a_copy_of_one_project(shop: Path) -> None:
    """`--to` writes the projects that are asked for, again and again, and nothing else."""
    good(shop, "tables", "--to", "copy.db", "-p", "shop")
    check(shop, state(shop, "shop"), file="copy.db")
    before = files(shop)
    good(shop, "tables", "--to", "copy.db")
    check(shop, state(shop, "shop"), state(shop, "blog"), file="copy.db")
    after = files(shop)
    assert before.pop("copy.db") != after.pop("copy.db")
    assert before == after


def test_a_copy_in_place_of_something_else(shop: Path) -> None:
    """What is no tables of ours is never replaced, wherever a link leads."""
    with closing(sqlite3.connect(shop / "mine.db")) as db, db:
        db.execute("CREATE TABLE mine (x)")
    (shop / "notes.txt").write_text("notes")
    (shop / "empty").write_text("")
    (shop / "link").symlink_to("notes.txt")
    before = files(shop)
    for place in ("mine.db", "notes.txt", "empty", "link", ".", ".passdown/journal.db"):
        assert quick(shop, "tables", "--to", place).code == 3, place
    assert quick(shop, "tables", "--to", ".passdown/journal.db-journal").code == 3
    assert quick(shop, "tables", "--to", "nowhere/copy.db").code == 9
    assert files(shop) == before


def test_a_new_process(tmp_path: Path) -> None:
    """The commands work as they are typed."""
    good(tmp_path, "init", "shop")
    assert run(tmp_path, "tables").code == 0
    assert run(tmp_path, "next", "Go on").err == ""
    check(tmp_path, state(tmp_path, "shop"))
