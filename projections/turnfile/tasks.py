"""What a TURNFILE.yaml says otherwise about tasks.

A task that its file gives to somebody is claimed, begun and done by that one. Only where the file
knew who had it, and gives it to another, that is the maintainer's word; of two who took it at the
same time the journal's holds it.
"""

from msgspec import convert

from journal import events as e
from journal.entities import Project, Task, maintainer_of, task_status
from journal.events import Json
from projections.draft import Draft
from projections.leftovers import Object
from projections.turnfile.document import BLOCKED, NOBODY, part, task_entry, word
from projections.turnfile.doing import SAYS, did, meant
from projections.turnfile.shape import put_in_order


def adopt(draft: Draft, before: Object, theirs: Object) -> None:
    """Add the tasks that are new, and have the others stand as they do in the file."""
    entries = part(theirs, "coordination", "tasks")
    known = part(before, "coordination", "tasks")
    for id in _by_dependence(entries):
        entry, was = part(entries, id), part(known, id)
        if entry == was:
            continue
        if id not in draft.project.tasks:
            _add(draft, id, entry)
        elif not was:
            continue  # it is over by now, or was added meanwhile: the file has nothing to compare
        if id in draft.project.tasks:
            _stand(draft, id, was, entry)
            _settle(draft.project, id, was, entry)
        put_in_order(entry)


def _by_dependence(entries: Object) -> list[str]:
    """Tasks after those that they wait on, else as they stand; a circle is broken somewhere."""
    ordered: dict[str, None] = {}
    seen = set[str]()
    for first in entries:
        above = [first]
        while above:
            id = above[-1]
            seen.add(id)
            before = [dep for dep in _waits(entries, id) if dep not in seen]
            if before:
                above += before
            else:
                ordered[above.pop()] = None
    return list(ordered)


def _waits(entries: Object, id: str) -> list[str]:
    listed = part(entries, id)["depends_on"]
    return [str(dep) for dep in listed if dep in entries] if isinstance(listed, list) else []


def _add(draft: Draft, id: str, entry: Object) -> None:
    waits = entry["depends_on"]
    known = (
        tuple(str(dep) for dep in waits if dep in draft.project.tasks)
        if isinstance(waits, list)
        else ()
    )
    event = e.TaskAdded(
        str(entry["description"]),
        id,
        priority=convert(entry["priority"], e.Priority),
        depends_on=known,
        description=_notes(entry)[0],
    )
    did(draft, event, meant(draft.project, entry["created_by"]))


def _stand(draft: Draft, id: str, was: Object, entry: Object) -> None:
    """Have a task stand as the file has it, as far as the rules allow."""
    status, owner = entry["status"], meant(draft.project, entry["owner"])
    if (status, entry["owner"]) == (was.get("status"), was.get("owner")):
        return
    if status != "blocked" and _standing(draft, id) == "blocked":
        did(draft, e.TaskUnblocked(id, SAYS), owner or _owner(draft, id))
    if status == "pending":
        if _standing(draft, id) in ("claimed", "in_progress"):
            did(draft, e.TaskReset(id, SAYS), _owner(draft, id))
        return
    _give(draft, id, was, owner, begin=status == "in_progress")
    if status == "blocked" and _standing(draft, id) not in ("blocked", "done"):
        notes, why = _notes(entry)
        did(draft, e.TaskBlocked(id, reason=why or notes or SAYS), owner or _owner(draft, id))
    if status == "done" and _owner(draft, id) == owner:
        did(draft, e.TaskCompleted(id, _noted(was, entry)), owner)


def _give(draft: Draft, id: str, was: Object, owner: str, *, begin: bool) -> None:
    """Have somebody take a task, or begin it."""
    project = draft.project
    held, standing = _owner(draft, id), _standing(draft, id)
    if standing in ("claimed", "in_progress") and held != owner:
        if not was or word(project, held) != was.get("owner"):
            return  # somebody took it meanwhile
        keeper = maintainer_of(project)
        if not owner or not did(draft, e.TaskClaimed(id, owner), keeper):
            return
    if begin:
        did(draft, e.TaskStarted(id, owner), owner)
    elif standing == "open" and (owner or not was):
        did(draft, e.TaskClaimed(id, owner), owner)


def _notes(entry: Object) -> tuple[str, str]:
    """What is noted about a task, and by what it is said to be blocked."""
    notes, mark, why = str(entry.get("notes", "")).rpartition(BLOCKED)
    if mark and (not notes or notes.endswith("\n\n")) and "\n\n" not in why:
        return notes.removesuffix("\n\n"), why
    return str(entry.get("notes", "")), ""


def _noted(was: Object, entry: Object) -> str:
    """What was noted about a task beyond what was noted before."""
    notes, old = _notes(entry)[0], _notes(was)[0]
    return notes.removeprefix(old).strip("\n") if was and notes != old else ""


def _task(draft: Draft, id: str) -> Task:
    return draft.project.tasks[id]


def _owner(draft: Draft, id: str) -> str:
    return _task(draft, id).agent


def _standing(draft: Draft, id: str) -> str:
    return task_status(draft.project, _task(draft, id))


def _settle(project: Project, id: str, was: Object, entry: Object) -> None:
    """Take what became of a task meanwhile, where the file could not have its way."""
    now = task_entry(project, id)
    if was and _of(now) != _of(entry) and _of(now) != _of(was):
        for key in ("status", "owner", "claim_rev", "completed_rev"):
            entry[key] = now[key]
    if now["status"] == entry["status"] == "done" and entry["completed_rev"] is None:
        entry["completed_rev"] = now["completed_rev"]  # everything done was done at some time


def _of(entry: Object) -> tuple[Json, Json]:
    status = entry["status"]
    return status, entry["owner"] if status != "pending" else NOBODY
