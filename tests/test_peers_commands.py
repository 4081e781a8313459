"""The commands by which agents that share a workspace leave each other mail, turns, and a log."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from command import Result, files, good, quick, run

from cli import exits
from cli.sharing import coordination
from journal import Journal
from journal.events import Coordination
from journal.payloads import MOST_BYTES, MOST_LINES, checksum

TWO = "one\ntwo"


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A workspace that ada maintains, and coder and reviewer share."""
    good(tmp_path, "init", "tools", "--maintainer", "ada", *AGENTS)
    return tmp_path


AGENTS = ("--agent", "coder", "--agent", "reviewer")


def records(folder: Path) -> list[dict[str, Any]]:
    """The journal's records, as `log --json` gives them."""
    return [json.loads(line) for line in good(folder, "log", "-n", "0", "--json").out.splitlines()]


def post(folder: Path, *words: str, stdin: bytes = b"") -> list[dict[str, Any]]:
    """Post mail to reviewer as coder, and give it back as it was recorded."""
    words = ("Review", "--to", "reviewer", "--actor", "coder", *words)
    done = good(folder, "mail", "post", *words, "--json", stdin=stdin).json
    return [record["data"] for record in done["appended"]]


def refused(folder: Path, code: int, *args: str, stdin: bytes = b"") -> str:
    """What a command that is refused says: one sentence, with nothing changed anywhere."""
    before = files(folder)
    said = quick(folder, *args, stdin=stdin)
    assert (said.code, said.out) == (code, ""), said
    assert said.err.startswith("passdown: ")
    assert said.err.count("\n") == 1
    assert files(folder) == before
    data = quick(folder, *args, "--json", stdin=stdin)
    assert (data.code, data.json["error"]["exit"]) == (code, code)
    assert f"passdown: {data.json['error']['message']}\n" == said.err
    assert files(folder) == before
    if (folder / ".passdown").is_dir():
        assert good(folder, "verify").code == 0
    return said.err


# -- a workspace that agents share -----------------------------------------------------------


def test_init_opens_a_shared_workspace(tmp_path: Path) -> None:
    """One append opens it without steps and registers its agents; the maintainer does both."""
    done = good(tmp_path, "init", "tools", "--maintainer", "ada", *AGENTS, "--json").json
    types = [(record["type"], record["actor"]) for record in done["appended"]]
    assert types == [("project.opened", "ada"), *[("actor.registered", "ada")] * 2]
    state = good(tmp_path, "show", "--json").json
    assert (state["workflow"], state["steps"]) == ("shared", {})
    assert state["coordination"] == {
        "maintainer": "ada",
        "workspace": "working-session/",
        "version": "0.1.0",
        "handoff": "maintainer",
        "lease": 2,
        "revision": None,
    }
    assert {name: actor["role"] for name, actor in state["actors"].items()} == {
        "ada": "maintainer",
        "coder": "agent",
        "reviewer": "agent",
    }


def test_init_takes_what_holds_in_a_shared_workspace(tmp_path: Path) -> None:
    """Folder, handing over and leases are its own; the same words again change nothing."""
    words = ("--handoff", "anyone", "--lease-revisions", "7", "--step", "Build")
    opening = ("init", "tools", "--maintainer", "ada", *words, "--workspace")
    good(tmp_path, *opening, "./desk")
    opened = good(tmp_path, "show", "--json").json
    assert opened["coordination"]["workspace"] == "desk/"
    assert opened["coordination"]["handoff"] == "anyone"
    assert opened["coordination"]["lease"] == 7
    assert [step["name"] for step in opened["steps"].values()] == ["Build"]
    assert "already so" in good(tmp_path, *opening, "desk/").out
    assert len(records(tmp_path)) == 1


def test_who_opens_a_workspace_may_be_somebody_else(tmp_path: Path) -> None:
    """With --actor it is opened, and its agents are registered, in that name."""
    good(tmp_path, "init", "tools", "--maintainer", "ada", *AGENTS, "--actor", "setup")
    assert {record["actor"] for record in records(tmp_path)} == {"setup"}


