"""The vocabulary: every event is folded, ruled, described, named well, and readable for ever."""

import ast
import hashlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from examples import rich
from strategies import Chain

from cli.describe import describe, described
from journal import Project, payload
from journal import events as e
from journal.errors import JournalNewer
from journal.rules import ruled
from journal.state import FOLD, folded

GOLDEN = Path(__file__).with_name("golden")
CORPUS = GOLDEN / "records-1.jsonl"
FOLDED = GOLDEN / "fold.json"
ROOT = Path(__file__).parent.parent
every_event = pytest.mark.parametrize("cls", e.VOCABULARY.values(), ids=e.VOCABULARY)

#: Section 4 of the design, as tags; titles may change by its section 2.
DESIGN = {
    "project": "opened adopted leftovers_kept archived aborted reopened recovered "
    "branch_switched gate_passed retitled execution_chosen",
    "document": "recorded",
    "actor": "registered status_changed",
    "step": "planned started adjusted checkpointed completed skipped failed restarted adopted "
    "verified reconciled output_recorded",
    "plan": "added started completed",
    "task": "added counted claimed started completed blocked unblocked reset",
    "decision": "made superseded",
    "finding": "opened resolved",
    "review": "recorded",
    "error": "recorded resolved",
    "blocker": "raised bypassed resolved",
    "files": "changed",
    "tokens": "used",
    "session": "started resumed heartbeat noted ended crashed",
    "snapshot": "taken",
    "brief": "shown",
    "message": "posted acknowledged blocked resumed actioned deferred closed",
    "commitment": "made fulfilled dropped",
    "question": "opened deferred resolved",
    "worklog": "entry_logged entry_completed compacted",
    "lease": "acquired renewed released expired",
    "turn": "requested taken withdrawn moved",
    "signal": "sent",
    "phase": "advanced",
    "escalation": "raised answered",
    "next_action": "set",
    "context": "noted",
    "projection": "drift_adopted drift_reverted",
    "record": "redacted",
}
#: Words that are past tense without ending in -ed, and the one that the design has as a noun.
IRREGULAR = {
    "chosen",
    "made",
    "withdrawn",
    "reset",
    "set",
    "sent",
    "shown",
    "taken",
    "heartbeat",
    "kept",
}

_PLAN = e.StepPlan(
    "2",
    "Architecture",
    "03-Architect",
    (e.AgentWhen("iac_tool", "Bicep", "06b-Bicep CodeGen"),),
    True,
    ("phase_1_prereqs", "phase_2_waf"),
    ("01-requirements.md",),
)
_DOWNSTREAM = e.Downstream(("check(key)",), ("buckets",), ("middleware",), ("one node",), ("slow",))
_FILE = e.RecoveredFile("STATE.md", "corrupt", ".passdown/lost/STATE.md.1")

