"""The document that active-session.md is: front matter and body as values, before they are written.

What the file has as lists of phases and errors stands here by key and id, so that what an adopted
file says otherwise can belong to an entry and not to a place in a list. `front_matter` makes the
lists of it. The body stands here by its parts; what somebody wrote into it by hand is under `kept`,
where the state itself never writes anything, and so it stays.
"""

from collections.abc import Iterable, Iterator
from typing import Literal

from journal.clock import iso
from journal.entities import Document, Error, File, Project, Step, Tokens, step_agent
from journal.events import Downstream, Execution, Json, Leftover
from projections.active_session.body import labels, parts, text
from projections.leftovers import Object, apply, digest, same

NAME = "active-session"

#: What a step leaves for others -> what the file calls it.
DOWNSTREAM = {
    "interfaces": "key_interfaces_introduced",
    "patterns": "patterns_established",
    "integration_points": "integration_points",
    "assumptions": "assumptions",
    "warnings": "warnings",
}
#: A field of the front matter -> what the project's execution calls it.
EXECUTION = {
    "workflow_mode": "workflow",
    "execution_mode": "mode",
    "execution_backend": "backend",
    "task_complexity": "complexity",
}
#: What its tool goes by where nobody said otherwise; it reads no file that has nothing there.
WORKFLOW, BACKEND = "standard", "native"
#: A field of the front matter -> the kind of document that it names.
DOCUMENTS: dict[str, Literal["design", "plan"]] = {
    "design_document": "design",
    "implementation_plan": "plan",
}
#: A field of a phase -> what it did to the files there.
FILES: dict[str, Literal["created", "modified", "deleted"]] = {
    "files_created": "created",
    "files_modified": "modified",
    "files_deleted": "deleted",
}


def own(project: Project) -> Object:
    """The document as the state alone has it."""
    ids = phase_ids(project)
    found = parts(project, labels(ids))
    front = _front(project, ids)
    return {"front": front, "body": found, "order": list(found), "kept": {}}


def form(project: Project) -> Object:
    """The same with what adopted files say otherwise."""
    document = own(project)
    front = part(document, "front")
    follows = front["current_phase"]
    apply(document, project.leftovers.get(NAME, ()))
    if "current_phase" in front and not may_be_at(project, front["current_phase"]):
        front["current_phase"] = follows
    return document


def may_be_at(project: Project, phase: Json) -> bool:
    """Whether a file may say that this is the current phase: of those in progress, if any is."""
    ids = phase_ids(project)
    at_work = [ids[s.key] for s in project.steps.values() if s.status == "in_progress"]
    return not at_work or any(same(phase, id) for id in at_work)


def front_matter(front: Object) -> Object:
    """The front matter as it stands in the file."""
    phases = front.get("phases")
    if not isinstance(phases, dict):
        return front
    return {**front, "phases": [_listed(phase) for phase in phases.values()]}


def body_of(document: Object) -> str:
    """The body of a document as it stands in the file."""
    order = document["order"]
    assert isinstance(order, list)
    return text(order, part(document, "body"), part(document, "kept"))


def _listed(phase: Json) -> Json:
    errors = phase.get("errors") if isinstance(phase, dict) else None
    if isinstance(phase, dict) and isinstance(errors, dict):
        return {**phase, "errors": list(errors.values())}
    return phase


def phase_ids(project: Project) -> dict[str, Json]:
    """What each step goes by in the file: what an adopted file calls it, else a number."""
    named = {key: id for key, id in _named(project) if key in project.steps}
    taken = set(map(digest, named.values()))
    found: dict[str, Json] = {}
    for key, number in _numbers(project).items():
        while key not in named and digest(number) in taken:
            number += 1
        found[key] = named.get(key, number)
        taken.add(digest(found[key]))
    return found


def _numbers(project: Project) -> dict[str, int]:
    """The number of each step: its key, unless some key is no number of its own."""
    numbers = {key: int(key) for key in project.steps if key.isdecimal()}
    if len(set(numbers.values())) == len(project.steps):
        return numbers
    return {key: ordinal for ordinal, key in enumerate(project.steps, start=1)}


def _named(project: Project) -> Iterator[tuple[str, Json]]:
    """The steps that an adopted file has an id of its own for."""
    for leftover in project.leftovers.get(NAME, ()):
        if len(leftover.path) == 4 and leftover.file:
            front, phases, key, field = leftover.path
            if (front, phases, field) == ("front", "phases", "id"):
                yield key, leftover.file[0]


def own_ids(project: Project, phases: Object) -> list[Leftover]:
    """What is to be kept so that each phase goes by the id that it has in the file."""
    known = phase_ids(project)
    return [
        Leftover(("front", "phases", key, "id"), "", (id,))
        for key in phases
        if key in known and not same(id := part(phases, key).get("id"), known[key])
    ]


def moment(at: int | None) -> str | None:
    """A time as the file has it: to the millisecond, where there is a fraction."""
    if at is None:
        return None
    whole, thousandths = iso(at), at // 1000 % 1000
    return f"{whole[:-1]}.{thousandths:03}Z" if thousandths else whole


