"""Random projects: hostile text, histories of every kind of event, and the states they fold to.

A history here is what the rules might admit and more: ids of new things are fresh, references go
to things that may or may not exist. The fold accepts all of it, so rendering must too.
"""

import json
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from msgspec.structs import replace

from journal import events as e
from journal.payload import encode
from journal.record import GENESIS, Draft, Record, link
from journal.request import Request, decided
from journal.state import Project, evolve

START = 1_767_261_600_000_000  # 2026-01-01T10:00:00Z
MINUTE = 60_000_000

APEX_STEPS = (
    e.StepPlan("1", "Requirements", "02-Requirements"),
    e.StepPlan("2", "Architecture", "03-Architect", checkpoints=("phase_1_prereqs", "phase_2_waf")),
    e.StepPlan("3", "Design", "04-Design", optional=True),
    e.StepPlan("3_5", "Governance", "04g-Governance"),
    e.StepPlan("4", "IaC Plan", "05-IaC Planner"),
    e.StepPlan(
        "5",
        "IaC Code",
        agent_when=(
            e.AgentWhen("iac_tool", "Bicep", "06b-Bicep CodeGen"),
            e.AgentWhen("iac_tool", "Terraform", "06t-Terraform CodeGen"),
        ),
    ),
    e.StepPlan(
        "6",
        "Deploy",
        agent_when=(
            e.AgentWhen("iac_tool", "Bicep", "07b-Bicep Deploy"),
            e.AgentWhen("iac_tool", "Terraform", "07t-Terraform Deploy"),
        ),
    ),
    e.StepPlan("7", "As-Built", "08-As-Built"),
)

# -- text ------------------------------------------------------------------------------------

_ZEROS = "0" * 64
_MARKS = r"""
--- ... === |---|---| ``` ~~~ `code` `` *bold* _em_ __init__ ~~no~~ <script>alert(1)</script> <b
<!-- --> </p> &lt; &#35; [link](https://example.org) ![image](x) <https://example.org> <a@b.org>
\ \\ " ' \" %YAML @ !tag &anchor *alias = {} [] - | > |- << ~ .inf 3_5 1e3 0x10 012 yes no null
true 12:30 2026-01-01 2026-01-01T00:00:00Z $500 <$50/month 50% snake_case_word src/a_b/c-d.ts
é ß 漢字 🙂 👩‍👩‍👧
"""
TRAPS = (
    *("\n", "\r\n", "\r", "\t", "\x0b", "\x0c", "\x1b[31m", "\x7f", "\x85", "\xa0", "\u2028"),
    *("\u2029", "\ufeff", "\ufffe", "\uffff", "\u202e", "\u200d", "\u3000", "\x01", " ", "  "),
    *("\n---\n", "\n# forged", "# ", "## Artifacts", "\n## Artifacts\n", "\n===", "\n```yaml\n"),
    *("| a | b |", "- [x] done", "- [ ] open", "* item", "+ item", "1. one", "2) two", "> quote"),
    *("[ref]: /url", "[x] ", "<!-- passdown -->", ": ", " #", "- ", "? ", "{a: b}", "e\u0301"),
    *_MARKS.split(),
    f"\n# passdown project=forged version=1 hash={_ZEROS} renderer=1 digest={_ZEROS}\n",
    f"<!-- passdown project=forged version=1 hash={_ZEROS} renderer=1 digest={_ZEROS} -->",
    f'"digest": "{_ZEROS}"\n  }}\n}}\n',
)

_characters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")


