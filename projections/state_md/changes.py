"""What a STATE.md changed, section by section, as the events that say so.

Each function also puts its section of the file into the form of the document: entries by their ids.
"""

import re
from collections.abc import Callable, Iterator, Mapping

import msgspec

from journal import events as e
from journal.clock import parse
from journal.errors import Invalid
from journal.events import Json
from journal.state import Project
from projections.draft import Draft
from projections.leftovers import Object, digest
from projections.position import is_done, plan_at_work, task_at_work
from projections.state_md.document import KINDS, LISTS, at, form
from projections.state_md.progress import tasks
from projections.state_md.writing import VERBATIM, as_it_is

_GONE = "gone from the file"
_STATUS = {"paused": "in_progress", "blocked": "in_progress", "done": "complete"}
_STATUS |= {"completed": "complete", "active": "in_progress"}
_KIND_OF = {words: kind for kind, words in KINDS.items()}
_QUESTION = re.compile(r"([A-Za-z0-9-]{1,40}): (.*)", re.DOTALL)


def part(document: Object, key: str) -> Object:
    """A section that should be a mapping; nothing where it is something else."""
    found = document.get(key)
    return found if isinstance(found, dict) else {}


def as_lists(document: Object) -> tuple[Object, dict[tuple[str, ...], Json]]:
    """The document with a list where a mapping by names stands instead, and those mappings."""
    theirs, mapped = dict(document), dict[tuple[str, ...], Json]()
    if isinstance(context := theirs.get("resume_context"), dict):
        theirs["resume_context"] = dict(context)
    for path in LISTS:
        parent, found = at(theirs, path[:-1]), at(theirs, path)
        if isinstance(parent, dict) and isinstance(found, dict):
            mapped[path] = found
            parent[path[-1]] = [
                {"id": name, **entry}
                for name, entry in found.items()
                if len(path) == 1 and isinstance(entry, dict)
            ]
    return theirs, mapped


def put_back(theirs: Object, mapped: Mapping[tuple[str, ...], Json]) -> None:
    """Have the mappings by names stand as they are, whatever events they became."""
    for path, value in mapped.items():
        parent = at(theirs, path[:-1])
        if isinstance(parent, dict):
            parent[path[-1]] = as_it_is(path[-1], value)


def moment(text: Json) -> int | None:
    """The moment that a date or time in a file means; None if it means none."""
    if isinstance(text, dict):  # it is quoted, or otherwise not as we would write it
        text = str(text.get(VERBATIM, "")).strip("\"'")
    if not (isinstance(text, str) and text[:1].isdigit()):
        return None
    try:
        return parse(f"{text}T00:00:00Z" if len(text) == 10 else text)
    except Invalid:
        return None


def _words(of: Object, key: str) -> str:
    value = of.get(key)
    return value if isinstance(value, str) else ""


def _list(of: Object, key: str) -> tuple[str, ...]:
    value = of.get(key)
    return tuple(x for x in value if isinstance(x, str)) if isinstance(value, list) else ()


def _entries(
    draft: Draft,
    before: Object,
    theirs: Object,
    section: str,
    alike: Callable[[Object, Object], bool],
) -> Iterator[tuple[str, Object, Json]]:
    """The file's entries of a section, each with its id and how that was before.

    What was recorded since the file was rendered counts too: an agent that writes its copy again
    says nothing new with it.
    """
    since = part(form(draft.project), section)
    unmatched = dict(part(before, section)) | {
        id: entry for id, entry in since.items() if id not in part(before, section)
    }
    known: Mapping[str, object] = getattr(draft.project, section)
    found = theirs.get(section)
    for entry in found if isinstance(found, list) else ():
        id = entry.get("id") if isinstance(entry, dict) else None
        if isinstance(id, str) and id in known and id not in unmatched:
            yield id, entry if isinstance(entry, dict) else {}, entry  # it is settled by now
            continue
        if not (isinstance(id, str) and id in unmatched):
            same = (name for name, was in unmatched.items() if digest(was) == digest(entry))
            close = (
                name
                for name, was in unmatched.items()
                if isinstance(was, dict) and isinstance(entry, dict) and alike(was, entry)
            )
            id = next(same, None) or next(close, "")
        was = unmatched.pop(str(id), None)
        yield str(id), was if isinstance(was, dict) else {}, entry


