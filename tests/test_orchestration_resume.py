"""Going on with an orchestration: its phases, what may be decided, and what is not as it was left.

Every command that an answer offers is typed, and works.
"""

import json
import os
import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from command import Result, bound_by_permissions, files, good, quick, run
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from strategies import TEXT, Chain

from cli import exits
from journal import Project
from journal import entities as n
from journal import events as e
from journal.errors import PassdownError
from journal.live import LEFT
from journal.rules import By, decide
from journal.workflows import ORCHESTRATED
from projections.brief import TOPICS, Brief, compose, fit, render
from projections.brief.topics import entries
from projections.differences import MOST, differences
from projections.remains import Remains, mismatches

SLUG = "2026-05-01-rate-limiter"
FLOW = """
name = "maestro"
[execution]
mode = "sequential"
[[steps]]
key = "1"
name = "Design"
agent = "architect"
files = ["docs/api.md"]
[[steps]]
key = "2"
name = "Implement"
agent = "coder"
team = ["reviewer"]
blocked_by = ["1"]
parallel = true
files = ["src/limiter.py"]
[[steps]]
key = "3"
name = "Document"
agent = "writer"
blocked_by = ["1"]
parallel = true
[[steps]]
key = "4"
name = "Test"
blocked_by = ["2", "3"]
files = ["tests/test_limiter.py"]
"""
PLAN = "".join(f"- line {number}\n" for number in range(1, 61))


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The workspace that each test gets a copy of."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "flow.toml").write_text(FLOW)
    write(folder, "docs/plan.md", PLAN)
    say(folder, f"init {SLUG} --workflow flow.toml --plan docs/plan.md")
    (folder / "flow.toml").unlink()
    return folder


@pytest.fixture
def work(made: Path, tmp_path: Path) -> Path:
    """Four phases: the first, then two beside one another, then the last; nothing was begun."""
    return Path(shutil.copytree(made, tmp_path / "work"))


@pytest.fixture
def failed(work: Path) -> Path:
    """Phase 1 is complete, phase 2 failed, and a person is known."""
    designed(work)
    say(work, "actor register PERSON --role person", "step start 2 --actor coder")
    say(work, "step fail 2 '3 tests failed' --kind validation --actor coder")
    return work


def say(folder: Path, *lines: str) -> Result:
    """Type these commands; the answer to the last."""
    return [good(folder, *shlex.split(line)) for line in lines][-1]


def write(folder: Path, path: str, text: str = "x\n") -> Path:
    """A file of the workspace with this text."""
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    return place


def designed(folder: Path) -> None:
    """Phase 1 is done, with its file and what it leaves for others."""
    write(folder, "docs/api.md")
    say(folder, "step start 1")
    say(folder, "step complete 1 --created docs/api.md --interface 'check(key)' --warning slow")


def resume(folder: Path, *args: str) -> dict[str, Any]:
    """The answer as data; nothing is written for it."""
    before = files(folder)
    found: dict[str, Any] = good(folder, "resume", *args, "--json").json
    assert files(folder) == before
    return found


def typed(folder: Path, command: str) -> Result:
    """What a command of an answer says when it is typed."""
    passdown, *words = shlex.split(command)
    assert passdown == "passdown"
    return good(folder, *words)


def offered(answer: dict[str, Any]) -> list[str]:
    """Every command of an answer: the next, what may be done instead, and what is offered."""
    cautions = [offer for warning in answer["warnings"] for offer in warning["offers"]]
    others = [offer["command"] for offer in [*answer["offers"], *cautions]]
    return [answer["command"], *others] if answer["command"] else others


def conflicts(folder: Path) -> dict[str, str]:
    """What is not as it was left; of two things about a file, the first."""
    found = resume(folder)["mismatches"]
    return {each["id"]: each["text"] for each in reversed(found)}


def steps(folder: Path) -> dict[str, str]:
    """The status of each phase."""
    shown = good(folder, "show", "--json").json["steps"]
    return {key: step["status"] for key, step in shown.items()}


# -- where it stands, and what is next -------------------------------------------------------


