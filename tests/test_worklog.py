"""WORKLOG.md and its archive as they are written: what is told where, and text that stays text."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from msgspec.structs import replace
from strategies import Chain, hostile_text

from journal import events as e
from journal.entities import is_stale
from journal.peers import WorklogEntry
from journal.request import Request
from journal.state import Project
from projections import narrative, worklog
from projections.dialect import DIALECTS
from projections.worklog import archive, entries, status, telling
from projections.worklog.document import ARCHIVE, form, own

GOLDEN = Path(__file__).with_name("golden")
FILES: dict[str, Callable[[Project], bytes]] = {
    "shared-WORKLOG.md": worklog.render,
    "shared-WORKLOG_ARCHIVE.md": archive.render,
}


def opened() -> Chain:
    """A workspace that ada maintains, and coder and reviewer share."""
    chain = Chain("tools")
    chain.add(
        e.ProjectOpened("Tools", "shared", (), coordination=e.Coordination("ada")), actor="ada"
    )
    chain.add(e.ActorRegistered("coder", "agent"))
    return chain.add(e.ActorRegistered("reviewer", "agent"))


def shared() -> Project:
    """A worklog of three sessions: one in the archive, one closed with a snapshot, one begun."""
    chain = opened()
    chain.add(e.SessionStarted(agent="coder", session="session-001"), "coder")
    lexer = e.Handoff("Complete", ("src/lexer.py",), "12 of 12", "", "reviewer")
    chain.add(_entry("W001", "The lexer knows numbers", 1, handoff=lexer), "coder", "session-001")
    chain.add(e.WorklogEntryCompleted("W001"))
    odd = "# A heading that is none\n\n| a | table |\n<b>and</b> more"
    chain.add(_entry("W002", "What the *parser* needs", 1, text=odd), "coder", "session-001")
    chain.add(e.WorklogEntryCompleted("W002", "in W004"))
    chain.add(e.SessionEnded("session-001"))
    chain.add(e.SessionStarted(agent="coder", session="session-002"), "coder")
    chain.add(e.DecisionMade("Numbers", "Decimal", decision="D001"), "ada")
    chain.add(e.DecisionMade(key="parser", value="pratt", decision="D002"), "coder", "session-002")
    chain.add(e.TaskAdded("Write the parser", task="T001"))
    chain.add(e.TaskClaimed("T001", "coder"), "coder")
    plain = "The parser reads sums.\n\n- of numbers: `1 + 2` is 3\n- what is left: signs"
    half = e.Handoff("partial", ("src/parser.py", "src/ast.py"), "7 of 9\n2 to come", "none")
    chain.add(
        _entry("W003", "The parser reads sums", 2, plain, half, ("W001",)), "coder", "session-002"
    )
    chain.add(e.WorklogCompacted(("W001", "W002"), "ada", "long"), "ada")
    chain.add(
        e.SnapshotTaken(
            "### Active task\n",
            "coder",
            "session-002",
            2,
            "context-exhausted",
            task="T001",
            next_action="Read signs",
            token="REV-20260101-snapshot-coder-01-h0123abcd",
        ),
        "coder",
    )
    chain.add(e.SessionEnded("session-002"))
    chain.add(e.SessionStarted(agent="reviewer", session="session-003"), "reviewer")
    chain.add(_entry("W004", "Sums are read", 3, "See W003."), "reviewer", "session-003")
    chain.add(e.WorklogEntryCompleted("W004", "merged"))
    chain.add(e.NextActionSet("Review the signs", "reviewer"))
    chain.add(e.NextActionSet("Say who writes the printer", "ada"))
    chain.add(e.PhaseAdvanced("build", "2"))
    chain.add(e.EscalationRaised("Who writes it?", "unread for two sessions", "", "ESC-001"))
    return chain.project


def _entry(
    id: str,
    title: str,
    number: int,
    text: str = "",
    handoff: e.Handoff | None = None,
    refers: tuple[str, ...] = (),
) -> e.WorklogEntryLogged:
    return e.WorklogEntryLogged(title, text, "", number, handoff, refers, id)


def text_of(content: bytes) -> str:
    """A file without its stamp."""
    return narrative.words(content, "a worklog")


@pytest.mark.parametrize("name", FILES)
def test_golden_files(name: str) -> None:
    """The worklog of a shared workspace, as it was read and accepted (PASSDOWN_GOLDEN=write)."""
    content = FILES[name](shared())
    if os.environ.get("PASSDOWN_GOLDEN") == "write":
        (GOLDEN / name).write_bytes(content)
    assert content == (GOLDEN / name).read_bytes()


def test_the_status_block_comes_first() -> None:
    """Who is at what, and what the maintainer is to see to, are the first ten lines; what was
    escalated stands there until it is answered."""
    project = shared()
    top = text_of(worklog.render(project)).split("\n")[:10]
    assert top[2:7] == [
        "Now Working (coder): T001 Write the parser; next: Read signs",
        "Now Working (reviewer): Review the signs",
        "Maintainer Focus: Say who writes the printer",
        "Next Review Checkpoint: end of phase build, step 2",
        "Escalated ESC-001: Who writes it? (unread for two sessions)",
    ]
    answered = Chain("tools")
    answered.project = project.copy()
    answered.add(e.EscalationAnswered("ESC-001", "coder does"))
    assert "Escalated" not in text_of(worklog.render(answered.project))


def test_the_focus_without_a_word_from_the_maintainer() -> None:
    """What was escalated is the maintainer's to see to; with nothing at all the lines say so."""
    chain = opened()
    assert (status.focus(chain.project), status.checkpoint(chain.project)) == ("none", "none")
    assert status.working(chain.project, "coder") == "idle"
    chain.add(e.EscalationRaised("x", escalation="ESC-001"))
    chain.add(e.NextActionSet("Ship it"))
    assert status.focus(chain.project) == "answer ESC-001"
    assert status.checkpoint(chain.project) == "Ship it"
    chain.add(e.ActorRegistered("eve", "observer"))
    assert status.agents(chain.project) == ["coder", "reviewer"]


