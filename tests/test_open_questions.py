"""OPEN_QUESTIONS.md: what has to be answered, as a file that agents read, edit and bring along."""

import os
from pathlib import Path

import pytest
from command import good
from hypothesis import given, settings
from hypothesis import strategies as st
from mailing import Workspace, act, rich, workspace, workspaces

from journal import events as e
from journal.errors import Invalid
from projections import open_questions, stamp

GOLDEN = Path(__file__).with_name("golden") / "shared-OPEN_QUESTIONS.md"
thorough = settings(deadline=None, max_examples=60)

FOUND = """# Open Questions Registry

Tracks questions of the shop. Last seen by everybody in May.

Last updated: 2026-02-08 (OQ-012 added)

## Active Questions

| ID | Source PRDs | Question | Status | Resolution |
|----|-------------|----------|--------|------------|
| OQ-012 | PLAN-3 #1 | Where do `skills` live: here, or *there*? | open | — |
| OQ-010 | PLAN-3 | Who pays | or does nobody? | open | — |

## Deferred Questions

<!--
| OQ-900 | none | An example, and no question | open | — |
-->

Nothing was put off.

## Resolved Questions

| ID | Source PRDs | Question | Status | Resolution |
|----|-------------|----------|--------|------------|
| OQ-007 | PLAN-1, PLAN-2 | Do times need a zone? | resolved | No. (ada, 2026-02-01.) |
| OQ-002 | PLAN-1 | Is it a \\_type\\_? | resolved | Deferred until the pilot. |

## Notes

- OQ-007 and OQ-010 ask the same.
"""


def rendered(shared: Workspace) -> str:
    """The file of a workspace."""
    return open_questions.render(shared.project).decode()


def edited(shared: Workspace, *edits: tuple[str, str]) -> Workspace:
    """The workspace with edits of its file taken over."""
    text = rendered(shared)
    for was, now in edits:
        assert text.count(was) == 1, was
        text = text.replace(was, now)
    twin = shared.copy()
    twin.adopt(text.encode(), shared.project)
    return twin


def asked() -> Workspace:
    """A workspace with an open question, one that can wait, and one that is answered."""
    shared = workspace()
    for text in ("Which?", "Both?", "Who?"):
        shared.add(e.QuestionOpened(text, "chat"), "coder")
    shared.add(e.QuestionDeferred("OQ-002", "later"), "ada")
    return shared.add(e.QuestionResolved("OQ-003", "ada"), "ada")


def test_golden_file() -> None:
    """Questions of each kind render to the bytes that were read and accepted."""
    content = open_questions.render(rich().project)
    if os.environ.get("PASSDOWN_GOLDEN") == "write":
        GOLDEN.write_bytes(content)
    assert content == GOLDEN.read_bytes()


def test_nothing_was_asked() -> None:
    """Each section says so."""
    text = rendered(workspace())
    for section in ("Active", "Deferred", "Resolved"):
        assert f"## {section} Questions\n\n*No {section.lower()} questions.*\n" in text


@thorough
@given(workspaces())
def test_what_was_asked_can_be_read(shared: Workspace) -> None:
    """Whoever has nothing but the file has every question and answer, word for word."""
    other = workspace()
    other.adopt(open_questions.render(shared.project))
    for id, each in shared.project.questions.items():
        found = other.project.questions[id]
        said = (found.text, found.source, found.status, found.resolution)
        assert said == (each.text, each.source, each.status, each.resolution)