def test_the_phase_that_can_start(work: Path) -> None:
    """At the beginning the first phase is started; those that wait are told with what they wait on.

    None of them is offered.
    """
    found = resume(work)
    assert (found["verdict"], found["step"], found["offers"]) == ("start", "1", [])
    assert found["command"] == f"passdown step start 1 -p {SLUG}"
    assert [(each["phase"], each.get("waits_on", [])) for each in found["phases"]] == [
        ("1", []),
        ("2", ["1"]),
        ("3", ["1"]),
        ("4", ["2", "3"]),
    ]
    assert [each["phase"] for each in found["phases"] if each.get("next")] == ["1"]
    assert "step 1 started" in typed(work, found["command"]).out


def test_phases_that_may_run_together(work: Path) -> None:
    """What may start at once is offered as one batch; while one runs, the other is offered."""
    designed(work)
    found = resume(work)
    assert found["say"].startswith("Last completed: phase 1 Design. Start phases 2 Implement and 3")
    assert [each["phase"] for each in found["phases"] if each.get("next")] == ["2", "3"]
    alone = found["offers"][0]["command"]
    typed(work, alone)
    beside = resume(work)
    assert beside["verdict"] == "restart"
    assert [offer["what"] for offer in beside["offers"]] == ["start phase 3 Document meanwhile"]
    typed(work, beside["offers"][0]["command"])
    assert steps(work) == {"1": "complete", "2": "in_progress", "3": "in_progress", "4": "pending"}


def test_a_batch(work: Path) -> None:
    """The batch that is offered starts all of its phases; each is then one to go on with."""
    designed(work)
    typed(work, resume(work)["command"])
    assert steps(work)["2"] == steps(work)["3"] == "in_progress"
    found = resume(work)
    assert "In progress beside it: phase 3 Document." in found["say"]
    assert [each["phase"] for each in found["phases"]] == ["2", "3", "1", "4"]
    for command in offered(found):
        typed(work, command)


def test_a_phase_that_waits(work: Path) -> None:
    """Asked for a phase that waits, it says on what, and goes on with that."""
    designed(work)
    found = resume(work, "--step", "4")
    assert (found["verdict"], found["step"]) == ("waiting", "4")
    waits = "Phase 4 Test waits on phase 2 Implement, which is pending; on phase 3 Document"
    assert waits in found["say"]
    assert not any("step start 4" in command for command in offered(found))
    for command in offered(found):
        typed(work, command)


def test_a_phase_that_runs_alone(work: Path) -> None:
    """Where another phase is in the way, that is finished first."""
    say(work, "step start 1")
    say(work, 'append step.planned \'{"plan": {"key": "5", "name": "Ship"}}\'')
    found = resume(work, "--step", "5")
    assert "Before that, finish phase 1 Design" in found["say"]
    assert found["command"] == f"passdown resume --step 1 -p {SLUG}"


def test_what_phases_leave_for_others(work: Path) -> None:
    """Interfaces, patterns, assumptions and warnings of complete phases are context."""
    designed(work)
    assert resume(work)["context"] == [
        {"id": "interface", "text": "check(key) (phase 1)"},
        {"id": "warning", "text": "slow (phase 1)"},
    ]


def test_a_session_that_no_journal_knows(work: Path, tmp_path: Path) -> None:
    """A session file that was not adopted yet is adopted first, and then says where it stands."""
    designed(work)
    write(tmp_path, ".gemini/state/active-session.md", session_file(work))
    found = resume(tmp_path)
    assert (found["source"], found["step"]) == ("file", "")
    assert found["command"] == "passdown adopt .gemini/state/active-session.md"
    write(tmp_path, "docs/api.md")
    typed(tmp_path, found["command"])
    found = resume(tmp_path)
    assert (found["verdict"], found["step"]) == ("start", "2")
    assert [each["id"] for each in found["mismatches"]] == ["docs/plan.md"]


def session_file(folder: Path) -> str:
    """The active-session.md of a workspace, as somebody would have it who has no journal."""
    text = (folder / ".gemini/state/active-session.md").read_text()
    return re.sub("(?m)^_passdown:.*\n", "", text)


def test_other_projects_have_no_phases(tmp_path: Path) -> None:
    """What is no orchestration is told as ever."""
    say(tmp_path, "init shop")
    found = resume(tmp_path)
    assert (found["phases"], found["say"]) == ([], "Start step 1 Requirements.")
    assert "phase" not in good(tmp_path, "resume").out.lower()


