"""What the fold makes of events: findings, reviews and errors."""

from msgspec.structs import replace

from journal import events as e
from journal.entities import Error, Finding, Project
from journal.record import Record
from journal.state.table import Folds


def _finding_opened(p: Project, x: e.FindingOpened, r: Record) -> None:
    p.findings[x.finding] = Finding(
        x.finding, x.title, r.time, x.severity, x.step, x.detail, x.agent or r.actor or ""
    )
    p.open_findings[x.title] = x.finding


def _finding_resolved(p: Project, x: e.FindingResolved, r: Record) -> None:
    if finding := p.findings.get(x.finding):
        p.findings[x.finding] = replace(
            finding, resolved=r.time, resolution=x.resolution, decision=x.decision
        )
        p.open_findings.pop(finding.title, None)


def _review_recorded(p: Project, x: e.ReviewRecorded, r: Record) -> None:
    p.reviews[x.step] = x


def _error_recorded(p: Project, x: e.ErrorRecorded, r: Record) -> None:
    agent = x.agent or r.actor or ""
    p.errors[x.error] = Error(x.error, x.message, x.kind, r.time, x.step, x.task, agent)


def _error_resolved(p: Project, x: e.ErrorResolved, r: Record) -> None:
    if error := p.errors.get(x.error):
        p.errors[x.error] = replace(error, resolved=r.time, resolution=x.resolution)


FOLDS: Folds = {
    e.FindingOpened: _finding_opened,
    e.FindingResolved: _finding_resolved,
    e.ReviewRecorded: _review_recorded,
    e.ErrorRecorded: _error_recorded,
    e.ErrorResolved: _error_resolved,
}
