"""Finding what a proposal names, and naming what it makes."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from journal.entities import Blocker, Project, Session, Step, Task
from journal.errors import Invalid, NotFound, Rejected
from journal.events import Event
from journal.rules.rule import By


def find_step(project: Project, key: str) -> Step:
    """The step of that key, which people also write 3.5 for 3_5."""
    step = project.steps.get(key) or project.steps.get(key.replace(".", "_"))
    if step is None:
        raise NotFound("step", key, project.steps)
    return step


def step_or_current(project: Project, key: str) -> str:
    """The step a fact belongs to: the one named, else the current one."""
    return find_step(project, key).key if key else project.current


T = TypeVar("T")


def find(kind: str, id: str, things: Mapping[str, T], offered: Iterable[str] | None = None) -> T:
    """The thing of that id; the short form of an id does where it can only mean one."""
    if id in things:
        return things[id]
    meant = [known for known in things if id and _is_short_for(id, known)]
    if len(meant) == 1:
        return things[meant[0]]
    if meant:
        raise Invalid(f"{kind} {id[:60]!r} could be {', '.join(meant[:8])}; say which")
    raise NotFound(kind, id, things if offered is None else offered)


def _is_short_for(id: str, known: str) -> bool:
    """Whether `7` or `f7` can stand for F007, or the beginning of an id for the whole."""
    given, whole = id.lower(), known.lower()
    words, number = _numbered(given)
    of_words, of_number = _numbered(whole)
    if number and of_number and words in ("", of_words):
        return int(number) == int(of_number) and of_words != ""
    return whole.startswith(given)


def _numbered(id: str) -> tuple[str, str]:
    words = id.rstrip("0123456789")
    return words, id[len(words) :][-18:]


def find_task(project: Project, id: str) -> Task:
    """The task of that id."""
    return find("task", id, project.tasks)


def find_tasks(project: Project, ids: Iterable[str]) -> tuple[str, ...]:
    """The whole ids of several tasks."""
    return tuple(find_task(project, id).id for id in ids)


def find_blocker(project: Project, id: str) -> Blocker:
    """The blocker of that id."""
    return find("blocker", id, project.blockers)


def find_session(project: Project, name: str, by: By) -> Session:
    """The session that goes by that name, else the one that the request is made in."""
    wanted = name or by.session or ""
    if not wanted:
        raise Invalid("which session? name it with --session")
    return project.sessions[find("session", wanted, project.session_names)]


def new_id(given: str, form: str, taken: Mapping[str, object], kind: str) -> str:
    """The id of a new thing: the one given if it is free, else the next number."""
    if given:
        if given in taken:
            raise Rejected(f"add {kind} {given}", "that id is taken")
        if len(given) > 100 or not given.isprintable():
            raise Invalid(f"a {kind} id is 1 to 100 printable characters, not {given[:60]!r}")
        return given
    number = len(taken) + 1
    while form.format(number) in taken:
        number += 1
    return form.format(number)


_DRIVE = re.compile(r"^[A-Za-z]:")


def workspace_path(path: str) -> str:
    """The path, if by its own words it stays inside the workspace."""
    parts = path.replace("\\", "/").split("/")
    if not path.strip() or path.startswith(("/", "\\", "~")) or _DRIVE.match(path) or ".." in parts:
        raise Invalid(
            f"path {path[:200]!r} is not inside the workspace; "
            "give it relative to the workspace root, without '..'"
        )
    if not path.isprintable():
        raise Invalid(f"path {path[:200]!r} has control characters; rename the file")
    return path


def named_paths(event: Event) -> Iterator[str]:
    """The files of the workspace that an event names."""
    for field in event.paths:
        value = getattr(event, field)
        yield from (value,) if isinstance(value, str) and value else value
