"""What is wrong or was looked at: findings, reviews, errors."""

from typing import ClassVar

from journal.events.event import Count, ErrorKind, Event, Severity, Text


class FindingOpened(Event, frozen=True):
    """Something is wrong with work that was produced."""

    type: ClassVar[str] = "finding.opened"
    title: Text
    severity: Severity = "must_fix"
    step: str = ""
    detail: str = ""
    agent: str = ""
    finding: str = ""


class FindingResolved(Event, frozen=True):
    """A finding was dealt with."""

    type: ClassVar[str] = "finding.resolved"
    finding: str
    resolution: str = ""
    decision: str = ""


class ReviewRecorded(Event, frozen=True):
    """How a step's output was reviewed; a later one for the same step replaces it."""

    type: ClassVar[str] = "review.recorded"
    step: str
    complexity: str = ""
    passes_planned: Count = 0
    passes_executed: Count = 0
    skipped: tuple[str, ...] = ()
    skip_reasons: tuple[str, ...] = ()
    models_used: tuple[str, ...] = ()


class ErrorRecorded(Event, frozen=True):
    """An attempt failed."""

    type: ClassVar[str] = "error.recorded"
    message: Text
    kind: ErrorKind = "runtime"
    step: str = ""
    task: str = ""
    agent: str = ""
    error: str = ""


class ErrorResolved(Event, frozen=True):
    """What was behind an error is mended."""

    type: ClassVar[str] = "error.resolved"
    error: str
    resolution: str = ""
