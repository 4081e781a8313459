"""From what a file says to the requests that make it so.

What a file says is held against a base: the project as it was when the file was rendered, or as it
is now. Only where the two differ is something proposed, so that the same file adopted again comes
to nothing, and a file that an old agent wrote over comes to what that agent changed. What no event
can say is kept as a leftover, at its place in the file.
"""

from journal import events as e
from journal.digest import sha256
from journal.errors import Invalid, quoted
from journal.request import Request
from journal.state import Project, step_order
from journal.workflows import load
from projections.draft import Draft, moment_of
from projections.leftovers import Object, Places, digest, kept, remaining
from projections.session_state import changes
from projections.session_state.changes import plan_step
from projections.session_state.reading import Source, read
from projections.session_state.rendering import NAME, form, own

#: Parts of the document that are no fact of their own.
ASIDE = frozenset(("schema_version", "updated", "_passdown"))


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
    fresh = not project.version
    left = _left(draft.project, before, theirs, removals, fresh)
    known = {(each.path, digest(each.value)) for each in project.originals}
    originals = [x for x in source.originals if (x.path, digest(x.value)) not in known]
    if not project.version:  # later ones are the times of what is recorded
        originals.append(e.Original(("updated",), source.document["updated"]))
    if not (draft.requests or left or originals or current != project.current):
        return draft
    adopted = e.ProjectAdopted(path, content_digest, source.version, current)
    draft.add(adopted, must=True)
    # That the adoption is of another step than the one started last may show in the file too.
    left = _left(draft.project, before, theirs, removals, fresh)
    for event in kept(NAME, left, originals):
        draft.add(event, must=True)
    return draft


def _left(
    project: Project, before: Object, theirs: Object, removals: bool, fresh: bool
) -> list[e.Leftover]:
    """Where the file would not come out again as it is, although it says something of its own."""
    # What came to the findings and what left them are events; a whole list would hide later ones.
    told = ASIDE if fresh else ASIDE | {"open_findings"}
    places = Places(own(project), form(project), before, theirs, told, ("decision_log",))
    return list(remaining(places, removals, fresh))


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
