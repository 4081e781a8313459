"""Decisions, and the questions that wait for one."""

from typing import ClassVar

from journal.events.event import DecisionKind, Event, Json, Text


class DecisionMade(Event, frozen=True):
    """Something was decided; with a key it also fills that key's value."""

    type: ClassVar[str] = "decision.made"
    title: str = ""
    choice: str = ""
    rationale: str = ""
    key: str = ""
    value: Json = None
    alternatives: tuple[str, ...] = ()
    impact: str = ""
    reversible: bool | None = None
    kind: DecisionKind | None = None
    step: str = ""
    agent: str = ""
    decision: str = ""


class DecisionSuperseded(Event, frozen=True):
    """A decision holds no longer."""

    type: ClassVar[str] = "decision.superseded"
    decision: str
    by: str = ""
    reason: str = ""


class QuestionOpened(Event, frozen=True):
    """Something has to be answered by somebody."""

    type: ClassVar[str] = "question.opened"
    text: Text
    source: str = ""
    step: str = ""
    question: str = ""


class QuestionDeferred(Event, frozen=True):
    """The answer can wait."""

    type: ClassVar[str] = "question.deferred"
    question: str
    reason: str = ""


class QuestionResolved(Event, frozen=True):
    """A question was answered."""

    type: ClassVar[str] = "question.resolved"
    question: str
    resolution: str = ""
