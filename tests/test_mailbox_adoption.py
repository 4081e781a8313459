"""MAILBOX.md read back: files that agents brought along, and what they write into ours."""

from collections.abc import Callable
from pathlib import Path

import pytest
from command import files, good, quick
from hypothesis import given, settings
from hypothesis import strategies as st
from mailing import Workspace, act, payload, workspace, workspaces

from journal import events as e
from journal.clock import iso
from journal.errors import Invalid
from journal.request import Request
from projections import mailbox, narrative

thorough = settings(deadline=None, max_examples=60)

FOUND = """# Mailbox (Bakery, Compact)

Date initialized: 2026-02-01
Full history: `working-session/MAILBOX_ARCHIVE.md`

## Quick Reply

1. Find the message. Answer it.

## Inbox Snapshot

| Agent | Unread | Oldest unread | Needs response by |
|-------|--------|---------------|-------------------|
| Miller | 1 | MSG-20260203-002 | first Miller turn |
| Baker | 0 | none | none |
| Maintainer | 0 | none | none |

## Open Queue (Newest First)

| ID | From -> To | Priority | Subject |
|----|------------|----------|---------|
| MSG-20260203-002 | Baker -> Miller | P0 | Flour is short |
| MSG-20260203-001 | Miller -> Baker | P1 | Try the new stones |
| MSG-20260202-001 | Baker -> Miller | P1 | How fine? |


## Active Messages (Newest First)

---

### MSG-20260203-002

**From:** Baker -> Miller
**Date:** 2026-02-03
**Type:** review-request
**Mode:** delivery-mirror
**Priority:** P0
**Status:** unread
**Subject:** Flour is short
**Closure owner:** Baker
**Response needed by:** first Miller turn
**Revision token:** REV-20260203-flour-1-h00000000

We have **two** sacks left.

### What we need

1. Ten sacks.
   - fine
2. A date. See `STOCK.md`.

> Maintainer: "As soon as you can."

```
## Closed Summary
**Ack:** this is only shown
```

**Ack:** Baker — 2026-02-03 — posted for Miller.

---

### MSG-20260203-001

**From:** Miller -> Baker
**Date:** 2026-02-03
**Type:** request
**Priority:** P1
**Subject:** Try the new stones
**Status:** actioned
**Closure owner:** Miller
**Ack:** Baker 2026-02-03 — Acknowledged; baked a batch the same day.

They are sharper.
\\_This\\_ is to the letter.

**Ack:** Baker — 2026-02-04 — actioned. Good crumb.

**Reply:**
1. **APPLY** with one change:
   - coarser for rye

**Notes:** none.

### MSG-20260202-001

**From:** Baker -> Miller
**Date:** 2026-02-02
**Type:** notify
**Priority:** P1
**Subject:** How fine?
**Status:** blocked

Ask the maintainer.

**Ack:** Miller — 2026-02-02 — acknowledged.
**Ack:** Miller — 2026-02-03 — blocked: waits for the sieve.

### MSG-20260201-002

**From:** Miller -> Baker
**Date:** 2026-02-01
**Type:** request
**Priority:** P2
**Subject:** Old and closed
**Status:** closed
**Closure owner:** Miller

It was left here.

**Ack:** Baker — 2026-02-01 — actioned. Done.
**Ack:** Miller — 2026-02-02 — closure accepted; thanks.

## Closed Summary

| ID | Date | From -> To | Final status | Outcome |
|----|------|------------|--------------|---------|
| MSG-20260201-001 | 2026-02-01 | Baker -> all | closed (superseded) | See `MSG-20260203-002` *b* |
| MSG-20260131-009..MSG-20260101-001 | (various) | (various) | closed | older rows were cut |
"""


def rendered(shared: Workspace) -> str:
    """The file of a workspace, without its stamp."""
    return narrative.words(mailbox.render(shared.project), "a MAILBOX.md")


def found() -> Workspace:
    """A workspace that was begun with the file."""
    shared = Workspace("bakery")
    shared.adopt(FOUND.encode())
    return shared


