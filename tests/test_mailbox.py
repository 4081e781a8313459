"""MAILBOX.md as it is rendered: what waits for whom, each message, and nothing that is forged."""

import os
import re
import time
from pathlib import Path

import pytest
from command import good
from hypothesis import given, settings
from hypothesis import strategies as st
from mailing import TEXT, Workspace, payload, rich, workspace, workspaces
from markdown_it import MarkdownIt
from msgspec.structs import replace
from strategies import MINUTE, START

from journal import events as e
from journal.payloads import checksum, normal
from journal.peers import Ack, Message
from projections import mailbox, stamp
from projections.mailbox.reading import read

GOLDEN = Path(__file__).with_name("golden") / "shared-MAILBOX.md"
COMMONMARK = MarkdownIt("commonmark").enable("table")
thorough = settings(deadline=None, max_examples=60)
SECTIONS = [
    "Quick Reply",
    "Inbox Snapshot",
    "Open Queue (Newest First)",
    "Active Messages (Newest First)",
    "Closed Summary",
]


def rendered(shared: Workspace) -> str:
    """The file of a workspace."""
    return mailbox.render(shared.project).decode()


def rows(text: str, section: str) -> list[list[str]]:
    """The cells of a section's table, as a reader knows them that knows no escapes."""
    found = text.split(f"\n## {section}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in found.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def headings(text: str) -> list[str]:
    """The headings that a reader of markdown sees, below the title."""
    tokens = COMMONMARK.parse(text)
    return [
        tokens[n + 1].content
        for n, each in enumerate(tokens)
        if each.type == "heading_open" and each.tag != "h1"
    ]


def without_payload(text: str, token: str) -> str:
    """The file without what stands between the fences below a token."""
    begin = re.compile(r"\n( ?)(`{3,})(?:diff|text)\n").search(text, text.index(token))
    assert begin is not None
    end = text.index(f"\n{begin[1]}{begin[2]}\n", begin.end() - 1)
    return text[: begin.start()] + text[end:].removeprefix(f"\n{begin[1]}{begin[2]}")


def test_golden_file() -> None:
    """A workspace with something of everything renders to the bytes that were read and accepted."""
    content = mailbox.render(rich().project)
    if os.environ.get("PASSDOWN_GOLDEN") == "write":
        GOLDEN.write_bytes(content)
    assert content == GOLDEN.read_bytes()


def test_an_empty_mailbox() -> None:
    """It has every section, and a row for everybody but observers."""
    text = rendered(workspace())
    assert headings(text) == SECTIONS
    assert rows(text, "Inbox Snapshot") == [
        [name, "0", "none", "none"] for name in ("coder", "reviewer", "ada")
    ]
    assert rows(text, SECTIONS[2]) == rows(text, "Closed Summary") == []


def test_what_waits_for_whom() -> None:
    """The inbox counts what is unread, names the oldest, and says when that needs an answer."""
    shared = workspace()
    for priority, due in (("P0", ""), ("P1", "2026-02-01"), ("P2", "")):
        shared.add(
            e.MessagePosted("reviewer", "x", priority=priority, due=due),  # type: ignore[arg-type]
            "coder",
        )
    shared.add(e.MessagePosted("watcher", "x", kind="notify"), "coder")

    def inbox() -> dict[str, list[str]]:
        return {name: rest for name, *rest in rows(rendered(shared), "Inbox Snapshot")}

    assert inbox()["reviewer"] == ["3", "MSG-20260101-001", "next turn"]
    assert inbox()["watcher"] == ["1", "MSG-20260101-004", "none"]
    shared.add(e.MessageAcknowledged("MSG-20260101-001", "read"), "reviewer")
    assert inbox()["reviewer"] == ["2", "MSG-20260101-002", "2026-02-01"]


def test_newest_first() -> None:
    """Queue and messages begin with what was posted last, the summary with what was closed last."""
    shared = workspace()
    for n in range(5):
        shared.add(e.MessagePosted("reviewer", f"n{n}"), "coder")
    for n in (2, 1):
        shared.add(e.MessageClosed(f"MSG-20260101-00{n}", "done"), "coder")
    text = rendered(shared)
    assert [cells[3] for cells in rows(text, SECTIONS[2])] == ["n4", "n3", "n2"]
    assert [id[-1] for id in headings(text) if id.startswith("MSG")] == ["5", "4", "3"]
    assert [cells[0][-1] for cells in rows(text, "Closed Summary")] == ["1", "2"]


def test_a_closed_message_is_a_row() -> None:
    """How it ended and what came of it; of a resolved one that is not said twice."""
    shared = workspace().add(e.MessagePosted("reviewer", "Review", "a body"), "coder")
    shared.add(e.MessageClosed("MSG-20260101-001", "not | needed", "withdrawn"), "coder")
    text = rendered(shared)
    assert rows(text, "Closed Summary") == [
        [
            *("MSG-20260101-001", "2026-01-01", "coder -> reviewer", "closed (withdrawn)"),
            "Review — not &#124; needed",
        ]
    ]
    assert "a body" not in text


def test_another_status_is_another_line() -> None:
    """An ack changes the status, the row of who has read it, and adds its own line; no more."""
    shared = workspace().add(e.MessagePosted("reviewer", "Review", "a body"), "coder")
    before = rendered(shared).splitlines()
    shared.add(e.MessageAcknowledged("MSG-20260101-001", "on it"), "reviewer")
    after = rendered(shared).splitlines()
    assert [line for line in after if line not in before][:3] == [
        "| reviewer | 0 | none | none |",
        "**Status:** acknowledged",
        "**Ack:** reviewer — 2026-01-01T10:05:00Z — acknowledged. on it",
    ]
    assert len(after) == len(before) + 2


def test_names_are_titles() -> None:
    """An actor with a title goes by it everywhere, unless it could mean somebody else."""
    shared = workspace().add(e.ActorRegistered("coder", "agent", "Coder | One"), "ada")
    shared.add(e.ActorRegistered("reviewer", "agent", "ADA"), "ada")
    text = rendered(shared.add(e.MessagePosted("reviewer", "x"), "coder"))
    assert "**From:** Coder &#124; One -> reviewer\n" in text
    assert [cells[0] for cells in rows(text, "Inbox Snapshot")] == [
        "Coder &#124; One",
        "reviewer",
        "ada",
    ]


@thorough
@given(workspaces())
def test_nothing_is_forged(shared: Workspace) -> None:
    """Whatever agents write, readers of markdown see our headings, and tools our fields and rows.

    Those look past the blanks in front of a line; only what is to be reviewed stands as it is.
    """
    text = rendered(shared)
    open_ = [x for x in shared.project.messages.values() if x.status != "closed"]
    shown = [heading for heading in headings(text) if heading not in SECTIONS]
    assert sorted(shown) == sorted(message.id for message in open_)
    assert stamp.holds(text.encode())
    assert stamp.read(text.encode()) == stamp.read(mailbox.render(shared.project))
    for message in open_:
        if message.payload:
            text = without_payload(text, message.payload.token)
    stripped = [line.strip() for line in text.splitlines()]
    acks = sum(len(message.acks) for message in open_)
    assert sum(line.startswith("**Ack:**") for line in stripped) == acks
    for field in ("From", "Status", "Subject", "Priority", "Type"):
        assert sum(line.startswith(f"**{field}:**") for line in stripped) == len(open_)
    assert len(rows(text, SECTIONS[2])) == len(open_)
    assert all(len(cells) == 4 for cells in rows(text, SECTIONS[2]))


@thorough
@given(workspaces())
def test_what_was_written_can_be_read(shared: Workspace) -> None:
    """Whoever has nothing but the file has every open message of it, word for word."""
    other = workspace()
    other.adopt(mailbox.render(shared.project))
    for message in shared.project.messages.values():
        found = other.project.messages[message.id]
        assert found.status == message.status
        if message.status != "closed":
            text = message.payload and (normal(message.payload.text) or "\n")
            asked = message.payload and replace(message.payload, text=text)
            assert found == replace(message, payload=asked, due=found.due or message.due)


@thorough
@given(workspaces())
def test_a_reader_with_the_base_learns_nothing(shared: Workspace) -> None:
    """What was rendered says what is known, also with other line ends."""
    content = mailbox.render(shared.project)
    assert mailbox.intact(content)
    for file in (content, b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n")):
        assert shared.copy().adopt(file, shared.project) == 0


@settings(deadline=None, max_examples=100)
@given(TEXT.filter(lambda text: len(text.encode()) < 9_000 and bool(normal(text))))
def test_a_payload_stands_between_fences(text: str) -> None:
    """To the letter, so that its checksum can be taken of it, and with no end but the fence's."""
    shared = workspace().add(e.MessagePosted("reviewer", "x", payload=payload(text)), "coder")
    content = rendered(shared)
    [card] = read(content).cards
    assert card.payload is not None
    assert card.payload.text in (normal(text), "\n")
    assert checksum(card.payload.text) == checksum(text)
    if "passdown project=" not in text:
        fence = re.search(r"\n(`{3,})diff\n", content)
        assert fence is not None
        inside = content[fence.end() :].split(f"\n{fence[1]}\n", 1)[0]
        assert inside == normal(text)


def test_rendering_a_great_many_messages() -> None:
    """Ten thousand open messages with their acks take seconds, not minutes."""
    shared = workspace()
    for n in range(10_000):
        at = START + n * MINUTE
        acks = tuple(Ack("acknowledged", "reviewer", at + 10**6, f"on {n}") for _ in range(2))
        id = f"MSG-20260101-{n:05}"
        shared.project.messages[id] = Message(
            id,
            "coder",
            "reviewer",
            f"Part {n} of the_parser",
            at,
            "Look.\n\n- one\n" * 5,
            acks=acks,
        )
    began = time.monotonic()
    content = mailbox.render(shared.project)
    assert time.monotonic() - began < 15
    assert content.count(b"\n### MSG-") == 10_000


# -- on disk ---------------------------------------------------------------------------------


def test_it_is_kept_up_to_date(tmp_path: Path) -> None:
    """Every command on mail leaves the file as it is then; only a shared workspace has one."""
    words = ("--maintainer", "ada", "--agent", "coder", "--agent", "reviewer")
    good(tmp_path, "init", "tools", *words)
    path = tmp_path / "working-session/MAILBOX.md"
    assert mailbox.intact(path.read_bytes())
    good(tmp_path, "mail", "post", "Review", "--to", "reviewer", "--actor", "coder")
    assert "**Status:** unread" in path.read_text()
    good(tmp_path, "mail", "ack", "1", "-r", "on it", "--actor", "reviewer")
    assert "— acknowledged. on it" in path.read_text()
    path.unlink()
    good(tmp_path, "sync")
    assert "— acknowledged. on it" in path.read_text()
    plain = tmp_path / "plain"
    plain.mkdir()
    good(plain, "init", "alone")
    assert not (plain / "working-session").exists()


@pytest.mark.parametrize(
    "content", [b"", b"# Mailbox\n", b"# Mail\n\n## Active Messages\n", b"\xff", b"# Mailbox\0"]
)
def test_what_is_no_mailbox(content: bytes) -> None:
    """Without its title or its section of messages, or no text at all, it is not taken for one."""
    assert not mailbox.intact(content)


@given(st.binary(max_size=300))
def test_any_bytes_are_judged(content: bytes) -> None:
    """Any bytes get an answer."""
    assert mailbox.intact(content) in (True, False)
