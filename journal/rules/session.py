"""When it may happen: sessions and what they leave behind."""

from msgspec.structs import replace

from journal import events as e
from journal.entities import Project, Session
from journal.errors import Invalid, Rejected
from journal.rules.names import command, find_session, new_id, step_or_current
from journal.rules.rule import By, Rules

#: A heartbeat sooner than this after the last changes nothing.
HEARTBEAT_EVERY = 5 * 60 * 1_000_000

#: No sum of tokens grows beyond this: neither the cache nor JSON has room for more.
MOST_TOKENS = 2**63 - 1


def _files_changed(p: Project, x: e.FilesChanged, by: By) -> list[e.Event]:
    x = replace(x, step=step_or_current(p, x.step))
    was = p.files.get(x.path)
    if was and was.step == x.step and not x.description:
        # Whoever completes a step lists its files, which were described when they were changed.
        x = replace(x, description=was.description)
    same = was and (was.change, was.digest, was.description, was.step, was.session) == (
        x.change,
        x.digest,
        x.description,
        x.step,
        p.session_names.get(by.session or "", by.session),
    )
    return [] if same else [x]


def _tokens_used(p: Project, x: e.TokensUsed, by: By) -> list[e.Event]:
    x = replace(x, step=step_or_current(p, x.step))
    used = x.input + x.output + x.cached
    if not used:
        raise Invalid("there is nothing to record: no tokens of input, output or cache are given")
    before = sum(each.input + each.output + each.cached for each in p.tokens.values())
    if before + used > MOST_TOKENS:
        raise Rejected(
            f"record {used:,} tokens of {p.slug}",
            f"with the {before:,} before they are more than the {MOST_TOKENS:,} that can be summed",
        )
    return [x]


def _session_started(p: Project, x: e.SessionStarted, by: By) -> list[e.Event]:
    name = x.name or by.session or ""
    agent = x.agent or by.actor or ""
    known = p.sessions.get(p.session_names.get(name, ""))
    if known and known.status == "active":
        if known.agent == agent:
            return []
        raise Rejected(
            f"start session {name}",
            f"{known.id} of {known.agent or 'an unnamed agent'} goes by that name and is active; "
            "choose another name",
            [command("session", "end", known.id)],
        )
    if known and known.id == name:
        raise Rejected(
            f"start session {name}",
            f"it has {known.status}; choose another name",
            ["session start NAME"],
        )
    if x.host in p.sessions:
        raise Rejected(
            f"start a session with host id {x.host}", "that is the id of another session"
        )
    id = new_id(x.session, "session-{:03}", p.sessions, "session", p.session_names)
    superseded = None if x.over else _open_of(p, agent, by)
    if x.continues:
        continues = find_session(p, x.continues, by).id
    elif x.over:
        continues = ""  # whatever crashed since then, it did not take up
    else:
        continues = superseded.id if superseded else _abandoned(p, agent)
    started = replace(x, name=name, agent=agent, continues=continues, session=id)
    if x.over:
        return [started]
    if superseded is None:
        return [started, *_waiting(p, by)]
    ended = e.SessionEnded(superseded.id, handoff_reason=f"superseded by {id}")
    return [*_closing(p, superseded, ended, by), started]


def _closing(p: Project, session: Session, ended: e.Event, by: By) -> list[e.Event]:
    """The end of a session, with what its agent gives back and what has waited too long by then."""
    if session.over:
        return [ended]  # it holds nothing by now, and who waited then has long gone on
    others = (x for x in p.sessions.values() if x.agent == session.agent and x.id != session.id)
    goes_on = any(each.status == "active" for each in others)
    if p.coordination is None or goes_on:
        return [ended, *_waiting(p, by, session.id)]
    held = [x for x in p.leases.values() if x.agent == session.agent and x.files]
    released = [
        e.LeaseReleased(lease.token, reason=f"{session.id} ended")
        for lease in held
        if lease.status == "held"
    ]
    asked = [turn for turn in p.turns.values() if turn.agent == session.agent]
    withdrawn = [e.TurnWithdrawn(turn.id, f"{session.id} ended") for turn in asked]
    return [*released, *withdrawn, ended, *_waiting(p, by, session.id)]


