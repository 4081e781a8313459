"""An initiative: phases, plans, tasks and sessions, and where whoever comes next goes on."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from command import Result, good, quick
from strategies import Chain

from cli import exits
from journal import events as e
from projections.position import plan_ahead, task_ahead

PHASES = ("Schema", "JWT Implementation", "OAuth")


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """Three phases, and nothing was begun."""
    steps = [word for name in PHASES for word in ("--step", name)]
    good(tmp_path, "init", "shop", "--workflow", "generic", *steps)
    return tmp_path


@pytest.fixture
def shop(bare: Path) -> Path:
    """The second phase is in progress: four plans, the third at work, with two tasks."""
    say(bare, "step start 1", "transition 1 2")
    say(bare, *(f"plan add 2 'Plan {n}'" for n in (1, 2, 3, 4)))
    for number in (1, 2):
        say(bare, f"plan start 2-{number}", f"plan complete 2-{number}")
    say(bare, "plan start 2-3", "task add 'Rotate tokens' --plan 2-3")
    say(bare, "task add 'Detect reuse' --plan 2-3")
    return bare


def say(folder: Path, *lines: str) -> Result:
    """Type these commands; the answer to the last."""
    return [good(folder, *shlex.split(line)) for line in lines][-1]


def typed(folder: Path, command: str) -> Result:
    """Type a command that was given."""
    words = shlex.split(command)
    assert words[0] == "passdown"
    return good(folder, *words[1:])


def resume(folder: Path, *args: str) -> dict[str, Any]:
    """How to go on, as data."""
    found: dict[str, Any] = good(folder, "resume", *args, "--json").json
    return found


def state_md(folder: Path) -> dict[str, Any]:
    """What STATE.md says."""
    found: dict[str, Any] = yaml.safe_load((folder / ".planning/STATE.md").read_bytes())
    return found


def write(folder: Path, *names: str) -> None:
    """Files with something in them."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"# {name}\n")


# -- where to go on --------------------------------------------------------------------------


def test_resuming_says_where(shop: Path) -> None:
    """Phase, plan and task, with commands that are admitted until the plan and phase are done."""
    found = resume(shop)
    assert found["say"] == "Resuming from Phase 2, Plan 3, Task: Rotate tokens."
    typed(shop, found["command"])
    assert resume(shop)["say"].startswith("Resuming from Phase 2, Plan 3, Task: Rotate tokens.")
    told = []
    while resume(shop)["step"] == "2":
        told.append(resume(shop)["say"])
        typed(shop, resume(shop)["command"])
    assert told == [
        "Resuming from Phase 2, Plan 3, Task: Rotate tokens. Record when it is done.",
        "Resuming from Phase 2, Plan 3, Task: Detect reuse.",
        "Resuming from Phase 2, Plan 3, Task: Detect reuse. Record when it is done.",
        "Resuming from Phase 2, Plan 3.",
        "Resuming from Phase 2, Plan 4.",
        "Resuming from Phase 2, Plan 4.",
        "Restart step 2 JWT Implementation: it was begun and reached no checkpoint. "
        "Record when it is done.",
    ]


def test_what_is_decided_and_in_the_way_is_shown(shop: Path) -> None:
    """The brief has the decisions that were made and the blockers that are active."""
    say(shop, "decide 'Token storage' --choice 'httpOnly cookie' --rationale 'XSS'")
    say(shop, "blocker raise 'no OAuth keys' --affects 'Phase 3: OAuth'")
    say(shop, "blocker raise 'no designs'", "blocker resolve 2")
    shown = good(shop, "resume").out
    assert "Resuming from Phase 2, Plan 3, Task: Rotate tokens." in shown
    assert "## Decisions\n\n- D001 — Token storage: httpOnly cookie\n" in shown
    assert "## Active blockers\n\n- block-001 — no OAuth keys\n" in shown
    assert "no designs" not in shown


def test_a_task_that_another_has_claimed(shop: Path) -> None:
    """It is said who has claimed it; the command that starts it is that of its holder alone."""
    say(shop, "task claim T001 --actor worker-a")
    assert "It is claimed by worker-a." in resume(shop)["say"]
    assert resume(shop, "--agent", "worker-b")["command"] == ""
    assert resume(shop)["command"] == resume(shop, "--agent", "worker-a")["command"]
    typed(shop, resume(shop)["command"])


