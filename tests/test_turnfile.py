"""TURNFILE.yaml: a shared workspace under every rule of the format, whatever is in it."""

import copy
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from strategies import MINUTE, START, TRAPS, Chain, events_of, hostile_text, numbered, projects
from turnfile_rules import SECTIONS, broken

from journal import events as e
from journal.errors import PassdownError
from journal.events import VOCABULARY
from journal.request import Request, decided, provisional
from journal.state import Project, evolve
from projections import turnfile
from projections.dialect import DIALECTS

GOLDEN = Path(__file__).with_name("golden") / "shared-TURNFILE.yaml"
#: The format's own linter, where somebody has put it; it is no part of this project.
REAL = Path(os.environ.get("TURNFILE_LINT", "/tmp/turnfile-real"))
OPENED = e.ProjectOpened("Tools", "shared", (), native="tools", coordination=e.Coordination("ada"))


def loaded(project: Project) -> Any:
    """The rendered file as any YAML reader has it; it breaks no rule."""
    content = turnfile.render(project)
    assert broken(content) == []
    return yaml.safe_load(content)


def shared(*events: e.Event, actor: str = "coder") -> Project:
    """A workspace of ada, coder and reviewer in which these things happened."""
    chain = Chain("tools").add(OPENED, "ada")
    for name in ("coder", "reviewer"):
        chain.add(e.ActorRegistered(name, "agent"), "ada")
    for event in events:
        chain.add(event, actor)
    return chain.project


def busy() -> Project:
    """A workspace with something in every section, as the golden file shows it."""
    chain = Chain("tools").add(OPENED, "ada")
    for name, role in (("coder", "agent"), ("reviewer", "agent"), ("auditor", "observer")):
        chain.add(e.ActorRegistered(name, role), "ada")  # type: ignore[arg-type]
    chain.add(e.PhaseAdvanced("build", "2.1", "the design is approved"), "ada")
    chain.add(e.SessionStarted("coder", "coder-session-3", session="session-001"), "coder")
    chain.add(e.SessionStarted("reviewer", session="session-002"), "reviewer")
    chain.add(e.TaskAdded("Draft the parser", "draft-parser", description="Spec: §2"), "ada")
    chain.add(e.TaskAdded("Review it", "T002", depends_on=("draft-parser",), priority="P0"), "ada")
    chain.add(e.TaskAdded('Say "yes": # & *all*\nof it', "T003"), "coder")
    chain.add(e.TaskStarted("draft-parser"), "coder")
    chain.add(e.TaskCompleted("draft-parser", "12 of 12 tests"), "coder")
    chain.add(e.TaskStarted("T003"), "coder")
    chain.add(e.BlockerRaised("No key", tasks=("T003",), blocker="block-001"), "coder")
    chain.add(e.TaskClaimed("T002"), "reviewer")
    lease = e.LeaseAcquired("worklog-edit", "", "reviewer", files=("WORKLOG.md",), revisions=2)
    chain.add(replace(lease, reason="to compact it"), "reviewer")
    chain.add(e.TurnRequested("merge the parser", priority="P0", turn="TURN-001"), "coder")
    chain.add(e.TurnRequested("read it", turn="TURN-002"), "ada")
    chain.add(e.SignalSent("ready", "reviewer", "the parser is in", signal="SIG-001"), "coder")
    chain.add(e.SignalSent("notify", detail="lunch", signal="SIG-002"), "ada")
    chain.add(e.SessionEnded("session-002"), "reviewer")
    return chain.project


def test_golden_file() -> None:
    """The example renders to the bytes that were read and accepted (PASSDOWN_GOLDEN=write)."""
    content = turnfile.render(busy())
    if os.environ.get("PASSDOWN_GOLDEN") == "write":
        GOLDEN.write_bytes(content)
    assert content == GOLDEN.read_bytes()
    assert broken(content) == []


# -- any state -------------------------------------------------------------------------------


@settings(deadline=None, max_examples=300)
@given(projects())
def test_any_history_conforms(project: Project) -> None:
    """Whatever happened, in whatever order, the file breaks no rule, and the state is as it was."""
    before = copy.deepcopy(project)
    content = turnfile.render(project)
    assert project == before
    assert turnfile.render(before) == content
    assert broken(content) == []
    assert turnfile.intact(content)


_COORDINATING = [
    cls
    for cls in VOCABULARY.values()
    if cls.coordinates or cls.type.split(".")[0] in ("snapshot", "next_action")
]
#: What is most of it in a real workspace; the rest are as rare as they are there.
_COMMON: list[type[e.Event]] = [
    *(e.TaskAdded, e.TaskClaimed, e.TaskStarted, e.TaskCompleted, e.TaskBlocked),
    *(e.SessionStarted, e.LeaseAcquired, e.SignalSent, e.TurnRequested),
]


