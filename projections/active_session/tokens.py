"""The tokens that a file counts, and what of them is new."""

from collections.abc import Mapping

import msgspec

from journal import events as e
from journal.events import Json
from projections.active_session.document import count, part
from projections.draft import Draft
from projections.leftovers import Object

#: So many bytes of counts an event keeps.
_MOST = 400_000
_COUNTS = ("input", "output", "cached")
#: What these fields say is recorded as tokens used.
COUNTED = frozenset((*_COUNTS, *(f"total_{name}" for name in _COUNTS)))


def spend(draft: Draft, before: Object, theirs: Object) -> None:
    """Record what the file counts beyond what was known, and what exceeds the sums by agent as
    used by nobody in particular."""
    was, now = part(before, "token_usage"), part(theirs, "token_usage")
    named = dict.fromkeys(_COUNTS, 0)
    for agent, row in part(now, "by_agent").items():
        old = part(part(was, "by_agent"), agent)
        more = {name: _more(row, old, name) for name in _COUNTS}
        if agent and any(more.values()) and draft.add(_used(more, agent)):
            named = {name: named[name] + more[name] for name in _COUNTS}
    rest = {name: max(_more(now, was, f"total_{name}") - named[name], 0) for name in _COUNTS}
    if any(rest.values()):
        draft.add(_used(rest), nobody=True)


def counted(before: Object, theirs: Object) -> dict[str, tuple[int, int, int]] | None:
    """What a file counts otherwise than when it was rendered, by agent; of nobody, in all.

    None if that is more than an event can keep.
    """
    was, now = part(before, "token_usage"), part(theirs, "token_usage")
    old, new = part(was, "by_agent"), part(now, "by_agent")
    found = {agent: _counts(new[agent]) for agent in new if agent}
    found = {agent: each for agent, each in found.items() if each != _counts(old.get(agent))}
    if _counts(now, "total_") != _counts(was, "total_"):
        found[""] = _counts(now, "total_")
    return found if len(msgspec.json.encode(found)) <= _MOST else None


def counted_before(before: Object, last: e.ProjectAdopted | None, version: int) -> Object:
    """The front matter that a file was rendered as, with what was counted since out of that very
    file: whoever writes into it twice before it is rendered again has counted the first time too.
    """
    if last is None or not last.base or last.base != version:
        return before
    usage = dict(part(before, "token_usage"))
    agents = dict(part(usage, "by_agent"))
    for agent, counts in last.tokens.items():
        row: Object = dict(zip(_COUNTS, counts, strict=True))
        if agent:
            agents[agent] = {**part(agents, agent), **row}
        else:
            usage |= {f"total_{name}": count for name, count in row.items()}
    return {**before, "token_usage": {**usage, "by_agent": agents}}


def _counts(of: Json, prefix: str = "") -> tuple[int, int, int]:
    input, output, cached = (count(of, f"{prefix}{name}") for name in _COUNTS)
    return input, output, cached


def _used(counts: Mapping[str, int], agent: str = "") -> e.TokensUsed:
    return e.TokensUsed(counts["input"], counts["output"], counts["cached"], agent)


def _more(now: Json, was: Json, name: str) -> int:
    """How much a count has grown; tokens are only ever added."""
    return max(count(now, name) - count(was, name), 0)
