"""Every rule of the TURNFILE format, checked without a line of the code that writes the file.

What it says comes from `yaml.safe_load`; how it is written is looked at line by line.
"""

import re
from collections.abc import Iterator
from typing import Any

import yaml

AGENT = ["role", "status", "current_task", "last_seen", "session_id"]
TASK = [
    *("description", "owner", "status", "priority", "depends_on", "created_by", "created_rev"),
    *("claim_rev", "completed_rev", "notes"),
]
LOCK = ["files", "holder", "acquired_rev", "lease_revs", "reason"]
TURN = ["agent", "action", "requested_rev", "priority"]
SIGNAL = ["id", "from", "to", "signal", "rev", "detail"]
SECTIONS = [
    *("turnfile", "agents", "maintainer", "coordination", "locks", "turn_queue", "messages")
]
AT_WORK = {"idle", "active", "blocked", "offline"}
PRIORITIES = {"P0", "P1", "P2"}


def broken(content: bytes) -> list[str]:
    """The rules that a file breaks, each with the place where it does."""
    text = content.decode()
    document = yaml.safe_load(text)
    return [*_written(text), *_said(document), *_related(document)]


# -- how it is written -----------------------------------------------------------------------


def _written(text: str) -> Iterator[str]:
    lines = text.split("\n")
    if any(ord(c) < 32 for c in text if c != "\n") or "\x7f" in text:
        yield "a tab or another control character is in the file"
    for n, line in enumerate(lines, start=1):
        if line.startswith("#") or not line:
            continue
        indent = len(line) - len(line.lstrip(" "))
        if indent % 2:
            yield f"line {n}: indented by {indent}"
        if line.startswith(("---", "...", "%")):
            yield f"line {n}: another document"
        if re.search(r"(?:^|\s)[&*]\w", line):
            yield f"line {n}: it could be an anchor or an alias"
        if re.search(r": +[|>]", line) and '"' not in line:
            yield f"line {n}: a block scalar"
    for event in yaml.parse(text):
        if getattr(event, "anchor", None):
            yield "an anchor"
        if isinstance(event, yaml.ScalarEvent) and event.style is None:
            word = event.value
            plain = word in ("null", "") or re.fullmatch(r"0|[1-9][0-9]*|[A-Za-z][\w./-]*", word)
            if not plain:
                yield f"{word!r} is not in quotes"
    documents = sum(isinstance(event, yaml.DocumentStartEvent) for event in yaml.parse(text))
    if documents != 1:
        yield f"{documents} documents"
    top = [line.partition(":")[0] for line in lines if line and line[0] not in " #"]
    if top != SECTIONS:
        yield f"the sections are {top}"
    head = re.search(r"^# Last modified revision: (\d+)$", text, re.MULTILINE)
    if not head or f"\n  revision: {head[1]}\n" not in text:
        yield "the header has another revision"
    if not lines[-2].startswith("# passdown project=") or lines[-1]:
        yield "the stamp is not the last line"


# -- what it says ----------------------------------------------------------------------------