def test_the_plan_is_that_of_the_task(shop: Path) -> None:
    """The next task is of the plan at work, even if one of a later plan is more urgent."""
    say(shop, "task add 'Urgent' --plan 2-4 --priority P0")
    assert resume(shop)["say"] == "Resuming from Phase 2, Plan 3, Task: Rotate tokens."
    say(shop, "task start T003")
    assert resume(shop)["say"].startswith("Resuming from Phase 2, Plan 4, Task: Urgent.")


# -- which task ------------------------------------------------------------------------------


def ahead(*events: e.Event) -> str:
    """The task to go on with, once these things happened in the only phase."""
    chain = Chain("shop").add(e.ProjectOpened("Shop", "generic", (e.StepPlan("1", "Schema"),)))
    for event in (e.StepStarted("1"), *events):
        chain.add(event)
    found = task_ahead(chain.project, chain.project.steps["1"])
    return found.id if found else ""


def task(number: int, wave: int = 0, priority: e.Priority = "P1", after: int = 0) -> e.TaskAdded:
    """A task of the only phase."""
    needs = (f"T{after:03}",) if after else ()
    return e.TaskAdded(f"Task {number}", f"T{number:03}", "1", "", wave, priority, needs)


_THREE = [task(1), task(2), task(3)]


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([], ""),
        (_THREE, "T001"),
        ([*_THREE, e.TaskStarted("T002"), e.TaskReset("T002"), e.TaskStarted("T003")], "T003"),
        ([*_THREE, e.TaskClaimed("T003"), e.TaskStarted("T002")], "T002"),
        ([*_THREE, e.TaskStarted("T003"), e.TaskStarted("T002")], "T002"),
        ([*_THREE, e.TaskClaimed("T003")], "T003"),
        ([*_THREE, e.TaskStarted("T002"), e.TaskReset("T002")], "T002"),
        ([*_THREE, e.TaskClaimed("T002"), e.TaskReset("T002")], "T001"),
        ([task(1, 2), task(2, 1), task(3, 1, "P0")], "T003"),
        ([task(1, 2, "P0"), task(2, 1, "P2")], "T002"),
        ([task(1, 1, "P2"), task(2, 1, "P1")], "T002"),
        ([task(1, after=2), task(2, 3, "P2")], "T002"),
        ([task(1, after=2), task(2), e.TaskCompleted("T002")], "T001"),
        ([*_THREE, e.BlockerRaised("no keys", tasks=("T001",), blocker="b")], "T002"),
        (
            [
                *(*_THREE, e.TaskStarted("T002")),
                e.BlockerRaised("no keys", tasks=("T002",), blocker="b"),
            ],
            "T001",
        ),
        (
            [
                *(*_THREE, e.TaskStarted("T003"), e.TaskReset("T003")),
                e.BlockerRaised("no keys", tasks=("T003",), blocker="b"),
            ],
            "T001",
        ),
        ([task(1), e.BlockerRaised("no keys", tasks=("T001",), blocker="b")], ""),
    ],
)
def test_the_task_ahead(events: list[e.Event], expected: str) -> None:
    """At work, else interrupted, else by wave and priority; none that waits or is blocked."""
    assert ahead(*events) == expected


def test_the_plan_ahead() -> None:
    """That of the task ahead, else the one at work, else the next that is pending."""
    chain = Chain("shop").add(e.ProjectOpened("Shop", "generic", (e.StepPlan("1", "Schema"),)))

    def plan() -> int:
        found = plan_ahead(chain.project, chain.project.steps["1"])
        return found.number if found else 0

    assert plan() == 0
    for number in (2, 1, 3):
        chain.add(e.PlanAdded("1", "Plan", number, f"1-{number}"))
    assert plan() == 1
    chain.add(e.PlanStarted("1-2"))
    assert plan() == 2
    chain.add(e.TaskAdded("Task", "T001", "1", "1-3"))
    assert plan() == 3


# -- the files of plans ----------------------------------------------------------------------


