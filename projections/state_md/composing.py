"""YAML as values, without losing one.

It is composed and never constructed: no alias is expanded without end, no date is changed by being
read, and a key that stands there twice is an error and not silently the last of both.
"""

import re
from collections.abc import Iterator
from typing import Any

import yaml

from journal.errors import Invalid
from journal.events import Json
from journal.payload import MAX_DEPTH
from projections.leftovers import Object
from projections.state_md.writing import VERBATIM, WHOLE, is_time

#: So many values a file has at the most, each alias counted as what it stands for.
_MOST = 200_000
_TAG = "tag:yaml.org,2002:"


def compose(content: bytes) -> Object:
    """The mapping that a file is; Invalid if it is none."""
    try:
        root = yaml.compose(content.decode("utf-8-sig"), Loader=yaml.SafeLoader)
        if not isinstance(root, yaml.MappingNode):
            raise Invalid("the file is not a STATE.md: it is no YAML mapping")
        return _Reader().mapping(root, "")
    except RecursionError:
        raise Invalid("the file is nested too deeply to be a STATE.md") from None
    except (yaml.YAMLError, UnicodeDecodeError, ValueError) as error:
        raise Invalid(f"the file is not YAML: {_reason(error)}; mend that line") from error


def _reason(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    what = getattr(error, "problem", None) or str(error).splitlines()[0]
    return f"line {mark.line + 1}: {what}" if mark else str(what)[:200]


class _Reader:
    """Values out of the nodes of one file."""

    def __init__(self) -> None:
        self._left = _MOST

    def mapping(self, node: yaml.MappingNode, where: str, depth: int = 0) -> Object:
        found: Object = {}
        keys = [key.value if isinstance(key, yaml.ScalarNode) else None for key, _ in node.value]
        plain = all(
            key is not None and child[0].tag == f"{_TAG}str"
            for key, child in zip(keys, node.value, strict=True)
        )
        if not depth and not plain:
            odd = next(key for key, _ in node.value if key.tag != f"{_TAG}str")
            line = odd.start_mark.line + 1
            raise Invalid(f"line {line}: the key is no text; put it in quotes")
        if not plain or {VERBATIM, WHOLE}.intersection(filter(None, keys)):
            return {VERBATIM: _verbatim(node)}
        for key, value in node.value:
            if key.value in found:
                line = key.start_mark.line + 1
                raise Invalid(f"line {line}: {key.value!r} stands there twice; take one out")
            found[key.value] = self.value(value, key.value, depth + 1)
        return found

    def value(self, node: yaml.Node, key: str, depth: int) -> Json:
        self._left -= 1
        if self._left < 0 or depth > MAX_DEPTH - 8:
            raise Invalid("the file has too many values, or too deep ones, to be a STATE.md")
        match node:
            case yaml.MappingNode():
                return self.mapping(node, key, depth)
            case yaml.SequenceNode():
                return [self.value(child, key, depth + 1) for child in node.value]
        return _scalar(node, key)


def _scalar(node: Any, key: str) -> Json:
    text: str = node.value
    kind = node.tag.removeprefix(_TAG)
    made: Any = None
    if kind in ("str", "timestamp") and key in _TIMES:
        # What we would write in another form than the file has is kept in its own.
        made = text if (kind == "timestamp") == is_time(text) else None
    elif kind == "str":
        made = text
    elif kind == "null":
        return None
    elif kind in ("bool", "int", "float"):
        made = yaml.SafeLoader("").construct_object(node)
    if isinstance(made, str) and ("\0" in text or _LONE.search(text)):
        raise Invalid(f"line {node.start_mark.line + 1}: it has a character that no text has")
    fits = isinstance(made, bool | str) or (
        isinstance(made, int | float) and abs(made) < 2**63 and made == made
    )
    return made if fits else {VERBATIM: _verbatim(node)}


_TIMES = ("date", "started", "ended", "identified_at", "blocked_since")
_LONE = re.compile("[\ud800-\udfff]")


def _verbatim(node: yaml.Node) -> str:
    """A node as YAML on one line."""
    for each in _all_of(node):
        if isinstance(each, yaml.CollectionNode):
            each.flow_style = True
    text: str = yaml.serialize(node, Dumper=yaml.SafeDumper, width=2**31, allow_unicode=True)
    lines = text.removesuffix("...\n").strip().splitlines()
    if len(lines) != 1 or "&" in text:
        line = node.start_mark.line + 1
        raise Invalid(f"line {line}: it cannot be kept as it is; write it more plainly")
    return lines[0]


def _all_of(node: yaml.Node) -> Iterator[yaml.Node]:
    yield node
    for child in node.value if isinstance(node.value, list) else ():
        for each in child if isinstance(child, tuple) else (child,):
            yield from _all_of(each)