def _said(document: Any) -> Iterator[str]:
    if list(document) != SECTIONS:
        yield f"the keys are {list(document)}"
    about, keeper, shared = (document[key] for key in ("turnfile", "maintainer", "coordination"))
    yield from _keys("turnfile", about, ["version", "project", "workspace"])
    yield from (f"turnfile.{k} is {v!r}" for k, v in about.items() if not _text(v))
    if not re.fullmatch(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?", about["version"]):
        yield f"the version is {about['version']!r}"
    if not document["agents"]:
        yield "there is no agent"
    for id, agent in document["agents"].items():
        yield from _keys(f"agents.{id}", agent, AGENT, "instances")
        for key in ("current_task", "last_seen", "session_id"):
            if not (agent[key] is None or isinstance(agent[key], str)):
                yield f"agents.{id}.{key} is {agent[key]!r}"
        if agent["role"] not in {"agent", "maintainer", "observer"}:
            yield f"agents.{id} is a {agent['role']!r}"
        if agent["status"] not in AT_WORK:
            yield f"agents.{id} is {agent['status']!r}"
    yield from _keys("maintainer", keeper, ["id", "status", "last_seen"])
    if not (_text(keeper["id"]) and isinstance(keeper["last_seen"], str)):
        yield f"the maintainer is {keeper!r}"
    if keeper["status"] not in {"available", "away", "observing"}:
        yield f"the maintainer is {keeper['status']!r}"
    order = ["revision", "active_phase", "active_step", "conflict", "tasks"]
    yield from _keys("coordination", shared, [k for k in order if k != "conflict" or k in shared])
    if not (_number(shared["revision"]) and _text(shared["active_phase"])):
        yield f"coordination is at {shared['revision']!r}, {shared['active_phase']!r}"
    if not _text(shared["active_step"]):
        yield f"the step is {shared['active_step']!r}"
    for id, task in shared["tasks"].items():
        yield from _task(id, task)
    for id, lock in document["locks"].items():
        yield from _keys(f"locks.{id}", lock, LOCK)
        numbers = _number(lock["acquired_rev"]) and _number(lock["lease_revs"])
        if not (numbers and lock["lease_revs"] and _text(lock["holder"]) and _text(lock["reason"])):
            yield f"lock {id} is {lock!r}"
        if not lock["files"] or not all(isinstance(each, str) for each in lock["files"]):
            yield f"lock {id} is on {lock['files']!r}"
    for n, turn in enumerate(document["turn_queue"]):
        yield from _keys(f"turn_queue[{n}]", turn, TURN)
        fits = _text(turn["agent"]) and _text(turn["action"]) and _number(turn["requested_rev"])
        if not fits or turn["priority"] not in PRIORITIES:
            yield f"turn {n} is {turn!r}"
    for n, signal in enumerate(document["messages"]):
        yield from _keys(f"messages[{n}]", signal, SIGNAL)
        fits = _text(signal["from"]) and _text(signal["to"]) and isinstance(signal["detail"], str)
        kinds = {"ready", "blocked", "handoff", "yield", "request_turn", "notify"}
        if not (fits and re.fullmatch(r"SIG-\d+", signal["id"]) and signal["signal"] in kinds):
            yield f"signal {n} is {signal!r}"


def _task(id: str, task: Any) -> Iterator[str]:
    yield from _keys(f"tasks.{id}", task, TASK)
    texts = ("description", "owner", "created_by")
    if not (all(_text(task[key]) for key in texts) and isinstance(task["notes"], str)):
        yield f"task {id} is {task!r}"
    if task["status"] not in {"pending", "claimed", "in_progress", "blocked", "done"}:
        yield f"task {id} is {task['status']!r}"
    if task["priority"] not in PRIORITIES:
        yield f"task {id} is of {task['priority']!r}"
    numbers = (task["claim_rev"], task["completed_rev"])
    if not _number(task["created_rev"]) or not all(n is None or _number(n) for n in numbers):
        yield f"task {id} has the revisions {task['created_rev']!r}, {numbers!r}"
    if not all(isinstance(each, str) for each in task["depends_on"]):
        yield f"task {id} waits on {task['depends_on']!r}"


def _keys(where: str, found: Any, wanted: list[str], optional: str = "") -> Iterator[str]:
    if [key for key in found if key != optional] != wanted:
        yield f"{where} has the keys {list(found)}"


def _text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _number(value: Any) -> bool:
    return type(value) is int and value >= 0


# -- how its parts belong together ---------------------------------------------------------------


def _related(document: Any) -> Iterator[str]:
    shared = document["coordination"]
    tasks, revision = shared["tasks"], shared["revision"]
    for id, agent in document["agents"].items():
        task = agent["current_task"]
        if task is not None and task not in tasks:
            yield f"{id} is at {task!r}, which is no task"
    for id, task in tasks.items():
        yield from (f"task {id} waits on {x!r}" for x in task["depends_on"] if x not in tasks)
        known = [task["created_rev"], task["claim_rev"], task["completed_rev"]]
        if max(n for n in known if n is not None) > revision:
            yield f"task {id} is ahead of revision {revision}: {known}"
        if task["status"] == "done" and task["completed_rev"] is None:
            yield f"task {id} is done, nobody knows when"
        if None not in known[1:] and task["completed_rev"] < task["claim_rev"]:
            yield f"task {id} was done before it was claimed"
    for id, lock in document["locks"].items():
        if lock["holder"] not in document["agents"] and lock["holder"] != "maintainer":
            yield f"lock {id} is held by {lock['holder']!r}, who is nobody"
        if lock["acquired_rev"] > revision:
            yield f"lock {id} is ahead of revision {revision}"
    for turn in document["turn_queue"]:
        if turn["requested_rev"] > revision:
            yield f"a turn is ahead of revision {revision}"
    numbers = [int(signal["id"].removeprefix("SIG-")) for signal in document["messages"]]
    if numbers != sorted(set(numbers), reverse=True):
        yield f"the signals are not the newest first: {numbers}"
    if any(signal["rev"] > revision for signal in document["messages"]):
        yield f"a signal is ahead of revision {revision}"
