"""A project or a record as data: what `--json` promises, whatever the state is made of."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, get_args, get_type_hints

import msgspec
from msgspec import Struct

from cli.answers import RecordAnswer
from journal.clock import Moment, iso
from journal.entities import Project, task_status
from journal.events import Json
from journal.leaves import ABSENT, Path, kinds
from journal.payload import decode
from journal.record import Record


def project_data(project: Project) -> dict[str, object]:
    """The whole of a project: every field there, times as ISO 8601."""
    return {
        "project": project.slug,
        "title": project.title,
        "workflow": project.workflow,
        "native": project.native,
        "branch": project.branch,
        "version": project.version,
        "hash": project.hash.hex(),
        "content_version": project.content_version,
        "content_hash": project.content_hash.hex(),
        "opened": iso(project.opened),
        "updated": iso(project.updated),
        "archived": None if project.archived is None else iso(project.archived),
        "aborted": None if project.aborted is None else iso(project.aborted),
        "moves": _each(project.moves),
        "execution": None if project.execution is None else entity_data(project.execution),
        "batch": project.batch,
        "current_step": project.current,
        "policy": entity_data(project.policy),
        "actors": _all(project.actors),
        "steps": _all(project.steps),
        "plans": _all(project.plans),
        "tasks": {
            id: {**entity_data(task), "status": task_status(project, task)}
            for id, task in project.tasks.items()
        },
        "decisions": _all(project.decisions),
        "findings": _all(project.findings),
        "reviews": _all(project.reviews),
        "errors": _all(project.errors),
        "blockers": _all(project.blockers),
        "files": _all(project.files),
        "manifest": _all(project.manifest),
        "documents": _all(project.documents),
        "tokens": {"by_agent": _all(project.tokens), "by_step": _all(project.tokens_by_step)},
        "sessions": _all(project.sessions),
        "questions": _all(project.questions),
        "next_actions": project.next_actions,
        "context": _each(project.context),
        "outputs": _each(project.outputs),
        "gates": _each(project.gates),
        "leases": _all(project.leases),
        "coordination": None if project.coordination is None else entity_data(project.coordination),
        "revision": project.revision,
        "phase": project.phase,
        "phase_step": project.phase_step,
        "turns": _all(project.turns),
        "signals": _all(project.signals),
        "escalations": _all(project.escalations),
        "messages": _all(project.messages),
        "commitments": _all(project.commitments),
        "snapshots": _all(project.snapshots),
        "worklog": _all(project.worklog),
        "adopted": None if project.adopted is None else entity_data(project.adopted),
        "homes": _all(project.homes),
        "originals": _each(project.originals),
    }


def record_data(record: Record) -> RecordAnswer:
    """A record with its event, all of it but what only a verifier needs."""
    return RecordAnswer(
        version=record.version,
        id=record.id,
        type=record.type,
        data=decode(record.type, record.data),
        at=iso(record.at),
        occurred=None if record.occurred is None else iso(record.occurred),
        actor=record.actor,
        session=record.session,
        cause=record.cause,
        hash=record.hash.hex(),
        redacted=record.salt is None,
    )


def _all(things: Mapping[str, Struct]) -> dict[str, object]:
    return {id: entity_data(thing) for id, thing in things.items()}


def _each(things: Iterable[Struct]) -> list[object]:
    return [entity_data(thing) for thing in things]


def entity_data(thing: Struct) -> dict[str, object]:
    """Every field of an entity, also those at their default."""
    times = _times(type(thing))
    return {name: _value(getattr(thing, name), name in times) for name in thing.__struct_fields__}


def leaf_data(path: Path, value: object) -> Json:
    """What is at a leaf of a state, as `passdown show --json` has it; nothing as null."""
    if value is ABSENT:
        return None
    if isinstance(value, bytes):
        return value.hex()
    if len(path) == 2:
        is_time = path[0] == "hooks"
    else:
        is_time = path[-1] in _times(kinds()[path[0]] if len(path) == 3 else Project)
    data: Json = msgspec.to_builtins(_value(value, is_time))
    return data


def _value(value: Any, is_time: bool) -> object:
    if is_time and value is not None:
        return iso(value)
    if isinstance(value, Struct):
        return entity_data(value)
    if isinstance(value, tuple):
        return [_value(item, False) for item in value]
    return value


@cache
def _times(cls: type[Struct]) -> frozenset[str]:
    hints = get_type_hints(cls, include_extras=True)
    return frozenset(name for name, hint in hints.items() if Moment in (hint, *get_args(hint)))
