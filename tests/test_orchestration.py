"""Orchestrations: how one is created, its phases, what they leave, their errors and tokens."""

import json
import os
import re
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from command import Result, files, good, quick

from cli import exits
from journal import Journal, errors
from journal import events as e

ID = "2026-05-01-rate-limiter"
PHASES = "Design API; Implement; Test"
WORKFLOW = """
name = "feature"

[execution]
mode = "parallel"
complexity = "medium"

[[steps]]
key = "1"
name = "Design API"
agent = "architect"

[[steps]]
key = "2"
name = "Limit"
agent = "coder"
team = ["reviewer"]
blocked_by = ["1"]
parallel = true
files = ["src//limiter.py"]

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
"""


@pytest.fixture
def limiter(tmp_path: Path) -> Path:
    """A workspace with an orchestration of four phases, a person, and two files."""
    (tmp_path / "feature.toml").write_text(WORKFLOW)
    (tmp_path / "src").mkdir()
    (tmp_path / "src/limiter.py").write_text("def check(key): ...\n")
    (tmp_path / "src/api.md").write_text("# API\n")
    good(tmp_path, "init", ID, "--workflow", "feature.toml", "--title", "Add rate limiter")
    good(tmp_path, "actor", "register", "ada", "--role", "person")
    return tmp_path


def state(folder: Path) -> Any:
    """The whole state of the one project, as data."""
    return good(folder, "show", "--json").json


def statuses(folder: Path) -> list[str]:
    """The statuses of all phases, in their order."""
    return [step["status"] for step in state(folder)["steps"].values()]


def types(result: Result) -> list[str]:
    """The types of the events that a command recorded."""
    return [record["type"] for record in result.json["appended"]]


def refuses(folder: Path, code: int, words: str, *args: str, stdin: bytes = b"") -> str:
    """What a command says that is refused in one sentence, and has changed nothing."""
    before = files(folder)
    said = quick(folder, *args, stdin=stdin)
    assert (said.code, said.out) == (code, ""), said
    assert words in said.err, said.err
    assert said.err.startswith("passdown: ")
    assert said.err.count("\n") == 1
    assert files(folder) == before
    return said.err


# -- creating one ----------------------------------------------------------------------------


def test_phases_make_an_orchestration(tmp_path: Path) -> None:
    """`init --phases` opens a project by the name of its session, with all phases pending."""
    made = good(tmp_path, "init", "rate-limiter", "--phases", PHASES, "--mode", "sequential")
    assert re.match(r"20\d\d-\d\d-\d\d-rate-limiter v1: project opened: Rate limiter", made.out)
    found = state(tmp_path)
    assert re.fullmatch(r"20\d\d-\d\d-\d\d-rate-limiter", found["project"])
    assert (found["native"], found["title"]) == (found["project"], "Rate limiter")
    assert [(x["name"], x["status"]) for x in found["steps"].values()] == [
        ("Design API", "pending"),
        ("Implement", "pending"),
        ("Test", "pending"),
    ]
    assert found["policy"] == {
        "rerun": False,
        "retries": 2,
        "skip": "person",
        "parallel": False,
        "manifest": True,
    }
    with Journal.open(tmp_path) as journal:
        assert journal.project(found["project"]).state.execution == e.Execution("sequential")


def test_a_session_id_is_taken_as_it_is(tmp_path: Path) -> None:
    """A topic that has its date is the whole id, and its words are the title."""
    assert good(tmp_path, "init", ID, "--phases", "a", "--json").json["project"] == ID
    assert state(tmp_path)["title"] == "Rate limiter"


def test_a_workflow_file_makes_an_orchestration(limiter: Path) -> None:
    """An [execution] table is what makes one; without a [policy] that of orchestrations holds."""
    with Journal.open(limiter) as journal:
        project = journal.project(ID).state
    assert project.execution == e.Execution("parallel", complexity="medium")
    assert project.policy == e.Policy(False, 2, "person", False, True)
    step = project.steps["2"]
    assert (step.agent, step.team, step.blocked_by) == ("coder", ("reviewer",), ("1",))
    assert (step.parallel, step.files) == (True, ("src/limiter.py",))


def test_a_workflow_file_with_a_policy_of_its_own(tmp_path: Path) -> None:
    """A [policy] stands for all of it, and the options of init for what the file says."""
    text = WORKFLOW + '[policy]\nskip = "anyone"\n'
    (tmp_path / "own.toml").write_text(text)
    good(tmp_path, "init", ID, "-w", "own.toml", "--mode", "sequential", "--complexity", "simple")
    with Journal.open(tmp_path) as journal:
        project = journal.project(ID).state
    assert project.policy == e.Policy()
    assert project.execution == e.Execution("sequential", complexity="simple")


