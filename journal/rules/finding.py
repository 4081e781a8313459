"""When it may happen: findings, reviews and errors."""

from msgspec.structs import replace

from journal import events as e
from journal.entities import Project
from journal.errors import Rejected
from journal.rules.names import command, find, find_step, find_task, new_id, step_or_current
from journal.rules.rule import By, Rules


def _finding_opened(p: Project, x: e.FindingOpened, by: By) -> list[e.Event]:
    step = step_or_current(p, x.step)
    if same := p.findings.get(p.open_findings.get(x.title, "")):
        other = x.finding or (x.step and step != same.step) or x.severity != same.severity
        if not other and x.detail in ("", same.detail):
            return []
        where = f" at step {same.step}" if same.step else ""
        raise Rejected(
            f"open finding {x.finding or x.title[:60]!r}",
            f"{same.id} says the same{where} and is {same.severity}",
            [command("finding", "resolve", same.id)],
        )
    id = new_id(x.finding, "F{:03}", p.findings, "finding")
    return [replace(x, step=step, finding=id)]


def _finding_resolved(p: Project, x: e.FindingResolved, by: By) -> list[e.Event]:
    finding = find("finding", x.finding, p.findings, p.open_findings.values())
    decision = find("decision", x.decision, p.decisions).id if x.decision else ""
    if finding.resolved is not None:
        if x.resolution in ("", finding.resolution):
            return []
        was = finding.resolution or "without a word"
        raise Rejected(
            f"resolve finding {finding.id}",
            f"it was resolved already: {was}",
            ["finding open TITLE"],
        )
    return [replace(x, finding=finding.id, decision=decision)]


def _review_recorded(p: Project, x: e.ReviewRecorded, by: By) -> list[e.Event]:
    x = replace(x, step=find_step(p, x.step).key)
    return [] if p.reviews.get(x.step) == x else [x]


def _error_recorded(p: Project, x: e.ErrorRecorded, by: By) -> list[e.Event]:
    task = find_task(p, x.task).id if x.task else ""
    id = new_id(x.error, "E{:03}", p.errors, "error")
    return [replace(x, step=step_or_current(p, x.step), task=task, error=id)]


def _error_resolved(p: Project, x: e.ErrorResolved, by: By) -> list[e.Event]:
    error = find("error", x.error, p.errors)
    if error.resolved is not None:
        if x.resolution in ("", error.resolution):
            return []
        raise Rejected(f"resolve error {error.id}", f"it was resolved already: {error.resolution}")
    return [replace(x, error=error.id)]


RULES: Rules = {
    e.FindingOpened: _finding_opened,
    e.FindingResolved: _finding_resolved,
    e.ReviewRecorded: _review_recorded,
    e.ErrorRecorded: _error_recorded,
    e.ErrorResolved: _error_resolved,
}