#: One event of each type with every field set; order and content are frozen, add at the end.
EVERY: tuple[e.Event, ...] = (
    e.ProjectOpened(
        "Größe – “quoted” \\ \t é 🙂",
        "apex",
        (_PLAN,),
        e.Policy(False, 2, "person", False),
        "n-7",
        "main",
    ),
    e.ProjectArchived("done for now"),
    e.ProjectReopened("there is more"),
    e.ProjectRetitled("Orchard Market"),
    e.BranchSwitched("feature/orchard_market"),
    e.GatePassed("cost", "2", "below the budget"),
    e.ProjectRecovered("files", (_FILE,), "after a power cut"),
    e.ActorRegistered("ada", "maintainer", "Ada L."),
    e.ActorStatusChanged("ada", "blocked", "waits for a key"),
    e.StepPlanned(e.StepPlan("3_5", "Governance")),
    e.StepStarted("2", "03-Architect"),
    e.StepCheckpointed("2", "phase_2_waf", ("02.md", "a b.md"), ("01.md",)),
    e.StepCompleted("2", ("03.md",), ("04.md",), "two regions"),
    e.StepSkipped("3_5", "not needed"),
    e.StepFailed("2", "timed out\nafter 30 s", "timeout", "03-Architect", "E001"),
    e.StepRestarted("2", "rerun", "new prices", "ada", "04-Design"),
    e.StepVerified("2", True, "12 of 12"),
    e.StepReconciled("2", "one file more than reported"),
    e.StepOutputRecorded("2", "| a | b |", "03-Architect"),
    e.PlanAdded("2", "Network first", 1, "2-1"),
    e.PlanStarted("2-1"),
    e.PlanCompleted("2-1", "all of it"),
    e.TaskAdded("Private endpoints", "T001", "2", "2-1", 2, "P0", ("T000",), "three of them"),
    e.TaskClaimed("T001", "worker-abc"),
    e.TaskStarted("T001", "worker-abc"),
    e.TaskCompleted("T001", "reviewed"),
    e.TaskBlocked("T001", "block-001", "no credentials"),
    e.TaskUnblocked("T001", "they came"),
    e.TaskReset("T001", "the worker is gone"),
    e.DecisionMade(
        "Which tool",
        "Bicep",
        "the team knows it",
        "iac_tool",
        {"tool": "Bicep", "weights": [1, 2.5, None, True, "ß"]},
        ("Terraform: one more state file",),
        "step 5",
        False,
        "technology",
        "2",
        "03-Architect",
        "D001",
    ),
    e.DecisionSuperseded("D001", "D002", "the team changed"),
    e.FindingOpened("Public access", "should_fix", "2", "storage", "reviewer-a", "F001"),
    e.FindingResolved("F001", "closed", "D001"),
    e.ReviewRecorded("2", "standard", 2, 1, ("pass 2",), ("no findings",), ("reviewer-a",)),
    e.ErrorRecorded("no such SKU", "validation", "2", "T001", "worker-abc", "E002"),
    e.ErrorResolved("E002", "another SKU"),
    e.BlockerRaised("No credentials", ("Step 6",), ("T001",), "block-001", "a stub"),
    e.BlockerBypassed("block-001", "a stub", ("T002",)),
    e.BlockerResolved("block-001", "they came"),
    e.FilesChanged("infra/main.bicep", "created", "sha256:00", "the root module", "2"),
    e.TokensUsed(9007199254740992, 2, 3, "worker-abc", "2"),
    e.SessionStarted(
        "worker-abc",
        "evening run",
        "host-1",
        "again",
        "session-000",
        "session-001",
        "claude-code SessionStart",
    ),
    e.SessionHeartbeat("session-001", "claude-code PreCompact"),
    e.SessionNoted("the API moved", "deviation", "session-001"),
    e.SessionEnded(
        "session-001", ("step 2",), ("slow",), "clean", 0.62, "context is full", "claude-code Stop"
    ),
    e.SessionCrashed("session-001", "no sign of life"),
    e.QuestionOpened("Who owns the zone?", "review", "2", "OQ-001"),
    e.QuestionDeferred("OQ-001", "after step 4"),
    e.QuestionResolved("OQ-001", "the platform team"),
    e.NextActionSet("Mend the subnet.\nThen retry.", "worker-abc"),
    e.ContextNoted("next_step", "ask for quota", "2", "docs/quota.md", "quota ="),
    e.DriftReverted("STATE.md", ".passdown/lost/STATE.md.2"),
    e.LeaseAcquired("01980000-0000-7000-8000-000000000001", "2", "worker-abc", 60),
    e.LeaseRenewed("01980000-0000-7000-8000-000000000001", "2"),
    e.LeaseReleased("01980000-0000-7000-8000-000000000001", "2", "lunch"),
    e.LeaseExpired("01980000-0000-7000-8000-000000000001", "2", "worker-abc"),
    e.ProjectAdopted("agent-output/orchard/00-session-state.json", "00ff", "2.0", "3_5", "by hand"),
    e.LeftoversKept(
        "session-state",
        (e.Leftover(("steps", "2", "claim"), "0123456789abcdef", ({"owner": None},)),),
        (e.Original(("decisions", "complexity"), "high"),),
    ),
    e.StepAdopted("2", "complete", "03-Architect", "phase_2_waf", 1, 2, ("02.md",), ("01.md",)),
    e.DriftAdopted("agent-output/orchard/00-session-state.json", "00ff"),
    e.SessionResumed("session-001", "claude-code UserPromptSubmit"),
    e.BriefShown(
        7,
        "5" * 64,
        "worker-abc",
        "2",
        {"findings": ("F002", "F001"), "load": ("01-requirements.md",)},
        {"decisions": 4},
        "claude-code SessionStart",
    ),
    e.TaskCounted("2", 8, 5),
    # From here on also types that were frozen before, with the fields that came to them.
    e.ProjectOpened(
        "Rate limiter",
        "maestro",
        (
            e.StepPlan(
                "2",
                "Build",
                "coder",
                team=("tester",),
                blocked_by=("1",),
                parallel=True,
                files=("a",),
            ),
        ),
        e.Policy(False, 2, "person", False, True),
        "2026-01-01-rate-limiter",
        "main",
        e.Execution("parallel", "native", "standard", "medium"),
    ),
    e.ProjectArchived("all done", (e.Move("state/a.md", "state/archive/a.md"),)),
    e.ProjectAborted("out of budget"),
    e.ExecutionChosen(e.Execution("sequential", "native", "express", "simple")),
    e.DocumentRecorded("plan", "plans/impl.md", "00ff", "# Plan"),
    e.ProjectAdopted("state/a.md", "00ff", "json", "2", "by hand", "active-session"),
    e.StepStarted("2", "coder", "b1"),
    e.StepAdjusted(
        "2", "Build", "coder", ("tester",), ("1",), False, ("src/a.py",), "another approach"
    ),
    e.StepCompleted("2", ("03.md",), ("04.md",), "two regions", _DOWNSTREAM),
    e.StepReconciled("2", "one file more than reported", _DOWNSTREAM),
    e.StepAdopted("2", "failed", "coder", "phase_2_waf", 1, 2, ("02.md",), ("01.md",), 1),
    e.ProjectOpened(
        "Orchard",
        "shared",
        (_PLAN,),
        e.Policy(False, 2, "person", False, True),
        "orchard",
        "main",
        e.Execution("parallel"),
        e.Coordination("ada", "desk/", "0.2.0", "anyone", 3),
    ),
    e.LeaseAcquired("notes-1", "2", "worker-abc", 60, ("WORKLOG.md",), 3, "to compact"),
    e.TurnRequested("review the plan", "worker-abc", "P0", "TURN-001"),
    e.TurnTaken("TURN-001"),
    e.TurnWithdrawn("TURN-001", "not needed"),
    e.TurnMoved("TURN-001", "TURN-002", "it is urgent"),
    e.SignalSent("ready", "worker-def", "the schema is there", "worker-abc", "SIG-001"),
    e.PhaseAdvanced("phase-2", "2.1", "all reviews are in"),
    e.EscalationRaised("Schema review", "nobody read it", "MSG-20260208-001", "ESC-001"),
    e.EscalationAnswered("ESC-001", "worker-ghi takes it"),
    e.MessagePosted(
        "worker-def",
        "Schema review",
        "| a | b |\nplease look",
        "worker-abc",
        "decision-required",
        "P0",
        "ada",
        "next session",
        ("MSG-20260207-001",),
        e.Payload(
            "+ one line",
            "REV-20260208-schema-01-h2c26b46b",
            "full-text",
            ("schema.json",),
            "critical-only",
            "review-only",
        ),
        "REV-20260208-snapshot-worker-abc-01-h2c26b46b",
        "MSG-20260208-001",
    ),
    e.MessageAcknowledged("MSG-20260208-001", "read", "REV-20260208-schema-01-h2c26b46b"),
    e.MessageBlocked("MSG-20260208-001", "the schema is not there"),
    e.MessageResumed("MSG-20260208-001", "it is there"),
    e.MessageActioned("MSG-20260208-001", "reviewed", "REV-20260208-schema-01-h2c26b46b"),
    e.MessageDeferred("MSG-20260208-001", "until the release"),
    e.MessageClosed("MSG-20260208-001", "enough", "superseded"),
    e.CommitmentMade("review it next session", "ada", "worker-abc", "next session", "C001"),
    e.CommitmentFulfilled("C001", "done"),
    e.CommitmentDropped("C001", "overtaken"),
    e.SnapshotTaken(
        "### Active task\n\nnone",
        "worker-abc",
        "session-001",
        3,
        "timeout",
        "blocked",
        "T001",
        "wait",
        "main",
        "phase-2 / 2.1",
        42,
        1,
        2,
        "REV-20260208-snapshot-worker-abc-02-h2c26b46b",
    ),
    e.WorklogEntryLogged(
        "Schema reviewed",
        "two findings",
        "worker-abc",
        3,
        e.Handoff("Complete", ("schema.json",), "12 of 12", "none", "worker-def"),
        ("W001",),
        "W002",
    ),
    e.WorklogEntryCompleted("W002", "all of it"),
    e.WorklogCompacted(("W001", "W002"), "ada", "too long"),
    e.WorklogEntryLogged(
        "Schema drawn",
        "by hand",
        "worker-abc",
        2,
        e.Handoff("Complete", ("schema.svg",), "none", "none", "worker-def"),
        ("W001",),
        "W003",
        archived=True,
    ),
    e.ProjectOpened(
        "Orchard",
        "shared",
        (_PLAN,),
        e.Policy(False, 2, "person", False, True),
        "orchard",
        "main",
        e.Execution("parallel"),
        e.Coordination("ada", "desk/", "0.2.0", "anyone", 3, 41),
    ),
    e.LeaseAcquired("notes-2", "2", "worker-abc", 60, ("MAILBOX.md",), 3, "to compact", 40),
    e.ProjectAdopted("desk/TURNFILE.yaml", "00ff", "json", "2", "by hand", "turnfile", 42),
    e.ProjectAdopted(
        "state/a.md",
        "00ff",
        "json",
        "2",
        "by hand",
        "active-session",
        7,
        12,
        {"coder": (600, 50, 10), "": (900, 50, 10)},
    ),
    e.SessionStarted(
        "worker-abc",
        "morning run",
        "host-2",
        "as its file has it",
        "session-001",
        "session-002",
        "claude-code SessionStart",
        over=True,
    ),
    e.SnapshotTaken(
        "### Active task\n\nnone",
        "worker-abc",
        "session-002",
        4,
        "context-exhausted",
        "complete",
        "T001",
        "go on",
        "main",
        "phase-2 / 2.1",
        42,
        1,
        3,
        "REV-20260209-snapshot-worker-abc-03-h2c26b46b",
        "Session 4 Close Snapshot",
    ),
    e.RecordRedacted((e.Redacted(7, "0a" * 32), e.Redacted(9, "f1" * 32)), "a key was in it"),
)