def test_an_empty_execution_is_one(tmp_path: Path) -> None:
    """`[execution]` without a word in it makes an orchestration, from Python as well."""
    (tmp_path / "own.toml").write_text('name="x"\n[execution]\n[[steps]]\nkey="1"\nname="y"\n')
    with Journal.create(tmp_path) as journal:
        project = journal.open_project("y", str(tmp_path / "own.toml")).state
    assert project.execution == e.Execution()
    assert project.policy.manifest


TOPICS = {
    "Rate Limiter": "as one it would be rate-limiter",
    "rate limiter": "as one it would be rate-limiter",
    "auth/login": "as one it would be auth-login",
    "../auth": "as one it would be auth",
    "rate--limiter": "as one it would be rate-limiter",
    "-rate": "as one it would be rate",
    "rate-": "as one it would be rate",
    "Größe": "as one it would be grosse",
    "漢字": "like rate-limiter",
    "": "like rate-limiter",
    "a\nb": "as one it would be a-b",
    "rate_limiter": "as one it would be rate-limiter",
    "x" * 90: f"as one it would be {'x' * 89}",
    "2026-02-30-rate": "begins with 2026-02-30, which is no date",
    "2026-05-01": "is a date without a topic; write it like 2026-05-01-rate-limiter",
    "2026-05-01-": "is a date without a topic",
    "2026-05-01-Rate Limiter": "as one it would be rate-limiter",
}


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_that_is_none(tmp_path: Path, topic: str) -> None:
    """What is no slug is refused with the one that it would be, and nothing is set up."""
    said = refuses(tmp_path, exits.INVALID, TOPICS[topic], "init", "--phases", PHASES, "--", topic)
    assert os.listdir(tmp_path) == []
    if slug := said.partition("it would be ")[2].strip():
        good(tmp_path, "init", slug, "--phases", PHASES)


COMBINATIONS = {
    "--phases a --step b": "leave out --step",
    "--phases a --workflow apex": "leave out --workflow",
    "--phases ;": "--phases names no phase",
    "--phases=": "--phases names no phase",
    "--phases a --native other": "leave out --native",
    "--mode parallel": "--mode is for an orchestration",
    "--step a --complexity high": "--complexity is for an orchestration",
}


@pytest.mark.parametrize("options", COMBINATIONS)
def test_options_that_do_not_go_together(tmp_path: Path, options: str) -> None:
    """What contradicts itself is refused before anything is set up."""
    refuses(tmp_path, exits.INVALID, COMBINATIONS[options], "init", "topic", *options.split())
    assert os.listdir(tmp_path) == []


WAITS = {
    '["2"]': "steps wait on each other: 2 → 2; take one of these out",
    '["3"]': "step 2 is to wait on step 3, which comes after it; number them anew",
    '["4"]': "steps wait on each other: 4 → 2 → 4; take one of these out",
    '["9"]': "no step '9'; near: 1, 2, 3, 4; step 2 is to wait on it",
}


@pytest.mark.parametrize("waits", WAITS)
def test_phases_that_wait_for_ever(tmp_path: Path, waits: str) -> None:
    """A phase that waits on itself, on a later one or on none is refused, a cycle by its phases."""
    text = WORKFLOW.replace('blocked_by = ["1"]', f"blocked_by = {waits}", 1)
    (tmp_path / "own.toml").write_text(text)
    said = refuses(tmp_path, exits.INVALID, WAITS[waits], "init", ID, "-w", "own.toml")
    assert "workflow file 'own.toml': " in said


def test_a_planned_file_is_of_the_workspace(tmp_path: Path) -> None:
    """A file that a phase is planned to touch is in the workspace."""
    (tmp_path / "own.toml").write_text(WORKFLOW.replace("src//", "../"))
    refuses(tmp_path, exits.INVALID, "'../limiter.py'", "init", ID, "-w", "own.toml")


def test_an_id_that_is_taken(limiter: Path) -> None:
    """The same session is not opened twice, but the same request may be repeated."""
    again = ("init", ID, "--workflow", "feature.toml", "--title", "Add rate limiter")
    refuses(limiter, exits.REJECTED, "choose another topic", *again)