def adopt(shared: Workspace, content: bytes, **about: object) -> None:
    """Take over bytes, whatever they are."""
    path, by = "working-session/MAILBOX.md", Request(e.ProjectReopened())
    given = {"now": shared.at, "by": by, **about}
    shared.ask(*mailbox.adopt_bytes(content, shared.project, path, **given))  # type: ignore[arg-type]


# -- files that agents brought along ---------------------------------------------------------


def test_a_file_comes_out_again() -> None:
    """To the letter; adopted again, or read back as it was rendered, it says nothing new."""
    shared = found()
    assert rendered(shared) == FOUND
    assert shared.adopt(FOUND.encode()) == 0
    assert shared.adopt(mailbox.render(shared.project), shared.project) == 0


def test_its_messages_are_on_record() -> None:
    """Each in its status, with the acks that made it so as what those agents did, and when."""
    shared = found()
    told = {
        message.id: [
            (ack.what, ack.by, iso(ack.at)[:10], ack.reason, ack.disposition)
            for ack in message.acks
        ]
        for message in shared.project.messages.values()
    }
    reply = "\n**Reply:**\n1. **APPLY** with one change:\n   - coarser for rye\n\n**Notes:** none."
    outcome = "See `MSG-20260203-002` *b*"
    assert told == {
        "MSG-20260201-001": [("closed", "Baker", "2026-02-01", outcome, "superseded")],
        "MSG-20260201-002": [
            ("actioned", "Baker", "2026-02-01", "Done.", ""),
            ("closed", "Miller", "2026-02-02", "closure accepted; thanks.", "resolved"),
        ],
        "MSG-20260202-001": [
            ("acknowledged", "Miller", "2026-02-02", "acknowledged.", ""),
            ("blocked", "Miller", "2026-02-03", "waits for the sieve.", ""),
        ],
        "MSG-20260203-001": [
            (
                *("acknowledged", "Baker", "2026-02-03"),
                *("Acknowledged; baked a batch the same day.", ""),
            ),
            (
                "actioned",
                "Baker",
                "2026-02-04",
                f"Good crumb.\n{reply}".replace("\n\n", "\n", 1),
                "",
            ),
        ],
        "MSG-20260203-002": [],
    }
    statuses = [message.status for message in shared.project.messages.values()]
    assert statuses == ["closed", "closed", "blocked", "actioned", "unread"]


def test_its_words_are_to_the_letter() -> None:
    """Headings, lists, quotes, and fences in a body are its words; what looks like ours is not."""
    message = found().project.messages["MSG-20260203-002"]
    assert message.body == FOUND.split("h00000000\n\n")[1].split("\n\n**Ack:** Baker")[0]
    assert (message.subject, message.kind, message.priority) == ("Flour is short", "request", "P0")
    assert (message.due, iso(message.posted)[:10]) == ("next session", "2026-02-03")
    other = found().project.messages["MSG-20260203-001"]
    assert other.body == "They are sharper.\n\\_This\\_ is to the letter."


def test_who_is_in_it_takes_part() -> None:
    """Agents in the order of the inbox, the maintainer as such, and a group as an observer."""
    project = found().project
    assert {id: (x.role, x.title) for id, x in project.actors.items()} == {
        "maintainer": ("maintainer", "Maintainer"),
        "Miller": ("agent", ""),
        "Baker": ("agent", ""),
        "all": ("observer", ""),
    }
    assert project.coordination is not None
    assert project.coordination.workspace == "working-session/"


def test_names_that_are_known_otherwise() -> None:
    """Whoever is there is meant however the file writes it, and what is no id is a title."""
    shared = workspace()
    text = FOUND.replace("Baker", "Coder").replace("Miller", "Claude Opus (4)")
    shared.adopt(text.encode())
    assert {"Coder", "Claude-Opus-4"}.isdisjoint({"coder"})
    message = shared.project.messages["MSG-20260203-002"]
    assert (message.sender, message.to) == ("coder", "Claude-Opus-4")
    assert shared.project.actors["coder"].title == "Coder"
    assert shared.project.actors["Claude-Opus-4"].title == "Claude Opus (4)"
    assert "| Claude Opus (4) | 1 | MSG-20260203-002 |" in rendered(shared)


