"""From the snapshots in an agent's file to the requests that put them on record.

The file is not touched by it: what is no snapshot in it is nobody's business, and one that cannot
be put on record stands there as before.
"""

import os

from journal import events as e
from journal.clock import Moment
from journal.entities import Project, Session
from journal.payloads import has_checksum, matches
from journal.request import Request
from projections.adopting import begun, titled
from projections.draft import Draft
from projections.snapshot.claim import EVER, Claim, agent_of, claimed
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
    found = [entry for entry in entries(content) if entry.body]
    if not project.version:
        begun(draft, path)
    before = set(project.sessions)
    for entry in found:
        _adopt(draft, entry, os.path.basename(path), now, before)
    return draft.requests


def _adopt(draft: Draft, entry: Entry, file: str, now: int, before: set[str]) -> None:
    """Record one of them, in a session of its own that it closes; one of `before` goes on."""
    claim = claimed(draft.project, entry, file)
    token = claim.token
    name = claim.agent or agent_of(file)
    if not name or (has_checksum(token) and not matches(token, entry.body)):
        return  # whose it is, or whether it is still what was written, nobody can tell
    agent = titled(draft, name)
    if any(x.agent == agent and x.body == entry.body for x in draft.project.snapshots.values()):
        return
    moment = None if claim.taken == EVER else min(claim.taken, now)
    session = _session(draft, entry, agent, moment)
    if session is None:
        return
    taken = _taken(entry, claim, agent, session.id)
    if draft.add(taken, moment, actor=agent) and session.id not in before:
        draft.add(
            e.SessionEnded(session.id, handoff_reason=taken.close_reason), moment, actor=agent
        )


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
    if own or not draft.add(e.SessionStarted(agent, name), moment, actor=agent):
        return None
    return next(reversed(draft.project.sessions.values()))


def _taken(entry: Entry, claim: Claim, agent: str, session: str) -> e.SnapshotTaken:
    has = read(entry.body)
    revision = entry.front.get("turnfile_revision")
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
        token=claim.token if claim.token.startswith("REV-") else "",
    )


def _reason(stated: str) -> e.CloseReason:
    """Why it was closed, as near as the words come to one of the four reasons."""
    begin = stated.strip().lower()
    if begin.startswith("maintainer"):
        return "maintainer-directed"
    if begin.startswith("context"):
        return "context-exhausted"
    return "timeout" if begin.startswith("timeout") else "completed"
