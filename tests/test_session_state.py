"""00-session-state.json: valid for its schema whatever was recorded, and complete."""

import json
import os
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from examples import fresh, rich
from hypothesis import given, settings
from session_state_schema import SCHEMA
from strategies import APEX_STEPS, Chain, projects

from journal import events as e
from journal.state import Project
from projections.session_state import render

TOP = [
    *("schema_version", "project", "iac_tool", "region", "branch", "updated", "current_step"),
    *("decisions", "open_findings", "decision_log", "review_audit", "steps", "_passdown"),
]
STEP = [
    *("name", "agent", "status", "sub_step", "started", "completed", "artifacts"),
    "context_files_used",
]

OVERRIDE = {
    "id": "web",
    "old_size": "P1v3",
    "new_size": "P0v3",
    "reason": "quota",
    "region": "northeurope",
    "env": "dev",
    "resolution": "accept_substitute",
}


def document(project: Project) -> Any:
    """The rendered file, parsed."""
    return json.loads(render(project))


def opened(*events: e.Event, workflow: str = "apex", steps: Any = APEX_STEPS) -> Project:
    """A project to which these things happened."""
    chain = Chain("orchard").add(e.ProjectOpened("Orchard", workflow, steps))
    for event in events:
        chain.add(event, "worker-abc")
    return chain.project


def decided(key: str, value: Any) -> Any:
    """The file after one keyed decision."""
    return document(opened(e.DecisionMade(key=key, value=value, decision="D001")))


# -- validity --------------------------------------------------------------------------------


def validators() -> list[jsonschema.Draft202012Validator]:
    """Our reading of the schema, and upstream's own where SESSION_STATE_SCHEMA names the file."""
    schemas = [SCHEMA]
    if upstream := os.environ.get("SESSION_STATE_SCHEMA"):
        schemas.append(json.loads(Path(upstream).read_text()))
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    return [jsonschema.Draft202012Validator(each, format_checker=checker) for each in schemas]


def check(file: Any) -> None:
    """The file is valid, and its keys stand in the order that people know."""
    for validator in VALIDATORS:
        validator.validate(file)
    assert [key for key in file if key in TOP] == TOP
    assert list(file)[-1] == "_passdown"
    assert all(list(step) == STEP for step in file["steps"].values())


VALIDATORS = validators()


@settings(deadline=None, max_examples=300)
@given(projects())
def test_every_state_is_valid(project: Project) -> None:
    """Whatever agents recorded, the file obeys the rules of the schema."""
    check(document(project))


@settings(deadline=None, max_examples=100)
@given(projects())
def test_nothing_recorded_is_lost(project: Project) -> None:
    """Each keyed value and each step is at its place or among what is kept."""
    file = document(project)
    kept = file["_passdown"].get("kept", {})
    settled = file["decisions"] | kept.get("decisions", {}) | {"": None}
    if file["iac_tool"]:
        settled["iac_tool"] = file["iac_tool"]
    for key, id in project.keyed.items():
        assert settled.get(key, "") == project.decisions[id].value
    for key, step in project.steps.items():
        assert step.name in (file["steps"].get(key, {}).get("name"), name_kept(kept, key))


def name_kept(kept: Any, key: str) -> Any:
    """The name of a step that the schema has no place for."""
    return kept.get("steps", {}).get(key, {}).get("name")


# -- decisions -------------------------------------------------------------------------------


def test_fresh_project() -> None:
    """A new project has every required key, empty, and all steps pending."""
    file = document(fresh())
    check(file)
    assert file["current_step"] == 0
    assert set(file["decisions"].values()) == {""}
    assert {step["status"] for step in file["steps"].values()} == {"pending"}
    assert list(file["review_audit"]) == [f"step_{key}" for key in ("1", "2", "3_5", "4", "5", "6")]
    assert "kept" not in file["_passdown"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("region", "northeurope"),
        ("complexity", "complex"),
        ("sku_manifest_status", "locked"),
        ("sku_manifest_revision", 3),
        ("sku_conflict_resolution", "abort"),
        ("sku_overrides", [OVERRIDE]),
        ("sku_overrides", [OVERRIDE | {"resolved_at": "2026-01-01T10:00:00+02:00"}]),
        ("environments", ["dev", {"prod": None}]),
        ("_passdown", {"digest": "mine"}),
    ],
)
def test_values_at_their_place(key: str, value: Any) -> None:
    """A value that the schema allows stands in `decisions` as it was given."""
    file = decided(key, value)
    assert file["decisions"][key] == value
    assert "kept" not in file["_passdown"]


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("region", ["northeurope"], "northeurope"),
        ("budget", 500, "500"),
        ("compliance", None, ""),
        ("complexity", "high", ""),
        ("sku_manifest_status", "open", None),
        ("sku_manifest_revision", "x", None),
        ("sku_manifest_revision", -1, None),
        ("sku_manifest_revision", True, None),
        ("sku_conflict_resolution", "shrug", None),
        ("sku_overrides", {}, None),
        ("sku_overrides", [OVERRIDE | {"env": "moon"}], None),
        ("sku_overrides", [OVERRIDE | {"more": 1}], None),
        ("sku_overrides", [OVERRIDE | {"resolved_at": "soon"}], None),
        ("sku_overrides", [OVERRIDE | {"manifest_revision": 0}], None),
    ],
)
def test_forbidden_values_are_kept_aside(key: str, value: Any, shown: str | None) -> None:
    """A value that the schema forbids stands under `kept`, and at its place in words at most."""
    file = decided(key, value)
    check(file)
    assert file["decisions"].get(key) == shown
    assert file["_passdown"]["kept"] == {"decisions": {key: value}}