def test_a_change_touches_its_own_lines() -> None:
    """After an ack all else is still to the letter: bodies, replies, fields that we do not know."""
    shared = found()
    shared.add(e.MessageAcknowledged("MSG-20260203-002", "ten sacks by Friday"), "Miller")
    text = rendered(shared)
    gone = [line for line in FOUND.split("\n") if line not in text.split("\n")]
    assert gone == [
        "| Miller | 1 | MSG-20260203-002 | first Miller turn |",
        "**Status:** unread",
    ]
    came = [line for line in text.split("\n") if line not in FOUND.split("\n")]
    assert came == [
        "| Miller | 0 | none | none |",
        "**Status:** acknowledged",
        "**Ack:** Miller — 2026-01-01T10:01:00Z — acknowledged. ten sacks by Friday",
    ]


def test_what_is_closed_leaves_with_its_words() -> None:
    """Its card becomes a row, with all that was written into it; the journal has every word."""
    shared = found()
    shared.add(e.MessageClosed("MSG-20260203-002", "never mind", "withdrawn"), "Baker")
    text = rendered(shared)
    assert "two** sacks" not in text
    assert "**Mode:**" not in text
    assert "closed (withdrawn) | Flour is short — never mind |" in text
    assert "They are sharper." in text
    assert "two** sacks" in shared.project.messages["MSG-20260203-002"].body


def test_a_new_message_comes_first() -> None:
    """It takes the first place below the heading, and the order of the rest stays."""
    shared = found()
    shared.at = 1_900_000_000_000_000
    shared.add(e.MessagePosted("Miller", "Thank you"), "Baker")
    text = rendered(shared)
    ids = [line for line in text.split("\n") if line.startswith("### MSG-")]
    assert ids[0] == "### MSG-20300317-001"
    assert ids[1:] == [line for line in FOUND.split("\n") if line.startswith("### MSG-")]
    assert all(line in text for line in FOUND.split("\n") if "Miller | 1" not in line)


def test_other_columns_stay() -> None:
    """A summary with other columns keeps them, and new rows have what belongs into each."""
    other = "| ID | From -> To | Subject | Final status | Closed by |\n|---|---|---|---|---|\n"
    text = (
        FOUND.split("| ID | Date |")[0]
        + other
        + "| MSG-20260131-001 | Baker -> Miller | Hm | closed | Miller |\n"
    )
    shared = Workspace("bakery")
    shared.adopt(text.encode())
    assert rendered(shared) == text
    shared.at = 1_900_000_000_000_000
    shared.add(e.MessageClosed("MSG-20260203-001", "thanks"), "Miller")
    row = "| MSG-20260203-001 | Miller -> Baker | Try the new stones | closed | Miller |\n"
    assert f"{other}{row}| MSG-20260131-001" in rendered(shared)


