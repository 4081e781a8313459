"""What the fold makes of events: decisions and questions."""

from typing import Literal

from msgspec.structs import replace

from journal import events as e
from journal.entities import Decision, Project, Question, Touch
from journal.record import Record
from journal.state.session import session_of
from journal.state.table import Folds


def _decision_made(p: Project, x: e.DecisionMade, r: Record) -> None:
    p.decisions[x.decision] = Decision(
        x.decision,
        r.time,
        x.title,
        x.choice,
        x.rationale,
        x.key,
        x.value,
        x.alternatives,
        x.impact,
        x.reversible,
        x.kind,
        x.step,
        x.agent or r.actor or "",
        session_of(p, r),
    )
    if x.key:
        held = p.keyed.get(x.key)
        if held is not None and p.decisions[held].superseded_by is None:
            p.decisions[held] = replace(p.decisions[held], superseded_by=x.decision)
        p.keyed[x.key] = x.decision


def _decision_superseded(p: Project, x: e.DecisionSuperseded, r: Record) -> None:
    if decision := p.decisions.get(x.decision):
        p.decisions[x.decision] = replace(decision, superseded_by=x.by)
        if p.keyed.get(decision.key) == x.decision:
            del p.keyed[decision.key]


def _question_opened(p: Project, x: e.QuestionOpened, r: Record) -> None:
    opened = Question(x.question, x.text, r.time, x.source, x.step)
    p.questions[x.question] = _touched(p, opened, "opened", r)


def _question_deferred(p: Project, x: e.QuestionDeferred, r: Record) -> None:
    if question := p.questions.get(x.question):
        deferred = replace(question, status="deferred", resolution=x.reason)
        p.questions[x.question] = _touched(p, deferred, "deferred", r)


def _question_resolved(p: Project, x: e.QuestionResolved, r: Record) -> None:
    if question := p.questions.get(x.question):
        resolved = replace(question, status="resolved", resolution=x.resolution, resolved=r.time)
        p.questions[x.question] = _touched(p, resolved, "resolved", r)


def _touched(
    p: Project, question: Question, what: Literal["opened", "deferred", "resolved"], r: Record
) -> Question:
    touch = Touch(what, r.time, r.actor or "", session_of(p, r))
    return replace(question, touches=(*question.touches, touch))


FOLDS: Folds = {
    e.DecisionMade: _decision_made,
    e.DecisionSuperseded: _decision_superseded,
    e.QuestionOpened: _question_opened,
    e.QuestionDeferred: _question_deferred,
    e.QuestionResolved: _question_resolved,
}