def loaded(folder: Path) -> list[str]:
    """The files that the brief sends its reader to, without the state itself."""
    found = resume(folder)
    assert found["missing"] == []
    return [each["path"] for each in found["load"] if not each["path"].endswith("state.json")]


def test_the_plan_and_what_came_before_is_loaded(shop: Path) -> None:
    """The plan, and of the phase the summaries of earlier plans that exist; nothing else."""
    assert loaded(shop) == []
    names = ("2-3-PLAN", "2-1-SUMMARY", "2-3-SUMMARY", "2-4-SUMMARY", "2-1-PLAN", "1-1-SUMMARY")
    write(shop, *(f".planning/{name}.md" for name in names))
    assert loaded(shop) == [".planning/2-3-PLAN.md", ".planning/2-1-SUMMARY.md"]
    write(shop, ".planning/2-2-SUMMARY.md")
    assert loaded(shop)[1:] == [".planning/2-1-SUMMARY.md", ".planning/2-2-SUMMARY.md"]
    assert "- `.planning/2-3-PLAN.md` (about 7 tokens)" in good(shop, "resume").out


@pytest.mark.parametrize(
    ("folder", "plan", "summary", "paths"),
    [
        (
            ".planning/phases",
            "{phase:02}-{plan:02}-PLAN.md",
            "{phase:02}-{plan:02}-SUMMARY.md",
            (".planning/phases/02-03-PLAN.md", ".planning/phases/02-01-SUMMARY.md"),
        ),
        ("", "p{phase}/{plan}.md", "p{phase}/{plan}.done.md", ("p2/3.md", "p2/1.done.md")),
    ],
)
def test_plans_that_are_elsewhere(
    shop: Path, folder: str, plan: str, summary: str, paths: tuple[str, ...]
) -> None:
    """The settings say in which folder plans and summaries are, and what they are called."""
    (shop / "passdown.toml").write_text(
        f'[plans]\nfolder = "{folder}"\nplan = "{plan}"\nsummary = "{summary}"\n'
    )
    write(shop, *paths, ".planning/2-3-PLAN.md")
    good(shop, "sync")
    assert loaded(shop) == list(paths)


@pytest.mark.parametrize(
    "setting",
    [
        'plan = "{phase}-{number}.md"',
        'plan = "{0}.md"',
        'plan = "{phase"',
        'plan = "{phase[0]}.md"',
        'plan = "{phase:>99999999}"',
        'plan = "{phase.x}.md"',
        'plan = "{phase:02d}.md"',
        'plan = "{plan:x2}.md"',
        'summary = "{plan!z}.md"',
        'summary = "a\\u0007b"',
        'folder = "../elsewhere"',
        'folder = "/etc"',
        "plan = 3",
        'plans = "x"',
    ],
)
def test_patterns_that_name_no_file(shop: Path, setting: str) -> None:
    """Sync refuses them in a sentence; resume goes on as if nothing were set."""
    write(shop, ".planning/2-3-PLAN.md")
    (shop / "passdown.toml").write_text(f"[plans]\n{setting}\n")
    refused = quick(shop, "sync")
    assert refused.code in (exits.INVALID, exits.NOT_WELL)
    assert refused.err.startswith("passdown: passdown.toml: ")
    assert refused.err.count("\n") == 1
    assert loaded(shop) == [".planning/2-3-PLAN.md"]


# -- what is checked before work goes on -----------------------------------------------------


def test_files_that_are_not_as_they_were_left(shop: Path) -> None:
    """A file that was changed or is gone is flagged before the go-ahead; the same one is not."""
    write(shop, "same.py", "changed.py", "gone.py", "removed.py", "unsaid.py")
    say(shop, "session start --session s --actor ada")
    say(shop, "files modified same.py changed.py gone.py --session s")
    say(shop, "files deleted removed.py --session s", "session end s")
    assert resume(shop)["mismatches"] == []
    assert "as it was left" not in good(shop, "resume").out
    write(shop, "same.py")
    (shop / "changed.py").write_text("other\n")
    (shop / "unsaid.py").write_text("other\n")
    for name in ("gone.py", "removed.py"):
        (shop / name).unlink()
    found = {each["id"]: each["text"] for each in resume(shop)["mismatches"]}
    assert found.keys() == {"changed.py", "gone.py"}
    assert found["gone.py"] == "was modified in the last session, and is gone"
    assert re.fullmatch(
        "is not what was recorded: it was [0-9a-f]{12}, it is [0-9a-f]{12}", found["changed.py"]
    )
    shown = good(shop, "resume").out
    assert shown.index("look at what is not as it was left") < shown.index("Resuming from")
    assert "## Not as it was left\n\n- changed.py — is not what was recorded" in shown


