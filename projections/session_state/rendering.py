"""From a state to the file."""

import msgspec
from msgspec import UNSET

from journal.clock import iso
from journal.entities import Decision, Step
from journal.events import Json, ReviewRecorded
from journal.state import Project, step_agent, step_order
from projections import stamp
from projections.leftovers import Object, apply
from projections.position import chosen, failures, keyed, must_fix
from projections.session_state.document import (
    ALWAYS,
    APEX,
    AUDITED,
    FORMS,
    KEY,
    NAMES,
    NUMBER,
    Audit,
    Document,
    Footer,
    Kept,
    LogEntry,
    StepEntry,
    fits,
)
from projections.values import as_text

NAME = "session-state"
RENDERER = 1


def render(project: Project) -> bytes:
    """The session state file of a project."""
    if project.leftovers.get(NAME):
        document: Document | Object = flat(form(project))
    else:
        document = _document(project)
    content = msgspec.json.format(msgspec.json.encode(document), indent=2)
    return stamp.stamped(content + b"\n")


def own(project: Project) -> Object:
    """The document by its parts, the log of decisions by their ids, as the state alone has it."""
    document: Object = msgspec.json.decode(msgspec.json.encode(_document(project)))
    entries = document["decision_log"]
    assert isinstance(entries, list)
    document["decision_log"] = {entry["id"]: entry for entry in entries}
    return document


def form(project: Project) -> Object:
    """The same with what adopted files say otherwise."""
    document = own(project)
    apply(document, project.leftovers.get(NAME, ()))
    return document


def flat(document: Object) -> Object:
    """The document as it stands in the file."""
    log = document.get("decision_log")
    if isinstance(log, dict):
        document["decision_log"] = list(log.values())
    footer = document.pop(stamp.KEY)
    return {**document, stamp.KEY: footer}  # the stamp is the last thing in the file


def _document(project: Project) -> Document:
    kept = Kept()
    decisions = _decisions(project, kept)
    iac_tool, region = decisions.pop("iac_tool", ""), decisions["region"]
    audit, steps = _audit(project, kept), _steps(project, kept)
    mark = stamp.of(project, RENDERER)
    return Document(
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
    shown: dict[str, Json] = dict.fromkeys(ALWAYS, "")
    for key, decision in keyed(project).items():
        if fits(key, decision.value):
            shown[key] = decision.value
            continue
        kept.decisions[key] = decision.value
        if FORMS[key] is str:
            shown[key] = as_text(decision.value)
    return shown


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
    found = NUMBER.fullmatch(key)
    if found is None:
        return None
    number = int(found[1])
    return min(max(number, lowest), 7) if project.workflow == "apex" else number


def _audit(project: Project, kept: Kept) -> dict[str, Audit]:
    shown = {key: Audit() for key in AUDITED} if project.workflow == "apex" else {}
    for key, review in project.reviews.items():
        if KEY.fullmatch(key):
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
        entry = step_entry(project, step)
        named = project.workflow != "apex" or entry.name in NAMES
        if not named and key in APEX:
            kept.steps[key] = {"name": entry.name}
            entry.name, named = APEX[key], True
        if named and KEY.fullmatch(key):
            shown[key] = entry
        else:
            kept.steps[key] = entry
    return shown


def step_entry(project: Project, step: Step) -> StepEntry:
    """A step as the document has it."""
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
