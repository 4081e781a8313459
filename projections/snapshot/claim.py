"""A snapshot as somebody has it: the journal, or a file, whose words may be another's."""

import re
from contextlib import suppress

from msgspec import Struct

from journal.clock import Moment, parse
from journal.entities import Project, last_snapshot
from journal.errors import Invalid, NotFound
from journal.peers import Snapshot
from journal.rules.names import known_actor
from projections.snapshot.reading import Entry

_FILE = re.compile(r"chat[-_](?P<agent>.+)\.md")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_WHOLE_DAY = 86_400_000_000 - 1
#: Later than any moment that a calendar has.
EVER = 1 << 62
_REASONS = ("completed", "context-exhausted", "timeout", "maintainer-directed")
_KEYS = ("session_id", "agent", "timestamp", "close_reason", "revision")


class Claim(Struct, frozen=True):
    """Whose snapshot it is, of when, by which token; what is wrong with what stands in front."""

    agent: str
    token: str
    body: str
    taken: Moment
    wrong: tuple[str, ...] = ()
    #: Where in a file it begins, and its body.
    line: int = 0
    body_line: int = 1

    def superseded_by(self, project: Project) -> str:
        """The token of the newest snapshot of the same agent, if that is another and later."""
        last = last_snapshot(project, self.agent)
        if last is None or last.token == self.token or last.at < self.taken:
            return ""
        return last.token


def recorded(taken: Snapshot) -> Claim:
    """A snapshot as the journal has it."""
    return Claim(taken.agent, taken.token, taken.body, taken.at)


def claimed(project: Project, entry: Entry, file: str) -> Claim:
    """A snapshot as it stands in a file of that name."""
    agent = entry.word("agent") or agent_of(file)
    with suppress(NotFound):  # who never was here goes by that name
        agent = known_actor(project, agent)
    token = entry.word("revision") or entry.word("revision_token")
    stated = entry.word("timestamp") or entry.word("date")
    told = {"revision": token, "timestamp": stated}
    missing = [f"it has no {key}" for key in _KEYS if not told.get(key, entry.word(key))]
    wrong = [entry.wrong] if entry.wrong else missing
    reason = entry.word("close_reason")
    if reason and reason not in _REASONS:
        wrong.append(f"its close_reason is {reason[:60]!r}, which is none of {', '.join(_REASONS)}")
    if not stated and (found := _DAY.search(entry.title)):
        stated = found[0]
    taken = moment(stated)
    body = entry.body
    known = project.snapshots.get(token)
    if known is not None and f"{body}\n".startswith(f"{known.body}\n"):
        body = known.body  # what follows is of the agent, which needs no heading to go on writing
    if stated and taken == EVER:
        wrong.append(f"its timestamp {stated[:60]!r} is no time")
    return Claim(agent, token, body, taken, tuple(wrong), entry.line, entry.body_line)


def moment(stated: str) -> Moment:
    """When a snapshot says that it was taken; of a day its end, and of nothing at all whenever."""
    try:
        return parse(stated) + (_WHOLE_DAY if _DAY.fullmatch(stated) else 0)
    except Invalid:
        return EVER


def agent_of(file: str) -> str:
    found = _FILE.fullmatch(file)
    return found["agent"] if found else ""
