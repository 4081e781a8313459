"""What the hosts of agents are told at each of their events, and what of it is on record.

Every call is a real process with the host's own JSON on stdin. The golden answers are in
tests/golden/hooks; PASSDOWN_GOLDEN=write writes those that are not there yet.
"""

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from command import bound_by_permissions, finished, good, quick, run
from hypothesis import given, settings
from hypothesis import strategies as st

from cli import hosts
from cli.contracts import HOSTS
from cli.hooks import answered
from journal import Journal, Request
from journal import events as e
from journal.live import LARGE

ROOT = Path(__file__).parents[1]
GOLDEN = Path(__file__).parent / "golden" / "hooks"
EVENTS = [(host, event) for host, events in HOSTS.items() for event in events]
every_event = pytest.mark.parametrize(("host", "event"), EVENTS)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A workspace with a project in the middle of its first step."""
    good(tmp_path, "init", "shop", "--title", "Web Shop")
    good(tmp_path, "step", "start", "1", "--actor", "ada")
    good(tmp_path, "step", "checkpoint", "1", "phase_2_workload", "--context-file", "notes.md")
    good(tmp_path, "finding", "open", "Key Vault is open")
    good(tmp_path, "next", "Write the requirements")
    return tmp_path


def told(folder: Path, event: str, session: str = "abc-1", source: str = "startup") -> bytes:
    """What a host sends."""
    said = {"session_id": session, "cwd": str(folder), "hook_event_name": event}
    said["transcript_path"] = f"{folder}/transcript.jsonl"
    if event == "SessionStart":
        said["source"] = source
    return json.dumps(said).encode()


def hook(
    folder: Path, host: str, event: str, *args: str, stdin: bytes | None = None, **said: str
) -> dict[str, Any]:
    """The answer of a hook, which never fails."""
    given = told(folder, event, **said) if stdin is None else stdin
    done = run(folder, "hook", host, event, *args, stdin=given)
    assert done.code == 0, done
    assert len(done.out) < 9500
    answer: dict[str, Any] = json.loads(done.out)
    check(host, event, answer)
    return answer


def check(host: str, event: str, answer: dict[str, Any]) -> None:
    """No host is told anything that it does not take at this event."""
    allowed = {"systemMessage", "hookSpecificOutput"}
    assert set(answer) <= allowed
    if "hookSpecificOutput" in answer:
        assert HOSTS[host][event].takes_context
        assert set(answer["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
        assert answer["hookSpecificOutput"]["hookEventName"] == event


def context(answer: dict[str, Any]) -> str:
    """What an answer adds to the agent's context."""
    said: str = answer["hookSpecificOutput"]["additionalContext"]
    return said


def records(folder: Path) -> list[dict[str, Any]]:
    """The journal's records."""
    return [json.loads(x) for x in good(folder, "log", "-n", "0", "--json").out.splitlines()]


def settled(folder: Path) -> None:
    """Wait until the child of the last hook has brought the files up to date."""
    for _ in range(100):
        if run(folder, "verify").code == 0:
            return
        time.sleep(0.1)
    raise AssertionError(run(folder, "verify"))


# -- the contracts ---------------------------------------------------------------------------


@every_event
def test_golden_answers(shop: Path, host: str, event: str) -> None:
    """Each host at each event is told exactly this."""
    if event != "SessionStart":
        hook(shop, host, "SessionStart")
    answer = json.dumps(hook(shop, host, event), indent=2, ensure_ascii=False) + "\n"
    answer = re.sub(r"\d{4}-\d\d-\d\dT[\d:]+Z", "2026-03-02T10:15:00Z", answer)
    answer = re.sub(r"about [\d,]+ tokens", "about 1,000 tokens", answer)
    path = GOLDEN / f"{host}-{event}.json"
    if os.environ.get("PASSDOWN_GOLDEN") == "write" and not path.exists():
        path.parent.mkdir(exist_ok=True)
        path.write_text(answer)
    assert answer == path.read_text()