@pytest.mark.parametrize(
    "words",
    [
        ("--maintainer", "../ada"),
        ("--maintainer", ""),
        ("--maintainer", "ada", "--agent", "a/b"),
        ("--maintainer", "ada", "--agent", "ada"),
        ("--maintainer", "ada", "--workspace", "../elsewhere"),
        ("--maintainer", "ada", "--workspace", ""),
        ("--maintainer", "ada", "--phases", "Design; Build"),
        ("--agent", "coder"),
        ("--workspace", "desk"),
        ("--handoff", "anyone"),
        ("--lease-revisions", "3"),
    ],
)
def test_what_no_shared_workspace_can_be_sets_nothing_up(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    """An id or folder with a way out, phases, and options without a maintainer are refused."""
    refused(tmp_path, exits.INVALID, "init", "tools", *words)
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_said_of_a_shared_workspace_is_as_usual() -> None:
    """The command line has no defaults of its own."""
    assert coordination("ada", None, None, None, None) == Coordination("ada")
    assert coordination(None, None, [], None, None) is None


def test_a_workspace_without_steps_can_be_looked_at(tools: Path) -> None:
    """`show`, `resume`, `log` and `projects` have an answer, and none says that it is finished."""
    good(tools, "phase", "advance", "build", "--step", "2", "-r", "designed", "-a", "ada")
    post(tools)
    shown = good(tools, "show").out
    assert "shared, maintained by ada (available), revision 3, phase build, step 2" in shown
    assert "Next: The workspace is in phase build, step 2. 1 message is unread." in shown
    brief = good(tools, "resume", "--agent", "reviewer", "--json").json
    assert (brief["verdict"], brief["say"]) == (
        "continue",
        "The workspace is in phase build, step 2. 1 message is unread.",
    )
    command = brief["command"].split()[1:]
    assert [mail["to"] for mail in good(tools, *command, "--json").json] == ["reviewer"]
    assert len(records(tools)) == 5
    [row] = good(tools, "projects").out.splitlines()
    assert row.split()[:3] == ["tools", "v5", "shared"]


def test_show_has_a_section_for_whatever_waits(tools: Path) -> None:
    """Agents, mail, turns, commitments, escalations and the worklog stand in `show`, until done."""
    post(tools)
    for words in (
        "turn request merge",
        "commitment make tests",
        "escalation raise stuck",
        "worklog log begun",
        "lease acquire --file a.py",
    ):
        good(tools, *words.split(), "--actor", "coder")
    shown = good(tools, "show").out
    for title in ("Agents (2)", "Mail (1)", "Turns (1)", "Commitments (1)", "Escalations (1)"):
        assert f"\n{title}\n" in shown
    assert "Worklog (1)\n  W001  coder: begun\n" in shown
    assert "a.py  coder, since" in shown
    good(tools, "turn", "take", "--actor", "coder")
    good(tools, "commitment", "fulfil", "1", "--actor", "coder")
    good(tools, "worklog", "complete", "1", "--actor", "coder")
    shown = good(tools, "show").out
    assert not [title for title in ("Turns", "Commitments", "Worklog") if title in shown]


# -- every command, for a person and as data -------------------------------------------------

#: Each recording command with its words, who gives it, and what it records.
SCRIPT = (
    ("actor status coder active", "coder", "actor.status_changed"),
    ("mail post first --to reviewer", "coder", "message.posted"),
    ("mail ack 1 -r read", "reviewer", "message.acknowledged"),
    ("mail block 1 -r lexer", "reviewer", "message.blocked"),
    ("mail resume 1 -r there", "reviewer", "message.resumed"),
    ("mail defer 1 -r release", "ada", "message.deferred"),
    ("mail action 1 -r reviewed", "reviewer", "message.actioned"),
    ("mail close 1 -r merged --as resolved", "coder", "message.closed"),
    ("commitment make tests --to reviewer", "coder", "commitment.made"),
    ("commitment make docs", "coder", "commitment.made"),
    ("commitment fulfil 1 --note done", "coder", "commitment.fulfilled"),
    ("commitment drop 2 -r unwanted", "coder", "commitment.dropped"),
    ("turn request merge", "coder", "turn.requested"),
    ("turn request read", "reviewer", "turn.requested"),
    ("turn move 2 --before 1 -r urgent", "ada", "turn.moved"),
    ("turn take", "reviewer", "turn.taken"),
    ("turn withdraw 1", "coder", "turn.withdrawn"),
    ("signal send ready --to reviewer --detail go", "coder", "signal.sent"),
    ("phase advance build --step 2 -r designed", "ada", "phase.advanced"),
    ("escalation raise stuck -r waiting", "coder", "escalation.raised"),
    ("escalation answer 1 yes", "ada", "escalation.answered"),
    ("lease acquire --file a.py --revisions 3 -r edit --token t", "coder", "lease.acquired"),
    ("lease release t", "coder", "lease.released"),
    ("worklog log begun --next-owner reviewer", "coder", "worklog.entry_logged"),
    ("worklog complete 1", "coder", "worklog.entry_completed"),
    ("worklog compact", "ada", "lease.released"),
)


@pytest.mark.parametrize("as_json", [False, True])
def test_every_recording_command(tools: Path, as_json: bool) -> None:
    """Each records its event in the name of its actor, and says so in a line or as data."""
    for words, actor, type in SCRIPT:
        version = records(tools)[-1]["version"]
        as_data = ["--json"] if as_json else []
        done = good(tools, *words.split(), "--actor", actor, *as_data)
        assert done.err == "", words
        last = records(tools)[-1]
        assert (last["type"], last["actor"]) == (type, actor), words
        if as_json:
            assert done.json["appended"][-1] == last
            assert done.json["synced"] is True
        else:
            assert done.out.startswith(f"tools v{version + 1}: ")
    assert good(tools, "verify", "--json").json["ok"] is True


LISTS = {
    "actor": "coder",
    "mail": "Review",
    "commitment": "tests",
    "question": "Why?",
    "turn": "merge",
    "signal": "ready",
    "escalation": "stuck",
    "lease": "a.py",
    "worklog": "begun",
}


@pytest.mark.parametrize("noun", LISTS)
def test_every_list(tools: Path, noun: str) -> None:
    """A list says that it is empty, else has a row for each thing, and writes nothing."""
    empty = good(tools, noun, "list")
    assert noun == "actor" or empty.out.startswith("tools: no")
    assert noun == "actor" or good(tools, noun, "list", "--json").json == []
    post(tools)
    for words in (
        "commitment make tests",
        "question open Why?",
        "turn request merge",
        "signal send ready",
        "escalation raise stuck",
        "lease acquire --file a.py",
        "worklog log begun",
    ):
        good(tools, *words.split(), "--actor", "coder")
    before = files(tools)
    head, *rows = good(tools, noun, "list").out.splitlines()
    assert not head.startswith("tools: ")
    found = good(tools, noun, "list", "--json").json
    assert len(rows) == len(found)
    assert any(LISTS[noun] in row for row in rows)
    assert files(tools) == before


def test_what_waits_is_listed_first(tools: Path) -> None:
    """Open questions and promises come before settled ones, turns as they will be taken."""
    for words in (
        "question open one",
        "question open two",
        "question open three",
        "question resolve 1 -r yes",
        "question defer 2",
        "commitment make one",
        "commitment make two",
        "commitment fulfil 1",
        "escalation raise one",
        "escalation raise two",
        "turn request later --priority P2",
        "turn request soon",
        "turn request now --priority P0",
        "signal send ready",
        "signal send yield",
    ):
        good(tools, *words.split(), "--actor", "coder")
    good(tools, "escalation", "answer", "1", "yes", "--actor", "ada")

    def listed(noun: str, field: str) -> list[str]:
        return [each[field] for each in good(tools, noun, "list", "--json").json]

    assert listed("question", "text") == ["three", "two", "one"]
    assert listed("commitment", "text") == ["two", "one"]
    assert listed("escalation", "subject") == ["two", "one"]
    assert listed("turn", "action") == ["now", "soon", "later"]
    assert listed("signal", "kind") == ["yield", "ready"]


def test_actors_are_listed_with_what_they_are_at(tools: Path) -> None:
    """Role, status, note, the task in progress, the open session; also of who never registered."""
    good(tools, "session", "start", "--actor", "coder")
    good(tools, "task", "add", "Parse")
    good(tools, "task", "add", "Lex")
    good(tools, "task", "claim", "2", "--actor", "coder")
    good(tools, "task", "start", "1", "--actor", "coder")
    good(tools, "session", "start", "--actor", "guest")
    good(tools, "session", "end", "2", "--actor", "guest")
    good(tools, "actor", "status", "ada", "away", "--note", "lunch", "--actor", "ada")
    found = {each["actor"]: each for each in good(tools, "actor", "list", "--json").json}
    assert list(found) == ["ada", "coder", "reviewer", "guest"]
    assert (found["ada"]["role"], found["ada"]["status"], found["ada"]["note"]) == (
        "maintainer",
        "away",
        "lunch",
    )
    assert (found["coder"]["task"], found["coder"]["session"]) == ("T001", "session-001")
    assert (found["guest"]["role"], found["guest"]["session"]) == ("agent", None)


# -- mail ------------------------------------------------------------------------------------


def test_mail_says_whatever_it_is_given(tools: Path) -> None:
    """A body comes from the command line, from a file or from stdin, to the letter."""
    text = "## not a heading\n\n  - [x] `nor | this`\n---\n"
    (tools / "body.md").write_text(text)
    stdin = text.encode()
    bodies = [
        post(tools, "--body", text),
        post(tools, "--body-file", "body.md"),
        post(tools, "--body", "-", stdin=stdin),
        post(tools, "--body-file", "-", stdin=stdin),
    ]
    assert [message["body"] for [message] in bodies] == [text] * 4
    shown = good(tools, "mail", "show", "1").out
    assert "\n## not a heading\n\n  - [x] `nor | this`\n---\n" in shown
    assert good(tools, "mail", "show", "1", "--json").json["body"] == text


def test_mail_is_posted_with_all_there_is_to_say(tools: Path) -> None:
    """Kind, priority, due, closure owner and related mail are as given, names and ids in full."""
    post(tools)
    words = ("--kind", "decision-required", "--priority", "P0", "--due", "2027-01-02T10:00:00Z")
    [made] = post(tools, *words, "--closure-owner", "Maintainer", "--related", "1")
    assert made["related"] == [good(tools, "mail", "list", "--json").json[0]["id"]]
    shown = good(tools, "mail", "show", "2", "--json").json
    assert [shown[name] for name in ("kind", "priority", "due", "closure_owner")] == [
        "decision-required",
        "P0",
        "2027-01-02T10:00:00Z",
        "ada",
    ]


def test_mail_is_found_by_whom_it_is_from_and_to(tools: Path) -> None:
    """`mail list` has what is not closed, of an agent, unread, or all; reading changes none."""
    post(tools)
    post(tools)
    good(tools, "mail", "post", "Answer", "--to", "coder", "--actor", "reviewer")
    good(tools, "mail", "ack", "2", "-r", "read", "--actor", "reviewer")
    good(tools, "mail", "close", "1", "-r", "mistake", "--as", "withdrawn", "--actor", "coder")

    def listed(*words: str) -> list[str]:
        found = good(tools, "mail", "list", *words, "--json").json
        return [each["id"][-3:] for each in found]

    assert listed() == ["002", "003"]
    assert listed("--all") == ["001", "002", "003"]
    assert listed("--agent", "reviewer") == ["002"]
    assert listed("--agent", "Reviewer", "--all") == ["001", "002"]
    assert listed("--unread") == ["003"]
    assert listed("--from", "coder") == ["002"]
    good(tools, "mail", "show", "3")
    assert listed("--unread") == ["003"]
    refused(tools, exits.NOT_FOUND, "mail", "list", "--agent", "rewiever")


def test_a_message_is_shown_with_what_was_done_about_it(tools: Path) -> None:
    """Every transition stands under the message: who, when, why."""
    post(tools)
    good(tools, "mail", "ack", "1", "-r", "today", "--actor", "reviewer")
    good(tools, "mail", "close", "1", "-r", "late", "--as", "abandoned", "--actor", "ada")
    acks = good(tools, "mail", "show", "1", "--json").json["acks"]
    assert [(ack["what"], ack["by"], ack["reason"], ack["disposition"]) for ack in acks] == [
        ("acknowledged", "reviewer", "today", ""),
        ("closed", "ada", "late", "abandoned"),
    ]
    shown = good(tools, "mail", "show", "1").out
    assert "acknowledged by reviewer: today\n" in shown
    assert "closed as abandoned by ada: late\n" in shown


def test_mail_that_waits_too_long_is_marked(tools: Path) -> None:
    """A message whose time has passed is overdue in the list and says why."""
    post(tools, "--due", "2020-01-01")
    assert "unread, overdue" in good(tools, "mail", "list").out
    [late] = good(tools, "mail", "list", "--json").json
    assert late["overdue"] == "reviewer did not acknowledge it by 2020-01-01T00:00:00Z"


def test_a_message_cannot_steer_a_terminal(tools: Path) -> None:
    """What agents write is shown without what could move the cursor or forge a line of ours."""
    nasty = "a\x1b[2J\x9b\u202e\rb"
    (tools / "x.txt").write_text(nasty)
    post(tools, "--body", nasty, "--payload", "x.txt")
    good(tools, "mail", "post", nasty, "--to", "coder", "--body", "b", "--actor", "reviewer")
    good(tools, "mail", "ack", "1", "-r", f"{nasty}\nforged", "--actor", "reviewer")
    for words in ("mail list", "mail show 1", "mail show 2", "show"):
        said = good(tools, *words.split()).out
        assert not [c for c in said if c != "\n" and not c.isprintable()], words
        assert not any(line.startswith("forged") for line in said.splitlines())


# -- payloads --------------------------------------------------------------------------------


def test_a_payload_goes_by_its_token(tools: Path) -> None:
    """The token has the day, the topic, the next number of it, and the checksum of the text."""
    text = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n"
    (tools / "parser.diff").write_text(text)
    words = ("--payload", "parser.diff", "--file", "./src/x", "--scope", "critical-only")
    [first] = post(tools, *words, "--ask", "review-only")
    [second] = post(tools, "--payload", "parser.diff")
    [other] = post(tools, "--payload", "-", "--topic", "lexer", stdin=text.encode())
    digest = sha256(text.rstrip("\n").encode()).hexdigest()[:8]
    day = records(tools)[-1]["at"][:10].replace("-", "")
    payload = good(tools, "mail", "show", "1", "--json").json["payload"]
    assert payload == {
        "text": text,
        "token": f"REV-{day}-parser-01-h{digest}",
        "format": "unified-diff",
        "files": ["src/x"],
        "scope": "critical-only",
        "ask": "review-only",
    }
    assert first["payload"]["token"] == payload["token"]
    assert second["payload"]["token"] == f"REV-{day}-parser-02-h{digest}"
    assert other["payload"]["token"] == f"REV-{day}-lexer-01-h{digest}"
    assert other["payload"]["format"] == "full-text"


def test_a_payload_with_the_token_that_it_came_with(tools: Path) -> None:
    """A token that is given stands, if it is of this text, whatever its line ends."""
    given = f"REV-20260208-parser-07-h{checksum(TWO)}"
    [made] = post(tools, "--payload", "-", "--token", given, stdin=b"one\r\ntwo\r\n\r\n")
    assert made["payload"]["token"] == given
    part = f"{given}-p2of3"
    [made] = post(tools, "--payload", "-", "--token", part, stdin=b"one\ntwo")
    assert made["payload"]["token"] == part


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("x" * (MOST_BYTES - 1), 1),
        ("x\n" * MOST_LINES, 1),
        ("x\n" * (MOST_LINES + 1), 2),
        ("é" * MOST_BYTES, 3),
        ("".join(f"{n}\n" for n in range(3 * MOST_LINES)), 3),
    ],
)
def test_a_long_payload_is_posted_in_parts(tools: Path, text: str, parts: int) -> None:
    """Beyond 16 KiB or 300 lines there is a message for each part, in order, in one append."""
    (tools / "long.txt").write_text(text)
    post(tools)
    made = post(tools, "--payload", "long.txt", "--body", "please", "--related", "1")
    assert len(made) == parts
    for n, message in enumerate(made, start=1):
        part = message["payload"]
        named = f"-h{checksum(part['text'])}" + (f"-p{n}of{parts}" if parts > 1 else "")
        assert part["token"].endswith(named)
        assert len(part["text"].encode()) <= MOST_BYTES
        assert part["text"].rstrip("\n").count("\n") < MOST_LINES
    assert len({message["payload"]["token"].split("-h")[0] for message in made}) == 1
    assert [message.get("body", "") for message in made] == ["please", *[""] * (parts - 1)]
    assert [message["related"] for message in made[1:]] == [[made[0]["message"]]] * (parts - 1)
    joined = "".join(message["payload"]["text"] for message in made).replace("\n", "")
    assert joined == text.replace("\n", "")


