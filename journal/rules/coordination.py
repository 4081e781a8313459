"""When it may happen: leases and what is asked for under one, turns, signals, phases."""

from collections.abc import Mapping

from msgspec.structs import replace

from journal import events as e
from journal.clock import iso
from journal.entities import (
    Lease,
    Project,
    held_lease,
    is_maintainer,
    is_stale,
    lease_until,
    leases_on,
    maintainer_of,
)
from journal.errors import Invalid, Rejected, quoted
from journal.rules.names import check_own, command, find, find_step, known_actor, new_id, next_id
from journal.rules.rule import By, Rules

#: Only so many renewals in the time that a lease lasts are recorded; one sooner changes nothing.
RENEWALS = 5


_LEASES = (e.LeaseAcquired, e.LeaseRenewed, e.LeaseReleased, e.LeaseExpired)


def check_lease(p: Project, x: e.Event, by: By) -> None:
    """Refuse what is asked under a lease that is lost; one that nobody took over still holds."""
    # A lease event names its token itself, and a new lease is the way back from a lost one.
    if by.lease is None or isinstance(x, _LEASES):
        return
    lease = p.leases.get(by.lease)
    if lease is None or lease.status != "held":
        step = lease.step if lease else _step_of(p, x)
        raise _lost(p, f"record {x.type} under lease {quoted(by.lease)}", lease, step)


def _step_of(p: Project, x: e.Event) -> str:
    """The step that is meant by a request whose lease nobody knows."""
    named = str(getattr(x, "step", "")).replace(".", "_")
    return named if named in p.steps else p.current


def _lost(p: Project, asked: str, lease: Lease | None, step: str) -> Rejected:
    """What became of a lease that is not held, who has its step now, and how to get it."""
    ended = {"released": "it was released", "expired": "it has expired"}
    was = ended[lease.status] if lease else "there is no such lease"
    if (lease is None and not p.steps) or (lease is not None and lease.files):
        return _lost_files(p, asked, was, lease.files if lease else ("FILE",))
    holder = held_lease(p, step)
    if holder is not None:
        return Rejected(asked, f"{was}, and {_held(holder)}")
    free = f", and step {step} is free" if step else ""
    return Rejected(asked, f"{was}{free}", [f"lease acquire {step or 'STEP'}"])


def _lost_files(p: Project, asked: str, was: str, files: tuple[str, ...]) -> Rejected:
    """What became of a lease on files that is not held, who has them now, and how to get them."""
    if held := leases_on(p, files):
        return Rejected(asked, f"{was}, and {_held_files(p, held[0])}")
    words = (word for file in files for word in ("--file", file))
    return Rejected(asked, was, [command("lease", "acquire", *words)])


def _held(lease: Lease) -> str:
    return (
        f"{lease.agent or 'an unnamed agent'} has step {lease.step} "
        f"since {iso(lease.acquired)}, until {iso(lease_until(lease))} if it is not renewed"
    )


def _is_over(lease: Lease, by: By) -> bool:
    return by.now >= lease_until(lease)


def _lease_acquired(p: Project, x: e.LeaseAcquired, by: By) -> list[e.Event]:
    if len(x.token) > 200 or not x.token.isprintable():
        raise Invalid(f"a lease's token is 1 to 200 printable characters, not {quoted(x.token)}")
    if bool(x.step) == bool(x.files):
        raise Invalid("a lease is on one step, or on files; name one of the two")
    if x.files:
        return _files_leased(p, x, by)
    x = replace(x, step=find_step(p, x.step).key, agent=x.agent or by.actor or "")
    held = held_lease(p, x.step)
    if held and _is_same(p, held, x, by):
        return [e.LeaseRenewed(x.token, x.step)] if _is_over(held, by) else []
    if held and not _is_over(held, by):
        raise Rejected(f"acquire a lease on step {x.step}", _held(held))
    if used := p.leases.get(x.token):
        raise Rejected(
            f"acquire a lease on step {x.step} with token {quoted(x.token)}",
            f"that token names a lease on step {used.step} already, which is {used.status}; "
            "choose another, or none",
            [f"lease acquire {x.step}"],
        )
    return [e.LeaseExpired(held.token, held.step, held.agent), x] if held else [x]


def _is_same(p: Project, held: Lease, x: e.LeaseAcquired, by: By) -> bool:
    """Whether it is the lease that is held: two who choose the same token by chance are two."""
    session = p.session_names.get(by.session or "", by.session)
    asked = (x.token, x.agent, session, x.seconds)
    return asked == (held.token, held.agent, held.session, held.seconds)


