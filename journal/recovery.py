"""A damaged journal becomes a sound one of all the records before the damage."""

from contextlib import closing
from pathlib import Path

from msgspec import Struct

from journal.audit import audit
from journal.errors import JournalDamaged, JournalError, JournalForeign, JournalMissing
from journal.events import ProjectRecovered, RecordRedacted, Redacted
from journal.ids import salt, uuid7
from journal.journal import Journal
from journal.payload import encode
from journal.record import Draft, standing
from journal.salvage import Salvaged, salvage
from journal.sqlite import SqliteStore
from journal.workspace import Workspace


class Rebuilt(Struct, frozen=True):
    """What a recovery came to: what was salvaged, and where the damaged files are kept."""

    projects: tuple[Salvaged, ...]
    kept: str


def recover_journal(workspace: Workspace, actor: str | None = None) -> Rebuilt | None:
    """Put a journal of what can be salvaged in the place of a damaged one; None if it is well."""
    with closing(SqliteStore(workspace.folder)) as store:
        if _damage(store) is None:
            return None
        with store.locked():
            damage = _damage(store)
            if damage is None:  # somebody was faster
                return None
            found = salvage(workspace.folder)
            if not any(one.records for one in found):
                raise type(damage)(
                    f"no record can be salvaged from {store.path}: restore it from a backup, or "
                    f"move {workspace.folder} away to begin anew"
                )
            aside = _aside(workspace)
            store.rebuild([one.records for one in found if one.records], aside)
            for one in found:
                if one.unvouched:
                    _vouch(store, one, actor)
    kept = str(aside.relative_to(workspace.root))
    with Journal.open(workspace.folder) as journal:
        for one in found:
            if one.records:
                note = f"{one}; the damaged file is in {kept}"
                recovered = ProjectRecovered("journal", note=note)
                journal.project(one.project).append(recovered, actor=actor)
    return Rebuilt(tuple(found), kept)


def _vouch(store: SqliteStore, one: Salvaged, actor: str | None) -> None:
    """Say that records were redacted whose redaction was lost with the damage."""
    left = (one.records[version - 1] for version in one.unvouched)
    redacted = tuple(Redacted(each.version, standing(each).hex()) for each in left)
    event = RecordRedacted(redacted, "the record of an earlier redaction was damaged")
    last = one.records[-1]
    draft = Draft(uuid7(last.at), event.type, encode(event), salt(), actor=actor)
    store.append(one.project, last.version, [draft], last.hash)


def _damage(store: SqliteStore) -> JournalError | None:
    """What is wrong with the journal, if it is something that salvage could help against."""
    try:
        flaw = next(audit(store), None)
        return JournalDamaged(flaw.what) if flaw else None
    except (JournalDamaged, JournalForeign, JournalMissing) as error:
        return error


def _aside(workspace: Workspace) -> Path:
    number = 1
    while (workspace.folder / "lost" / f"journal-{number}").exists():
        number += 1
    return workspace.folder / "lost" / f"journal-{number}"