@pytest.mark.parametrize(
    ("status", "acks", "told"),
    [
        ("actioned", "Baker — 2026-02-02 — acknowledged and actioned.", ["actioned"]),
        ("actioned", "", ["actioned"]),
        ("blocked", "", ["acknowledged", "blocked"]),
        ("closed", "", ["closed"]),
        ("withdrawn", "", ["closed"]),
        ("abandoned", "", ["closed"]),
        ("Closed (superseded)", "Closed (superseded) — Miller — 2026-02-02", ["closed"]),
        ("unread", "Baker — 2026-02-02 — acknowledged.", []),
        ("unread", "Miller — 2026-02-02 — posted.", []),
        ("acknowledged", "Miller — 2026-02-02 — acknowledged.", ["acknowledged"]),
        ("in limbo", "Baker — 2026-02-02 — acknowledged.", ["acknowledged"]),
        ("unread", "nobody knows", []),
    ],
)
def test_a_first_file_is_believed(status: str, acks: str, told: list[str]) -> None:
    """Whatever its acks leave open, a message has its status, by whoever alone can give it that."""
    text = "\n".join(
        [
            *("# Mailbox", "", "## Active Messages", "", "### MSG-20260201-001", ""),
            *("**From:** Miller -> Baker", "**Date:** 2026-02-01", "**Subject:** x"),
            *(f"**Status:** {status}", "", "body", ""),
            *([f"**Ack:** {acks}"] if acks else []),
        ]
    )
    shared = Workspace("bakery")
    shared.adopt(text.encode())
    [message] = shared.project.messages.values()
    assert [ack.what for ack in message.acks] == told
    by = {"acknowledged": "Baker", "blocked": "Baker", "actioned": "Baker", "closed": "Miller"}
    who = "maintainer" if status == "abandoned" else None
    assert [ack.by for ack in message.acks] == [who or by[what] for what in told]
    assert shared.adopt(mailbox.render(shared.project), shared.project) == 0
    assert all(line in rendered(shared).split("\n") for line in text.split("\n"))


def test_what_is_no_message_is_kept() -> None:
    """Cards without a sender, or to oneself, a payload that is malformed: words, and no more."""
    cards = [
        "### MSG-20260201-001\n\nNobody sent this.\n",
        "### MSG-20260201-002\n\n**From:** Baker -> Baker\n**Subject:** to myself\n\nHm.\n",
        "### MSG-20260201-003\n\n**From:** Baker -> Miller\n**Subject:** x\n**Status:** unread\n\n"
        "Look:\n\nRevision: REV-20260201-x-01-h00000000\n\n```diff\n+1\n```\n",
    ]
    text = "# Mailbox\n\n## Active Messages\n\n" + "\n".join(cards)
    shared = Workspace("bakery")
    shared.adopt(text.encode())
    [message] = shared.project.messages.values()
    assert message.id == "MSG-20260201-003"
    assert message.payload is None
    assert message.body.endswith("```diff\n+1\n```")
    for card in cards:
        assert card in rendered(shared)


LINES = st.lists(
    st.sampled_from(
        [
            *("### MSG-20260201-001", "### MSG-20260201-002", "### MSG-20260201-001", "## Notes"),
            *("**From:** a -> b", "**From:** b -> c", "**Status:** closed", "**Status:** blocked"),
            *(
                "**Subject:** x",
                "**Date:** 2026-02-01",
                "**Mode:** y",
                "",
                "",
                "text",
                "```",
                "---",
            ),
            *("**Ack:** b — 2026-02-02 — actioned. ok", "**Ack:** a — x", "**Reply:** no", "<!--"),
            *("-->", "## Closed Summary", "| ID | Final status | Outcome |", "|---|---|---|"),
            *("| MSG-20260201-002 | closed | ok |", "## Inbox Snapshot", "| Agent |", "|---|"),
            *("| a |", "Revision: REV-20260201-x-01-h00000000", "## Open Queue", "    indented"),
        ]
    ),
    max_size=30,
).map("\n".join)


@settings(deadline=None, max_examples=200)
@given(LINES)
def test_any_file_is_adopted(lines: str) -> None:
    """Whatever the lines, no word of an open message or beside one is lost, and it holds still."""
    text = f"# Mailbox\n\n## Active Messages\n{lines}\n"
    shared = Workspace("bakery")
    shared.adopt(text.encode())
    again = rendered(shared)
    for line in set(text.split("\n")):
        cells = line.startswith("| a")  # the inbox is ours to count
        assert line in again.split("\n") or cells or line.startswith("**Status:**"), line
    assert shared.adopt(text.encode()) == 0
    assert shared.adopt(mailbox.render(shared.project), shared.project) == 0


# -- edits of ours ---------------------------------------------------------------------------


