"""What the fold makes of events: sessions and what they leave behind."""

from typing import Literal

from msgspec.structs import replace

from journal import events as e
from journal.entities import Context, File, Project, Session, Tokens, manifest_key
from journal.record import Record
from journal.state.table import Folds


def session_of(p: Project, r: Record) -> str | None:
    """The session's id, where it is known by the name that the record gives."""
    return p.session_names.get(r.session or "", r.session)


def _files_changed(p: Project, x: e.FilesChanged, r: Record) -> None:
    file = File(
        x.path, x.change, r.time, x.digest, x.description, x.step, r.actor or "", session_of(p, r)
    )
    p.files[x.path] = file
    if x.step:
        key = manifest_key(x.step, x.path)
        made = x.change == "modified" and key in p.manifest and p.manifest[key].change == "created"
        p.manifest[key] = replace(file, change="created") if made else file


def _sum(sums: dict[str, Tokens], key: str, x: e.TokensUsed) -> None:
    old = sums.get(key, Tokens())
    sums[key] = Tokens(old.input + x.input, old.output + x.output, old.cached + x.cached)


def _tokens_used(p: Project, x: e.TokensUsed, r: Record) -> None:
    _sum(p.tokens, x.agent or r.actor or "", x)
    if x.step:
        _sum(p.tokens_by_step, x.step, x)


def _is_now(
    p: Project, agent: str, status: Literal["idle", "active", "offline"], change: Literal[-1, 0, 1]
) -> None:
    """In a shared workspace everybody sees what an agent's session makes of it; the agent is at
    work as long as one of them goes on."""
    p.at_work[agent] = p.at_work.get(agent, 0) + change
    actor = p.actors.get(agent)
    if p.coordination is not None and actor is not None and actor.role == "agent":
        p.actors[agent] = replace(actor, status="active" if p.at_work[agent] > 0 else status)


def _session_started(p: Project, x: e.SessionStarted, r: Record) -> None:
    p.sessions[x.session] = Session(
        x.session,
        r.time,
        x.agent or r.actor or "",
        x.name,
        x.host,
        note=x.note,
        continues=x.continues,
        progress=r.at,
        over=x.over,
    )
    for name in (x.session, x.name, x.host):
        if name:
            p.session_names[name] = x.session
    if not x.over:
        _is_now(p, p.sessions[x.session].agent, "active", 1)
    _fired(p, x.hook, r)


def _session_resumed(p: Project, x: e.SessionResumed, r: Record) -> None:
    if session := p.sessions.get(x.session):
        p.sessions[x.session] = replace(
            session, status="active", ended=None, heartbeat=r.time, progress=r.at, over=False
        )
        at_work = session.status == "active" and not session.over
        _is_now(p, session.agent, "active", 0 if at_work else 1)
    _fired(p, x.hook, r)


def _session_heartbeat(p: Project, x: e.SessionHeartbeat, r: Record) -> None:
    if session := p.sessions.get(x.session):
        p.sessions[x.session] = replace(session, heartbeat=r.time)
    _fired(p, x.hook, r)


def _session_noted(p: Project, x: e.SessionNoted, r: Record) -> None:
    if session := p.sessions.get(x.session):
        if x.kind == "issue":
            p.sessions[x.session] = replace(session, issues=(*session.issues, x.text))
        else:
            p.sessions[x.session] = replace(session, notes=(*session.notes, x.text))


def _session_ended(p: Project, x: e.SessionEnded, r: Record) -> None:
    if session := p.sessions.get(x.session):
        p.sessions[x.session] = replace(
            session,
            status="ended",
            ended=r.time,
            completed=(*session.completed, *x.completed),
            issues=(*session.issues, *x.issues),
            notes=(*session.notes, x.notes) if x.notes else session.notes,
            context_usage=session.context_usage if x.context_usage is None else x.context_usage,
            handoff_reason=x.handoff_reason or session.handoff_reason,
        )
        if not session.over:
            _is_now(p, session.agent, "idle", -1 if session.status == "active" else 0)
    _fired(p, x.hook, r)


def _session_crashed(p: Project, x: e.SessionCrashed, r: Record) -> None:
    if session := p.sessions.get(x.session):
        p.sessions[x.session] = replace(session, status="crashed", ended=r.time, reason=x.reason)
        if not session.over:
            _is_now(p, session.agent, "offline", -1 if session.status == "active" else 0)


def _brief_shown(p: Project, x: e.BriefShown, r: Record) -> None:
    _fired(p, x.hook, r)
    if x.hook.endswith(" Stop"):
        for id in x.shown.get("mail", ()):
            if message := p.messages.get(id):
                p.messages[id] = replace(message, pointed_out=r.at)


def _fired(p: Project, hook: str, r: Record) -> None:
    if hook:
        p.hooks[hook] = r.at


def _next_action_set(p: Project, x: e.NextActionSet, r: Record) -> None:
    p.next_actions.pop(x.agent, None)
    if x.text:
        p.next_actions[x.agent] = x.text


def _context_noted(p: Project, x: e.ContextNoted, r: Record) -> None:
    p.context.append(Context(x.kind, x.text, r.time, x.step, x.file, session_of(p, r), x.contains))


FOLDS: Folds = {
    e.FilesChanged: _files_changed,
    e.TokensUsed: _tokens_used,
    e.SessionStarted: _session_started,
    e.SessionResumed: _session_resumed,
    e.SessionHeartbeat: _session_heartbeat,
    e.SessionNoted: _session_noted,
    e.SessionEnded: _session_ended,
    e.SessionCrashed: _session_crashed,
    e.BriefShown: _brief_shown,
    e.NextActionSet: _next_action_set,
    e.ContextNoted: _context_noted,
}