# -- what somebody has to decide -------------------------------------------------------------

OPTIONS = {"retry": "in_progress", "adjust": "in_progress", "skip": "skipped", "abort": "failed"}


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("again", [0, 1, 2])
def test_the_options_of_a_failed_phase(failed: Path, option: str, again: int) -> None:
    """Each of the four is a command that works; after two retries a person has to approve them."""
    for _ in range(again):
        say(failed, "step retry 2", "step fail 2 'still 3'")
    found = resume(failed)
    assert (found["verdict"], found["step"]) == ("failed", "2")
    assert bool(found["command"]) == (again < 2)
    [command] = [each for each in offered(found) if f" {option} " in each]
    assert ("--approved-by PERSON" in command) == (again == 2 and option in ("retry", "adjust"))
    typed(failed, command)
    assert steps(failed)["2"] == OPTIONS[option]
    after = resume(failed)
    assert after["verdict"] == ("aborted" if option == "abort" else after["verdict"])
    assert [item["text"] for item in after["errors"]] == (
        [item["text"] for item in found["errors"]] if option == "abort" else []
    )


def test_an_error_is_told_with_its_circumstances(failed: Path) -> None:
    """Phase, agent, kind, time and message stand together, for people and as data."""
    [error] = resume(failed)["errors"]
    assert error["id"] == "E001"
    assert re.fullmatch(
        r"phase 2 Implement, coder, validation, 20\d\d-\S+Z: 3 tests failed", error["text"]
    )
    assert error["text"] in good(failed, "resume").out
    [phase] = [each for each in resume(failed)["phases"] if each["phase"] == "2"]
    assert (phase["status"], phase["errors"]) == ("failed", ["E001"])


def test_several_failed_phases(failed: Path) -> None:
    """Each has its options; the one that is at work meanwhile is told too."""
    say(failed, "step start 3", "step fail 3 'no words'")
    found = resume(failed)
    assert "So did phase 3 Document." in found["say"]
    for key in ("2", "3"):
        options = [
            each for each in offered(found) if re.search(rf" (retry|adjust|skip) {key} ", each)
        ]
        assert len(options) == 3
    for command in offered(found):
        copy = Path(shutil.copytree(failed, failed.parent / f"copy-{abs(hash(command))}"))
        typed(copy, command)


def test_who_asks_is_a_person(failed: Path) -> None:
    """A person needs nobody's approval, and every command is in their name."""
    for _ in range(2):
        say(failed, "step retry 2", "step fail 2 'still 3'")
    say(failed, "actor register ada --role person")
    found = resume(failed, "--agent", "ada")
    assert found["command"] == f"passdown step retry 2 -p {SLUG} --actor ada"
    assert not any("PERSON" in command for command in offered(found))
    typed(failed, next(each for each in offered(found) if " skip " in each))


def test_more_retries_than_go_without_asking(failed: Path) -> None:
    """Those that a person allowed are counted, and not as so many of the two that need nobody."""
    for _ in range(3):
        say(failed, "step retry 2 --approved-by PERSON", "step fail 2 'no luck'")
    assert "It was tried again 3 times: a person must decide." in resume(failed)["say"]
    assert "tried again 3 times" in good(failed, "show").out
    assert "it failed after 3 retries;" in run(failed, "step", "retry", "2").err


def test_nobody_is_known_as_a_person(work: Path) -> None:
    """Then it is offered to say who is one; after that the other offers work."""
    designed(work)
    say(work, "step start 2", "step fail 2 no")
    found = resume(work)
    [register] = [each for each in offered(found) if " register " in each]
    skip = next(each for each in offered(found) if " skip " in each)
    assert quick(work, *shlex.split(skip)[1:]).code == exits.REJECTED
    typed(work, register)
    typed(work, skip)
    assert not any(" register " in each for each in offered(resume(work)))


