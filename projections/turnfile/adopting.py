"""From what a TURNFILE.yaml says to the requests that make it so.

The file is held against a base, the project as it was when the file was rendered, and only where
the two differ something is proposed, in the name of whom the file says did it: an agent writes its
own entry, phase and step are the maintainer's. What no event can say is kept as a leftover at its
place. Who holds what, and who comes next, is never taken from a leftover.
"""

from msgspec.structs import replace

from journal import events as e
from journal.digest import sha256
from journal.errors import Invalid, quoted
from journal.request import Request
from journal.rules.names import check_agent_id
from journal.state import Project
from projections.adopting import begun
from projections.draft import Draft
from projections.leftovers import Object, Places, kept, remaining
from projections.turnfile import agents, holding, signals, tasks
from projections.turnfile.document import NAME, own, part, shown, version
from projections.turnfile.reading import Fitted, read
from projections.turnfile.shape import is_text


def adopt_bytes(
    content: bytes,
    project: Project,
    path: str,
    *,
    base: Project | None = None,
    removals: bool = False,
    now: int,
    by: Request,
) -> list[Request]:
    """The requests by which a project comes to what a file says.

    `base` is the state that the file was rendered from, the present one if that is not known;
    what is missing in the file is believed to be gone only with `removals`. `by` has who asks.
    """
    source = read(content)
    # Whoever adopts it is in a session of their own, in which nothing of this happened.
    draft = Draft(project, replace(by, session=None), now)
    fresh = not project.version
    if fresh:
        _begin(draft, path, source)
        base = draft.project.copy()
    elif base is None:
        base = project
    before = shown(base or project)
    _check_same(source, before, project)
    fitted = Fitted(source, before)
    theirs = fitted.document
    theirs["foreign"] = part(before, "foreign") | fitted.foreign
    revision = part(source, "coordination")["revision"]
    at = revision if isinstance(revision, int) else 0

    agents.adopt(draft, before, theirs)
    tasks.adopt(draft, before, theirs)
    holding.adopt_locks(draft, before, theirs, removals, None if fresh else base)
    holding.adopt_turns(draft, before, theirs, fitted.turns, removals)
    signals.adopt(draft, before, theirs, fitted.signals)

    left = _left(draft.project, before, theirs, removals, fresh)
    if draft.requests or left or at > draft.project.revision:
        digest = sha256(content).hexdigest()
        current = draft.project.current
        adopted = e.ProjectAdopted(path, digest, "", current, projection=NAME, revision=at)
        draft.add(adopted, must=True)
        left = _left(draft.project, before, theirs, removals, fresh)
        for event in kept(NAME, left, ()):
            draft.add(event, must=True)
    return draft.requests


def _begin(draft: Draft, path: str, source: Object) -> None:
    """Open the workspace that the file speaks of, at the revision that it is at."""
    about, keeper = part(source, "turnfile"), part(source, "maintainer").get("id")
    said, name = about.get("version"), about.get("project")
    revision = part(source, "coordination")["revision"]
    begun(
        draft,
        path,
        native=name if isinstance(name, str) else "",
        maintainer=keeper if isinstance(keeper, str) and _is_agent(keeper) else "",
        version=version(said) if isinstance(said, str) else "",
        revision=revision if isinstance(revision, int) else 0,
    )


def _is_agent(name: str) -> bool:
    try:
        check_agent_id(name)
    except Invalid:
        return False
    return True


def _check_same(source: Object, before: Object, project: Project) -> None:
    """Refuse the file of another workspace."""
    name, ours = part(source, "turnfile").get("project"), part(before, "turnfile")["project"]
    if project.version and is_text(name) and name not in (ours, project.slug):
        raise Invalid(
            f"the file says that it is of {quoted(name)}, not of {ours}; put the right file there, "
            "or mend its name"
        )


def _left(
    project: Project, before: Object, theirs: Object, removals: bool, fresh: bool
) -> list[e.Leftover]:
    """Where the file would not come out again as it is, although it says something of its own."""
    alone, there = own(project), shown(project)
    known = {
        "messages": project.signals.keys() - part(there, "messages").keys(),
        "tasks": project.tasks.keys() - part(there, "coordination", "tasks").keys(),
    }
    held = {key: part(alone, key).keys() for key in ("locks", "turn_queue")}

    def comparable(document: Object, of_file: bool) -> Object:
        """A document without what only the journal can say."""
        found = dict(document)
        coordination = dict(part(document, "coordination"))
        coordination.pop("revision", None)
        found["coordination"] = coordination
        for key, ids in held.items():
            found[key] = {id: x for id, x in part(document, key).items() if id in ids}
        if of_file:
            coordination["tasks"] = _without(part(coordination, "tasks"), known["tasks"])
            found["messages"] = _without(part(document, "messages"), known["messages"])
        return found

    places = Places(
        comparable(alone, False),
        comparable(there, False),
        comparable(before, not fresh),
        comparable(theirs, True),
        frozenset(),
    )
    return list(remaining(places, removals, fresh))


def _without(entries: Object, ids: set[str]) -> Object:
    """The entries that are not over by now: an old copy does not bring one back."""
    return {id: entry for id, entry in entries.items() if id not in ids}
