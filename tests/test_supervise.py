"""Sessions that died in the middle of a task: found by their silence, marked, taken up again."""

import fcntl
import json
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from command import files, good, quick, run
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import APEX_STEPS, MINUTE, Chain

from cli import exits
from cli.supervise import give_back
from journal import Handle, Journal, Project, Request
from journal import events as e
from journal.clock import now
from journal.errors import PassdownError
from journal.request import decided
from journal.supervision import PATIENCE, crash, stale, stretch
from journal.workflows import generic

ROOT = Path(__file__).parents[1]
SECOND = 1_000_000
WORK = (e.TaskStarted("T001"), "coder", "night")


class Clock:
    """The time, as a test sets it."""

    def __init__(self, behind: int = 0) -> None:
        self.now = now() - behind

    def __call__(self) -> int:
        return self.now


def begun(folder: Path, clock: Clock, *projects: str, tasks: int = 2) -> None:
    """Projects with tasks, and an agent in the middle of the first of each."""
    with Journal.create(folder, clock) as journal:
        for slug in projects:
            handle = journal.open_project(slug, generic(("Build", "Ship")))
            handle.append(*(e.TaskAdded(f"task {n}", step="1") for n in range(tasks)))
            begin(handle)


def begin(handle: Handle, task: str = "T001", agent: str = "coder", session: str = "night") -> None:
    """An agent begins a session, and a task in it."""
    handle.append(e.SessionStarted(name=session), actor=agent)
    handle.append(e.TaskStarted(task), actor=agent, session=session)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A workspace with an agent that has shown no progress for 47 minutes."""
    begun(tmp_path, Clock(47 * MINUTE), "shop")
    return tmp_path


def records(folder: Path, slug: str = "shop") -> list[dict[str, Any]]:
    """The records of a project."""
    said = good(folder, "log", "-n", "0", "-p", slug, "--json").out
    return [json.loads(line) for line in said.splitlines()]


def kinds(folder: Path, slug: str = "shop") -> list[str]:
    """The types of its records since the agent was at work."""
    every = [record["type"] for record in records(folder, slug)]
    return every[every.index("task.started") + 1 :]


# -- the story -------------------------------------------------------------------------------

#: An agent whose clock is that of 47 minutes ago, for as long as it lives.
AGENT = """
import time
from journal import Journal, events as e
from journal.clock import now

with Journal.open(".", lambda: now() - 47 * 60_000_000) as journal:
    auth = journal.project("auth")
    auth.append(e.SessionStarted(), actor="worker-c")
    who = {"actor": "worker-c", "session": "session-003"}
    auth.append(e.TaskStarted("T002"), **who)
    auth.append(e.FilesChanged("src/rotation.ts", "created"), **who)
    print("at work", flush=True)
    time.sleep(600)
    auth.append(e.TaskCompleted("T002"), **who)