def test_parts_are_all_there_or_none(tools: Path) -> None:
    """Where one part cannot be posted, no part is."""
    (tools / "long.txt").write_text("x\n" * 700)
    words = ("mail", "post", "Long", "--payload", "long.txt", "--actor", "coder")
    refused(tools, exits.NOT_FOUND, *words, "--to", "nobody")
    good(tools, *words, "--to", "reviewer")
    assert len(records(tools)) == 6


def test_a_payload_is_posted_once(tools: Path) -> None:
    """The same request again, known by its id, posts nothing, though there is a payload by now."""
    (tools / "p.diff").write_text("x\n" * 700)
    first = post(tools, "--payload", "p.diff", "--id", "k")
    again = post(tools, "--payload", "p.diff", "--id", "k")
    assert again == first
    assert len(records(tools)) == 6


# -- bad input -------------------------------------------------------------------------------


def test_mail_moves_only_by_whom_it_may(tools: Path) -> None:
    """An ack by anybody but the receiver, a close by anybody but the sender, say whose it is."""
    [made] = post(tools)
    id = made["message"]
    for actor in ("coder", "ada"):
        no = refused(tools, exits.REJECTED, "mail", "ack", id, "-r", "x", "--actor", actor)
        assert f"cannot acknowledge {id}: it is for reviewer to do, not for {actor}" in no
    no = refused(tools, exits.REJECTED, "mail", "close", id, "-r", "x", "--actor", "reviewer")
    assert "it is for coder or the maintainer to do" in no
    words = ("mail", "close", id, "-r", "x", "--as")
    refused(tools, exits.REJECTED, *words, "abandoned", "--actor", "coder")
    refused(tools, exits.REJECTED, *words, "withdrawn", "--actor", "ada")
    refused(tools, exits.REJECTED, "mail", "defer", id, "-r", "x", "--actor", "coder")
    assert "say so with --actor" in refused(tools, exits.INVALID, "mail", "ack", id, "-r", "x")