def _free(found: Object, section: str) -> str:
    """A name for an entry that became nothing: it stays as it is."""
    number = 1
    while f"{section} {number}" in found:
        number += 1
    return f"{section} {number}"


def _removed(shown: Object, theirs: Object, section: str, found: Object) -> list[str]:
    """What stood in the file and is there no more; a section that is no list says nothing."""
    listed = isinstance(theirs.get(section), list)
    return [id for id in part(shown, section) if id not in found] if listed else []


def _told(theirs: Object, section: str, found: Object) -> None:
    """Have the section by its ids, if the file has it as a list at all."""
    if isinstance(theirs.get(section), list):
        theirs[section] = found


# -- sessions --------------------------------------------------------------------------------


def sessions(draft: Draft, before: Object, theirs: Object) -> None:
    """Tell of sessions that are new, and of those that have ended since; none is ever gone."""
    found: Object = {}
    for known, was, entry in _entries(draft, before, theirs, "sessions", lambda was, now: False):
        id = known
        if isinstance(entry, dict):
            if known not in draft.project.sessions:
                id = _begin(draft, entry)
            _end(draft, id, was, entry)
        found[id or _free(found, "sessions")] = entry
    gone = {id: was for id, was in part(before, "sessions").items() if id not in found}
    _told(theirs, "sessions", gone | found)


def _begin(draft: Draft, entry: Object) -> str:
    number, id = len(draft.project.sessions), _words(entry, "id")
    active = _standing(entry) == "active"
    continues = _words(entry, "continues")
    event = e.SessionStarted(
        _words(entry, "agent"),
        note=_words(entry, "notes") if active else "",
        continues=continues if continues in draft.project.sessions else "",
        session=id if id not in draft.project.session_names else "",
    )
    draft.add(event, moment(entry.get("started")))
    made = list(draft.project.sessions)
    return made[-1] if len(made) > number else ""


def _standing(entry: Object) -> str:
    status = _words(entry, "status")
    return status or ("ended" if entry.get("ended") is not None else "active")


def _end(draft: Draft, id: str, was: Object, entry: Object) -> None:
    session = draft.project.sessions.get(id)
    if session is None or session.status != "active":
        return
    when, notes = moment(entry.get("ended")), _words(entry, "notes")
    noted = notes.removeprefix(_words(was, "notes")).strip("\n")
    match _standing(entry):
        case "crashed":
            draft.add(e.SessionCrashed(id, noted), when)
        case "active":
            if was and noted and notes != _words(was, "notes"):
                draft.add(e.SessionNoted(noted, session=id))
        case _:
            lists = _list(entry, "completed"), _list(entry, "issues")
            usage, reason = _usage(entry), _words(entry, "handoff_reason")
            draft.add(e.SessionEnded(id, *lists, noted, usage, reason), when)


def _usage(entry: Object) -> float | None:
    """How full the context was: 62%, or 0.62."""
    said = entry.get("context_usage")
    percent = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]+)?)%", said) if isinstance(said, str) else None
    share = float(percent[1]) / 100 if percent else said
    return share if isinstance(share, float) and 0 <= share <= 1 else None


# -- decisions -------------------------------------------------------------------------------

_FACTS = ("context", "decision", "reason", "alternatives_considered", "reversible", "kind")


def decisions(draft: Draft, before: Object, theirs: Object, shown: Object | None) -> None:
    """Record decisions that are new, or are others by now; `shown` is what may be gone."""
    found: Object = {}
    removals = shown is not None

    def alike(was: Object, now: Object) -> bool:
        return was.get("context") == now.get("context") and was.get("date") == now.get("date")

    for known, was, entry in _entries(draft, before, theirs, "decisions", alike):
        id = known
        settled = draft.project.decisions.get(known)
        if settled and settled.superseded_by is not None and known not in part(before, "decisions"):
            continue  # an old copy does not bring it back
        changed = isinstance(entry, dict) and any(
            was.get(fact) != entry.get(fact) and (fact in entry or removals) for fact in _FACTS
        )
        if isinstance(entry, dict) and (not was or changed):
            id = _decide(draft, known if was else "", {**({} if removals else was), **entry})
        found[id or known or _free(found, "decisions")] = entry
    for id in _removed(shown or {}, theirs, "decisions", found):
        decision = draft.project.decisions.get(id)
        if decision and decision.superseded_by is None:
            draft.add(e.DecisionSuperseded(id, "", _GONE))
    _told(theirs, "decisions", found)


