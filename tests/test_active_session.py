"""active-session.md: front matter of one mapping in two forms, and a body that nobody can forge."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import MINUTE, START, TRAPS, Chain, projects

from journal import events as e
from journal.state import Project
from journal.workflows import orchestration
from projections import stamp
from projections.active_session import FORMS, intact, read, render

GOLDEN = Path(__file__).with_name("golden")
TOP = [
    *("session_id", "task", "created", "updated", "status", "workflow_mode", "design_document"),
    *("implementation_plan", "current_phase", "total_phases", "execution_mode"),
    *("execution_backend", "current_batch", "task_complexity", "token_usage", "phases"),
    "_passdown",
]
PHASE = [
    *("id", "name", "status", "agents", "parallel", "started", "completed", "blocked_by"),
    *("files_created", "files_modified", "files_deleted", "planned_files", "downstream_context"),
    *("errors", "retry_count"),
]
STEPS = (
    e.StepPlan("1", "Design API", "architect", files=("docs/api.md",)),
    e.StepPlan("2", "Implement", "coder", team=("reviewer",), blocked_by=("1",), parallel=True),
    e.StepPlan("3", "Document", "writer", blocked_by=("1",), parallel=True),
)


def apart(content: bytes) -> tuple[str, str]:
    """Front matter and body, as the real tool takes them apart."""
    found = re.match(r"---\n(.*?)\n---\n(.*)", content.decode(), re.DOTALL)
    assert found
    return found[1], found[2]


def front(project: Project) -> Any:
    """The mapping that both forms carry."""
    shown = yaml.safe_load(apart(render(project))[0])
    other = json.loads(apart(render(project, "json"))[0])
    mark = re.compile("digest=[0-9a-f]{64}")
    mine, theirs = (mark.sub("", each.pop("_passdown")) for each in (shown, other))
    assert mine == theirs
    assert shown == other
    assert list(shown) == list(other)
    return shown


def body(project: Project) -> str:
    """What stands below the front matter."""
    return apart(render(project))[1]


def opened(*events: e.Event, steps: Any = STEPS, actor: str = "conductor") -> Project:
    """An orchestration to which these things happened, a minute apart."""
    flow = orchestration(steps)
    how = e.Execution("parallel", "native", "standard", "medium")
    chain = Chain("rate-limiter").add(
        e.ProjectOpened(
            "Rate limiter", flow.name, flow.steps, flow.policy, "2026-01-01-limit", execution=how
        )
    )
    for event in events:
        chain.add(event, actor)
    return chain.project


def orchestrated() -> Project:
    """An orchestration with something in every corner: retried, failed, skipped, written into."""
    return opened(
        e.DocumentRecorded("design", "plans/limit-design.md"),
        e.DocumentRecorded("plan", "plans/limit-impl-plan.md"),
        e.StepStarted("1"),
        e.StepFailed("1", "The host did not answer", "timeout", "architect", "E001"),
        e.ErrorResolved("E001", "asked again in the morning"),
        e.StepRestarted("1", "retry"),
        e.StepOutputRecorded("1", "Two calls:\n\n    check(key)\n    reset(key)\n", "architect"),
        e.FilesChanged("docs/api.md", "created", step="1"),
        e.TokensUsed(1200, 300, 90, agent="architect"),
        e.StepVerified("1", True, "Read by two people"),
        e.StepCompleted(
            "1",
            downstream=e.Downstream(
                ("RateLimiter.check(key)",), ("token bucket",), (), ("single node",), ()
            ),
        ),
        e.StepStarted("2", batch="b1"),
        e.StepStarted("3", batch="b1"),
        e.FilesChanged("src/limiter.js", "created", step="2"),
        e.FilesChanged("src/old_limiter.js", "deleted", step="2"),
        e.TokensUsed(2000, 800, agent="coder"),
        e.StepFailed("2", "Tests are red:\n## Phase 9: forged ✓", "validation", "coder", "E002"),
        e.StepVerified("2", False, "3 of 40 tests fail"),
        e.StepAdopted("4", "skipped"),
        e.LeftoversKept(
            "active-session",
            (
                e.Leftover(("front", "schema_version"), "", (2,)),
                e.Leftover(("kept", "1"), "", ("\nAgreed with the *team* on Monday.\n",)),
            ),
        ),
        steps=(*STEPS, e.StepPlan("4", "Release", "shipper", blocked_by=("2", "3"))),
    )


@pytest.mark.parametrize("form", FORMS)
def test_golden_files(form: Any) -> None:
    """The example renders to the bytes that were read and accepted (PASSDOWN_GOLDEN=write)."""
    path = GOLDEN / f"orchestration-{form}-active-session.md"
    content = render(orchestrated(), form)
    if os.environ.get("PASSDOWN_GOLDEN") == "write":
        path.write_bytes(content)
    assert content == path.read_bytes()


# -- both forms ------------------------------------------------------------------------------


@settings(deadline=None, max_examples=200)
@given(projects())
def test_both_forms_carry_the_same_mapping(project: Project) -> None:
    """Block YAML and JSON are one mapping, its keys in the order that people know."""
    project = project.copy()
    project.leftovers.clear()
    shown = front(project)
    assert [*shown, "_passdown"] == TOP
    assert [list(phase)[: len(PHASE)] for phase in shown["phases"]] == [PHASE] * len(project.steps)
    assert shown["task"] == project.title
    assert [phase["name"] for phase in shown["phases"]] == [s.name for s in project.steps.values()]


@settings(deadline=None, max_examples=200)
@given(projects(), st.sampled_from(("yaml", "json")))
def test_what_is_rendered_is_intact_and_signed(project: Project, form: Any) -> None:
    """Every file proves which state it shows, and loses that with any change of it."""
    content = render(project, form)
    signed = stamp.read(content)
    assert intact(content)
    assert stamp.holds(content)
    assert signed is not None
    assert (signed.project, signed.version) == (project.slug, project.content_version)
    assert not stamp.holds(content + b"\n")
    assert not stamp.holds(content.replace(b"Orchestration", b"Orchestratioo"))
    assert read(content).form == form


@settings(deadline=None, max_examples=200)
@given(projects())
def test_no_text_of_an_agent_forges_a_heading(project: Project) -> None:
    """Of the lines of the body only ours begin with a mark of markdown."""
    lines = body(project).split("\n")
    assert "\r" not in body(project)
    assert sum(line.startswith("# ") for line in lines) == 1
    assert sum(line.startswith("## ") for line in lines) == len(project.steps)
    known = re.compile(
        r"|# .* Orchestration Log|## Phase [0-9]+: .* [✓○✗□–]|### (.* )?Output|### Files Changed"
        r"|### Downstream Context|### Validation Result|    .*|- (Created|Modified|Deleted): `.*"
        r"|- (Interface|Pattern|Integration point|Assumption|Warning): .*|(Pass|Fail)(: .*)?"
    )
    assert [line for line in lines if not known.fullmatch(line)] == []


@pytest.mark.parametrize("trap", TRAPS)
def test_hostile_text_in_every_field(trap: str) -> None:
    """Text comes back to the letter from both forms, whatever is in it."""
    text = f"a{trap}b"
    left = e.Downstream((text,), (text,), (text,), (text,), (text,))
    project = opened(
        e.ProjectRetitled(text),
        e.StepAdjusted("1", text, text, (f"{text}2",)),
        e.StepStarted("1", batch=text),
        e.StepFailed("1", text, agent=text, error="E001"),
        e.ErrorResolved("E001", text),
        e.StepRestarted("1", "retry"),
        e.TokensUsed(1, agent=text),
        e.StepOutputRecorded("1", text, text),
        e.StepVerified("1", False, text),
        e.StepCompleted("1", downstream=left),
        e.StepReconciled("1", text),
    )
    shown = front(project)
    phase = shown["phases"][0]
    assert (shown["task"], shown["current_batch"], phase["name"]) == (text, text, text)
    assert list(shown["token_usage"]["by_agent"]) == [text]
    assert phase["agents"] == [text, f"{text}2"]
    assert set(map(tuple, phase["downstream_context"].values())) == {(text,)}
    (error,) = phase["errors"]
    assert (error["message"], error["agent"], error["resolution"]) == (text, text, text)
    for form in ("yaml", "json"):
        content = render(project, "json" if form == "json" else "yaml")
        again = read(content).document
        assert again["task"] == text
        assert stamp.holds(content)
        assert len([x for x in content.decode().splitlines() if x == "---"]) == 2


# -- what stands where -----------------------------------------------------------------------


def test_the_front_matter_of_an_orchestration() -> None:
    """Every field says what the state says: batches, agents, files, times, totals, errors."""
    project = opened(
        e.DocumentRecorded("plan", "plans/limit-impl-plan.md"),
        e.StepStarted("1", batch="b0"),
        e.TokensUsed(100, 20, 5, agent="architect"),
        e.TokensUsed(10, 2, agent="coder"),
        e.FilesChanged("docs/api.md", "created", step="1"),
        e.StepCompleted("1", downstream=e.Downstream(interfaces=("check(key)",))),
        e.StepStarted("2", batch="b1"),
        e.StepStarted("3", batch="b1"),
        e.StepFailed("3", "No time", "timeout", agent="writer", error="E001"),
    )
    shown = front(project)
    assert (shown["session_id"], shown["task"]) == ("2026-01-01-limit", "Rate limiter")
    assert (shown["status"], shown["workflow_mode"]) == ("in_progress", "standard")
    assert (shown["design_document"], shown["implementation_plan"]) == (
        None,
        "plans/limit-impl-plan.md",
    )
    assert (shown["current_phase"], shown["total_phases"], shown["current_batch"]) == (2, 3, "b1")
    assert shown["token_usage"] == {
        "total_input": 110,
        "total_output": 22,
        "total_cached": 5,
        "by_agent": {
            "architect": {"input": 100, "output": 20, "cached": 5},
            "coder": {"input": 10, "output": 2, "cached": 0},
        },
    }
    first, second, third = shown["phases"]
    assert (first["status"], first["requires_reconciliation"]) == ("completed", False)
    assert (first["files_created"], first["planned_files"]) == (["docs/api.md"], ["docs/api.md"])
    assert first["downstream_context"]["key_interfaces_introduced"] == ["check(key)"]
    assert (second["agents"], second["blocked_by"]) == (["coder", "reviewer"], [1])
    assert "requires_reconciliation" not in second
    assert (third["status"], third["errors"]) == (
        "failed",
        [
            {
                "agent": "writer",
                "timestamp": "2026-01-01T10:09:00Z",
                "type": "timeout",
                "message": "No time",
                "resolution": "pending",
                "resolved": False,
            }
        ],
    )


def test_what_its_tool_takes_for_given() -> None:
    """Mode and backend stand there although nobody chose them: the tool refuses a null there, and
    would have written these itself."""
    shown = front(Project("x", execution=e.Execution()))
    assert (shown["workflow_mode"], shown["execution_backend"]) == ("standard", "native")
    assert (shown["execution_mode"], shown["task_complexity"]) == (None, None)


def test_a_phase_that_said_nothing_is_to_be_reconciled() -> None:
    """Completed with neither files nor context it says so, until somebody said what it was."""
    silent = opened(e.StepStarted("1"), e.StepCompleted("1"))
    assert front(silent)["phases"][0]["requires_reconciliation"] is True
    told = opened(e.StepStarted("1"), e.StepCompleted("1"), e.StepReconciled("1", "no files"))
    assert front(told)["phases"][0]["requires_reconciliation"] is False
    assert front(told)["phases"][0]["reconciliation_reason"] == "no files"


def test_the_current_phase() -> None:
    """The lowest in progress, else the next one, else the last."""
    assert front(opened())["current_phase"] == 1
    both = (e.StepStarted("1"), e.StepCompleted("1"), e.StepStarted("3"))
    assert front(opened(*both))["current_phase"] == 3
    assert front(opened(*both, e.StepStarted("2")))["current_phase"] == 2
    assert front(opened(*both, e.StepCompleted("3")))["current_phase"] == 2
    done = (e.StepAdopted(key, "complete") for key in ("1", "2", "3"))
    assert front(opened(*done))["current_phase"] == 3


def test_phases_go_by_numbers() -> None:
    """A key that is a number is the id; where one is none, they are counted."""
    plain = (e.StepPlan("2", "A"), e.StepPlan("10", "B", blocked_by=("2",)))
    assert [p["id"] for p in front(opened(steps=plain))["phases"]] == [2, 10]
    odd = (*plain, e.StepPlan("3_5", "C"))
    shown = front(opened(steps=odd))["phases"]
    assert [(p["id"], p["name"], p["blocked_by"]) for p in shown] == [
        (1, "A", []),
        (2, "C", []),
        (3, "B", [1]),
    ]
    twice = (e.StepPlan("1", "A"), e.StepPlan("01", "B"))
    assert [p["id"] for p in front(opened(steps=twice))["phases"]] == [1, 2]


def test_archived_and_aborted() -> None:
    """The status is that of the whole, and documents are where they were moved to."""
    recorded = e.DocumentRecorded("design", "plans/a.md")
    moved = e.ProjectArchived(moves=(e.Move("plans/a.md", "plans/archive/a.md"),))
    archived = front(opened(recorded, moved))
    assert (archived["status"], archived["design_document"]) == ("completed", "plans/archive/a.md")
    assert front(opened(recorded, e.ProjectAborted()))["status"] == "aborted"
    assert front(opened(recorded, e.ProjectAborted(), moved))["status"] == "aborted"


def test_times_to_the_millisecond() -> None:
    """A fraction shows in three digits, a whole second in none."""
    chain = Chain("x", START + 107_999).add(e.ProjectOpened("X", "maestro", STEPS))
    assert front(chain.project)["created"] == "2026-01-01T10:00:00.107Z"
    chain.add(e.StepStarted("1"), occurred=START + MINUTE)
    assert front(chain.project)["phases"][0]["started"] == "2026-01-01T10:01:00Z"


def test_the_body() -> None:
    """A section for each phase, with what there is to say of it."""
    project = opened(
        e.StepStarted("1"),
        e.StepOutputRecorded("1", "Two calls:\n\n  check(key)\n# reset(key)", "architect"),
        e.FilesChanged("docs/api.md", "created", step="1"),
        e.FilesChanged("src/a.js", step="1"),
        e.StepVerified("1", True, "Reads well"),
        e.StepCompleted("1", downstream=e.Downstream(("check(key)",), warnings=("no *locks*",))),
        e.StepStarted("2"),
        e.StepAdopted("3", "skipped"),
    )
    assert body(project) == (
        "\n# Rate limiter Orchestration Log\n"
        "\n## Phase 1: Design API ✓\n"
        "\n### architect Output\n"
        "\n    Two calls:\n\n      check(key)\n    # reset(key)\n"
        "\n### Files Changed\n"
        "\n- Created: `docs/api.md`\n- Modified: `src/a.js`\n"
        "\n### Downstream Context\n"
        "\n- Interface: check(key)\n- Warning: no \\*locks\\*\n"
        "\n### Validation Result\n"
        "\nPass: Reads well\n"
        "\n## Phase 2: Implement ○\n"
        "\n## Phase 3: Document –\n"
    )


def test_long_outputs_are_cut() -> None:
    """Of a long output the beginning is shown, and the command that shows all of it."""
    shown = body(opened(e.StepOutputRecorded("1", "line\n" * 5000, "coder")))
    assert shown.count("    line\n") == 100
    assert "    … 4,900 more lines: passdown show --json -p rate-limiter\n" in shown


def test_many_files_are_cut_in_the_body_only() -> None:
    """The body names fifty files of a kind, the front matter all of them."""
    changed = [e.FilesChanged(f"src/{n:04}.js", step="1") for n in range(300)]
    project = opened(*changed)
    assert len(front(project)["phases"][0]["files_modified"]) == 300
    assert "`src/0049.js`, and 250 more\n" in body(project)


# -- the stamp -------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_a_stamp_in_the_body_is_none(form: Any) -> None:
    """Neither below the front matter nor in a text of it anything passes for the stamp."""
    project = opened(e.ProjectRetitled('x"\n_passdown: "y'), e.StepStarted("1"))
    content = render(project, form)
    forged = stamp.line(stamp.Stamp("forged", 1, "0" * 64, 1))
    for line in (f"# {forged}", f"<!-- {forged} -->", f'_passdown: "{forged}"'):
        signed = stamp.read(content + f"\n{line}\n".encode())
        assert signed is not None
        assert signed.project == "rate-limiter"
    bare = re.sub(rb'\n {0,2}"?_passdown"?: "[^\n]*', b"", content)
    assert bare != content
    assert stamp.read(bare + f"\n# {forged}\n<!-- {forged} -->\n".encode()) is None


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_a_cut_front_matter_has_no_stamp(form: Any) -> None:
    """Without the line that closes it nothing is front matter."""
    content = render(opened(), form)
    for end in range(content.index(b"\n---\n") + 4):
        assert stamp.read(content[:end]) is None
        assert not intact(content[:end])
