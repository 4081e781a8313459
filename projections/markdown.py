"""The one place that makes text safe in markdown.

Whatever an agent wrote becomes a stretch of one line that any CommonMark reader shows as exactly
that text: it cannot become a heading, an item, a checkbox, a table, a link, code, HTML or a
comment. Only what would be read as markup is escaped; paths, snake_case and ordinary punctuation
stay.
"""

import re
from collections.abc import Sequence

#: No more of one text than this on one line.
LIMIT = 200

# Beside white space and controls: what turns the direction of the text that follows it.
_BLANK = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\u202a-\u202e\u2066-\u2069]+")
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\u202a-\u202e\u2066-\u2069]")

_MARKUP = re.compile(
    r"""
      (?P<backslash> \\(?=[!-/:-@\[-`{-~]|\Z) )
    | (?P<always>    [`|] )
    | (?P<under>     _+ )
    | (?P<star>      \*+ )
    | (?P<tildes>    ~~+ )
    | (?P<close>     \](?=[(\[:]) )
    | (?P<tag>       <(?=[A-Za-z/!?]) | <(?=[^>]*>) )
    | (?P<comment>   (?<=--)!?> )
    | (?P<entity>    &(?=\#?[0-9A-Za-z]+;) )
    """,
    re.VERBOSE,
)
_LEADING = re.compile(r"\[|\#|>|[-+](?:\ |\Z)|[-=:+\ ]+\Z", re.VERBOSE)
_NUMBERED = re.compile(r"([0-9]{1,9})([.)](?: |\Z).*)", re.DOTALL)


def inline(text: str, limit: int = LIMIT) -> str:
    """Any text as part of one line of markdown, also at the start of a line or an item."""
    plain = clip(text, limit)
    safe = _MARKUP.sub(_escaped, plain)
    if _LEADING.match(plain):
        return f"\\{safe}"
    numbered = _NUMBERED.fullmatch(safe)
    return f"{numbered[1]}\\{numbered[2]}" if numbered else safe


def code(text: str, limit: int = LIMIT) -> str:
    """A path, or another literal, as a code span."""
    plain = clip(text, limit) or " "
    longest = max(map(len, re.findall("`+", plain)), default=0)
    fence = "`" * (longest + 1)
    edge = " " if plain[0] == "`" or plain[-1] == "`" else ""
    return f"{fence}{edge}{plain}{edge}{fence}"


def fence(lines: Sequence[str], language: str = "") -> list[str]:
    """Lines as a block of code, each as it is but for what no reader could see, and not too long.

    No line of it can end the block.
    """
    shown = [_shown(line) for line in lines]
    longest = max((len(run) for line in shown for run in re.findall("`+", line)), default=0)
    marks = "`" * max(longest + 1, 3)
    return [f"{marks}{language}", *shown, marks]


def _shown(line: str) -> str:
    """A line with its indentation, on one line."""
    plain = _BLANK.sub(lambda blanks: " " * len(blanks[0].expandtabs(4)), line).rstrip()
    return plain if len(plain) <= LIMIT else f"{plain[: LIMIT - 1]}…"


def literal(line: str, limit: int = LIMIT) -> str:
    """One line as literal text has it, indented so far that no reader takes it for markup."""
    plain = _UNSEEN.sub("\ufffd", line.expandtabs(4)).rstrip()
    shown = plain if len(plain) <= limit else f"{plain[: limit - 1]}…"
    return f"    {shown}" if shown else ""


def clip(text: str, limit: int = LIMIT) -> str:
    """The text on one line: blanks of any kind as single spaces, and "…" where it was too long."""
    folded = _BLANK.sub(" ", text).strip()
    return folded if len(folded) <= limit else f"{folded[: limit - 1].rstrip()}…"


def _escaped(found: re.Match[str]) -> str:
    mark = found[0]
    before = found.string[found.start() - 1] if found.start() else ""
    after = found.string[found.end()] if found.end() < len(found.string) else ""
    match found.lastgroup:
        case "under" if before.isalnum() and after.isalnum():
            return mark
        case "star" if before == after == " ":
            return mark
        case "tag":
            return "&lt;"
        case "comment":
            return mark.replace(">", "&gt;")
        case "entity":
            return "&amp;"
        case _:
            return "".join(f"\\{character}" for character in mark)
