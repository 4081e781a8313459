"""The document that a TURNFILE.yaml is, as a state has it: entries by their ids.

Whoever maintains the workspace goes by the word `maintainer` in it, as the format has it. Of what
is over only the newest is in it: the format keeps the signals that are still worth reading and the
tasks that are tracked, and the journal keeps them all. No open task, lock or turn is ever left out.
"""

from collections.abc import Iterable

from journal.entities import Actor, Lease, Project, Session, Task, active_blockers, maintainer_of
from journal.events import Coordination, Json
from journal.peers import SentSignal
from projections.leftovers import Object, apply
from projections.peers import active_task
from projections.turnfile.shape import idle, is_version, put_in_order

NAME = "turnfile"

#: So many tasks that are done are in the file, and so many signals: the newest, and of each sender
#: the last.
DONE = SIGNALS = 200

MAINTAINER, NOBODY, NONE = "maintainer", "unassigned", "none"
#: Whoever is not known by any name.
UNKNOWN = "unknown"
#: The last paragraph of a blocked task's notes says by what.
BLOCKED = "Blocked: "
_ROLES = {"agent": "agent", "orchestrator": "agent", "maintainer": "maintainer"}
_STATUS = {"available": "active", "observing": "idle", "away": "offline"}


def shown(project: Project) -> Object:
    """The document with what adopted files say otherwise, and nothing in it that leads nowhere."""
    document = own(project)
    apply(document, project.leftovers.get(NAME, ()))
    return _consistent(document)


def own(project: Project) -> Object:
    """The document that a state has alone."""
    shared = project.coordination or Coordination(maintainer_of(project) or MAINTAINER)
    last = {session.agent: session for session in project.sessions.values()}
    active = {s.agent: s for s in project.sessions.values() if s.status == "active"}
    tasks = _tasks(project)
    keeper = project.actors.get(shared.maintainer, Actor(shared.maintainer))
    seen = last.get(shared.maintainer)
    return {
        "turnfile": {
            "version": version(shared.version),
            "project": project.native or project.slug,
            "workspace": shared.workspace or ".",
        },
        "agents": {
            word(project, agent.id): _agent(project, agent, last, active, tasks)
            for agent in _agents(project, shared.maintainer, active)
        },
        "maintainer": {
            "id": shared.maintainer,
            "status": keeper.status if keeper.status in _STATUS else "available",
            "last_seen": _label(seen) if seen else "",
        },
        "coordination": {
            "revision": project.revision,
            "active_phase": project.phase or NONE,
            "active_step": project.phase_step or NONE,
            "tasks": tasks,
        },
        "locks": {lease.token: _lock(project, lease) for lease in _held(project)},
        "turn_queue": {
            turn.id: {
                "agent": word(project, turn.agent) or UNKNOWN,
                "action": turn.action,
                "requested_rev": turn.requested,
                "priority": turn.priority,
            }
            for turn in project.turns.values()
        },
        "messages": {signal.id: signal_entry(project, signal) for signal in _signals(project)},
        # What an adopted file has that the format does not know; it stands in comments.
        "foreign": {},
    }


def version(said: str) -> str:
    """A version of the format in its three numbers."""
    return said if is_version(said) else f"{said}.0" if is_version(f"{said}.0") else "0.1.0"


def word(project: Project, actor: str) -> str:
    """How the file calls an actor."""
    return MAINTAINER if actor and actor == maintainer_of(project) else actor


def number(signal: str) -> int:
    """The number of a signal, by which signals are ordered."""
    digits = signal.rpartition("-")[2]
    return int(digits) if digits.isdecimal() else 0


# -- agents ----------------------------------------------------------------------------------


def _agents(project: Project, maintainer: str, active: Iterable[str]) -> list[Actor]:
    """Everybody who is registered, at work or holding something, but the maintainer."""
    named = [*active, *(lease.agent or UNKNOWN for lease in _held(project))]
    there = project.actors | {
        name: Actor(name) for name in named if name and name not in project.actors
    }
    found = [actor for id, actor in there.items() if id != maintainer]
    return found or [there.get(maintainer, Actor(maintainer, "maintainer"))]


def _agent(
    project: Project,
    actor: Actor,
    last: dict[str, Session],
    active: dict[str, Session],
    tasks: Object,
) -> Object:
    latest, open_ = last.get(actor.id), active.get(actor.id)
    return {
        "role": _ROLES.get(actor.role, "observer"),
        "status": status(actor, open_ if actor.id not in project.actors else None),
        "current_task": _current(project, actor.id, tasks),
        "last_seen": _label(latest) if latest else None,
        "session_id": _label(open_) if open_ else None,
    }


def status(actor: Actor, open_: Session | None = None) -> str:
    """What the file says an agent is; of one that never registered its session tells."""
    said = actor.status or ("active" if open_ else "idle")
    return _STATUS.get(said, said)


