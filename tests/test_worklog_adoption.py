"""Worklogs that somebody wrote: what they say becomes facts, and every word comes out again."""

import re
from types import ModuleType

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from strategies import START, Chain

from journal import events as e
from journal.errors import Invalid, Rejected
from journal.request import Request
from journal.state import Project
from journal.worklog import held_back
from projections import narrative, worklog
from projections.worklog import archive, fences
from projections.worklog.document import form

BY = Request(e.DriftAdopted("working-session/WORKLOG.md", ""))

HAND = """# Worklog — Kiln

References:
- `docs/RULES.md`

Now Working (Mira): Glaze calculator, second half. Not before Tuesday.
Now Working (Otto): idle
Maintainer Focus: decide on the cone table
Decision Queue: (1) cones; (2) the name
Next Review Checkpoint: when the calculator adds up

## Decision Index

| Decision | Owner | Timestamp | Section |
|----------|-------|-----------|---------|
| Use Orton cones; `cone 6` is the default | Mira (proposed) | 2025-03-04 | Session 2 |
| **Nothing** ships unfired | Maintainer | 2025-03-01 | Session 1 kick-off |
| Joint call | Mira + Otto | 2025-02-28 | x \\| y |
| a row that is none |

## Archived Sessions

Session 0 was before this file.

| Session | Date | Summary |
|---------|------|---------|
| 0 | 2025-02-20 | Bought a kiln. |

## Session 1 — 2025-03-01 (Mira only)

### Mira: Set up — the _first_ firing

2025-03-01 — Two things:

**1. Kiln:** wired, see `docs/kiln.md`.

| Cone | °C |
|---|---|
| 6 | 1222 |

```python
### Mira: this is code, no heading
```

```text
Handoff: Set up the kiln
Owner: Mira
Status: Complete
Changed files:
  - docs/kiln.md (new)
  - src/kiln.py
Tests run: one firing
Risks/assumptions:
  - The thermocouple is right
Blocking items: none
Next owner: Otto (review)
```

### Summary

Whatever this is, nobody's entry.

## Session 2 — 2025-03-04

### Otto (night shift): Review of W001 — rev 7

Asked about W001, no answer yet.

### Mira: Calculator

2025-03-04 — Half of it.

```text
Handoff: Calculator
Owner: Mira
Status: Complete (adding) / In progress (glaze)
Changed files:
  - src/calc.py
Tests run:
  - unit tests
  - by hand
Blocking items:
  - the cone table
Next owner: Mira
```

## Appendix

Kept as it is.
"""

MOVED = """# Worklog Archive — Kiln

Moved by hand in May.

## Session 0 — 2025-02-20

### Mira: Bought a kiln

2025-02-20 — Second hand.

## Sessions 3–4

### Otto: Something in between

No date at all.
"""


def adopt(
    chain: Chain,
    content: str | bytes,
    of: ModuleType = worklog,
    base: Project | None = None,
    removals: bool = False,
    by: Request = BY,
) -> list[Request]:
    """The requests that a file comes to, which the chain has then."""
    found: list[Request] = of.adopt_bytes(
        content.encode() if isinstance(content, str) else content,
        chain.project,
        "working-session/WORKLOG.md",
        base=base,
        removals=removals,
        now=START,
        by=by,
    )
    for request in found:
        chain.ask(request)
    return found


def shown(chain: Chain, name: str = worklog.NAME) -> str:
    """A file without its stamp."""
    return narrative.text(form(chain.project, name))


def adopted() -> Chain:
    """The project that the file above is the first of."""
    chain = Chain("kiln")
    adopt(chain, HAND)
    return chain


def edited(chain: Chain, old: str, new: str) -> list[Request]:
    """What comes of a file of ours in which somebody replaced something."""
    text = shown(chain)
    assert text.count(old) == 1, old
    return adopt(chain, text.replace(old, new), base=chain.project, removals=True)


# -- a file that no journal knows ------------------------------------------------------------


def test_every_word_comes_out_again() -> None:
    """What was adopted is rendered to the letter, and adopted again it says nothing new."""
    chain = adopted()
    assert shown(chain) == HAND
    assert narrative.words(worklog.render(chain.project), "x") == HAND
    assert adopt(chain, HAND) == []
    assert adopt(chain, shown(chain), base=chain.project, removals=True) == []


