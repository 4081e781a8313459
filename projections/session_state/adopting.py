"""From what a file says to the requests that make it so.

What a file says is held against a base: the project as it was when the file was rendered, or as it
is now. Only where the two differ is something proposed, so that the same file adopted again comes
to nothing, and a file that an old agent wrote over comes to what that agent changed. What no event
can say is kept as a leftover, at its place in the file.
"""

from collections.abc import Iterator, Sequence
from typing import TypeVar

import msgspec

from journal import events as e
from journal.digest import sha256
from journal.errors import Invalid, quoted
from journal.request import Request
from journal.state import Project, step_order
from journal.workflows import load
from projections.leftovers import Object, differences, digest, same
from projections.session_state import changes
from projections.session_state.changes import plan_step
from projections.session_state.draft import Draft, moment_of
from projections.session_state.reading import Source, read
from projections.session_state.rendering import NAME, form, own

Kept = TypeVar("Kept", e.Leftover, e.Original)

#: Parts of the document that are no fact of their own.
ASIDE = frozenset(("schema_version", "updated", "_passdown"))
#: One event keeps so many bytes of leftovers at the most.
_CHUNK = 400_000


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
    """The requests by which a project comes to what an edited file says; see `adopt`."""
    digest = sha256(content).hexdigest()
    source = read(content)
    return adopt(source, project, path, digest, base=base, removals=removals, now=now, by=by)


def adopt(
    source: Source,
    project: Project,
    path: str,
    content_digest: str,
    *,
    base: Project | None = None,
    title: str = "",
    removals: bool = False,
    now: int,
    by: Request,
) -> list[Request]:
    """The requests by which a project comes to what a file says.

    `base` is the state that the file was rendered from, the present one if that is not known;
    what is missing in the file is believed to be gone only with `removals`. `by` has who asks.
    """
    return _adopt(
        source, project, path, content_digest, base, title, removals, Draft(project, by, now)
    ).requests


def preview(source: Source, slug: str, now: int) -> Project:
    """The project that a file would become, if it were adopted."""
    draft = Draft(Project(slug), Request(e.ProjectReopened()), now)
    name = str(source.document["project"])
    return _adopt(source, Project(slug), "file", "", None, name, False, draft).project


def _adopt(
    source: Source,
    project: Project,
    path: str,
    content_digest: str,
    base: Project | None,
    title: str,
    removals: bool,
    draft: Draft,
) -> Draft:
    draft.occurred = moment_of(source.document["updated"])
    if not project.version:
        draft.add(_opening(source, title), must=True)
        base = draft.project.copy()
    before = form(base or project)
    theirs = dict(source.document)
    theirs["project"] = theirs["project"] or before["project"]
    if project.version and theirs["project"] not in (before["project"], project.native):
        raise Invalid(
            f"the file says that it is of {quoted(theirs['project'])}, not of {project.slug}; put "
            "the right file there, or mend its name"
        )
    if theirs["branch"] != before["branch"]:
        draft.add(e.BranchSwitched(str(theirs["branch"])))
    if "decision_log" in theirs:  # first, because its entries have ids of their own
        theirs["decision_log"] = changes.log(draft, before, theirs["decision_log"])
    changes.decisions(draft, before, source, removals)
    changes.findings(draft, before, source, removals)
    changes.steps(draft, before, theirs["steps"])
    changes.audit(draft, before, theirs.get("review_audit"))
    current = project.current
    if theirs["current_step"] != before["current_step"] or not project.version:
        current = changes.current(draft.project, theirs["current_step"])
    left = list(_leftovers(draft.project, before, theirs, removals, not project.version))
    known = {(each.path, digest(each.value)) for each in project.originals}
    originals = [x for x in source.originals if (x.path, digest(x.value)) not in known]
    if not project.version:  # later ones are the times of what is recorded
        originals.append(e.Original(("updated",), source.document["updated"]))
    if not (draft.requests or left or originals or current != project.current):
        return draft
    adopted = e.ProjectAdopted(path, content_digest, source.version, current)
    draft.add(adopted, must=True)
    # That the adoption is of another step than the one started last may show in the file too.
    left = list(_leftovers(draft.project, before, theirs, removals, not project.version))
    for event in _kept(left, originals):
        draft.add(event, must=True)
    return draft