def posted() -> Workspace:
    """A workspace with a message that nobody has read."""
    event = e.MessagePosted("reviewer", "Review", "Please look.", payload=payload("+1\n"))
    return workspace().add(event, "coder")


def edited(shared: Workspace, edit: Callable[[str], str]) -> Workspace:
    """The workspace with an edit of its file taken over."""
    twin = shared.copy()
    was = mailbox.render(shared.project).decode()
    now = edit(was)
    assert now != was
    twin.adopt(now.encode(), shared.project)
    return twin


def replaced(*pairs: tuple[str, str]) -> Callable[[str], str]:
    """An edit that replaces what stands there once."""

    def edit(text: str) -> str:
        for was, now in pairs:
            assert text.count(was) == 1, was
            text = text.replace(was, now)
        return text

    return edit


ID = "MSG-20260101-001"
BEFORE_SUMMARY = "\n## Closed Summary"


def with_ack(status: str, ack: str, was: str = "unread") -> Callable[[str], str]:
    """An edit as the quick reply has it: another status, and the line that says why."""
    return replaced(
        (f"**Status:** {was}", f"**Status:** {status}"),
        (BEFORE_SUMMARY, f"\n**Ack:** {ack}\n{BEFORE_SUMMARY}"),
    )


def test_an_answer_by_hand() -> None:
    """A status and its line are what that agent did, when it says so; both stay as written."""
    edit = with_ack("acknowledged", "Reviewer - 2026-01-02 - acknowledged, today")
    shared = edited(posted(), edit)
    [ack] = shared.project.messages[ID].acks
    assert (ack.what, ack.by, ack.reason) == ("acknowledged", "reviewer", "acknowledged, today")
    assert iso(ack.at) == "2026-01-02T00:00:00Z"
    text = rendered(shared)
    assert "**Ack:** Reviewer - 2026-01-02 - acknowledged, today\n" in text
    assert "| reviewer | 0 | none | none |" in text
    assert shared.adopt(mailbox.render(shared.project), shared.project) == 0


def test_an_ack_line_is_enough() -> None:
    """Without another status the line says what was done; one line after the other."""
    lines = (
        "**Ack:** reviewer — 2026-01-02 — acknowledged. ok\n\n"
        "**Ack:** reviewer — 2026-01-03 — actioned. done\n\n"
        "**Ack:** coder — 2026-01-04 — closed (superseded). thanks\n"
    )
    shared = edited(posted(), replaced((BEFORE_SUMMARY, f"\n{lines}{BEFORE_SUMMARY}")))
    message = shared.project.messages[ID]
    assert [ack.what for ack in message.acks] == ["acknowledged", "actioned", "closed"]
    assert message.acks[-1].disposition == "superseded"
    assert f"| {ID} | 2026-01-04 | coder -> reviewer | closed (superseded) |" in rendered(shared)


def test_a_note_is_no_ack() -> None:
    """A line that names nothing that is done about the message stays, and is nothing else."""
    note = "**Ack:** coder — 2026-01-02 — thinking about it"
    shared = edited(posted(), replaced((BEFORE_SUMMARY, f"\n{note}\n{BEFORE_SUMMARY}")))
    assert shared.project.messages == posted().project.messages
    assert f"\n{note}\n" in rendered(shared)


CARD = """
### MSG-20260101-002

**From:** reviewer -> coder
**Date:** 2026-01-01
**Type:** decision-required
**Mode:** by hand
**Priority:** P0
**Subject:** Which | of them?
**Status:** unread

Two ways:

1. one
2. **other**
"""


