"""Adopting files of a shared workspace: the first begins it, and who is named in one acts there."""

import os

from journal import events as e
from journal.errors import Invalid, NotFound
from journal.rules.names import known_actor, workspace_path
from projections.draft import Draft

#: What whoever maintains a workspace goes by where no file says who that is.
MAINTAINER = "maintainer"


def begun(
    draft: Draft,
    path: str,
    *,
    native: str = "",
    maintainer: str = "",
    version: str = "",
    revision: int | None = None,
) -> None:
    """Open the project that a file is the first of: a workspace that agents share.

    The folder of the file is the workspace; one that is not below the root has its usual name. A
    file that is at a `revision` leaves it there, however many events it comes to.
    """
    usual = e.Coordination(maintainer or MAINTAINER)
    coordination = e.Coordination(
        usual.maintainer,
        _folder(path) or usual.workspace,
        version or usual.version,
        revision=revision,
    )
    name = native or os.path.basename(os.path.dirname(path)) or draft.project.slug
    opened = e.ProjectOpened(name, "shared", (), native=native, coordination=coordination)
    draft.add(opened, must=True)


def _folder(path: str) -> str:
    try:
        return workspace_path(os.path.dirname(path) or ".")
    except Invalid:
        return ""


def registered(draft: Draft, name: str) -> str:
    """The actor that a file means by a name, who is registered if nobody goes by it yet."""
    try:
        return known_actor(draft.project, name)
    except NotFound:
        draft.add(e.ActorRegistered(name, "agent"), must=True)
        return name
