"""When it may happen: decisions and questions."""

import msgspec
from msgspec.structs import replace

from journal import events as e
from journal.entities import Decision, Project
from journal.errors import Invalid, Rejected
from journal.rules.names import find, find_step, new_id, step_or_current
from journal.rules.rule import By, Rules


def _decision_made(p: Project, x: e.DecisionMade, by: By) -> list[e.Event]:
    if not (x.title or x.choice or x.key):
        raise Invalid("decision.made: say what was decided: a title, a choice, or a key and value")
    if x.key and not (x.key.isprintable() and len(x.key) <= 100):
        raise Invalid("decision.made: a key is 1 to 100 printable characters", where="$.key")
    if x.key and x.value is None and x.choice:
        x = replace(x, value=x.choice)
    held = p.decisions.get(p.keyed.get(x.key, ""))
    x = replace(x, step=step_or_current(p, x.step))
    if x.key and held and _says(held) == _says(x):
        return []
    return [replace(x, decision=new_id(x.decision, "D{:03}", p.decisions, "decision"))]


def _says(decision: e.DecisionMade | Decision) -> tuple[object, ...]:
    """What is decided, for comparison; the value as JSON, where 1 is not true."""
    x = decision
    value = msgspec.json.encode(x.value)
    return (x.title, x.choice, x.rationale, value, x.alternatives, x.impact, x.reversible, x.kind)


def _decision_superseded(p: Project, x: e.DecisionSuperseded, by: By) -> list[e.Event]:
    decision = find("decision", x.decision, p.decisions)
    by_which = find("decision", x.by, p.decisions).id if x.by else ""
    x = replace(x, decision=decision.id, by=by_which)
    if x.by == x.decision:
        raise Invalid(f"decision {x.decision} cannot supersede itself", where="$.by")
    return [] if decision.superseded_by == x.by else [x]


def _question_opened(p: Project, x: e.QuestionOpened, by: By) -> list[e.Event]:
    id = new_id(x.question, "OQ-{:03}", p.questions, "question")
    return [replace(x, step=find_step(p, x.step).key if x.step else "", question=id)]


def _question_settled(
    p: Project, x: e.QuestionDeferred | e.QuestionResolved, by: By
) -> list[e.Event]:
    question = find("question", x.question, p.questions)
    x = replace(x, question=question.id)
    reached, words = (
        ("resolved", x.resolution) if isinstance(x, e.QuestionResolved) else ("deferred", x.reason)
    )
    if question.status == reached and words in ("", question.resolution):
        return []
    if question.status == "resolved":
        verb = "resolve" if reached == "resolved" else "defer"
        raise Rejected(
            f"{verb} question {question.id}", f"it was resolved already: {question.resolution}"
        )
    return [x]


RULES: Rules = {
    e.DecisionMade: _decision_made,
    e.DecisionSuperseded: _decision_superseded,
    e.QuestionOpened: _question_opened,
    e.QuestionDeferred: _question_settled,
    e.QuestionResolved: _question_settled,
}