def test_entries_become_facts() -> None:
    """Title, agent, session, day, text to the letter and handoff block; the rest is nobody's."""
    chain = adopted()
    first, review, half = chain.project.worklog.values()
    assert (first.id, first.agent, first.number, first.title) == (
        *("W001", "Mira", 1),
        "Set up — the _first_ firing",
    )
    assert first.text == HAND.partition("_first_ firing\n\n")[2].partition("\n\n```text")[0]
    assert first.handoff == e.Handoff(
        "Complete", ("docs/kiln.md (new)", "src/kiln.py"), "one firing", "", "Otto (review)"
    )
    assert (review.agent, review.number, review.title) == ("Otto", 2, "Review of W001 — rev 7")
    assert half.handoff is not None
    assert half.handoff.tests == "unit tests\nby hand"
    days = [1_740_787_200_000_000, 1_741_046_400_000_000, 1_741_046_400_000_000]
    assert [entry.at for entry in (first, review, half)] == days
    assert [entry.completed is None for entry in (first, review, half)] == [False, True, True]
    assert held_back(chain.project, ["W001"]) == {"W001": "W002"}
    assert [
        (record.actor, record.type) for record in chain.records if "worklog" in record.type
    ] == [
        ("Mira", "worklog.entry_logged"),
        ("Mira", "worklog.entry_completed"),
        ("Otto", "worklog.entry_logged"),
        ("Mira", "worklog.entry_logged"),
    ]


def test_the_lines_on_top_become_facts() -> None:
    """What agents are at, the maintainer's focus and the checkpoint are next actions; being idle
    is none."""
    chain = adopted()
    assert chain.project.next_actions == {
        "Mira": "Glaze calculator, second half. Not before Tuesday.",
        "maintainer": "decide on the cone table",
        "": "when the calculator adds up",
    }
    assert (chain.project.title, chain.project.native) == ("Kiln", "Kiln")
    assert chain.project.coordination == e.Coordination("maintainer", "working-session/")
    assert sorted(chain.project.actors) == ["Mira", "Otto", "maintainer"]


def test_decisions_become_facts() -> None:
    """A row of the index is a decision, put down to its owner; the lowest is the oldest."""
    chain = adopted()
    made = {x.id: (x.choice, x.agent) for x in chain.project.decisions.values()}
    assert made == {
        "D001": ("Joint call", "Mira + Otto"),
        "D002": ("**Nothing** ships unfired", "maintainer"),
        "D003": ("Use Orton cones; `cone 6` is the default", "Mira"),
    }
    by = [record.actor for record in chain.records if record.type == "decision.made"]
    assert by == [None, "maintainer", "Mira"]
    chain.add(e.DecisionMade("Name", "Ember", decision="D004"), "Otto")
    rows = shown(chain).partition("|---------|\n")[2].split("\n")
    assert rows[0] == "| Name: Ember | Otto | 2026-01-01 | - |"
    assert (
        rows[1]
        == "| Use Orton cones; `cone 6` is the default | Mira (proposed) | 2025-03-04 | Session 2 |"
    )


def test_what_happens_later_leaves_the_words() -> None:
    """An entry that is completed, or moved, has the words in which somebody wrote it."""
    chain = adopted()
    words = HAND[HAND.index("\n### Mira: Calculator") : HAND.index("\n## Appendix")]
    chain.add(e.WorklogEntryCompleted("W003", "by hand"), "Mira")
    assert f"{words}\nCompleted 2026" in shown(chain)
    chain.add(e.WorklogCompacted(("W003",), "maintainer"), "maintainer")
    assert words not in shown(chain)
    assert f"## Session 2 — 2025-03-04\n{words}\nCompleted 2026" in shown(chain, archive.NAME)
    assert "### Summary\n\nWhatever this is, nobody's entry.\n" in shown(chain)
    assert "## Appendix\n\nKept as it is.\n" in shown(chain)
    rows = "| 0 | 2025-02-20 | Bought a kiln. |\n| 2 | 2025-03-04 | Calculator |\n"
    assert rows in shown(chain)


