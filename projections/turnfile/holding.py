"""What a TURNFILE.yaml says otherwise about locks and about who is next.

A lock in a file that the journal does not know as held is not held, and a turn that it does not
know does not wait: so neither is ever left standing in the file alone.
"""

from msgspec import convert

from journal import events as e
from journal.entities import Lease, Project, is_stale, leases_on, maintainer_of
from journal.events import Json
from projections.draft import Draft
from projections.leftovers import Object
from projections.turnfile.document import own, part
from projections.turnfile.doing import GONE, SAYS, called, did, enrolled, meant

# -- locks -----------------------------------------------------------------------------------


def adopt_locks(
    draft: Draft, before: Object, theirs: Object, removals: bool, base: Project | None
) -> None:
    """Acquire and give back; `base` is the state that the file was rendered from, if any was."""
    known, entries = part(before, "locks"), part(theirs, "locks")
    first = sorted(entries, key=lambda id: (_acquired(part(entries, id)), id))
    for id in first:
        entry = part(entries, id)
        if entry != known.get(id):
            # Nobody can have taken it before the file was there to be written into.
            since = max(_acquired(entry), base.revision + 1 if base else 0)
            _acquire(draft, known, id, entry, since)
    for id in known:
        lease = draft.project.leases.get(id)
        if removals and id not in entries and lease and lease.status == "held":
            stale = is_stale(draft.project, lease)
            event = e.LeaseExpired(id) if stale else e.LeaseReleased(id, reason=GONE)
            did(draft, event, lease.agent)
    theirs["locks"] = {id: entries[id] for id in entries if id in part(own(draft.project), "locks")}


def _acquired(entry: Object) -> int:
    revision = entry.get("acquired_rev")
    return revision if isinstance(revision, int) else 0


def _acquire(draft: Draft, known: Object, id: str, entry: Object, since: int) -> None:
    files = _texts(entry["files"])
    held = draft.project.leases.get(id)
    if held and (held.status != "held" or _is_same(draft.project, held, entry, since)):
        return
    holder = enrolled(draft, entry["holder"])
    if not holder:
        return
    for other in leases_on(draft.project, files):
        later = (since, id) < (other.revision, other.token)
        # Both were acquired without knowing of each other: the format says which of them yields.
        if later and other.token not in (id, *known) and not is_stale(draft.project, other):
            reason = f"{id} counts before it, since revision {since}"
            did(draft, e.LeaseReleased(other.token, reason=reason), other.agent)
    revisions, reason = entry["lease_revs"], str(entry["reason"])
    event = e.LeaseAcquired(
        id,
        "",
        holder,
        files=files,
        revisions=revisions if isinstance(revisions, int) else 0,
        reason=reason,
        revision=since,
    )
    did(draft, event, holder)


def _is_same(project: Project, held: Lease, entry: Object, since: int) -> bool:
    """Whether a lock is held as the file has it already, or longer."""
    same = held.agent == meant(project, entry["holder"]) and held.files == _texts(entry["files"])
    return same and (since <= held.revision or _acquired(entry) <= held.revision)


def _texts(value: Json) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


# -- turns -----------------------------------------------------------------------------------


def adopt_turns(
    draft: Draft, before: Object, theirs: Object, listed: list[Object], removals: bool
) -> None:
    """Request, take and move turns; the file has no ids for them, so that they go by what they
    are about."""
    known = part(before, "turn_queue")
    waiting = known | part(own(draft.project), "turn_queue")
    found: Object = {}
    foreign = part(theirs, "foreign")
    for entry in listed:
        agent = called(draft.project, entry["agent"])
        id = _matching(waiting, {**entry, "agent": agent}) or _requested(draft, entry)
        waiting.pop(id, None)
        if id:
            found[id] = entry
        else:
            foreign[f"turn_queue of {entry['agent']}"] = entry
    for id in known:
        if removals and id not in found and id in draft.project.turns:
            agent = draft.project.turns[id].agent
            if not did(draft, e.TurnTaken(id), agent):
                did(draft, e.TurnWithdrawn(id, GONE), agent)
    _move(draft, list(known), list(found))
    theirs["turn_queue"] = found


def _matching(waiting: Object, entry: Object) -> str:
    """The turn that an entry of the file is; of several alike the first that nobody took for it."""
    for keys in (("agent", "action", "requested_rev", "priority"), ("agent", "action")):
        for id in waiting:
            if all(part(waiting, id)[key] == entry[key] for key in keys):
                return id
    return ""


def _requested(draft: Draft, entry: Object) -> str:
    agent = enrolled(draft, entry["agent"])
    there = set(draft.project.turns)
    event = e.TurnRequested(str(entry["action"]), agent, convert(entry["priority"], e.Priority))
    if not agent or not did(draft, event, agent):
        return ""
    return next(id for id in draft.project.turns if id not in there)


def _move(draft: Draft, known: list[str], found: list[str]) -> None:
    """Put turns in the order of the file, if somebody put them into another than they were in."""
    if [id for id in known if id in found] == [id for id in found if id in known]:
        return
    keeper = maintainer_of(draft.project)
    behind = ""
    for id in reversed(found):
        if id in draft.project.turns:
            did(draft, e.TurnMoved(id, behind, SAYS), keeper)
            behind = id
