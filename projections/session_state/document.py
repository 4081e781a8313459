"""The document: what a session state v3.0 consists of, and what its schema allows where."""

import re
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from journal.events import Json
from projections import stamp

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
NAMES = frozenset(APEX.values())
AUDITED = ("1", "2", "3_5", "4", "5", "6")
KEY = re.compile(r"[0-9_]+", re.ASCII)
NUMBER = re.compile(r"([0-9]{1,9})(?:_[0-9_]*)?", re.ASCII)

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
ALWAYS = KnownDecisions.__struct_fields__[:6]
FORMS: dict[str, Any] = {known.name: known.type for known in msgspec.structs.fields(KnownDecisions)}
FORMS["iac_tool"] = Literal["", "Bicep", "Terraform"]


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


def fits(key: str, value: Json) -> bool:
    """Whether the schema allows a value under a key of `decisions`, or as `iac_tool`."""
    form = FORMS.get(key)
    if form is None:
        return True
    try:
        msgspec.convert(value, form)
    except msgspec.ValidationError:
        return False
    return True
