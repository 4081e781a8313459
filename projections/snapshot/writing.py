"""A snapshot as text: its body, and the entry that it is in an agent's file."""

import re
from collections.abc import Iterator, Sequence

from journal.clock import iso
from journal.peers import Snapshot
from projections import prose, yaml
from projections.markdown import inline
from projections.snapshot import parts as p
from projections.snapshot.parts import Changed, Cited, Parts, ToRead
from projections.snapshot.reading import read

#: So much of a title or a description stands on one line.
_LINE = 300
_NONE = "None."
NEXT = "**Next action:**"
WHY = "**In the agent's words:**"
DELETED = "**Deleted:**"


def heading(number: int) -> str:
    """What the entry of an agent's so-manieth session is called."""
    return f"Session Close — State Snapshot (Session {number})"


def title(snapshot: Snapshot) -> str:
    """What the entry of a snapshot is called; one that stood in a file keeps what it had there."""
    return snapshot.heading or heading(snapshot.number)


def entry(snapshot: Snapshot) -> str:
    """The entry of a snapshot, as it is appended to its agent's file."""
    front = "\n".join(yaml.mapping(_front(snapshot)))
    return f"## {title(snapshot)}\n\n```yaml\n{front}\n```\n\n{snapshot.body}\n"


def _front(snapshot: Snapshot) -> dict[str, yaml.Node]:
    """Who closed which session when and why; its mail in numbers."""
    has = read(snapshot.body)
    front: dict[str, yaml.Node] = {
        "session_id": yaml.text(snapshot.session),
        "agent": yaml.text(snapshot.agent),
        "timestamp": yaml.text(iso(snapshot.at)),
        "close_reason": yaml.text(snapshot.close_reason),
        "revision": yaml.text(snapshot.token),
    }
    if snapshot.branch:
        front["branch"] = yaml.text(snapshot.branch)
    front["turnfile_revision"] = yaml.number(snapshot.revision)
    if snapshot.phase:
        front["phase"] = yaml.text(snapshot.phase)
    front["mailbox"] = {
        "unread": yaml.number(snapshot.unread),
        "pending_acks": yaml.number(len(has.to_acknowledge)),
        "awaiting_response": yaml.number(len(has.unanswered)),
    }
    return front


def body(parts: Parts) -> str:
    """The body of a snapshot, from the first ### on; its text ends without a line break."""
    written = {
        p.ACTIVE: _active(parts),
        p.MAIL: _mail(parts),
        p.COMMITMENTS: _listed(map(_cited, parts.commitments)),
        p.MODIFIED: _modified(parts),
        p.READING: _reading(parts.reading),
        p.DECISIONS: _decisions(parts),
        p.QUESTIONS: _listed(map(_cited, parts.questions)),
    }
    sections = (f"### {title}\n\n" + "\n".join(written[title]) for title in p.PARTS)
    return "\n\n".join(sections)


def _active(parts: Parts) -> list[str]:
    lines = [f"- **Status:** {parts.status or 'none'}"]
    task = " ".join(filter(None, (parts.task, inline(parts.title, _LINE))))
    lines += [f"- **Task:** {task}"] if task else []
    return [*lines, *_said(NEXT, parts.next_action)]


def _said(label: str, text: str) -> list[str]:
    """Text of the agent under its label, to the letter."""
    return ["", label, "", *prose.block(text)] if text else []


def _mail(parts: Parts) -> list[str]:
    lines: list[str] = []
    for label, found in (
        ("Unread", parts.unread),
        ("Pending acks", parts.to_acknowledge),
        ("Own posts without response", parts.unanswered),
    ):
        lines += [f"**{label}:** none"] if not found else [f"**{label}:**", "", *map(_cited, found)]
        lines.append("")
    return lines[:-1]


def _modified(parts: Parts) -> list[str]:
    lines = _listed(map(_changed, parts.modified))
    if parts.deleted:
        lines += ["", DELETED, "", *map(_changed, parts.deleted)]
    return lines


def _decisions(parts: Parts) -> list[str]:
    lines = [*map(_cited, parts.decisions)]
    if not (lines or parts.why):
        return [_NONE]
    said = _said(WHY, parts.why)
    return [*lines, *said] if lines else said[1:]


def _listed(lines: Iterator[str]) -> list[str]:
    return list(lines) or [_NONE]


def _cited(each: Cited) -> str:
    return f"- {each.id} — {inline(each.said, _LINE)}" if each.said else f"- {each.id}"


def _changed(each: Changed) -> str:
    said = ": ".join(filter(None, (each.change, inline(each.said, _LINE))))
    return f"- {path(each.path)} — {said}" if said else f"- {path(each.path)}"


def _reading(found: Sequence[ToRead]) -> list[str]:
    return [
        f"{n}. {' — '.join(filter(None, (path(x.path), cost(x), inline(x.why, _LINE))))}"
        for n, x in enumerate(found, start=1)
    ] or [_NONE]


def cost(each: ToRead) -> str:
    """About what it takes to read a file: `~200 lines / ~4.0K tokens`."""
    if each.tokens is None:
        return "not there"
    tokens = f"{each.tokens / 1000:.1f}K" if each.tokens >= 1000 else str(each.tokens)
    lines = "" if each.lines is None else f"~{each.lines} lines / "
    return f"{lines}~{tokens} tokens"


def path(path: str) -> str:
    """A path as a code span that keeps each of its characters."""
    longest = max(map(len, re.findall("`+", path)), default=0)
    fence = "`" * (longest + 1)
    edge = " " if path[:1] in "` " or path[-1:] in "` " else ""
    return f"{fence}{edge}{path}{edge}{fence}"
