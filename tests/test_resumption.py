"""One agent closes, or dies; another goes on with nothing but what a command says.

Each agent is a process of its own, and what the second does it takes out of the first's output.
"""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from command import Result, good, quick, run

from cli import exits
from projections import snapshot
from projections.brief import TOPICS
from projections.snapshot import PARTS

CHAT = "working-session/chat-coder.md"


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A shared workspace in the middle of its work, as coder has it before it closes."""
    agents = ("--agent", "coder", "--agent", "reviewer")
    good(tmp_path, "init", "tools", "--maintainer", "ada", *agents)
    good(tmp_path, "phase", "advance", "build", "--step", "2", "-r", "designed", "-a", "ada")
    good(tmp_path, "append", "task.added", '{"title": "Write the parser"}', "--actor", "ada")
    (tmp_path / "src").mkdir()
    (tmp_path / "src/parser.py").write_text("def parse(text):\n    return text\n" * 60)
    as_coder(tmp_path, "session", "start", "night")
    as_coder(tmp_path, "task", "start", "T001")
    as_coder(tmp_path, "files", "created", "src/parser.py", "-d", "recursive descent")
    as_coder(tmp_path, "decide", "--key", "style", "--value", "descent", "--rationale", "simple")
    as_coder(tmp_path, "commitment", "make", "write the tests", "--to", "reviewer")
    as_coder(tmp_path, "question", "open", "What of dates?")
    as_coder(tmp_path, "mail", "post", "How do floats end?", "--to", "reviewer")
    return tmp_path


def as_coder(folder: Path, *words: str) -> Result:
    """What coder does, in a process of its own."""
    done = run(folder, *words, "--actor", "coder")
    assert done.code == 0, done
    return done


def resumed(folder: Path, *words: str) -> str:
    """All that reviewer ever reads: one command, in a process of its own."""
    done = run(folder, "resume", "--agent", "reviewer", "--from", "coder", *words)
    assert (done.code, done.err) == (0, ""), done
    return done.out


def next_command(said: str) -> list[str]:
    """The command that a brief says is next, as typed after `passdown`."""
    [found] = re.findall(r"^- Next command: `passdown (.*)`$", said, re.MULTILINE)
    return shlex.split(found)


def state(folder: Path) -> Any:
    """The project as data."""
    return good(folder, "show", "--json").json


def test_one_closes_and_another_goes_on(tools: Path) -> None:
    """The seed's first three criteria: coder closes, ada hands over, reviewer does the next action
    with one read, and nobody explains anything.
    """
    why = ("--why", "Floats need a lookahead of two.", "--next", "Handle floats")
    as_coder(tools, "session", "end", "--snapshot", *why, "--close-reason", "context-exhausted")
    [entry] = snapshot.entries((tools / CHAT).read_bytes())
    assert entry.wrong == ""
    assert list(snapshot.sections(entry.body)) == list(PARTS)
    good(tools, "snapshot", "validate", CHAT)
    good(tools, "handoff", "--to", "reviewer", "--from", "coder", "--actor", "ada")

    said = resumed(tools)
    assert "Take up what coder left: T001 Write the parser (partial). Next action: Handle" in said
    assert "Floats need a lookahead of two." in said
    assert "Handoff: T001 Write the parser" in said
    assert next_command(said) == ["task", "start", "T001", "-p", "tools", "--actor", "reviewer"]
    assert run(tools, *next_command(said)).code == 0
    [ack] = re.findall(r"`passdown (mail ack MSG-\S+ --reason REASON .*?)`", said)[:1]
    assert run(tools, *shlex.split(ack)).code == 0
    task = state(tools)["tasks"]["T001"]
    assert (task["status"], task["agent"]) == ("in_progress", "reviewer")
    good(tools, "verify")


def test_one_dies_before_it_closes(tools: Path) -> None:
    """The same eight parts are composed from the state, and marked as not closed by the agent."""
    as_coder(tools, "next", "Handle floats", "--agent", "coder")
    closed = good(tools, "resume", "--agent", "reviewer", "--from", "coder", "--json").json
    assert [each["part"] for each in closed["snapshot"]] == ["Identity", *PARTS]
    assert "session-001 of coder" in closed["snapshot"][0]["text"]
    assert "not closed by its agent" in closed["snapshot"][0]["text"]
    parts = {each["part"]: each["text"] for each in closed["snapshot"]}
    assert "Handle floats" in parts["Active task"]
    assert "`src/parser.py` — created: recursive descent" in parts["Files modified this session"]
    assert "D001 — style = descent; simple" in parts["Decision context"]
    assert "OQ-001 — (opened) What of dates?" in parts["Open questions touched"]
    assert "C001 — to reviewer: write the tests" in parts["Open commitments"]
    assert closed["reading"][0]["lines"] == 120
    assert not (tools / CHAT).exists()
    good(tools, "session", "crash", "night", "--reason", "no answer", "--actor", "ada")
    good(tools, "task", "reset", "T001", "--actor", "ada")
    said = resumed(tools)
    assert "T001 Write the parser (partial). Next action: Handle floats." in said
    assert "has crashed: not closed by its agent" in said
    assert run(tools, *next_command(said)).code == 0
    assert state(tools)["tasks"]["T001"]["agent"] == "reviewer"


def test_what_is_read_first_stands_first(tools: Path) -> None:
    """Snapshot, coordination, status block, mail, reading list and questions, in that order."""
    as_coder(tools, "session", "end", "--snapshot", "--next", "Handle floats")
    titles = re.findall(r"^## (.*?)(?: \(.*\))?$", resumed(tools), re.MULTILINE)
    order = ["snapshot", "coordination", "status", "mail", "reading", "questions"]
    wanted = [TOPICS[name].title for name in order]
    assert [title for title in titles if title in wanted] == wanted


@pytest.mark.parametrize("budget", [400, 800, 2000, 8000])
def test_it_stays_within_its_budget(tools: Path, budget: int) -> None:
    """What does not fit is counted, and the task and its next action are there all the same."""
    for n in range(40):
        as_coder_quick(tools, "decide", f"Question {n}", "--choice", "x" * 90)
    as_coder(tools, "session", "end", "--snapshot", "--why", "y " * 3000, "--next", "Handle floats")
    said = resumed(tools, "--budget", str(budget))
    assert len(said) <= budget * 3.5
    assert "T001 Write the parser (partial). Next action: Handle floats." in said
    assert ("Left out to fit: " in said) == (budget < 8000)


def test_what_is_left_out_is_shown_by_the_command_that_is_named(tools: Path) -> None:
    """It is that of the one who reads, after the one whose work it is, and shows all of it."""
    as_coder(tools, "session", "end", "--snapshot", "--why", "y " * 3000, "--next", "Handle floats")
    good(tools, "handoff", "--to", "reviewer", "--from", "coder", "--actor", "ada")
    said = resumed(tools, "--budget", "400")
    [more] = re.findall(r"Left out to fit: .*; `passdown (.*?)` shows them", said)
    assert shlex.split(more)[-4:] == ["--agent", "reviewer", "--from", "coder"]
    whole = run(tools, *shlex.split(more)).out
    assert "y " * 2999 in whole
    assert "Handoff: T001 Write the parser" in whole


def as_coder_quick(folder: Path, *words: str) -> None:
    """What coder does, in this process."""
    good(folder, *words, "--actor", "coder", "--no-sync")


def test_what_does_not_hold_stands_first(tools: Path) -> None:
    """A file that is gone and a task that is done are told before the snapshot is quoted."""
    as_coder(tools, "session", "end", "--snapshot", "--next", "Handle floats")
    (tools / "src/parser.py").unlink()
    good(tools, "task", "complete", "T001", "--actor", "ada")
    said = resumed(tools)
    failed = said.index(f"## {TOPICS['checks'].title}")
    assert failed < said.index(f"## {TOPICS['snapshot'].title}")
    assert "partial: T001 is done by now" in said
    assert "src/parser.py: it is listed as modified, and is not there" in said
    told = quick(tools, "snapshot", "validate")
    assert told.code == exits.NOT_WELL
    assert "active task: line 3: partial: T001 is done by now" in told.out
    assert re.search(r"files: line \d+: src/parser.py: it is listed", told.out)
    answer = quick(tools, "snapshot", "validate", "--json").json
    assert [(check["name"], check["passed"]) for check in answer[0]["checks"]] == [
        ("checksum", True),
        ("active task", False),
        ("mailbox", True),
        ("files", False),
        ("questions", True),
    ]


def test_deleted_files_are_listed_apart(tools: Path) -> None:
    """What the session deleted is not expected to be there."""
    as_coder(tools, "files", "deleted", "src/old.py", "-d", "replaced by the parser")
    as_coder(tools, "session", "end", "--snapshot", "--next", "Handle floats")
    good(tools, "snapshot", "validate")
    body = good(tools, "snapshot", "show", "coder").out
    assert "**Deleted:**\n\n- `src/old.py` — replaced by the parser" in body


def test_an_agent_goes_on_with_its_own(tools: Path) -> None:
    """Without --from it is its own predecessor; with its session still open, nothing is missing."""
    said = good(tools, "resume", "--agent", "coder").out
    assert "session-001 of coder" in said
    assert "is open: composed from the journal" in said
    assert "not closed" not in said
    as_coder(tools, "session", "end", "--snapshot", "--next", "Handle floats")
    said = good(tools, "resume", "--agent", "coder").out
    assert "Go on with T001 Write the parser (partial). Next action: Handle floats." in said
    assert next_command(said) == ["task", "complete", "T001", "-p", "tools", "--actor", "coder"]
    assert "## Left" not in good(tools, "resume", "--agent", "reviewer").out


def test_snapshots_can_be_compared(tools: Path) -> None:
    """The newer supersedes the older, and the difference between both can be shown."""
    as_coder(tools, "snapshot", "--next", "Handle floats")
    as_coder(tools, "snapshot", "--next", "Handle dates")
    new, old = good(tools, "snapshot", "list", "--json").json
    assert (old["superseded_by"], new["superseded_by"]) == (new["token"], "")
    shown = good(tools, "snapshot", "show", new["token"], "--against", old["token"]).out
    assert "-Handle floats" in shown
    assert "+Handle dates" in shown
    assert "superseded by" in good(tools, "snapshot", "validate", CHAT).out


def test_the_same_snapshot_again_is_none(tools: Path) -> None:
    """Nothing new to say appends nothing, and a request with an id is known again."""
    as_coder(tools, "snapshot", "--why", "x")
    assert "already so" in as_coder(tools, "snapshot", "--why", "x").out
    one = as_coder(tools, "snapshot", "--why", "y", "--id", "k1", "--json").json
    again = as_coder(tools, "snapshot", "--why", "y", "--id", "k1", "--json").json
    assert (again["repeated"], again["appended"]) == (True, one["appended"])


# -- who may ----------------------------------------------------------------------------------


def refused(folder: Path, code: int, *words: str) -> str:
    """What a refusal says, in one sentence, with nothing changed."""
    before = state(folder)["version"]
    said = quick(folder, *words)
    assert (said.code, said.out) == (code, ""), said
    assert said.err.count("\n") == 1
    assert state(folder)["version"] == before
    return said.err


def test_a_session_that_is_over_has_no_snapshot(tools: Path) -> None:
    """Nor has one that never was, or somebody else's."""
    as_coder(tools, "session", "end", "night")
    said = refused(tools, exits.REJECTED, "snapshot", "--actor", "coder")
    assert "it has ended; allowed now: session start --actor coder" in said
    refused(tools, exits.REJECTED, "snapshot", "-s", "night", "--actor", "coder")
    refused(tools, exits.REJECTED, "session", "end", "night", "--snapshot", "--actor", "coder")
    refused(tools, exits.NOT_FOUND, "snapshot", "--actor", "reviewer")
    refused(tools, exits.NOT_FOUND, "snapshot", "-s", "day", "--actor", "coder")
    refused(tools, exits.INVALID, "snapshot")