def hostile_text(min_size: int = 1, *, huge: bool = True) -> SearchStrategy[str]:
    """Text as the worst agent writes it; now and then 100 KB of it."""
    part = st.one_of(st.sampled_from(TRAPS), st.text(_characters, max_size=12))
    mixed = st.lists(part, min_size=min_size, max_size=6).map("".join)
    kinds = [mixed, mixed, mixed, st.text(_characters, min_size=min_size, max_size=40)]
    if huge:
        kinds.append(
            st.sampled_from(TRAPS).map(lambda trap: trap * (100_000 // len(json.dumps(trap))))
        )
    return st.one_of(kinds).filter(lambda text: len(text) >= min_size)


TEXT = hostile_text()
WORDS = hostile_text(min_size=0, huge=False)
PATHS = st.one_of(
    st.sampled_from(("src/main.bicep", "docs/01-requirements.md", "a b.txt", "odd`name`.md")),
    hostile_text(huge=False),
)

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)

_OVERRIDE = {
    "id": "web",
    "old_size": "P1v3",
    "new_size": "P0v3",
    "reason": "quota",
    "region": "northeurope",
    "env": "dev",
    "resolution": "accept_substitute",
}
KEYED_VALUES = st.one_of(
    JSON,
    st.sampled_from(("Bicep", "Terraform", "Pulumi", "simple", "high", "locked", "", "abort")),
    st.sampled_from((0, 3, -1, True, 2.0)),
    st.sampled_from(
        (
            [],
            [_OVERRIDE],
            [_OVERRIDE | {"resolved_at": "2026-01-01T10:00:00Z", "manifest_revision": 2}],
            [_OVERRIDE | {"env": "moon"}],
            [_OVERRIDE | {"reason": ""}],
            [_OVERRIDE | {"extra": 1}],
            [_OVERRIDE | {"resolved_at": "soon"}],
            [_OVERRIDE | {"manifest_revision": 0}],
        )
    ),
)

# -- events ----------------------------------------------------------------------------------


def _ids(form: str) -> SearchStrategy[str]:
    return st.sampled_from([form.format(number) for number in range(1, 4)])


_STEPS = st.sampled_from([plan.key for plan in APEX_STEPS])
_STEP_OR_NONE = st.one_of(st.just(""), _STEPS)
_AGENTS = st.sampled_from(("", "worker-abc", "06b-Bicep CodeGen", "agent: yes", "ünïcode"))
_KEYS = st.one_of(
    st.sampled_from(
        (
            *("region", "compliance", "budget", "complexity", "iac_tool", "architecture_pattern"),
            *("deployment_strategy", "sku_manifest_status", "sku_manifest_revision"),
            *("sku_overrides", "sku_conflict_resolution", "sku_note", "_passdown"),
        )
    ),
    WORDS,
)
_TEXTS = st.lists(WORDS, max_size=3).map(tuple)
_SMALL = st.integers(0, 5)
_TASKS = _ids("T{:03}")
_SESSIONS = _ids("session-{:03}")

_DOWNSTREAM = st.builds(e.Downstream, *[_TEXTS] * 5) | st.just(e.Downstream())
_EXECUTIONS = st.builds(
    e.Execution, st.sampled_from(("", "sequential", "parallel")), WORDS, WORDS, WORDS
)

_MESSAGES = st.sampled_from([f"MSG-20260101-{number:03}" for number in range(1, 4)])
_REVISION = "REV-20260101-snapshot-worker-abc-01-h0a1b2c3d"
_PAYLOADS = st.builds(e.Payload, TEXT, st.just("REV-20260101-parser-01-h0a1b2c3d"))

#: By the name of the field; a class that means something else by a name is in _OWN.
_FIELDS: dict[str, SearchStrategy[Any]] = {
    "actor": st.sampled_from(("ada", "worker-abc")),
    "affects": _TEXTS,
    "agent": _AGENTS,
    "alternatives": _TEXTS,
    "action": TEXT,
    "answer": TEXT,
    "approved_by": _AGENTS,
    "artifacts": st.lists(PATHS, max_size=4).map(tuple),
    "batch": st.sampled_from(("", "b1")),
    "before": st.one_of(st.just(""), _ids("TURN-{:03}")),
    "blocked_by": st.none() | st.lists(_STEPS, max_size=2).map(tuple),
    "blocker": _ids("block-{:03}"),
    "branch": WORDS,
    "body": TEXT,
    "by": st.one_of(st.just(""), _ids("D{:03}")),
    "cached": _SMALL,
    "change": st.sampled_from(("created", "modified", "deleted")),
    "checkpoint": st.one_of(st.sampled_from(("phase_1_prereqs", "phase_2_waf")), TEXT),
    "close_reason": st.sampled_from(("completed", "timeout")),
    "closure_owner": _AGENTS,
    "commitment": _ids("C{:03}"),
    "choice": WORDS,
    "completed": _TEXTS,
    "complexity": WORDS,
    "context_files": st.lists(PATHS, max_size=3).map(tuple),
    "context_usage": st.none() | st.floats(0, 1),
    "continues": st.one_of(st.just(""), _SESSIONS),
    "coordination": st.sampled_from(
        (None, e.Coordination("ada"), e.Coordination("ada", "desk/", revision=7))
    ),
    "decision": _ids("D{:03}"),
    "depends_on": st.lists(_TASKS, max_size=2).map(tuple),
    "description": TEXT,
    "detail": WORDS,
    "details": WORDS,
    "digest": st.just(""),
    "disposition": st.sampled_from(("resolved", "superseded")),
    "due": st.sampled_from(("", "none", "next session", "2026-01-02T00:00:00Z")),
    "entries": st.lists(_ids("W{:03}"), max_size=2).map(tuple),
    "entry": _ids("W{:03}"),
    "downstream": _DOWNSTREAM,
    "error": _ids("E{:03}"),
    "escalation": _ids("ESC-{:03}"),
    "execution": st.none() | _EXECUTIONS,
    "file": st.one_of(st.just(""), PATHS),
    "files": st.just(()),
    "finding": _ids("F{:03}"),
    "format": st.sampled_from(("", "1.0", "3.0")),
    "gate": TEXT,
    "handoff_reason": WORDS,
    "handoff": st.none() | st.builds(e.Handoff, WORDS, _TEXTS, WORDS, WORDS, _AGENTS),
    "hook": st.sampled_from(("", "claude-code Stop")),
    "host": st.sampled_from(("", "host-1")),
    "impact": WORDS,
    "input": _SMALL,
    "issues": _TEXTS,
    "kept": WORDS,
    "key": _KEYS,
    "kind": st.sampled_from(("validation", "timeout", "runtime")),
    "message": _MESSAGES,
    "mode": st.sampled_from(("retry", "rerun")),
    "models_used": _TEXTS,
    "moves": st.lists(st.builds(e.Move, PATHS, PATHS), max_size=2).map(tuple),
    "name": TEXT,
    "native": WORDS,
    "next_action": WORDS,
    "note": WORDS,
    "notes": WORDS,
    "number": _SMALL,
    "originals": st.just(()),
    "output": _SMALL,
    "archived": st.booleans(),
    "over": st.booleans(),
    "parallel": st.none() | st.booleans(),
    "passed": st.booleans(),
    "passes_executed": _SMALL,
    "passes_planned": _SMALL,
    "path": PATHS,
    "payload": st.none() | _PAYLOADS,
    "phase": TEXT,
    "plan": st.sampled_from(("1-1", "2-1", "2-2")),
    "policy": st.sampled_from((e.Policy(), e.Policy(manifest=True))),
    "priority": st.sampled_from(("P0", "P1", "P2")),
    "projection": st.sampled_from(("session-state", "active-session")),
    "question": _ids("OQ-{:03}"),
    "rationale": WORDS,
    "refers": st.lists(_ids("W{:03}"), max_size=2).map(tuple),
    "related": st.lists(_MESSAGES, max_size=2).map(tuple),
    "reason": WORDS,
    "records": st.just(()),
    "resolution": WORDS,
    "retries": st.none() | _SMALL,
    "reversible": st.none() | st.booleans(),
    "revision": _SMALL,
    "revisions": _SMALL,
    "role": st.sampled_from(("person", "agent")),
    # Longer than any history here, in which time goes on, where a journal's clock may stand still.
    "seconds": st.sampled_from((7_200, 86_400)),
    "sequence": _SMALL,
    "session": _SESSIONS,
    "severity": st.sampled_from(("must_fix", "must_fix", "should_fix", "consider")),
    "skip_reasons": _TEXTS,
    "signal": _ids("SIG-{:03}"),
    "skipped": _TEXTS,
    "snapshot": st.sampled_from(("", _REVISION)),
    "source": WORDS,
    "status": st.sampled_from(("idle", "active")),
    "step": _STEPS,
    "steps": st.just(APEX_STEPS),
    "subject": TEXT,
    "summary": WORDS,
    "task": _TASKS,
    "team": st.none() | _TEXTS,
    "tasks": st.lists(_TASKS, max_size=2).map(tuple),
    "text": TEXT,
    "title": TEXT,
    "to": st.sampled_from(("ada", "worker-abc", "worker-def")),
    "token": st.sampled_from(("t-1", "t-2", "t-3")),
    "turn": _ids("TURN-{:03}"),
    "unread": _SMALL,
    "value": KEYED_VALUES,
    "wave": _SMALL,
    "what": st.just("files"),
    "workaround": TEXT,
    "workflow": st.just("apex"),
}
_LATER_STEPS = st.builds(
    e.StepPlan,
    st.sampled_from(("1", "8", "9_1", "0")),
    st.one_of(st.sampled_from(("Deploy", "Retrospective")), TEXT),
)
_MOMENTS = st.none() | st.integers(START, START + 1000 * MINUTE)
_ONE_VALUE = st.tuples(KEYED_VALUES)
_OWN: dict[tuple[type[e.Event], str], SearchStrategy[Any]] = {
    (e.BriefShown, "left_out"): st.dictionaries(st.sampled_from(("findings", "load")), _SMALL),
    (e.BriefShown, "shown"): st.dictionaries(st.sampled_from(("findings", "load")), _TEXTS),
    (e.BriefShown, "version"): st.just(1),
    (e.ContextNoted, "kind"): st.sampled_from(("implementation", "next_step", "skill")),
    (e.ContextNoted, "step"): _STEP_OR_NONE,
    (e.DecisionMade, "kind"): st.none()
    | st.sampled_from(("technology", "architecture", "trade_off", "preference", "constraint")),
    (e.DecisionMade, "step"): _STEP_OR_NONE,
    (e.DecisionMade, "title"): WORDS,
    (e.LeftoversKept, "leftovers"): st.lists(
        st.builds(
            e.Leftover, st.tuples(st.sampled_from(("created", "team"))), st.just(""), _ONE_VALUE
        ),
        max_size=2,
    ).map(tuple),
    (e.DocumentRecorded, "kind"): st.sampled_from(("design", "plan")),
    (e.DocumentRecorded, "text"): WORDS,
    (e.ExecutionChosen, "execution"): _EXECUTIONS,
    (e.FilesChanged, "step"): _STEP_OR_NONE,
    (e.LeaseAcquired, "files"): st.lists(PATHS, max_size=2).map(tuple),
    (e.MessagePosted, "body"): WORDS,
    (e.MessagePosted, "kind"): st.sampled_from(("notify", "request", "decision-required")),
    (e.PhaseAdvanced, "step"): WORDS,
    (e.ProjectAdopted, "current"): _STEP_OR_NONE,
    (e.ProjectAdopted, "source"): TEXT,
    (e.ProjectAdopted, "base"): _SMALL,
    (e.ProjectAdopted, "tokens"): st.dictionaries(
        st.sampled_from(("", "coder")), st.tuples(_SMALL, _SMALL, _SMALL)
    ),
    (e.StepAdopted, "completed"): _MOMENTS,
    (e.StepAdopted, "started"): _MOMENTS,
    (e.StepAdopted, "status"): st.sampled_from(
        ("pending", "in_progress", "complete", "failed", "skipped")
    ),
    (e.StepAdopted, "sub_step"): st.none() | TEXT,
    (e.StepAdjusted, "files"): st.none() | st.lists(PATHS, max_size=3).map(tuple),
    (e.SessionNoted, "kind"): st.sampled_from(("note", "deviation", "issue")),
    (e.SessionStarted, "name"): st.sampled_from(("", "evening run")),
    (e.SignalSent, "detail"): WORDS,
    (e.SignalSent, "kind"): st.sampled_from(("ready", "blocked", "notify")),
    (e.SnapshotTaken, "heading"): st.sampled_from(("", "Session 4 Close Snapshot — Worker")),
    (e.SnapshotTaken, "status"): st.sampled_from(("complete", "partial", "blocked")),
    (e.SnapshotTaken, "task"): WORDS,
    (e.SnapshotTaken, "token"): st.just(_REVISION),
    (e.StepFailed, "message"): TEXT,
    (e.ErrorRecorded, "message"): TEXT,
    (e.StepPlanned, "plan"): _LATER_STEPS,
    (e.TaskAdded, "step"): _STEP_OR_NONE,
    (e.TaskCounted, "total"): _SMALL,
    (e.TaskCounted, "done"): _SMALL,
    (e.BlockerRaised, "workaround"): WORDS,
    (e.RecordRedacted, "reason"): TEXT,
    (e.ContextNoted, "contains"): WORDS,
}

_OWN |= {
    (cls, "reason"): TEXT
    for cls in e.VOCABULARY.values()
    if cls.type.startswith("message.") and "reason" in cls.__struct_fields__
}

#: The field that names the new thing, and the form of its id.
NEW: dict[type[e.Event], tuple[str, str]] = {
    e.DecisionMade: ("decision", "D{:03}"),
    e.FindingOpened: ("finding", "F{:03}"),
    e.ErrorRecorded: ("error", "E{:03}"),
    e.StepFailed: ("error", "E{:03}"),
    e.BlockerRaised: ("blocker", "block-{:03}"),
    e.SessionStarted: ("session", "session-{:03}"),
    e.QuestionOpened: ("question", "OQ-{:03}"),
    e.TaskAdded: ("task", "T{:03}"),
    e.MessagePosted: ("message", "MSG-20260101-{:03}"),
    e.CommitmentMade: ("commitment", "C{:03}"),
    e.WorklogEntryLogged: ("entry", "W{:03}"),
    e.TurnRequested: ("turn", "TURN-{:03}"),
    e.SignalSent: ("signal", "SIG-{:03}"),
    e.EscalationRaised: ("escalation", "ESC-{:03}"),
}


def events_of(cls: type[e.Event]) -> SearchStrategy[e.Event]:
    """Events of one type, with anything in their fields."""
    fields = {name: _OWN.get((cls, name), _FIELDS.get(name)) for name in cls.__struct_fields__}
    missing = [name for name, strategy in fields.items() if strategy is None]
    if missing:
        raise LookupError(f"say in strategies what {cls.__name__} has in {', '.join(missing)}")
    return st.builds(cls, **{name: s for name, s in fields.items() if s is not None})


@st.composite
def histories(draw: st.DrawFn, max_size: int = 20) -> list[e.Event]:
    """A project that was opened, and what happened to it, in any order."""
    later = [cls for cls in e.VOCABULARY.values() if cls is not e.ProjectOpened]
    kinds = draw(st.lists(st.sampled_from(later), max_size=max_size))
    events = [draw(events_of(e.ProjectOpened)), *(draw(events_of(cls)) for cls in kinds)]
    return numbered(events)


def numbered(events: list[e.Event]) -> list[e.Event]:
    """The events with fresh ids for whatever they bring into being."""
    counts: dict[str, int] = {}
    result = []
    for event in events:
        if type(event) in NEW:
            name, form = NEW[type(event)]
            counts[form] = counts.get(form, 0) + 1
            event = replace(event, **{name: form.format(counts[form])})
        result.append(event)
    return result


# -- records and states ----------------------------------------------------------------------


class Chain:
    """Events put on record one after the other, a minute apart."""

    def __init__(self, slug: str, at: int = START) -> None:
        self.project = Project(slug)
        self.records: list[Record] = []
        self.at = at

    def add(
        self,
        event: e.Event,
        actor: str | None = None,
        session: str | None = None,
        occurred: int | None = None,
    ) -> "Chain":
        """The chain with one more record."""
        number = len(self.records) + 1
        draft = Draft(
            id=f"01940000-0000-7000-8000-{number:012}",
            type=event.type,
            data=encode(event),
            salt=bytes(16),
            occurred=occurred,
            actor=actor,
            session=session,
        )
        previous = self.records[-1].hash if self.records else GENESIS
        record = link(draft, number, self.project.slug, number, previous, self.at)
        self.records.append(record)
        self.project = evolve(self.project, record)
        self.at += MINUTE
        return self

    def ask(self, request: Request) -> "Chain":
        """The chain with what the rules make of a request."""
        for asked, event, _ in list(decided(self.project, [request], self.at)):
            self.add(event, asked.actor, asked.session, asked.occurred)
        return self


@st.composite
def projects(draw: st.DrawFn, max_size: int = 20) -> Project:
    """A state of the apex workflow, folded from a random history."""
    slug = draw(st.sampled_from(("contoso", "a", "web-shop.v2", "0--x")))
    chain = Chain(slug)
    for event in draw(histories(max_size)):
        chain.add(
            event,
            actor=draw(st.one_of(st.none(), st.sampled_from(("ada", "worker-abc")))),
            session=draw(st.one_of(st.none(), _SESSIONS)),
            occurred=draw(st.one_of(st.none(), st.integers(0, START))),
        )
    return chain.project