def test_handwriting_keeps_its_session() -> None:
    """What was written beside entries that moved stays, below the heading of its session."""
    chain = adopted()
    chain.add(e.WorklogCompacted(("W001",), "maintainer"), "maintainer")
    assert "## Session 1 — 2025-03-01 (Mira only)\n\n### Summary\n" in shown(chain)
    assert "first_ firing" not in shown(chain).partition("## Session 1")[2]
    assert "## Session 1 — 2025-03-01 (Mira only)\n\n### Mira: Set up" in shown(chain, archive.NAME)


def test_an_archive_is_adopted_after_its_worklog() -> None:
    """Its entries are in the archive from the first: nobody approves of that a second time."""
    chain = adopted()
    before = chain.project.revision
    adopt(chain, MOVED, archive)
    assert (shown(chain, archive.NAME), shown(chain)) == (MOVED, HAND)
    assert chain.project.revision == before
    bought, between = list(chain.project.worklog.values())[3:]
    assert (bought.title, bought.number, between.title) == (
        *("Bought a kiln", 0),
        "Something in between",
    )
    assert None not in (bought.archived, bought.completed, between.archived)
    assert adopt(chain, MOVED, archive) == []


def test_an_archive_is_adopted_before_its_worklog() -> None:
    """Whichever file is first begins the workspace."""
    chain = Chain("kiln")
    adopt(chain, MOVED, archive)
    adopt(chain, HAND)
    assert (shown(chain, archive.NAME), shown(chain)) == (MOVED, HAND)


@pytest.mark.parametrize("form", ["\r\n", "bom", "no end"])
def test_other_forms_of_the_same_file(form: str) -> None:
    """Line ends, a byte order mark and a missing last one say nothing of their own."""
    content = HAND.encode()
    content = content.replace(b"\n", b"\r\n") if form == "\r\n" else content
    content = b"\xef\xbb\xbf" + content if form == "bom" else content
    chain = Chain("kiln")
    adopt(chain, content.removesuffix(b"\n") if form == "no end" else content)
    assert shown(chain).removesuffix("\n") == HAND.removesuffix("\n")
    assert len(chain.project.worklog) == 3


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no title `# Worklog`"),
        (b"# Notes\n\nNow Working (x): y\n", "no title `# Worklog`"),
        (b"# Worklog\n\xff\n", "byte 11 is not UTF-8"),
        ("# Worklog — Glä".encode()[:-1], "is not UTF-8"),
        (b"# Worklog\n\na\0b\n", "line 3: it has a NUL"),
        (b"# Worklog\n" + b"x" * 50_000_000, "50,000,010 bytes"),
        (b"# Worklog\n\n## Appendix\n" + b"x\n" * 600_000, "bytes of handwriting in one place"),
    ],
    ids=["empty", "another", "latin", "cut", "nul", "huge", "one part"],
)
def test_what_cannot_be_read(content: bytes, said: str) -> None:
    """One sentence says what is wrong with the file and what to do; nothing is proposed."""
    with pytest.raises(Invalid, match=re.escape(said)) as refused:
        adopt(Chain("kiln"), content)
    assert "\n" not in str(refused.value)


# -- a file of ours that somebody edited -----------------------------------------------------


def test_an_entry_is_appended_by_hand() -> None:
    """It is logged, put down to the agent in its heading, in the session that it stands under."""
    chain = adopted()
    new = "\n### Otto: Cone table\n\n2025-03-09 — Done.\n\n- a\n* b\n"
    file = worklog.render(chain.project).decode() + new
    adopt(chain, file, base=chain.project, removals=True)
    entry = chain.project.worklog["W004"]
    assert (entry.agent, entry.number, entry.text) == ("Otto", 2, "2025-03-09 — Done.\n\n- a\n* b")
    assert shown(chain) == HAND + new
    assert adopt(chain, file, base=chain.project, removals=True) == []
    assert chain.records[-3].actor == "Otto"


