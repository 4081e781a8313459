"""What the fold makes of events: leases."""

from typing import Literal

from msgspec.structs import replace

from journal import events as e
from journal.entities import Lease, Project
from journal.record import Record
from journal.state.session import session_of
from journal.state.table import Folds

# A lease runs by the time of the record: one that is reported for another time is held from now on.


def _lease_acquired(p: Project, x: e.LeaseAcquired, r: Record) -> None:
    agent = x.agent or r.actor or ""
    p.leases[x.token] = Lease(x.token, x.step, r.at, r.at, x.seconds, agent, session_of(p, r))
    p.leased[x.step] = x.token


def _lease_renewed(p: Project, x: e.LeaseRenewed, r: Record) -> None:
    if lease := p.leases.get(x.token):
        p.leases[x.token] = replace(lease, renewed=r.at)


def _end(p: Project, token: str, status: Literal["released", "expired"], r: Record) -> None:
    if lease := p.leases.get(token):
        p.leases[token] = replace(lease, status=status, ended=r.at)
        if p.leased.get(lease.step) == token:
            del p.leased[lease.step]


def _lease_released(p: Project, x: e.LeaseReleased, r: Record) -> None:
    _end(p, x.token, "released", r)


def _lease_expired(p: Project, x: e.LeaseExpired, r: Record) -> None:
    _end(p, x.token, "expired", r)


FOLDS: Folds = {
    e.LeaseAcquired: _lease_acquired,
    e.LeaseRenewed: _lease_renewed,
    e.LeaseReleased: _lease_released,
    e.LeaseExpired: _lease_expired,
}