@pytest.mark.parametrize("verb", ["ack", "block", "resume", "action", "defer"])
def test_nothing_reopens_a_message(tools: Path, verb: str) -> None:
    """What is closed stays so, for everybody."""
    post(tools)
    good(tools, "mail", "close", "1", "-r", "done", "--actor", "ada")
    for actor in ("reviewer", "ada"):
        no = refused(tools, exits.REJECTED, "mail", verb, "1", "-r", "x", "--actor", actor)
        assert "it is closed" in no
    again = good(tools, "mail", "close", "1", "-r", "done", "--actor", "ada")
    assert "already so" in again.out


def test_every_transition_has_a_reason(tools: Path) -> None:
    """Without --reason, or with an empty one, nothing is done about a message."""
    post(tools)
    for verb in ("ack", "block", "resume", "action", "defer", "close"):
        words = ("mail", verb, "1", "--actor", "reviewer")
        assert "--reason" in refused(tools, exits.USAGE, *words)
        assert "reason" in refused(tools, exits.INVALID, *words, "--reason", "")


@pytest.mark.parametrize(
    "token",
    ["REV-20260208-p-01-h00000000", "REV-20260208-p-01-h00000000-p1of2", "nonsense", "-h0-p"],
)
def test_a_payload_that_is_not_that_of_its_token(tools: Path, token: str) -> None:
    """A token with another checksum, or none, is refused as malformed."""
    (tools / "p.diff").write_text("x")
    words = ("mail", "post", "x", "--to", "reviewer", "--actor", "coder", "--payload", "p.diff")
    no = refused(tools, exits.INVALID, *words, f"--token={token}")
    assert "the payload is malformed: its checksum is h2d711642" in no