def test_the_end(work: Path) -> None:
    """What is complete is archived; before that, what nobody said is asked for."""
    designed(work)
    say(work, "step start 2", "step complete 2", "step start 3")
    warned = resume(work)["warnings"]
    assert [w["text"] for w in warned] == [
        "Phase 2 Implement is complete, and nobody said what it changed."
    ]
    say(work, "step complete 3 --pattern p", "step start 4", "step complete 4 --pattern p")
    found = resume(work)
    assert (found["verdict"], found["step"]) == ("finished", "")
    assert found["command"] == f"passdown step reconcile 2 --note NOTE -p {SLUG}"
    vague = Path(shutil.copytree(work, work.parent / "vague"))
    say(vague, "actor register PERSON --role person")
    typed(vague, found["offers"][0]["command"])
    assert resume(vague)["say"].startswith("The project is archived")
    typed(work, found["command"])
    assert resume(work)["warnings"] == []
    assert resume(work)["command"] == f"passdown archive -p {SLUG}"
    typed(work, resume(work)["command"])
    over = resume(work)
    assert (over["verdict"], over["phases"], over["mismatches"]) == ("finished", [], [])
    [reopen] = offered(over)[1:]
    assert reopen == f"passdown reopen -p {SLUG}"
    typed(work, reopen)
    assert resume(work)["command"] == f"passdown archive -p {SLUG}"
    assert resume(work)["mismatches"] == []


@pytest.mark.parametrize("option", ["reopen", "archive"])
def test_aborted(failed: Path, option: str) -> None:
    """One that was given up is reopened or archived, and its files are held against nothing."""
    write(failed, "docs/api.md", "changed\n")
    say(failed, "abort --reason enough --actor PERSON")
    found = resume(failed)
    assert (found["verdict"], found["mismatches"], found["phases"]) == ("aborted", [], [])
    assert resume(failed, "--step", "2")["verdict"] == "aborted"
    [command] = [each for each in offered(found) if f" {option} " in each]
    typed(failed, command)
    assert resume(failed)["verdict"] == ("failed" if option == "reopen" else "finished")


# -- what is not as it was left --------------------------------------------------------------


def test_files_of_the_manifest(work: Path) -> None:
    """Changed, gone and there again, by whichever session and phase; what is as it was is not told.

    What was recorded without a digest only has to be there.
    """
    names = ("same.py", "changed.py", "gone.py", "back.py", "away.py")
    for name in names:
        write(work, name)
    say(work, "step start 1", "files created same.py gone.py --step 1")
    say(work, "session start --session s --actor a", "files modified changed.py --session s")
    say(work, "files deleted back.py away.py --session s", "session end s")
    for name in ("there.py", "lost.py"):
        data = json.dumps({"path": name, "change": "modified", "step": "1"})
        good(work, "append", "files.changed", data)
    (work / "away.py").unlink()
    write(work, "there.py")
    say(work, "step complete 1", "session start --session t --actor b", "session end t")
    write(work, "changed.py", "other\n")
    (work / "gone.py").unlink()
    found = conflicts(work)
    assert found.keys() == {"changed.py", "gone.py", "back.py", "lost.py"}
    assert re.fullmatch(
        "was modified by phase 1, and has changed since: it was [0-9a-f]{12}, it is [0-9a-f]{12}",
        found["changed.py"],
    )
    assert found["gone.py"] == "was created by phase 1, and is gone"
    assert found["back.py"] == "was deleted by phase 1, and is there again"
    assert found["lost.py"] == "was modified by phase 1, and is gone"
    assert "Before anything else, look at what is not as it was left." in good(work, "resume").out


def test_a_planned_file_that_appeared(work: Path) -> None:
    """A file that came about before its phase began, and that nobody recorded, is told.

    One that is older than the project was always there.
    """
    assert conflicts(work) == {}
    place = write(work, "tests/test_limiter.py")
    old = write(work, "src/limiter.py")
    os.utime(old, (1_000_000_000, 1_000_000_000))
    assert conflicts(work) == {
        "tests/test_limiter.py": "is there and nobody recorded it, though phase 4 Test, "
        "which is to touch it, has not begun"
    }
    say(work, "files created tests/test_limiter.py")
    assert conflicts(work) == {}
    place.unlink()
    assert "is gone" in conflicts(work)["tests/test_limiter.py"]


