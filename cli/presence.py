"""What the moments of a host's session amount to in the journal."""

from msgspec.structs import replace

from cli.contracts import Meaning
from journal import events as e
from journal.clock import now
from journal.entities import Project, Session
from journal.live import LiveHandle
from journal.request import Request, decided


def is_name(text: str) -> bool:
    """Whether the journal takes it for the name of a session or an agent."""
    return 0 < len(text) <= 200 and text.isprintable()


def record(
    handle: LiveHandle, means: Meaning, host: str, agent: str, hook: str, seen: e.BriefShown | None
) -> None:
    """Record what a moment means for the session that the host calls so, and what it was shown."""

    def propose(state: Project, moment: int) -> list[Request]:
        event = _about(state, means, host, agent, hook)
        requests = [] if event is None else [_request(event, agent, host)]
        if seen:
            requests.append(
                _request(replace(seen, agent=seen.agent or agent, hook=hook), agent, host)
            )
        return requests

    # Two hooks may ask at once, so that it is decided under the lock. What comes to nothing, as
    # most signs of life do, does not wait for that.
    if not seen:
        state, moment = handle.state, now()
        if not any(decided(state, propose(state, moment), moment)):
            return
    handle.append_decided(propose)


def waiting(state: Project, host: str, hook: str) -> e.BriefShown | None:
    """That an agent whose turn ends has mail it has not read and was not told of, if it has."""
    session = state.sessions.get(state.session_names.get(host, ""))
    if session is None or not state.messages:
        return None
    from journal.mail import unread

    new = [x.id for x in unread(state, session.agent) if x.pointed_out is None]
    shown = {"mail": tuple(new)}
    return e.BriefShown(state.version, agent=session.agent, shown=shown, hook=hook) if new else None


def _request(event: e.Event, agent: str, session: str) -> Request:
    began = isinstance(event, e.SessionStarted)
    return Request(event, agent, None if began else session)


def _about(state: Project, means: Meaning, host: str, agent: str, hook: str) -> e.Event | None:
    """The event that a session's moment amounts to, if there is anything to say."""
    session = state.sessions.get(state.session_names.get(host, ""))
    status = session.status if session else ""
    if means == "end":
        return e.SessionEnded(host, hook=hook) if status == "active" else None
    if status == "active":
        return e.SessionHeartbeat(host, hook=hook)
    if status == "ended" and means != "start":
        return e.SessionResumed(host, hook=hook)
    before = session or (_last(state, agent) if means == "continue" else None)
    return e.SessionStarted(agent, host=host, continues=before.id if before else "", hook=hook)


def _last(state: Project, agent: str) -> Session | None:
    """The agent's last session, which a host goes on with under another id."""
    return next((each for each in reversed(state.sessions.values()) if each.agent == agent), None)
