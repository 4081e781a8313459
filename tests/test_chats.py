"""The file of an agent: snapshots are appended to it once, and nothing else in it is touched."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command import bound_by_permissions, files, good, quick, run

from cli import exits
from projections import snapshot

CHAT = "working-session/chat-coder.md"


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A shared workspace in which coder has a session."""
    agents = ("--agent", "coder", "--agent", "reviewer")
    good(tmp_path, "init", "tools", "--maintainer", "ada", *agents)
    good(tmp_path, "session", "start", "--actor", "coder")
    return tmp_path


def take(folder: Path, why: str, *words: str) -> str:
    """Take a snapshot, and give its token."""
    done = good(folder, "snapshot", "--why", why, "--actor", "coder", *words, "--json").json
    token: str = done["appended"][-1]["data"]["token"]
    return token


def entry(folder: Path, token: str) -> str:
    """A snapshot as it is to stand in the file."""
    return good(folder, "snapshot", "show", token).out


def test_a_snapshot_is_the_last_entry_of_its_agents_file(tools: Path) -> None:
    """The file is made where there is none; the next snapshot stands below the first."""
    one, two = take(tools, "first"), take(tools, "second")
    title = "# Chat Log — coder\n\n"
    assert (tools / CHAT).read_text() == f"{title}{entry(tools, one)}\n{entry(tools, two)}"
    assert good(tools, "verify").code == 0


@pytest.mark.parametrize("before", [b"# Mine\n", b"# Mine\n\nno end", b"# Mine\r\n\r\nok\r\n", b""])
def test_what_is_the_agents_stays(tools: Path, before: bytes) -> None:
    """Whatever stands in the file stays to the byte, and so does what is written below later."""
    (tools / "working-session").mkdir(exist_ok=True)
    (tools / CHAT).write_bytes(before)
    one = take(tools, "first")
    content = (tools / CHAT).read_bytes()
    assert content.startswith(before)
    assert content.endswith(entry(tools, one).encode())
    later = content + b"\n## Session 2\n\nmore talk\n"
    (tools / CHAT).write_bytes(later)
    for command in ("sync", "recover", "verify"):
        good(tools, command)
        assert (tools / CHAT).read_bytes() == later
    two = take(tools, "second")
    assert (tools / CHAT).read_bytes() == later + b"\n" + entry(tools, two).encode()


def test_a_file_whose_ends_of_lines_were_changed_is_as_well(tools: Path) -> None:
    """An editor that writes CRLF has not changed a word."""
    take(tools, "first")
    crlf = (tools / CHAT).read_bytes().replace(b"\n", b"\r\n")
    (tools / CHAT).write_bytes(crlf)
    good(tools, "verify")
    good(tools, "sync")
    assert (tools / CHAT).read_bytes() == crlf


def test_what_is_missing_is_appended_again(tools: Path) -> None:
    """The newest entry comes back with the next sync; those before it only by recovery."""
    one, two = take(tools, "first"), take(tools, "second")
    (tools / CHAT).write_text("# Mine\n")
    assert f"{CHAT}: missing" in quick(tools, "verify").out
    good(tools, "sync")
    assert (tools / CHAT).read_text() == f"# Mine\n\n{entry(tools, two)}"
    (tools / CHAT).unlink()
    done = good(tools, "recover", "--json").json["projects"]["tools"]
    assert [(x["path"], x["written"]) for x in done if x["projection"] == "chat"] == [(CHAT, True)]
    found = snapshot.entries((tools / CHAT).read_bytes())
    assert [each.word("revision") for each in found] == [one, two]
    assert good(tools, "log", "--json", "-n", "1").json["type"] == "project.recovered"


def test_what_never_came_to_the_file_comes_with_the_next(tools: Path) -> None:
    """A writer that was killed before it wrote leaves one more to be appended by the next."""
    one = take(tools, "first")
    two = take(tools, "second", "--no-sync")
    three = take(tools, "third")
    found = snapshot.entries((tools / CHAT).read_bytes())
    assert [each.word("revision") for each in found] == [one, two, three]
    good(tools, "verify")


def test_what_an_agent_does_away_with_stays_away(tools: Path) -> None:
    """An older entry that was taken out is not missed while the newest is there."""
    take(tools, "first")
    two = take(tools, "second")
    trimmed = f"# Mine\n\n{entry(tools, two)}"
    (tools / CHAT).write_text(trimmed)
    for command in ("verify", "sync", "recover"):
        good(tools, command)
        assert (tools / CHAT).read_text() == trimmed


def test_a_file_that_was_cut_gets_the_rest(tools: Path) -> None:
    """Cut at any byte of the newest entry, the file is completed, and has the entry once."""
    take(tools, "first")
    take(tools, "second")
    whole = (tools / CHAT).read_bytes()
    start = whole.rindex(b"## Session Close")
    for end in (start, start + 3, start + 10, start + 60, len(whole) - 300, len(whole) - 2):
        (tools / CHAT).write_bytes(whole[:end])
        good(tools, "sync")
        content = (tools / CHAT).read_bytes()
        assert len(snapshot.entries(content)) == 2, end
        assert content.endswith(whole[start:])
        assert good(tools, "verify").code == 0


