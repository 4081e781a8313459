"""Adopting files of a shared workspace: whoever is named in one acts there."""

from journal import events as e
from journal.errors import NotFound
from journal.rules.names import known_actor
from projections.draft import Draft


def registered(draft: Draft, name: str) -> str:
    """The actor that a file means by a name, who is registered if nobody goes by it yet."""
    try:
        return known_actor(draft.project, name)
    except NotFound:
        draft.add(e.ActorRegistered(name, "agent"), must=True)
        return name
