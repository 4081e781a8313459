"""The journal from Python: requests, ids, batches, races of real processes, cache and restore."""

import gc
import os
import shutil
import signal
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from itertools import count
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any, TypeVar

import pytest
from command import run
from msgspec.structs import replace
from strategies import START

import journal.journal
from journal import Appended, Handle, Journal, Project, Request, fold
from journal import events as e
from journal.audit import audit
from journal.clock import day
from journal.errors import Invalid, JournalUnavailable, KeyReused, NotFound, Rejected
from journal.payload import decode
from journal.workflows import generic, load

T = TypeVar("T")
PLAN = ("Build", "Test", "Ship")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace with one project of three steps, closed."""
    with Journal.create(tmp_path) as made:
        made.open_project("my-app", generic(PLAN))
    return tmp_path


@pytest.fixture
def log(folder: Path) -> Iterator[Journal]:
    """The journal of that workspace."""
    with Journal.open(folder) as opened:
        yield opened


@pytest.fixture
def app(log: Journal) -> Handle:
    """Its project."""
    return log.project("my-app")


def titles(app: Handle) -> Counter[str]:
    """How often each finding is in the journal."""
    found = [decode(record.type, record.data) for record in app.records()]
    return Counter(event.title for event in found if isinstance(event, e.FindingOpened))


def refolded(app: Handle) -> Project:
    """The state as the records alone give it."""
    return fold(app.slug, app.records())


def flaws(log: Journal) -> list[str]:
    """What an audit finds."""
    return [flaw.what for flaw in audit(log.store)]


# -- projects --------------------------------------------------------------------------------


def test_the_example_in_the_docstring_works(tmp_path: Path) -> None:
    """What the module shows is what a caller can type, and it starts the step."""
    Journal.create(tmp_path).open_project("my-app")
    text = journal.journal.__doc__ or ""
    example = text[text.index("with ") :].replace("path/to/workspace", str(tmp_path))
    exec(example, {"Journal": Journal})
    step = Journal.open(tmp_path).project("my-app").state.steps["2"]
    assert (step.status, step.started_by) == ("in_progress", "03-Architect")


def test_a_project_opened_twice_is_the_same(log: Journal, app: Handle) -> None:
    """Opening a project the way it was begun returns it and appends nothing."""
    assert log.open_project("my-app", generic(PLAN)) is app
    assert log.open_project("my-app", generic(PLAN), title="my-app").state.version == 1


def test_a_retitled_project_is_still_the_same(log: Journal, app: Handle) -> None:
    """The way a project was begun does not change when its title does."""
    app.append(e.ProjectRetitled("Another title"))
    assert log.open_project("my-app", generic(PLAN)).state.version == 2


@pytest.mark.parametrize(
    ("workflow", "more"),
    [
        (generic(PLAN), {"title": "Another"}),
        (generic(PLAN), {"native": "other-1"}),
        (generic((*PLAN, "Run")), {}),
        (generic(PLAN[:2]), {}),
        (generic(("Alpha", "Beta", "Gamma")), {}),
        (replace(generic(PLAN), policy=e.Policy(rerun=False, skip="person")), {}),
        (load("apex"), {}),
    ],
    ids=["title", "native id", "more steps", "fewer steps", "names", "policy", "workflow"],
)
def test_a_project_opened_differently_is_rejected(
    log: Journal, app: Handle, workflow: Any, more: dict[str, str]
) -> None:
    """A second opening that says something else is told so and changes nothing."""
    with pytest.raises(Rejected, match="there already"):
        log.open_project("my-app", workflow, **more)  # type: ignore[arg-type]
    assert app.state.version == 1


def test_a_project_that_is_not_there_is_named(log: Journal) -> None:
    """Asking for an unknown project offers the ones that exist."""
    with pytest.raises(NotFound) as caught:
        log.project("my-ap")
    assert caught.value.near == ("my-app",)
    with pytest.raises(Invalid, match="not a project name"):
        log.open_project("../my-app")
    assert log.projects() == ["my-app"]


# -- requests with an id ---------------------------------------------------------------------


def test_the_same_id_twice_appends_once(app: Handle) -> None:
    """The second time returns the first result and says that it is a repetition."""
    first = app.open_finding("leak", id="k-1")
    again = app.open_finding("leak", id="k-1")
    assert (first.repeated, again.repeated) == (False, True)
    assert (again.version, again.records) == (first.version, first.records)
    assert first.records[0].id == "k-1"
    assert app.state.version == 2


def test_additive_facts_are_told_apart_by_the_id_only(app: Handle) -> None:
    """Tokens without an id count each time, with an id once."""
    for _ in range(2):
        app.append(e.TokensUsed(10), actor="ada")
        app.append(e.TokensUsed(5), actor="ada", id="call-1")
    assert app.state.tokens["ada"].input == 25


def test_an_id_with_other_content_is_an_error(app: Handle) -> None:
    """A known id that says something else is refused, and names the version that has it."""
    app.open_finding("leak", id="k-1")
    for other in (e.FindingOpened("crack"), e.TokensUsed(1), e.StepCompleted("9")):
        with pytest.raises(KeyReused) as caught:
            app.append(other, id="k-1")
        assert (caught.value.key, caught.value.version) == ("k-1", 2)
    with pytest.raises(KeyReused):
        app.append(e.FindingOpened("leak"), e.FindingOpened("crack"), id="k-1")
    assert app.state.version == 2


def test_the_id_is_looked_up_before_the_state(log: Journal, app: Handle, folder: Path) -> None:
    """A known id is answered as before, even where the request would no longer be allowed."""
    app.start_step("1")
    with Journal.open(folder) as other:
        stale = other.project("my-app")
        assert stale.state.version == 2
        done = app.complete_step("1", id="done-1")
        app.append(e.ProjectArchived())
        assert stale.complete_step("1", id="done-1").version == done.version
    assert app.complete_step("1", id="done-1").records == done.records
    assert app.state.version == 4


def test_a_batch_has_one_id(app: Handle) -> None:
    """Its first record carries the key, the others name it as cause, and it repeats as a whole."""
    batch = (e.StepStarted("1"), e.FindingOpened("leak"), e.StepCompleted("1"))
    first = app.append(*batch, id="k-1", cause="id-0")
    assert [record.id == "k-1" for record in first.records] == [True, False, False]
    assert [record.cause for record in first.records] == ["id-0", "k-1", "k-1"]
    assert app.append(*batch, id="k-1").records == first.records
    with pytest.raises(KeyReused):
        app.append(*batch[:2], id="k-1")
    assert app.state.version == 4


def test_a_consequence_is_not_part_of_the_request(tmp_path: Path) -> None:
    """What names a request as its cause in the same microsecond is still another request."""
    with Journal.create(tmp_path, clock=lambda: START) as log:
        app = log.open_project("my-app")
        app.open_finding("leak", id="k-1")
        app.open_finding("a second look found more", cause="k-1")
        assert app.open_finding("leak", id="k-1").repeated


def test_two_processes_with_the_same_id_append_once(log: Journal, app: Handle) -> None:
    """Retries that overlap are one request, and both get its result."""
    results = at_once(_record_tokens, [(log.folder, f"call-{n % 5}") for n in range(10)])
    assert sorted(results) == sorted(2 * [(f"call-{n}", f"call-{n}") for n in range(5)])
    assert app.state.tokens["ada"].input == 5
    assert flaws(log) == []


def _record_tokens(folder: Path, key: str) -> tuple[str, str]:
    with Journal.open(folder) as log:
        done = log.project("my-app").append(e.TokensUsed(1), actor="ada", id=key)
    return key, done.records[0].id


# -- what appends nothing --------------------------------------------------------------------


def test_what_is_so_already_appends_nothing(app: Handle) -> None:
    """A request that changes nothing succeeds at the version that is there."""
    app.start_step("1", actor="ada")
    app.decide(key="region", value="northeurope")
    app.open_finding("leak")
    before = list(app.records())
    again = [
        app.start_step("1", actor="ada"),
        app.decide(key="region", value="northeurope"),
        app.open_finding("leak"),
        app.append(e.NextActionSet("")),
        app.append(),
    ]
    assert again == 5 * [Appended("my-app", 4)]
    assert list(app.records()) == before


@pytest.mark.parametrize(("old", "new"), [(1, True), (0, False), ([1], [True])])
def test_a_value_of_another_type_is_another_value(app: Handle, old: e.Json, new: e.Json) -> None:
    """In a file 1 and true are different values, so the second decision is a change."""
    app.decide(key="limit", value=old)
    app.decide(key="limit", value=new)
    state = app.state
    assert repr(state.decisions[state.keyed["limit"]].value) == repr(new)


def test_a_value_that_json_cannot_hold_is_refused(app: Handle) -> None:
    """A number without a JSON form is an error, never a silent null."""
    with pytest.raises(Invalid):
        app.decide(key="limit", value=float("nan"))
    with pytest.raises(Invalid):
        app.decide(key="limit", value=[float("inf")])
    assert app.state.version == 1


def test_a_rejected_request_appends_nothing(app: Handle) -> None:
    """A rejection says what was asked, what is so, and what would be allowed."""
    app.start_step("1", actor="ada")
    with pytest.raises(Rejected) as caught:
        app.start_step("1", actor="bob")
    no = caught.value
    assert no.asked == "start step 1 of my-app"
    assert no.state == "it is in_progress, started by ada"
    verbs = ("checkpoint 1 CHECKPOINT", "complete 1", "fail 1 MESSAGE", "skip 1")
    assert no.allowed == tuple(f"step {verb}" for verb in verbs)
    assert all(part in str(no) for part in (no.asked, no.state, *no.allowed))
    assert app.state.version == 2


def test_a_batch_is_all_or_nothing(app: Handle) -> None:
    """If one request of a batch is refused none is recorded, and `nth` says which it was."""
    before = app.state
    bad: list[tuple[e.Event, type[Exception]]] = [
        (e.StepCompleted("2"), Rejected),
        (e.StepCompleted("12"), NotFound),
        (e.FindingOpened(""), Invalid),
    ]
    for event, error in bad:
        with pytest.raises(error) as caught:
            app.append(e.StepStarted("1"), e.StepCompleted("1"), event, e.StepStarted("3"))
        assert getattr(caught.value, "nth", None) == 2
        assert app.state == before
    assert len(list(app.records())) == 1


def test_a_batch_is_decided_one_upon_the_other(app: Handle) -> None:
    """Each request of a batch sees what those before it made, each under its own name."""
    done = app.append_all(
        [
            Request(e.StepStarted("1"), "ada"),
            Request(e.StepCompleted("1"), "bob", occurred=START),
            Request(e.FindingOpened("leak"), "cy", "s-1"),
            Request(e.FindingOpened("leak"), "cy", "s-1"),
        ]
    )
    assert [record.actor for record in done.records] == ["ada", "bob", "cy"]
    assert app.state.steps["1"].completed == START
    assert app.state == refolded(app)


# -- many writers ----------------------------------------------------------------------------


def at_once(work: Callable[..., T], calls: Sequence[tuple[Any, ...]]) -> list[T]:
    """What the calls return, each made in a process of its own, all begun at the same moment."""
    context = get_context("spawn")
    barrier = context.Barrier(len(calls))
    with context.Pool(len(calls), _meet, (barrier,)) as pool:
        return pool.starmap_async(work, calls, 1).get(60)  # an error may not survive pickling


def _meet(barrier: Barrier) -> None:
    barrier.wait(60)


def _open_findings(folder: Path, who: str, count: int) -> list[int]:
    with Journal.open(folder) as log:
        app = log.project("my-app")
        return [app.open_finding(f"{who}-{n}", actor=who).version for n in range(count)]


@pytest.mark.parametrize(("writers", "count"), [(2, 50), (8, 100)])
def test_processes_that_write_at_once_all_succeed(
    log: Journal, app: Handle, writers: int, count: int
) -> None:
    """Every finding of every process is there, none twice, and nobody saw an error."""
    names = [f"writer-{n}" for n in range(writers)]
    versions = at_once(_open_findings, [(log.folder, name, count) for name in names])
    assert titles(app) == Counter(f"{name}-{n}" for name in names for n in range(count))
    assert sorted(v for own in versions for v in own) == list(range(2, writers * count + 2))
    assert app.state == refolded(app)
    assert flaws(log) == []


def test_threads_share_a_handle(log: Journal, app: Handle) -> None:
    """Eight threads on one handle: every finding is there once, and the state is the journal's."""
    threads = [
        threading.Thread(target=lambda who=who: [app.open_finding(f"{who}-{n}") for n in range(50)])
        for who in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert titles(app) == Counter(f"{who}-{n}" for who in range(8) for n in range(50))
    assert app.state == refolded(app)
    assert flaws(log) == []


def race(folder: Path, *requests: e.Event) -> list[Appended | Rejected]:
    """What handles of their own get that have all decided on the same state before any appends."""
    journals = [Journal.open(folder) for _ in requests]
    results: list[Appended | Rejected] = []

    def ask(own: Journal, event: e.Event) -> None:
        try:
            results.append(own.project("my-app").append(event))
        except Rejected as no:
            results.append(no)

    pairs = zip(journals, requests, strict=True)
    threads = [threading.Thread(target=ask, args=pair) for pair in pairs]
    with Journal.open(folder) as gate, gate.store.locked():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(0.3)
        assert all(thread.is_alive() for thread in threads)
    for thread in threads:
        thread.join(60)
    for own in journals:
        own.close()
    return results


def test_two_findings_at_the_same_moment_both_succeed(folder: Path, app: Handle) -> None:
    """Whoever comes second decides again and gets the next id."""
    results = race(folder, e.FindingOpened("leak"), e.FindingOpened("crack"))
    assert [type(result) for result in results] == [Appended, Appended]
    assert sorted(app.state.findings) == ["F001", "F002"]


def test_of_two_that_complete_a_step_one_is_rejected(folder: Path, app: Handle) -> None:
    """One success and one clear rejection; the step is completed once."""
    app.start_step("1")
    results = race(folder, e.StepCompleted("1", summary="a"), e.StepCompleted("1", summary="b"))
    assert sorted(type(result).__name__ for result in results) == ["Appended", "Rejected"]
    assert [str(no) for no in results if isinstance(no, Rejected)] == [
        "cannot complete step 1 of my-app: it is complete; allowed now: step rerun 1"
    ]
    assert [record.type for record in app.records(2)] == ["step.completed"]


# -- reading ---------------------------------------------------------------------------------


def test_the_state_is_the_callers_own(app: Handle) -> None:
    """Appends do not change a state that was handed out, and its holder changes nobody else's."""
    app.decide(key="zones", value=["a", {"b": [1]}])
    mine = app.state
    before = mine.copy()
    app.open_finding("leak")
    assert mine == before
    mine.findings.clear()
    mine.title = "mine"
    value: Any = mine.decisions["D001"].value
    value.append("mine")
    value[1]["b"].append("mine")
    assert app.state == refolded(app)


def test_the_state_at_a_version(app: Handle) -> None:
    """Each version has its state for ever; versions that never were are refused."""
    seen = [app.state]
    for n in range(5):
        app.open_finding(f"f-{n}")
        seen.append(app.state)
    assert [app.at(version) for version in range(1, 7)] == seen
    for version in (-1, 0, 7):
        with pytest.raises(Invalid, match="versions 1 to 6"):
            app.at(version)


def test_the_version_at_a_moment(tmp_path: Path) -> None:
    """The last version recorded at or before a moment, also where several share it."""
    times = iter(
        [START, START, START + 20, START + 20, START + 5, START + 5, START + 40, START + 40]
    )
    with Journal.create(tmp_path, clock=lambda: next(times)) as log:
        app = log.handle("my-app")
        opened = e.ProjectOpened("x", "generic", generic(PLAN).steps)
        for event in (opened, *(e.FindingOpened(f"f-{n}") for n in range(3))):
            app.append(event)
        assert [record.at - START for record in app.records()] == [0, 20, 20, 40]
        moments = (0, 19, 20, 39, 40, 99)
        assert [app.version_at(START + n) for n in moments] == [1, 1, 3, 3, 4, 4]
        with pytest.raises(Invalid, match="no records yet"):
            app.version_at(START - 1)


def test_the_same_request_is_proposed_at_the_time_of_the_first(tmp_path: Path) -> None:
    """What a function makes of the day is the same again under the same id, however late it is."""
    present = START
    with Journal.create(tmp_path, clock=lambda: present) as log:
        handle = log.open_project("my-app", generic(PLAN))

        def propose(state: Project, now: int) -> list[Request]:
            return [Request(e.FindingOpened(f"found on {day(now)}"))]

        first = handle.append_decided(propose, id="k")
        present += 24 * 3600 * 1_000_000
        again = handle.append_decided(propose, id="k")
        other = handle.append_decided(propose)
    assert (again.records, again.repeated) == (first.records, True)
    assert other.records[0].data != first.records[0].data


@pytest.mark.parametrize("live", [False, True], ids=["closed", "while a writer has it open"])
def test_reads_never_write(folder: Path, live: bool) -> None:
    """Reading leaves every byte of the workspace as it was (-shm, empty -wal, cache excepted)."""
    writer = Journal.open(folder)
    writer.project("my-app").append(*(e.FindingOpened(f"f-{n}") for n in range(300)))
    if not live:
        writer.close()
    before = contents(folder)
    with Journal.open(folder) as log:
        app = log.project("my-app")
        assert app.state == app.at(app.version_at(app.state.updated)) == refolded(app)
        assert log.projects() == ["my-app"]
        assert flaws(log) == []
    assert contents(folder) == before
    writer.close()


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a workspace that a reader has to leave alone, and what is in it."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.parent.name != "cache"]
    kept = {str(path): path.read_bytes() for path in files if path.suffix != ".db-shm"}
    return {name: content for name, content in kept.items() if content or "-wal" not in name}


# -- a journal that was replaced -------------------------------------------------------------


def restore_other(log: Journal, *history: e.Event) -> None:
    """Go back to the project as it was opened, with another history since then."""
    for old in log.folder.glob("journal.db*"):
        old.unlink()
    shutil.copy(log.folder / "backup", log.folder / "journal.db")
    with Journal.open(log.folder) as other:
        other.project("my-app").append(*history)


@pytest.fixture
def backup(log: Journal, folder: Path) -> None:
    """A copy of the journal, made as SQLite makes copies of what is in use."""
    with (
        closing(sqlite3.connect(log.folder / "journal.db")) as journal,
        closing(sqlite3.connect(log.folder / "backup")) as copy,
    ):
        journal.backup(copy)


@pytest.mark.usefixtures("backup")
@pytest.mark.parametrize("lost", [1, 3, 6], ids=["longer", "as long", "shorter"])
def test_an_open_handle_serves_a_restored_journal(log: Journal, app: Handle, lost: int) -> None:
    """After a restore, a handle neither serves nor builds on what the journal no longer says."""
    for n in range(lost):
        app.open_finding(f"lost-{n}")
    kept = [f"kept-{n}" for n in range(3)]
    restore_other(log, *map(e.FindingOpened, kept))
    assert list(app.state.open_findings) == kept
    assert app.open_finding("lost-0").version == 5
    assert list(titles(app)) == [*kept, "lost-0"]
    assert app.state == refolded(app)
    assert flaws(log) == []


@pytest.mark.usefixtures("backup")
@pytest.mark.parametrize("kept", [0, 1, 2], ids=["shorter", "as long", "longer"])
def test_a_request_after_a_restore_is_decided_on_what_is_there(
    log: Journal, app: Handle, kept: int
) -> None:
    """If an append is the first thing after a restore, it does not rest on the lost state."""
    app.start_step("1")
    restore_other(log, *(e.FindingOpened(f"kept-{n}") for n in range(kept)))
    with pytest.raises(Rejected, match="it is pending"):
        app.complete_step("1")
    assert app.start_step("1").version == kept + 2
    assert app.state == refolded(app)


@pytest.mark.usefixtures("backup")
def test_a_project_that_a_restore_took_away_is_missed(log: Journal, app: Handle) -> None:
    """A project that is no longer in the journal has no state, and says so."""
    web = log.open_project("web")
    assert web.state.version == 1
    restore_other(log)
    with pytest.raises(NotFound):
        web.open_finding("leak")
    assert web.state == Project("web")
    assert log.projects() == ["my-app"]


def test_a_closed_journal_says_so(log: Journal, app: Handle) -> None:
    """What is asked of a closed journal is refused, not quietly done with another one."""
    log.close()
    for ask in (lambda: app.start_step("1"), lambda: app.at(1), lambda: app.state):
        with pytest.raises(JournalUnavailable, match="open it again"):
            ask()


def test_a_handle_that_lives_on_beside_commands_that_come_and_go(folder: Path) -> None:
    """A process that exits must not take the log away under one that goes on writing."""
    with Journal.open(folder) as mine:
        app = mine.project("my-app")
        for n in range(3):
            app.open_finding(f"mine-{n}")
            assert run(folder, "finding", "open", f"theirs-{n}").code == 0
            app.open_finding(f"mine-{n} again")
            assert run(folder, "verify").code in (0, 1)
            gone = [name for name in open_files() if name.endswith("(deleted)")]
            assert not [name for name in gone if name.startswith(str(folder))]
        expected = [f"{who}-{n}{more}" for n in range(3) for who, more in WAYS]
    with Journal.open(folder) as again:
        assert list(again.project("my-app").state.open_findings) == expected


WAYS = (("mine", ""), ("theirs", ""), ("mine", " again"))


def open_files() -> list[str]:
    """The journal's files that this process has open."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            found.append(os.readlink(f"/proc/self/fd/{name}"))
    return [name for name in found if "journal.db" in name]


def test_a_foreign_close_does_not_lose_what_follows(folder: Path) -> None:
    """Whoever opens and closes the file in our process drops SQLite's locks; it is noticed."""
    with Journal.open(folder) as mine:
        app = mine.project("my-app")
        app.open_finding("before")
        (mine.folder / "journal.db").read_bytes()
        assert run(folder, "finding", "open", "theirs").code == 0
        app.open_finding("after")
    with Journal.open(folder) as again:
        found = list(again.project("my-app").state.open_findings)
        assert found == ["before", "theirs", "after"]
        assert flaws(again) == []


@pytest.mark.parametrize(
    "ask",
    [
        lambda app: app.open_finding("t", occurred="now"),
        lambda app: app.open_finding("t", occurred=True),
        lambda app: app.open_finding("t", occurred=2**70),
        lambda app: app.open_finding(b"t"),
        lambda app: app.open_finding("t", actor=3),
        lambda app: app.open_finding("t", id=b"k"),
        lambda app: app.append("finding.opened"),
        lambda app: app.start_step(1),
        lambda app: app.decide(key="k", value=b"bytes"),
        lambda app: app.at(-1),
    ],
)
def test_what_has_the_wrong_type_is_refused(app: Handle, ask: Callable[[Any], Any]) -> None:
    """Whoever has no type checker is told as well, and nothing is recorded."""
    with pytest.raises(Invalid):
        ask(app)
    assert app.state.version == 1


def test_an_argument_that_is_none_of_ours_is_a_mistake(app: Handle) -> None:
    """A misspelt keyword does not pass in silence."""
    with pytest.raises(TypeError, match="sesion"):
        app.open_finding("t", sesion="x")  # type: ignore[call-arg]


def test_a_child_of_a_busy_parent_goes_on(log: Journal, app: Handle) -> None:
    """A fork while other threads append, and while journals that nobody closed are collected,
    leaves the child able to work."""
    done = threading.Event()

    def write(name: str) -> None:
        for n in count():
            app.open_finding(f"{name}-{n}")
            if n % 10 == 0:
                forgotten = [Journal.open(log.folder)]
                forgotten[0].projects()
                forgotten.append(forgotten)  # type: ignore[arg-type]  # for the collector
                del forgotten
                gc.collect()
            if done.is_set():
                return

    threads = [threading.Thread(target=write, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    children = []
    for n in range(40):
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(60)  # a child that waits for a lock of its parent's waits for ever
            try:
                app.open_finding(f"child-{n}")
                os._exit(0)
            finally:
                os._exit(1)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    done.set()
    for thread in threads:
        thread.join()
    assert codes == [0] * 40
    assert {f"child-{n}" for n in range(40)} <= set(app.state.open_findings)
    assert flaws(log) == []
