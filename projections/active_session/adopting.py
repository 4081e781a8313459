"""From what an active-session.md says to the requests that make it so.

The file is held against a base, the project as it was when the file was rendered, and only where
the two differ something is proposed: the same file adopted again comes to nothing. What no event
can say is kept as a leftover at its place, and what was written by hand into the body for ever.
A phase or an error that is gone from the file is not gone: nothing takes back that it was.
"""

import re
from collections.abc import Iterator

from journal import events as e
from journal.digest import sha256
from journal.errors import Invalid, quoted
from journal.events import Json
from journal.request import Request
from journal.state import Project, step_order
from journal.workflows import orchestration
from projections.active_session import changes, history, tokens
from projections.active_session.document import (
    EXECUTION,
    NAME,
    form,
    is_count,
    may_be_at,
    own,
    own_ids,
    part,
    words,
)
from projections.active_session.keeping import first_handwriting, handwriting
from projections.active_session.reading import Source, read
from projections.draft import Draft, moment_of
from projections.leftovers import Object, Places, digest, kept, remaining, same

#: Parts of the front matter that are no fact of their own.
ASIDE = frozenset(("updated", "_passdown"))
_TITLE = re.compile(r"^# (.+?)(?: Orchestration Log)?[ \t]*$", re.MULTILINE)


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
    source = read(content)
    digest = sha256(content).hexdigest()
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
    draft = Draft(project, by, now)
    draft.occurred = moment_of(source.document.get("updated"))
    fresh = not project.version
    if fresh:
        _open(draft, source, title)
        base = draft.project.copy()
    base = project if base is None else base
    before, held = part(form(base), "front"), part(form(draft.project), "front")
    theirs = _keyed(source.document, before, project)
    counted = tokens.counted(before, theirs) if removals else None
    before = tokens.counted_before(before, project.homes.get(NAME), base.content_version)
    if content_digest not in project.sources:  # what was counted once is not counted again
        tokens.spend(draft, before, theirs)
    if fresh:
        changes.documents(draft, before, theirs, path)
    else:
        changes.top(draft, before, theirs, path)
    _phases(draft, before, held, theirs, fresh)
    for event in kept(NAME, own_ids(draft.project, part(theirs, "phases")), ()):
        draft.add(event, must=True)
    current = changes.current(draft.project, before, theirs, fresh)
    behind = base.content_version != project.content_version and not fresh
    left = _left(draft.project, before, theirs, removals, fresh, behind)
    phases = part(theirs, "phases")
    if fresh:
        left += first_handwriting(source.body, phases, draft.project)
    else:
        left += handwriting(source.body, phases, base, project, draft.project, removals)
    if draft.requests or left or current != draft.project.current:
        version = 0 if counted is None else base.content_version
        adopted = e.ProjectAdopted(
            path,
            content_digest,
            source.form,
            current,
            projection=NAME,
            base=version,
            tokens=counted or {},
        )
        draft.add(adopted, must=True)
        for event in kept(NAME, left, ()):
            draft.add(event, must=True)
    return draft.requests


def _keyed(document: Object, before: Object, project: Project) -> Object:
    """The front matter with its phases by key; Invalid if it is that of another session."""
    name = words(document, "session_id")
    if project.version and name not in (before["session_id"], project.native, project.slug):
        raise Invalid(
            f"the file says that it is of session {quoted(name)}, not of {before['session_id']}; "
            "put the right file there, or mend its session_id"
        )
    known = part(before, "phases") if project.version else {}
    phases = changes.by_key(document, known)
    return {**document, "phases": phases}


