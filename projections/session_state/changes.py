"""What a file changed, part by part, as the events that say so."""

import re

import msgspec
from msgspec.structs import replace

from journal import events as e
from journal.entities import Step
from journal.state import Project
from journal.workflows import Workflow, load
from projections.draft import Draft, moment_of
from projections.leftovers import Object, digest, same
from projections.session_state.document import APEX
from projections.session_state.reading import Source, is_resolved, title_of
from projections.session_state.rendering import form, step_entry

_STEP_KEY = re.compile(r"[0-9]{1,9}(_[0-9]{1,9})*", re.ASCII)


def plan_step(template: Workflow, key: str, step: Object) -> e.StepPlan:
    """A step as the workflow plans it, with what the file says of it."""
    known = next((plan for plan in template.steps if plan.key == key), None)
    name, agent = str(step["name"]) or APEX.get(key, key), str(step["agent"])
    if known is None:
        return e.StepPlan(key, name, agent)
    if known.agent_when and agent in ("", *(when.agent for when in known.agent_when)):
        return replace(known, name=name)
    if not agent:
        return replace(known, name=name)
    return replace(known, name=name, agent=agent, agent_when=())


def decisions(draft: Draft, before: Object, source: Source, removals: bool) -> None:
    """Record the values that a file has and the project has not."""
    held = before["decisions"]
    theirs = source.document["decisions"]
    assert isinstance(held, dict)
    assert isinstance(theirs, dict)
    given = {key: source.decisions.get(key, value) for key, value in theirs.items()}
    given |= {key: value for key, value in source.decisions.items() if key not in given}
    tool, region = source.document["iac_tool"], source.document["region"]
    for key, value in {"iac_tool": tool, "region": region}.items():
        if value and (value != before[key] or not given.get(key)):
            given[key] = value
    for key, value in given.items():
        shown = before["iac_tool"] if key == "iac_tool" and key not in held else held.get(key, "")
        known = draft.project.decisions.get(draft.project.keyed.get(key, ""))
        emptied = removals and value == "" and shown not in ("", None)
        known_already = same(value, shown) or (known and same(value, known.value))
        if emptied or not (known_already or value in ("", None)):
            draft.add(e.DecisionMade(key=key, value=value))


def log(draft: Draft, before: Object, entries: object) -> Object:
    """The entries by the ids of their decisions, those that are new as new decisions."""
    unmatched = _logged(before) | _logged(form(draft.project))  # also what was adopted since
    by_content: dict[str, list[str]] = {}
    for id, entry in unmatched.items():
        by_content.setdefault(digest(entry), []).append(id)
    found: Object = {}
    assert isinstance(entries, list)
    for entry in entries:
        named, alike = entry.get("id"), by_content.get(digest(entry), [])
        matches = [named] if isinstance(named, str) and named in unmatched else alike
        match = next((id for id in matches if id in unmatched), None)
        if match is None:
            match = _decide(draft, entry) or _free(found, unmatched)
        unmatched.pop(match, None)
        found[match] = entry
    for id, entry in found.items():
        if isinstance(entry, dict):
            _supersede(draft, id, entry)
    return found


def _logged(document: Object) -> Object:
    entries = document.get("decision_log")
    return dict(entries) if isinstance(entries, dict) else {}


def _free(*taken: Object) -> str:
    """A name for an entry that is no decision, and which no decision has."""
    number = 1
    while any(f"entry {number}" in names for names in taken):
        number += 1
    return f"entry {number}"


def _decide(draft: Draft, entry: Object) -> str:
    """The id of the decision that an entry becomes; none if it says nothing."""
    before = len(draft.project.decisions)
    id = entry.get("id")
    free = isinstance(id, str) and id not in draft.project.decisions and id.isprintable()
    options = entry.get("alternatives")
    listed = isinstance(options, list) and all(isinstance(option, str) for option in options)
    draft.add(
        e.DecisionMade(
            _words(entry, "title"),
            _words(entry, "choice") or _words(entry, "decision"),
            _words(entry, "rationale"),
            alternatives=tuple(options) if listed and isinstance(options, list) else (),
            impact=_words(entry, "impact"),
            step=_step_key(draft.project, entry.get("step")),
            agent=_words(entry, "agent"),
            decision=str(id) if free else "",
        ),
        moment_of(entry.get("timestamp")),
    )
    made = list(draft.project.decisions)
    return made[-1] if len(made) > before else ""


def _supersede(draft: Draft, id: str, entry: Object) -> None:
    decision, by = draft.project.decisions.get(id), _words(entry, "superseded_by")
    if decision and decision.superseded_by is None and (by or entry.get("status") == "superseded"):
        draft.add(e.DecisionSuperseded(id, by if by in draft.project.decisions else ""))


def _words(of: Object, key: str) -> str:
    value = of.get(key)
    return value if isinstance(value, str) else ""


def _step_key(project: Project, step: object) -> str:
    key = str(step).replace(".", "_") if isinstance(step, int | float | str) else ""
    return key if key in project.steps else ""


