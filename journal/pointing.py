"""What somebody means who points at a part of a state: steps.2.status, decisions.region, F002."""

import json
from collections.abc import Iterator, Mapping

from msgspec import Struct

from journal.entities import Project
from journal.errors import Invalid, NotFound, near
from journal.leaves import INNER, Path, inside, kinds, text
from journal.rules.names import find

#: What parts of a state are also called.
_ALSO = {
    "current_step": "current",
    "tokens.by_agent": "tokens",
    "tokens.by_step": "tokens_by_step",
    "worklog_entry": "worklog",
}
#: Of so many things the names are looked through for one that is like what was given.
_MOST = 5_000


def pointed_at(project: Project, said: str) -> list[Path]:
    """The paths that are meant; the value of a key is made by every decision on it."""
    name, rest = _field(project, said)
    if not name:
        return _by_id(project, said)
    if not rest:
        return [(name,)]
    value = getattr(project, name)
    if isinstance(value, list):
        value = {str(n): thing for n, thing in enumerate(value)}
    if isinstance(value, dict):
        return _thing(project, name, value, rest)
    if not inside(value, rest.split(".")):
        known = value.__struct_fields__ if isinstance(value, Struct) else ()
        raise NotFound("part", said, (f"{name}.{part}" for part in known), hint=_WHERE)
    return [(name,)]


_WHERE = "`passdown show --json` has all there is"


def _field(project: Project, said: str) -> tuple[str, str]:
    """The field of the project that a path begins with, if it does, and the rest of the path."""
    for also, name in _ALSO.items():
        if said == also or said.startswith(f"{also}."):
            return name, said[len(also) + 1 :]
    head, _, rest = said.partition(".")
    for name in (head, f"{head}s"):
        if name in project.__struct_fields__ and name != "slug":
            return name, rest
    return "", said


def _thing(project: Project, name: str, things: Mapping[str, object], rest: str) -> list[Path]:
    """A thing of a collection, or a field of it."""
    key, left = _key(name, things, rest)
    if not key and name == "decisions" and (found := _decided(project, rest)):
        return found
    if not key:
        short, _, left = _quoted(rest) or rest.partition(".")
        kind = name.removesuffix("s").replace("_", " ")
        if len(things) > _MOST:
            raise NotFound(kind, short, (), hint=_WHERE)
        known = {id: id for id in things} | (project.keyed if name == "decisions" else {})
        key = find(kind, short, {id: id for id in things}, known)
    path = (name, key)
    if not left:
        return [path]
    return [(*path, _part(things[key], text(path), left))]


def _part(thing: object, of: str, left: str) -> str:
    """The field of a thing that the rest of a path begins with."""
    part, *deeper = left.split(".")
    fields = thing.__struct_fields__ if isinstance(thing, Struct) else ()
    if part not in fields:
        hint = f"{of} has {', '.join(fields)}" if fields else f"{of} has no parts"
        raise NotFound("field", part, fields, hint="" if near(part, fields) else hint)
    if deeper and not inside(getattr(thing, part), deeper):
        raise NotFound("part", left, (), hint=f"{of}.{part} has no {'.'.join(deeper)}")
    return part


def _key(name: str, things: Mapping[str, object], rest: str) -> tuple[str, str]:
    """The key of a thing that the rest of a path begins with, the longest there is, and what
    follows; keys may have dots."""
    if said := _quoted(rest):
        return (said[0], said[2]) if said[0] in things else ("", rest)
    for end in _ends(rest):
        key = rest[:end]
        if name == "steps" and key not in things:
            key = key.replace(".", "_")
        if key in things:
            return key, rest[end + 1 :]
    return "", rest


def _quoted(rest: str) -> tuple[str, str, str] | None:
    """A key in quotes, and what follows the dot behind it."""
    if not rest.startswith('"'):
        return None
    try:
        key, end = json.JSONDecoder().raw_decode(rest)
    except json.JSONDecodeError as error:
        raise Invalid(f"{rest[:60]!r} begins with a quote that does not end") from error
    return str(key), ".", rest[end + 1 :]


def _ends(rest: str) -> Iterator[int]:
    """Where a key may end, from behind."""
    end = len(rest)
    while end > 0:
        yield end
        end = rest.rfind(".", 0, end)


def _decided(project: Project, rest: str) -> list[Path]:
    """What the value of a key, or a field of it, was made by."""
    ids: dict[str, list[str]] = {}
    for decision in project.decisions.values():
        if decision.key:
            ids.setdefault(decision.key, []).append(decision.id)
    key, left = _key("decisions", ids, rest)
    if not key:
        return []
    holder = project.decisions[project.keyed.get(key, ids[key][-1])]
    part = (_part(holder, f"decisions.{key}", left),) if left else ()
    return [("keyed", key), *(("decisions", id, *part) for id in ids[key])]


def _by_id(project: Project, said: str) -> list[Path]:
    """The one thing, of whatever kind, that goes by an id."""
    found: list[list[Path]] = []
    for name in kinds():
        things = getattr(project, name)
        if isinstance(things, dict) and name not in INNER:
            if _key(name, things, said)[0]:
                found.append(_thing(project, name, things, said))
            elif name == "decisions" and (decided := _decided(project, said)):
                found.append(decided)
    if len(found) > 1:
        raise Invalid(
            f"{said[:60]!r} could be {', '.join(text(paths[0]) for paths in found[:8])}; say which"
        )
    if not found:
        raise NotFound("part", said, _known(project), hint=_WHERE)
    return found[0]


def _known(project: Project) -> list[str]:
    """What a part can be called: the fields, and the ids of the newest things."""
    names = [name for name in project.__struct_fields__ if name not in INNER | {"slug", "keyed"}]
    ids = [*project.keyed]
    for name in kinds():
        things = getattr(project, name)
        if isinstance(things, dict) and name not in INNER:
            ids += [key if name != "steps" else f"steps.{key}" for key in things]
    return [*names, *ids[-_MOST:]]
