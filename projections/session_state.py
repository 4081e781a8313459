"""Session state v3.0: `agent-output/{project}/00-session-state.json`.

The file is valid for its schema whatever agents recorded. A value that the schema forbids at its
place is left out there and stands under `_passdown.kept` instead: valid beats verbatim.
"""

import re
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from journal.clock import iso
from journal.entities import Decision, Step
from journal.events import Json, ReviewRecorded
from journal.state import Project, step_agent, step_order
from projections import stamp
from projections.position import chosen, failures, keyed, must_fix
from projections.values import as_text

RENDERER = 1

#: The steps of the workflow that the schema was written for.
APEX = {
    "1": "Requirements",
    "2": "Architecture",
    "3": "Design",
    "3_5": "Governance",
    "4": "IaC Plan",
    "5": "IaC Code",
    "6": "Deploy",
    "7": "As-Built",
}
_NAMES = frozenset(APEX.values())
_AUDITED = ("1", "2", "3_5", "4", "5", "6")
_KEY = re.compile(r"[0-9_]+", re.ASCII)
_NUMBER = re.compile(r"([0-9]{1,9})(?:_[0-9_]*)?", re.ASCII)

# -- the document ----------------------------------------------------------------------------

_Resolution: TypeAlias = Literal["revert_to_plan", "accept_substitute", "change_region", "abort"]
_RFC3339 = (
    r"\A[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
    r"(\.[0-9]+)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])\Z"
)


class SkuOverride(Struct, forbid_unknown_fields=True):
    """One substitution of a SKU during deployment."""

    id: str
    old_size: str
    new_size: str
    reason: Annotated[str, Meta(min_length=1)]
    region: str
    env: Literal["dev", "test", "stage", "prod"]
    resolution: _Resolution
    resolved_at: Annotated[str, Meta(pattern=_RFC3339)] | UnsetType = UNSET
    manifest_revision: Annotated[int, Meta(ge=1)] | UnsetType = UNSET


class KnownDecisions(Struct):
    """The keys of `decisions` whose values have a prescribed form; any other key takes anything."""

    region: str
    compliance: str
    budget: str
    architecture_pattern: str
    deployment_strategy: str
    complexity: Literal["", "simple", "standard", "complex"]
    sku_manifest_status: Literal[
        "", "draft", "reviewed", "locked", "deploying", "deployed", "drift"
    ]
    sku_manifest_revision: Annotated[int, Meta(ge=0)]
    sku_overrides: list[SkuOverride]
    sku_conflict_resolution: Literal[""] | _Resolution


#: Always present in `decisions`, empty until known.
_ALWAYS = KnownDecisions.__struct_fields__[:6]
_FORMS: dict[str, Any] = {
    known.name: known.type for known in msgspec.structs.fields(KnownDecisions)
}
_FORMS["iac_tool"] = Literal["", "Bicep", "Terraform"]


class LogEntry(Struct, omit_defaults=True):
    """One entry of `decision_log`."""

    id: str
    step: int | UnsetType
    agent: str
    title: str
    choice: str
    rationale: str
    timestamp: str
    alternatives: tuple[str, ...] = ()
    impact: str = ""
    status: str = ""
    superseded_by: str = ""


class Audit(Struct):
    """How one step was reviewed."""

    complexity: str = ""
    passes_planned: int = 0
    passes_executed: int = 0
    skipped: tuple[str, ...] = ()
    skip_reasons: tuple[str, ...] = ()
    models_used: tuple[str, ...] = ()


class StepEntry(Struct):
    """One step; all eight fields are always there."""

    name: str
    agent: str
    status: str
    sub_step: str | None
    started: str | None
    completed: str | None
    artifacts: tuple[str, ...]
    context_files_used: tuple[str, ...]


class Kept(Struct, omit_defaults=True):
    """What the schema forbids at its place."""

    decisions: dict[str, Json] = field(default_factory=dict)
    review_audit: dict[str, Audit] = field(default_factory=dict)
    steps: dict[str, StepEntry | dict[str, str]] = field(default_factory=dict)


class Footer(Struct):
    """The stamp, after what is kept for the journal's own sake."""

    kept: Kept | UnsetType
    project: str
    version: int
    hash: str
    renderer: int
    digest: str


class Document(Struct):
    """The file."""

    schema_version: str
    project: str
    iac_tool: str
    region: str
    branch: str
    updated: str
    current_step: int
    decisions: dict[str, Json]
    open_findings: list[str]
    decision_log: list[LogEntry]
    review_audit: dict[str, Audit]
    steps: dict[str, StepEntry]
    footer: Footer = field(name=stamp.KEY)


# -- rendering -------------------------------------------------------------------------------


