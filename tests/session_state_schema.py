"""What a session-state file of version 3.0 must look like, as a JSON schema in our own reading."""

from typing import Any

STEP_NAMES = (
    *("Requirements", "Architecture", "Design", "Governance"),
    *("IaC Plan", "IaC Code", "Deploy", "As-Built"),
)
RESOLUTIONS = ("revert_to_plan", "accept_substitute", "change_region", "abort")

TEXT: Any = {"type": "string"}
WORDS: Any = {"type": "string", "minLength": 1}
TEXT_OR_NULL: Any = {"type": ["string", "null"]}
TEXTS: Any = {"type": "array", "items": TEXT}
COUNT: Any = {"type": "integer", "minimum": 0}


def one_of(*values: str) -> Any:
    """One of these words."""
    return {"type": "string", "enum": list(values)}


def mapping(required: dict[str, Any], optional: dict[str, Any], *, others: bool = True) -> Any:
    """An object with these keys, and with others if they are allowed."""
    return {
        "type": "object",
        "required": list(required),
        "properties": required | optional,
        "additionalProperties": others,
    }


def keyed(pattern: str, value: Any) -> Any:
    """An object whose keys all match the pattern."""
    return {"type": "object", "patternProperties": {pattern: value}, "additionalProperties": False}


OVERRIDE = mapping(
    {
        **{"id": TEXT, "old_size": TEXT, "new_size": TEXT, "reason": WORDS, "region": TEXT},
        **{"env": one_of("dev", "test", "stage", "prod"), "resolution": one_of(*RESOLUTIONS)},
    },
    {
        "resolved_at": {"type": "string", "format": "date-time"},
        "manifest_revision": {"type": "integer", "minimum": 1},
    },
    others=False,
)

DECISIONS = mapping(
    {
        **{"region": TEXT, "compliance": TEXT, "budget": TEXT},
        **{"architecture_pattern": TEXT, "deployment_strategy": TEXT},
    },
    {
        "complexity": one_of("", "simple", "standard", "complex"),
        "sku_manifest_status": one_of(
            *("", "draft", "reviewed", "locked", "deploying", "deployed", "drift")
        ),
        "sku_manifest_revision": COUNT,
        "sku_overrides": {"type": "array", "items": OVERRIDE},
        "sku_conflict_resolution": one_of("", *RESOLUTIONS),
    },
)

STEP = mapping(
    {
        **{"name": one_of(*STEP_NAMES), "agent": TEXT},
        "status": one_of("pending", "in_progress", "complete", "skipped"),
        **{"sub_step": TEXT_OR_NULL, "started": TEXT_OR_NULL, "completed": TEXT_OR_NULL},
        **{"artifacts": TEXTS, "context_files_used": TEXTS},
    },
    {},
)

LOGGED = mapping(
    {},
    {
        "step": {"type": "integer", "minimum": 1, "maximum": 7},
        **{"decision": TEXT, "rationale": TEXT, "timestamp": TEXT},
    },
)

REVIEW = mapping(
    {},
    {
        **{"complexity": TEXT, "passes_planned": COUNT, "passes_executed": COUNT},
        **{"skipped": TEXTS, "skip_reasons": TEXTS, "models_used": TEXTS},
    },
)

SCHEMA = mapping(
    {
        **{"schema_version": one_of("3.0"), "project": WORDS, "region": TEXT, "branch": TEXT},
        **{"iac_tool": one_of("", "Bicep", "Terraform"), "updated": TEXT},
        "current_step": {"type": "integer", "minimum": 0, "maximum": 7},
        **{"decisions": DECISIONS, "open_findings": TEXTS},
        "steps": keyed("^[0-9_]+$", STEP),
    },
    {
        "decision_log": {"type": "array", "items": LOGGED},
        "review_audit": keyed("^step_[0-9_]+$", REVIEW),
    },
)