def test_an_ack_names_the_payload_that_was_read(tools: Path) -> None:
    """With the payload's token it is recorded, with another it is refused."""
    [made] = post(tools, "--payload", "-", stdin=b"x")
    token = made["payload"]["token"]
    for verb in ("ack", "action"):
        words = ("mail", verb, "1", "-r", "read", "--actor", "reviewer", "--token")
        no = refused(tools, exits.REJECTED, *words, f"{token[:-8]}00000000")
        assert f"its payload has {token}" in no
        good(tools, *words, token)
    acks = good(tools, "mail", "show", "1", "--json").json["acks"]
    assert [ack["token"] for ack in acks] == [token, token]


def test_a_payload_that_cannot_be_posted(tools: Path) -> None:
    """No file, no text, no UTF-8, options without it, a way out, a topic that is none."""
    (tools / "binary").write_bytes(b"\xff\xfe")
    (tools / "empty").write_text("\n")
    (tools / "long").write_text("x\n" * 301)
    words = ("mail", "post", "x", "--to", "reviewer", "--actor", "coder")
    for more in (
        ("--payload", "absent"),
        ("--payload", "."),
        ("--payload", "binary"),
        ("--payload", "empty"),
        ("--payload", "long", "--file", "../x"),
        ("--payload", "long", "--topic", "a b"),
        ("--payload", "long", "--token", "REV-20260208-p-01-h00000000"),
        ("--token", "REV-20260208-p-01-h00000000"),
        ("--format", "full-text"),
        ("--file", "x"),
        ("--body", "a", "--body-file", "binary"),
        ("--body-file", "binary"),
        ("--due", "tomorrow"),
    ):
        refused(tools, exits.INVALID, *words, *more)