@thorough
@given(workspaces())
def test_a_reader_with_the_base_learns_nothing(shared: Workspace) -> None:
    """What was rendered says what is known, also with other line ends."""
    content = open_questions.render(shared.project)
    assert open_questions.intact(content)
    assert stamp.holds(content)
    for file in (content, b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n")):
        assert shared.copy().adopt(file, shared.project) == 0


@thorough
@given(st.data())
def test_an_edit_and_what_was_recorded_meanwhile(data: st.DataObject) -> None:
    """A question added by hand comes to all that was asked since, and takes nobody's place."""
    shared = data.draw(workspaces(5))
    base, content = shared.project, open_questions.render(shared.project)
    row = "| OQ-001 | hand | Added by hand? | open | — |\n"
    head = "| ID | Source | Question | Status | Resolution |\n|----|--------|----------|--------|"
    active = "## Active Questions\n"
    text = content.decode()
    if f"{active}\n{head}" in text:
        row = row.replace("001", f"{len(base.questions) + 1:03}")
        text = text.replace(
            f"{active}\n{head}------------|\n", f"{active}\n{head}------------|\n{row}"
        )
    else:
        row = row.replace("001", f"{len(base.questions) + 1:03}")
        new = f"{active}\n{head}------------|\n{row}"
        text = text.replace(f"{active}\n*No active questions.*\n", new)
    later = shared.copy()
    for _ in range(4):
        act(later, data.draw)
    before = dict(later.project.questions)
    later.adopt(text.encode(), base)
    now = later.project.questions
    assert {id: now[id] for id in before} == before
    assert [each.text for id, each in now.items() if id not in before] == ["Added by hand?"]
    assert later.adopt(open_questions.render(later.project), later.project) == 0


# -- files that are brought along ------------------------------------------------------------


def test_a_file_comes_out_again() -> None:
    """To the letter, whatever stands between its rows; its questions keep their ids and words."""
    shared = Workspace()
    shared.adopt(FOUND.encode())
    found = shared.project.questions
    assert {id: (x.status, x.source, x.resolution) for id, x in found.items()} == {
        "OQ-012": ("open", "PLAN-3 #1", ""),
        "OQ-002": ("resolved", "PLAN-1", "Deferred until the pilot."),
        "OQ-007": ("resolved", "PLAN-1, PLAN-2", "No. (ada, 2026-02-01.)"),
    }
    assert found["OQ-012"].text == "Where do `skills` live: here, or *there*?"
    assert found["OQ-002"].text == "Is it a _type_?"
    assert found["OQ-012"].opened == 1_770_508_800_000_000
    assert found["OQ-007"].resolved == 1_769_904_000_000_000
    assert rendered(shared).startswith(FOUND)
    assert shared.project.coordination is not None
    assert shared.project.coordination.workspace == "working-session/"
    assert shared.adopt(FOUND.encode()) == 0


def test_what_comes_later_joins_it() -> None:
    """A new question goes below the others, with the next free id; an answered one moves."""
    shared = Workspace()
    shared.adopt(FOUND.encode())
    shared.add(e.QuestionOpened("New?"))
    shared.add(e.QuestionResolved("OQ-012", "There."))
    new = next(reversed(shared.project.questions))
    text = rendered(shared)
    assert f"| {new} | — | New? | open | — |\n" in text
    assert (
        "| OQ-012 | PLAN-3 #1 | Where do `skills` live: here, or \\*there\\*? | resolved | There. |"
        in (text.split("## Resolved")[1])
    )
    for kept in FOUND.split("\n"):
        assert kept in text or kept.startswith("| OQ-012")


def test_other_columns_stay() -> None:
    """A table with other columns keeps them, and a new row has what belongs into each."""
    head = "| ID | Question | Owner | Status |\n|---|---|---|---|\n"
    text = f"# Open Questions\n\n## Active Questions\n\n{head}| OQ-004 | Which? | ada | open |\n"
    shared = Workspace()
    shared.adopt(text.encode())
    shared.add(e.QuestionOpened("New?", question="OQ-005"))
    again = rendered(shared)
    assert f"{head}| OQ-004 | Which? | ada | open |\n| OQ-005 | New? | — | open |\n" in again
    assert shared.adopt(open_questions.render(shared.project), shared.project) == 0


LINES = st.lists(
    st.sampled_from(
        [
            *("## Active Questions", "## Deferred Questions", "## Resolved Questions", "## Notes"),
            *("| ID | Question | Status |", "| ID | Source | Question | Status | Resolution |"),
            *(
                "|---|---|---|",
                "|---|---|---|---|---|",
                "---",
                "",
                "",
                "text",
                "<!--",
                "-->",
                "```",
            ),
            *("| OQ-001 | Why? | open |", "| OQ-002 | x | How? | open | — |", "| OQ-003 |"),
            *("| OQ-004 | x | Who? | resolved | me |", "*No active questions.*", "    indented"),
            "| OQ-005 | x | Where? | deferred | — |",
        ]
    ),
    max_size=30,
).map("\n".join)


@settings(deadline=None, max_examples=200)
@given(LINES)
def test_any_file_is_adopted(lines: str) -> None:
    """Whatever the lines, they come out again, and hold still."""
    text = f"# Open Questions\n\n## Active Questions\n{lines}\n"
    shared = Workspace()
    shared.adopt(text.encode())
    again = rendered(shared).split("\n")
    row = "| OQ-"  # one that stands in the wrong table, or twice, is one by then
    assert [line for line in text.split("\n") if line not in again and row not in line] == []
    assert shared.adopt(text.encode()) == 0
    assert shared.adopt(open_questions.render(shared.project), shared.project) == 0


# -- edits of ours ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("was", "now", "id", "expected"),
    [
        ("| open | — |", "| resolved | Yes. |", "OQ-001", ("resolved", "Yes.")),
        ("| open | — |", "| deferred | not yet |", "OQ-001", ("deferred", "not yet")),
        ("| open | — |", "| **Resolved** | Yes. |", "OQ-001", ("resolved", "Yes.")),
        ("| deferred | later |", "| deferred | much later |", "OQ-002", ("deferred", "much later")),
        ("| deferred | later |", "| resolved | No. |", "OQ-002", ("resolved", "No.")),
    ],
)
def test_a_cell_says_what_became_of_it(
    was: str, now: str, id: str, expected: tuple[str, str]
) -> None:
    """Another status, or another reason to wait, is an event; the row moves where it belongs."""
    shared = edited(asked(), (was, now))
    found = shared.project.questions[id]
    assert (found.status, found.resolution) == expected
    assert rendered(shared).count(f"| {id} |") == 1