def test_a_status_is_completed_by_hand() -> None:
    """It completes the entry, as its agent's word, and stands there as it was written."""
    chain = adopted()
    edited(chain, "Status: Complete (adding) / In progress (glaze)", "Status: done")
    assert chain.project.worklog["W003"].completed is not None
    assert "\nStatus: done\n" in shown(chain)
    assert [r.actor for r in chain.records if r.type == "worklog.entry_completed"] == ["Mira"] * 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Half of it.", "Half of it, or *more*."),
        ("### Mira: Calculator", "### Mira: The calculator"),
        ("- The thermocouple is right", "- The thermocouple is wrong"),
        ("## Session 2 — 2025-03-04", "## Session 2 — 2025-03-04/05"),
        ("Kept as it is.", "Changed."),
        ("| x \\| y |", "| y |"),
        ("Session 0 was before this file.\n\n", ""),
        ("Decision Queue: (1) cones; (2) the name\n", ""),
        ("# Worklog — Kiln", "# Our Worklog"),
    ],
)
def test_words_are_edited(old: str, new: str) -> None:
    """An edit of words is no event: it is kept to the letter, also when the project goes on."""
    chain = adopted()
    made = edited(chain, old, new)
    assert {type(request.event) for request in made} == {e.ProjectAdopted, e.LeftoversKept}
    assert shown(chain) == HAND.replace(old, new)
    chain.add(e.WorklogEntryLogged("More", "x", "Mira", 2, entry="W009"), "Mira")
    assert new in shown(chain)
    assert chain.project.worklog["W003"].title == "Calculator"


def test_the_lines_on_top_are_edited() -> None:
    """Another task or focus is a next action from now on; idle takes it back."""
    chain = adopted()
    edited(chain, "decide on the cone table", "rest")
    edited(chain, "(Otto): idle", "(Otto): the table")
    edited(chain, "Glaze calculator, second half. Not before Tuesday.", "idle")
    assert chain.project.next_actions == {
        "maintainer": "rest",
        "": "when the calculator adds up",
        "Otto": "the table",
    }
    assert "Now Working (Mira): idle\nNow Working (Otto): the table\n" in shown(chain)


def test_a_decision_is_added_by_hand() -> None:
    """A new row is a decision; wherever it was put it stays."""
    chain = adopted()
    row = "| Paint it red | Otto | 2025-03-10 | Session 2 |\n"
    edited(chain, "| **Nothing** ships", f"{row}| **Nothing** ships")
    assert chain.project.decisions["D004"].choice == "Paint it red"
    assert row in shown(chain)


def test_both_sides() -> None:
    """What was recorded since the file was rendered, and what was edited in it, both count."""
    chain = adopted()
    base = chain.project.copy()
    file = shown(chain).replace("Half of it.", "All of it.")
    file = file.replace("# Worklog — Kiln\n", "# Worklog — Kiln\n\nby hand\n", 1)
    chain.add(e.WorklogEntryCompleted("W003"), "Mira")
    chain.add(e.WorklogCompacted(("W003",), "maintainer"), "maintainer")
    chain.add(e.NextActionSet("Sleep", "Otto"), "Otto")
    adopt(chain, file, base=base, removals=True)
    assert "\nby hand\n" in shown(chain)
    assert "Now Working (Otto): Sleep\n" in shown(chain)
    assert "All of it." not in shown(chain)
    assert "2025-03-04 — All of it." in shown(chain, archive.NAME)


def test_what_is_missing() -> None:
    """An entry is gone from a file only if the file itself says what it was rendered from; in the
    journal it stays."""
    chain = adopted()
    cut = HAND[: HAND.index("\n### Mira: Calculator")]
    adopt(chain, cut, base=chain.project)
    assert shown(chain) == HAND
    adopt(chain, cut, base=chain.project, removals=True)
    assert "Calculator" not in shown(chain)
    assert chain.project.worklog["W003"].archived is None


def test_a_compaction_by_hand() -> None:
    """Moving an entry into the archive is the maintainer's to approve of, by hand as well."""
    for actor in (None, "Mira", "maintainer"):
        chain = adopted()
        adopt(chain, MOVED, archive)
        chain.add(e.WorklogEntryCompleted("W002"), "Otto")
        entry = HAND[HAND.index("\n### Mira: Set up") : HAND.index("\n### Summary")]
        moved = shown(chain, archive.NAME) + "\n## Session 1 — 2025-03-01\n" + entry
        asked = replace(BY, actor=actor)
        if actor != "maintainer":
            with pytest.raises(Rejected, match="only the maintainer approves"):
                adopt(chain, moved, archive, chain.project, removals=True, by=asked)
            continue
        adopt(chain, moved, archive, chain.project, removals=True, by=asked)
        assert chain.project.worklog["W001"].archived is not None
        assert entry in shown(chain, archive.NAME)
        assert entry not in shown(chain)


