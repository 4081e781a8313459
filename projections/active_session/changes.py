"""What a file changed in its front matter, part by part, as the events that say so."""

import posixpath
from collections.abc import Mapping
from typing import get_args

import msgspec

from journal import events as e
from journal.entities import step_order
from journal.errors import Invalid
from journal.events import Json
from journal.rules import workspace_path
from journal.state import Project
from projections.active_session.document import (
    DOCUMENTS,
    EXECUTION,
    count,
    may_be_at,
    part,
    texts,
    words,
)
from projections.active_session.reading import key_of
from projections.draft import Draft, moment_of
from projections.leftovers import Object, digest, same


def by_key(document: Object, before: Object) -> Object:
    """The phases of a file by the keys of their steps; `before` has the ids that are known."""
    known = {digest(part(before, key).get("id")): key for key in before}
    found: Object = {}
    phases = document["phases"]
    assert isinstance(phases, list)
    numbered = {key_of(phase["id"]) for phase in phases} - {""}
    for phase in phases:
        key = known.get(digest(phase["id"])) or key_of(phase["id"])
        if not key or key in found or (key in before and digest(phase["id"]) not in known):
            numbers = (step_order(each)[0] for each in (*before, *found, *numbered))
            key = str(max(numbers, default=0) + 1)
        found[key] = phase
    return found


def plan(key: str, phase: Json, keys: Mapping[str, str]) -> e.StepPlan:
    """A phase as it is planned; `keys` has the key of each phase by the digest of its id."""
    agent, *team = texts(phase, "agents") or ("",)
    return e.StepPlan(
        key,
        words(phase, "name") or f"Phase {key}",
        agent,
        team=tuple(team),
        blocked_by=tuple(x for x in _waits(phase, keys) if step_order(x) < step_order(key)),
        parallel=isinstance(phase, dict) and phase.get("parallel") is True,
        files=_planned(phase),
    )


def _waits(phase: Json, keys: Mapping[str, str]) -> tuple[str, ...]:
    """The steps that a phase waits on, as far as there are such."""
    ids = phase.get("blocked_by") if isinstance(phase, dict) else None
    named = (keys.get(digest(id)) for id in (ids if isinstance(ids, list) else ()))
    return tuple(dict.fromkeys(filter(None, named)))


def _planned(phase: Json) -> tuple[str, ...]:
    return tuple(path for path in texts(phase, "planned_files") if _is_ours(path))


def _is_ours(path: str) -> bool:
    try:
        return workspace_path(path) == path
    except Invalid:
        return False


# -- the session -----------------------------------------------------------------------------


def top(draft: Draft, before: Object, theirs: Object, place: str) -> None:
    """Retitle, choose another execution, and name other documents, where the file does."""
    task = words(theirs, "task")
    if task and task != before.get("task"):
        draft.add(e.ProjectRetitled(task))
    changed = {
        name: words(theirs, field)
        for field, name in EXECUTION.items()
        if not same(theirs.get(field), before.get(field))
    }
    if any(changed.values()):
        draft.add(e.ExecutionChosen(e.Execution(**changed)))
    documents(draft, before, theirs, place)


def documents(draft: Draft, before: Object, theirs: Object, place: str) -> None:
    """Record the documents that the file at that place names, where they are others."""
    for field, kind in DOCUMENTS.items():
        path = words(theirs, field)
        if path and path != words(before, field):
            draft.add(e.DocumentRecorded(kind, _in_workspace(path, place)))


def _in_workspace(path: str, place: str) -> str:
    """An absolute path as seen from the workspace, where it leads into the tree of the file."""
    tree = posixpath.dirname(posixpath.dirname(place))  # which has the states, and the plans
    plain = path.replace("\\", "/")
    absolute = plain.startswith("/") or plain[1:3] == ":/"
    _, inside, rest = plain.rpartition(f"/{tree}/")
    return f"{tree}/{rest}" if absolute and tree and inside else path


def batch(theirs: Object, before: Object, key: str) -> str:
    """The batch that a phase was started with: that of those at work, else of the last started."""
    name = words(theirs, "current_batch")
    if not name or name == words(before, "current_batch"):
        return ""
    phases = part(theirs, "phases")
    at_work = {each for each in phases if words(phases[each], "status") == "in_progress"}
    last = max(phases, key=lambda each: (words(phases[each], "started"), step_order(each)))
    return name if key in (at_work or {last}) else ""


def current(project: Project, before: Object, theirs: Object, fresh: bool) -> str:
    """The phase that the file is at, where it says another than before."""
    said = theirs.get("current_phase")
    phases = part(theirs, "phases")
    key = next((each for each in phases if same(part(phases, each).get("id"), said)), "")
    moved = fresh or not same(said, before.get("current_phase"))
    return key if moved and key in project.steps and may_be_at(project, said) else project.current


