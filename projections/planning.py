"""The `.planning/` tree: a file for each decision, each blocker and each session.

    decisions/2024-01-15-jwt-library.md
    blockers/block-001-oauth-creds.md
    sessions/session-001.md

A file shows one entry, with what that names, and nothing else: whatever else is recorded does not
touch it. So its stamp is of no version, which is written as version 0, and its hash is that of the
entry as it is shown. Whether a file is up to date can be told from that without rendering it.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import count
from typing import Generic, NamedTuple, TypeAlias, TypeVar

import msgspec
from msgspec.structs import replace

from journal.clock import day, iso
from journal.digest import sha256
from journal.entities import Blocker, Decision, Session
from journal.state import Project
from projections import stamp
from projections.markdown import clip, inline
from projections.position import chosen
from projections.values import as_text

NAME = "planning"
RENDERER = 1
FOLDERS = ("decisions", "blockers", "sessions")

#: The version in the stamp of a file that is of no version.
TIMELESS = 0
#: No more of what an entry is called in the name of its file.
LONGEST = 60


class Page(NamedTuple):
    """One file of a state."""

    #: The hash in its stamp, as long as it shows what the state has.
    source: str
    #: What it is in that or another state; nothing where that does not have the entry.
    render: Callable[[Project], bytes]


def pages(project: Project) -> dict[str, Page]:
    """The files that a state has, by path."""
    return {
        **_paged(project, _DECISIONS, project.decisions),
        **_paged(project, _BLOCKERS, project.blockers),
        **_paged(project, _SESSIONS, project.sessions),
    }


def intact(content: bytes) -> bool:
    """Whether the content could be such a file at all, whoever wrote it last."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return False
    return "\0" not in text and _TITLE.match(text) is not None


_TITLE = re.compile(r"\s*# *\S")

Shown = TypeVar("Shown", bound=msgspec.Struct)
Entry = TypeVar("Entry")


class _Kind(NamedTuple, Generic[Entry, Shown]):
    """One kind of entry: its folder, what its files may be called, and what they show."""

    folder: str
    names: Callable[[Entry], Iterator[str]]
    shown: Callable[[Project, str], Shown | None]
    write: Callable[[Shown], list[str]]


def _paged(
    project: Project, kind: _Kind[Entry, Shown], entries: dict[str, Entry]
) -> dict[str, Page]:
    found = {}
    names = _apart(map(kind.names, entries.values()))
    for id, name in zip(entries, names, strict=True):
        source = _source(project, kind.shown(project, id))
        found[f"{kind.folder}/{name}.md"] = Page(source, partial(_render, kind, id))
    return found


def _render(kind: _Kind[Entry, Shown], id: str, project: Project) -> bytes:
    shown = kind.shown(project, id)
    if shown is None:
        return b""
    signed = stamp.Stamp(project.slug, TIMELESS, _source(project, shown), RENDERER)
    lines = (*kind.write(shown), f"<!-- {stamp.line(signed)} -->", "")
    return stamp.stamped("\n".join(lines).encode())


def _source(project: Project, shown: msgspec.Struct | None) -> str:
    return sha256(_encode((RENDERER, project.slug, shown))).hexdigest()


_encode = msgspec.msgpack.Encoder().encode


# -- names -----------------------------------------------------------------------------------


def slug(text: str) -> str:
    """The words of a text as part of a file's name, which is the same on any system."""
    plain = unicodedata.normalize("NFKD", text[: 20 * LONGEST].casefold())
    words = re.sub(r"[^a-z0-9]+", "-", plain.encode("ascii", "ignore").decode())
    return words.strip("-")[:LONGEST].rstrip("-")


def _apart(names: Iterable[Iterator[str]]) -> Iterator[str]:
    """A name for each entry, the first that is free: what comes later takes none from it."""
    taken: set[str] = set()
    for wished in names:
        name = next(name for name in wished if name not in taken)
        taken.add(name)
        yield name


def _decision_names(decision: Decision) -> Iterator[str]:
    words = slug(decision.title) or slug(decision.key) or slug(decision.id)
    name = f"{day(decision.at)}-{words or 'decision'}"
    yield name
    yield from _numbered(f"{name}-{slug(decision.id)}".rstrip("-"))


def _blocker_names(blocker: Blocker) -> Iterator[str]:
    id = slug(blocker.id) or "blocker"
    yield from _numbered(f"{id}-{slug(blocker.description)}".rstrip("-"))


def _session_names(session: Session) -> Iterator[str]:
    yield from _numbered(slug(session.id) or "session")


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}-{number}" for number in count(2))


# -- what the files show ---------------------------------------------------------------------


class _ShownDecision(msgspec.Struct, frozen=True):
    decision: Decision
    step: str
    superseded_by: str


def _shown_decision(project: Project, id: str) -> _ShownDecision | None:
    decision = project.decisions.get(id)
    if decision is None:
        return None
    step = project.steps.get(decision.step)
    later = project.decisions.get(decision.superseded_by or "")
    return _ShownDecision(
        decision,
        f"{step.key} {step.name}" if step else decision.step,
        f"{later.id} {later.title or later.key}" if later else decision.superseded_by or "",
    )


