"""A folder of files that agents share is taken over as a whole, and no word of it is lost."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from command import good, quick

from cli import exits
from journal.payloads import checksum

DESK = "working-session"
TURNFILE = """\
# TURNFILE.yaml
# Last modified revision: 30

turnfile:
  version: "0.1.0"
  project: "orchard"
  workspace: "working-session/"

agents:
  plum:
    role: "agent"
    status: "idle"
    current_task: null
    last_seen: "plum-session-2"
    session_id: "plum-session-2"
  fig:
    role: "agent"
    status: "offline"
    current_task: null
    last_seen: "fig-session-3"
    session_id: null

maintainer:
  id: "ada"
  status: "available"
  last_seen: "ada-session-1"

coordination:
  revision: 30
  active_phase: "phase-2"
  active_step: "p2-e"
  tasks:
    press-juice:
      description: "Press the juice."
      owner: "fig"
      status: "in_progress"
      priority: "P1"
      depends_on: []
      created_by: "ada"
      created_rev: 14
      claim_rev: 15
      completed_rev: null
      notes: "Half of it."

locks:
  LOCK-7:
    files:
      - "press.md"
    holder: "fig"
    acquired_rev: 29
    lease_revs: 2
    reason: "pressing"

turn_queue:
  - agent: "fig"
    action: "bottle it"
    requested_rev: 30
    priority: "P1"

messages:
  - id: "SIG-001"
    from: "plum"
    to: "all"
    signal: "notify"
    rev: 29
    detail: "Plum is done."
"""
FIG = """\
# Chat Log — Fig

Fig's own words, which are nobody's business.

## Session 1 — 2026-02-10

### Session start

Hello.

---

## Session 1 Close Snapshot — Fig

**Session:** fig-session-1
**Date:** 2026-02-11
**Close reason:** Maintainer-directed session close

### Active task status

| Task | Status |
|------|--------|
| press-juice | begun |

### Files to read on resume (ordered, with token budgets)

1. `press.md` — how to press (~800 tokens)

---

## Session Close Snapshot (Session 2)

```yaml
session_id: "fig-session-2"
agent: "Fig"
date: "2026-02-12"
turnfile_revision: 28
close_reason: "pressed the first half"
revision_token: "REV-20260212-snapshot-fig-2-h00000000"
```

### 1. Active Task Status
- **Status:** partial
- **Task:** press-juice

### 2. Mailbox State
- Fig unread: 1

### 3. Files to read on resume
1. press.md (v2) — how to press (~800 tokens)
2. notes/fruit.md — which fruit (~1.2K tokens)

---

## Session Close Snapshot (Session 2 - Final)

```yaml
session_id: "fig-session-2"
agent: "Fig"
date: "2026-02-12"
close_reason: "context exhausted"
```

### 1. Active Task Status
- **Status:** partial
- **Task:** press-juice

### FIRST ACTIONS ON RESUME
1. Press the second half.
"""
PLUM = """\
# Chat Log — Plum

## Session 2 Close Snapshot — 2026-02-11

- Session: `plum-session-2`
- Mailbox state: Plum unread `0`
"""
MAILBOX = """\
# Mailbox (Orchard)

Date initialized: 2026-02-10

## Inbox Snapshot

| Agent | Unread | Oldest unread | Needs response by |
|-------|--------|---------------|-------------------|
| Fig | 1 | MSG-20260211-001 | next session |
| Plum | 0 | none | none |

## Open Queue (Newest First)

| ID | From -> To | Priority | Subject |
|----|------------|----------|---------|
| MSG-20260211-001 | Plum -> Fig | P1 | How fine is the sieve? |

## Active Messages (Newest First)

---

### MSG-20260211-001

**From:** Plum -> Fig
**Date:** 2026-02-11
**Type:** request
**Priority:** P1
**Status:** unread
**Subject:** How fine is the sieve?
**Closure owner:** Plum
**Response needed by:** next session

How fine is it to be?

## Closed Summary

| ID | Date | From -> To | Final status | Outcome |
|----|------|------------|--------------|---------|
"""
QUESTIONS = """\
# Open Questions

## Active

| ID | Source | Question | Status |
|----|--------|----------|--------|
| OQ-001 | Fig | Which fruit is next? | open |
"""
WORKLOG = """\
# Worklog — Orchard

Now Working (Plum): Idle.
Now Working (Fig): Pressing, half done.
Maintainer Focus: The harvest.
Next Review Checkpoint: Next session.

## Decision Index

| Decision | Owner | Timestamp | Section |
|----------|-------|-----------|---------|
| Press before noon | Ada | 2026-02-10 | Session 1 |

## Archived Sessions

| Session | Date | Summary |
|---------|------|---------|
| 0 | 2026-02-09 | The orchard was planted. |

## Session 1 — 2026-02-10

### Fig: first pressing

2026-02-10 — It went *well*, and `that` is all.

```text
Handoff: First half is pressed.
Owner: Fig
Status: Partial
Changed files:
  - press.md (new)
Tests run:
  - tasted it
Blocking items:
  - none
Next owner: Fig.
```
"""
ARCHIVE = """\
# Worklog Archive — Orchard

