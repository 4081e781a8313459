"""When it may happen: snapshots."""

from msgspec.structs import replace

from journal import events as e
from journal.clock import day
from journal.entities import Project, is_maintainer
from journal.errors import Rejected
from journal.payloads import checksum
from journal.rules.names import check_agent_id, command, find_session
from journal.rules.rule import By, Rules


def _snapshot_taken(p: Project, x: e.SnapshotTaken, by: By) -> list[e.Event]:
    session = find_session(p, x.session, by)
    agent = x.agent or session.agent or by.actor or ""
    check_agent_id(agent)
    asked = f"take a snapshot of session {session.id}"
    if session.agent and agent != session.agent:
        raise Rejected(asked, f"it is {session.agent}'s, not {agent}'s")
    if by.actor not in (agent, None) and not is_maintainer(p, by.actor):
        raise Rejected(asked, f"{by.actor} is neither {agent} nor the maintainer")
    if session.status != "active":
        raise Rejected(asked, f"it has {session.status}", [command("session", "start")])
    own = [each for each in p.snapshots.values() if each.agent == agent]
    if own and (own[-1].session, own[-1].body) == (session.id, x.body):
        return []
    sequence = max((each.sequence for each in own), default=0) + 1
    sessions = [each.id for each in p.sessions.values() if each.agent == agent]
    today = day(by.now).replace("-", "")
    return [
        replace(
            x,
            agent=agent,
            session=session.id,
            number=x.number or sessions.index(session.id) + 1,
            sequence=sequence,
            revision=x.revision or p.revision,
            token=f"REV-{today}-snapshot-{agent}-{sequence:02}-h{checksum(x.body)}",
        )
    ]


RULES: Rules = {e.SnapshotTaken: _snapshot_taken}
