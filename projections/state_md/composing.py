"""STATE.md as values; what JSON has no form for is kept as the YAML that it is."""

from collections.abc import Iterator
from typing import Any

import yaml

from journal.errors import Invalid
from journal.events import Json
from projections.composing import TAG, Composer, is_text, text_of
from projections.leftovers import Object
from projections.state_md.writing import VERBATIM, WHOLE, is_time


def compose(content: bytes) -> Object:
    """The mapping that a file is; Invalid if it is none."""
    return _Reader("a STATE.md").document(content)


class _Reader(Composer):
    """Values out of the nodes of one STATE.md."""

    def mapping(self, node: yaml.MappingNode, depth: int = 0) -> Object:
        plain = all(is_text(key) for key, _ in node.value)
        ours = {key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)}
        if (depth and not plain) or {VERBATIM, WHOLE} & ours:
            return {VERBATIM: _verbatim(node)}
        return super().mapping(node, depth)

    def scalar(self, node: Any, key: str) -> Json:
        kind = node.tag.removeprefix(TAG)
        if kind in ("str", "timestamp") and key in _TIMES:
            # What we would write in another form than the file has is kept in its own.
            text = text_of(node)
            return text if (kind == "timestamp") == is_time(text) else self.odd(node)
        return self.odd(node) if kind == "timestamp" else super().scalar(node, key)

    def fits(self, number: float) -> bool:
        return abs(number) < 2**63

    def odd(self, node: yaml.Node) -> Json:
        return {VERBATIM: _verbatim(node)}


_TIMES = ("date", "started", "ended", "identified_at", "blocked_since")


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
