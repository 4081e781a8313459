"""From a state to the file."""

import re
from typing import Literal

import msgspec

from journal.state import Project
from projections import stamp, yaml
from projections.active_session.document import body_of, front_matter, part
from projections.active_session.document import form as document_of
from projections.leftovers import Object

RENDERER = 1
FORMS = ("yaml", "json")

#: What JSON writes as it is, and readers of YAML refuse or take for the end of a line.
_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]")


def render(project: Project, form: Literal["yaml", "json"] = "yaml") -> bytes:
    """The active-session.md of a project, with its front matter in one of two forms."""
    document = document_of(project)
    front = front_matter(part(document, "front"))
    mark = stamp.line(stamp.of(project, RENDERER))
    lines = _json(front, mark) if form == "json" else _yaml(front, mark)
    return stamp.stamped(f"---\n{lines}\n---\n{body_of(document)}".encode())


def _yaml(front: Object, mark: str) -> str:
    nodes = {key: yaml.node_of(value) for key, value in front.items()}
    return "\n".join((*yaml.mapping(nodes), f"{stamp.KEY}: {yaml.text(mark)}"))


def _json(front: Object, mark: str) -> str:
    whole = msgspec.json.encode({**front, stamp.KEY: mark})
    text = msgspec.json.format(whole, indent=2).decode()
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def intact(content: bytes) -> bool:
    """Whether the content is an active-session.md at all, whoever wrote it last."""
    found = stamp.front_matter(content)
    if found is None:
        return False
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    front = content[slice(*found)]
    if front.lstrip()[:1] != b"{":
        return _PHASES.search(front) is not None
    try:
        document = msgspec.json.decode(front)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return isinstance(document, dict) and isinstance(document.get("phases"), list)


_PHASES = re.compile(rb"^phases[ \t]*:", re.MULTILINE)