def test_an_orchestration_of_one_phase(tmp_path: Path) -> None:
    """One step is one, not one of several."""
    assert "(maestro, 1 step)" in good(tmp_path, "init", "topic", "--phases", "Build").out


def test_a_second_orchestration(limiter: Path) -> None:
    """While one is at work, another is not opened; the two offers are commands that work."""
    said = refuses(
        limiter,
        exits.REJECTED,
        "cannot open 2026-06-01-auth: .gemini/state/active-session.md is where 2026-05-01-rate-limi"
        "ter is at work",
        *("init", "2026-06-01-auth", "--phases", PHASES),
    )
    archive, resume = said.partition("allowed now: ")[2].strip().split(", ")
    assert resume == f"resume -p {ID}"
    good(limiter, *resume.split())
    good(limiter, *archive.replace("PERSON", "ada").split())
    words = "in the archive; choose another topic; allowed now: reopen -p 2026-05-01-rate-limiter"
    refuses(limiter, exits.REJECTED, words, "init", ID, "--phases", PHASES)
    good(limiter, "init", "2026-06-01-auth", "--phases", PHASES)


def test_two_orchestrations_at_once(tmp_path: Path) -> None:
    """Of two that are opened at the same moment one is, and the other is told of it."""
    good(tmp_path, "init", "shop")
    both = [
        subprocess.Popen(
            [sys.executable, "-m", "passdown", "init", f"2026-05-0{n}-x", "--phases", PHASES],
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for n in (1, 2)
    ]
    said = sorted((process.communicate()[1].decode(), process.returncode) for process in both)
    assert [code for _, code in said] == [0, exits.REJECTED]
    assert "is at work; allowed now: archive -p 2026-05-0" in said[1][0]


def test_a_file_of_nobody(tmp_path: Path) -> None:
    """An active-session.md that no journal knows is adopted before another one takes its place."""
    place = tmp_path / ".gemini/state/active-session.md"
    place.parent.mkdir(parents=True)
    good(tmp_path / ".gemini", "init", ID, "--phases", PHASES)
    place.write_bytes((tmp_path / ".gemini/.gemini/state/active-session.md").read_bytes())
    shutil.rmtree(tmp_path / ".gemini/.passdown")
    shutil.rmtree(tmp_path / ".gemini/.gemini")
    words = "allowed now: adopt .gemini/state/active-session.md"
    said = refuses(tmp_path, exits.REJECTED, words, "init", "2026-06-01-auth", "--phases", PHASES)
    good(tmp_path, *said.partition("allowed now: ")[2].split())


def test_the_same_request_again(tmp_path: Path) -> None:
    """With --id, opening an orchestration again adds nothing and is no error."""
    words = ("init", ID, "--phases", PHASES, "--id", "k1", "--json")
    assert good(tmp_path, *words).json["repeated"] is False
    assert good(tmp_path, *words).json["repeated"] is True


# -- documents -------------------------------------------------------------------------------


def test_documents_are_recorded_with_the_opening(tmp_path: Path) -> None:
    """Design and plan are recorded with digest and words, in the request that opens the project."""
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans/design.md").write_text("# Design\n")
    (tmp_path / "plans/plan.md").write_bytes(b"\xff\xfe")
    words = ("--design", "plans/../plans/design.md"), ("--plan", "plans/plan.md")
    refuses(tmp_path, exits.INVALID, "..", "init", ID, "--phases", PHASES, *words[0])
    made = good(
        *(tmp_path, "init", ID, "--phases", PHASES, "--design", "plans//design.md"),
        *(*words[1], "--json"),
    )
    assert types(made) == ["project.opened", "document.recorded", "document.recorded"]
    design, plan = (record["data"] for record in made.json["appended"][1:])
    assert design == {
        "kind": "design",
        "path": "plans/design.md",
        "digest": sha256(b"# Design\n").hexdigest(),
        "text": "# Design\n",
    }
    assert plan == {
        "kind": "plan",
        "path": "plans/plan.md",
        "digest": sha256(b"\xff\xfe").hexdigest(),
    }


@pytest.mark.parametrize("size", [1, 2**18 - 1, 2**18, 2**18 + 1, 2**22])
@pytest.mark.parametrize("letter", [b"x", b"\n", b"\x01", b"\0"])
def test_the_words_of_a_document(tmp_path: Path, size: int, letter: bytes) -> None:
    """What is too long or cannot be kept to the letter is known by its digest."""
    content = letter * size
    (tmp_path / "plan.md").write_bytes(content)
    made = good(tmp_path, "init", ID, "--phases", PHASES, "--plan", "plan.md", "--json")
    data = made.json["appended"][1]["data"]
    assert data["digest"] == sha256(content).hexdigest()
    fits = size <= 2**18 and letter != b"\0" and (letter != b"\x01" or size == 1)
    assert data.get("text", "") == (content.decode() if fits else "")


DOCUMENTS = {
    "gone.md": (exits.NOT_FOUND, "no file 'gone.md'; near: plan.md"),
    "../outside.md": (exits.INVALID, "is not inside the workspace"),
    "/etc/passwd": (exits.INVALID, "is not inside the workspace"),
    "link.md": (exits.INVALID, "is reached through a link; name the file itself: 'plan.md'"),
    "away.md": (exits.INVALID, "leads out of the workspace through a link"),
    "links/plan.md": (exits.INVALID, "is reached through a link; name the file itself"),
    "pipe": (exits.INVALID, "is not a regular file"),
    ".": (exits.INVALID, "is not a regular file"),
}


@pytest.mark.parametrize("path", DOCUMENTS)
def test_a_document_that_is_none(tmp_path: Path, path: str) -> None:
    """A document that is not there, not a file, or not in the workspace opens nothing."""
    folder = tmp_path / "w"
    folder.mkdir()
    (tmp_path / "outside.md").touch()
    (folder / "plan.md").touch()
    (folder / "link.md").symlink_to("plan.md")
    (folder / "away.md").symlink_to("../outside.md")
    (folder / "links").symlink_to(".")
    os.mkfifo(folder / "pipe")
    code, words = DOCUMENTS[path]
    for option in ("--design", "--plan"):
        refuses(folder, code, words, "init", ID, "--phases", PHASES, option, path)


# -- phases ----------------------------------------------------------------------------------


def test_phases_wait_for_each_other(limiter: Path) -> None:
    """A phase starts once those it waits on are done, and parallel ones start as a batch."""
    refuses(limiter, exits.REJECTED, "it waits on step 1, which is pending", "step", "start", "2")
    good(limiter, "step", "start", "1")
    refuses(
        limiter,
        exits.REJECTED,
        "it waits on step 2, which is pending and step 3, which is pending",
        *("transition", "1", "4", "--warning", "none"),
    )
    made = good(
        limiter, "transition", "1", "2", "3", "--batch", "b1", "--pattern", "token bucket", "--json"
    )
    assert types(made) == ["step.completed", "step.started", "step.started"]
    assert statuses(limiter) == ["complete", "in_progress", "in_progress", "pending"]
    with Journal.open(limiter) as journal:
        assert journal.project(ID).state.batch == "b1"


def test_a_batch_starts_whole_or_not_at_all(tmp_path: Path) -> None:
    """Phases that are not planned to run beside each other do not start together."""
    good(tmp_path, "init", ID, "--phases", PHASES)
    words = "cannot start step 2 of 2026-05-01-rate-limiter with what is asked before it: step 1 is"
    said = refuses(tmp_path, exits.REJECTED, words, "step", "start", "1", "2", "--batch", "b1")
    assert "allowed now" not in said
    for key in ("1", "2"):
        good(tmp_path, "step", "adjust", key, "--parallel")
    good(tmp_path, "step", "start", "1", "2", "--batch", "b1")
    assert statuses(tmp_path) == ["in_progress", "in_progress", "pending"]


def test_what_a_phase_changed(limiter: Path) -> None:
    """Completing takes the files with their digests, and what the phase leaves for others."""
    good(limiter, "step", "start", "1")
    done = good(
        limiter,
        *("step", "complete", "1", "--created", "src/api.md", "--modified", "src/limiter.py"),
        *("--deleted", "src/old.py", "--interface", "check(key)", "--assumption", "one node"),
        *("--integration", "the gateway", "--pattern", "bucket", "--warning", "flaky", "--json"),
        *("--output", "Two options.\nThe first.", "--summary", "designed"),
    )
    assert types(done) == ["step.output_recorded", *["files.changed"] * 3, "step.completed"]
    assert done.json["warnings"] == []
    digests = {x["data"]["path"]: x["data"].get("digest") for x in done.json["appended"][1:4]}
    assert digests == {
        "src/api.md": sha256(b"# API\n").hexdigest(),
        "src/limiter.py": sha256(b"def check(key): ...\n").hexdigest(),
        "src/old.py": None,
    }
    step = state(limiter)["steps"]["1"]
    assert step["to_reconcile"] is False
    assert step["downstream"] == {
        "interfaces": ["check(key)"],
        "patterns": ["bucket"],
        "integration_points": ["the gateway"],
        "assumptions": ["one node"],
        "warnings": ["flaky"],
    }


def test_a_description_stays(limiter: Path) -> None:
    """What was said of a file while a phase was at work stays when the phase lists it."""
    good(limiter, "step", "start", "1")
    good(limiter, "files", "created", "src/api.md", "-d", "the interface")
    (limiter / "src/api.md").write_text("# API 2\n")
    good(limiter, "step", "complete", "1", "--created", "src/api.md")
    file = state(limiter)["files"]["src/api.md"]
    assert file["description"] == "the interface"
    assert file["digest"] == sha256(b"# API 2\n").hexdigest()


def test_a_file_has_had_one_thing_done(limiter: Path) -> None:
    """A file is not both created and deleted, and one that is not there was not created."""
    good(limiter, "step", "start", "1")
    both = ("--created", "src/api.md", "--deleted", "src//api.md")
    words = "is said to be created and deleted; say which"
    refuses(limiter, exits.INVALID, words, "step", "complete", "1", *both)
    words = "no file 'src/apis.md'; near: src/api.md"
    refuses(limiter, exits.NOT_FOUND, words, "step", "complete", "1", "--created", "src/apis.md")


@pytest.mark.parametrize("blank", [[], ["--warning", " ", "--interface", ""]])
def test_a_phase_that_says_nothing(limiter: Path, blank: list[str]) -> None:
    """It completes, and whoever completed it is told by which command it is reconciled."""
    good(limiter, "step", "start", "1")
    done = good(limiter, "step", "complete", "1", *blank)
    assert "step 1 complete" in done.out
    command = f"passdown step reconcile 1 --note NOTE -p {ID}"
    assert "nobody has said what it changed" in done.err
    assert command in done.err
    assert state(limiter)["steps"]["1"]["to_reconcile"] is True
    refuses(limiter, exits.INVALID, "what did step 1 change?", "step", "reconcile", "1")
    refuses(limiter, exits.INVALID, "what did step 1", "step", "reconcile", "1", "--note", " ")
    good(limiter, *command.split()[1:])
    step = state(limiter)["steps"]["1"]
    assert (step["to_reconcile"], step["reconciled"]) == (False, "NOTE")


def test_a_phase_is_reconciled_by_its_files(limiter: Path) -> None:
    """What a phase changed can be said after the fact, with the options of completing it."""
    good(limiter, "step", "start", "1")
    warned = good(limiter, "transition", "1", "2", "--json").json["warnings"]
    assert len(warned) == 1
    done = good(
        limiter, "step", "reconcile", "1", "--created", "src/api.md", "--warning", "x", "--json"
    )
    assert types(done) == ["files.changed", "step.reconciled"]
    assert state(limiter)["steps"]["1"]["to_reconcile"] is False
    assert state(limiter)["steps"]["1"]["downstream"]["warnings"] == ["x"]


def test_outputs(limiter: Path) -> None:
    """The output of an agent is recorded from an argument or from stdin, to the letter."""
    good(limiter, "step", "output", "1", "Two options.", "--agent", "architect")
    text = "## Phase 9: forged ✓\n---\n" * 1000
    good(limiter, "step", "output", "1", "-", stdin=text.encode())
    outputs = state(limiter)["outputs"]
    assert [(x["text"], x["agent"]) for x in outputs] == [("Two options.", "architect"), (text, "")]


STDIN = {
    "nothing": (b"", "there is no output on stdin"),
    "not UTF-8": (b"abc\xff", "is not UTF-8 at byte 3"),
    "too long": (b"x" * (2**20 + 1), "is longer than 1,048,576 bytes"),
    "too long as JSON": (b"\x01" * (2**20 - 9), "the limit is 1,048,576"),
    "NUL": (b"a\0b", "NUL"),
}


@pytest.mark.parametrize("kind", STDIN)
def test_an_output_that_cannot_be_recorded(limiter: Path, kind: str) -> None:
    """What is no text, or too much of it, is refused with what to do instead."""
    content, words = STDIN[kind]
    refuses(limiter, exits.INVALID, words, "step", "output", "1", "-", stdin=content)


def test_a_result_is_checked(limiter: Path) -> None:
    """Whether a phase passed its check is recorded with the details, once there is a result."""
    refuses(limiter, exits.REJECTED, "so there is no result", "step", "verify", "1", "--pass")
    good(limiter, "step", "start", "1")
    good(limiter, "step", "verify", "1", "--fail", "--details", "2 of 12 fail", "-a", "tester")
    verified = state(limiter)["steps"]["1"]["verified"]
    assert (verified["passed"], verified["details"]) == (False, "2 of 12 fail")
    assert verified["by"] == "tester"
    assert quick(limiter, "step", "verify", "1").code == exits.USAGE


def test_how_it_is_executed(limiter: Path) -> None:
    """What is chosen about the execution changes, the rest of it stays."""
    good(limiter, "execution", "--backend", "native", "--workflow-mode", "express")
    good(limiter, "execution", "--complexity", "complex")
    assert "already so" in good(limiter, "execution", "--mode", "parallel").out
    with Journal.open(limiter) as journal:
        chosen = journal.project(ID).state.execution
    assert chosen == e.Execution("parallel", "native", "express", "complex")
    refuses(limiter, exits.INVALID, "what is chosen?", "execution")


def test_only_an_orchestration_is_executed(tmp_path: Path) -> None:
    """Another project has no way of being executed that could be chosen."""
    good(tmp_path, "init", "shop")
    refuses(tmp_path, exits.REJECTED, "it is no orchestration", "execution", "--mode", "parallel")


# -- errors ----------------------------------------------------------------------------------


def test_each_failure_is_an_error_of_its_own(limiter: Path) -> None:
    """A retry resolves the error that it answers; after the last one a person must answer."""
    good(limiter, "step", "start", "1")
    for n in (1, 2):
        good(limiter, "step", "fail", "1", f"no {n}", "--kind", "timeout", "--agent", "architect")
        good(limiter, "step", "retry", "1", "--reason", f"again {n}")
    good(limiter, "step", "fail", "1", "no 3", "--agent", "architect")
    said = refuses(
        limiter,
        exits.REJECTED,
        "it failed after 2 of 2 retries; a person must decide",
        *("step", "retry", "1", "--reason", "once more"),
    )
    assert "allowed now: step retry 1 --approved-by PERSON, step skip 1 --actor PERSON" in said
    said = refuses(
        limiter,
        exits.REJECTED,
        "bob is not known as a person or maintainer, and one must approve",
        *("step", "retry", "1", "--approved-by", "bob"),
    )
    assert "`passdown actor register bob --role person`" in said
    good(limiter, "step", "retry", "1", "--approved-by", "ada", "--reason", "mended")
    errors = state(limiter)["errors"].values()
    assert [(x["message"], x["agent"], x["kind"], x["resolution"]) for x in errors] == [
        ("no 1", "architect", "timeout", "retried: again 1"),
        ("no 2", "architect", "timeout", "retried: again 2"),
        ("no 3", "architect", "runtime", "retried: mended"),
    ]
    assert state(limiter)["steps"]["1"]["retries"] == 3


def test_skipping_answers_an_error(limiter: Path) -> None:
    """A person who skips a failed phase has answered its error."""
    good(limiter, "step", "start", "1")
    good(limiter, "step", "fail", "1", "no")
    refuses(limiter, exits.REJECTED, "only a person skips a step here", "step", "skip", "1")
    good(limiter, "step", "skip", "1", "--reason", "not needed", "--actor", "ada")
    [error] = state(limiter)["errors"].values()
    assert error["resolution"] == "skipped: not needed"
    assert error["resolved"] is not None


@pytest.mark.parametrize(
    "kind", ["validation", "timeout", "file_conflict", "runtime", "dependency"]
)
def test_errors_of_a_phase(limiter: Path, kind: str) -> None:
    """An error beside a failure has agent, kind, phase and message, and is resolved by a word."""
    good(
        limiter,
        *("error", "record", "no answer", "--kind", kind, "--phase", "2", "--agent", "coder"),
    )
    [error] = state(limiter)["errors"].values()
    found = (error["agent"], error["kind"], error["message"], error["step"], error["resolved"])
    assert found == ("coder", kind, "no answer", "2", None)
    good(limiter, "error", "resolve", "E001", "--resolution", "a longer timeout")
    [error] = state(limiter)["errors"].values()
    assert error["resolution"] == "a longer timeout"


# -- adjusting -------------------------------------------------------------------------------


def test_a_phase_is_adjusted(limiter: Path) -> None:
    """What is given changes, what is not given stays, and '' empties a list."""
    good(limiter, "step", "adjust", "2", "--agent", "senior", "--name", "Limit calls")
    good(limiter, "step", "adjust", "2", "--team", "", "--file", "a.py", "--file", "b//c.py")
    good(limiter, "step", "adjust", "3", "--blocked-by", "", "--no-parallel", "--reason", "why not")
    steps = state(limiter)["steps"]
    two = steps["2"]
    assert (two["agent"], two["name"], two["team"]) == ("senior", "Limit calls", [])
    assert (two["files"], two["blocked_by"], two["parallel"]) == (["a.py", "b/c.py"], ["1"], True)
    assert (steps["3"]["blocked_by"], steps["3"]["parallel"]) == ([], False)


ADJUSTMENTS = {
    "2 --blocked-by 2": (exits.INVALID, "steps wait on each other: 2 → 2"),
    "2 --blocked-by 4": (exits.INVALID, "steps wait on each other: "),
    "2 --blocked-by 3": (exits.INVALID, "step 2 is to wait on step 3, which comes after it"),
    "2 --blocked-by 9": (exits.NOT_FOUND, "no step '9'"),
    "9 --agent x": (exits.NOT_FOUND, "no step '9'"),
    "2 --file ../x": (exits.INVALID, "is not inside the workspace"),
    "2 --reason x": (exits.INVALID, "what of step 2 is to be adjusted?"),
}


@pytest.mark.parametrize("words", ADJUSTMENTS)
def test_an_adjustment_that_is_none(limiter: Path, words: str) -> None:
    """What cannot be planned is refused."""
    refuses(limiter, *ADJUSTMENTS[words], "step", "adjust", *words.split())


def test_adjusting_what_failed_tries_it_again(limiter: Path) -> None:
    """A failed phase goes on with its new parameters, in one request; a person allows the third."""
    good(limiter, "step", "start", "1")
    for n in (1, 2):
        good(limiter, "step", "fail", "1", "no")
        words = ("step", "adjust", "1", "--agent", f"other-{n}", "--id", f"k{n}", "--json")
        assert types(good(limiter, *words)) == ["step.adjusted", "step.restarted"]
        assert good(limiter, *words).json["repeated"] is True
    good(limiter, "step", "fail", "1", "no")
    more = ("step", "adjust", "1", "--agent", "senior", "--reason", "harder")
    refuses(limiter, exits.REJECTED, "a person must decide", *more)
    good(limiter, *more, "--approved-by", "ada")
    step = state(limiter)["steps"]["1"]
    assert (step["agent"], step["status"], step["retries"]) == ("senior", "in_progress", 3)
    assert state(limiter)["errors"]["E003"]["resolution"] == "retried: harder"


def test_a_retry_waits_as_well(limiter: Path) -> None:
    """What a failed phase has been made to wait on comes first."""
    good(limiter, "step", "skip", "1", "--actor", "ada")
    good(limiter, "step", "start", "3")
    good(limiter, "step", "fail", "3", "no")
    good(limiter, "step", "start", "2")
    good(limiter, "step", "fail", "2", "no")
    words = "cannot retry step 3 of 2026-05-01-rate-limiter with what is asked before it: it waits"
    refuses(limiter, exits.REJECTED, words, "step", "adjust", "3", "--blocked-by", "2")


# -- tokens ----------------------------------------------------------------------------------


def spend(folder: Path, *rows: tuple[str, str, int]) -> None:
    """Record what so many calls cost: agent, phase, input tokens."""
    lines = [
        {"type": "tokens.used", "data": {"agent": agent, "step": step, "input": input}}
        for agent, step, input in rows
    ]
    good(folder, "append", "-", stdin="\n".join(map(json.dumps, lines)).encode())


def test_tokens_by_agent_and_by_phase(limiter: Path) -> None:
    """The table has agents and phases by what they cost, and what is nobody's as such."""
    spend(limiter, ("coder", "2", 60), ("tester", "2", 30), ("", "", 10), ("coder", "1", 0 + 20))
    answer = good(limiter, "tokens", "--json").json
    assert [(x["name"], x["input"]) for x in answer["agents"]] == [
        ("coder", 80),
        ("tester", 30),
        ("", 10),
    ]
    assert [(x["name"], x["input"]) for x in answer["steps"]] == [("2", 90), ("1", 20), ("", 10)]
    assert answer["total"]["input"] == 120
    shown = good(limiter, "tokens").out.splitlines()
    assert [line.split()[0] for line in shown] == [
        *("agent", "coder", "tester", "-", "phase", "2", "1", "-", "total")
    ]
    assert "2 Limit" in shown[5]
    assert shown[1].endswith("██████░░░░ 66%")


@pytest.mark.parametrize("agents", [0, 1, 500])
def test_tokens_of_many_agents(limiter: Path, agents: int) -> None:
    """The table is right for nobody, for one and for very many."""
    spend(limiter, *((f"agent-{n}", str(n % 4 + 1), 1) for n in range(agents)))
    answer = good(limiter, "tokens", "--json").json
    assert (len(answer["agents"]), answer["total"]["input"]) == (agents, agents)
    assert sum(x["input"] for x in answer["steps"]) == agents
    shown = good(limiter, "tokens").out.splitlines()
    assert len(shown) == (agents + min(agents, 4) + 3 if agents else 1)
    if agents == 500:
        assert shown[1].endswith("░░░░░░░░░░ <1%")


COUNTS = ["-1", str(2**53 + 1), "9" * 400, f"-{'9' * 400}"]


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("option", ["--input", "--output", "--cached"])
def test_a_count_that_cannot_be(limiter: Path, option: str, count: str) -> None:
    """A count below nothing, or beyond what one call could cost, is refused."""
    words = "cannot be what one call cost; it is 0 to 9,007,199,254,740,992"
    refuses(limiter, exits.INVALID, words, "tokens", "record", f"{option}={count}")
    good(limiter, "tokens", "record", f"{option}={2**53}")


def test_tokens_of_a_phase(limiter: Path) -> None:
    """Tokens belong to the phase that is named, else to the one that was started last."""
    good(limiter, "tokens", "record", "--input", "1", "--phase", "3", "--agent", "writer")
    good(limiter, "step", "start", "1")
    good(limiter, "tokens", "record", "--input", "2", "--actor", "architect")
    sums = state(limiter)["tokens"]
    assert {step: x["input"] for step, x in sums["by_step"].items()} == {"3": 1, "1": 2}
    assert {agent: x["input"] for agent, x in sums["by_agent"].items()} == {
        "writer": 1,
        "architect": 2,
    }
    refuses(
        limiter, exits.NOT_FOUND, "no step '9'", "tokens", "record", "--phase", "9", "--input", "1"
    )


# -- two at once -----------------------------------------------------------------------------

MANY = "name = 'many'\n[execution]\n" + "".join(
    f"[[steps]]\nkey = '{n}'\nname = 'Part {n}'\nparallel = true\n" for n in range(1, 101)
)
WORKER = """
import sys
from cli.app import run

first, agent = int(sys.argv[1]), sys.argv[2]
for key in map(str, range(first, 101, 2)):
    assert run(["step", "start", key, "--actor", agent]) == 0
    spent = ["--input", "3", "--output", "2", "--cached", "1"]
    assert run(["tokens", "record", *spent, "--phase", key, "--actor", agent]) == 0
"""


def test_two_orchestrators_at_once(tmp_path: Path) -> None:
    """Two processes with 50 transitions and 50 token entries each: all of them survive."""
    (tmp_path / "many.toml").write_text(MANY)
    good(tmp_path, "init", ID, "--workflow", "many.toml")
    command = [sys.executable, "-c", WORKER]
    both = [
        subprocess.Popen(
            [*command, str(n), f"agent-{n}"],
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        )
        for n in (1, 2)
    ]
    assert [(process.communicate()[1], process.returncode) for process in both] == [(b"", 0)] * 2
    assert statuses(tmp_path) == ["in_progress"] * 100
    answer = good(tmp_path, "tokens", "--json").json
    for each in ({**answer["total"], "of": 100}, *({**x, "of": 50} for x in answer["agents"])):
        of = each["of"]
        assert (each["input"], each["output"], each["cached"]) == (3 * of, 2 * of, of)
    assert [x["input"] for x in answer["steps"]] == [3] * 100
    assert good(tmp_path, "verify", "--json").json["ok"] is True


def test_two_that_want_the_same_phase(limiter: Path) -> None:
    """One completes a phase, the other is told that it is complete."""
    with Journal.open(limiter) as one, Journal.open(limiter) as other:
        first, second = one.project(ID), other.project(ID)
        first.start_step("1", actor="a")
        assert second.state.steps["1"].status == "in_progress"
        first.complete_step("1", actor="a")
        with pytest.raises(errors.Rejected, match="it is complete"):
            second.complete_step("1", actor="b")