def test_phases_that_are_not_finished(failed: Path) -> None:
    """What was begun and is not finished is told with what it touched, recorded or not."""
    write(failed, "src/other.py")
    say(failed, "files created src/other.py --step 2", "step start 3")
    write(failed, "src/limiter.py")
    [told] = [text for id, text in conflicts(failed).items() if id == "phase 2"]
    assert told == (
        "Implement was begun and failed; it touched src/other.py (created), "
        "src/limiter.py (as planned, and not recorded)"
    )
    say(failed, "step retry 2")
    assert "was begun and is in progress" in conflicts(failed)["phase 2"]
    say(failed, "step complete 2 --created src/limiter.py")
    assert conflicts(failed) == {}


def test_a_plan_that_changed(work: Path) -> None:
    """It is told by digest and with the difference; recording it again accepts it."""
    lines = PLAN.splitlines()
    lines[19] = "- \u001b[31mred\u202e ```` x"
    write(work, "docs/plan.md", "\n".join([*lines[:4], *lines[5:], ""]))
    found = resume(work)["mismatches"]
    assert [each["id"] for each in found] == ["docs/plan.md"] * 2
    assert found[0]["text"].startswith("has changed since it was recorded as the implementation")
    assert found[1]["lines"][:5] == [
        "@@ -2,7 +2,6 @@",
        " - line 2",
        " - line 3",
        " - line 4",
        "-- line 5",
    ]
    assert "-- line 20" in found[1]["lines"]
    shown = good(work, "resume").out
    assert "\n  `````diff\n  @@ -2,7 +2,6 @@\n   - line 2\n" in shown
    assert "\u001b" not in shown
    [accept] = [offer["command"] for offer in found[0]["offers"]]
    assert f"Offered: go by it as it is now: `{accept}`" in shown
    typed(work, accept)
    assert conflicts(work) == {}
    assert "already so" in typed(work, accept).out


def test_a_long_difference(work: Path) -> None:
    """No more than forty lines of it are shown, and the rest is counted; of too much, none is."""
    write(work, "docs/plan.md", "".join(f"+ line {number}\n" for number in range(100)))
    [_, how] = resume(work)["mismatches"]
    assert len(how["lines"]) == MOST + 1
    assert how["lines"][-1] == "… 121 more lines"
    write(work, "docs/plan.md", "".join(f"+ line {number}\n" for number in range(5000)))
    [_, how] = resume(work)["mismatches"]
    assert how == {
        "id": "docs/plan.md",
        "text": "so much of it has changed that no difference is shown",
    }


@pytest.mark.parametrize(
    ("was", "now", "how"),
    [
        (PLAN, PLAN.replace("\n", "\r\n"), ["only the ends of its lines have changed"]),
        ("x" * 300_000, "y", []),  # too long for its words to be on record
        ("plan\n", b"\xff\xfe", []),
    ],
)
def test_documents_without_a_difference(
    work: Path, was: str, now: str | bytes, how: list[str]
) -> None:
    """Where no line can be shown, the digests are."""
    place = write(work, "docs/design.md", was)
    say(work, "document design docs/design.md")
    place.write_bytes(now if isinstance(now, bytes) else now.encode())
    found = resume(work)["mismatches"]
    assert [each["text"] for each in found[1:]] == how
    assert re.search("it was [0-9a-f]{12}, it is [0-9a-f]{12}", found[0]["text"])
    place.unlink()
    assert conflicts(work) == {"docs/design.md": "was recorded as the design document, and is gone"}


@pytest.mark.parametrize("path", ["nowhere.md", "../plan.md", "docs", "out.md"])
def test_documents_that_cannot_be_recorded(work: Path, path: str) -> None:
    """What is no file of the workspace is refused in a sentence, and nothing has changed."""
    write(work.parent, "plan.md")
    (work / "out.md").symlink_to(work.parent / "plan.md")
    before = files(work)
    said = quick(work, "document", "plan", path)
    assert said.code in (exits.INVALID, exits.NOT_FOUND)
    assert said.err.count("\n") == 1
    assert files(work) == before


def test_our_own_files_are_no_conflicts(work: Path) -> None:
    """What Passdown writes itself is its own, whatever anybody planned or recorded."""
    ours = ".gemini/state/active-session.md"
    assert (work / ours).is_file()
    say(work, f"step adjust 1 --file {ours}", f"files modified {ours}", "step start 1")
    assert resume(work)["mismatches"] == []


