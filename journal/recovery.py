"""A damaged journal becomes a sound one of all the records before the damage."""

from contextlib import closing
from pathlib import Path

from msgspec import Struct

from journal.audit import audit
from journal.errors import JournalDamaged, JournalError, JournalForeign, JournalMissing
from journal.events import ProjectRecovered
from journal.journal import Journal
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
    kept = str(aside.relative_to(workspace.root))
    with Journal.open(workspace.folder) as journal:
        for one in found:
            if one.records:
                note = f"{one}; the damaged file is in {kept}"
                recovered = ProjectRecovered("journal", note=note)
                journal.project(one.project).append(recovered, actor=actor)
    return Rebuilt(tuple(found), kept)


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