def _phases(draft: Draft, before: Object, held: Object, theirs: Object, past: bool) -> None:
    """Plan what is new, adjust what is another, and tell the history of both."""
    shown, now, phases = (part(each, "phases") for each in (before, held, theirs))
    keys = {digest(part(x, key).get("id")): key for x in (shown, phases) for key in x}
    found: Object = {key: phase for key, phase in shown.items() if key not in phases}
    for key in sorted(phases, key=step_order):
        phase, was = part(phases, key), part(shown, key)
        if key not in draft.project.steps:
            draft.add(e.StepPlanned(changes.plan(key, phase, keys)))
        listed: Json = _listed(phase, was)
        if key in draft.project.steps and not (key in now and same(listed, was)):
            mine = changes.merged(was, phase, part(now, key)) if key in now else phase
            if key in now:
                changes.adjust(draft, key, was, phase, keys)
            mine["errors"] = phase.get("errors")
            batch = changes.batch(theirs, before, key)
            listed = {
                **phase,
                "errors": history.tell(draft, key, mine, was, part(now, key), batch, past=past),
            }
            if "errors" not in phase:
                del listed["errors"]
        found[key] = listed
    theirs["phases"] = found


def _listed(phase: Object, was: Object) -> Object:
    """A phase with its errors by their ids, if they are those that were known."""
    errors, known = phase.get("errors"), was.get("errors")
    if isinstance(errors, list) and isinstance(known, dict) and same(errors, list(known.values())):
        return {**phase, "errors": known}
    return phase


def _left(
    project: Project, before: Object, theirs: Object, removals: bool, fresh: bool, behind: bool
) -> list[e.Leftover]:
    """Where the front matter would not come out again as it is, although it says something."""
    told = ASIDE | {"current_phase"} if fresh else ASIDE | {"current_phase", "session_id"}
    told = told | {"total_phases"} if behind else told
    alone, shown = part(own(project), "front"), part(form(project), "front")
    was = before if fresh else _with_room(before, alone, theirs)
    found = list(remaining(Places(alone, shown, was, theirs, told), removals, fresh))
    if not behind:
        found += _current_left(project, alone, shown, theirs, removals or fresh)
    return [
        e.Leftover(("front", *place.path), place.own, place.file)
        for place in found
        if fresh or not _is_counted(place)
    ]


def _with_room(before: Object, alone: Object, theirs: Object) -> Object:
    """What was rendered, with room for what came about since in the file and is in the state now,
    so that the two are compared field by field."""
    found = dict(before)
    for key, said in theirs.items():
        mine, was = alone.get(key), before.get(key, {})
        if isinstance(said, dict) and isinstance(mine, dict) and isinstance(was, dict):
            found[key] = _with_room(was, mine, said)
    return found


def _current_left(
    project: Project, alone: Object, shown: Object, theirs: Object, removals: bool
) -> Iterator[e.Leftover]:
    """The current phase of the file, where it is another than follows and yet may be the one."""
    key, said = "current_phase", theirs.get("current_phase")
    if key not in theirs:
        if removals and key in shown:
            yield e.Leftover((key,), digest(alone[key]))
    elif may_be_at(project, said) and not (key in shown and same(said, shown[key])):
        yield e.Leftover((key,), digest(alone[key]), (said,))


def _is_counted(place: e.Leftover) -> bool:
    """Whether events say all of it: what a file counts less than was recorded is not believed."""
    counts = place.path[0] == "token_usage" and place.path[-1] in tokens.COUNTED
    return counts and all(is_count(value) for value in place.file)


# -- opening ---------------------------------------------------------------------------------


def _open(draft: Draft, source: Source, title: str) -> None:
    document = source.document
    phases = changes.by_key(document, {})
    keys = {digest(part(phases, key).get("id")): key for key in phases}
    steps = (changes.plan(key, phases[key], keys) for key in sorted(phases, key=step_order))
    flow = orchestration(steps)
    found = _TITLE.search(source.body)
    named = words(document, "task") or (found[1].strip() if found else "") or title or source.name
    execution = e.Execution(**{name: words(document, key) for key, name in EXECUTION.items()})
    opened = e.ProjectOpened(
        named, flow.name, flow.steps, flow.policy, source.name, execution=execution
    )
    draft.add(opened, moment_of(document.get("created")), must=True)