# -- every event has its place ---------------------------------------------------------------


def test_the_fold_covers_the_vocabulary() -> None:
    """There is no event that the state ignores by oversight."""
    assert folded() == frozenset(e.VOCABULARY.values())


def test_the_rules_cover_the_vocabulary() -> None:
    """There is no event that nobody may ask for, and none that is let in unasked."""
    assert ruled() == frozenset(e.VOCABULARY.values())


def test_the_command_line_has_words_for_the_vocabulary() -> None:
    """There is no event that the log cannot tell a person, on one line."""
    assert described() == frozenset(e.VOCABULARY.values())
    for event in EVERY:
        assert describe(event).isprintable(), event


@every_event
def test_tags_are_a_noun_and_a_verb_in_the_past(cls: type[e.Event]) -> None:
    """A tag says what happened to what, in the words of the design."""
    noun, verb = re.fullmatch(r"([a-z_]+)\.([a-z_]+)", cls.type).groups()  # type: ignore[union-attr]
    assert verb in DESIGN[noun].split()
    last = verb.split("_")[-1]
    assert last.endswith("ed") or last in IRREGULAR


@every_event
def test_events_say_what_they_mean(cls: type[e.Event]) -> None:
    """Every event class has a docstring of its own that begins with one sentence."""
    text = cls.__dict__.get("__doc__") or ""
    assert re.match(r"[A-Z].*\.$", text.splitlines()[0]), text


