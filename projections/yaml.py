"""The one writer of YAML: what is written loads as exactly what was meant, text as the same text.

PyYAML is not used for it: it loses U+0085, and it knows no literal blocks.
"""

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from journal.events import Json


class Written(str):
    """A scalar as YAML already, possibly of several lines."""


Node: TypeAlias = "Written | Sequence[Node] | Mapping[str, Node]"

NULL = Written("null")

# A letter first, so no number, date or time; nothing in it that YAML gives a meaning to.
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_./-]{0,99}")
_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))

# What a YAML reader refuses, folds, or takes for the end of a line; and what turns the direction
# of the text around it.
_UNSAFE = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069"
    "\ud800-\udfff\ufeff\ufffe\uffff"
)
_ESCAPED = re.compile(rf'[\\"\t\n{_UNSAFE}]')
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_NOT_LITERAL = re.compile(rf"[{_UNSAFE}]|\A\s|^[ \t]+$|\n\n\Z", re.MULTILINE)


def text(value: str) -> Written:
    """Free text, double-quoted on one line."""
    return Written(f'"{_ESCAPED.sub(_escape, value)}"')


def name(value: str) -> Written:
    """An id, a word or a path: plain where it is certainly read as text, else quoted."""
    plain = _NAME.fullmatch(value) and value.lower() not in _WORDS
    return Written(value) if plain else text(value)


def literal(value: str) -> Written:
    """Text as a literal block where that keeps it exactly, else double-quoted."""
    if not value or _NOT_LITERAL.search(value):
        return text(value)
    mark = "|" if value.endswith("\n") else "|-"
    return Written(f"{mark}\n{value.removesuffix(chr(10))}")


def number(value: int) -> Written:
    """A whole number."""
    return Written(value)


def real(value: float) -> Written:
    """A number with a fraction or an exponent, which every reader takes for one."""
    digits = repr(value)
    return Written(digits if "." in digits else digits.replace("e", ".0e"))


def flag(value: bool) -> Written:
    """true or false."""
    return Written("true" if value else "false")


def texts(values: Sequence[str]) -> list[Node]:
    """A list of free texts."""
    return [text(value) for value in values]


def node_of(value: Json) -> Node:
    """Any value, every text in it quoted."""
    match value:
        case dict():
            return {key: node_of(inner) for key, inner in value.items()}
        case list():
            return [node_of(inner) for inner in value]
        case str():
            return text(value)
        case bool():
            return flag(value)
        case int():
            return number(value)
        case float():
            return real(value)
    return NULL


def flow(node: Node) -> Written:
    """Any node on one line."""
    if isinstance(node, Written):
        return text(_folded(node)) if "\n" in node else node
    if isinstance(node, Mapping):
        inner = ", ".join(f"{name(key)}: {flow(each)}" for key, each in node.items())
        return Written(f"{{{inner}}}")
    return Written(f"[{', '.join(map(flow, node))}]")


def _folded(block: Written) -> str:
    """What a literal block means."""
    mark, _, rest = block.partition("\n")
    return rest if mark == "|-" else f"{rest}\n"


def mapping(entries: Mapping[str, Node]) -> list[str]:
    """The lines of a block mapping."""
    lines: list[str] = []
    for key, node in entries.items():
        head, body = _node(node)
        lines += [f"{name(key)}: {head}" if head else f"{name(key)}:", *body]
    return lines


def _sequence(nodes: Sequence[Node]) -> list[str]:
    lines: list[str] = []
    for node in nodes:
        if isinstance(node, Mapping) and node:
            first, *rest = mapping(node)
            lines += [f"- {first}", *_indented(rest)]
        else:
            head, body = _node(node)
            lines += [f"- {head}".rstrip(), *body]
    return lines


def _node(node: Node) -> tuple[str, list[str]]:
    """What follows the key or the dash on its line, and the lines below it."""
    if isinstance(node, Written):
        head, *rest = node.split("\n")
        return head, _indented(rest)
    if isinstance(node, Mapping):
        return ("", _indented(mapping(node))) if node else ("{}", [])
    return ("", _indented(_sequence(node))) if node else ("[]", [])


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" if line else "" for line in lines]


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    if character in _ESCAPES:
        return _ESCAPES[character]
    point = ord(character)
    return f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}"
