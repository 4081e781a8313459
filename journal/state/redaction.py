"""What the fold makes of events: nothing of a redaction, which changed the records themselves."""

from journal import events as e
from journal.entities import Project
from journal.record import Record
from journal.state.table import Folds


def _record_redacted(p: Project, x: e.RecordRedacted, r: Record) -> None:
    """The state is what the records come to as they stand now."""


FOLDS: Folds = {e.RecordRedacted: _record_redacted}