@every_event
def test_events_are_frozen_and_omit_defaults(cls: type[e.Event]) -> None:
    """Facts do not change, and what was not said is not stored."""
    config = cls.__struct_config__
    assert (config.frozen, config.omit_defaults, config.forbid_unknown_fields) == (True, True, True)


def test_bookkeeping_is_what_the_design_says() -> None:
    """Only recovery, drift and signs of life leave projections as they are."""
    quiet = {tag for tag, cls in e.VOCABULARY.items() if cls.bookkeeping}
    allowed = re.compile(
        r"project\.recovered|projection\..+|record\..+|brief\.shown|.+\.heartbeat|lease\.renewed"
    )
    assert quiet == {tag for tag in e.VOCABULARY if allowed.fullmatch(tag)}


# -- who may import whom ---------------------------------------------------------------------

ALLOWED = {
    "journal": {"journal"},
    "projections": {"journal", "projections"},
    "cli": {"journal", "projections", "cli"},
}
PURE = (
    *("journal/events/*", "journal/rules/*", "journal/state/*"),
    *("journal/entities", "journal/payload", "journal/record", "journal/masking"),
    *("journal/blocking", "journal/supervision"),
    *("journal/merkle", "journal/note", "journal/seal", "journal/proof"),
    *(
        "projections/session_state/document",
        "projections/session_state/reading",
        "projections/session_state/rendering",
        "projections/leftovers",
        "projections/state_md/*",
        "projections/turnfile/*",
        "projections/handoff",
    ),
    *("projections/markdown", "projections/yaml", "projections/plans", "projections/remains"),
    *("projections/differences", "projections/protocol", "projections/orchestration"),
)
WORLD = {
    "fcntl",
    "io",
    "logging",
    "os",
    "pathlib",
    "random",
    "secrets",
    "shutil",
    "socket",
    "sqlite3",
}
WORLD |= {"subprocess", "sys", "tempfile", "threading", "time", "uuid"}