def test_every_host_is_known_in_both_places() -> None:
    """What is installed for a host is what is answered."""
    assert {host.name: host.events for host in hosts.HOSTS.values()} == {
        name: tuple(events) for name, events in HOSTS.items()
    }


@every_event
def test_an_event_in_the_middle_of_nothing(shop: Path, host: str, event: str) -> None:
    """Hooks may be installed while a session runs: any event may be the first."""
    hook(shop, host, event)
    known = good(shop, "show", "--json").json["sessions"]
    assert len(known) == (0 if HOSTS[host][event].means == "end" else 1)


def test_a_session_from_start_to_end(shop: Path) -> None:
    """Start, end of a turn, the next turn, compaction and the end are one session."""
    assert "Key Vault is open" in context(hook(shop, "claude-code", "SessionStart"))
    hook(shop, "claude-code", "Stop")
    hook(shop, "claude-code", "Stop")
    hook(shop, "claude-code", "UserPromptSubmit")
    hook(shop, "claude-code", "PreCompact")
    restored = context(hook(shop, "claude-code", "SessionStart", source="compact"))
    assert "You are in session session-001 of shop" in restored
    hook(shop, "claude-code", "SessionEnd")
    kinds = [record["type"] for record in records(shop)][5:]
    assert kinds == [
        "session.started",
        "brief.shown",
        "session.ended",
        "session.resumed",
        "brief.shown",
        "session.ended",
    ]
    started, brief = records(shop)[5:7]
    assert started["data"]["host"] == "abc-1"
    assert started["data"]["hook"] == brief["data"]["hook"] == "claude-code SessionStart"
    assert brief["data"]["version"] == 5
    assert brief["data"]["shown"]["findings"] == ["F001"]
    settled(shop)


def test_a_session_that_goes_on_under_another_id(shop: Path) -> None:
    """A host that resumes under a new id continues the agent's last session; so does one that
    begins anew while that is open."""
    hook(shop, "claude-code", "SessionStart", session="one")
    hook(shop, "claude-code", "SessionEnd", session="one")
    hook(shop, "claude-code", "SessionStart", session="two", source="resume")
    hook(shop, "claude-code", "SessionStart", session="three", source="startup")
    sessions = good(shop, "show", "--json").json["sessions"]
    assert sessions["session-002"]["continues"] == "session-001"
    assert sessions["session-003"]["continues"] == "session-002"
    assert sessions["session-002"]["status"] == "ended"


def test_a_crashed_session_is_taken_up_by_another(shop: Path) -> None:
    """Who comes back after it was given up begins anew, and says what it continues."""
    hook(shop, "codex", "SessionStart")
    good(shop, "session", "crash", "abc-1")
    hook(shop, "codex", "UserPromptSubmit")
    sessions = good(shop, "show", "--json").json["sessions"]
    assert sessions["session-002"]["continues"] == "session-001"


def test_the_shell_of_the_agent_knows_its_session(shop: Path) -> None:
    """Where the host has a file for the environment, what the agent records is attributed."""
    file = shop / "env.sh"
    words, env = ("hook", "claude-code", "SessionStart"), {"CLAUDE_ENV_FILE": str(file)}
    run(shop, *words, stdin=told(shop, "SessionStart"), env=env)
    assert file.read_text() == "export PASSDOWN_SESSION=session-001 PASSDOWN_PROJECT=shop\n"


def test_several_projects(shop: Path) -> None:
    """A session begins in the project in which something was recorded last, or that is named."""
    good(shop, "init", "other")
    good(shop, "finding", "open", "bad", "-p", "shop")
    said = context(hook(shop, "gemini", "SessionStart"))
    assert said.startswith("# Web Shop")
    assert "Other projects here: other" in said
    assert context(hook(shop, "gemini", "SessionStart", "-p", "other")).startswith("# other")


