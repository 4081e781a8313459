"""When it may happen: the worklog."""

from msgspec.structs import replace

from journal import events as e
from journal.entities import Project, is_maintainer, is_stale, leases_on, maintainer_of
from journal.errors import Invalid, Rejected
from journal.rules.names import check_own, command, find, find_session, new_id, workspace_path
from journal.rules.rule import By, Rules
from journal.worklog import held_back, is_done

#: The files that a compaction rewrites.
BOTH = ("WORKLOG.md", "WORKLOG_ARCHIVE.md")


def _entry_logged(p: Project, x: e.WorklogEntryLogged, by: By) -> list[e.Event]:
    agent = x.agent or by.actor or ""
    if not agent:
        raise Invalid("whose entry is it? say so with --actor")
    check_own(p, agent, by, "log an entry")
    number = x.number or _session_number(p, agent, by)
    refers = tuple(find("worklog entry", id, p.worklog).id for id in x.refers)
    id = new_id(x.entry, "W{:03}", p.worklog, "worklog entry")
    logged = replace(x, agent=agent, number=number, refers=refers, entry=id)
    done = x.handoff is not None and is_done(x.handoff.status)
    return [logged, e.WorklogEntryCompleted(id)] if done and not x.archived else [logged]


def _session_number(p: Project, agent: str, by: By) -> int:
    """Which of the project's sessions it is logged in: the request's own, else the agent's last."""
    known = list(p.sessions)
    if by.session:
        return known.index(find_session(p, "", by).id) + 1
    own = [n for n, session in enumerate(p.sessions.values(), start=1) if session.agent == agent]
    return own[-1] if own else 0


def _entry_completed(p: Project, x: e.WorklogEntryCompleted, by: By) -> list[e.Event]:
    entry = find("worklog entry", x.entry, p.worklog)
    check_own(p, entry.agent, by, f"complete entry {entry.id}")
    return [] if entry.completed is not None else [replace(x, entry=entry.id)]


def _compacted(p: Project, x: e.WorklogCompacted, by: By) -> list[e.Event]:
    asked = "compact the worklog"
    if not is_maintainer(p, by.actor):
        who = by.actor or "an unnamed actor"
        maintainer = maintainer_of(p)
        offer = [command("worklog", "compact", "--actor", maintainer)] if maintainer else []
        raise Rejected(
            asked, f"only the maintainer approves that, {who} is not known as one", offer
        )
    ids = tuple(find("worklog entry", id, p.worklog).id for id in x.entries)
    ids = tuple(id for id in dict.fromkeys(ids) if p.worklog[id].archived is None)
    if not ids:
        return []
    for id in ids:
        if p.worklog[id].completed is None:
            raise Rejected(f"{asked} by entry {id}", "it is not completed")
    kept = held_back(p, ids)
    if kept:
        id, by_which = next(iter(kept.items()))
        raise Rejected(f"{asked} by entry {id}", f"{by_which} is active and refers to it")
    files = tuple(workspace_path(f"{_folder(p)}/{name}") for name in BOTH)
    for lease in leases_on(p, files):
        if lease.agent != by.actor and not is_stale(p, lease):
            raise Rejected(
                asked, f"{lease.agent} has lease {lease.token} on {', '.join(lease.files)}"
            )
    token = f"compact-{p.version + 1}"
    return [
        e.LeaseAcquired(token, agent=by.actor or "", files=files, reason="compaction"),
        replace(x, entries=ids, approved_by=by.actor or ""),
        e.LeaseReleased(token, reason="compacted"),
    ]


def _folder(p: Project) -> str:
    return p.coordination.workspace if p.coordination else "."


RULES: Rules = {
    e.WorklogEntryLogged: _entry_logged,
    e.WorklogEntryCompleted: _entry_completed,
    e.WorklogCompacted: _compacted,
}