def _decide(draft: Draft, replaced: str, entry: Object) -> str:
    number, id, old = len(draft.project.decisions), entry.get("id"), None
    if replaced:
        old = draft.project.decisions.get(replaced)
    keyed = old.key if old and entry.get("context") in ("", old.key) else ""
    reversible = entry.get("reversible")
    event = e.DecisionMade(
        "" if keyed else _words(entry, "context"),
        "" if keyed else _words(entry, "decision"),
        _words(entry, "reason"),
        keyed,
        _words(entry, "decision") if keyed else None,
        _list(entry, "alternatives_considered"),
        reversible=reversible if isinstance(reversible, bool) else None,
        kind=msgspec.convert(_KIND_OF.get(_words(entry, "kind")), e.DecisionKind | None),
        decision=id if isinstance(id, str) and id not in draft.project.decisions else "",
    )
    draft.add(event, None if replaced else moment(entry.get("date")))
    made = list(draft.project.decisions)
    if len(made) == number:
        return ""
    if old is not None and draft.project.decisions[old.id].superseded_by is None:
        draft.add(e.DecisionSuperseded(old.id, made[-1]))
    return made[-1]


# -- position and progress -------------------------------------------------------------------


def current(project: Project, before: Object, theirs: Object) -> str:
    """The phase that the file is at, where it says another than before."""
    key = _phase_key(part(theirs, "position").get("phase"))
    same = at(theirs, ("position", "phase")) == at(before, ("position", "phase"))
    return key if key in project.steps and not same else project.current


def _phase_key(phase: Json) -> str:
    text = str(phase).replace(".", "_") if isinstance(phase, int | str | float) else ""
    return text if re.fullmatch(r"[0-9]{1,9}(_[0-9]{1,9})*", text) else ""


def position(draft: Draft, before: Object, theirs: Object) -> None:
    """Move to where the file is: phase, plan, task, and the tasks that it counts."""
    there, was = part(theirs, "position"), part(before, "position")
    key = _phase_key(there.get("phase"))
    counts, counted = part(theirs, "progress"), part(before, "progress")
    total = counts.get("phases_total")
    if total != counted.get("phases_total") and isinstance(total, int) and total <= 1000:
        for number in range(len(draft.project.steps) + 1, total + 1):
            draft.add(e.StepPlanned(e.StepPlan(str(number), f"Phase {number}")))
    if key and key not in draft.project.steps:
        draft.add(e.StepPlanned(e.StepPlan(key, _words(there, "phase_name") or f"Phase {key}")))
    _complete(draft, key, there, counts)
    if key in draft.project.steps and there != was:
        _stand(draft, key, there)
        _plan(draft, key, there)
        _task(draft, key, there, was, counts.get("current_phase_completed"))
    if key in draft.project.steps and counts != counted:
        _count(draft, key, counts)


def _complete(draft: Draft, key: str, there: Object, counts: Object) -> None:
    """Complete as many phases as the file counts, the first ones but the one it is at."""
    wanted = counts.get("phases_completed")
    done = sum(map(is_done, draft.project.steps.values()))
    at_work = _STATUS.get(_words(there, "status"), _words(there, "status")) != "complete"
    for step in list(draft.project.steps.values()):
        if not isinstance(wanted, int) or done >= wanted:
            return
        if not is_done(step) and not (step.key == key and at_work):
            begun = step.status == "in_progress"
            event = e.StepCompleted(step.key) if begun else e.StepAdopted(step.key, "complete")
            done += draft.add(event)