def test_nobody_closes_for_somebody_else(tools: Path) -> None:
    """Only the maintainer may, and says why by the close reason."""
    said = refused(tools, exits.REJECTED, "snapshot", "-s", "night", "--actor", "reviewer")
    assert "reviewer is neither coder nor the maintainer" in said
    words = ("snapshot", "--agent", "coder", "--close-reason", "timeout", "--actor", "ada")
    good(tools, *words)
    assert (tools / CHAT).is_file()


@pytest.mark.parametrize(
    "data",
    [
        '{"body": "### Active task\\n\\nx", "token": "REV-20260101-snapshot-coder-01-h00000000"}',
        '{"body": "### Active task\\n\\nx", "token": "latest"}',
        '{"body": "## Active task\\n\\nx"}',
        '{"body": "### Active task\\n\\n# Forged\\n"}',
        '{"body": "### Active task\\r\\n"}',
        '{"body": "### Active task\\n\\nx", "agent": "../../etc/coder"}',
    ],
)
def test_a_malformed_snapshot_is_refused(tools: Path, data: str) -> None:
    """A token of another text, a body that is no entry, an agent with a path: one sentence."""
    refused(tools, exits.INVALID, "append", "snapshot.taken", data, "--actor", "coder")


def test_handing_over_is_the_maintainers_act(tools: Path) -> None:
    """An agent may only where the project's policy lets it."""
    as_coder(tools, "session", "end", "--snapshot", "--next", "Handle floats")
    words = ("handoff", "--to", "reviewer", "--actor")
    said = refused(tools, exits.REJECTED, *words, "coder")
    assert "that is for the maintainer, ada, to do" in said
    refused(tools, exits.INVALID, *words, "ada")
    refused(tools, exits.REJECTED, *words, "ada", "--from", "reviewer")
    refused(tools, exits.NOT_FOUND, "handoff", "--to", "nobody", "--from", "coder", "-a", "ada")
    refused(tools, exits.NOT_FOUND, *words, "ada", "--from", "nobody")