def test_iac_tool_and_region() -> None:
    """Both stand at the top; the tool is not repeated among the decisions, the region is."""
    file = document(rich())
    assert (file["iac_tool"], file["region"]) == ("Bicep", "northeurope")
    assert "iac_tool" not in file["decisions"]
    assert file["decisions"]["region"] == "northeurope"
    assert file["steps"]["5"]["agent"] == "06b-Bicep CodeGen"


def test_unknown_iac_tool() -> None:
    """A tool that the schema does not know is kept aside, and the steps have no agent by it."""
    file = decided("iac_tool", "Pulumi")
    assert file["iac_tool"] == ""
    assert file["_passdown"]["kept"] == {"decisions": {"iac_tool": "Pulumi"}}
    assert file["steps"]["5"]["agent"] == ""


def test_decision_log() -> None:
    """What was argued for is logged, oldest first; a bare setting is not."""
    project = opened(
        e.DecisionMade(key="region", value="northeurope", decision="D001"),
        e.DecisionMade(key="budget", value=500, rationale="asked", decision="D002", step="3_5"),
        e.DecisionMade(title="Cache", choice="none", decision="D003", alternatives=("Redis",)),
        e.DecisionSuperseded("D003", "D002"),
    )
    budget, cache = document(project)["decision_log"]
    assert budget == {
        "id": "D002",
        "step": 3,
        "agent": "worker-abc",
        "title": "budget",
        "choice": "500",
        "rationale": "asked",
        "timestamp": "2026-01-01T10:02:00Z",
    }
    assert cache["step"] == 1
    assert cache["alternatives"] == ["Redis"]
    assert (cache["status"], cache["superseded_by"]) == ("superseded", "D002")


# -- steps -----------------------------------------------------------------------------------


def test_failed_step() -> None:
    """A failed step is in progress with its sub-step, and its failure is among the findings."""
    project = opened(
        e.FindingOpened("Fix me", finding="F001"),
        e.FindingOpened("Maybe", "consider", finding="F002"),
        e.StepStarted("3_5"),
        e.StepCheckpointed("3_5", "phase_1"),
        e.StepFailed("3_5", "policy service down", error="E001"),
    )
    file = document(project)
    assert file["current_step"] == 3
    assert file["steps"]["3_5"]["status"] == "in_progress"
    assert file["steps"]["3_5"]["sub_step"] == "phase_1"
    assert file["open_findings"] == ["Fix me", "Step 3_5 failed: policy service down"]


def test_steps_that_the_schema_does_not_know() -> None:
    """A step of another name keeps its place under the canonical name, or is kept aside whole."""
    steps = (e.StepPlan("1", "Discovery"), e.StepPlan("2", "Architecture"))
    project = opened(
        e.StepPlanned(e.StepPlan("8", "Retrospective")),
        e.StepPlanned(e.StepPlan("9", "Deploy")),
        steps=steps,
    )
    file = document(project)
    check(file)
    assert {key: step["name"] for key, step in file["steps"].items()} == {
        "1": "Requirements",
        "2": "Architecture",
        "9": "Deploy",
    }
    kept = file["_passdown"]["kept"]["steps"]
    assert kept["1"] == {"name": "Discovery"}
    assert list(kept["8"]) == STEP


def test_steps_beyond_seven_count_as_seven() -> None:
    """The numbers in the file stay within the schema when steps were planned later."""
    project = opened(
        e.StepPlanned(e.StepPlan("12", "Deploy")),
        e.StepStarted("12"),
        e.DecisionMade(title="Again", decision="D001", step="12"),
    )
    file = document(project)
    assert file["current_step"] == 7
    assert file["decision_log"][0]["step"] == 7


def test_other_workflows() -> None:
    """Another workflow has the same shape with its own steps, names and numbers."""
    steps = (e.StepPlan("1", "Sketch"), e.StepPlan("12", "Ship it"))
    file = document(opened(e.StepStarted("12"), workflow="generic", steps=steps))
    assert list(file) == TOP
    assert [step["name"] for step in file["steps"].values()] == ["Sketch", "Ship it"]
    assert file["current_step"] == 12
    assert file["review_audit"] == {}
    assert "kept" not in file["_passdown"]


def test_reviews_are_in_order() -> None:
    """Recorded reviews fill their place, in the order of the steps."""
    project = opened(e.ReviewRecorded("7", "simple", 1, 1), e.ReviewRecorded("3", "complex", 3, 2))
    audit = document(project)["review_audit"]
    assert list(audit) == [f"step_{key}" for key in ("1", "2", "3", "3_5", "4", "5", "6", "7")]
    assert audit["step_3"]["passes_executed"] == 2


def test_layout() -> None:
    """Two blanks of indentation, letters as they are, a line break at the end, the stamp last."""
    content = render(opened(e.BranchSwitched("fonctionnalité/été"))).decode()
    assert '\n  "branch": "fonctionnalité/été",\n' in content
    assert re.search(r'"digest": "[0-9a-f]{64}"\n  }\n}\n\Z', content)