def _stand(draft: Draft, key: str, there: Object) -> None:
    said = _words(there, "status")
    wanted, step = _STATUS.get(said, said), draft.project.steps[key]
    if wanted == step.status:
        return
    if wanted == "in_progress" and step.status == "pending" and draft.add(e.StepStarted(key)):
        return
    if wanted == "complete" and step.status == "in_progress":
        draft.add(e.StepCompleted(key))
    elif wanted in ("pending", "in_progress", "complete", "skipped"):
        draft.add(e.StepAdopted(key, msgspec.convert(wanted, e.AdoptedStatus)))


def _plan(draft: Draft, key: str, there: Object) -> None:
    number, name = there.get("plan"), _words(there, "plan_name")
    if not (isinstance(number, int) and not isinstance(number, bool) and number > 0):
        return
    plan = next(
        (p for p in draft.project.plans.values() if (p.step, p.number) == (key, number)), None
    )
    if plan is None:
        draft.add(e.PlanAdded(key, name or f"Plan {number}", number))
        plan = next(
            (p for p in draft.project.plans.values() if (p.step, p.number) == (key, number)), None
        )
    at_work = plan_at_work(draft.project, key)
    if plan and at_work != plan:
        if at_work and at_work.number < number:
            draft.add(e.PlanCompleted(at_work.id))
        draft.add(e.PlanStarted(plan.id))


def _task(draft: Draft, key: str, there: Object, was: Object, done: Json) -> None:
    title = _words(there, "task")
    if not title or (title, there.get("phase")) == (was.get("task"), was.get("phase")):
        return
    project = draft.project
    at_work = task_at_work(project, key)
    step = project.steps[key]
    if at_work and isinstance(done, int) and done > tasks(project, step)[1]:
        draft.add(e.TaskCompleted(at_work.id))
    named = (t for t in project.tasks.values() if (t.step, t.title) == (key, title))
    task = next((t for t in named if t.status != "done"), None)
    if task is None:
        plan, wave = plan_at_work(project, key), there.get("wave")
        number = wave if isinstance(wave, int) and not isinstance(wave, bool) else 0
        added = e.TaskAdded(title, step=key, plan=plan.id if plan else "", wave=max(number, 0))
        if not draft.add(added):
            return
        task = list(project.tasks.values())[-1]
    if step.status == "in_progress" and task.status == "open":
        draft.add(e.TaskStarted(task.id), session=_session_at_work(project))


def _session_at_work(project: Project) -> str | None:
    """The session that what the file says was done in: the last that is active."""
    active = [session for session in project.sessions.values() if session.status == "active"]
    return active[-1].id if active else None


def _count(draft: Draft, key: str, counts: Object) -> None:
    """Have the phase count as many tasks as the file does, where fewer are named."""
    total, done = counts.get("current_phase_tasks"), counts.get("current_phase_completed")
    step = draft.project.steps[key]
    if not (isinstance(total, int) and isinstance(done, int) and 0 <= done <= total):
        return
    if tasks(draft.project, step) != (total, done):
        named = [task for task in draft.project.tasks.values() if task.step == key]
        ready = sum(task.status == "done" for task in named)
        draft.add(e.TaskCounted(key, total, max(done - ready, 0)))


# -- blockers --------------------------------------------------------------------------------


def blockers(draft: Draft, before: Object, theirs: Object, shown: Object | None) -> None:
    """Raise, bypass and resolve what the file does; `shown` is what may be gone."""
    found: Object = {}

    def alike(was: Object, now: Object) -> bool:
        return "id" not in now and was.get("description") == now.get("description")

    for known, was, entry in _entries(draft, before, theirs, "blockers", alike):
        id = known
        settled = draft.project.blockers.get(known)
        if settled and settled.status == "resolved" and known not in part(before, "blockers"):
            continue  # an old copy does not bring it back
        if isinstance(entry, dict):
            if known not in draft.project.blockers:
                id = _raise(draft, entry)
            else:
                if entry.get("blocked_tasks") != was.get("blocked_tasks"):
                    _name_tasks(draft, known, entry)
            _settle(draft, id, entry)
        found[id or _free(found, "blockers")] = entry
    for id in _removed(shown or {}, theirs, "blockers", found):
        draft.add(e.BlockerResolved(id, _GONE))
    _told(theirs, "blockers", found)