## Session 0 — 2026-02-09

### Plum: planting

2026-02-09 — Forty trees.
"""
FILES = {
    "TURNFILE.yaml": TURNFILE,
    "chat-fig.md": FIG,
    "chat-plum.md": PLUM,
    "WORKLOG.md": WORKLOG,
    "WORKLOG_ARCHIVE.md": ARCHIVE,
    "MAILBOX.md": MAILBOX,
    "OPEN_QUESTIONS.md": QUESTIONS,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of files as agents left them, which no journal knows yet."""
    (tmp_path / DESK).mkdir()
    for name, text in FILES.items():
        (tmp_path / DESK / name).write_text(text)
    return tmp_path


def state(folder: Path) -> Any:
    """The project as data."""
    return good(folder, "show", "--json").json


def turnfile(folder: Path) -> Any:
    """What its TURNFILE.yaml says."""
    return yaml.safe_load((folder / DESK / "TURNFILE.yaml").read_text())


def snapshots(folder: Path) -> list[Any]:
    """The snapshots on record, the oldest first."""
    found: list[Any] = good(folder, "snapshot", "list", "--json").json
    return found[::-1]


def told(file: Path) -> str:
    """What a file says, without its stamp."""
    return re.sub(r"\n*<!-- passdown project=.*-->\n$", "\n", file.read_text())


def test_every_word_stays_where_it_was(folder: Path) -> None:
    """Narrative files are as before but for the stamp, and those of agents to the byte."""
    good(folder, "adopt", DESK)
    for name in ("WORKLOG.md", "WORKLOG_ARCHIVE.md", "MAILBOX.md"):
        assert told(folder / DESK / name) == FILES[name], name
    for name in ("chat-fig.md", "chat-plum.md"):
        assert (folder / DESK / name).read_text() == FILES[name], name
    good(folder, "verify")
    assert good(folder, "drift").out.count("press") == 0


def test_a_second_time_says_nothing_new(folder: Path) -> None:
    """Each file is known by what it says, and no record is added."""
    good(folder, "adopt", DESK)
    version = state(folder)["version"]
    again = good(folder, "adopt", DESK)
    assert again.out.count("says all of it already, nothing recorded") == len(FILES)
    assert state(folder)["version"] == version


def test_what_is_long_over_moves_nothing_of_now(folder: Path) -> None:
    """Snapshots of sessions that are over leave leases, turns and statuses as TURNFILE.yaml has
    them, and the revision of that as well.
    """
    good(folder, "adopt", f"{DESK}/TURNFILE.yaml", f"{DESK}/chat-fig.md")
    found = turnfile(folder)
    assert found["agents"]["fig"]["status"] == "offline"
    assert found["locks"]["LOCK-7"]["holder"] == "fig"
    assert [each["agent"] for each in found["turn_queue"]] == ["fig"]
    assert found["coordination"]["revision"] == 30
    assert {each["status"] for each in state(folder)["sessions"].values()} == {"ended"}
    held = quick(folder, "lease", "acquire", "--file", "press.md", "--actor", "plum")
    assert held.code != exits.OK


def test_snapshots_are_of_the_time_that_they_say(folder: Path) -> None:
    """By front matter, labels or title, else before the next one; the last one is the one that
    holds, also where two are of one session.
    """
    text = FIG.replace("**Date:** 2026-02-11\n", "")
    (folder / DESK / "chat-fig.md").write_text(text)
    good(folder, "adopt", DESK)
    one, two, three = snapshots(folder)
    assert [each["at"][:10] for each in (one, two, three)] == ["2026-02-12"] * 3
    assert [each["session"] for each in (one, two, three)] == [
        "session-001",
        "session-002",
        "session-002",
    ]
    assert [each["superseded_by"] for each in (one, two, three)] == [
        three["token"],
        three["token"],
        "",
    ]
    assert three["token"].startswith("REV-20260212-snapshot-fig-03-h")
    said = good(folder, "resume", "--agent", "plum", "--from", "fig").out
    assert f"{three['token']}: session-002 of fig, closed 2026-02-12" in said
    assert "not closed by its agent" not in said
    assert "Next action: 1. Press the second half." in said


def test_parts_are_known_in_other_words(folder: Path) -> None:
    """Numbered headings, paths without quotes, and a task by its own id."""
    cut = FIG[: FIG.index("---\n\n## Session Close Snapshot (Session 2 - Final)")]
    (folder / DESK / "chat-fig.md").write_text(cut)
    (folder / "press.md").write_text("Press it.\n" * 30)
    good(folder, "adopt", DESK)
    answer = good(folder, "resume", "--agent", "plum", "--from", "fig", "--json").json
    parts = [each["part"] for each in answer["snapshot"]]
    assert parts == ["Identity", "Active task", "Mailbox state", "Files to read on resume"]
    assert [each["path"] for each in answer["reading"]][:2] == ["press.md", "notes/fruit.md"]


