"""Text of agents as a block of markdown, or on one line of it, to the letter, and back.

Plain prose stays as it is. Whatever could be taken for more than that (a heading, a field, a rule,
a table, a fence, HTML) stands indented by four blanks, where every reader of markdown sees only
text; and what no reader could see is spelled out, as `\\u{9}`. A block needs a blank line above it,
and nothing there that it could be taken for a part of.
"""

import re
from collections.abc import Sequence

from projections.markdown import inline

_INDENT = "    "
#: An empty line, where one has to be seen.
NOTHING = "\\u{}"

# What no reader sees, or takes for the end of a line, or what turns the direction of the text.
_UNSEEN = "\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069\\ufeff"
_SPELLED = re.compile(rf"[{_UNSEEN}]|\\(?=u\{{)|\s\Z")
_BLANK_OR_SPELLED = re.compile(rf"[{_UNSEEN}]|\\(?=u\{{)|\s")
#: Code as people write it, in which nothing would have to be escaped.
_SPAN = re.compile(r"(?<!`)`([^`\\|<&]+)`(?!`)")
_ESCAPED = re.compile(r"\\u\{([0-9a-f]{0,6})\}|\\([!-/:-@\[-`{-~])|&(lt|gt|amp|#124);")
_ENTITIES = {"lt": "<", "gt": ">", "amp": "&", "#124": "|"}
_TAKEN = re.compile(r"^(\s+)([#*`~>|])")
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


def line(text: str) -> str:
    """Any text on one line: what would not be on it, or not be seen there, is spelled out."""
    spelled = _BLANK_OR_SPELLED.sub(_spelled, text)
    parts = _SPAN.split(spelled)
    if any("`" in part for part in parts[::2]):
        parts = [spelled]
    for n in range(0, len(parts), 2):
        parts[n] = _safe(parts[n])
    for n in range(1, len(parts), 2):
        parts[n] = f"`{parts[n]}`"
    return "".join(parts)


def _safe(part: str) -> str:
    """What stands around spans of code, with the blanks at its ends."""
    before, after = (" " if blank else "" for blank in (part[:1] == " ", part[-1:] == " "))
    if part.isspace():
        return part
    return before + inline(part, len(part) + 1).replace("\\|", "&#124;") + after


def unline(line: str) -> str:
    """What such a line says."""
    return _ESCAPED.sub(_unescaped, line)


def hidden(lines: Sequence[str]) -> list[str]:
    """The lines of a block for readers that look past the blanks in front of a line.

    They take a heading, a field or a fence for one however far it is indented.
    """
    if not (lines and lines[0].startswith(_INDENT)):
        return list(lines)
    return [_TAKEN.sub(lambda found: f"{found[1]}\\u{{{ord(found[2]):x}}}", each) for each in lines]


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
    """The character of a number; what is the number of none stays as somebody wrote it."""
    number = int(found[1] or "0", 16)
    if 0xD800 <= number <= 0xDFFF or number > 0x10FFFF:
        return found[0]
    return chr(number) if found[1] else ""


def _spelled(found: re.Match[str]) -> str:
    """A character by its number; a single blank between two words is one that everybody sees."""
    start, end, text = found.start(), found.end(), found.string
    within = found[0] == " " and start > 0 and end < len(text)
    if within and not (text[start - 1].isspace() or text[end].isspace()):
        return " "
    return f"\\u{{{ord(found[0]):x}}}"


def _unescaped(found: re.Match[str]) -> str:
    if found[2]:
        return found[2]
    return _ENTITIES[found[3]] if found[3] else _character(found)