@pytest.mark.parametrize("where", ["first", "last", "end"])
def test_a_message_by_hand(where: str) -> None:
    """It is posted by whom it is from, wherever it was written, and shown among the others."""

    def edit(text: str) -> str:
        if where == "end":
            return text + CARD
        at = "\n### MSG" if where == "first" else BEFORE_SUMMARY
        return text.replace(at, f"{CARD}{at}", 1)

    shared = edited(posted(), edit)
    message = shared.project.messages["MSG-20260101-002"]
    assert (message.sender, message.to, message.priority) == ("reviewer", "coder", "P0")
    assert message.body == "Two ways:\n\n1. one\n2. **other**"
    assert message.subject == "Which | of them?"
    text = rendered(shared)
    section = text.split("## Active Messages")[1].split("## Closed Summary")[0]
    assert "**Mode:** by hand\n" in section
    assert "2. **other**\n" in section
    assert "| MSG-20260101-002 | reviewer -> coder | P0 | Which &#124; of them? |" in text
    assert shared.adopt(mailbox.render(shared.project), shared.project) == 0


def test_a_message_whose_id_was_taken() -> None:
    """Where that id was given meanwhile both messages are there, the later under the next."""
    shared = posted()
    base, text = shared.project, mailbox.render(shared.project).decode() + CARD
    shared.add(e.MessagePosted("reviewer", "Meanwhile"), "coder")
    shared.adopt(text.encode(), base)
    subjects = {id[-3:]: each.subject for id, each in shared.project.messages.items()}
    assert subjects == {"001": "Review", "002": "Meanwhile", "003": "Which | of them?"}
    assert rendered(shared).count("### MSG-20260101-002") == 1
    assert shared.adopt(mailbox.render(shared.project), shared.project) == 0


def test_a_payload_by_hand() -> None:
    """With the token of its text it is posted as what is to be reviewed."""
    given = payload("+2\n")
    review = f"\nRevision: {given.token}\nFormat: full-text\n\n```\n+2\n```\n"
    shared = edited(posted(), lambda text: text + CARD + review)
    found = shared.project.messages["MSG-20260101-002"].payload
    assert found is not None
    assert (found.text, found.token, found.format) == ("+2", given.token, "full-text")


def test_closed_by_its_row() -> None:
    """A card that was taken out, with a row in the summary, is closed by whoever is to do that."""
    row = f"| {ID} | 2026-01-02 | coder -> reviewer | closed | all done |\n"
    rule = "|----|------|------------|--------------|---------|\n"

    def edit(text: str) -> str:
        head, rest = text.split(f"\n### {ID}")
        return head + "\n" + rest[rest.index("## Closed") :].replace(rule, rule + row)

    shared = edited(posted(), edit)
    [ack] = shared.project.messages[ID].acks
    assert (ack.what, ack.by, ack.reason) == ("closed", "coder", "all done")
    assert row in rendered(shared)


def test_handwriting_stays_where_it_is() -> None:
    """Notes anywhere in the file, and other words for ours, come out again where they were."""
    edit = replaced(
        ("# Mailbox (Tools)", "# Mailbox of the tools"),
        ("\n## Open Queue", "\nA note on the inbox.\n\n## Open Queue"),
        ("**Type:** request\n", "**Type:** request (soon)\n**Mode:** mirror\n"),
        ("Please look.\n", "Please look.\n\nAnd mind the gap.\n"),
        (BEFORE_SUMMARY, f"\n<!-- the end -->\n{BEFORE_SUMMARY}"),
    )
    shared = edited(posted(), edit)
    assert shared.project.messages == posted().project.messages
    assert rendered(shared) == edit(rendered(posted()))
    shared.add(e.MessageAcknowledged(ID, "ok"), "reviewer")
    text = rendered(shared)
    for words in (
        "tools\n",
        "A note on the inbox.\n",
        "(soon)\n**Mode:** mirror\n",
        "mind the gap",
    ):
        assert words in text


def test_what_follows_from_the_messages_is_ours() -> None:
    """Inbox and queue say what is so, whatever somebody writes; a message does not go away."""
    shared = edited(
        posted(),
        lambda text: (
            text.replace("| reviewer | 1 |", "| reviewer | 7 |")
            .replace(f"| {ID} | coder -> reviewer | P1 | Review |\n", "")
            .replace("**Status:** unread\n", "")
        ),
    )
    assert rendered(shared) == rendered(posted())
    gone = edited(posted(), lambda text: text.split(f"\n### {ID}")[0] + BEFORE_SUMMARY)
    assert "Please look." in rendered(gone)
    assert gone.project.messages == posted().project.messages