def test_a_file_that_was_cut_further_up_gets_all_of_it(tools: Path) -> None:
    """Cut in the middle of an older entry, that is completed and the newer follow."""
    take(tools, "first")
    take(tools, "second")
    whole = (tools / CHAT).read_bytes()
    (tools / CHAT).write_bytes(whole[: whole.index(b"### Open commitments")])
    good(tools, "sync")
    assert (tools / CHAT).read_bytes() == whole


def test_words_put_into_a_snapshot_are_reported(tools: Path) -> None:
    """An entry that says something else is left alone; reverting appends it as it was taken."""
    token = take(tools, "first")
    edited = (tools / CHAT).read_text().replace("first", "the first of all")
    (tools / CHAT).write_text(edited)
    said = quick(tools, "verify")
    assert (said.code, f"{CHAT}: drifted" in said.out) == (exits.NOT_WELL, True)
    assert token in said.err
    assert CHAT in quick(tools, "drift").out
    for command in (("sync",), ("recover",), ("drift", "--adopt")):
        assert quick(tools, *command).code == exits.NOT_WELL
        assert (tools / CHAT).read_text() == edited
    good(tools, "drift", "--revert")
    assert (tools / CHAT).read_text() == f"{edited}\n{entry(tools, token)}"
    good(tools, "verify")


def test_who_goes_on_below_an_entry_needs_no_heading(tools: Path) -> None:
    """Plain lines that an agent writes below its snapshot are not a part of that."""
    take(tools, "first")
    with (tools / CHAT).open("a") as file:
        file.write("\nMore talk.\n\n### And more\n\n- OQ-999 is what I think of\n")
    good(tools, "snapshot", "validate", CHAT)
    take(tools, "second")
    good(tools, "snapshot", "validate", CHAT)
    good(tools, "verify")


def test_validation_of_an_edited_file_names_the_line(tools: Path) -> None:
    """The token is not that of the edited text, and the file's own line is told."""
    take(tools, "first")
    (tools / CHAT).write_text((tools / CHAT).read_text().replace("first", "last"))
    said = quick(tools, "snapshot", "validate", CHAT)
    assert said.code == exits.NOT_WELL
    assert f"{CHAT} line 3: REV-" in said.out
    assert "the text below it has h" in said.out


def test_a_recording_survives_a_file_that_cannot_be_written(tools: Path) -> None:
    """The snapshot is on record and the exit code 0, though a folder stands in the file's place."""
    (tools / CHAT).mkdir(parents=True)
    done = good(tools, "snapshot", "--actor", "coder", "--json")
    assert done.json["synced"] is False
    assert CHAT in done.err
    (tools / CHAT).rmdir()
    good(tools, "sync")
    assert len(snapshot.entries((tools / CHAT).read_bytes())) == 1


def test_a_file_that_nobody_may_write_is_told(tools: Path) -> None:
    """Without permission nothing is written, and the next sync makes up for it."""
    take(tools, "first")
    (tools / CHAT).chmod(0o444)
    done = run(tools, "snapshot", "--why", "x", "--actor", "coder", before=bound_by_permissions)
    assert (done.code, "cannot be used" in done.err) == (0, True)
    (tools / CHAT).chmod(0o644)
    good(tools, "sync")
    assert len(snapshot.entries((tools / CHAT).read_bytes())) == 2


def test_no_link_leads_out(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A file that is a link to somewhere else is not written to."""
    outside = tmp_path_factory.mktemp("outside") / "chat.md"
    outside.write_text("theirs\n")
    (tools / "working-session").mkdir(exist_ok=True)
    (tools / CHAT).symlink_to(outside)
    done = good(tools, "snapshot", "--actor", "coder")
    assert "leads out of the workspace" in done.err
    assert outside.read_text() == "theirs\n"


def test_settings_say_where_chats_are(tools: Path) -> None:
    """A path of its own with {agent} in it, or none at all."""
    settings = tools / "passdown.toml"
    settings.write_text('[projections.chat]\npath = "chats/{agent}.md"\n')
    take(tools, "first")
    assert (tools / "chats/coder.md").is_file()
    settings.write_text("[projections.chat]\nenabled = false\n")
    take(tools, "second")
    assert len(snapshot.entries((tools / "chats/coder.md").read_bytes())) == 1
    for text in ('path = "chat.md"', 'path = "../{agent}.md"'):
        settings.write_text(f"[projections.chat]\n{text}\n")
        assert quick(tools, "verify").code == exits.INVALID


def test_an_entry_is_there_once_whoever_is_killed(tools: Path) -> None:
    """Snapshots taken by processes that are killed at any moment are in the file once, at last."""
    for n in range(12):
        words = ["snapshot", "--why", f"number {n}", "--actor", "coder"]
        process = subprocess.Popen(
            [sys.executable, "-m", "passdown", *words],
            cwd=tools,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            process.wait(0.12 + 0.03 * n)
        except subprocess.TimeoutExpired:
            process.kill()
        process.wait()
    take(tools, "the last")
    good(tools, "sync")
    tokens = [each.word("revision") for each in snapshot.entries((tools / CHAT).read_bytes())]
    assert len(tokens) == len(set(tokens))
    recorded = [each["token"] for each in good(tools, "snapshot", "list", "--json").json]
    assert recorded[0] == tokens[-1]
    assert set(tokens) <= set(recorded)
    before = files(tools)
    good(tools, "verify")
    assert files(tools) == before