def test_files_that_nobody_looked_into(work: Path) -> None:
    """One that is too big, or cannot be read, is said to be so, and not to be as it was."""
    for name in ("big.bin", "shut.py"):
        write(work, name)
    say(work, "step start 1", "files created big.bin shut.py")
    os.truncate(work / "big.bin", (1 << 24) + 1)
    (work / "shut.py").chmod(0)
    said = run(work, "resume", "--json", before=bound_by_permissions).json
    assert [each["id"] for each in said["mismatches"]] == ["phase 1"]
    texts = [warning["text"] for warning in said["warnings"]]
    assert texts == [
        "Whether it is as it was left, nobody looked: big.bin (bigger than 16 MiB).",
        "Whether it is as it was left, nobody looked: "
        "shut.py (it cannot be read: Permission denied).",
    ]


@pytest.fixture
def many(work: Path) -> Path:
    """Three hundred files of phase 1, which is complete: some were changed since, some are gone."""
    lines = []
    for number in range(300):
        path = f"src/part-{number % 7}/{number}.py"
        write(work, path, f"number = {number}\n")
        lines.append(path)
    say(work, "step start 1", f"files created {shlex.join(lines)}", "step complete 1")
    for number in range(0, 300, 10):
        place = work / f"src/part-{number % 7}/{number}.py"
        if number % 20:
            place.unlink()
        else:
            place.write_text("number = None\n")
    return work


def test_many_files(many: Path) -> None:
    """Each that is not as it was left is told, in a brief of a hundred tokens or as a whole."""
    found = {
        each["id"]: each["text"] for each in resume(many, "--only", "mismatches")["mismatches"]
    }
    assert found.keys() == {f"src/part-{number % 7}/{number}.py" for number in range(0, 300, 10)}
    gone = {path for path, text in found.items() if text.endswith("is gone")}
    assert gone == {f"src/part-{number % 7}/{number}.py" for number in range(10, 300, 20)}
    short = resume(many, "--budget", "500")
    assert len(short["mismatches"]) + short["left_out"]["mismatches"] == 30


def test_a_hook_says_what_it_did_not_look_at(many: Path) -> None:
    """It looks at the newest files, and names the command that looks at all of them."""
    stdin = json.dumps({"session_id": "abc", "source": "startup", "cwd": str(many)}).encode()
    answer = run(many, "hook", "claude-code", "SessionStart", stdin=stdin).json
    brief = answer["hookSpecificOutput"]["additionalContext"]
    assert f"Of its files {300 - LEFT} more were not looked at here." in brief
    assert len(re.findall(r"^- src/", brief, re.MULTILINE)) == LEFT // 10
    [shows] = re.findall(r"look at all of them: `([^`]+)`", brief)
    assert len(re.findall(r"^- src/", typed(many, shows).out, re.MULTILINE)) == 30


def test_a_hook_says_how_to_see_what_changed(work: Path) -> None:
    """It knows that the plan has changed, and names the command that shows how."""
    write(work, "docs/plan.md", PLAN + "- more\n")
    stdin = json.dumps({"session_id": "abc", "source": "startup", "cwd": str(work)}).encode()
    answer = run(work, "hook", "claude-code", "SessionStart", stdin=stdin).json
    brief = answer["hookSpecificOutput"]["additionalContext"]
    [shows] = re.findall(r"see what changed in it: `([^`]+)`", brief)
    assert "+- more" in typed(work, shows).out


def test_a_session_that_begins_is_shown_it_all(failed: Path) -> None:
    """With a session it is on record what was shown, conflicts and phases among it."""
    write(failed, "docs/api.md", "changed\n")
    good(failed, "resume", "--session", "s", "--agent", "coder")
    data = json.loads(good(failed, "log", "--json").out.splitlines()[-1])["data"]
    assert data["shown"]["mismatches"] == ["docs/api.md"]
    assert data["shown"]["phases"] == ["2", "1", "3", "4"]