REFUSED: dict[str, tuple[Callable[[str], str], str]] = {
    "no ack": (
        replaced(("**Status:** unread", "**Status:** acknowledged")),
        "no Ack line says who did that and why; add one",
    ),
    "the wrong actor": (
        with_ack("acknowledged", "coder — 2026-01-02 — acknowledged. x"),
        "cannot acknowledge MSG-20260101-001: it is for reviewer to do, not for coder",
    ),
    "an unknown actor": (
        with_ack("acknowledged", "nobody — 2026-01-02 — acknowledged. x"),
        "is for reviewer to do",
    ),
    "another transition": (
        with_ack("blocked", "reviewer — 2026-01-02 — blocked. x"),
        "cannot block MSG-20260101-001: it is unread",
    ),
    "no status": (
        with_ack("done", "reviewer — 2026-01-02 — actioned. x"),
        "'done' is no status of a message; it is unread, acknowledged, blocked, actioned or closed",
    ),
    "a sender": (replaced(("coder -> reviewer\n**", "ada -> reviewer\n**")), "the From of"),
    "a subject": (replaced(("Subject:** Review", "Subject:** Renew")), "since it was posted"),
    "a priority": (replaced(("**Priority:** P1", "**Priority:** P0")), "post a new message"),
    "a payload": (replaced(("\n+1\n", "\n+2\n")), "the payload of MSG-20260101-001 is malformed"),
    "a fence": (replaced(("+1\n```\n", "+1\n")), "malformed"),
    "a new card from nobody": (
        lambda text: text + CARD.replace("**From:** reviewer -> coder\n", ""),
        "does not say who it is from and to",
    ),
    "a new card to nobody": (
        lambda text: text + CARD.replace("-> coder", "-> codr"),
        "no agent 'codr'; near: coder",
    ),
    "a new card to oneself": (
        lambda text: text + CARD.replace("-> coder", "-> reviewer"),
        "cannot post to itself",
    ),
    "a new payload": (
        lambda text: text + f"{CARD}\nRevision: REV-20260101-x-01-h00000000\n\n```\n+\n```\n",
        "the payload is malformed: its checksum is",
    ),
    "a new payload that was cut": (
        lambda text: text + f"{CARD}\nRevision: REV-20260101-x-01-h00000000\n\n```\n+\n",
        "the payload has no end",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_edit_that_may_not_be(name: str) -> None:
    """One sentence names the line and what is so; nothing of the edit is on record."""
    edit, why = REFUSED[name]
    shared = posted()
    with pytest.raises(Invalid) as no:
        edited(shared, edit)
    assert why in str(no.value)
    assert str(no.value).startswith("line ")
    assert "\n" not in str(no.value)


def test_a_closed_message_does_not_reopen() -> None:
    """A card that comes back for it, with another status, is refused."""
    shared = posted()
    card = mailbox.render(shared.project).decode().split("\n### ")[1].split("\n## ")[0]
    shared.add(e.MessageClosed(ID, "done"), "coder")
    back = "\n### " + card.replace("**Status:** unread", "**Status:** acknowledged")
    with pytest.raises(Invalid, match="is closed, and nothing makes it acknowledged again"):
        edited(shared, replaced((BEFORE_SUMMARY, back + BEFORE_SUMMARY)))


def test_an_ack_that_came_too_late() -> None:
    """Where the message was closed meanwhile that holds, and the rest of the edit is taken over."""
    shared = posted()
    base = shared.project
    edit = with_ack("acknowledged", "reviewer — 2026-01-02 — acknowledged. late")
    text = edit(mailbox.render(base).decode()) + CARD
    shared.add(e.MessageClosed(ID, "done"), "coder")
    shared.adopt(text.encode(), base)
    assert [ack.what for ack in shared.project.messages[ID].acks] == ["closed"]
    assert "MSG-20260101-002" in shared.project.messages


def test_two_acks_at_once() -> None:
    """The same was recorded meanwhile: it is so once, and both lines are there."""
    shared = posted()
    base = shared.project
    edit = with_ack("acknowledged", "reviewer — 2026-01-02 — acknowledged. by hand")
    shared.add(e.MessageAcknowledged(ID, "on record"), "reviewer")
    shared.adopt(edit(mailbox.render(base).decode()).encode(), base)
    assert [ack.reason for ack in shared.project.messages[ID].acks] == ["on record"]
    text = rendered(shared)
    assert "acknowledged. on record\n" in text
    assert "acknowledged. by hand\n" in text


@thorough
@given(st.data())
def test_an_edit_and_what_was_recorded_meanwhile(data: st.DataObject) -> None:
    """A note and a message by hand come to all that anybody did since; nothing of that is lost."""
    shared = data.draw(workspaces(6))
    base = shared.project
    text = mailbox.render(base).decode() + CARD.replace("-002", "-077")
    text = text.replace("\n## Open Queue", "\nA note.\n\n## Open Queue", 1)
    for _ in range(4):
        act(shared, data.draw)
    before = shared.project.messages
    shared.adopt(text.encode(), base)
    now = shared.project.messages
    assert {id: now[id] for id in before} == before
    assert [id for id in now if id not in before] == ["MSG-20260101-077"]
    again = rendered(shared)
    assert "\nA note.\n" in again
    assert "2. **other**\n" in again
    assert shared.adopt(mailbox.render(shared.project), shared.project) == 0


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"# Mailbox\n\n## Active Messages\0\n", "line 3: it has a NUL"),
        (b"# Mailbox\n\n## Active \xff\n", "byte 22 is not UTF-8"),
        (b"# Mailbox\n\n## Active Mess", "it may have been cut"),
        (b"", "it lacks its title"),
        (b"# Mailbox\n\n## Active Messages\n" + b"x" * 50_000_000, "and a MAILBOX.md at most"),
        (
            b"# Mailbox\n\n## Active Messages\n" + b"x" * 1_000_000,
            "bytes of handwriting in one place, and at most 900,000",
        ),
    ],
)
def test_what_cannot_be_read(content: bytes, why: str) -> None:
    """One sentence says why, and nothing was recorded."""
    shared = workspace()
    version = shared.project.version
    with pytest.raises(Invalid) as no:
        adopt(shared, content)
    assert why in str(no.value)
    assert "\n" not in str(no.value)
    assert shared.project.version == version


