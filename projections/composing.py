"""YAML as values, without losing one.

It is composed and never constructed: no alias is expanded without end, no date is changed by being
read, and a key that stands there twice is an error and not silently the last of both.
"""

import re
from math import isfinite
from typing import Any

import yaml

from journal.errors import Invalid
from journal.events import Json
from journal.payload import MAX_DEPTH
from projections.leftovers import Object

#: So many values a file has at the most, each alias counted as what it stands for.
_MOST = 200_000
#: What the tag of every type that YAML itself knows begins with.
TAG = "tag:yaml.org,2002:"
_LONE = re.compile("[\ud800-\udfff]")


class Composer:
    """Values out of the nodes of one file; a dialect may keep what JSON has no form for."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._left = _MOST

    def document(self, content: bytes) -> Object:
        """The mapping that a file is; Invalid if it is none."""
        try:
            root = yaml.compose(content.decode("utf-8-sig"), Loader=yaml.SafeLoader)
            if not isinstance(root, yaml.MappingNode):
                raise Invalid(f"the file is not {self.name}: it is no YAML mapping")
            return self.mapping(root)
        except RecursionError:
            raise Invalid(f"the file is nested too deeply to be {self.name}") from None
        except (yaml.YAMLError, UnicodeDecodeError, ValueError) as error:
            raise Invalid(f"the file is not YAML: {_reason(error)}; mend that line") from error

    def mapping(self, node: yaml.MappingNode, depth: int = 0) -> Object:
        """A mapping by its keys."""
        found: Object = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not is_text(key):
                raise Invalid(f"line {line}: the key is no text; put it in quotes")
            if key.value in found:
                raise Invalid(f"line {line}: {key.value!r} stands there twice; take one out")
            found[key.value] = self.value(value, key.value, depth + 1)
        return found

    def value(self, node: yaml.Node, key: str, depth: int) -> Json:
        """Any node; `key` is that of the mapping it is in."""
        self._left -= 1
        if self._left < 0 or depth > MAX_DEPTH - 8:
            raise Invalid(f"the file has too many values, or too deep ones, to be {self.name}")
        match node:
            case yaml.MappingNode():
                return self.mapping(node, depth)
            case yaml.SequenceNode():
                return [self.value(child, key, depth + 1) for child in node.value]
        return self.scalar(node, key)

    def scalar(self, node: Any, key: str) -> Json:
        """A value that is neither list nor mapping; a time is the text that it is written as."""
        kind = node.tag.removeprefix(TAG)
        if kind in ("str", "timestamp"):
            return text_of(node)
        if kind == "null":
            return None
        if kind in ("bool", "int", "float"):
            made = yaml.SafeLoader("").construct_object(node)
            if isinstance(made, bool | int | float) and self.fits(made):
                return made
        return self.odd(node)

    def fits(self, number: float) -> bool:
        """Whether JSON can say a number, and a journal keep it."""
        return isfinite(number) if isinstance(number, float) else -(2**63) <= number < 2**64

    def odd(self, node: yaml.Node) -> Json:
        """A value that JSON has no form for."""
        line = node.start_mark.line + 1
        raise Invalid(f"line {line}: it is neither text nor number; write it more plainly")


def is_text(node: yaml.Node) -> bool:
    """Whether a node is read as text."""
    return isinstance(node, yaml.ScalarNode) and node.tag == f"{TAG}str"


def text_of(node: Any) -> str:
    """The text of a node, which a journal can hold."""
    text: str = node.value
    if "\0" in text or _LONE.search(text):
        raise Invalid(f"line {node.start_mark.line + 1}: it has a character that no text has")
    return text


def _reason(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    what = getattr(error, "problem", None) or str(error).splitlines()[0]
    return f"line {mark.line + 1}: {what}" if mark else str(what)[:200]
