"""The history of a phase, as far as the file tells one.

What the rules allow is told as it went: started, failed, retried, completed. Whoever wrote the file
did not always ask for them, and then the phase is adopted as it stands.
"""

from msgspec import convert

from journal import events as e
from journal.entities import Step
from journal.events import Json
from projections.active_session.changes import errors
from projections.active_session.document import DOWNSTREAM, FILES, count, moment, part, texts, words
from projections.draft import Draft, moment_of
from projections.leftovers import Object, same

_STATUSES = {
    "pending": "pending",
    "in_progress": "in_progress",
    "completed": "complete",
    "failed": "failed",
    "skipped": "skipped",
}


def tell(
    draft: Draft, key: str, phase: Object, was: Object, now: Object, batch: str, *, past: bool
) -> Json:
    """Have the phase become what the file says; its errors by their ids.

    What was all `past` when a file came to us is not asked to account for itself now.
    """
    status = _STATUSES.get(words(phase, "status"), "")
    step = draft.project.steps[key]
    if step.status == "pending" and status in ("in_progress", "complete", "failed"):
        _begin(draft, step, phase, batch)
    found = errors(draft, key, phase, was.get("errors"), now.get("errors"))
    _files(draft, key, phase, now)
    if status == "complete" and draft.project.steps[key].status == "in_progress":
        _complete(draft, key, phase, past)
    if status == "skipped" and draft.project.steps[key].status != "skipped":
        draft.add(e.StepSkipped(key))
    if status:
        _stand(draft, draft.project.steps[key], phase, status)
    _reconcile(draft, draft.project.steps[key], phase)
    return found


def _begin(draft: Draft, step: Step, phase: Object, batch: str) -> None:
    at = moment_of(words(phase, "started"))
    if at is None or not draft.add(e.StepStarted(step.key, batch=batch), at):
        draft.add(e.StepAdopted(step.key, "in_progress", started=at))


def _files(draft: Draft, key: str, phase: Object, now: Object) -> None:
    """Record what the file says was done to files, and the journal does not."""
    at = moment_of(words(phase, "completed"))
    for field, change in FILES.items():
        known = set(texts(now, field))
        for path in texts(phase, field):
            if path not in known:
                draft.add(e.FilesChanged(path, change, step=key), at)


def _complete(draft: Draft, key: str, phase: Object, past: bool) -> None:
    """Complete a phase; one that says nothing of what it changed is to be reconciled then, unless
    the file says that it is not: then it is adopted as it stands."""
    left = _left(phase)
    told = left != e.Downstream() or any(x.step == key for x in draft.project.manifest.values())
    asked = phase.get("requires_reconciliation", not past) is not False
    if told or asked or not draft.project.policy.manifest:
        draft.add(e.StepCompleted(key, downstream=left), moment_of(phase.get("completed")))


def _left(phase: Object) -> e.Downstream:
    """What a phase leaves for others."""
    said = part(phase, "downstream_context")
    return e.Downstream(**{field: _all(said, name) for field, name in DOWNSTREAM.items()})


def _all(said: Object, name: str) -> tuple[str, ...]:
    listed = said.get(name)
    return tuple(x for x in listed if isinstance(x, str)) if isinstance(listed, list) else ()


def _stand(draft: Draft, step: Step, phase: Object, status: str) -> None:
    """Adopt how a phase stands, where no history led to that; times by what they mean."""
    times = tuple(_meant(phase, name, getattr(step, name)) for name in ("started", "completed"))
    retries = max(count(phase, "retry_count"), 0)
    if (step.status, step.started, step.completed, step.retries) == (status, *times, retries):
        return
    draft.add(
        e.StepAdopted(
            step.key,
            convert(status, e.AdoptedStatus),
            sub_step=step.sub_step,
            started=times[0],
            completed=times[1],
            artifacts=step.artifacts,
            context_files=step.context_files,
            retries=retries,
        )
    )


def _meant(phase: Object, name: str, known: int | None) -> int | None:
    """A time of the file, which shows no microseconds: that of the state where it shows that."""
    return known if same(phase.get(name), moment(known)) else moment_of(phase.get(name))


def _reconcile(draft: Draft, step: Step, phase: Object) -> None:
    """What was established after a phase was complete."""
    left, reason = _left(phase), words(phase, "reconciliation_reason")
    if step.status != "complete":
        return
    said = left not in (e.Downstream(), step.downstream) or reason not in ("", step.reconciled)
    if said or (step.to_reconcile and phase.get("requires_reconciliation") is False):
        draft.add(e.StepReconciled(step.key, reason or step.reconciled or "", left))