def _waiting(p: Project, by: By, ending: str = "") -> list[e.Event]:
    """The escalation of mail that has waited too long."""
    if not p.messages:
        return []
    from journal.rules.escalating import escalations

    return escalations(p, by, ending)


def _open_of(p: Project, agent: str, by: By) -> Session | None:
    """The agent's session that is still open: who begins anew has left it.

    One that is only reported now, and was before it, has not.
    """
    own = (x for x in reversed(p.sessions.values()) if agent and x.agent == agent)
    found = next((session for session in own if session.status == "active"), None)
    past = found is not None and by.occurred is not None and by.occurred < found.started
    return None if past else found


def _abandoned(p: Project, agent: str) -> str:
    """The last session that crashed, if nobody has taken it up yet; the agent's own first."""
    taken = {session.continues for session in p.sessions.values()}
    crashed = [
        session
        for session in reversed(p.sessions.values())
        if session.status == "crashed" and session.id not in taken
    ]
    own = [session for session in crashed if session.agent == agent]
    return next((session.id for session in (*own, *crashed)), "")


def _active(p: Project, name: str, by: By, verb: str) -> Session:
    """The session of that name, which must not be over yet."""
    session = find_session(p, name, by)
    if session.status != "active":
        resume = [command("session", "resume", session.id)] if session.status == "ended" else []
        raise Rejected(
            f"{verb} session {session.id}", f"it has {session.status}", [*resume, "session start"]
        )
    return session


def _session_resumed(p: Project, x: e.SessionResumed, by: By) -> list[e.Event]:
    session = find_session(p, x.session, by)
    if session.status == "crashed":
        raise Rejected(
            f"resume session {session.id}",
            "it has crashed; another one takes it up",
            [command("session", "start", "--continues", session.id)],
        )
    return [replace(x, session=session.id)] if session.status == "ended" else []


def _session_heartbeat(p: Project, x: e.SessionHeartbeat, by: By) -> list[e.Event]:
    session = _active(p, x.session, by, "record a heartbeat of")
    last = session.heartbeat or session.started
    return [] if by.now - last < HEARTBEAT_EVERY else [replace(x, session=session.id)]


def _session_noted(p: Project, x: e.SessionNoted, by: By) -> list[e.Event]:
    return [replace(x, session=_active(p, x.session, by, "note in").id)]


def _session_ended(p: Project, x: e.SessionEnded, by: By) -> list[e.Event]:
    session = _active(p, x.session, by, "end")
    return _closing(p, session, replace(x, session=session.id), by)


def _session_crashed(p: Project, x: e.SessionCrashed, by: By) -> list[e.Event]:
    session = find_session(p, x.session, by)
    if session.status == "crashed" and x.reason in ("", session.reason):
        return []
    session = _active(p, x.session, by, "mark as crashed")
    return _closing(p, session, replace(x, session=session.id), by)


def _brief_shown(p: Project, x: e.BriefShown, by: By) -> list[e.Event]:
    if x.version > p.version:
        raise Invalid(f"{p.slug} is at version {p.version}; nobody was shown version {x.version}")
    return [x]


def _next_action_set(p: Project, x: e.NextActionSet, by: By) -> list[e.Event]:
    return [] if p.next_actions.get(x.agent, "") == x.text else [x]


def _context_noted(p: Project, x: e.ContextNoted, by: By) -> list[e.Event]:
    x = replace(x, step=step_or_current(p, x.step))
    if x.contains and not x.file:
        raise Invalid(f"in which file is {x.contains[:60]!r}? name it with --file")
    said = (x.kind, x.text, x.step, x.file, x.contains)
    known = any((c.kind, c.text, c.step, c.file, c.contains) == said for c in p.context)
    return [] if known else [x]


RULES: Rules = {
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