"""


def test_an_agent_is_killed_in_the_middle_of_a_task(tmp_path: Path) -> None:
    """The supervisor finds it, another agent takes up its task, and STATE.md tells how that was."""
    with Journal.create(tmp_path, Clock(180 * MINUTE)) as journal:
        auth = journal.open_project("auth", generic(("Database", "JWT", "OAuth", "UI")))
        auth.append(e.StepStarted("2"), e.PlanAdded("2", "Rotation"), e.PlanStarted("2-1"))
        for title in ("Sign tokens", "Refresh token rotation", "Revocation"):
            auth.append(e.TaskAdded(title, plan="2-1"))
        for who, session in (("worker-a", "session-001"), ("worker-b", "session-002")):
            auth.append(e.SessionStarted(), actor=who)
            auth.append(e.SessionEnded(session), actor=who)
    with subprocess.Popen(
        [sys.executable, "-c", AGENT],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    ) as agent:
        assert agent.stdout
        assert agent.stdout.readline() == "at work\n"
        assert "every session with a task" in run(tmp_path, "supervise", "--after", "2h").out
        agent.send_signal(signal.SIGKILL)
    done = run(tmp_path, "supervise")
    assert done == (
        0,
        "auth: session-003 of worker-c crashed (no progress for 47 minutes); T002 open again\n",
        "",
    )

    def state() -> Any:
        return yaml.safe_load((tmp_path / ".planning/STATE.md").read_text())

    crashed = state()["sessions"][-1]
    assert (crashed["id"], crashed["status"]) == ("session-003", "crashed")
    assert crashed["notes"] == "no progress for 47 minutes, T002 reset"
    task = re.findall(r"T\d+", crashed["notes"])[0]
    assert run(tmp_path, "session", "start", "--actor", "worker-d").code == 0
    begun = run(tmp_path, "task", "start", task, "--actor", "worker-d", "-s", "session-004")
    assert (begun.code, begun.err) == (0, "")
    assert state()["position"]["task"] == "Refresh token rotation"
    *_, before, after = state()["sessions"]
    assert before == crashed
    assert (after["id"], after["status"]) == ("session-004", "active")
    assert after["continues"] == "session-003"
    assert after["notes"] == "Resuming from session-003 crash"
    assert after["working_on"] == "Phase 2, T002: Refresh token rotation"
    assert run(tmp_path, "supervise").out == "auth: every session with a task shows progress\n"
    assert run(tmp_path, "verify").code == 0


def test_by_the_clock_of_the_journal(tmp_path: Path) -> None:
    """After half an hour to the microsecond it is not yet stale, one later it is."""
    clock = Clock()
    begun(tmp_path, clock, "shop")
    with Journal.open(tmp_path, clock) as journal:
        handle = journal.project("shop")
        clock.now += PATIENCE
        assert give_back(handle, PATIENCE, "supervisor") == []
        clock.now += 1
        [one] = give_back(handle, PATIENCE, "supervisor")
        assert (one.session.id, one.idle, one.since) == (
            "session-001",
            PATIENCE + 1,
            clock.now - PATIENCE - 1,
        )
        task, session = handle.state.tasks["T001"], handle.state.sessions["session-001"]
        assert (task.status, task.agent, task.session, task.assigned) == ("open", "", None, None)
        assert (session.status, session.ended) == ("crashed", clock.now)
        assert {record.actor for record in handle.records(handle.version - 2)} == {"supervisor"}
        assert give_back(handle, PATIENCE, "supervisor") == []


def test_two_supervisors_at_once_do_it_once(shop: Path) -> None:
    """All of them wait for the same lock; who comes later finds it done."""
    with (shop / ".passdown/write.lock").open("r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        command = [sys.executable, "-m", "passdown", "supervise", "--json"]
        waiting = [
            subprocess.Popen(command, cwd=shop, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            for _ in range(3)
        ]
        time.sleep(1.5)
        assert all(each.poll() is None for each in waiting)
        fcntl.flock(held, fcntl.LOCK_UN)
    said = [each.communicate(timeout=60) for each in waiting]
    assert [(each.returncode, err) for each, (_, err) in zip(waiting, said, strict=True)] == [
        (0, b"")
    ] * 3
    found = [json.loads(out)["projects"][0]["crashed"] for out, _ in said]
    assert sorted(len(each) for each in found) == [0, 0, 1]
    assert kinds(shop) == ["session.crashed", "task.reset"]


# -- what is said ----------------------------------------------------------------------------


def test_a_dry_run_leaves_everything_as_it_was(shop: Path) -> None:
    """It says what would be done, for a person and as data, and records nothing."""
    before = files(shop)
    said = good(shop, "supervise", "--dry-run")
    assert said.out == (
        "shop: session-001 of coder would be marked as crashed (no progress for 47 minutes); "
        "T001 would be open again\n"
    )
    data = good(shop, "supervise", "--dry-run", "--json").json
    assert data["dry_run"] is True
    [project] = data["projects"]
    assert project["synced"] is None
    [one] = project["crashed"]
    assert (one["session"], one["agent"], one["minutes"]) == ("session-001", "coder", 47)
    assert one["tasks"] == ["T001"]
    assert files(shop) == before


def test_what_is_on_record(shop: Path) -> None:
    """The crash says why, the reset says because of whom, and both say who found out."""
    good(shop, "supervise", "--actor", "night-watch")
    crashed, reset = records(shop)[-2:]
    assert crashed["data"] == {
        "session": "session-001",
        "reason": "no progress for 47 minutes, T001 reset",
    }
    assert reset["data"] == {
        "task": "T001",
        "reason": "session-001 crashed, no progress for 47 minutes",
    }
    assert crashed["actor"] == reset["actor"] == "night-watch"
    assert crashed["session"] is reset["session"] is None


def test_several_projects(tmp_path: Path) -> None:
    """All are looked at, or the one that is named; what is archived is left alone."""
    begun(tmp_path, Clock(47 * MINUTE), "auth", "docs", "old", "shop")
    good(tmp_path, "session", "note", "half way", "-s", "night", "-p", "docs", "--no-sync")
    good(tmp_path, "append", "project.archived", "-p", "old", "--no-sync")
    assert good(tmp_path, "supervise", "-p", "docs").out == (
        "docs: every session with a task shows progress\n"
    )
    assert good(tmp_path, "supervise").out == (
        "auth: session-001 of coder crashed (no progress for 47 minutes); T001 open again\n"
        "docs: every session with a task shows progress\n"
        "old: archived, left alone\n"
        "shop: session-001 of coder crashed (no progress for 47 minutes); T001 open again\n"
    )
    assert kinds(tmp_path, "auth") == kinds(tmp_path, "shop") == ["session.crashed", "task.reset"]
    assert kinds(tmp_path, "docs") == ["session.noted"]
    assert kinds(tmp_path, "old") == ["project.archived"]


def test_every_task_of_a_session_is_reset(tmp_path: Path) -> None:
    """Those that it began, those that it only claimed; of many the reason gives the number."""
    begun(tmp_path, Clock(47 * MINUTE), "shop", tasks=9)
    with Journal.open(tmp_path, Clock(40 * MINUTE)) as journal:
        handle = journal.project("shop")
        for n in range(2, 8):
            handle.append(e.TaskClaimed(f"T00{n}"), actor="coder", session="night")
        handle.append(e.TaskCompleted("T003"), actor="coder", session="night")
    named = "T001, T002, T004, T005, T006, T007 open again"
    assert f"(no progress for 40 minutes); {named}" in good(tmp_path, "supervise").out
    state = good(tmp_path, "show", "--json").json
    assert state["sessions"]["session-001"]["reason"] == "no progress for 40 minutes, 6 tasks reset"
    assert {id for id, task in state["tasks"].items() if task["status"] != "open"} == {"T003"}


def test_files_that_cannot_follow_are_no_failure(shop: Path) -> None:
    """What was recorded is told, with a word about the file that could not follow."""
    good(shop, "sync")
    state = shop / ".planning/STATE.md"
    state.write_text(state.read_text().replace("title: ", "title: My "))
    said = quick(shop, "supervise", "--json")
    assert said.code == 0
    [project] = said.json["projects"]
    assert project["synced"] is False
    assert "STATE.md" in project["warnings"][0]
    assert "STATE.md" in said.err
    assert kinds(shop) == ["session.crashed", "task.reset"]


@pytest.mark.parametrize(
    ("after", "found"),
    [("0", 1), ("0s", 1), ("46", 1), ("46m", 1), ("2820s", 1), ("1h", 0), ("48", 0), ("1d", 0)],
)
def test_how_long_is_too_long(shop: Path, after: str, found: int) -> None:
    """Minutes, or a number with its unit; by option or by environment."""
    for words, env in (
        (("--after", after), {}),
        ((), {"PASSDOWN_STALE_AFTER": after}),
    ):
        said = good(shop, "supervise", "--dry-run", "--json", *words, env=env).json
        assert len(said["projects"][0]["crashed"]) == found


@pytest.mark.parametrize("after", ["", "x", "-1", "1.5h", "2 h", "٣", "1y", "9999999"])
def test_no_stretch_of_time(shop: Path, after: str) -> None:
    """Anything else is refused in a sentence that says how to write it."""
    said = quick(shop, "supervise", f"--after={after}")
    assert said.code == exits.INVALID
    assert "is no stretch of time; give minutes, or like 90s, 45m or 2h" in said.err
    assert kinds(shop) == []


def test_a_file_that_was_corrupt_is_restored_with_a_word(shop: Path) -> None:
    """Whoever cut it can have its bytes back."""
    good(shop, "sync")
    (shop / ".planning/STATE.md").write_text("mine")
    said = good(shop, "supervise")
    assert ".planning/STATE.md was corrupt and is restored; its bytes are in " in said.err


# -- over and over ---------------------------------------------------------------------------


@contextmanager
def watching(folder: Path, *args: str) -> Iterator[subprocess.Popen[str]]:
    """A supervisor that looks every second; a second without progress is too long for it."""
    words = ("supervise", "--watch", "--every", "1", "--after", "1s", *args)
    with subprocess.Popen(
        [sys.executable, "-m", "passdown", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def interrupted(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What else it said until Ctrl-C."""
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)
    assert process.returncode == exits.INTERRUPTED
    return said