# -- on disk ---------------------------------------------------------------------------------


def test_an_edit_on_disk(tmp_path: Path) -> None:
    """An answer by hand is drift: shown, adopted in the name of who gave it, and written anew."""
    words = ("--maintainer", "ada", "--agent", "coder", "--agent", "reviewer")
    good(tmp_path, "init", "tools", *words)
    good(tmp_path, "mail", "post", "Review", "--to", "reviewer", "--actor", "coder")
    path = tmp_path / "working-session/MAILBOX.md"
    before = path.read_text()
    path.write_text(before.replace("**Status:** unread", "**Status:** acknowledged"))
    unsaid = files(tmp_path)
    no = quick(tmp_path, "drift", "--adopt")
    assert no.code == 1
    assert "no Ack line says who did that and why" in no.err
    assert files(tmp_path) == unsaid
    path.write_text(
        path.read_text().replace(
            BEFORE_SUMMARY, f"\n**Ack:** reviewer — 2026-01-02 — acknowledged. ok\n{BEFORE_SUMMARY}"
        )
    )
    good(tmp_path, "drift", "--adopt")
    [message] = good(tmp_path, "mail", "list", "--json").json
    assert message["status"] == "acknowledged"
    assert good(tmp_path, "verify").code == 0
    assert "**Ack:** reviewer — 2026-01-02 — acknowledged. ok\n" in path.read_text()
    assert "| reviewer | 0 | none | none |" in path.read_text()