def render(project: Project) -> bytes:
    """The session state file of a project."""
    kept = Kept()
    decisions = _decisions(project, kept)
    iac_tool, region = decisions.pop("iac_tool", ""), decisions["region"]
    audit, steps = _audit(project, kept), _steps(project, kept)
    mark = stamp.of(project, RENDERER)
    document = Document(
        schema_version="3.0",
        project=project.slug,
        iac_tool=str(iac_tool),
        region=str(region),
        branch=project.branch,
        updated=iso(project.updated),
        current_step=_number(project, project.current, lowest=0) or 0,
        decisions=decisions,
        open_findings=must_fix(project) + failures(project),
        decision_log=[_entry(project, d) for d in project.decisions.values() if _is_logged(d)],
        review_audit=audit,
        steps=steps,
        footer=Footer(
            UNSET if kept == Kept() else kept,
            mark.project,
            mark.version,
            mark.hash,
            mark.renderer,
            mark.digest,
        ),
    )
    content = msgspec.json.format(msgspec.json.encode(document), indent=2)
    return stamp.stamped(content + b"\n")


def intact(content: bytes) -> bool:
    """Whether the content is a session state at all, whoever wrote it last."""
    try:
        document = msgspec.json.decode(content.decode("utf-8-sig"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return (
        isinstance(document, dict)
        and {"schema_version", "project"} <= document.keys()
        and isinstance(document.get("steps"), dict)
    )


def _decisions(project: Project, kept: Kept) -> dict[str, Json]:
    shown: dict[str, Json] = dict.fromkeys(_ALWAYS, "")
    for key, decision in keyed(project).items():
        if _fits(key, decision.value):
            shown[key] = decision.value
            continue
        kept.decisions[key] = decision.value
        if _FORMS[key] is str:
            shown[key] = as_text(decision.value)
    return shown


def _fits(key: str, value: Json) -> bool:
    form = _FORMS.get(key)
    if form is None:
        return True
    try:
        msgspec.convert(value, form)
    except msgspec.ValidationError:
        return False
    return True


def _is_logged(decision: Decision) -> bool:
    """A bare setting of a key is a value, not a decision that somebody argued for."""
    return bool(decision.title or decision.choice or decision.rationale)


def _entry(project: Project, decision: Decision) -> LogEntry:
    # What was decided before the first step belongs to it; readers want a number.
    number = _number(project, decision.step or "1", lowest=1)
    return LogEntry(
        id=decision.id,
        step=UNSET if number is None else number,
        agent=decision.agent,
        title=decision.title or decision.key,
        choice=chosen(decision),
        rationale=decision.rationale,
        timestamp=iso(decision.at),
        alternatives=decision.alternatives,
        impact=decision.impact,
        status="" if decision.superseded_by is None else "superseded",
        superseded_by=decision.superseded_by or "",
    )


def _number(project: Project, key: str, *, lowest: int) -> int | None:
    """The whole number that a step counts as: 3_5 is 3; none where there is no such step."""
    found = _NUMBER.fullmatch(key)
    if found is None:
        return None
    number = int(found[1])
    return min(max(number, lowest), 7) if project.workflow == "apex" else number


def _audit(project: Project, kept: Kept) -> dict[str, Audit]:
    shown = {key: Audit() for key in _AUDITED} if project.workflow == "apex" else {}
    for key, review in project.reviews.items():
        if _KEY.fullmatch(key):
            shown[key] = _reviewed(review)
        else:
            kept.review_audit[f"step_{key}"] = _reviewed(review)
    ordered = sorted(shown, key=lambda key: (_order(key), key))
    return {f"step_{key}": shown[key] for key in ordered}


def _reviewed(review: ReviewRecorded) -> Audit:
    return Audit(
        review.complexity,
        review.passes_planned,
        review.passes_executed,
        review.skipped,
        review.skip_reasons,
        review.models_used,
    )


def _order(key: str) -> tuple[int, ...]:
    return step_order("_".join(filter(None, key.split("_"))) or "0")


def _steps(project: Project, kept: Kept) -> dict[str, StepEntry]:
    shown = {}
    for key, step in project.steps.items():
        entry = _step(project, step)
        named = project.workflow != "apex" or entry.name in _NAMES
        if not named and key in APEX:
            kept.steps[key] = {"name": entry.name}
            entry.name, named = APEX[key], True
        if named and _KEY.fullmatch(key):
            shown[key] = entry
        else:
            kept.steps[key] = entry
    return shown


def _step(project: Project, step: Step) -> StepEntry:
    return StepEntry(
        name=step.name,
        agent=step_agent(project, step),
        # v3.0 knows no failed step; the failure stands among the open findings.
        status="in_progress" if step.status == "failed" else step.status,
        sub_step=step.sub_step,
        started=None if step.started is None else iso(step.started),
        completed=None if step.completed is None else iso(step.completed),
        artifacts=step.artifacts,
        context_files_used=step.context_files,
    )
