"""What of a project can be found by its words: all that was decided, noted, found, asked, done."""

from collections.abc import Iterator

from msgspec import Struct

from journal.state import Project, task_status
from projections.position import chosen


class Text(Struct, frozen=True):
    """The words of one thing; kind and item name it within its project."""

    kind: str
    item: str
    #: None where the state does not say.
    at: int | None
    words: str
    #: How it stands, where it is something that comes to an end.
    status: str = ""


def texts(project: Project) -> list[Text]:
    """The texts of a project, the oldest first."""
    found = (text for text in _texts(project) if text.words)
    return sorted(found, key=lambda text: project.updated if text.at is None else text.at)


def _texts(p: Project) -> Iterator[Text]:
    for d in p.decisions.values():
        said = (d.title, d.key, chosen(d), d.rationale, *d.alternatives, d.impact)
        status = "holds" if d.superseded_by is None else "superseded"
        yield Text("decision", d.id, d.at, _words(*said), status)
    for b in p.blockers.values():
        said = (b.description, *b.affects, b.workaround, b.resolution)
        yield Text("blocker", b.id, b.raised, _words(*said), b.status)
    for n, note in enumerate(p.context, start=1):
        yield Text("note", str(n), note.at, _words(note.text, note.file))
    for s in p.sessions.values():
        said = (s.note, *s.completed, *s.issues, *s.notes, s.handoff_reason, s.reason)
        yield Text("session", s.id, s.started, _words(s.name, *said), s.status)
    for agent, action in p.next_actions.items():
        yield Text("next", agent, None, _words(action))
    for f in p.findings.values():
        said = (f.title, f.detail, f.resolution)
        yield Text("finding", f.id, f.opened, _words(*said), _open(f.resolved))
    for e in p.errors.values():
        yield Text("error", e.id, e.at, _words(e.message, e.resolution), _open(e.resolved))
    for q in p.questions.values():
        yield Text("question", q.id, q.opened, _words(q.text, q.resolution), q.status)
    for t in p.tasks.values():
        said = (t.title, t.description, t.note)
        yield Text("task", t.id, t.created, _words(*said), task_status(p, t))
    for step in p.steps.values():
        said = (step.summary, step.reason, step.verified.details if step.verified else "")
        if any(said):
            at = step.started if step.completed is None else step.completed
            yield Text("step", step.key, at, _words(step.name, *said), step.status)
    for n, output in enumerate(p.outputs, start=1):
        yield Text("output", str(n), output.at, _words(output.text))
    for file in p.files.values():
        yield Text("file", file.path, file.at, _words(file.path, file.description), file.change)


def _words(*said: str) -> str:
    return "\n".join(part for part in said if part)


def _open(resolved: int | None) -> str:
    return "open" if resolved is None else "resolved"
