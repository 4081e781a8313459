"""When it may happen: snapshots."""

import re

from msgspec.structs import replace

from journal import events as e
from journal.clock import day
from journal.entities import Project, Session, is_maintainer
from journal.errors import Invalid, NotFound, Rejected, quoted
from journal.payloads import checksum, has_checksum, matches
from journal.rules.names import check_agent_id, command, find_session
from journal.rules.rule import By, Rules

_TOKEN = re.compile(r"REV-[A-Za-z0-9._-]{1,150}")
#: What would end the entry of a file that a body stands in.
_HEADING = re.compile(r"^#{1,2}(?:[ \t]|$)", re.MULTILINE)
_PART = "### "
_LONGEST_HEADING = 300


def _snapshot_taken(p: Project, x: e.SnapshotTaken, by: By) -> list[e.Event]:
    if x.agent:
        check_agent_id(x.agent)
    session = _closing(p, x, by)
    agent = x.agent or session.agent or by.actor or ""
    check_agent_id(agent)
    _check_body(x.body)
    _check_heading(x.heading)
    asked = f"take a snapshot of session {session.id}"
    if session.agent and agent != session.agent:
        raise Rejected(asked, f"it is {session.agent}'s, not {agent}'s")
    if by.actor not in (agent, None) and not is_maintainer(p, by.actor):
        raise Rejected(asked, f"{by.actor} is neither {agent} nor the maintainer")
    own = [each for each in p.snapshots.values() if each.agent == agent]
    if own and (own[-1].session, own[-1].body) == (session.id, x.body):
        return []
    if session.status != "active":
        offer = command("session", "start", "--actor", agent)
        raise Rejected(asked, f"it has {session.status}", [offer])
    sequence = x.sequence or max((each.sequence for each in own), default=0) + 1
    sessions = [each.id for each in p.sessions.values() if each.agent == agent]
    return [
        replace(
            x,
            agent=agent,
            session=session.id,
            number=x.number or sessions.index(session.id) + 1,
            sequence=sequence,
            revision=x.revision or p.revision,
            token=_token(p, x, by, agent, sequence),
        )
    ]


def _closing(p: Project, x: e.SnapshotTaken, by: By) -> Session:
    """The session that it is of: the one that is named, else the one that the agent has open."""
    if x.session or by.session:
        return find_session(p, x.session, by)
    agent = x.agent or by.actor or ""
    own = [each for each in p.sessions.values() if agent and each.agent == agent]
    if not own:
        raise NotFound("session of", agent or "nobody", (), hint=_begin(agent))
    return next((each for each in reversed(own) if each.status == "active"), own[-1])


def _begin(agent: str) -> str:
    words = command("session", "start", *(("--actor", agent) if agent else ()))
    return f"`passdown {words}` begins one"


def _check_body(body: str) -> None:
    """Refuse what would not be read back as one entry of a file."""
    if not body.startswith(_PART) or "\r" in body:
        raise Invalid("the body of a snapshot begins with its first part, as in ### Active task")
    if heading := _HEADING.search(body):
        line = body.count("\n", 0, heading.start()) + 1
        raise Invalid(
            f"line {line} of the snapshot's body is a heading that would end it; write ### there"
        )


def _check_heading(heading: str) -> None:
    """Refuse what is not one line of a file."""
    if not (heading.isprintable() and len(heading) <= _LONGEST_HEADING):
        raise Invalid(
            f"the heading of a snapshot is one line of at most {_LONGEST_HEADING} characters; "
            "leave it out and it gets its own"
        )


def _token(p: Project, x: e.SnapshotTaken, by: By, agent: str, sequence: int) -> str:
    """The token of a snapshot: a given one has to be of this body, as far as it says."""
    if not x.token:
        taken = day(by.now if by.occurred is None else by.occurred).replace("-", "")
        return f"REV-{taken}-snapshot-{agent}-{sequence:02}-h{checksum(x.body)}"
    if not _TOKEN.fullmatch(x.token):
        raise Invalid(f"{quoted(x.token)} is no token of a snapshot; leave it out and it gets one")
    if has_checksum(x.token) and not matches(x.token, x.body):
        raise Invalid(
            f"the snapshot is malformed: its checksum is h{checksum(x.body)}, its token "
            f"{quoted(x.token)} is of another text; leave the token out and it gets its own"
        )
    if x.token in p.snapshots:
        raise Rejected(
            f"take a snapshot with token {quoted(x.token)}", "another snapshot has that token"
        )
    return x.token


RULES: Rules = {e.SnapshotTaken: _snapshot_taken}