@pytest.mark.parametrize("id", ["../coder", "a/b", "a\\b", "..", "a..b", "a b", ".hidden", "é"])
def test_an_agent_id_that_no_file_can_have(tools: Path, id: str) -> None:
    """It is not registered, and nothing is posted, promised, taken or held in its name."""
    no = refused(tools, exits.INVALID, "actor", "register", id, "--actor", "ada")
    assert f"agent {id!r} cannot have a file of its own" in no
    for args in (
        ("mail", "post", "x", "--to", "coder"),
        ("commitment", "make", "x"),
        ("turn", "request", "x"),
        ("signal", "send", "ready"),
        ("lease", "acquire", "--file", "x"),
    ):
        refused(tools, exits.NOT_FOUND, *args, f"--actor={id}")
    refused(tools, exits.NOT_FOUND, "mail", "post", "x", f"--to={id}", "--actor", "coder")


def test_who_is_named_must_be_known(tools: Path) -> None:
    """In a shared workspace mail, signals, promises and statuses are for those who are there."""
    for args in (
        ("mail", "post", "x", "--to", "codr"),
        ("signal", "send", "ready", "--to", "codr"),
        ("commitment", "make", "x", "--to", "codr"),
        ("actor", "status", "codr", "idle", "--note", "x"),
    ):
        assert "near: coder" in refused(tools, exits.NOT_FOUND, *args, "--actor", "ada")


def test_nobody_acts_anonymously(tools: Path) -> None:
    """What an agent says to others it says with its name."""
    for args in (
        ("mail", "post", "x", "--to", "coder"),
        ("commitment", "make", "x"),
        ("turn", "request", "x"),
        ("turn", "take"),
        ("signal", "send", "ready"),
        ("lease", "acquire", "--file", "x"),
        ("worklog", "log", "x"),
    ):
        assert "--actor" in refused(tools, exits.INVALID, *args)