def test_a_row_in_another_table() -> None:
    """A row that was moved there by hand is answered, though its cell says what it said."""
    shared = asked()
    row = "| OQ-001 | chat | Which? | open | — |\n"
    below = "| OQ-003 | chat | Who? | resolved | ada |\n"
    shared = edited(shared, (row, ""), (below, row + below))
    assert shared.project.questions["OQ-001"].status == "resolved"


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("| resolved | ada |", "| open | — |"),
        ("| deferred | later |", "| open | — |"),
        ("| resolved | ada |", "| deferred | wait |"),
    ],
)
def test_nothing_is_open_again(was: str, now: str) -> None:
    """What was answered or put off cannot be taken back; a sentence says which line it is."""
    with pytest.raises(Invalid, match=r"^line \d+: .*OQ-00[23]"):
        edited(asked(), (was, now))


def test_words_of_others_stay() -> None:
    """Another wording, and notes, are kept; a row that is taken out comes back."""
    shared = edited(
        asked(),
        ("| Which? |", "| Which one of them? |"),
        ("## Deferred", "A note.\n\n## Deferred"),
        ("| OQ-002 | chat | Both? | deferred | later |\n", ""),
    )
    text = rendered(shared)
    assert "| OQ-001 | chat | Which one of them? | open | — |\n" in text
    assert "\nA note.\n" in text
    assert "| OQ-002 | chat | Both? | deferred | later |\n" in text
    assert shared.project.questions == asked().project.questions


def test_an_answer_may_be_taken_out() -> None:
    """Whoever shortens the list of answers is believed; the journal has them."""
    shared = edited(asked(), ("| OQ-003 | chat | Who? | resolved | ada |\n", ""))
    assert "OQ-003" not in rendered(shared)
    assert "OQ-003" in shared.project.questions


def test_what_was_answered_meanwhile_holds() -> None:
    """An edit of a question that has its answer by now changes nothing about that."""
    shared = asked()
    base = shared.project
    text = rendered(shared).replace("| open | — |", "| deferred | wait |")
    shared.add(e.QuestionResolved("OQ-001", "this one"), "ada")
    shared.adopt(text.encode(), base)
    assert shared.project.questions["OQ-001"].resolution == "this one"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"# Open Questions Registry\n\n## Active\0\n", "line 3: it has a NUL"),
        (b"# Open Questions\n\n## \xff\n", "byte 22 is not UTF-8"),
        (b"# Something else\n", "it lacks its title"),
        (b"# Open Questions\n\n## A\n" + b"x" * 50_000_000, "50,000,023 bytes"),
    ],
)
def test_what_cannot_be_read(content: bytes, why: str) -> None:
    """One sentence says why, and nothing was recorded."""
    shared = workspace()
    version = shared.project.version
    with pytest.raises(Invalid, match=why) as no:
        open_questions_of(shared, content)
    assert "\n" not in str(no.value)
    assert shared.project.version == version


def open_questions_of(shared: Workspace, content: bytes) -> None:
    """Take over bytes, whatever they are."""
    from journal.request import Request

    path, by = "working-session/OPEN_QUESTIONS.md", Request(e.ProjectReopened())
    shared.ask(*open_questions.adopt_bytes(content, shared.project, path, now=shared.at, by=by))


def test_an_edit_on_disk(tmp_path: Path) -> None:
    """A row that was answered by hand is adopted in the name of whoever adopts it."""
    good(tmp_path, "init", "tools", "--maintainer", "ada", "--agent", "coder")
    good(tmp_path, "question", "open", "Which?", "--actor", "coder")
    path = tmp_path / "working-session/OPEN_QUESTIONS.md"
    path.write_text(path.read_text().replace("| open | — |", "| resolved | This. |"))
    good(tmp_path, "drift", "--adopt", "--actor", "coder")
    [found] = good(tmp_path, "question", "list", "--json").json
    assert (found["status"], found["resolution"]) == ("resolved", "This.")
    assert good(tmp_path, "verify").code == 0
    assert "## Resolved Questions\n\n| ID |" in path.read_text()