def _current(project: Project, agent: str, tasks: Object) -> str | None:
    """The registered task that an agent is at, if it is still the agent's."""
    at = active_task(project, agent)
    task = project.tasks.get(at.id) if at else None
    mine = task is not None and task.agent == agent and task.status not in ("open", "done")
    return task.id if task is not None and mine and task.id in tasks else None


def _label(session: Session) -> str:
    """The name that an agent gave its session, else the one that it has here."""
    return session.name or session.id


# -- tasks -----------------------------------------------------------------------------------


def _tasks(project: Project) -> Object:
    """The tasks that are tracked: all that are not done, and those that were done last."""
    done = [task for task in project.tasks.values() if task.status == "done"]
    done.sort(key=lambda task: (task.done_revision or 0, task.completed or 0))
    over = {task.id for task in done[: max(len(done) - DONE, 0)]}
    tracked = {id: task for id, task in project.tasks.items() if id not in over}
    why = _blocked(project)
    return {
        id: _task(project, task, tracked.keys(), why.get(id, [])) for id, task in tracked.items()
    }


def task_entry(project: Project, id: str) -> Object:
    """A task as it stands in the file, if it is still tracked."""
    return _task(project, project.tasks[id], project.tasks.keys(), _blocked(project).get(id, []))


def _blocked(project: Project) -> dict[str, list[str]]:
    """What blocks each task that something blocks."""
    why: dict[str, list[str]] = {}
    for blocker in active_blockers(project):
        for id in blocker.tasks:
            why.setdefault(id, []).append(blocker.description)
    return why


def _task(project: Project, task: Task, tracked: Iterable[str], why: list[str]) -> Object:
    ended, taken = task.status == "done", task.status != "open"
    blocked = why != [] and not ended
    notes = (task.description, task.note, f"{BLOCKED}{'; '.join(why)}" if blocked else "")
    waits: list[Json] = [id for id in task.depends_on if id in tracked]
    return {
        "description": task.title,
        "owner": (word(project, task.agent) if taken else "") or NOBODY,
        "status": "blocked" if blocked else task.status if taken else "pending",
        "priority": task.priority,
        "depends_on": waits,
        "created_by": word(project, task.created_by) or UNKNOWN,
        "created_rev": task.created_revision,
        "claim_rev": task.taken_revision if taken else None,
        "completed_rev": task.done_revision if ended else None,
        "notes": "\n\n".join(filter(None, notes)),
    }


# -- locks and signals -----------------------------------------------------------------------


def _held(project: Project) -> list[Lease]:
    """The leases on files that nobody gave back or took over, stale or not."""
    return [lease for lease in project.leases.values() if lease.files and lease.status == "held"]


def _lock(project: Project, lease: Lease) -> Object:
    return {
        "files": list(lease.files),
        "holder": word(project, lease.agent) or UNKNOWN,
        "acquired_rev": lease.revision,
        "lease_revs": max(lease.revisions, 1),
        "reason": lease.reason or "none given",
    }


def _signals(project: Project) -> list[SentSignal]:
    """The signals that are still worth reading, the newest first."""
    newest = sorted(project.signals.values(), key=lambda each: number(each.id), reverse=True)
    kept, heard = [], set[str]()
    for n, signal in enumerate(newest):
        if n < SIGNALS or signal.sender not in heard:
            kept.append(signal)
        heard.add(signal.sender)
    return kept


def signal_entry(project: Project, signal: SentSignal) -> Object:
    """A signal as it stands in the file."""
    return {
        "id": signal.id,
        "from": word(project, signal.sender) or UNKNOWN,
        "to": word(project, signal.to) or "all",
        "signal": signal.kind,
        "rev": signal.revision,
        "detail": signal.detail,
    }


# -- whatever is in it ------------------------------------------------------------------------


def part(document: Object, *path: str) -> Object:
    """A mapping in a document."""
    found: Json = document
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def _consistent(document: Object) -> Object:
    """The document with every reference in it leading somewhere, whatever was kept from where."""
    agents, tasks = part(document, "agents"), part(document, "coordination", "tasks")
    for id in tasks:
        task = part(tasks, id)
        if isinstance(waits := task.get("depends_on"), list):
            task["depends_on"] = [dep for dep in waits if dep in tasks]
        put_in_order(task)
    for lock in part(document, "locks").values():
        holder = str(lock.get("holder")) if isinstance(lock, dict) else MAINTAINER
        if holder != MAINTAINER and holder not in agents:
            agents[holder] = idle()
    if not agents:
        agents[MAINTAINER] = idle("maintainer")
    for id in agents:
        agent = part(agents, id)
        for each in (agent, *(part(agent, "instances", name) for name in part(agent, "instances"))):
            if each.get("current_task") not in tasks:
                each["current_task"] = None
    messages = part(document, "messages")
    document["messages"] = dict(
        sorted(messages.items(), key=lambda pair: number(pair[0]), reverse=True)
    )
    document["agents"] = agents
    return document
