"""Finding what a proposal names, and naming what it makes."""

import posixpath
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import TypeVar

from msgspec.structs import replace

from journal.entities import (
    Blocker,
    Project,
    Session,
    Step,
    Task,
    is_maintainer,
    maintainer_of,
    step_order,
)
from journal.errors import Invalid, NotFound, Rejected, quoted
from journal.events import Event
from journal.rules.rule import By


def command(*words: str) -> str:
    """A command as one can type it, for a refusal to offer."""
    import shlex  # only what is refused has words for a shell

    return shlex.join(words)


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
    meant = _meant(id, things)
    # One thing may go by several names that begin alike.
    if meant and all(things[other] == things[meant[0]] for other in meant):
        return things[meant[0]]
    if meant:
        raise Invalid(f"{kind} {id[:60]!r} could be {', '.join(meant[:8])}; say which")
    raise NotFound(kind, id, things if offered is None else offered)


def _meant(id: str, things: Iterable[str]) -> list[str]:
    return [known for known in things if id and _is_short_for(id, known)]


def _is_short_for(id: str, known: str) -> bool:
    """Whether `7` or `f7` can stand for F007, or the beginning of an id for the whole."""
    given, whole = id.lower(), known.lower()
    words, number = _numbered(given)
    of_words, of_number = _numbered(whole)
    if number and of_number and words in ("", of_words) and int(number) == int(of_number):
        return of_words != ""
    # f1 is no beginning of F100: between numbers of one kind only the number counts.
    same_kind = bool(number and of_number) and words == of_words
    return whole.startswith(given) and not same_kind


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
    """The session that goes by that name, else the one that the request is made in, else the only
    one that whoever asks has open."""
    wanted = name or by.session or ""
    if not wanted and by.actor:
        own = (x for x in project.sessions.values() if x.agent == by.actor)
        open_ = [session.id for session in own if session.status == "active"]
        wanted = open_[0] if len(open_) == 1 else ""
    if not wanted:
        raise Invalid("which session? name it with --session")
    return project.sessions[find("session", wanted, project.session_names)]


def session_named(project: Project, name: str) -> str:
    """The name, or the session's id if it is short for one; what nobody knows stays as it is."""
    known = project.session_names
    meant = set() if name in known else {known[other] for other in _meant(name, known)}
    return meant.pop() if len(meant) == 1 else name


def new_id(
    given: str, form: str, taken: Mapping[str, object], kind: str, names: Container[str] = ()
) -> str:
    """The id of a new thing: the one given if it is free, else the next number that no name is."""
    if given:
        if given in taken or given in names:
            raise Rejected(f"add {kind} {given}", "that id is taken")
        if len(given) > 100 or not given.isprintable():
            raise Invalid(f"a {kind} id is 1 to 100 printable characters, not {given[:60]!r}")
        if given.startswith("-"):
            raise Invalid(f"{kind} id {given[:60]!r} would be read as an option; no dash in front")
        return given
    number = len(taken) + 1
    while form.format(number) in taken or form.format(number) in names:
        number += 1
    return form.format(number)


def next_id(project: Project, words: str, beyond: int = 0) -> str:
    """The next number that no thing of a kind ever had, though some of them may be gone."""
    return f"{words}{project.numbers.get(words, 0) + 1 + beyond:03}"


def known_actor(p: Project, name: str) -> str:
    """The actor that is meant by a name; in a shared workspace it must be one of those there."""
    if name.lower() == "maintainer" and maintainer_of(p):
        return maintainer_of(p)
    if not name or name in p.actors or p.coordination is None:
        return name
    meant = [
        id for id, actor in p.actors.items() if name.lower() in (id.lower(), actor.title.lower())
    ]
    if len(meant) == 1:
        return meant[0]
    hint = "`passdown actor register NAME` says who is here"
    raise NotFound("agent", name, p.actors, hint=hint)


def check_own(p: Project, agent: str, by: By, asked: str) -> None:
    """Where a workspace is shared, each writes what is its own, and the maintainer all of it."""
    if p.coordination is None or by.actor in (agent, None) or is_maintainer(p, by.actor):
        return
    raise Rejected(
        asked, f"it is {agent or 'nobody'}'s to do, or the maintainer's, not {by.actor}'s"
    )


def check_waits(waits: Mapping[str, Iterable[str]]) -> None:
    """Refuse steps that wait on themselves, on each other, on later ones or on none there is."""
    for key, others in waits.items():
        for other in others:
            if other not in waits:
                raise NotFound("step", other, waits, hint=f"step {key} is to wait on it")
    from graphlib import CycleError, TopologicalSorter  # only what is planned anew is checked

    try:
        TopologicalSorter(waits).prepare()
    except CycleError as error:
        circle = " → ".join(reversed(error.args[1]))
        raise Invalid(f"steps wait on each other: {circle}; take one of these out") from None
    for key, others in waits.items():
        for other in others:
            if step_order(other) > step_order(key):
                raise Invalid(
                    f"step {key} is to wait on step {other}, which comes after it; number them anew"
                )


def tries(project: Project, step: Step) -> str:
    """How often a step was tried again, of how often that may be while nobody allowed more."""
    limit = project.policy.retries
    within = limit is not None and step.retries <= limit
    return f"{step.retries} of {limit}" if within else str(step.retries)


def only_person(p: Project, by: By, what: str) -> str:
    """Why a person has to do it, for a refusal; and how somebody is known as one."""
    who = by.actor or "an unnamed actor"
    return (
        f"only a person {what} here, {who} is not known as one "
        f"(`passdown actor register {command(by.actor or 'NAME')} --role person`)"
    )


_AGENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def check_agent_id(agent: str) -> None:
    """Refuse an agent that no file can be named after: its snapshots go into one of its own."""
    if not _AGENT.fullmatch(agent) or ".." in agent:
        raise Invalid(
            f"agent {quoted(agent)} cannot have a file of its own; an id is of at most 64 letters, "
            "digits, '.', '_' and '-', and begins with a letter or digit"
        )


_DRIVE = re.compile(r"^[A-Za-z]:")


def workspace_path(path: str) -> str:
    """The path in its one spelling, if by its own words it stays inside the workspace."""
    parts = path.replace("\\", "/").split("/")
    if not path.strip() or path.startswith(("/", "\\", "~")) or _DRIVE.match(path) or ".." in parts:
        raise Invalid(
            f"path {path[:200]!r} is not inside the workspace; "
            "give it relative to the workspace root, without '..'"
        )
    if any("\ud800" <= c <= "\udfff" for c in path):
        raise Invalid(f"path {path[:200]!r} is not UTF-8; rename the file")
    if not path.isprintable():
        raise Invalid(f"path {path[:200]!r} has control characters; rename the file")
    return posixpath.normpath(path)


def named_paths(event: Event) -> Iterator[str]:
    """The files of the workspace that an event names."""
    for field in event.paths:
        value = getattr(event, field)
        yield from (value,) if isinstance(value, str) and value else value or ()


E = TypeVar("E", bound=Event)


def with_workspace_paths(event: E) -> E:
    """The event with every path in its one spelling, so that one file is one key."""
    spelled: dict[str, str | tuple[str, ...]] = {}
    for field in event.paths:
        value = getattr(event, field)
        if value:
            one = isinstance(value, str)
            spelled[field] = workspace_path(value) if one else tuple(map(workspace_path, value))
    return replace(event, **spelled) if spelled else event
