"""When it may happen: what is on record is erased."""

from journal import events as e
from journal.entities import Project, is_maintainer, maintainer_of
from journal.errors import Invalid, Rejected
from journal.rules.names import command
from journal.rules.rule import By, Rules


def check_redaction(p: Project, reason: str, by: By) -> None:
    """Refuse an erasure for no reason; where agents share a workspace it is the maintainer's."""
    if not reason.strip():
        raise Invalid("why is it to be erased? say so with --reason, which stays on record")
    if p.coordination is not None and not is_maintainer(p, by.actor):
        who, maintainer = by.actor or "an unnamed actor", maintainer_of(p)
        raise Rejected(
            f"redact records of {p.slug}",
            f"that is for the maintainer, {maintainer}, to do, not for {who}",
            [command("redact", "VERSION", "--reason", "REASON", "--actor", maintainer)],
        )


def _record_redacted(p: Project, x: e.RecordRedacted, by: By) -> list[e.Event]:
    """That it was done is recorded where it is done, and nowhere else."""
    raise Rejected(
        "record a redaction",
        "to say that something was erased erases nothing",
        [command("redact", "VERSION", "--reason", "REASON")],
    )


RULES: Rules = {e.RecordRedacted: _record_redacted}