@st.composite
def requests(draw: st.DrawFn) -> list[Request]:
    """What anybody may ask for, allowed or not, in any order, with text of every kind."""
    kind = st.sampled_from(_COMMON) | st.sampled_from(_COORDINATING)
    events = numbered([draw(events_of(cls)) for cls in draw(st.lists(kind, max_size=30))])
    asked = []
    for event in events:
        who = draw(st.sampled_from(("coder", "coder", "reviewer", "ada", "worker-abc")))
        if hasattr(event, "agent"):
            event = replace(event, agent=who)
        match event:
            case e.LeaseAcquired():
                token = draw(st.sampled_from(("l-1", "l-2", "l-3")))
                files = draw(st.sampled_from((("a.md",), ("b.md", "c.md"), event.files)))
                event = replace(event, step="", token=token, files=files)
            case e.TaskAdded():
                known = draw(st.sampled_from(((), (), event.depends_on)))
                event = replace(event, step="", plan="", depends_on=known)
        asked.append(Request(event, draw(st.sampled_from((who, who, None, "ada")))))
    return asked


def after(project: Project, asked: list[Request], now: int = START) -> Project:
    """The project after every request that the rules admit."""
    for n, request in enumerate(asked):
        try:
            made = list(decided(project, [request], now + n * MINUTE))
        except PassdownError:
            continue
        for each, x, payload in made:
            evolve(project, provisional(project, each, x.type, payload, now + n * MINUTE))
    return project


@settings(deadline=None, max_examples=300)
@given(requests())
def test_any_requests_conform(asked: list[Request]) -> None:
    """Any sequence of requests to a shared workspace leaves a file that breaks no rule."""
    project = shared()
    before = turnfile.render(project)
    revision = project.revision
    after(project, asked)
    found = loaded(project)
    assert found["coordination"]["revision"] == project.revision >= revision
    if project.revision == revision:
        assert yaml.safe_load(before)["locks"] == found["locks"]


@settings(deadline=None, max_examples=200)
@given(hostile_text(), hostile_text(huge=False))
@example('"\n---\nagents: {}\n', "\u0085\u2028\ufeff")
@example(" &anchor *alias", "- [x] done")
def test_any_text_is_text(text: str, other: str) -> None:
    """What agents write is read back to the letter, and nothing of it becomes a key."""
    project = shared(
        e.TaskAdded(text, "T001", description=other),
        e.SignalSent("notify", detail=text, signal="SIG-001"),
        e.TurnRequested(text, turn="TURN-001"),
        e.LeaseAcquired("l-1", files=("a",), reason=text),
    )
    found = loaded(project)
    task = found["coordination"]["tasks"]["T001"]
    assert (task["description"], task["notes"]) == (text, other)
    assert found["messages"][0]["detail"] == text
    assert found["turn_queue"][0]["action"] == text
    assert found["locks"]["l-1"]["reason"] == text


def test_other_readers_read_the_same(tmp_path: Path) -> None:
    """js-yaml and node's yaml load what PyYAML does, and the format's own linter is content."""
    if not ((REAL / "node_modules/js-yaml").exists() and shutil.which("node")):
        pytest.skip("no node with js-yaml and the real linter here: set TURNFILE_LINT")
    states = [busy(), shared()]
    for n, trap in enumerate(TRAPS):
        signal = e.SignalSent("ready", detail=trap, signal="SIG-001")
        states.append(shared(e.TaskAdded(f"a{trap}b", f"T{n}"), signal))
    for n, state in enumerate(states):
        content = turnfile.render(state)
        (tmp_path / f"{n}.yaml").write_bytes(content)
        (tmp_path / f"{n}.json").write_text(json.dumps(yaml.safe_load(content)))
    read = ["node", str(REAL / "many.mjs"), str(tmp_path)]
    assert subprocess.run(read, check=False).returncode == 0
    for n in (0, 1, 5):
        words = ("--turnfile", str(tmp_path / f"{n}.yaml"))
        lint = ["node", str(REAL / "tools/turnfile-lint.mjs"), *words]
        schema = ("--schema", str(REAL / "turnfile-v0.schema.json"))
        done = subprocess.run([*lint, *schema], capture_output=True, text=True, check=False)
        assert done.stdout.endswith("LINT PASSED\n"), done


# -- what it says ----------------------------------------------------------------------------


def test_a_fresh_workspace() -> None:
    """Before anybody is there the file is complete: its only agent is who maintains it."""
    found = loaded(Chain("tools").add(OPENED, "ada").project)
    assert list(found) == SECTIONS
    assert found["agents"] == {
        "maintainer": {
            "role": "maintainer",
            "status": "active",
            "current_task": None,
            "last_seen": None,
            "session_id": None,
        }
    }
    assert found["maintainer"] == {"id": "ada", "status": "available", "last_seen": ""}
    assert found["coordination"] == {
        "revision": 0,
        "active_phase": "none",
        "active_step": "none",
        "tasks": {},
    }
    assert (found["locks"], found["turn_queue"], found["messages"]) == ({}, [], [])