def _current(p: Project, x: e.LeaseRenewed | e.LeaseReleased | e.LeaseExpired, verb: str) -> Lease:
    """The lease of that token, which must still be held."""
    lease = p.leases.get(x.token)
    step = find_step(p, x.step).key if x.step else ""
    if lease is None or lease.status != "held":
        step = lease.step if lease else step or p.current
        raise _lost(p, f"{verb} lease {quoted(x.token)}", lease, step)
    if step not in ("", lease.step):
        raise Rejected(
            f"{verb} lease {quoted(x.token)} on step {step}", f"it is on step {lease.step}"
        )
    return lease


def _lease_renewed(p: Project, x: e.LeaseRenewed, by: By) -> list[e.Event]:
    lease = _current(p, x, "renew")
    if lease.files:
        check_own(p, lease.agent, by, f"renew lease {quoted(x.token)}")
        again = e.LeaseAcquired(
            lease.token, "", lease.agent, files=lease.files, revisions=lease.revisions
        )
        return [] if lease.revision == p.revision else [replace(again, reason=lease.reason)]
    soon = (by.now - lease.renewed) * RENEWALS < lease_until(lease) - lease.renewed
    return [] if soon else [replace(x, step=lease.step)]


def _lease_released(p: Project, x: e.LeaseReleased, by: By) -> list[e.Event]:
    known = p.leases.get(x.token)
    if known and known.status == "released":
        return []
    lease = _current(p, x, "release")
    if lease.files:
        asked = f"release lease {quoted(x.token)}"
        check_own(p, lease.agent, by, asked)
        _check_reason(lease.agent, x.reason, by, asked)
    return [replace(x, step=lease.step)]


def _lease_expired(p: Project, x: e.LeaseExpired, by: By) -> list[e.Event]:
    lease = _current(p, x, "expire")
    if lease.files and not is_stale(p, lease):
        raise Rejected(f"expire lease {quoted(x.token)}", _held_files(p, lease))
    if lease.step and not _is_over(lease, by):
        raise Rejected(f"expire lease {quoted(x.token)}", _held(lease))
    return [replace(x, step=lease.step, agent=lease.agent)]


# -- leases on files -------------------------------------------------------------------------


def _files_leased(p: Project, x: e.LeaseAcquired, by: By) -> list[e.Event]:
    """A lease on files: whoever was first holds it, until it has lasted for its revisions."""
    agent = known_actor(p, x.agent or by.actor or "")
    if p.coordination is not None and not agent:
        raise Invalid("who is to hold these files? say so with --actor")
    check_own(p, agent, by, "acquire a lease")
    usual = p.coordination.lease if p.coordination else 2
    x = replace(x, agent=agent, revisions=x.revisions or usual)
    expired: list[e.Event] = []
    for lease in leases_on(p, x.files):
        if (lease.token, lease.agent, set(lease.files)) == (x.token, agent, set(x.files)):
            return [] if lease.revision == p.revision else [*expired, x]
        if not is_stale(p, lease):
            raise Rejected(f"acquire a lease on {', '.join(x.files)}", _held_files(p, lease))
        expired.append(e.LeaseExpired(lease.token, "", lease.agent))
    if used := p.leases.get(x.token):
        raise Rejected(
            f"acquire a lease with token {quoted(x.token)}",
            f"that token names a lease already, which is {used.status}; choose another, or none",
        )
    return [*expired, x]


def _held_files(p: Project, lease: Lease) -> str:
    return (
        f"{lease.agent or 'an unnamed agent'} has {lease.token} on {', '.join(lease.files)} since "
        f"revision {lease.revision}, for {lease.revisions} revisions, and it is {p.revision} now"
    )


# -- turns and signals -----------------------------------------------------------------------


def _turn_requested(p: Project, x: e.TurnRequested, by: By) -> list[e.Event]:
    agent = _agent(p, x.agent, by, "request a turn")
    waiting = (turn for turn in p.turns.values() if turn.agent == agent)
    if any((turn.action, turn.priority) == (x.action, x.priority) for turn in waiting):
        return []
    return [replace(x, agent=agent, turn=_new(p, x.turn, "TURN-", p.turns))]


def _turn_taken(p: Project, x: e.TurnTaken, by: By) -> list[e.Event]:
    turn = find("turn", x.turn, p.turns)
    asked = f"take {turn.id}"
    check_own(p, turn.agent, by, asked)
    first = min(p.turns.values(), key=lambda each: each.priority)
    if turn.priority > first.priority or (turn.priority == first.priority and turn != first):
        raise Rejected(
            asked,
            f"{first.id} of {first.agent} comes first ({first.priority}: {first.action})",
            [command("turn", "withdraw", first.id, "--reason", "REASON")],
        )
    return [replace(x, turn=turn.id)]