def test_a_policy_may_let_agents_hand_over(tmp_path: Path) -> None:
    """With `--handoff anyone` the closing agent posts the message itself."""
    agents = ("--agent", "coder", "--agent", "reviewer", "--handoff", "anyone")
    good(tmp_path, "init", "tools", "--maintainer", "ada", *agents)
    as_coder(tmp_path, "session", "start")
    as_coder(tmp_path, "snapshot", "--next", "Handle floats")
    as_coder(tmp_path, "handoff", "--to", "reviewer", "--note", "Mind the dates.")
    said = good(tmp_path, "resume", "--agent", "reviewer").out
    assert "Mind the dates." in said
    assert "resume --agent reviewer --from coder" in said


def test_nobody_takes_up_the_work_of_a_stranger(tools: Path) -> None:
    """Who never was here left nothing."""
    said = refused(tools, exits.NOT_FOUND, "resume", "--agent", "reviewer", "--from", "nobody")
    assert "no agent 'nobody'" in said


def test_mail_is_pointed_out_once_when_a_turn_ends(tools: Path) -> None:
    """At Stop an agent is told of the mail that it has not read, and not again of the same."""
    good(tools, "mail", "post", "Dates?", "--to", "coder", "--actor", "reviewer")

    def stop() -> Any:
        words = ("hook", "claude-code", "Stop", "--agent", "coder")
        told = f'{{"session_id": "host-1", "cwd": "{tools}", "hook_event_name": "Stop"}}'
        return run(tools, *words, stdin=told.encode()).json

    good(tools, "session", "start", "--host", "host-1", "--actor", "coder")
    note = stop()["systemMessage"]
    assert "1 message is unread for coder; `passdown mail list --unread --agent coder" in note
    good(tools, "session", "resume", "host-1", "--actor", "coder")
    assert stop() == {}
    good(tools, "session", "resume", "host-1", "--actor", "coder")
    good(tools, "mail", "post", "And times?", "--to", "coder", "--actor", "reviewer")
    assert "1 message is unread" in stop()["systemMessage"]