def test_a_snapshot_is_a_line_and_where_to_find_it() -> None:
    """The section of its session has a summary of one line and a pointer, never the body."""
    text = text_of(worklog.render(shared()))
    assert text.count("Full resumption snapshot:") == 1
    section = text.partition("## Session 2")[2].partition("## Session 3")[0]
    assert (
        "### coder: Session closed, context-exhausted "
        "<!-- snapshot REV-20260101-snapshot-coder-01-h0123abcd -->\n\n"
        "T001 Write the parser, partial; next: Read signs\n"
        "Full resumption snapshot: working-session/chat-coder.md § Session Close — State Snapshot "
        "(Session 2)\n"
    ) in section
    assert "### Active task" not in text


def test_an_archive_only_once_something_is_in_it() -> None:
    """A workspace that archived nothing gets no archive; others than shared ones get neither."""
    both = [DIALECTS[name] for name in (worklog.NAME, archive.NAME)]
    assert [dialect.usual(shared()) for dialect in both] == [True, True]
    assert [dialect.usual(opened().project) for dialect in both] == [True, False]
    assert [dialect.usual(Project("alone")) for dialect in both] == [False, False]
    assert [dialect.renderer for dialect in both] == [worklog.RENDERER, archive.RENDERER]


def test_the_session_of_an_archived_entry() -> None:
    """A session leaves the worklog with the last of its entries, and has a row there then."""
    text = text_of(worklog.render(shared()))
    assert "## Session 1 " not in text
    assert "| 1 | 2026-01-01 | The lexer knows numbers; What the \\*parser\\* needs |\n" in text
    assert "## Session 1 — 2026-01-01\n" in text_of(archive.render(shared()))


@given(st.binary(max_size=200))
@example(b"# Worklog\n")
@example(b"# Worklog\xff")
@example(b"# Worklog\0")
@example(b"\xef\xbb\xbf# Inception WORKLOG of x\r\n")
@example(b"# Worklog Archive\n")
@example(b"")
def test_any_bytes_are_a_worklog_or_not(content: bytes) -> None:
    """Whether bytes are one of the files is answered for any of them, and never both."""
    try:
        text = content.decode("utf-8-sig").lower()
    except UnicodeDecodeError:
        text = "\0"
    titled = "\0" not in text and re.search(r"^#[ \t].*\bworklog\b", text, re.MULTILINE)
    if worklog.intact(content) or archive.intact(content):
        assert titled
    assert not (worklog.intact(content) and archive.intact(content))
    assert worklog.intact(worklog.render(shared()))
    assert archive.intact(archive.render(shared()))


# -- text that stays text --------------------------------------------------------------------

WORDS = st.one_of(st.just(""), hostile_text(huge=False))
HANDOFFS = st.builds(
    e.Handoff, WORDS, st.lists(hostile_text(huge=False), max_size=3).map(tuple), WORDS, WORDS, WORDS
)