# -- opening ---------------------------------------------------------------------------------


def _opening(source: Source, title: str) -> e.ProjectOpened:
    template = load("apex")
    name = str(source.document["project"])
    steps = source.document["steps"]
    assert isinstance(steps, dict)
    plans = tuple(
        plan_step(template, key, step) for key, step in steps.items() if changes.is_step_key(key)
    )
    # What the file does not have yet is planned all the same, and stays out of it until it begins.
    last = max((step_order(plan.key) for plan in plans), default=(0,))
    plans += tuple(plan for plan in template.steps if step_order(plan.key) > last)
    branch = str(source.document["branch"])
    return e.ProjectOpened(
        title or name or "untitled", "apex", plans, template.policy, title and name, branch
    )


# -- what no event says ----------------------------------------------------------------------


def _leftovers(
    project: Project, before: Object, theirs: Object, removals: bool, fresh: bool
) -> Iterator[e.Leftover]:
    """Where the file would not come out again as it is, although it says something of its own."""
    alone, shown = own(project), form(project)
    if fresh:
        places = differences(alone, theirs, whole=("decision_log",))
    else:
        places = differences(before, theirs, whole=("decision_log",))
    told: set[tuple[str, ...]] = set()
    for place in places:
        gone = not place.file or place.file[0] in ("", None, [], {})
        if place.path[0] in ASIDE or (gone and not (removals or fresh)):
            continue
        if not fresh and place.path == ("open_findings",):
            continue  # what came and what left are events; a whole list would hide later ones
        path = _root(alone, place.path)
        file = place.file if path == place.path else _at(theirs, path) or ()
        now, rendered = _at(shown, path), _at(alone, path)
        joined = not fresh and _joined(_at(before, path), file, now)
        if path in told or joined or (now is not None and _alike(now, file)):
            continue
        told.add(path)
        yield e.Leftover(path, digest(rendered[0]) if rendered else "", file)


def _root(document: Object, path: tuple[str, ...]) -> tuple[str, ...]:
    """The beginning of a path up to where the document has nothing of it."""
    for length in range(1, len(path)):
        if not _at(document, path[:length]):
            return path[:length]
    return path


def _at(document: Object, path: Sequence[str]) -> tuple[e.Json, ...] | None:
    """The one value at a place, or none; None if there is no such place at all."""
    parent: e.Json = document
    for key in path[:-1]:
        parent = parent.get(key) if isinstance(parent, dict) else None
    if not isinstance(parent, dict):
        return None
    return (parent[path[-1]],) if path[-1] in parent else ()


def _joined(
    base: tuple[e.Json, ...] | None, file: tuple[e.Json, ...], now: tuple[e.Json, ...] | None
) -> bool:
    """Whether a list has what came to the file's and not what left it, whatever else it has."""
    match base, file, now:
        case (list(old),), (list(new),), (list(found),):
            came, left = [x for x in new if x not in old], [x for x in old if x not in new]
            return all(x in found for x in came) and not any(x in found for x in left)
    return False


def _alike(one: tuple[e.Json, ...], other: tuple[e.Json, ...]) -> bool:
    return same(list(one), list(other))


def _kept(
    leftovers: Sequence[e.Leftover], originals: Sequence[e.Original]
) -> Iterator[e.LeftoversKept]:
    """As many events as it takes to keep all of it."""
    yield from (e.LeftoversKept(NAME, part, ()) for part in _parts(leftovers))
    yield from (e.LeftoversKept(NAME, (), part) for part in _parts(originals))


def _parts(things: Sequence[Kept]) -> Iterator[tuple[Kept, ...]]:
    part: list[Kept] = []
    size = 0
    for thing in things:
        length = len(msgspec.json.encode(thing))
        if part and size + length > _CHUNK:
            yield tuple(part)
            part, size = [], 0
        part.append(thing)
        size += length
    if part:
        yield tuple(part)
