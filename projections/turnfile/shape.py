"""What the format lets stand in its places: which keys an entry has, and what fits each."""

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from journal.events import Json
from projections.leftovers import Object

Fits: TypeAlias = Callable[[Json], bool]
Shape: TypeAlias = Mapping[str, Fits]

_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")
#: A longer number would be the last one that any counter has room for.
_SIGNAL = re.compile(r"SIG-[0-9]{1,9}")
_INSTANCE = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_INSTANCES = 3


def is_text(value: Json) -> bool:
    """Text that says something."""
    return isinstance(value, str) and value != ""


def _is_any_text(value: Json) -> bool:
    return isinstance(value, str)


def _is_text_or_none(value: Json) -> bool:
    return value is None or isinstance(value, str)


def is_number(value: Json) -> bool:
    """A whole number that counts something."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 2**53


def _is_number_or_none(value: Json) -> bool:
    return value is None or is_number(value)


def _is_texts(value: Json) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _is_files(value: Json) -> bool:
    return _is_texts(value) and value != []


def is_version(value: Json) -> bool:
    """A version of three numbers."""
    return isinstance(value, str) and _VERSION.fullmatch(value) is not None


def is_signal(value: Json) -> bool:
    """The id of a signal."""
    return isinstance(value, str) and _SIGNAL.fullmatch(value) is not None


def _one_of(*words: str) -> Fits:
    return lambda value: isinstance(value, str) and value in words


def _is_lasting(value: Json) -> bool:
    return is_number(value) and value in range(1, 10_001)


def _is_conflict(value: Json) -> bool:
    if not (isinstance(value, dict) and set(value) <= {"rebuttal_rounds"}):
        return False
    rounds = value.get("rebuttal_rounds", "unbounded")
    return rounds == "unbounded" or (is_number(rounds) and rounds != 0)


def _is_instances(value: Json) -> bool:
    """Several of one family: at most three, and one of them in front."""
    if not (isinstance(value, dict) and 0 < len(value) <= _INSTANCES):
        return False
    lanes = [
        entry["lane_role"]
        for name, entry in value.items()
        if _INSTANCE.fullmatch(name) and isinstance(entry, dict) and _is_instance(entry)
    ]
    return len(lanes) == len(value) and lanes.count("primary") == 1


def _is_instance(entry: Object) -> bool:
    fit = entry.keys() == INSTANCE.keys()
    return fit and all(fits(entry[key]) for key, fits in INSTANCE.items())


_STATUS = _one_of("idle", "active", "blocked", "offline")
_PRIORITY = _one_of("P0", "P1", "P2")

TURNFILE: Shape = {"version": is_version, "project": is_text, "workspace": is_text}
INSTANCE: Shape = {
    "model": is_text,
    "session_id": _is_text_or_none,
    "status": _STATUS,
    "current_task": _is_text_or_none,
    "lane_role": _one_of("primary", "secondary"),
}
AGENT: Shape = {
    "role": _one_of("agent", "maintainer", "observer"),
    "status": _STATUS,
    "current_task": _is_text_or_none,
    "last_seen": _is_text_or_none,
    "session_id": _is_text_or_none,
    "instances": _is_instances,
}
MAINTAINER: Shape = {
    "id": is_text,
    "status": _one_of("available", "away", "observing"),
    "last_seen": _is_any_text,
}
COORDINATION: Shape = {
    "revision": is_number,
    "active_phase": is_text,
    "active_step": is_text,
    "conflict": _is_conflict,
}
TASK: Shape = {
    "description": is_text,
    "owner": is_text,
    "status": _one_of("pending", "claimed", "in_progress", "blocked", "done"),
    "priority": _PRIORITY,
    "depends_on": _is_texts,
    "created_by": is_text,
    "created_rev": is_number,
    "claim_rev": _is_number_or_none,
    "completed_rev": _is_number_or_none,
    "notes": _is_any_text,
}
LOCK: Shape = {
    "files": _is_files,
    "holder": is_text,
    "acquired_rev": is_number,
    "lease_revs": _is_lasting,
    "reason": is_text,
}
TURN: Shape = {
    "agent": is_text,
    "action": is_text,
    "requested_rev": is_number,
    "priority": _PRIORITY,
}
SIGNAL: Shape = {
    "id": is_signal,
    "from": is_text,
    "to": is_text,
    "signal": _one_of("ready", "blocked", "handoff", "yield", "request_turn", "notify"),
    "rev": is_number,
    "detail": _is_any_text,
}
#: What an entry has only where a file gave it one.
OPTIONAL = frozenset(("instances", "conflict"))
#: The places that name a revision.
REVISIONS = frozenset(
    ("created_rev", "claim_rev", "completed_rev", "acquired_rev", "requested_rev", "rev")
)


def idle(role: str = "agent") -> Object:
    """An agent of whom nothing is known but that it is there."""
    return {
        "role": role,
        "status": "idle",
        "current_task": None,
        "last_seen": None,
        "session_id": None,
    }


def put_in_order(task: Object) -> None:
    """Have a task done no sooner than it was claimed, and at some revision if it is done."""
    claimed, completed = task["claim_rev"], task["completed_rev"]
    if completed is None and task["status"] == "done":
        completed = task["created_rev"]
    if isinstance(claimed, int) and isinstance(completed, int):
        completed = max(claimed, completed)
    task["completed_rev"] = completed


#: What an entry has where nobody says it.
USUAL: Mapping[str, Object] = {
    "agents": idle(),
    "tasks": {
        "owner": "unassigned",
        "status": "pending",
        "priority": "P1",
        "depends_on": [],
        "created_by": "unknown",
        "created_rev": 0,
        "claim_rev": None,
        "completed_rev": None,
        "notes": "",
    },
    "locks": {"acquired_rev": 0, "lease_revs": 2, "reason": "none given"},
    "turn_queue": {"requested_rev": 0, "priority": "P1"},
    "messages": {"id": "", "to": "all", "rev": 0, "detail": ""},
}
