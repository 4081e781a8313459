"""From what a STATE.md says to the requests that make it so.

The file is held against a base, the project as it was when the file was rendered, and only where
the two differ something is proposed: the same file adopted again comes to nothing. What no event
can say is kept as a leftover at its place. The figures of progress are nobody's words: they follow.
"""

import re

from journal import events as e
from journal.digest import sha256
from journal.errors import Invalid, quoted
from journal.events import Json
from journal.request import Request
from journal.state import Project
from journal.workflows import generic
from projections.draft import Draft
from projections.leftovers import Object, Places, kept, remaining
from projections.state_md import changes
from projections.state_md.changes import part
from projections.state_md.document import NAME, form, own
from projections.state_md.reading import Source, read
from projections.state_md.rendering import shown
from projections.state_md.writing import VERBATIM

#: Parts of the document that follow from the others.
ASIDE = frozenset(("progress", "escalation"))
_MENTIONED = re.compile(r"Phase ([0-9]{1,4}): (.{1,200})")


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
    return adopt(read(content), project, path, digest, base=base, removals=removals, now=now, by=by)


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
    fresh = not project.version
    if fresh:
        draft.occurred = _latest(source.document)
        draft.add(_opening(source, title), must=True)
        base = draft.project.copy()
    before = form(base or project)
    listed = shown(base or project) if removals else None
    theirs, mapped = changes.as_lists(source.document)
    _check_same(theirs, before, project)
    if not fresh and isinstance(theirs.get("title"), str) and theirs["title"] != before["title"]:
        draft.add(e.ProjectRetitled(str(theirs["title"])))
    changes.sessions(draft, before, theirs)
    changes.decisions(draft, before, theirs, listed)
    changes.position(draft, before, theirs)
    changes.blockers(draft, before, theirs, listed)
    changes.resume(draft, before, theirs, listed)
    said = theirs.get("next_action")
    if isinstance(said, str) and said != before["next_action"]:
        draft.add(e.NextActionSet(said))
    current = changes.current(draft.project, before, theirs)
    changes.put_back(theirs, mapped)
    before = shown(base or project)
    left = _left(draft.project, before, theirs, removals, fresh)
    if draft.requests or left or current != draft.project.current:
        draft.add(e.ProjectAdopted(path, content_digest, "", current), must=True)
        left = _left(draft.project, before, theirs, removals, fresh)
        for event in kept(NAME, left, ()):
            draft.add(event, must=True)
    return draft.requests


def _check_same(theirs: Object, before: Object, project: Project) -> None:
    """Refuse the file of another initiative."""
    name = theirs.get("initiative")
    if project.version and name not in (None, "", before["initiative"], project.slug):
        raise Invalid(
            f"the file says that it is of {quoted(name)}, not of {before['initiative']}; put the "
            "right file there, or mend its name"
        )


def _left(
    project: Project, before: Object, theirs: Object, removals: bool, fresh: bool
) -> list[e.Leftover]:
    """Where the file would not come out again as it is, although it says something of its own."""
    alone = own(project)
    figures = theirs.get("progress", {})
    if isinstance(figures, dict) and VERBATIM not in figures:
        derived = part(alone, "progress")
        theirs = {**theirs, "progress": {**figures, **derived}}
        before = {**before, "progress": {**part(before, "progress"), **derived}}
    places = Places(alone, form(project), before, theirs, frozenset(("escalation",)))
    return list(remaining(places, removals, fresh))


# -- opening ---------------------------------------------------------------------------------


def _opening(source: Source, title: str) -> e.ProjectOpened:
    """The beginning of an initiative whose phases are counted, and some of them named."""
    document = source.document
    position, progress = (changes.part(document, key) for key in ("position", "progress"))
    names = {int(number): name for number, name in _mentioned(document)}
    at, total = position.get("phase"), progress.get("phases_total")
    count = total if isinstance(total, int) else 0
    if isinstance(at, int):
        names[at] = str(position.get("phase_name") or names.get(at) or "")
    count = min(max(count, 1, *names), 1000)
    steps = generic(names.get(number) or f"Phase {number}" for number in range(1, count + 1)).steps
    said = document.get("title")
    text = said if isinstance(said, str) and said else title or source.name or "untitled"
    native = document.get("initiative")
    return e.ProjectOpened(text, "generic", steps, native=native if isinstance(native, str) else "")


def _mentioned(value: Json) -> list[tuple[str, str]]:
    """The phases that are named somewhere in the file."""
    match value:
        case str():
            found = _MENTIONED.fullmatch(value)
            return [(found[1], found[2])] if found else []
        case list():
            return [pair for each in value for pair in _mentioned(each)]
        case dict():
            return [pair for each in value.values() for pair in _mentioned(each)]
    return []


def _latest(value: Json) -> int | None:
    """The last time that the file names: it was not written before."""
    match value:
        case str():
            return changes.moment(value)
        case list():
            found = [_latest(each) for each in value]
        case dict():
            found = [_latest(value[key]) for key in value if key in (*_TIMES, *_HOLDERS)]
        case _:
            return None
    return max((each for each in found if each is not None), default=None)


_TIMES = ("date", "started", "ended", "identified_at", "blocked_since")
_HOLDERS = ("decisions", "blockers", "sessions")
