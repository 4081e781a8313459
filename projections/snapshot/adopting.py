"""From the snapshots in an agent's file to the requests that put them on record.

The file is not touched by it: what is no snapshot in it is nobody's business, and one that cannot
be put on record stands there as before.
"""

import os

from journal import events as e
from journal.clock import Moment
from journal.entities import Project, Session
from journal.errors import quoted
from journal.payloads import checksum, has_checksum, matches
from journal.request import Request
from projections.adopting import begun, titled
from projections.draft import Draft
from projections.snapshot.claim import EVER, agent_of, claimed
from projections.snapshot.reading import Entry, entries, read


def adopt_bytes(
    content: bytes,
    project: Project,
    path: str,
    *,
    base: Project | None = None,
    removals: bool = False,
    now: int,
    by: Request,
) -> list[Request]:
    """The requests by which a project has the snapshots of a file; `base` and `removals` are for
    files that are ours.
    """
    draft = Draft(project, by, now)
    file = os.path.basename(path)
    found = [entry for entry in entries(content) if not _why_not(entry, file)]
    if not project.version:
        begun(draft, path)
    before = set(project.sessions)
    latest: Moment | None = None
    moments: list[Moment | None] = []
    for entry in reversed(found):
        taken = claimed(draft.project, entry, file).taken
        # One that says no time was taken before the next one was.
        latest = latest if taken == EVER else min(taken, now)
        moments.insert(0, latest)
    names = [entry.word("session_id") for entry in found]
    for n, (entry, moment) in enumerate(zip(found, moments, strict=True)):
        goes_on = names[n] != "" and names[n] in names[n + 1 : n + 2]
        _adopt(draft, entry, file, moment, before, goes_on)
    return draft.requests


def warnings(content: bytes, file: str) -> list[str]:
    """What is to be said of the snapshots in a file that cannot be put on record."""
    said = ((entry.line, _why_not(entry, file)) for entry in entries(content))
    return [
        f"line {line}: the snapshot stays out of the journal: {why}" for line, why in said if why
    ]


def _why_not(entry: Entry, file: str) -> str:
    """Why a snapshot cannot be put on record; empty if it can."""
    token = entry.word("revision")
    if not entry.body:
        return "it has no part, which begins with ###"
    if not (entry.word("agent") or agent_of(file)):
        return "it does not say whose it is"
    if has_checksum(token) and not matches(token, entry.body):
        return f"its token {quoted(token)} is of another text, which has h{checksum(entry.body)}"
    return ""


def _adopt(
    draft: Draft, entry: Entry, file: str, moment: Moment | None, before: set[str], goes_on: bool
) -> None:
    """Record one of them, in a session of its own that it closes unless that goes on; one of
    `before` always does."""
    claim = claimed(draft.project, entry, file)
    agent = titled(draft, claim.agent)
    if any(x.agent == agent and x.body == entry.body for x in draft.project.snapshots.values()):
        return
    session = _session(draft, entry, agent, moment)
    if session is None:
        return
    taken = _taken(entry, agent, session.id)
    if draft.add(taken, moment, actor=agent) and session.id not in before and not goes_on:
        ended = e.SessionEnded(session.id, handoff_reason=taken.close_reason)
        draft.add(ended, moment, actor=agent)


def _session(draft: Draft, entry: Entry, agent: str, moment: Moment | None) -> Session | None:
    """The session that it closes, begun if nobody knows it; none where the agent is at another."""
    project = draft.project
    named = entry.word("session_id")
    known = project.sessions.get(project.session_names.get(named, ""))
    if known is not None:
        return known if known.status == "active" else None
    own = [x for x in project.sessions.values() if x.agent == agent and x.status == "active"]
    own = [x for x in own if moment is None or x.started <= moment]
    name = named if named.isprintable() and 0 < len(named) <= 200 else ""
    if own or not draft.add(e.SessionStarted(agent, name, over=True), moment, actor=agent):
        return None
    return next(reversed(draft.project.sessions.values()))


def _taken(entry: Entry, agent: str, session: str) -> e.SnapshotTaken:
    has = read(entry.body)
    revision, token = entry.front.get("turnfile_revision"), entry.word("revision")
    return e.SnapshotTaken(
        entry.body,
        agent,
        session,
        entry.number,
        _reason(entry.word("close_reason")),
        has.status or "partial",
        has.task or has.title,
        has.next_action,
        entry.word("branch"),
        entry.word("phase"),
        revision if isinstance(revision, int) and 0 <= revision <= 2**53 else 0,
        has.unread_count or len(has.unread),
        token=token if token.startswith("REV-") else "",
        heading=entry.title if entry.title.isprintable() and len(entry.title) <= 300 else "",
    )


def _reason(stated: str) -> e.CloseReason:
    """Why it was closed, as near as the words come to one of the four reasons."""
    begin = stated.strip().lower()
    if begin.startswith("maintainer"):
        return "maintainer-directed"
    if begin.startswith("context"):
        return "context-exhausted"
    return "timeout" if begin.startswith("timeout") else "completed"