def _turn_withdrawn(p: Project, x: e.TurnWithdrawn, by: By) -> list[e.Event]:
    turn = find("turn", x.turn, p.turns)
    check_own(p, turn.agent, by, f"withdraw {turn.id}")
    _check_reason(turn.agent, x.reason, by, f"withdraw {turn.id}")
    return [replace(x, turn=turn.id)]


def _turn_moved(p: Project, x: e.TurnMoved, by: By) -> list[e.Event]:
    turn = find("turn", x.turn, p.turns)
    before = find("turn", x.before, p.turns).id if x.before else ""
    check_maintainer(p, by, f"move {turn.id}", x.reason)
    queue = [each.id for each in p.turns.values()]
    behind = queue[queue.index(turn.id) + 1 :]
    same = (behind[0] if behind else "") == before or before == turn.id
    return [] if same else [replace(x, turn=turn.id, before=before)]


def _signal_sent(p: Project, x: e.SignalSent, by: By) -> list[e.Event]:
    agent = _agent(p, x.agent, by, "send a signal")
    to = known_actor(p, x.to) if x.to not in ("", "all") else "all"
    return [replace(x, agent=agent, to=to, signal=_new(p, x.signal, "SIG-", p.signals))]


def _new(p: Project, given: str, words: str, taken: Mapping[str, object]) -> str:
    """The id that is given, if it is free, else the next that nothing ever had."""
    return new_id(given, "", taken, words.rstrip("-").lower()) if given else next_id(p, words)


def _agent(p: Project, named: str, by: By, asked: str) -> str:
    """Whose it is: the agent that is named, else the actor; each acts for itself."""
    agent = known_actor(p, named or by.actor or "")
    if not agent:
        raise Invalid(f"who is to {asked}? say so with --actor")
    check_own(p, agent, by, asked)
    return agent


# -- what is the maintainer's ----------------------------------------------------------------


def check_maintainer(p: Project, by: By, asked: str, reason: str) -> None:
    """Refuse what only the maintainer may do, and never without a reason."""
    if not is_maintainer(p, by.actor):
        who, actor = maintainer_of(p), by.actor or "an unnamed actor"
        if not who:
            offer = command("actor", "register", "NAME", "--role", "maintainer")
            raise Rejected(asked, "it is for a maintainer to do, and none is registered", [offer])
        raise Rejected(asked, f"it is for the maintainer, {who}, to do, not for {actor}")
    if not reason:
        raise Invalid(f"why {asked}? whoever maintains a workspace gives a --reason")


def _check_reason(owner: str, reason: str, by: By, asked: str) -> None:
    """Whoever overrides somebody says why."""
    if by.actor not in (owner, None) and not reason:
        raise Invalid(f"why {asked} of {owner or 'nobody'}? say so with --reason")


def _phase_advanced(p: Project, x: e.PhaseAdvanced, by: By) -> list[e.Event]:
    if not (x.phase.isprintable() and x.step.isprintable()):
        raise Invalid("phase and step are labels on one line")
    if (p.phase, p.phase_step) == (x.phase, x.step):
        return []
    check_maintainer(p, by, "advance the phase", x.reason)
    return [x]


def _escalation_raised(p: Project, x: e.EscalationRaised, by: By) -> list[e.Event]:
    message = find("message", x.message, p.messages).id if x.message else ""
    if message and p.messages[message].escalated:
        return []
    id = _new(p, x.escalation, "ESC-", p.escalations)
    return [replace(x, message=message, escalation=id)]


def _escalation_answered(p: Project, x: e.EscalationAnswered, by: By) -> list[e.Event]:
    known = find("escalation", x.escalation, p.escalations)
    if known.answered is not None:
        if known.answer == x.answer:
            return []
        raise Rejected(f"answer {known.id}", f"it was answered already: {known.answer}")
    check_maintainer(p, by, f"answer {known.id}", x.answer)
    return [replace(x, escalation=known.id)]


RULES: Rules = {
    e.LeaseAcquired: _lease_acquired,
    e.LeaseRenewed: _lease_renewed,
    e.LeaseReleased: _lease_released,
    e.LeaseExpired: _lease_expired,
    e.TurnRequested: _turn_requested,
    e.TurnTaken: _turn_taken,
    e.TurnWithdrawn: _turn_withdrawn,
    e.TurnMoved: _turn_moved,
    e.SignalSent: _signal_sent,
    e.PhaseAdvanced: _phase_advanced,
    e.EscalationRaised: _escalation_raised,
    e.EscalationAnswered: _escalation_answered,
}
