"""What the fold makes of events: leases, turns, signals, phases, escalations."""

from typing import Literal

from msgspec.structs import replace

from journal import events as e
from journal.entities import Lease, Project, count
from journal.peers import Escalation, SentSignal, Turn
from journal.record import Record
from journal.state.session import session_of
from journal.state.table import Folds

# A lease runs by the time of the record: one that is reported for another time is held from now on.


def _lease_acquired(p: Project, x: e.LeaseAcquired, r: Record) -> None:
    agent = x.agent or r.actor or ""
    p.leases[x.token] = Lease(
        x.token,
        x.step,
        r.at,
        r.at,
        x.seconds,
        agent,
        session_of(p, r),
        files=x.files,
        revision=min(x.revision, p.revision) or p.revision,
        revisions=x.revisions,
        reason=x.reason,
    )
    if x.step:
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


def _turn_requested(p: Project, x: e.TurnRequested, r: Record) -> None:
    agent = x.agent or r.actor or ""
    p.turns[x.turn] = Turn(x.turn, agent, x.action, x.priority, p.revision)
    count(p, x.turn)


def _turn_gone(p: Project, x: e.TurnTaken | e.TurnWithdrawn, r: Record) -> None:
    p.turns.pop(x.turn, None)


def _turn_moved(p: Project, x: e.TurnMoved, r: Record) -> None:
    turn = p.turns.pop(x.turn, None)
    if turn is None:
        return
    queue = list(p.turns.values())
    at = next((n for n, other in enumerate(queue) if other.id == x.before), len(queue))
    queue.insert(at, turn)
    p.turns = {each.id: each for each in queue}


def _signal_sent(p: Project, x: e.SignalSent, r: Record) -> None:
    sender = x.agent or r.actor or ""
    p.signals[x.signal] = SentSignal(x.signal, sender, x.to, x.kind, p.revision, r.time, x.detail)
    count(p, x.signal)


def _phase_advanced(p: Project, x: e.PhaseAdvanced, r: Record) -> None:
    p.phase, p.phase_step = x.phase, x.step


def _escalation_raised(p: Project, x: e.EscalationRaised, r: Record) -> None:
    p.escalations[x.escalation] = Escalation(x.escalation, x.subject, r.time, x.reason, x.message)
    count(p, x.escalation)
    if message := p.messages.get(x.message):
        p.messages[x.message] = replace(message, escalated=x.escalation)


def _escalation_answered(p: Project, x: e.EscalationAnswered, r: Record) -> None:
    if known := p.escalations.get(x.escalation):
        p.escalations[x.escalation] = replace(known, answer=x.answer, answered=r.time)


FOLDS: Folds = {
    e.LeaseAcquired: _lease_acquired,
    e.LeaseRenewed: _lease_renewed,
    e.LeaseReleased: _lease_released,
    e.LeaseExpired: _lease_expired,
    e.TurnRequested: _turn_requested,
    e.TurnTaken: _turn_gone,
    e.TurnWithdrawn: _turn_gone,
    e.TurnMoved: _turn_moved,
    e.SignalSent: _signal_sent,
    e.PhaseAdvanced: _phase_advanced,
    e.EscalationRaised: _escalation_raised,
    e.EscalationAnswered: _escalation_answered,
}