def test_how_it_is_shown(failed: Path) -> None:
    """`show` has what phases wait on, their retries and agents, and what is to be reconciled."""
    say(failed, "step start 3 --batch b1", "step complete 3", "step retry 2 --reason again")
    say(failed, "step fail 2 'no luck'")
    shown = good(failed, "show", env={"COLUMNS": "80"}).out
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert "orchestration, sequential, batch b1" in shown
    for words in ("tried again 1 of 2 times", "to be reconciled", "waits on 2", "2 of 4 phases"):
        assert words in shown
    assert "E002  phase 2 Implement, coder, runtime, " in shown
    assert "coder, reviewer" in shown
    assert "plan  docs/plan.md" in shown
    data = good(failed, "show", "--json").json
    assert data["execution"]["mode"] == "sequential"
    assert data["documents"]["plan"]["path"] == "docs/plan.md"
    assert data["manifest"].keys() == {"1 docs/api.md"}


# -- laws ------------------------------------------------------------------------------------

COMMONMARK = MarkdownIt("commonmark").enable(["table", "strikethrough"])
TITLES = {topic.title for topic in TOPICS.values()}


@given(*[st.lists(st.sampled_from("abcde"), max_size=12)] * 2)
def test_a_difference_leads_from_one_text_to_the_other(old: list[str], new: list[str]) -> None:
    """Whoever applies it to the old lines has the new ones."""
    lines = differences("\n".join(old), "\n".join(new))
    assert lines is not None
    made: list[str] = []
    at = 0
    for line in lines:
        if header := re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@", line):
            start = int(header[1]) - (header[2] != "0")
            made += old[at:start]
            at = start
        elif line[0] == "+":
            made.append(line[1:])
        else:
            assert old[at] == line[1:]
            made += [line[1:]] if line[0] == " " else []
            at += 1
    assert made + old[at:] == new


@st.composite
def orchestrations(draw: st.DrawFn) -> Project:
    """An orchestration in any state that the rules lead to, whatever its phases are called."""
    keys = [str(number) for number in range(1, draw(st.integers(1, 5)) + 1)]
    plans = tuple(
        e.StepPlan(
            key,
            draw(TEXT),
            draw(st.sampled_from(("", "coder"))),
            optional=draw(st.booleans()),
            blocked_by=tuple(draw(st.sets(st.sampled_from(keys[:at])))) if at else (),
            parallel=draw(st.booleans()),
        )
        for at, key in enumerate(keys)
    )
    policy = draw(
        st.just(ORCHESTRATED)
        | st.builds(
            e.Policy,
            st.booleans(),
            st.none() | st.integers(0, 2),
            st.sampled_from(("anyone", "person")),
            st.booleans(),
            st.booleans(),
        )
    )
    chain = Chain("limiter")
    chain.add(e.ProjectOpened(draw(TEXT), "maestro", plans, policy, execution=e.Execution()))
    if draw(st.booleans()):
        chain.add(e.ActorRegistered("ada", "person"))
    texts = st.sampled_from(("", "it's `so`\n# bad", "-x"))
    for _ in range(draw(st.integers(0, 16))):
        key = draw(st.sampled_from(keys))
        proposal = draw(
            st.sampled_from(
                (
                    e.StepStarted(key),
                    e.StepStarted(key),
                    e.StepCompleted(key),
                    e.StepFailed(key, draw(texts) or "no"),
                    e.StepRestarted(key, "retry"),
                    e.StepRestarted(key, "rerun"),
                    e.StepAdjusted(key, blocked_by=()),
                    e.StepAdjusted(key, blocked_by=("1",)),
                    e.StepSkipped(key, draw(texts)),
                    e.StepReconciled(key, "nothing"),
                    e.BlockerRaised("wait", (key,)),
                    e.ProjectAborted(),
                    e.ProjectArchived(),
                )
            )
        )
        actor = draw(st.sampled_from((None, "ada")))
        try:
            events = decide(chain.project, proposal, By(actor))
        except PassdownError:
            continue
        for event in events:
            chain.add(event, actor)
    return chain.project