def test_the_worklog_has_no_line_of_what_was_written_by_hand(folder: Path) -> None:
    """Only a snapshot that is taken here is pointed at, by the name that its entry has."""
    good(folder, "adopt", DESK)
    assert "Full resumption snapshot" not in (folder / DESK / "WORKLOG.md").read_text()
    good(folder, "session", "start", "--actor", "fig")
    good(folder, "snapshot", "--why", "half of it is pressed", "--actor", "fig")
    content = (folder / DESK / "chat-fig.md").read_text()
    assert content.startswith(FIG)
    [heading] = re.findall(r"Full .* § (.*)$", (folder / DESK / "WORKLOG.md").read_text(), re.M)
    assert f"\n## {heading}\n" in content[len(FIG) :]
    good(folder, "verify")


def test_what_cannot_be_put_on_record_is_said(folder: Path) -> None:
    """A snapshot without a part, and one of which somebody has changed the text, are named."""
    body = "### Active task\n\n- **Status:** complete\n"
    token = f"REV-20260211-snapshot-plum-01-h{checksum(body)}"
    front = f"```yaml\nagent: plum\nsession_id: p-9\nrevision: {token}\n```\n"
    forged = body.replace("complete", "partial")
    whole = f"{PLUM}\n## Session Close — State Snapshot (Session 3)\n\n{front}\n{forged}"
    (folder / DESK / "chat-plum.md").write_text(whole)
    done = quick(folder, "adopt", DESK)
    assert done.code == exits.OK
    assert "chat-plum.md: line 3: the snapshot stays out of the journal: it has no part" in done.err
    assert f"line 8: the snapshot stays out of the journal: its token '{token}' is" in done.err
    assert "the project's file is" not in done.err
    assert [each for each in snapshots(folder) if each["agent"] == "plum"] == []
    assert (folder / DESK / "chat-plum.md").read_text() == whole


def test_an_edited_entry_of_an_adopted_file_is_not_written_twice(folder: Path) -> None:
    """Who mends its last snapshot by hand is told so, and does not get the old one below it."""
    good(folder, "adopt", DESK)
    edited = FIG.replace("Press the second half.", "Press the second half, gently.")
    (folder / DESK / "chat-fig.md").write_text(edited)
    for command in ("sync", "verify"):
        assert "chat-fig.md has snapshot REV-20260212" in quick(folder, command).err
        assert (folder / DESK / "chat-fig.md").read_text() == edited


def test_edits_by_hand_are_adopted_as_what_they_mean(folder: Path) -> None:
    """An agent goes on in its files as ever: mail, worklog and task are taken over."""
    good(folder, "adopt", DESK)
    desk = folder / DESK
    for name, old, new in (
        ("MAILBOX.md", "be?\n", "be?\n\n**Ack:** Fig — 2026-02-12 — acknowledged. Will do.\n"),
        ("MAILBOX.md", "**Status:** unread", "**Status:** acknowledged"),
        ("TURNFILE.yaml", 'status: "in_progress"', 'status: "done"'),
        (
            "WORKLOG.md",
            "Next owner: Fig.\n```\n",
            "Next owner: Fig.\n```\n\n### Plum: tasted it\n\nSweet.\n",
        ),
    ):
        content = (desk / name).read_text()
        assert old in content, name
        (desk / name).write_text(content.replace(old, new, 1))
    good(folder, "drift", "--adopt", "--actor", "ada")
    found = state(folder)
    assert found["messages"]["MSG-20260211-001"]["status"] == "acknowledged"
    assert found["tasks"]["press-juice"]["status"] == "done"
    assert "tasted it" in [each["title"] for each in found["worklog"].values()]
    good(folder, "verify")


@pytest.mark.parametrize("first", [name for name in FILES if name != "TURNFILE.yaml"])
def test_a_file_alone_is_of_the_project_of_its_folder(folder: Path, first: str) -> None:
    """Whichever comes first, the TURNFILE.yaml beside it says whose it is and who is who."""
    good(folder, "adopt", f"{DESK}/{first}")
    good(folder, "adopt", DESK)
    assert good(folder, "projects", "--json").json[0]["project"] == "orchard"
    assert len(good(folder, "projects", "--json").json) == 1
    found = state(folder)
    assert set(found["actors"]) == {"ada", "plum", "fig"}
    assert list(found["messages"]) == ["MSG-20260211-001"]
    assert list(found["tasks"]) == ["press-juice"]
    good(folder, "verify")


def test_the_order_in_which_they_are_named_is_all_the_same(folder: Path) -> None:
    """A shell names them by the alphabet, in which the one that says who is who comes late."""
    good(folder, "adopt", *sorted(f"{DESK}/{name}" for name in FILES))
    assert set(state(folder)["actors"]) == {"ada", "plum", "fig"}
    assert list(state(folder)["messages"]) == ["MSG-20260211-001"]
    good(folder, "verify")


def test_it_may_all_be_rehearsed(folder: Path) -> None:
    """A dry run says what would be recorded, and makes no workspace."""
    done = good(folder, "adopt", DESK, "--dry-run")
    assert "orchard: would record" in done.out
    assert not (folder / ".passdown").exists()
    assert {path.name for path in (folder / DESK).iterdir()} == set(FILES)