def test_only_the_last_session_is_looked_at(shop: Path) -> None:
    """What an earlier session left may have changed since; a new session changes nothing of it."""
    write(shop, "a.py", "b.py")
    for session, name in (("one", "a.py"), ("two", "b.py")):
        say(shop, f"session start --session {session} --actor ada")
        say(shop, f"files modified {name} --session {session}", f"session end {session}")
    say(shop, "session start --session three --actor ada")
    (shop / "a.py").unlink()
    (shop / "b.py").unlink()
    assert [each["id"] for each in resume(shop)["mismatches"]] == ["b.py"]


@pytest.mark.parametrize(
    ("content", "why"), [("def other(): ...\n", "has it no more"), (None, "is gone")]
)
def test_implementations_that_are_not_there(shop: Path, content: str | None, why: str) -> None:
    """A note that rests on a text in a file is flagged when the file has it no more, or is gone."""
    file = shop / "rotate.py"
    file.write_text("def rotate(token): ...\n")
    text = "Rotation invalidates the old token"
    note = f"note '{text}' --kind implementation --file rotate.py"
    say(shop, f"{note} --contains 'def rotate'")
    file.write_text("\n\ndef rotate(token, now): ...\n")
    assert resume(shop)["mismatches"] == []
    if content is None:
        file.unlink()
    else:
        file.write_text(content)
    expected = {"id": "rotate.py", "text": f"“{text}” rests on “def rotate” in it: {why}"}
    assert resume(shop)["mismatches"] == [expected]
    assert why in good(shop, "resume").out


def test_a_text_in_no_file(shop: Path) -> None:
    """What a file should have needs a file; it is refused in a sentence that says how."""
    refused = quick(shop, "note", "x", "--kind", "implementation", "--contains", "def f")
    assert (refused.code, refused.out) == (exits.INVALID, "")
    assert refused.err == "passdown: in which file is 'def f'? name it with --file\n"


# -- sessions --------------------------------------------------------------------------------


def test_after_a_crash(shop: Path) -> None:
    """The next session takes up the crash and goes on with the task that was interrupted."""
    say(shop, "session start --session one --actor worker-a")
    say(shop, "task start T002 --actor worker-a --session one")
    say(shop, "session crash one --reason 'Agent unresponsive'", "task reset T002")
    found = good(shop, "resume", "--session", "two", "--agent", "worker-b", "--json").json
    assert found["say"].startswith(
        "Resuming from Phase 2, Plan 3, Task: Detect reuse. It was interrupted, and is open again."
    )
    assert state_md(shop)["position"]["task"] == "Detect reuse"
    first, second = state_md(shop)["sessions"]
    assert (first["status"], first["notes"]) == ("crashed", "Agent unresponsive")
    assert (second["status"], second["continues"]) == ("active", "session-001")
    assert second["notes"] == "Resuming from session-001 crash"
    typed(shop, found["command"])
    assert state_md(shop)["sessions"][1]["working_on"] == "Phase 2, T002: Detect reuse"


def test_an_agent_that_begins_anew(shop: Path) -> None:
    """Its open session is ended as superseded, and the new one continues it; others stay open."""
    say(shop, "session start --session one --actor ada", "session start --session b --actor bob")
    say(shop, "session start --session two --actor ada")
    first, other, second = state_md(shop)["sessions"]
    assert first["handoff_reason"] == "superseded by session-003"
    assert first["ended"] == second["started"]
    assert "status" not in first
    assert (other["status"], other.get("continues")) == ("active", None)
    assert (second["status"], second["continues"]) == ("active", "session-001")


# -- when STATE.md is updated, row by row ----------------------------------------------------

_BEGUN = ("step start 1", "task add A --step 1", "task add B --step 1", "next 'go on'")