def test_watch_acts_on_what_comes_later(tmp_path: Path) -> None:
    """It tells what it did, nothing else, and ends with Ctrl-C."""
    good(tmp_path, "init", "shop")
    with watching(tmp_path) as supervisor:
        assert supervisor.stdout
        time.sleep(1)
        for slug in ("shop", "auth"):
            with Journal.create(tmp_path) as journal:
                handle = journal.open_project(slug)
                handle.append(e.TaskAdded("x"))
                begin(handle)
            line = supervisor.stdout.readline()
            assert re.fullmatch(
                rf"{slug}: session-001 of coder crashed \(no progress for \d+ seconds?\); "
                r"T001 open again\n",
                line,
            ), line
        assert interrupted(supervisor)[0] == ""
    assert kinds(tmp_path) == kinds(tmp_path, "auth") == ["session.crashed", "task.reset"]


def test_watch_tells_once_what_it_would_do(shop: Path) -> None:
    """A dry run finds the same again and again; it is news only once."""
    with watching(shop, "--dry-run", "--json") as supervisor:
        assert supervisor.stdout
        [project] = json.loads(supervisor.stdout.readline())["projects"]
        assert len(project["crashed"]) == 1
        time.sleep(2.5)
        assert interrupted(supervisor) == ("", "")
    assert kinds(shop) == []


