"""How entries of the worklog are written, and the one line that it has of a snapshot."""

import re
from collections.abc import Iterator, Sequence

from journal.clock import iso
from journal.entities import Project
from journal.events import Handoff
from journal.peers import Snapshot, WorklogEntry
from journal.worklog import is_done
from projections import prose
from projections.markdown import inline
from projections.snapshot.writing import heading

#: What a value that is not there is written as.
NONE = "none"
#: A title is one line, and no longer.
_TITLE = 500
#: What an id may be made of to stand in a comment, which it could otherwise end.
_SAFE = re.compile(r"[A-Za-z0-9._]+(?:-[A-Za-z0-9._]+)*")


def entry(x: WorklogEntry) -> str:
    """An entry as it was logged; nothing that happens to it later changes that."""
    mark = f" <!-- {x.id} -->" if _SAFE.fullmatch(x.id) else ""
    refers = f", refers to {', '.join(map(inline, x.refers))}" if x.refers else ""
    title = inline(x.title, _TITLE) or "untitled"
    lines = ["", f"### {inline(x.agent) or 'nobody'}: {title}{mark}", ""]
    lines.append(f"{iso(x.at)}{refers}")
    if x.text:
        lines += ["", *prose.block(x.text)]
    if x.handoff is not None:
        lines += ["", *_handoff(x, x.handoff)]
    return "".join(f"{line}\n" for line in lines)


def completed(x: WorklogEntry) -> str:
    """That an entry was completed, where its own words do not say so; empty where they do."""
    said = x.completed == x.at or (x.handoff is not None and is_done(x.handoff.status))
    if x.completed is None or (said and not x.note) or not _SAFE.fullmatch(x.id):
        return ""
    note = f": {inline(x.note, _TITLE)}" if x.note else ""
    return f"\nCompleted {iso(x.completed)}{note} <!-- {x.id} -->\n"


def snapshot(project: Project, x: Snapshot) -> str:
    """The one line that the worklog has of a snapshot, and where the whole of it is."""
    task = project.tasks.get(x.task)
    at = " ".join(filter(None, (x.task, task.title if task else "")))
    told = ", ".join(filter(None, (at or "no task", x.status)))
    following = f"; next: {inline(x.next_action)}" if x.next_action else ""
    folder = project.coordination.workspace.rstrip("/") if project.coordination else "."
    mark = f" <!-- snapshot {x.token} -->" if _SAFE.fullmatch(x.token) else ""
    where = inline(f"{folder}/chat-{x.agent}.md", _TITLE)
    return (
        f"\n### {inline(x.agent)}: Session closed, {x.close_reason}{mark}\n\n"
        f"{inline(told)}{following}\n"
        f"Full resumption snapshot: {where} § {heading(x.number)}\n"
    )


def _handoff(x: WorklogEntry, said: Handoff) -> Iterator[str]:
    """The block for whoever goes on; no line of it can end it, or pass for another field."""
    yield "```text"
    yield f"Handoff: {inline(x.title, _TITLE)}"
    yield f"Owner: {_spelled(x.agent)}"
    yield from _field("Status", said.status)
    yield from _listed("Changed files", said.changed_files)
    yield from _field("Tests run", said.tests)
    yield from _field("Blocking items", said.blocking)
    yield from _field("Next owner", said.next_owner)
    yield "```"


def _field(key: str, value: str) -> Iterator[str]:
    """A value on the line of its key, one of several lines as a list; the word for none is none."""
    if not value:
        yield f"{key}: {NONE}"
    elif "\n" in value:
        yield from _listed(key, value.split("\n"))
    else:
        yield f"{key}: {_spelled(value)}"


def _listed(key: str, values: Sequence[str]) -> Iterator[str]:
    yield f"{key}:" if values else f"{key}: {NONE}"
    yield from (f"  - {_spelled(value)}" for value in values)


def _spelled(value: str) -> str:
    """A value on one line, to the letter."""
    lines = [prose.spelled(line) or prose.NOTHING for line in value.split("\n")]
    return "\\u{a}".join(lines) if len(lines) > 1 else lines[0]