def test_each_writes_what_is_its_own(tools: Path) -> None:
    """An agent does not act for another, nor as the maintainer, who may and says why."""
    for args in (
        "turn request merge",
        "commitment make tests",
        "worklog log begun",
        "lease acquire --file a.py --token t",
    ):
        good(tools, *args.split(), "--actor", "coder")
    for args in (
        "turn take 1",
        "turn withdraw 1 -r x",
        "turn request x --agent coder",
        "turn move 1 -r x",
        "commitment fulfil 1",
        "commitment drop 1 -r x",
        "worklog log x --agent coder",
        "worklog complete 1",
        "lease release t -r x",
        "actor status coder idle --note x",
        "actor register other --role maintainer",
        "phase advance build -r x",
    ):
        refused(tools, exits.REJECTED, *args.split(), "--actor", "reviewer")
    refused(tools, exits.INVALID, "turn", "withdraw", "1", "--actor", "ada")
    good(tools, "turn", "withdraw", "1", "-r", "not now", "--actor", "ada")
    good(tools, "actor", "status", "coder", "offline", "--note", "gone", "--actor", "ada")


def test_who_maintains_a_workspace_stays_so(tools: Path) -> None:
    """Nobody, the maintainer included, makes an agent of the maintainer."""
    no = refused(tools, exits.REJECTED, "actor", "register", "ada", "--actor", "ada")
    assert "it maintains this workspace" in no


# -- turns and leases ------------------------------------------------------------------------


def test_a_turn_is_taken_in_its_turn(tools: Path) -> None:
    """Without an id it is the agent's next; one that another comes before has to wait."""
    assert "coder has not asked" in refused(
        tools, exits.REJECTED, "turn", "take", "--actor", "coder"
    )
    for words in ("merge", "test"):
        good(tools, "turn", "request", words, "--actor", "coder")
    good(tools, "turn", "request", "read", "--priority", "P0", "--actor", "reviewer")
    no = refused(tools, exits.REJECTED, "turn", "take", "--actor", "coder")
    assert "TURN-003 of reviewer comes first (P0: read)" in no
    for actor, turn in (("reviewer", "TURN-003"), ("coder", "TURN-001"), ("coder", "TURN-002")):
        done = good(tools, "turn", "take", "--actor", actor, "--json").json
        assert done["appended"][0]["data"] == {"turn": turn}


def test_a_lease_is_on_a_step_or_on_files(tools: Path) -> None:
    """One of the two, each with its own measure of time."""
    for words in (
        (),
        ("1", "--file", "a"),
        ("--file", "a", "--seconds", "9"),
        ("1", "--revisions", "9"),
        ("--file", "../a"),
    ):
        refused(tools, exits.INVALID, "lease", "acquire", *words, "--actor", "coder")
    good(tools, "lease", "acquire", "--file", "./a", "--file", "b", "--actor", "coder")
    no = refused(tools, exits.REJECTED, "lease", "acquire", "--file", "a", "--actor", "reviewer")
    assert "coder has" in no
    [held] = good(tools, "lease", "list", "--json").json
    assert (held["files"], held["revisions"], held["until"], held["stale"]) == (
        ["a", "b"],
        2,
        None,
        False,
    )
    for n in range(3):
        good(tools, "signal", "send", "notify", "--detail", str(n), "--actor", "reviewer")
    assert good(tools, "lease", "list", "--json").json[0]["stale"] is True
    assert "for 2 revisions after 3, stale" in good(tools, "lease", "list").out
    good(tools, "lease", "acquire", "--file", "a", "--actor", "reviewer", "--token", "t")
    [held] = good(tools, "lease", "list", "--json").json
    assert (held["agent"], held["files"]) == ("reviewer", ["a"])


def test_a_lease_on_files_that_is_lost(tools: Path) -> None:
    """Who has them now is said, or the command that acquires them again, as it can be typed."""
    acquire = ("lease", "acquire", "--file", "a b")
    good(tools, *acquire, "--token", "t", "--actor", "coder")
    good(tools, "lease", "release", "t", "--actor", "coder")
    no = quick(tools, "lease", "renew", "t", "--actor", "coder", "--json").json["error"]
    assert (no["state"], no["allowed"]) == ("it was released", ["lease acquire --file 'a b'"])
    good(tools, *acquire, "--token", "u", "--actor", "reviewer")
    no = refused(tools, exits.REJECTED, "lease", "renew", "t", "--actor", "coder")
    assert "it was released, and reviewer has u on a b" in no
    unknown = quick(tools, "lease", "renew", "x", "--actor", "coder", "--json").json["error"]
    assert unknown["allowed"] == ["lease acquire --file FILE"]


# -- the worklog -----------------------------------------------------------------------------


