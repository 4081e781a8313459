"""What the fold makes of events: snapshots."""

from journal import events as e
from journal.entities import Project
from journal.peers import Snapshot
from journal.record import Record
from journal.state.session import session_of
from journal.state.table import Folds


def _snapshot_taken(p: Project, x: e.SnapshotTaken, r: Record) -> None:
    p.snapshots[x.token] = Snapshot(
        x.token,
        x.agent or r.actor or "",
        r.time,
        x.body,
        x.session or session_of(p, r) or "",
        x.number,
        x.sequence,
        x.close_reason,
        x.status,
        x.task,
        x.next_action,
        x.branch,
        x.phase,
        x.revision,
        x.unread,
        x.heading,
    )


FOLDS: Folds = {e.SnapshotTaken: _snapshot_taken}