def test_watch_outlasts_a_journal_that_cannot_be_written_just_now(shop: Path) -> None:
    """It says so, and does at the next look what it could not do before."""
    lock = shop / ".passdown/write.lock"
    lock.unlink()
    lock.mkdir()
    assert run(shop, "supervise").code == exits.UNAVAILABLE
    with watching(shop) as supervisor:
        assert supervisor.stdout
        assert supervisor.stderr
        assert "the next look is in 1 s" in supervisor.stderr.readline()
        shutil.rmtree(lock)
        assert "session-001 of coder crashed" in supervisor.stdout.readline()
    assert kinds(shop) == ["session.crashed", "task.reset"]


# -- what is progress ------------------------------------------------------------------------


def chain() -> Chain:
    """An agent in the middle of a task, in a session that goes by the name of night."""
    return (
        Chain("shop")
        .add(e.ProjectOpened("Shop", "apex", APEX_STEPS))
        .add(e.TaskAdded("one", "T001"))
        .add(e.TaskAdded("two", "T002"))
        .add(e.SessionStarted("coder", "night", session="session-001"), "coder")
        .add(*WORK)
    )


def ids(project: Project, moment: int) -> list[str]:
    """The sessions that are stale at a moment."""
    return [one.session.id for one in stale(project, moment)]


