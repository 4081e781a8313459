"""TURNFILE.yaml as bytes: one document in block style, two spaces, every text in double quotes.

No anchor, no tab, no text over several lines; not even what the format's own linter could take for
an anchor. The keys of an entry stand in the order of the format.
"""

import re
from collections.abc import Mapping

from journal.events import Json
from journal.state import Project
from projections import stamp, yaml
from projections.leftovers import Object
from projections.turnfile import shape
from projections.turnfile.document import part, shown
from projections.turnfile.shape import Shape
from projections.yaml import Node

RENDERER = 1

#: So many foreign values stand in comments, none of them longer than this.
_FOREIGN, _LONG = 100, 1_000
#: Inside of quotes it is text; a linter that reads lines takes it for an anchor or an alias.
_ANCHORLIKE = re.compile(r"(?<=\s)[&*](?=\w)")
#: The least that somebody else's file has of one.
_REQUIRED = {"turnfile", "agents", "coordination"}
#: Nothing larger is read.
LARGEST = 20_000_000


def render(project: Project) -> bytes:
    """The TURNFILE.yaml of a project."""
    document = shown(project)
    revision = part(document, "coordination")["revision"]
    lines = [
        "# TURNFILE.yaml — SNAP Coordination State",
        f"# Last modified revision: {revision}",
    ]
    for key, node in _sections(document).items():
        lines += ["", *map(_quiet, yaml.mapping({key: node}))]
    lines += _comments(part(document, "foreign"))
    lines += ["", f"# {stamp.line(stamp.of(project, RENDERER))}", ""]
    return stamp.stamped("\n".join(lines).encode())


def _sections(document: Object) -> dict[str, Node]:
    coordination = part(document, "coordination")
    tasks = part(coordination, "tasks")
    agents, locks = part(document, "agents"), part(document, "locks")
    turns, signals = part(document, "turn_queue"), part(document, "messages")
    return {
        "turnfile": _entry(part(document, "turnfile"), shape.TURNFILE),
        "agents": {id: _entry(part(agents, id), shape.AGENT) for id in agents},
        "maintainer": _entry(part(document, "maintainer"), shape.MAINTAINER),
        "coordination": {
            **_entry(coordination, shape.COORDINATION),
            "tasks": {id: _entry(part(tasks, id), shape.TASK) for id in tasks},
        },
        "locks": {id: _entry(part(locks, id), shape.LOCK) for id in locks},
        "turn_queue": [_entry(part(turns, id), shape.TURN) for id in turns],
        "messages": [_entry(part(signals, id), shape.SIGNAL) for id in signals],
    }


def _entry(entry: Object, keys: Shape) -> Mapping[str, Node]:
    return {key: yaml.node_of(_ordered(key, entry[key])) for key in keys if key in entry}


def _ordered(key: str, value: Json) -> Json:
    if key != "instances" or not isinstance(value, dict):
        return value
    return {name: {k: part(value, name).get(k) for k in shape.INSTANCE} for name in value}


def _quiet(line: str) -> str:
    return _ANCHORLIKE.sub(lambda found: f"\\x{ord(found[0]):02x}", line)


def _comments(foreign: Object) -> list[str]:
    """What an adopted file has beyond the format: for whoever reads it, and for no parser."""
    lines = []
    for place, value in list(foreign.items())[:_FOREIGN]:
        said = yaml.flow(yaml.node_of(value))
        told = said if len(said) <= _LONG else "too long to stand here"
        lines.append(f"# not of the format, from the adopted file: {yaml.name(place)}: {told}")
    return ["", *lines] if lines else []


def intact(content: bytes) -> bool:
    """Whether the content is a TURNFILE.yaml at all, whoever wrote it last."""
    if len(content) > LARGEST:
        return False
    import yaml as reader  # 20 ms that only the check of a foreign file has to pay

    try:
        # Composed, not constructed: no alias is ever expanded.
        root = reader.compose(content.decode("utf-8-sig"), Loader=reader.SafeLoader)
    except (reader.YAMLError, RecursionError, ValueError, OverflowError):
        return False
    if not isinstance(root, reader.MappingNode):
        return False
    keys = {key.value for key, _ in root.value if isinstance(key, reader.ScalarNode)}
    return keys >= _REQUIRED