# -- the front matter ------------------------------------------------------------------------


def _front(project: Project, ids: dict[str, Json]) -> Object:
    how = project.execution or Execution()
    return {
        "session_id": project.native if project.native.strip() else project.slug,
        "task": project.title,
        "created": moment(project.opened),
        "updated": moment(project.updated),
        "status": _status(project),
        "workflow_mode": how.workflow or WORKFLOW,
        "design_document": _path(project, project.documents.get("design")),
        "implementation_plan": _path(project, project.documents.get("plan")),
        "current_phase": _current(project, ids),
        "total_phases": len(project.steps),
        "execution_mode": how.mode or None,
        "execution_backend": how.backend or BACKEND,
        "current_batch": project.batch or None,
        "task_complexity": how.complexity or None,
        "token_usage": _tokens(project),
        "phases": _phases(project, ids),
    }


def _status(project: Project) -> str:
    if project.aborted is not None:
        return "aborted"
    return "in_progress" if project.archived is None else "completed"


def _path(project: Project, document: Document | None) -> str | None:
    """Where a document is, which is somewhere else once the project is archived."""
    if document is None:
        return None
    moves = {move.active: move.archived for move in project.moves}
    return document.path if project.archived is None else moves.get(document.path, document.path)


def _current(project: Project, ids: dict[str, Json]) -> Json:
    """The lowest phase in progress, else the next one, else the last."""
    steps = list(project.steps.values())
    at_work = (step for step in steps if step.status == "in_progress")
    ahead = (step for step in steps if step.status not in ("complete", "skipped"))
    step = next(at_work, None) or next(ahead, None) or (steps[-1] if steps else None)
    return ids[step.key] if step else None


def _tokens(project: Project) -> Object:
    sums = project.tokens.values()
    return {
        "total_input": sum(each.input for each in sums),
        "total_output": sum(each.output for each in sums),
        "total_cached": sum(each.cached for each in sums),
        "by_agent": {agent: _row(used) for agent, used in project.tokens.items() if agent},
    }


def _row(used: Tokens) -> Object:
    return {"input": used.input, "output": used.output, "cached": used.cached}


def _phases(project: Project, ids: dict[str, Json]) -> Object:
    errors: dict[str, list[Error]] = {}
    for error in project.errors.values():
        errors.setdefault(error.step, []).append(error)
    files: dict[str, list[File]] = {}
    for file in project.manifest.values():
        files.setdefault(file.step, []).append(file)
    return {
        key: _phase(project, step, ids, files.get(key, ()), errors.get(key, ()))
        for key, step in project.steps.items()
    }


def _phase(
    project: Project,
    step: Step,
    ids: dict[str, Json],
    files: Iterable[File],
    errors: Iterable[Error],
) -> Object:
    files = list(files)
    phase: Object = {
        "id": ids[step.key],
        "name": step.name,
        "status": "completed" if step.status == "complete" else step.status,
        "agents": list(dict.fromkeys(filter(None, (step_agent(project, step), *step.team)))),
        "parallel": step.parallel,
        "started": moment(step.started),
        "completed": moment(step.completed),
        "blocked_by": [ids[key] for key in step.blocked_by if key in ids],
        **{
            field: [file.path for file in files if file.change == change]
            for field, change in FILES.items()
        },
        "planned_files": list(step.files),
        "downstream_context": downstream(step.downstream),
        "errors": {error.id: _error(error) for error in errors},
        "retry_count": step.retries,
    }
    if step.status == "complete":
        phase["requires_reconciliation"] = step.to_reconcile
        if step.reconciled:
            phase["reconciliation_reason"] = step.reconciled
    return phase


def downstream(left: Downstream) -> Object:
    """What a step leaves for others, as the file has it."""
    return {name: list(getattr(left, field)) for field, name in DOWNSTREAM.items()}


def _error(error: Error) -> Object:
    resolved = error.resolved is not None
    return {
        "agent": error.agent,
        "timestamp": moment(error.at),
        "type": error.kind,
        "message": error.message,
        "resolution": error.resolution if resolved else "pending",
        "resolved": resolved,
    }


# -- values of any form ----------------------------------------------------------------------


def part(of: Json, key: str) -> Object:
    """A part that should be a mapping; nothing where it is something else."""
    found = of.get(key) if isinstance(of, dict) else None
    return found if isinstance(found, dict) else {}


def words(of: Json, key: str) -> str:
    """A text; empty where there is none."""
    found = of.get(key) if isinstance(of, dict) else None
    return found if isinstance(found, str) else ""


def texts(of: Json, key: str) -> tuple[str, ...]:
    """The texts of a list, each once."""
    found = of.get(key) if isinstance(of, dict) else None
    listed = found if isinstance(found, list) else []
    return tuple(dict.fromkeys(each for each in listed if isinstance(each, str) and each))


def count(of: Json, name: str) -> int:
    """A count; 0 where there is none."""
    found = of.get(name) if isinstance(of, dict) else None
    return found if is_count(found) and isinstance(found, int) else 0


def is_count(value: Json) -> bool:
    """Whether a value can be a sum of tokens."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 2**53