@pytest.mark.parametrize("remembered", [True, False])
def test_a_session_stays_in_its_project(shop: Path, remembered: bool) -> None:
    """Whatever is recorded elsewhere, and whether or not the shortcut to its project is there."""
    good(shop, "init", "other")
    good(shop, "init", "third")
    hook(shop, "claude-code", "SessionStart", "-p", "other")
    hook(shop, "claude-code", "SessionStart", "-p", "shop", session="abc-2")
    hook(shop, "claude-code", "Stop", session="abc-2")
    for event in ("Stop", "UserPromptSubmit", "SessionEnd"):
        good(shop, "finding", "open", f"before {event}", "-p", "third")
        if not remembered:
            (shop / ".passdown/cache/hosts").unlink()
        assert hook(shop, "claude-code", event) == {}
    if not remembered:
        (shop / ".passdown/cache/hosts").write_bytes(b"noise")
    assert context(hook(shop, "claude-code", "SessionStart", source="compact"))[:7] == "# other"
    for project, kinds in {
        "other": ["started", "ended", "resumed", "ended", "resumed"],
        "shop": ["started", "ended"],
        "third": [],
    }.items():
        log = good(shop, "log", "-n", "0", "--json", "-p", project).out.splitlines()
        found = [json.loads(line)["type"] for line in log]
        assert [x.partition(".")[2] for x in found if x.startswith("session.")] == kinds, project


def test_a_session_in_several_projects(shop: Path) -> None:
    """Where more than one knows it, the one in which it is active is meant."""
    good(shop, "init", "other")
    hook(shop, "claude-code", "SessionStart", "-p", "other")
    hook(shop, "claude-code", "SessionStart", "-p", "shop")
    hook(shop, "claude-code", "SessionEnd", "-p", "shop")
    (shop / ".passdown/cache/hosts").unlink()
    hook(shop, "claude-code", "SessionEnd")
    [session] = good(shop, "show", "-p", "other", "--json").json["sessions"].values()
    assert session["status"] == "ended"


def test_an_archived_project(shop: Path) -> None:
    """Nothing is recorded in it, which nobody is told again and again; another one goes on."""
    good(shop, "append", "project.archived")
    before = records(shop)
    assert "reopen" in context(hook(shop, "claude-code", "SessionStart"))
    assert "could not" not in context(hook(shop, "claude-code", "SessionStart"))
    for event in ("UserPromptSubmit", "Stop", "SessionEnd"):
        assert hook(shop, "claude-code", event) == {}
    assert records(shop) == before
    good(shop, "init", "other")
    good(shop, "append", "project.reopened", "-p", "shop")
    good(shop, "append", "project.archived", "-p", "shop")
    assert context(hook(shop, "claude-code", "SessionStart")).startswith("# other")


def test_many_projects(tmp_path: Path) -> None:
    """With fifty projects a hook finds the right one as quickly as with one, and nearly so if it
    has to ask them all."""
    with Journal.create(tmp_path) as journal:
        for n in range(50):
            handle = journal.open_project(f"p{n:02}")
            handle.append_all([Request(e.FindingOpened(f"bad {k}")) for k in range(20)])
    hook(tmp_path, "claude-code", "SessionStart", "-p", "p17")
    for lost in (False, True):
        if lost:
            (tmp_path / ".passdown/cache/hosts").unlink()
        start = time.monotonic()
        assert hook(tmp_path, "claude-code", "Stop" if lost else "UserPromptSubmit") == {}
        assert time.monotonic() - start < 1.5
    [session] = good(tmp_path, "show", "-p", "p17", "--json").json["sessions"].values()
    assert session["status"] == "ended"


def test_hooks_at_once(shop: Path) -> None:
    """However many call for the same session at once, it begins once and ends once."""
    for events in (["SessionStart"] * 5, ["Stop", "SessionEnd", "Stop"]):
        calls = [begun(shop, event) for event in events]
        for call in calls:
            out, _ = call.communicate(timeout=30)
            assert call.returncode == 0
            assert "could not be" not in out.decode()
    kinds = [record["type"] for record in records(shop)]
    assert (kinds.count("session.started"), kinds.count("session.ended")) == (1, 1)
    assert kinds.count("brief.shown") == 5