def _raise(draft: Draft, entry: Object) -> str:
    number, id = len(draft.project.blockers), _words(entry, "id")
    event = e.BlockerRaised(
        _words(entry, "description"),
        _list(entry, "affects"),
        tuple(_tasks(draft, entry, "blocked_tasks")),
        id if id not in draft.project.blockers else "",
        "" if _words(entry, "status") == "bypassed" else _words(entry, "workaround"),
    )
    draft.add(event, moment(entry.get("identified_at") or entry.get("blocked_since")))
    made = list(draft.project.blockers)
    return made[-1] if len(made) > number else ""


def _name_tasks(draft: Draft, id: str, entry: Object) -> None:
    for task in _tasks(draft, entry, "blocked_tasks"):
        if task not in draft.project.blockers[id].tasks:
            draft.add(e.TaskBlocked(task, id))


def _tasks(draft: Draft, entry: Object, key: str) -> list[str]:
    """The ids of the tasks that an entry names; those that nobody knows are added."""
    named = entry.get(key)
    ids = []
    for each in named if isinstance(named, list) else ():
        pairs = each.items() if isinstance(each, dict) else ((each, ""),)
        for id, title in pairs:
            if isinstance(id, str) and id not in draft.project.tasks:
                draft.add(e.TaskAdded(title if isinstance(title, str) and title else id, id))
            if id in draft.project.tasks:
                ids.append(str(id))
    return ids


def _settle(draft: Draft, id: str, entry: Object) -> None:
    blocker = draft.project.blockers.get(id)
    status, workaround = _words(entry, "status"), _words(entry, "workaround")
    if blocker is None:
        return
    if status == "bypassed" and (blocker.status, blocker.workaround) != (status, workaround):
        tasks = tuple(_tasks(draft, entry, "workaround_tasks"))
        draft.add(e.BlockerBypassed(id, workaround, tasks))
    if status == "resolved" and blocker.status != "resolved":
        draft.add(e.BlockerResolved(id, _words(entry, "resolution")))


# -- what a resuming agent needs -------------------------------------------------------------


def resume(draft: Draft, before: Object, theirs: Object, cut: Object | None) -> None:
    """Record files, implementations and questions that are new; `cut` is what may be gone."""
    section, shown = part(theirs, "resume_context"), part(before, "resume_context")
    if not section:
        return
    theirs["resume_context"] = section = dict(section)
    for path in _new(section, shown, "files_modified_this_session"):
        draft.add(e.FilesChanged(path), session=_session_at_work(draft.project))
    for text in _new(section, shown, "key_implementations"):
        draft.add(e.ContextNoted("implementation", text))
    for key in ("files_modified_this_session", "key_implementations"):
        _by_text(section, key)
    _questions(draft, shown, section, part(cut or {}, "resume_context"))


def _new(section: Object, shown: Object, key: str) -> list[str]:
    known = part(shown, key).values()
    return [text for text in dict.fromkeys(_list(section, key)) if text not in known]


def _by_text(section: Object, key: str) -> None:
    found = section.get(key)
    if isinstance(found, list):
        named: Object = {}
        section[key] = named
        for text in found:
            name = text if isinstance(text, str) else key
            named[name if name not in named else f"{name} ({len(named)})"] = text


def _questions(draft: Draft, shown: Object, section: Object, cut: Object) -> None:
    listed, known = section.get("open_questions"), part(shown, "open_questions")
    known = known | part(part(form(draft.project), "resume_context"), "open_questions")
    if not isinstance(listed, list):
        return
    found: Object = {}
    for each in listed:
        id = next((id for id, text in known.items() if text == each), "")
        if not id and isinstance(each, str):
            named = _QUESTION.fullmatch(each)
            own = named[1] if named and named[1].startswith("OQ-") else ""
            number = len(draft.project.questions)
            taken = own in draft.project.questions
            text = named[2] if named and own else each
            draft.add(e.QuestionOpened(text, question="" if taken else own))
            made = list(draft.project.questions)
            id = made[-1] if len(made) > number else ""
        found[id or _free(found, "open_questions")] = each
    for id in part(cut, "open_questions"):
        if id not in found:
            draft.add(e.QuestionResolved(id, _GONE))
    section["open_questions"] = found
