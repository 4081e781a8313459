"""The brief of a project of this workspace: composed, cut to its limit, and recorded as shown.

Hooks answer within a few interpreter starts, so nothing here may import typer or a dialect.
"""

import os
from hashlib import sha256

from journal.entities import Project
from journal.events import BriefShown
from journal.workspace import Workspace
from projections.brief import TOPICS, Brief, Item, compose, named_files
from projections.places import altered

_ALTERED = {
    "changed": "was edited outside Passdown; to see how: passdown drift -p {}",
    "missing": "is gone; to restore it: passdown recover -p {}",
}


def composed(workspace: Workspace, state: Project, step: str = "", agent: str = "") -> Brief:
    """The brief on a state, with what the workspace's files have to do with it."""
    drift = tuple(
        Item(path, _ALTERED[how].format(state.slug))
        for path, how in sorted(altered(workspace, state.slug).items())
    )
    return compose(state, step=step, agent=agent, sizes=sizes(workspace, state), drift=drift)


def sizes(workspace: Workspace, state: Project) -> dict[str, int]:
    """Which of the files that a brief may name exist, and how big they are."""
    found = {}
    for path in named_files(state):
        real = workspace.inside(path)
        if real and os.path.isfile(real):
            found[path] = os.path.getsize(real)
    return found


def shown(brief: Brief, text: str, agent: str = "", hook: str = "") -> BriefShown:
    """The event that an agent was shown exactly this."""
    items = {
        name: tuple(map(topic.id, found))
        for name, topic in TOPICS.items()
        if (found := getattr(brief, name))
    }
    digest = sha256(text.encode()).hexdigest()
    return BriefShown(brief.version, digest, agent, brief.asked, items, brief.left_out, hook)