def proposed(words: Sequence[str]) -> list[e.Event]:
    """The events that a command proposes; of one that only shows something, none."""
    words = [*words]
    options = {}
    for option in ("--reason", "--agent", "--approved-by", "--note", "--batch", "--role"):
        if option in words:
            at = words.index(option)
            options[option] = words[at + 1]
            del words[at : at + 2]
    reason, approved = options.get("--reason", ""), options.get("--approved-by", "")
    match words:
        case ["step", "start", *keys]:
            return [e.StepStarted(key, batch=options.get("--batch", "")) for key in keys]
        case ["step", "complete", key]:
            return [e.StepCompleted(key)]
        case ["step", "retry" | "rerun" as mode, key]:
            return [e.StepRestarted(key, mode, reason, approved)]
        case ["step", "adjust", key]:
            adjusted = e.StepAdjusted(key, agent=options["--agent"], reason=reason)
            return [adjusted, e.StepRestarted(key, "retry", reason, approved)]
        case ["step", "skip", key]:
            return [e.StepSkipped(key, reason)]
        case ["step", "reconcile", key]:
            return [e.StepReconciled(key, options["--note"])]
        case ["actor", "register", who]:
            return [e.ActorRegistered(who, "person")]
        case ["archive"]:
            return [e.ProjectArchived(reason)]
        case ["abort"]:
            return [e.ProjectAborted(reason)]
        case ["reopen"]:
            return [e.ProjectReopened()]
        case [("resume" | "show"), *_]:
            return []
    raise AssertionError(words)


@settings(deadline=None, max_examples=300)
@given(orchestrations(), st.sampled_from(("", "coder", "ada")))
def test_whatever_is_offered_is_allowed(project: Project, agent: str) -> None:
    """In any state, for anyone: the rules admit every command, where PERSON is a person."""
    before = project.copy()
    for step in ("", *project.steps):
        brief = compose(project, step=step, agent=agent)
        offers = [*brief.offers, *(offer for warning in brief.warnings for offer in warning.offers)]
        for command in filter(None, (brief.command, *(offer.command for offer in offers))):
            _, *words = shlex.split(command)
            at = words.index("-p")
            actor = words[at + 3] if len(words) > at + 2 else None
            chain = Chain("limiter")
            chain.project = project.copy()
            if "register" not in words:
                chain.project.actors["PERSON"] = n.Actor("PERSON", "person")
            for event in proposed(words[:at]):
                changes = decide(chain.project, event, By(actor))
                assert changes, "what is offered makes a difference"
                for change in changes:
                    chain.add(change, actor)
    assert project == before


@settings(deadline=None, max_examples=100)
@given(orchestrations(), TEXT, st.lists(TEXT, max_size=50), st.sampled_from((400, 500, 2000)))
def test_nothing_that_somebody_wrote_becomes_markup(
    project: Project, text: str, lines: list[str], budget: int
) -> None:
    """Names of phases and files, and lines of a plan, are text; the budget holds with them too."""
    item = e_item(text, lines)
    brief = compose(project, mismatches=(item, item))
    check(render(brief))
    fitted, shown = fit(brief, budget)
    check(shown)
    assert len(shown) <= budget * 3.5
    for name, topic in TOPICS.items():
        if name != "texts":
            left = fitted.left_out.get(name, 0)
            assert len(entries(brief, topic)) == len(entries(fitted, topic)) + left


def e_item(text: str, lines: list[str]) -> Any:
    """Something that is not as it was left, with the lines that changed in it."""
    project = Project("limiter", execution=e.Execution())
    project.documents["plan"] = n.Document("plan", text, 0, 1, "a")
    found = {text: Remains("b", words="\n".join(lines))}
    return mismatches(project, found, recorded={"plan": "plan"})[-1]


def check(text: str) -> None:
    """No text has become a heading, a list, a link or HTML; lines are in blocks of code."""
    text.encode()
    tokens = COMMONMARK.parse(text)
    headings = [tokens[at + 1] for at, token in enumerate(tokens) if token.type == "heading_open"]
    titles = {heading.content.partition(" (")[0] for heading in headings[1:]}
    assert titles <= TITLES
    kinds = {token.type.removesuffix("_open").removesuffix("_close") for token in tokens}
    assert kinds <= {"heading", "paragraph", "bullet_list", "list_item", "inline", "fence"}
    parts = {part.type for token in tokens for part in token.children or ()}
    assert parts <= {"text", "code_inline", "softbreak"}


def test_the_brief_of_an_orchestration_is_data_of_its_declared_form(work: Path) -> None:
    """What `--json` prints decodes as the brief that the documentation describes."""
    import msgspec

    brief = msgspec.json.decode(good(work, "resume", "--json").out, type=Brief, strict=True)
    assert [phase.phase for phase in brief.phases] == ["1", "2", "3", "4"]