def imported(path: Path) -> Iterator[str]:
    """The full name of each module that a file imports, at its top or inside a function."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            yield node.module or ""


@pytest.mark.parametrize("package", ALLOWED)
def test_imports_point_downwards(package: str) -> None:
    """Nothing imports what is above it: cli over projections over journal."""
    modules = sorted((ROOT / package).rglob("*.py"))
    assert modules
    for path in modules:
        ours = {name.split(".")[0] for name in imported(path)} & set(ALLOWED)
        assert ours <= ALLOWED[package], path


@pytest.mark.parametrize("name", PURE)
def test_rules_fold_and_rendering_know_no_outside_world(name: str) -> None:
    """They import nothing with a clock, a file or chance in it, and open nothing."""
    modules = sorted(ROOT.glob(f"{name}.py"))
    assert modules
    for path in modules:
        assert not {module.split(".")[0] for module in imported(path)} & WORLD, path
        names = {n.id for n in ast.walk(ast.parse(path.read_bytes())) if isinstance(n, ast.Name)}
        assert not names & {"open", "print"}, path


# -- readable for ever -----------------------------------------------------------------------


def corpus() -> list[tuple[str, bytes]]:
    """The frozen records: tag and payload (PASSDOWN_GOLDEN=write adds what is new at the end)."""
    if os.environ.get("PASSDOWN_GOLDEN") == "write":
        lines = CORPUS.read_text().splitlines() if CORPUS.exists() else []
        for event in EVERY[len(lines) :]:
            line = {"type": event.type, "data": payload.encode(event).decode()}
            lines.append(json.dumps(line, ensure_ascii=False))
        CORPUS.write_text("\n".join(lines) + "\n")
    rows = [json.loads(line) for line in CORPUS.read_text().splitlines()]
    return [(row["type"], row["data"].encode()) for row in rows]


def test_the_corpus_has_a_record_of_each_type_with_every_field() -> None:
    """Whatever can be stored today is in the corpus, and none of it rests on a default."""
    newest = dict(corpus())
    assert sorted(newest) == sorted(e.VOCABULARY)
    for tag, data in newest.items():
        assert set(json.loads(data)) == set(e.VOCABULARY[tag].__struct_fields__), tag


def test_the_corpus_decodes_for_ever() -> None:
    """Stored bytes mean the same event as on the day they were frozen, and encode to themselves."""
    for (tag, data), event in zip(corpus(), EVERY, strict=True):
        assert payload.decode(tag, data) == event
        assert payload.encode(event) == data


def test_an_unknown_event_is_from_a_newer_passdown() -> None:
    """A type or a field that is not known is an error that says so, never skipped."""
    for tag, data in (("step.levitated", b"{}"), ("step.started", b'{"step":"1","height":3}')):
        with pytest.raises(JournalNewer, match="upgrade"):
            payload.decode(tag, data)


# -- the fold and its number -----------------------------------------------------------------


def digest(project: Project) -> str:
    """What a state comes to, in one line."""
    return hashlib.sha256(msgspec.json.encode(project)).hexdigest()


def digests() -> dict[str, str]:
    """The state after each record of the corpus, and that of the rich example."""
    chain = Chain("orchard-market")
    found = {}
    for tag, data in corpus():
        chain.add(payload.decode(tag, data), "ada", "evening run")
        found[tag] = digest(chain.project)
    return {**found, "examples.rich": digest(rich())}


def test_the_fold_changes_only_with_its_number() -> None:
    """A golden history folds to the pinned states; if it must not, FOLD goes up by one."""
    found = digests()
    pinned: dict[str, Any] = {"fold": 0, "states": {}}
    if FOLDED.exists():
        pinned = json.loads(FOLDED.read_text())
    if os.environ.get("PASSDOWN_GOLDEN") == "write":
        # Under the same number, only what is new may be added.
        kept = pinned["states"] if pinned["fold"] == FOLD else {}
        pinned = {"fold": FOLD, "states": {**found, **kept}}
        FOLDED.write_text(json.dumps(pinned, indent=2) + "\n")
    assert pinned["fold"] == FOLD, "FOLD was raised: PASSDOWN_GOLDEN=write pins the new states"
    changed = [name for name in found if found[name] != pinned["states"].get(name)]
    assert not changed, "cached states are now wrong: raise FOLD in journal/state.py"
