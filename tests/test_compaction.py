"""A worklog that has become too long: proposed, approved by the maintainer alone, nothing lost."""

import re
from pathlib import Path

import pytest
from command import files, good, quick

from cli import exits
from journal import Journal
from journal import events as e
from journal.events import Handoff
from journal.peers import WorklogEntry
from journal.request import Request
from journal.state import Project
from journal.worklog import references
from projections.narrative import words
from projections.worklog import compaction, entries

AGENTS = ("--agent", "coder", "--agent", "reviewer")
LOG, ARCHIVE = "working-session/WORKLOG.md", "working-session/WORKLOG_ARCHIVE.md"


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A workspace that ada maintains, and coder and reviewer share."""
    good(tmp_path, "init", "tools", "--maintainer", "ada", *AGENTS)
    return tmp_path


def text(folder: Path, name: str = LOG) -> str:
    """One of the files without its stamp."""
    return words((folder / name).read_bytes(), "a worklog")


def state(folder: Path) -> Project:
    """The state of the project."""
    with Journal.open(folder / ".passdown") as journal:
        return journal.project("tools").state


def fill(folder: Path, count: int) -> None:
    """Log many entries, three in four of them completed; some refer to others, and one in twenty is
    a decision's."""
    with Journal.open(folder / ".passdown") as journal:
        handle = journal.project("tools")
        for n in range(1, count + 1):
            open_ = n % 4 == 0
            handoff = Handoff("partial" if open_ else "Complete", (f"src/part{n}.py",), f"{n} run")
            refers = (f"W{n - 1:03}",) if n % 8 == 0 else ()
            told = f"Part {n} is done.\n\nSee also W{n - 3:03}." if n % 20 == 0 else f"Part {n}."
            logged = e.WorklogEntryLogged(
                f"Part {n}", told, number=1 + n // 30, handoff=handoff, refers=refers
            )
            requests = [Request(logged, "coder")]
            if n % 20 == 0:
                requests.append(Request(e.DecisionMade(choice=f"Choice {n}"), "coder"))
            handle.append_all(requests)
    good(folder, "sync")


def above(of: str) -> str:
    """What stands above the body: status block and decision index."""
    return of.partition("\n## Archived Sessions\n")[0]


def test_a_worklog_of_two_thousand_lines(tools: Path) -> None:
    """Status block and index are untouched, each entry is in one of the two files once, and what
    an active entry refers to stays with it."""
    fill(tools, 120)
    before, known = text(tools), state(tools)
    assert before.count("\n") > 2000
    assert not (tools / ARCHIVE).exists()
    for actor in ((), ("--actor", "coder"), ("--actor", "reviewer")):
        kept = files(tools)
        said = quick(tools, "worklog", "compact", *actor)
        assert (said.code, said.out) == (exits.REJECTED, "")
        assert "only the maintainer approves that" in said.err
        assert files(tools) == kept

    good(tools, "worklog", "compact", "--actor", "ada", "-r", "beyond 500 lines")

    log, moved, now = text(tools), text(tools, ARCHIVE), state(tools)
    assert above(log) == above(before)
    active = [x for x in now.worklog.values() if x.completed is None]
    held = {id for x in active for id in references(x)}
    assert held
    for entry in now.worklog.values():
        told = entries.entry(entry)
        there = (log.count(told), moved.count(told))
        stays = entry.completed is None or entry.id in held
        assert there == ((1, 0) if stays else (0, 1)), entry.id
        assert entry == known.worklog[entry.id] or entry.archived is not None
    assert set(re.findall(r"W\d{3}", before)) <= set(re.findall(r"W\d{3}", log + moved))
    assert re.findall(r"^\| (\d+) \|", log, re.MULTILINE) == ["1", "2", "3", "4"]
    assert good(tools, "drift").err == ""
    good(tools, "verify")


def test_it_is_proposed_where_it_is_noticed(tools: Path) -> None:
    """In show, resume and after the next entry, with how many can move and the command for it;
    nowhere before, and not any more once it was done."""
    fill(tools, 20)
    assert good(tools, "show").err == ""
    fill(tools, 12)
    proposed = good(tools, "show").err
    assert re.search(
        r"WORKLOG.md has 5\d\d lines beside its status block and decision index, above 500: "
        r"\d+ of its 32 entries are completed and can move into the archive; the maintainer "
        r"approves of that with `passdown worklog compact --actor ada -p tools`",
        proposed,
    )
    assert "32 entries are completed and can move" in good(tools, "resume").out
    logged = good(tools, "worklog", "log", "One more", "--actor", "coder")
    assert "33 entries" in logged.err
    assert good(tools, "worklog", "complete", "W033", "--actor", "coder").err == ""
    words = re.findall(r"`passdown (.*?)`", logged.err)[0].split()
    good(tools, *words)
    assert good(tools, "show").err == ""


