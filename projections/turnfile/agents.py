"""What a TURNFILE.yaml says otherwise about agents, the maintainer, and the phase they are in."""

from msgspec import convert

from journal import events as e
from journal.entities import maintainer_of
from projections.draft import Draft
from projections.leftovers import Object
from projections.turnfile.document import NONE, part, status
from projections.turnfile.doing import SAYS, did, is_name, meant, session_of

#: Who is one of these has a session open.
_AT_WORK = ("active", "blocked")


def adopt(draft: Draft, before: Object, theirs: Object) -> None:
    """Register, begin and end sessions, change statuses, move on to another phase."""
    for id, entry in part(theirs, "agents").items():
        was = part(before, "agents", id)
        if isinstance(entry, dict) and entry != was:
            _agent(draft, meant(draft.project, id), was, entry)
    _maintainer(draft, part(before, "maintainer"), part(theirs, "maintainer"))
    _phase(draft, part(before, "coordination"), part(theirs, "coordination"))


def _agent(draft: Draft, id: str, was: Object, entry: Object) -> None:
    project, keeper = draft.project, maintainer_of(draft.project)
    if id == keeper:
        return  # that one has a section of its own
    role = convert(entry["role"], e.Role)
    if id not in project.actors:
        own_word = role in ("agent", "observer")
        if not did(draft, e.ActorRegistered(id, role), id if own_word else keeper):
            return
    elif was and was["role"] != role:
        did(draft, e.ActorRegistered(id, role), keeper)
    _session(draft, id, was, entry)
    said, now = entry["status"], status(draft.project.actors[id])
    if said != was.get("status") and said != now:
        did(draft, e.ActorStatusChanged(id, convert(said, e.ActorStatus)), id)


def _session(draft: Draft, id: str, was: Object, entry: Object) -> None:
    name, said = entry["session_id"], entry["status"]
    if name == was.get("session_id"):
        return
    open_ = session_of(draft.project, id)
    if not name:
        if open_ is not None and said == "offline":
            did(draft, e.SessionCrashed(open_, SAYS), id)
        elif open_ is not None:
            did(draft, e.SessionEnded(open_), id)
        return
    if said not in _AT_WORK or not isinstance(name, str) or not is_name(name):
        return  # an agent that is idle names the session it was in last
    known = draft.project.session_names.get(name)
    if known is None:
        draft.add(e.SessionStarted(id, name), actor=id)
    elif draft.project.sessions[known].agent == id:
        did(draft, e.SessionResumed(known), id)


def _maintainer(draft: Draft, was: Object, entry: Object) -> None:
    said, keeper = entry["status"], maintainer_of(draft.project)
    if said != was.get("status"):
        did(draft, e.ActorStatusChanged(keeper, convert(said, e.ActorStatus)), keeper)


def _phase(draft: Draft, was: Object, coordination: Object) -> None:
    phase, step = coordination["active_phase"], coordination["active_step"]
    if (phase, step) == (was.get("active_phase"), was.get("active_step")) or phase == NONE:
        return
    label = "" if step == NONE else str(step)
    did(draft, e.PhaseAdvanced(str(phase), label, SAYS), maintainer_of(draft.project))