@settings(deadline=None)
@given(hostile_text(huge=False), hostile_text(), st.one_of(st.none(), HANDOFFS))
@example(
    "t", "```\n```text\nHandoff: x", e.Handoff("none", ("none", ""), "none\nnone", " a ", "\n")
)
@example("x <!-- W002 -->", "Completed now <!-- W001 -->", None)
def test_an_entry_says_again_what_was_logged(
    title: str, text: str, handoff: e.Handoff | None
) -> None:
    """Text and handoff block come back to the letter, the title as one line."""
    entry = WorklogEntry("W001", title, 1_767_261_600_000_000, text, "coder", 1, handoff, ("W000",))
    told = telling.told(entries.entry(entry))
    assert told is not None
    assert (told.agent, told.known, told.at, told.refers) == (
        "coder",
        "W001",
        entry.at,
        ("W000",),
    )
    assert (told.text, told.handoff) == (text, handoff and without_none(handoff))
    if title.isprintable() and title == " ".join(title.split()) and len(title) < 400:
        assert told.title == title


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(hostile_text(), hostile_text(), HANDOFFS, WORDS), max_size=4))
def test_no_text_forges_anything(said: list[tuple[str, str, e.Handoff, str]]) -> None:
    """Whatever agents write, a reader of markdown finds the headings, rows and lines that are
    ours, and a journal that knows nothing reads the same entries out of the file."""
    chain = opened()
    for n, (title, text, handoff, more) in enumerate(said, start=1):
        chain.add(e.DecisionMade(title, more, decision=f"D{n:03}"), "coder")
        chain.add(e.NextActionSet(title, "coder"))
        chain.add(e.EscalationRaised(title, more, escalation=f"ESC-{n:03}"))
        chain.add(_entry(f"W{n:03}", title, n, text, handoff), "coder")
        if more:
            chain.add(e.WorklogEntryCompleted(f"W{n:03}", more))
    content = worklog.render(chain.project)
    tokens = MarkdownIt("commonmark").enable("table").parse(content.decode())
    levels = [token.tag for token in tokens if token.type == "heading_open"]
    assert levels == ["h1", "h2", "h2", *["h2", "h3"] * len(said)]
    assert sum(token.type == "tr_open" for token in tokens) == (1 + len(said) if said else 0)
    assert sum(token.type == "fence" for token in tokens) == len(said)
    assert sum(line.startswith("Escalated ") for line in content.decode().split("\n")) == len(said)
    other = read_by_others(content).worklog.values()
    assert [(x.id, x.text, x.handoff, x.agent, x.number) for x in other] == [
        (x.id, x.text, x.handoff and without_none(x.handoff), x.agent, x.number)
        for x in chain.project.worklog.values()
    ]
    assert (
        worklog.adopt_bytes(
            content, chain.project, "w/WORKLOG.md", base=chain.project, removals=True, now=1, by=BY
        )
        == []
    )


def without_none(handoff: e.Handoff) -> e.Handoff:
    """A handoff block as it is read: the word for none says nothing."""
    said = {name: getattr(handoff, name) for name in ("status", "tests", "blocking", "next_owner")}
    return replace(handoff, **{name: "" for name, value in said.items() if value == "none"})


BY = Request(e.DriftAdopted("WORKLOG.md", ""))


def read_by_others(content: bytes) -> Project:
    """What a journal that knows nothing makes of a file."""
    chain = Chain("other")
    for request in worklog.adopt_bytes(
        content, chain.project, "working-session/WORKLOG.md", now=chain.at, by=BY
    ):
        chain.ask(request)
    return chain.project


# -- every entry in one of the two -----------------------------------------------------------

STEPS = st.lists(
    st.tuples(st.sampled_from(("log", "complete", "compact")), st.integers(0, 9)), max_size=25
)


@settings(deadline=None)
@given(STEPS)
def test_every_entry_is_in_one_of_the_files(steps: list[tuple[str, int]]) -> None:
    """Whatever is logged, completed and moved, each entry is in one file once, under its session,
    with the same words wherever that is."""
    chain = opened()
    for what, n in steps:
        count = len(chain.project.worklog)
        if what == "log":
            chain.add(_entry(f"W{count + 1:03}", f"title {n}", n % 4), "coder")
        elif count:
            id = f"W{n % count + 1:03}"
            event = e.WorklogEntryCompleted(id) if what == "complete" else e.WorklogCompacted((id,))
            chain.add(event, "ada")
    log, moved = (narrative.text(form(chain.project, name)) for name in (worklog.NAME, ARCHIVE))
    for entry in chain.project.worklog.values():
        words = entries.entry(entry)
        here, there = (moved, log) if entry.archived is not None else (log, moved)
        assert (here.count(words), there.count(words)) == (1, 0)
        above = here[: here.index(words)].rpartition("\n## Session ")[2]
        assert above.startswith(f"{entry.number} — ")
    assert not any(is_stale(chain.project, lease) for lease in chain.project.leases.values())


def test_the_parts_are_named_alike_in_both() -> None:
    """An entry is the same part in both files, so that what is kept of it goes along."""
    project = shared()
    names = [set(own(project, name)["order"]) for name in (worklog.NAME, ARCHIVE)]  # type: ignore[arg-type]
    assert {"entry/W001", "entry/W003", "session/1"} <= names[0] & names[1]