def test_the_proposal_where_nothing_can_move() -> None:
    """It says so, and how an entry is completed; a short worklog, or none, proposes nothing."""
    project = Project("tools", coordination=e.Coordination("ada"))
    assert compaction.proposal(project) is None
    text = "a line\n" * 600
    project.worklog["W001"] = WorklogEntry("W001", "Long", 0, text, "coder")
    assert compaction.proposal(project) == (
        f"WORKLOG.md has {compaction.length(project)} lines beside its status block and decision "
        "index, above 500, and none of its 1 entries can move into the archive: complete those "
        "that are done with `passdown worklog complete ENTRY -p tools`"
    )


def test_what_is_above_the_body_does_not_count(tools: Path) -> None:
    """However many decisions there are, their index proposes no compaction."""
    with Journal.open(tools / ".passdown") as journal:
        handle = journal.project("tools")
        made = [Request(e.DecisionMade(choice=f"Choice {n}"), "coder") for n in range(600)]
        handle.append_all(made)
    logged = good(tools, "worklog", "log", "One", "--actor", "coder")
    assert (logged.err, text(tools).count("\n") > 600) == ("", True)


def by_hand(count: int) -> str:
    """A worklog as agents write it, with sections and notes that are nobody's entries."""
    lines = [
        *("# Worklog — Kiln", "", "References:", "- `docs/RULES.md`", ""),
        *("Now Working (Mira): glaze", "Now Working (Otto): idle", "Maintainer Focus: cones"),
        *("Decision Queue: (1) cones", "Next Review Checkpoint: Tuesday", ""),
        *("## Decision Index", "", "| Decision | Owner | Timestamp | Section |"),
        *("|---|---|---|---|", "| Cones | Mira | 2025-03-01 | x |", ""),
        *("## Archived Sessions", "", "| Session | Date | Summary |", "|---|---|---|"),
        *("| 0 | 2025-02-20 | Bought a kiln. |", ""),
    ]
    for n in range(1, count + 1):
        if n % 20 == 1:
            number = 1 + n // 20
            lines += [f"## Session {number} — 2025-03-{number:02} (Mira + Otto)", ""]
        if n % 20 == 5:
            lines += ["### Decision Index — session", "", "| a | b |", "|---|---|", ""]
        agent = "Mira" if n % 2 else "Otto (night)"
        status = "In progress" if n % 10 == 0 else "Complete"
        about = f"Goes on from W{n - 7:03}." if n % 10 == 0 else f"**Part {n}:** `x` | y"
        lines += [f"### {agent}: Part {n} — rev {n}", "", f"2025-03-01 — {about}", "", "- one"]
        lines += ["", "```text", f"Handoff: Part {n}", f"Owner: {agent}", f"Status: {status}"]
        lines += ["Changed files:", f"  - src/{n}.py", "Risks/assumptions:", "  - none known"]
        lines += ["Next owner: Mira", "```", ""]
    return "\n".join(lines)


def test_a_worklog_that_was_written_by_hand(tools: Path) -> None:
    """Adopted with two thousand lines and compacted: no word of it is lost, notes between the
    entries stay, and each entry is in one of the files as it was written."""
    file = by_hand(120)
    assert file.count("\n") > 2000
    (tools / LOG).write_text(file)
    good(tools, "drift", "--adopt", "--actor", "ada")
    adopted = text(tools)
    assert len(state(tools).worklog) == 120
    good(tools, "worklog", "compact", "--actor", "ada")
    log, moved = text(tools), text(tools, ARCHIVE)
    assert above(log) == above(adopted)
    said = re.split(r"(?=^### )", file, flags=re.MULTILINE)[1:]
    told = [each for each in said if ": Part " in each.split("\n")[0]]
    assert len(told) == 120
    for n, entry in enumerate(told, start=1):
        entry = re.split(r"^## ", entry, flags=re.MULTILINE)[0].rstrip("\n")
        stays = n % 10 == 0 or n % 10 == 3
        assert (log.count(entry), moved.count(entry)) == ((1, 0) if stays else (0, 1)), n
    assert log.count("### Decision Index — session\n\n| a | b |") == 6
    for line in file.split("\n"):
        assert line in log or line in moved, line
    assert "| 0 | 2025-02-20 | Bought a kiln. |\n| 1 |" in log
    good(tools, "verify")
    assert good(tools, "drift").err == ""
