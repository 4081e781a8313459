"""Text of agents as a block of markdown, to the letter, and back.

Plain prose stays as it is. Whatever could be taken for more than that (a heading, a field, a rule,
a table, a fence, HTML) stands indented by four blanks, where every reader of markdown sees only
text; and what no reader could see is spelled out, as `\\u{9}`. A block needs a blank line above it,
and nothing there that it could be taken for a part of.
"""

import re
from collections.abc import Sequence

_INDENT = "    "
#: An empty line, where one has to be seen.
NOTHING = "\\u{}"

# What no reader sees, or takes for the end of a line, or what turns the direction of the text.
_UNSEEN = "\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069\\ufeff"
_SPELLED = re.compile(rf"[{_UNSEEN}]|\\(?=u\{{)|\s\Z")
_SPELT = re.compile(r"\\u\{([0-9a-f]{0,6})\}")

#: What a line of plain prose does not begin with, after at most three blanks.
_MARKUP = re.compile(
    r"""
      \s{4} | \s*(?:
        [#>|<\[=] | ```|~~~ | [-+*_]\s*(?:[-*_]\s*)+\Z | -+\s*\Z
      | (?:[-+*]|[0-9]+[.)])\s+(?:\[|[#>|<`~]|\s|[-+*]\s|[0-9]+[.)]\s|\Z)
      | \*\*[^*]*:\*\* | [|:\-\s]+\Z
    )
    """,
    re.VERBOSE,
)
_WITHIN = re.compile(rf"[{_UNSEEN}]|<[A-Za-z/!?]|--!?>|\]\(|\]\[|&\#?[0-9A-Za-z]+;|\\|``|\s\Z")


def block(text: str) -> list[str]:
    """The lines of a block that says this text."""
    if not text:
        return []
    lines = text.split("\n")
    if _is_plain(lines):
        return lines
    last = len(lines) - 1
    return [_literal(line, n in (0, last)) for n, line in enumerate(lines)]


def text(lines: Sequence[str]) -> str:
    """What the lines of a block say."""
    if not (lines and lines[0].startswith(_INDENT)):
        return "\n".join(lines)
    return "\n".join(spelt(line.removeprefix(_INDENT)) for line in lines)


def _is_plain(lines: list[str]) -> bool:
    """Whether no line can be taken for anything but prose, by whichever reader."""
    if not (lines[0] and lines[-1]):
        return False
    return not any(line and (_MARKUP.match(line) or _WITHIN.search(line)) for line in lines)


def _literal(line: str, at_end: bool) -> str:
    """A line as literal text; one that is empty only shows where it is not at an end."""
    if not line:
        return f"{_INDENT}{NOTHING}" if at_end else ""
    return _INDENT + spelled(line)


def spelled(line: str) -> str:
    """Text on one line, with whatever no reader could see there spelled out."""
    return _SPELLED.sub(lambda found: f"\\u{{{ord(found[0]):x}}}", line)


def spelt(line: str) -> str:
    """What such a line says."""
    return _SPELT.sub(_character, line)


def _character(found: re.Match[str]) -> str:
    return chr(int(found[1], 16)) if found[1] else ""