@pytest.mark.parametrize(
    "event",
    [
        e.SessionNoted("still at it", session="session-001"),
        e.FilesChanged("a.py"),
        e.TokensUsed(10),
        e.FindingOpened("x", finding="F001"),
        e.StepStarted("1"),
        e.ContextNoted("skill", "x"),
    ],
    ids=lambda event: event.type,
)
def test_any_event_of_the_session_is_progress(event: e.Event) -> None:
    """By whichever name the session goes; those of somebody else are none."""
    for name, found in (("night", []), ("session-001", []), (None, 1), ("day", 1)):
        told = chain()
        told.at += 40 * MINUTE
        told.add(event, "coder", name)
        assert ids(told.project, told.at) == (["session-001"] if found else [])


def test_a_heartbeat_is_no_progress() -> None:
    """A process may be alive and stuck."""
    told = chain()
    for _ in range(8):
        told.at += 5 * MINUTE
        told.add(e.SessionHeartbeat("session-001"), "coder", "session-001")
    assert told.project.sessions["session-001"].heartbeat == told.at - MINUTE
    assert ids(told.project, told.at) == ["session-001"]


def test_a_session_without_a_task_is_left_alone() -> None:
    """Nobody waits for it."""
    told = chain().add(e.TaskCompleted("T001"), "coder", "night")
    assert ids(told.project, told.at + 600 * MINUTE) == []


def test_a_task_without_a_session_is_its_agents() -> None:
    """It was begun beside the session by the same agent, and being given it is progress."""
    told = chain().add(e.TaskCompleted("T001"), "coder", "night")
    told.at += 40 * MINUTE
    told.add(e.TaskClaimed("T002", "coder"), "boss")
    assert ids(told.project, told.at) == []
    [one] = stale(told.project, told.at + 40 * MINUTE)
    assert (one.session.id, [task.id for task in one.tasks]) == ("session-001", ["T002"])


def test_a_task_left_by_a_session_that_is_over_is_its_agents() -> None:
    """Whoever begins anew goes on with the task that is still its own, and answers for it."""
    told = chain().add(e.SessionEnded("session-001", handoff_reason="superseded"), "coder")
    assert ids(told.project, told.at + 600 * MINUTE) == []
    told.add(e.SessionStarted("writer", session="session-002"), "writer")
    assert ids(told.project, told.at + 600 * MINUTE) == []
    told.add(e.SessionStarted("coder", session="session-003"), "coder")
    assert ids(told.project, told.at) == []
    assert ids(told.project, told.at + 31 * MINUTE) == ["session-003"]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        *((0, "0 seconds"), (1, "1 second"), (119, "119 seconds"), (120, "2 minutes")),
        *((47 * 60, "47 minutes"), (7199, "119 minutes"), (7200, "2 hours")),
        *((47 * 3600, "47 hours"), (48 * 3600, "2 days")),
    ],
)
def test_a_stretch_of_time_in_words(seconds: int, words: str) -> None:
    """There is never one of a unit but the smallest."""
    assert stretch(seconds * SECOND + 999_999) == words


# -- sessions that are over ------------------------------------------------------------------


def test_nothing_more_happens_to_a_session_that_is_over(shop: Path) -> None:
    """One clear sentence each, and nothing is changed."""
    good(shop, "supervise")
    before = files(shop)
    for verb, asked in (
        ("heartbeat", "record a heartbeat of session session-001"),
        ("end", "end session session-001"),
    ):
        said = quick(shop, "session", verb, "night")
        assert (said.code, said.out) == (exits.REJECTED, "")
        offer = "allowed now: session start"
        assert said.err == f"passdown: cannot {asked}: it has crashed; {offer}\n"
    said = quick(shop, "session", "end", "nobody")
    assert said.code == exits.NOT_FOUND
    assert said.err.startswith("passdown: no session 'nobody'")
    assert files(shop) == before
    good(shop, "session", "start", "day", "--actor", "coder")
    good(shop, "session", "end", "day")
    again = quick(shop, "session", "end", "day")
    assert again.code == exits.REJECTED
    assert "cannot end session session-002: it has ended" in again.err


# -- laws ------------------------------------------------------------------------------------