def test_an_entry_keeps_its_id_in_another_journal() -> None:
    """What a file of ours calls W007 is W007 wherever it is adopted, so that references hold."""
    chain = adopted()
    for id, text in (("W007", "first"), ("W004", "see W007")):
        chain.add(e.WorklogEntryLogged(id, text, "Otto", 3, None, ("W001",), id), "Otto")
    other = Chain("other")
    adopt(other, shown(chain))
    told = {x.id: (x.title, x.text, x.refers) for x in other.project.worklog.values()}
    assert told["W007"] == ("W007", "first", ("W001",))
    assert told["W004"] == ("W004", "see W007", ("W001",))
    assert held_back(other.project, ["W007"]) == {"W007": "W004"}


# -- any file --------------------------------------------------------------------------------

LINES = st.lists(
    st.sampled_from(
        [
            "# Worklog — x\n",
            "# Worklog\n",
            "\n",
            "\n",
            "Now Working (ann): y\n",
            "Now Working (bob smith): <z>\n",
            "Now Working (ann): idle\n",
            "Maintainer Focus: none\n",
            "Next Review Checkpoint:\n",
            "Escalated ESC-001: y\n",
            "## Decision Index\n",
            "| Decision | Owner | Timestamp | Section |\n",
            "| Session | Date | Summary |\n",
            "|---|---|---|---|\n",
            "| d | ann | 2026-01-01 | s |\n",
            "| d | e |\n",
            "| 1 | e | f |\n",
            "## Archived Sessions\n",
            "No decision yet.\n",
            "## Session 1 — 2026-01-01\n",
            "## Session 2\n",
            "### ann: title\n",
            "### ann: title <!-- W001 -->\n",
            "### ann: title <!-- snapshot REV-1 -->\n",
            "### bob: other\n",
            "### bob smith: other\n",
            "### Summary\n",
            "text, see W001\n",
            "2026-01-01T00:00:00Z\n",
            "Completed 2026-01-01T00:00:00Z <!-- W001 -->\n",
            "```text\n",
            "```\n",
            "Status: done\n",
            "Owner: ann\n",
            "<!--\n",
            "-->\n",
            "   \n",
            "Completed entries that were moved here from WORKLOG.md.\n",
            "last",
        ]
    ),
    max_size=16,
).map("".join)


@settings(deadline=None, max_examples=400)
@given(LINES, LINES, st.booleans())
@example("## Decision Index\n\n| d | ann | 2026-01-01 | s |\n", "", False)
def test_any_file_comes_out_again(first: str, second: str, is_archive: bool) -> None:
    """Whatever is in a file, it is what is rendered; so is an edit of it; and adopted again
    nothing is left to say."""
    chain, of = Chain("x"), archive if is_archive else worklog
    title = "# Worklog Archive — t\n" if is_archive else "# Worklog — t\n"
    adopt(chain, title + first, of)
    assert shown(chain, of.NAME) == title + first
    assert adopt(chain, shown(chain, of.NAME), of, chain.project, removals=True) == []
    adopt(
        chain, title + second, of, chain.project, removals=True, by=replace(BY, actor="maintainer")
    )
    found = shown(chain, of.NAME)
    assert adopt(chain, found, of, chain.project, removals=True) == []
    for line in second.split("\n"):
        assert line.strip() in found


def test_what_opens_and_is_never_closed() -> None:
    """A fence or a comment without an end is none, however many there are of them."""
    assert fences.fences(["```", "### ann: x"]) == []
    assert fences.fences(["````text", "```", "````", "~~~", "```"]) == [(0, 2)]
    assert fences.hidden(["<!--", "# x", "-->", "<!-- y -->", "<!--", "z"]) == {0, 1, 2}
    assert fences.fences(["`" * n + "x" for n in range(200, 3, -1)] * 50) == []
