"""When it may happen: leases, and what is asked for under one."""

from msgspec.structs import replace

from journal import events as e
from journal.clock import iso
from journal.entities import Lease, Project, held_lease, lease_until
from journal.errors import Invalid, Rejected, quoted
from journal.rules.names import find_step
from journal.rules.rule import By, Rules

#: Only so many renewals in the time that a lease lasts are recorded; one sooner changes nothing.
RENEWALS = 5


def check_lease(p: Project, x: e.Event, by: By) -> None:
    """Refuse what is asked under a lease that is lost; one that nobody took over still holds."""
    # A lease event names its token itself, and a new lease is the way back from a lost one.
    if by.lease is None or type(x) in RULES:
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
    holder = held_lease(p, step)
    if holder is not None:
        return Rejected(asked, f"{was}, and {_held(holder)}")
    free = f", and step {step} is free" if step else ""
    return Rejected(asked, f"{was}{free}", [f"lease acquire {step or 'STEP'}"])


def _held(lease: Lease) -> str:
    return (
        f"{lease.agent or 'an unnamed agent'} has step {lease.step} "
        f"since {iso(lease.acquired)}, until {iso(lease_until(lease))} if it is not renewed"
    )


def _is_stale(lease: Lease, by: By) -> bool:
    return by.now >= lease_until(lease)


def _lease_acquired(p: Project, x: e.LeaseAcquired, by: By) -> list[e.Event]:
    if len(x.token) > 200 or not x.token.isprintable():
        raise Invalid(f"a lease's token is 1 to 200 printable characters, not {quoted(x.token)}")
    x = replace(x, step=find_step(p, x.step).key, agent=x.agent or by.actor or "")
    held = held_lease(p, x.step)
    if held and _is_same(p, held, x, by):
        return [e.LeaseRenewed(x.token, x.step)] if _is_stale(held, by) else []
    if held and not _is_stale(held, by):
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
    soon = (by.now - lease.renewed) * RENEWALS < lease_until(lease) - lease.renewed
    return [] if soon else [replace(x, step=lease.step)]


def _lease_released(p: Project, x: e.LeaseReleased, by: By) -> list[e.Event]:
    known = p.leases.get(x.token)
    if known and known.status == "released":
        return []
    return [replace(x, step=_current(p, x, "release").step)]


def _lease_expired(p: Project, x: e.LeaseExpired, by: By) -> list[e.Event]:
    lease = _current(p, x, "expire")
    if not _is_stale(lease, by):
        raise Rejected(f"expire lease {quoted(x.token)}", _held(lease))
    return [replace(x, step=lease.step, agent=lease.agent)]


RULES: Rules = {
    e.LeaseAcquired: _lease_acquired,
    e.LeaseRenewed: _lease_renewed,
    e.LeaseReleased: _lease_released,
    e.LeaseExpired: _lease_expired,
}