def _write_decision(shown: _ShownDecision) -> list[str]:
    decision = shown.decision
    title = decision.title or decision.key or chosen(decision)
    facts = (
        ("Decision", inline(decision.id)),
        ("Date", day(decision.at)),
        ("Superseded by", inline(shown.superseded_by)),
        ("Kind", (decision.kind or "").replace("_", "-")),
        ("Key", _line(decision.key)),
        ("Value", _line(as_text(decision.value)) if decision.choice else ""),
        ("Reversible", {None: "", True: "yes", False: "no"}[decision.reversible]),
        ("Step", inline(shown.step)),
        ("Agent", inline(decision.agent)),
        ("Session", inline(decision.session or "")),
    )
    sections = (
        ("Context", _rest(title)),
        ("Decision", _text(chosen(decision))),
        ("Reason", _text(decision.rationale)),
        ("Alternatives", _items(decision.alternatives)),
        ("Impact", _text(decision.impact)),
    )
    return _document(inline(title) or f"Decision {inline(decision.id)}", facts, sections)


class _ShownBlocker(msgspec.Struct, frozen=True):
    blocker: Blocker
    tasks: list[str]
    workaround_tasks: list[str]


def _shown_blocker(project: Project, id: str) -> _ShownBlocker | None:
    blocker = project.blockers.get(id)
    if blocker is None:
        return None
    return _ShownBlocker(
        blocker, _titled(project, blocker.tasks), _titled(project, blocker.workaround_tasks)
    )


def _titled(project: Project, tasks: tuple[str, ...]) -> list[str]:
    named = ((id, project.tasks.get(id)) for id in tasks)
    return [f"{id} {task.title}" if task else id for id, task in named]


def _write_blocker(shown: _ShownBlocker) -> list[str]:
    blocker = shown.blocker
    facts = (
        ("Blocker", inline(blocker.id)),
        ("Status", blocker.status),
        ("Identified", iso(blocker.raised)),
        ("Resolved", "" if blocker.resolved is None else iso(blocker.resolved)),
    )
    sections = (
        ("Description", _rest(blocker.description)),
        ("Affects", _items(blocker.affects)),
        ("Blocked tasks", _items(shown.tasks)),
        ("Workaround", _text(blocker.workaround)),
        ("Tasks of the workaround", _items(shown.workaround_tasks)),
        ("Resolution", _text(blocker.resolution)),
    )
    title = inline(blocker.description) or f"Blocker {inline(blocker.id)}"
    return _document(title, facts, sections)


class _ShownSession(msgspec.Struct, frozen=True):
    session: Session
    continues: str
    continued_by: list[str]


def _shown_session(project: Project, id: str) -> _ShownSession | None:
    """A session without its signs of life, which come and go with whatever is recorded."""
    session = project.sessions.get(id)
    if session is None:
        return None
    named = project.session_names
    return _ShownSession(
        replace(session, heartbeat=None, progress=0),
        named.get(session.continues, session.continues),
        [x.id for x in project.sessions.values() if named.get(x.continues, x.continues) == id],
    )


def _write_session(shown: _ShownSession) -> list[str]:
    session, usage = shown.session, shown.session.context_usage
    facts = (
        ("Agent", inline(session.agent)),
        ("Name", inline(session.name)),
        ("Host", inline(session.host)),
        ("Status", session.status),
        ("Started", iso(session.started)),
        ("Ended", "" if session.ended is None else iso(session.ended)),
        ("Context usage", "" if usage is None else f"{round(100 * usage)}%"),
        ("Continues", inline(shown.continues)),
        ("Continued by", ", ".join(map(inline, shown.continued_by))),
    )
    sections = (
        ("Completed", _items(session.completed)),
        ("Issues", _items(session.issues)),
        ("Notes", _text("\n\n".join((session.note, *session.notes)))),
        ("Hand-off", _text(session.handoff_reason)),
        ("Reason", _text(session.reason)),
    )
    return _document(inline(session.id) or "Session", facts, sections)


_DECISIONS = _Kind("decisions", _decision_names, _shown_decision, _write_decision)
_BLOCKERS = _Kind("blockers", _blocker_names, _shown_blocker, _write_blocker)
_SESSIONS = _Kind("sessions", _session_names, _shown_session, _write_session)


# -- markdown --------------------------------------------------------------------------------

#: A label and what it says, safe already; what says nothing is left out.
Facts: TypeAlias = tuple[tuple[str, str], ...]
Sections: TypeAlias = tuple[tuple[str, list[str]], ...]


def _document(title: str, facts: Facts, sections: Sections) -> list[str]:
    lines = [f"# {title}", "", *(f"- {label}: {said}" for label, said in facts if said), ""]
    for heading, body in sections:
        if body:
            lines += [f"## {heading}", "", *body, ""]
    return lines


def _line(text: str) -> str:
    """The whole text as part of one line."""
    return inline(text, len(text) + 1)


def _items(texts: Iterable[str]) -> list[str]:
    return [f"- {_line(text)}".rstrip() for text in texts]


def _rest(title: str) -> list[str]:
    """The whole of what the first line could not show as it is."""
    return _text(title) if clip(title) != title.strip() else []


def _text(text: str) -> list[str]:
    """A text with its lines and paragraphs, each line of which is safe by itself."""
    lines: list[str] = []
    for line in map(_line, _BREAK.split(text)):
        if line and lines and lines[-1]:
            lines[-1] += "\\"  # or a reader would join the two
        if line or (lines and lines[-1]):
            lines.append(line)
    return lines[:-1] if lines and not lines[-1] else lines


_BREAK = re.compile(r"\r\n|\r|\n")