def begun(folder: Path, event: str, **said: str) -> "subprocess.Popen[bytes]":
    """A hook of Claude Code that was told everything."""
    process = subprocess.Popen(
        [sys.executable, "-m", "passdown", "hook", "claude-code", event],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin
    process.stdin.write(told(folder, event, **said))
    process.stdin.flush()
    return process


def test_an_answer_is_never_too_long(shop: Path) -> None:
    """Whatever the brief says, whatever anything is called, and whatever is allowed."""
    for n in range(60):
        good(shop, "finding", "open", f'{n} "said" \\ ' + 'a "b" \\' * 20, "--no-sync")
    for letter in "abc":
        good(shop, "init", letter * 100)
    env = {"PASSDOWN_PROJECT": "shop"}
    for budget in ("2000", "1000000", "9" * 400):
        words = ("hook", "claude-code", "SessionStart", "--budget", budget)
        for stdin in (told(shop, "SessionStart"), b"{"):
            done = run(shop, *words, stdin=stdin, env=env)
            assert len(done.out) <= 9000
            assert "Open must-fix findings" in context(json.loads(done.out))
    assert len(done.out) > 5000


def test_an_answer_in_any_encoding(shop: Path) -> None:
    """The host reads UTF-8, whatever the environment says about stdout."""
    good(shop, "finding", "open", "Ключ открыт 🔑")
    for env in ({"PYTHONIOENCODING": "latin-1"}, PLAIN):
        stdin = told(shop, "SessionStart")
        done = run(shop, "hook", "claude-code", "SessionStart", stdin=stdin, env=env)
        assert "Ключ открыт 🔑" in context(json.loads(done.out))


#: An environment in which Python takes everything for ASCII.
PLAIN = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def test_what_was_made_ready_is_what_would_be_composed(shop: Path) -> None:
    """Whether from the file or composed now: the same brief; and never an old one."""
    hook(shop, "claude-code", "SessionStart")
    settled(shop)
    ready = shop / ".passdown/cache/shop.brief"
    for _ in range(100):
        if ready.exists():
            break
        time.sleep(0.1)
    before = ready.read_bytes()
    first = context(hook(shop, "claude-code", "SessionStart", session="two"))
    settled(shop)
    ready.unlink()
    good(shop, "finding", "open", "Another one")
    assert ready.read_bytes() != before
    made = context(hook(shop, "claude-code", "SessionStart", session="three"))
    assert "Another one" in made
    assert "Another one" not in first
    settled(shop)
    (shop / ".planning/STATE.md").write_text("mine")
    drifted = context(hook(shop, "claude-code", "SessionStart", session="four"))
    assert "was edited outside Passdown" in drifted


@pytest.mark.parametrize("ready", [False, True])
def test_a_large_state(tmp_path: Path, ready: bool) -> None:
    """The live part answers for a long history, with the counts of the whole."""
    with Journal.create(tmp_path) as journal:
        handle = journal.open_project("shop")
        opened = [Request(e.FindingOpened(f"bad {n}", finding=f"X{n}")) for n in range(LARGE)]
        handle.append_all(opened)
        handle.append_all([Request(e.FindingResolved(f"X{n}")) for n in range(LARGE - 150)])
    if ready:
        hook(tmp_path, "claude-code", "SessionStart", session="zero")
        settled(tmp_path)
    said = context(hook(tmp_path, "claude-code", "SessionStart"))
    shown = len(re.findall(r"^- X\d+ —", said, re.MULTILINE))
    assert f"Open must-fix findings ({shown} of 150)" in said
    assert f"{150 - shown} must-fix findings" in said
    session = good(tmp_path, "show", "--json").json["sessions"]["session-001"]
    assert session["agent"] == "claude-code"


# -- what goes wrong -------------------------------------------------------------------------


@every_event
def test_no_journal(tmp_path: Path, host: str, event: str) -> None:
    """Where there is none, the agent is told at the start how to make one, and else nothing."""
    answer = hook(tmp_path, host, event)
    if event == "SessionStart":
        assert "`passdown init PROJECT` makes one" in context(answer)
    else:
        assert answer == {}
    assert os.listdir(tmp_path) == []


@every_event
@pytest.mark.parametrize("damage", ["lost", "noise", "empty", "foreign", "middle"])
def test_a_journal_that_cannot_be_read(shop: Path, host: str, event: str, damage: str) -> None:
    """The host goes on, the agent or its user is told, and nothing is changed."""
    journal = shop / ".passdown/journal.db"
    content = journal.read_bytes()
    broken = {
        "noise": os.urandom(len(content)),
        "empty": b"",
        "foreign": content.replace(b"SQLite format 3", b"SQLite format 9", 1),
        "middle": content[:8192] + bytes(len(content) - 8192),
    }
    if damage == "lost":
        journal.unlink()
    else:
        journal.write_bytes(broken[damage])
    answer = hook(shop, host, event)
    said = json.dumps(answer)
    assert "passdown" in said or event not in ("SessionStart", "Stop")
    if damage != "lost":
        assert journal.read_bytes() == broken[damage]
        assert "`passdown doctor` says what to do" in said
        assert host in (shop / ".passdown/hooks.log").read_text()


@pytest.mark.parametrize("event", ["SessionStart", "Stop"])
def test_a_folder_that_cannot_be_written(shop: Path, event: str) -> None:
    """The brief is given all the same, and it is said that the session is not on record."""
    before = (shop / ".passdown/journal.db").read_bytes()
    for path in (*(shop / ".passdown").iterdir(), shop / ".passdown", shop):
        path.chmod(0o555)
    done = run(
        shop, "hook", "claude-code", event, stdin=told(shop, event), before=bound_by_permissions
    )
    for path in (shop, shop / ".passdown"):
        path.chmod(0o755)
    assert done.code == 0, done
    answer = json.loads(done.out)
    check("claude-code", event, answer)
    if event == "SessionStart":
        assert "Key Vault is open" in context(answer)
        assert "this session could not be recorded" in context(answer)
    assert (shop / ".passdown/journal.db").read_bytes() == before


def test_a_name_that_is_no_text(shop: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A folder or an actor of another encoding: what can be done is done, and answered."""
    actor = os.fsdecode(b"Ren\xe9")
    words, env = ("hook", "claude-code", "SessionStart"), {"PASSDOWN_ACTOR": actor}
    run(shop, *words, stdin=told(shop, "SessionStart"), env=env)
    [session] = good(shop, "show", "--json").json["sessions"].values()
    assert session["agent"] == "Ren\\xe9"
    settled(shop)
    for name, env in ((b"caf\xe9", {}), ("café".encode(), PLAIN)):
        folder = tmp_path_factory.mktemp("odd") / os.fsdecode(name)
        shutil.copytree(shop, folder)
        done = run(folder, *words, stdin=b"{}", env=env)
        assert done.code == 0
        assert "Traceback" not in done.err
        check("claude-code", "SessionStart", json.loads(done.out))
        assert "claude-code SessionStart" in (folder / ".passdown/hooks.log").read_text()


@pytest.mark.parametrize("link", ["gitdir: /worktrees/x", "gitdir: " + "x/" * 5000, "\0", ""])
def test_a_git_file_that_leads_nowhere(tmp_path: Path, link: str) -> None:
    """What stands in a `.git` file may be anything."""
    (tmp_path / ".git").write_text(link)
    assert "`passdown init PROJECT` makes one" in context(hook(tmp_path, "codex", "SessionStart"))
    assert good(tmp_path, "doctor").code == 0


@pytest.mark.parametrize("pipe", [".passdown/hooks.log", ".git"])
def test_a_pipe_that_nobody_reads(shop: Path, pipe: str) -> None:
    """Whatever stands where a file should be, nobody waits for it."""
    os.mkfifo(shop / pipe)
    start = time.monotonic()
    assert "no valid JSON" in context(hook(shop, "claude-code", "SessionStart", stdin=b"{"))
    quick(shop, "doctor")
    assert time.monotonic() - start < 4


def test_a_file_for_the_shell_that_nobody_reads(shop: Path) -> None:
    """The answer is given in time, and the process is gone soon after."""
    os.mkfifo(shop / "env.sh")
    words, env = ("hook", "claude-code", "SessionStart"), {"CLAUDE_ENV_FILE": str(shop / "env.sh")}
    start = time.monotonic()
    done = run(shop, *words, stdin=told(shop, "SessionStart"), env=env)
    assert time.monotonic() - start < 6
    assert "Key Vault is open" in context(json.loads(done.out))


def test_a_broken_installation(shop: Path) -> None:
    """Even where Passdown cannot be imported, the host has a valid answer."""
    (shop / "msgspec.py").write_text("raise SystemError('broken')")
    env = {"PYTHONPATH": str(shop)}
    done = run(shop, "hook", "claude-code", "Stop", stdin=told(shop, "Stop"), env=env)
    assert (done.code, done.out) == (0, "{}\n")
    assert "broken" in done.err


def test_failures_are_logged_where_the_host_is(
    shop: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Also if the hook runs in another folder, and what the child cannot do."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (shop / "passdown.toml").write_text("broken")
    for session in ("abc\n", "abc"):
        stdin = told(shop, "SessionStart", session=session)
        assert run(elsewhere, "hook", "codex", "SessionStart", stdin=stdin).code == 0
    for _ in range(100):
        lines = (shop / ".passdown/hooks.log").read_text().splitlines()
        if len(lines) > 1:
            break
        time.sleep(0.1)
    assert "no session_id" in lines[0]
    assert "the files were not brought up to date: passdown.toml" in lines[1]
    assert os.listdir(elsewhere) == []


def test_a_child_does_not_wait_for_ever(shop: Path) -> None:
    """Where somebody holds the files and does not let go, they follow at another time."""
    script = (
        "import cli.hooks as hooks; from journal.workspace import find; "
        "hooks._UPKEEP = 1; hooks._keep_files(find(), 'shop')"
    )
    with (shop / ".passdown/files.lock").open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = finished([sys.executable, "-c", script], shop, env={"PYTHONPATH": str(ROOT)})
    assert "TimeoutError: it took more than 1 seconds" in done.err


def test_files_that_no_journal_knows(shop: Path) -> None:
    """Where state files wait to be adopted, that is what the agent is told, not to begin anew."""
    shutil.rmtree(shop / ".passdown")
    inner = shop / "src"
    inner.mkdir()
    assert "`passdown adopt agent-output`" in context(hook(shop, "codex", "SessionStart"))
    said = context(hook(inner, "codex", "SessionStart"))
    assert f"`cd {shop} && passdown adopt agent-output`" in said
    (shop / ".passdown").mkdir()
    Journal.create(shop).close()
    assert "`passdown adopt agent-output`" in context(hook(shop, "codex", "SessionStart"))
    assert hook(shop, "codex", "Stop") == {}


@pytest.mark.parametrize("event", ["SessionStart", "SessionEnd"])
def test_a_journal_that_somebody_holds(shop: Path, event: str) -> None:
    """A hook does not wait for ever: it answers in time, with the brief if it has one."""
    hook(shop, "claude-code", "SessionStart")
    settled(shop)
    with (shop / ".passdown/write.lock").open("r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        start = time.monotonic()
        session = "another" if event == "SessionStart" else "abc-1"
        answer = hook(shop, "claude-code", event, session=session)
        assert time.monotonic() - start < 8
    said = json.dumps(answer)
    assert "it took too long" in said
    if event == "SessionStart":
        assert "Key Vault is open" in said
    assert good(shop, "verify").code == 0


@pytest.mark.parametrize(
    "stdin",
    [b"", b"{", b"[]", b"null", b'{"session_id": 3}', b"\xff\xfe", b'{"a":' * 5000, b"{}",
     b'{"session_id": "a\\u0000b"}', b'{"session_id": "' + b"x" * 5000 + b'"}'],
)  # fmt: skip
@pytest.mark.parametrize("event", ["SessionStart", "Stop", "UserPromptSubmit"])
def test_what_no_host_would_send(shop: Path, event: str, stdin: bytes) -> None:
    """Whatever is on stdin: an answer, and no damage."""
    answer = hook(shop, "claude-code", event, stdin=stdin)
    if event == "SessionStart":
        assert "Key Vault is open" in context(answer)
    assert len(records(shop)) == 5


@pytest.mark.parametrize("more", [
    b'"prompt": "half an emoji \\ud83d"', b'"source": null, "cwd": null, "agent_type": null',
    b'"agent_type": "a\\nb"', b'"cwd": "/nowhere/\\ud83d"', b'"source": 3, "more": [{"a": 1}]',
    b'"prompt": "' + b"x} " * 2_000_000 + b'"',
])  # fmt: skip
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_what_a_host_may_well_send(shop: Path, more: bytes, mark: bytes) -> None:
    """What has nothing to do with us, and what a host does not know, keeps nothing from us."""
    stdin = mark + b'{"session_id": "abc-1", ' + more + b"}\n"
    assert "You are in session session-001" in context(
        hook(shop, "claude-code", "SessionStart", stdin=stdin)
    )
    [session] = good(shop, "show", "--json").json["sessions"].values()
    assert session["agent"] == "claude-code"


def test_a_host_that_leaves_the_pipe_open(shop: Path) -> None:
    """What is said is acted upon once it is whole; for the rest of it nobody waits for ever."""
    start = time.monotonic()
    with begun(shop, "SessionStart") as call:
        assert call.stdout
        assert "You are in session" in call.stdout.read().decode()
        assert time.monotonic() - start < 3
    with subprocess.Popen(
        [sys.executable, "-m", "passdown", "hook", "claude-code", "Stop"],
        cwd=shop,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as half:
        assert half.stdin
        assert half.stdout
        half.stdin.write(b'{"session_id": ')
        half.stdin.flush()
        assert "has not finished what it says" in half.stdout.read().decode()


@pytest.mark.parametrize(
    "args",
    [(), ("claude-code",), ("claude-code", "Bogus"), ("emacs", "SessionStart"), ("--what",),
     ("claude-code", "Stop", "extra"), ("claude-code", "SessionStart", "--budget", "many"),
     ("claude-code", "SessionStart", "-p", "nowhere"), ("claude-code", "SessionStart", "-p")],
)  # fmt: skip
def test_a_wrong_command_line_blocks_nobody(shop: Path, args: tuple[str, ...]) -> None:
    """Exit code 2 would block the host, so a mistake is a word in the answer."""
    done = run(shop, "hook", *args, stdin=told(shop, "SessionStart"))
    assert done.code == 0
    assert isinstance(json.loads(done.out), dict)


def test_killed_at_any_moment(shop: Path) -> None:
    """A hook that is killed leaves a journal that is well, with all of its records or none."""
    for k in range(25):
        process = subprocess.Popen(
            [sys.executable, "-m", "passdown", "hook", "claude-code", "SessionStart"],
            cwd=shop,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdin
        process.stdin.write(told(shop, "SessionStart", session=f"s{k}"))
        process.stdin.close()
        time.sleep(0.01 * k)
        process.send_signal(signal.SIGKILL)
        process.wait()
    good(shop, "sync")  # the child that would have brought the files up to date may be gone too
    assert good(shop, "verify").code == 0
    kinds = [record["type"] for record in records(shop)]
    assert kinds.count("session.started") == kinds.count("brief.shown")


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(max_size=12), max_size=5))
def test_any_words_are_answered(words: list[str]) -> None:
    """The command line of a hook is never an error."""
    assert isinstance(json.loads(answered(["nobody", *words])), dict)
