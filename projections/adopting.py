"""Adopting files of a shared workspace: the first begins it, and who is named in one acts there."""

import os
import re
from collections.abc import Sequence

from journal import events as e
from journal.digest import sha256
from journal.errors import Invalid, NotFound
from journal.request import Request
from journal.rules.names import known_actor, workspace_path
from projections.draft import Draft
from projections.leftovers import kept

#: Names that mean several: nobody goes by them, and they have no session of their own.
_SEVERAL = ("all", "both", "everybody", "everyone", "team")
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


def titled(draft: Draft, name: str) -> str:
    """The same of a name as people write it: it is the title of whoever goes by another id."""
    try:
        actor = known_actor(draft.project, name)
    except NotFound:
        role: e.Role = "observer" if name.lower() in _SEVERAL else "agent"
        actor = _id(draft, name)
        draft.add(e.ActorRegistered(actor, role, "" if actor == name else name), must=True)
        return actor
    known = draft.project.actors.get(actor)
    if known is not None and not known.title and actor != name:
        draft.add(e.ActorRegistered(actor, known.role, name), nobody=True)
    return actor


def _id(draft: Draft, name: str) -> str:
    """An id that is like a name, and nobody's yet."""
    near = (
        re.sub(r"\.{2,}", ".", re.sub(r"[^A-Za-z0-9._-]+", "-", name)).strip("-._")[:50] or "agent"
    )
    id, number = near, 1
    while id in draft.project.actors:
        number += 1
        id = f"{near}-{number}"
    return id


def concluded(
    draft: Draft, name: str, path: str, content: bytes, left: Sequence[e.Leftover]
) -> list[Request]:
    """The requests of a draft, if there are any or something is to be kept of the file: then with
    that, and that the file was taken over."""
    if draft.requests or left:
        digest, current = sha256(content).hexdigest(), draft.project.current
        draft.add(e.ProjectAdopted(path, digest, "", current, projection=name), must=True)
        for event in kept(name, left, ()):
            draft.add(event, must=True)
    return draft.requests
