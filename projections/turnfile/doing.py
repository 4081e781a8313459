"""Putting down what a file says to whoever did it, as far as a journal can name them."""

from journal import events as e
from journal.entities import Project, maintainer_of
from journal.errors import Invalid, NotFound
from journal.request import check_name
from journal.rules.names import known_actor
from projections.adopting import registered
from projections.draft import Draft
from projections.turnfile.document import MAINTAINER, NOBODY, NONE, UNKNOWN, word

#: Where a reason has to be given, and the file gives none.
SAYS = "as TURNFILE.yaml has it"
GONE = "gone from TURNFILE.yaml"


def did(draft: Draft, event: e.Event, who: str) -> bool:
    """Propose an event as what somebody did, in the session that they are in."""
    if not is_name(who):
        return draft.add(event, nobody=True)
    return draft.add(event, actor=who, session=session_of(draft.project, who))


def session_of(project: Project, agent: str) -> str | None:
    """The session that an agent has open."""
    own = (x for x in reversed(project.sessions.values()) if x.agent == agent)
    return next((session.id for session in own if session.status == "active"), None)


def meant(project: Project, word: object) -> str:
    """The actor that the file means by a word; empty where it means nobody."""
    if not isinstance(word, str) or word in (NOBODY, NONE, UNKNOWN):
        return ""
    if word == MAINTAINER:
        return maintainer_of(project) or word
    return word


def called(project: Project, said: object) -> str:
    """The one word that our files have for whoever is meant."""
    return word(project, meant(project, said)) or UNKNOWN


def is_name(word: str) -> bool:
    """Whether a record can name somebody so."""
    try:
        check_name(word)
    except Invalid:
        return False
    return True


def is_known(project: Project, word: str) -> bool:
    """Whether somebody goes by it."""
    try:
        return bool(known_actor(project, word))
    except NotFound:
        return False


def enrolled(draft: Draft, word: object) -> str:
    """Whoever the file means by a word, registered where nobody goes by it; empty if none can."""
    name = meant(draft.project, word)
    try:
        return registered(draft, name) if name else ""
    except Invalid:
        return ""