def test_an_agent_is_at_its_task() -> None:
    """The task that was begun last, blocked or not; none once it is done or given back."""
    begun = (e.TaskAdded("One", "T1"), e.TaskAdded("Two", "T2"), e.TaskStarted("T1"))
    project = shared(*begun)
    assert loaded(project)["agents"]["coder"]["current_task"] == "T1"
    blocked = shared(*begun, e.BlockerRaised("No key", tasks=("T1",), blocker="b"))
    found = loaded(blocked)
    assert found["agents"]["coder"]["current_task"] == "T1"
    task = found["coordination"]["tasks"]["T1"]
    assert (task["status"], task["notes"]) == ("blocked", "Blocked: No key")
    for last in (e.TaskCompleted("T1"), e.TaskReset("T1")):
        assert loaded(shared(*begun, last))["agents"]["coder"]["current_task"] is None


def test_tasks_have_the_revisions_of_what_became_of_them() -> None:
    """Created, claimed and completed are revisions; once it is open again only the first holds."""
    begun = (e.TaskAdded("One", "T1"), e.TaskClaimed("T1"), e.TaskStarted("T1"))
    task = loaded(shared(*begun, e.TaskCompleted("T1")))["coordination"]["tasks"]["T1"]
    assert (task["created_rev"], task["claim_rev"], task["completed_rev"]) == (3, 4, 6)
    task = loaded(shared(*begun, e.TaskReset("T1")))["coordination"]["tasks"]["T1"]
    assert (task["status"], task["owner"], task["claim_rev"]) == ("pending", "unassigned", None)


def test_a_lock_stands_until_somebody_ends_it() -> None:
    """A stale lease is still held, and so still a lock; released or taken over it is gone."""
    lease = e.LeaseAcquired("l-1", files=("a.md",), revisions=1)
    signals = [e.SignalSent("ready", signal=f"SIG-{n:03}") for n in (1, 2, 3)]
    found = loaded(shared(lease, *signals))
    assert found["locks"]["l-1"]["acquired_rev"] + 1 < found["coordination"]["revision"]
    assert loaded(shared(lease, e.LeaseReleased("l-1")))["locks"] == {}
    assert loaded(shared(lease, e.LeaseExpired("l-1")))["locks"] == {}
    assert loaded(shared(e.LeaseAcquired("on-a-step", "2")))["locks"] == {}


def test_the_maintainer_goes_by_that_word() -> None:
    """As owner, sender, holder and creator; the id stands in the section of its own."""
    project = shared(
        e.TaskAdded("Approve", "T1"),
        e.TaskClaimed("T1"),
        e.SignalSent("notify", signal="SIG-001"),
        e.LeaseAcquired("l-1", files=("a",)),
        actor="ada",
    )
    found = loaded(project)
    task = found["coordination"]["tasks"]["T1"]
    assert {task["owner"], task["created_by"], found["messages"][0]["from"]} == {"maintainer"}
    assert found["locks"]["l-1"]["holder"] == found["messages"][0]["from"]
    assert "ada" not in found["agents"]


def test_heartbeats_change_nothing() -> None:
    """Signs of life are no writes: neither the file nor its revision changes by them."""
    begun = shared(e.SessionStarted("coder", session="session-001"))
    later = shared(
        e.SessionStarted("coder", session="session-001"), e.SessionHeartbeat("session-001")
    )
    assert turnfile.render(later) == turnfile.render(begun)


def test_it_does_not_grow_without_end() -> None:
    """Of signals and of tasks that are done the newest stand in the file, and whatever is open."""
    events: list[e.Event] = [e.SignalSent("ready", agent="reviewer", signal="SIG-000001")]
    events += [e.SignalSent("notify", signal=f"SIG-{n:06}") for n in range(2, 2_000)]
    for n in range(2_000):
        events += [e.TaskAdded(f"Task {n}", f"T{n}"), e.TaskClaimed(f"T{n}")]
        events += [e.TaskCompleted(f"T{n}")] if n % 20 else []
    events.append(e.TaskAdded("Last", "last", depends_on=("T1", "T1999")))
    project = shared(*events)
    found = loaded(project)
    numbers = [int(signal["id"].removeprefix("SIG-")) for signal in found["messages"]]
    assert numbers == [*range(1_999, 1_999 - turnfile.SIGNALS, -1), 1]
    tasks = found["coordination"]["tasks"]
    done = [id for id, task in tasks.items() if task["status"] == "done"]
    assert len(done) == turnfile.DONE
    assert done[-1] == "T1999"
    assert len(tasks) == turnfile.DONE + 100 + 1
    assert tasks["last"]["depends_on"] == ["T1999"]
    assert len(turnfile.render(project)) < 150_000


def test_a_shared_workspace_has_it_and_others_do_not() -> None:
    """The file belongs to workspaces that agents share, in their folder."""
    dialect = DIALECTS[turnfile.NAME]
    assert (dialect.path, dialect.renderer) == ("{workspace}/TURNFILE.yaml", turnfile.RENDERER)
    assert dialect.usual(shared())
    plain = e.ProjectOpened("Tools", "generic", ())
    assert not dialect.usual(Chain("tools").add(plain, "ada").project)