def test_who_closes_without_a_snapshot_has_closed(tools: Path) -> None:
    """The state tells the same parts, and nobody is said to have died."""
    as_coder(tools, "session", "end")
    said = resumed(tools)
    assert "has ended: closed without a snapshot, and composed from the journal instead" in said
    assert "not closed by its agent" not in said


def test_an_agent_need_not_name_the_only_session_it_has(tools: Path) -> None:
    """Closing works as with a snapshot; with none open, or two, it has to be named."""
    as_coder(tools, "session", "note", "nearly done")
    as_coder(tools, "session", "end")
    assert state(tools)["sessions"]["session-001"]["status"] == "ended"
    refused = quick(tools, "session", "end", "--actor", "coder")
    assert (refused.code, "which session?" in refused.err) == (exits.INVALID, True)


def test_a_session_that_went_on_after_its_snapshot_is_told_as_it_is_now(tools: Path) -> None:
    """Whoever dies hours after its last snapshot has left more than that says; its own words stay,
    for nobody else has them.
    """
    (tools / "grammar.md").write_text("x\n")
    words = ("--why", "Floats need a lookahead.", "--next", "Handle floats")
    as_coder(tools, "snapshot", *words, "--read", "grammar.md=the law")
    as_coder(tools, "session", "note", "this is no part of a snapshot", "--session", "night")
    good(tools, "handoff", "--to", "reviewer", "--from", "coder", "--actor", "ada")
    said = resumed(tools)
    assert "closed" in said
    assert "not closed by its agent" not in said
    (tools / "src/floats.py").write_text("x\n")
    as_coder(tools, "files", "created", "src/floats.py", "-d", "all the floats")
    as_coder(tools, "next", "Handle dates", "--agent", "coder")
    good(tools, "session", "crash", "night", "--reason", "no answer", "--actor", "ada")
    said = resumed(tools)
    assert "not closed by its agent" in said
    assert "its last snapshot is REV-" in said
    assert "src/floats.py" in said
    assert "Next action: Handle dates." in said
    assert "Floats need a lookahead." in said
    assert "`grammar.md` — ~1 lines / ~1 tokens — the law" in said


def test_a_session_that_is_reported_late_is_not_the_last(tools: Path) -> None:
    """What is told today of a session of last week takes nobody's last snapshot away."""
    as_coder(tools, "session", "end", "--snapshot", "--next", "Handle floats")
    long_ago = {"agent": "coder", "name": "old", "over": True}
    as_coder(
        tools, "append", "session.started", json.dumps(long_ago), "--occurred", "2026-01-02T10:00Z"
    )
    as_coder(tools, "session", "end", "old", "--occurred", "2026-01-02T11:00Z")
    said = resumed(tools)
    assert "not closed by its agent" not in said
    assert "T001 Write the parser (partial). Next action: Handle floats." in said


def test_what_does_not_hold_of_nothing_names_no_line(tools: Path) -> None:
    """A part that is not there is on no line, and none is told."""
    body = "### What I did\n\n- a lot"
    as_coder(tools, "append", "snapshot.taken", json.dumps({"body": body}))
    as_coder(tools, "session", "end")
    said = resumed(tools)
    assert "- active task — it does not say how its task stands" in said
    assert "Take up what coder left" not in said
