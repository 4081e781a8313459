"""The brief as text: markdown for an agent's context and for people, JSON for machines."""

from collections.abc import Iterator

from projections.brief.brief import Brief
from projections.brief.topics import TOPICS, Topic, entries
from projections.markdown import code, inline

_WHOLE = 1 << 30


def render(brief: Brief) -> str:
    """The brief as markdown."""
    return "\n".join((*_head(brief), *_sections(brief), ""))


def render_topics(brief: Brief) -> str:
    """Only the topics of a brief as markdown."""
    return "\n".join((*_sections(brief), "")).lstrip("\n")


def line(topic: Topic, entry: object) -> str:
    """One item of a topic as a line of markdown."""
    return f"- {topic.line(entry)}"


def heading(topic: Topic, shown: int, count: int) -> str:
    """The title of a topic, with what is shown of it."""
    of = f" ({shown:,} of {count:,})" if shown < count else ""
    return f"## {topic.title}{of}"


def _head(brief: Brief) -> Iterator[str]:
    yield f"# {inline(brief.title, _WHOLE)}: {brief.verdict.replace('_', ' ')}"
    yield ""
    if brief.step:
        agent = f", agent {inline(brief.agent, _WHOLE)}" if brief.agent else ""
        at = f", at checkpoint {inline(brief.checkpoint, _WHOLE)}" if brief.checkpoint else ""
        unit = "Phase" if brief.phases or "phases" in brief.left_out else "Step"
        yield f"{unit} {inline(f'{brief.step} {brief.name}', _WHOLE)}{agent}{at}."
    if brief.mismatches or "mismatches" in brief.left_out:
        yield "Before anything else, look at what is not as it was left."
    yield inline(brief.say, _WHOLE)
    yield ""
    if brief.command:
        yield f"- Next command: {code(brief.command, _WHOLE)}"
    if brief.next_action:
        yield f"- Next action, as it was left: {inline(brief.next_action, _WHOLE)}"
    if brief.left_out:
        counts = ", ".join(f"{n:,} {TOPICS[name].noun}" for name, n in brief.left_out.items())
        yield f"- Left out to fit: {counts}; {code(brief.more, _WHOLE)} shows them"


def _sections(brief: Brief) -> Iterator[str]:
    for topic in TOPICS.values():
        shown = entries(brief, topic)
        if shown:
            yield ""
            yield heading(topic, len(shown), len(shown) + brief.left_out.get(topic.name, 0))
            yield ""
            yield from (line(topic, entry) for entry in shown)