def findings(draft: Draft, before: Object, source: Source, removals: bool) -> None:
    """Open what is new, and resolve what is gone."""
    shown = before["open_findings"]
    theirs = source.document["open_findings"]
    assert isinstance(shown, list)
    assert isinstance(theirs, list)
    for finding in source.findings:
        title = title_of(finding)
        if not title or title in shown:
            continue
        resolved = is_resolved(finding)
        id = _own_id(draft.project, finding)
        if resolved and any(known.title == title for known in draft.project.findings.values()):
            continue
        if draft.add(e.FindingOpened(title, finding=id)) and resolved:
            _resolve(draft, title, finding)
    for title in shown if removals else ():
        if title not in theirs and title in draft.project.open_findings:
            draft.add(e.FindingResolved(draft.project.open_findings[title], "gone from the file"))


def _own_id(project: Project, finding: object) -> str:
    id = finding.get("id") if isinstance(finding, dict) else None
    fits = isinstance(id, str) and id.isprintable() and 0 < len(id) <= 100
    return id if fits and isinstance(id, str) and id not in project.findings else ""


def _resolve(draft: Draft, title: str, finding: object) -> None:
    assert isinstance(finding, dict)
    by = _words(finding, "resolved_by")
    draft.add(
        e.FindingResolved(
            draft.project.open_findings[title],
            _words(finding, "resolution"),
            by if by in draft.project.decisions else "",
        ),
        moment_of(finding.get("resolved_at")),
    )


def steps(draft: Draft, before: Object, steps: object) -> None:
    """Tell the history of every step that stands otherwise."""
    shown = before["steps"]
    assert isinstance(steps, dict)
    assert isinstance(shown, dict)
    for key, entry in steps.items():
        if not is_step_key(key) or (key in shown and same(shown[key], entry)):
            continue
        if key not in draft.project.steps:
            draft.add(e.StepPlanned(plan_step(load("apex"), key, entry)))
        entry = _merged(draft.project, key, shown.get(key), entry)
        _tell(draft, key, entry)
        step = draft.project.steps[key]
        if not _stands(draft.project, step, entry):
            draft.add(_standing(draft.project, step, entry))


def is_step_key(key: str) -> bool:
    """Whether a key that the schema allows can be that of a step."""
    return bool(_STEP_KEY.fullmatch(key))


def _merged(project: Project, key: str, base: e.Json, entry: Object) -> Object:
    """What a step becomes: as the file has it where that was changed, else as it is by now."""
    if not isinstance(base, dict):
        return entry
    now = msgspec.json.decode(msgspec.json.encode(step_entry(project, project.steps[key])))
    merged = dict(entry)
    for name, found in now.items():
        was, said = base.get(name), entry[name]
        if same(was, said):
            merged[name] = found
        elif isinstance(was, list) and isinstance(said, list):
            kept = [item for item in found if item in said or item not in was]
            merged[name] = kept + [item for item in said if item not in kept]
    return merged


def _tell(draft: Draft, key: str, entry: Object) -> None:
    """The history of a step, as far as the file tells one."""
    artifacts, files = _list(entry, "artifacts"), _list(entry, "context_files_used")
    status = entry["status"]
    if status in ("in_progress", "complete") and draft.project.steps[key].status == "pending":
        draft.add(e.StepStarted(key), moment_of(entry["started"]))
    if status == "in_progress" and isinstance(entry["sub_step"], str):
        draft.add(e.StepCheckpointed(key, entry["sub_step"], artifacts, files))
    if status == "complete":
        draft.add(e.StepCompleted(key, artifacts, files), moment_of(entry["completed"]))
    if status == "skipped":
        draft.add(e.StepSkipped(key))


def _list(of: Object, key: str) -> tuple[str, ...]:
    value = of[key]
    return tuple(value) if isinstance(value, list) else ()


def _stands(project: Project, step: Step, entry: Object) -> bool:
    """Whether a step is as a file says, times by what they mean."""
    shown = msgspec.to_builtins(step_entry(project, step))
    return all(
        same(shown[key], entry[key])
        or (key in ("started", "completed") and moment_of(shown[key]) == moment_of(entry[key]))
        for key in ("status", "agent", "sub_step", "started", "completed")
    ) and all(same(list(shown[key]), entry[key]) for key in ("artifacts", "context_files_used"))


def _standing(project: Project, step: Step, entry: Object) -> e.StepAdopted:
    """A step as a file has it, where no history leads to that."""
    agent = _words(entry, "agent")
    status = msgspec.convert(entry["status"], e.AdoptedStatus)
    return e.StepAdopted(
        step.key,
        status,
        agent if agent != step_entry(project, step).agent else "",
        _words(entry, "sub_step") or None,
        moment_of(entry["started"]),
        moment_of(entry["completed"]),
        _list(entry, "artifacts"),
        _list(entry, "context_files_used"),
    )


def audit(draft: Draft, before: Object, audit: object) -> None:
    """Record the reviews that are others."""
    reviewed = before.get("review_audit")
    shown = reviewed if isinstance(reviewed, dict) else {}
    for key, entry in audit.items() if isinstance(audit, dict) else ():
        step = key.removeprefix("step_")
        if step in draft.project.steps and not same(shown.get(key), entry):
            known = {name: entry[name] for name in _REVIEWED if name in entry}
            draft.add(msgspec.convert({**known, "step": step}, e.ReviewRecorded))


_REVIEWED = tuple(name for name in e.ReviewRecorded.__struct_fields__ if name != "step")


def current(project: Project, number: object) -> str:
    """The step that a number means: of 3 and 3_5 the one at work."""
    keys = [key for key in project.steps if key.split("_")[0] == str(number)]
    working = [key for key in keys if project.steps[key].status == "in_progress"]
    return next(iter(working or keys), "")