AGENTS = st.sampled_from(("ada", "bob", ""))
TASKS = st.sampled_from(("T001", "T002", "T003"))
EVENTS = st.one_of(
    AGENTS.map(lambda name: e.SessionStarted(name=name)),
    st.just(e.SessionEnded()),
    st.just(e.SessionResumed()),
    st.just(e.SessionNoted("x")),
    st.just(e.SessionHeartbeat()),
    TASKS.map(e.TaskStarted),
    TASKS.map(e.TaskClaimed),
    TASKS.map(e.TaskCompleted),
    TASKS.map(lambda task: e.TaskBlocked(task, reason="x")),
)
#: Who has begun which task before anything else happens.
BEGINNINGS = ((("ada", "T001"),), (("ada", "T001"), ("bob", "T002")))
STEPS = st.tuples(EVENTS, AGENTS, st.booleans(), st.integers(0, 50))


@st.composite
def lived(draw: st.DrawFn) -> Chain:
    """What agents did, as far as the rules admit it; each calls its session by its own name."""
    told = Chain("shop").add(e.ProjectOpened("Shop", "apex", APEX_STEPS))
    for n in range(3):
        told.add(e.TaskAdded("x", f"T00{n + 1}"))
    for agent, task in draw(st.sampled_from(((), *BEGINNINGS))):
        apply(told, e.SessionStarted(name=agent), agent, None)
        apply(told, e.TaskStarted(task), agent, agent)
    for event, agent, inside, pause in draw(st.lists(STEPS, max_size=12)):
        told.at += pause * MINUTE
        apply(told, event, agent or None, agent if agent and inside else None)
    told.at += draw(st.integers(0, 90)) * MINUTE
    return told


def apply(told: Chain, event: e.Event, actor: str | None, session: str | None) -> None:
    """Put on record what a proposal comes to, if the rules admit it."""
    with suppress(PassdownError):
        for request, made, _ in list(
            decided(told.project, [Request(event, actor, session)], told.at)
        ):
            told.add(made, request.actor, request.session)


@settings(deadline=None, max_examples=200)
@given(lived())
def test_what_follows_settles_it(told: Chain) -> None:
    """The rules admit it, nothing is stale afterwards, and what was not stale is as it was."""
    before, moment = told.project.copy(), told.at
    found = stale(before, moment)
    events = [event for one in found for event in crash(one)]
    requests = [Request(event, "supervisor") for event in events]
    made = list(decided(before, requests, moment))
    assert [event for _, event, _ in made] == events
    for event in events:
        told.add(event, "supervisor")
    after = told.project
    assert stale(after, moment) == []
    gone = {one.session.id for one in found}
    freed = {task.id for one in found for task in one.tasks}
    for id, session in after.sessions.items():
        assert session.status == "crashed" if id in gone else session == before.sessions[id]
    for id, task in after.tasks.items():
        assert (
            (task.status, task.agent) == ("open", "") if id in freed else task == before.tasks[id]
        )


@settings(deadline=None, max_examples=100)
@given(lived(), st.integers(0, 100), st.integers(0, 100))
def test_patience_only_leaves_out(told: Chain, some: int, more: int) -> None:
    """With more patience some sessions are left out, and none comes in; looking changes nothing."""
    before = told.project.copy()
    few = stale(told.project, told.at, (some + more) * MINUTE)
    many = stale(told.project, told.at, some * MINUTE)
    assert [one for one in many if one in few] == few
    assert all(one.idle > some * MINUTE for one in many)
    assert told.project == before


@settings(deadline=None, max_examples=100)
@given(lived(), st.data())
def test_progress_is_any_event_but_a_heartbeat(told: Chain, data: st.DataObject) -> None:
    """Of a stale session a heartbeat changes nothing, and a note saves it and no other."""
    found = ids(told.project, told.at)
    if not found:
        return
    alive = data.draw(st.sampled_from(found))
    moment = told.at
    told.add(e.SessionHeartbeat(alive), None, alive)
    assert ids(told.project, moment) == found
    told.at = moment
    told.add(e.SessionNoted("x", session=alive), None, alive)
    rest = ids(told.project, moment)
    assert alive not in rest
    assert set(rest) <= set(found)