# -- the phases ------------------------------------------------------------------------------


def adjust(draft: Draft, key: str, was: Object, phase: Object, keys: Mapping[str, str]) -> None:
    """Take over what the file says otherwise about a phase as it was planned."""

    def changed(field: str) -> bool:
        return field in phase and not same(phase[field], was.get(field))

    if changed("name") and words(phase, "name"):
        draft.add(e.StepAdjusted(key, words(phase, "name")))
    if changed("agents") and (agents := texts(phase, "agents")):
        draft.add(e.StepAdjusted(key, agent=agents[0], team=agents[1:]))
    if changed("blocked_by"):
        draft.add(e.StepAdjusted(key, blocked_by=_waits(phase, keys)))
    if changed("parallel"):
        draft.add(e.StepAdjusted(key, parallel=phase["parallel"] is True))
    if changed("planned_files"):
        draft.add(e.StepAdjusted(key, files=_planned(phase)))


def merged(was: Object, phase: Object, now: Object) -> Object:
    """A phase as the file has it where that was changed, else as it is by now."""
    found = dict(phase)
    for name, held in now.items():
        said = phase.get(name, was.get(name))
        if same(said, was.get(name)):
            found[name] = held
        elif isinstance(said, dict) and isinstance(held, dict):
            found[name] = merged(part(was, name), said, held)
        elif isinstance(said, list) and isinstance(held, list):
            old = was.get(name)
            base = old if isinstance(old, list) else []
            kept = [each for each in held if each in said or each not in base]
            found[name] = kept + [each for each in said if each not in kept]
    return found


def _is_resolved(error: Json) -> bool:
    return isinstance(error, dict) and error.get("resolved") is True


def _free(*taken: Object) -> str:
    """A name for an entry that is no error, and which no error has."""
    number = 1
    while any(f"entry {number}" in names for names in taken):
        number += 1
    return f"entry {number}"


_KINDS = get_args(e.ErrorKind)


def errors(draft: Draft, key: str, phase: Object, was: Json, now: Json) -> Json:
    """Tell of the errors of a phase, and of the retries that they led to; the errors by their ids.

    An error is a failed attempt where a retry followed it, or where the phase stands at it.
    """
    listed = phase.get("errors")
    if not isinstance(listed, list):
        return listed
    known = was if isinstance(was, dict) else {}
    unmatched = {**known, **(now if isinstance(now, dict) else {})}
    found: Object = {}
    for n, error in enumerate(listed):
        id = _match(error, unmatched)
        settled = bool(id) and same(error, known.get(id))
        unmatched.pop(id, None)
        last = n == len(listed) - 1
        id = id or _record(draft, key, phase, error, last) or _free(found, unmatched)
        found[id] = error
        if not settled and _is_resolved(error) and id in draft.project.errors:
            draft.add(e.ErrorResolved(id, words(error, "resolution")))
        if not last:
            _retry(draft, key, phase)
    _retry(draft, key, phase)
    return {id: error for id, error in known.items() if id not in found} | found


def _match(error: Json, unmatched: Object) -> str:
    """The id of the error that an entry is, whatever was said about it since."""
    whole = (id for id, each in unmatched.items() if same(each, error))
    for fields in (("timestamp", "message"), ("timestamp",)):
        said = [words(error, field) for field in fields]
        alike = (id for id, x in unmatched.items() if [words(x, f) for f in fields] == said)
        if id := next(whole, "") or (next(alike, "") if all(said) else ""):
            return id
    return ""


def _record(draft: Draft, key: str, phase: Object, error: Json, last: bool) -> str:
    """The id of the error that an entry becomes; empty if it says nothing."""
    message, kind = words(error, "message"), words(error, "type")
    step, number = draft.project.steps[key], len(draft.project.errors)
    retried = step.retries < count(phase, "retry_count") and _is_resolved(error)
    stands = last and words(phase, "status") == "failed" and not _is_resolved(error)
    about = message, msgspec.convert(kind if kind in _KINDS else "runtime", e.ErrorKind)
    event: e.Event = e.ErrorRecorded(*about, step=key, agent=words(error, "agent"))
    if step.status == "in_progress" and (retried or stands):
        event = e.StepFailed(key, *about, agent=words(error, "agent"))
    draft.add(event, moment_of(words(error, "timestamp")))
    made = list(draft.project.errors)
    return made[-1] if len(made) > number else ""


def _retry(draft: Draft, key: str, phase: Object) -> None:
    step = draft.project.steps[key]
    again = words(phase, "status") != "failed" or step.error not in draft.project.errors
    again = again or draft.project.errors[step.error].resolved is not None
    if step.status == "failed" and step.retries < count(phase, "retry_count") and again:
        draft.add(e.StepRestarted(key, "retry"))