@pytest.mark.parametrize(
    ("before", "command", "changed", "now"),
    [
        pytest.param(
            ("task add A --step 1",),
            "task start T001",
            {"position.task", "position.status"},
            {"position.task": "A", "position.status": "in_progress"},
            id="Task started",
        ),
        pytest.param(
            (*_BEGUN, "task start T001"),
            "task complete T001",
            {"progress.current_phase_completed", "progress.bar", "position.task"},
            {"progress.current_phase_completed": 1, "position.task": "B"},
            id="Task completed",
        ),
        pytest.param(
            _BEGUN,
            "decide Storage --choice cookie",
            {"decisions.D001"},
            {"decisions.D001.decision": "cookie"},
            id="Decision made",
        ),
        pytest.param(
            _BEGUN,
            "blocker raise 'no keys' --affects 'Phase 3: OAuth'",
            {"blockers.block-001"},
            {"blockers.block-001.status": "active"},
            id="Blocker encountered",
        ),
        pytest.param(
            (*_BEGUN, "blocker raise 'no keys' --affects 'Phase 3: OAuth'"),
            "blocker resolve 1",
            {"blockers.block-001"},
            {"blockers.block-001": None},
            id="Blocker resolved",
        ),
        pytest.param(
            _BEGUN,
            "session start --actor ada",
            {"sessions.session-001"},
            {"sessions.session-001.status": "active"},
            id="Session start",
        ),
        pytest.param(
            ("session start --actor ada",),
            "session end session-001 --completed 'Phase 1, Plan 1'",
            # The status of a session that has ended is that it has.
            {f"sessions.session-001.{key}" for key in ("ended", "completed", "status")},
            {
                "sessions.session-001.completed": ["Phase 1, Plan 1"],
                "sessions.session-001.status": None,
            },
            id="Session end",
        ),
        pytest.param(
            (
                *_BEGUN,
                *(f"task {verb} {id}" for id in ("1", "2") for verb in ("start", "complete")),
            ),
            "transition 1 2",
            # The counters are those of the phase that follows, which is the one that it is at.
            {
                *("progress.phases_completed", "progress.current_phase_tasks"),
                *("progress.current_phase_completed", "position.phase", "position.phase_name"),
            },
            {
                "progress.phases_completed": 1,
                "progress.current_phase_tasks": 0,
                "progress.current_phase_completed": 0,
            },
            id="Phase completed, and the next begun",
        ),
        pytest.param(
            (
                *_BEGUN,
                *(f"task {verb} {id}" for id in ("1", "2") for verb in ("start", "complete")),
            ),
            "step complete 1",
            {
                *("progress.phases_completed", "progress.current_phase_tasks"),
                *("progress.current_phase_completed", "position.status"),
            },
            {
                "progress.phases_completed": 1,
                "progress.current_phase_tasks": 0,
                "progress.current_phase_completed": 0,
            },
            id="Phase completed",
        ),
    ],
)
def test_what_an_event_updates(
    bare: Path, before: tuple[str, ...], command: str, changed: set[str], now: dict[str, Any]
) -> None:
    """Just the keys that are named change in STATE.md, and no other."""
    for line in before:
        say(bare, line)
    was = by_id(state_md(bare))
    say(bare, command)
    found = by_id(state_md(bare))
    assert set(differences(was, found)) == changed
    assert {path: at(found, path) for path in now} == now


def by_id(value: Any) -> Any:
    """The document with its entries by their ids."""
    if isinstance(value, list) and all(isinstance(each, dict) and "id" in each for each in value):
        return {each["id"]: by_id(each) for each in value}
    return {key: by_id(each) for key, each in value.items()} if isinstance(value, dict) else value


def differences(was: Any, now: Any, path: str = "") -> list[str]:
    """The places where two documents differ; an entry that only one has is one place."""
    if not (isinstance(was, dict) and isinstance(now, dict)):
        return [] if was == now else [path]
    inner = ((f"{path}.{key}".lstrip("."), was.get(key), now.get(key)) for key in {*was, *now})
    return [each for place, one, other in inner for each in differences(one, other, place)]


def at(document: Any, path: str) -> Any:
    """What stands at a place; None if nothing does."""
    for key in path.split("."):
        document = document.get(key) if isinstance(document, dict) else None
    return document