def test_an_entry_has_its_handoff_block(tools: Path) -> None:
    """What is said beyond title and text stands in it; a status can complete the entry."""
    words = ("--changed-file", "./src/x.py", "--changed-file", "docs", "--tests", "12 of 12")
    more = ("--status", "Complete", "--blocking", "none", "--next-owner", "reviewer")
    good(tools, "worklog", "log", "Earlier", "--actor", "coder")
    stdin = b"## The parser\n"
    refers = ("--text", "-", "--refers", "1")
    done = good(
        *(tools, "worklog", "log", "Parser", *words, *more, *refers),
        *("--actor", "coder", "--json"),
        stdin=stdin,
    )
    types = [record["type"] for record in done.json["appended"]]
    assert types == ["worklog.entry_logged", "worklog.entry_completed"]
    newest, earlier = good(tools, "worklog", "list", "--json").json
    assert newest["handoff"] == {
        "status": "Complete",
        "changed_files": ["src/x.py", "docs"],
        "tests": "12 of 12",
        "blocking": "none",
        "next_owner": "reviewer",
    }
    assert (newest["text"], newest["refers"], newest["status"]) == (
        "## The parser\n",
        ["W001"],
        "completed",
    )
    assert (earlier["handoff"], earlier["status"]) == (None, "active")


def test_the_worklog_is_compacted_by_its_maintainer(tools: Path) -> None:
    """All that can move moves, or what is named; --dry-run says which, and moves nothing."""
    for words in (
        "log one --status done",
        "log two --refers W001",
        "log three --status done",
        "log four --status done",
    ):
        good(tools, "worklog", *words.split(), "--actor", "coder")
    before = files(tools)
    foretold = good(tools, "worklog", "compact", "--dry-run", "--json").json
    assert foretold == {
        "project": "tools",
        "entries": ["W003", "W004"],
        "kept": {"W001": "W002 refers to it"},
    }
    named = good(tools, "worklog", "compact", "W002", "4", "--dry-run").out
    assert named == "would move: W004 four\nstays: W002, it is not completed\n"
    assert files(tools) == before
    for words in ("W001", "W002"):
        refused(tools, exits.REJECTED, "worklog", "compact", words, "--actor", "ada")
    for who in ((), ("--actor", "coder")):
        no = refused(tools, exits.REJECTED, "worklog", "compact", *who)
        assert "only the maintainer approves that" in no
    refused(tools, exits.NOT_FOUND, "worklog", "compact", "W009", "--actor", "ada")
    good(tools, "worklog", "compact", "3", "--actor", "ada", "-r", "long")
    good(tools, "worklog", "compact", "--actor", "ada")
    assert "already so" in good(tools, "worklog", "compact", "--actor", "ada").out
    assert [each["id"] for each in good(tools, "worklog", "list", "--json").json] == [
        "W002",
        "W001",
    ]
    every = good(tools, "worklog", "list", "--all", "--json").json
    assert [each["status"] for each in every] == ["archived", "archived", "active", "completed"]
    assert good(tools, "lease", "list", "--json").json == []


def test_a_compaction_waits_for_who_holds_the_files(tmp_path: Path) -> None:
    """A lease on the worklog of another keeps it as it is, whatever the folder is called."""
    for folder in ("working-session", "."):
        place = tmp_path / f"w{len(folder)}"
        place.mkdir()
        good(place, "init", "tools", "--maintainer", "ada", "--workspace", folder, *AGENTS)
        good(place, "worklog", "log", "one", "--status", "done", "--actor", "coder")
        words = ("--file", f"{folder}/WORKLOG.md", "--token", "t", "--actor", "coder")
        good(place, "lease", "acquire", *words)
        no = refused(place, exits.REJECTED, "worklog", "compact", "--actor", "ada")
        assert "coder has lease t on" in no
        good(place, "lease", "release", "t", "--actor", "coder")
        good(place, "worklog", "compact", "--actor", "ada")


# -- as its users run it ---------------------------------------------------------------------


def test_two_agents_as_processes_of_their_own(tmp_path: Path) -> None:
    """Mail goes from one process to another and back, with its payload, and closes."""
    folder = tmp_path

    def as_agent(name: str, *args: str, stdin: bytes = b"") -> Result:
        done = run(folder, *args, stdin=stdin, env={"PASSDOWN_ACTOR": name})
        assert (done.code, done.err) == (0, ""), done
        return done

    as_agent("", "init", "tools", "--maintainer", "ada", *AGENTS)
    as_agent("coder", "mail", "post", "Patch", "--to", "reviewer", "--payload", "-", stdin=b"+1\n")
    [unread] = as_agent("reviewer", "mail", "list", "--agent", "reviewer", "--json").json
    whole = as_agent("reviewer", "mail", "show", unread["id"], "--json").json
    assert whole["payload"]["text"] == "+1\n"
    words = ("-r", "applied", "--token", whole["payload"]["token"])
    as_agent("reviewer", "mail", "action", unread["id"], *words)
    as_agent("coder", "mail", "close", unread["id"], "-r", "thanks")
    with Journal.open(folder / ".passdown") as journal:
        [message] = journal.project("tools").state.messages.values()
    assert [(ack.what, ack.by) for ack in message.acks] == [
        ("actioned", "reviewer"),
        ("closed", "coder"),
    ]
