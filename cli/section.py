"""Our section in AGENTS.md, between two markers; the rest of the file is its owner's.

The section goes to the end, behind an empty line. Whether the file ended with a line break can be
read off what follows the section, so that taking it out gives back the very bytes.
"""

import re

from journal.errors import Invalid

BEGIN, END = "<!-- passdown:begin -->", "<!-- passdown:end -->"
#: A line that is a marker, or that begins or ends a block of code, which may show markers.
_MARK = re.compile(
    rf"^(?:(?:{BEGIN}|{END})(?=[ \t]*\r?$)| {{0,3}}(`{{3,}}(?=[^`\n]*$)|~{{3,}})(.*))", re.MULTILINE
)

_LINES = f"""\
{BEGIN}
## State of the work: Passdown

What was done, decided and found is in a journal that outlives every session; `passdown` reads and
writes it. (`passdown COMMAND --help` has an example of each.)

- Begin with `passdown resume`: it says where to go on, and with which command.
- Record at the moment it happens, not at the end:
  `passdown step start 2`, `passdown step checkpoint 2 NAME`,
  `passdown step complete 2 --artifact FILE`,
  `passdown transition 2 3` (complete one and start the next),
  `passdown decide "QUESTION" --choice ANSWER --rationale WHY`,
  `passdown finding open "WHAT IS WRONG"`, `passdown blocker raise "WHAT IS IN THE WAY"`,
  `passdown error record "WHAT FAILED"`, `passdown files modified PATH`,
  `passdown next "WHAT IS TO BE DONE NEXT"`.
- Give a request that may be repeated an id of its own: `--id KEY` records it once.
- A refusal (exit 5) says what is allowed now: do that, and do not try the same again.
- Never edit a file that Passdown writes (`passdown verify` lists them): record instead. `passdown
  drift` shows what was edited by hand.
- If you began a session, close it: `passdown session end SESSION --completed WHAT
  --notes "FOR WHOEVER GOES ON"`.
- `passdown show` tells where the project stands, `passdown log` how it came to it.
{END}"""


def write(text: str | None) -> str:
    """The file with the section of this version, which replaces another in its place."""
    if text is None:
        return f"{_LINES}\n"
    newline = "\r\n" if "\r\n" in text else "\n"
    section = _LINES.replace("\n", newline)
    place = find(text)
    if place is not None:
        newline = _newline(text, place)
        return text[: place[0]] + _LINES.replace("\n", newline) + text[place[1] :]
    if not text:
        return section
    if text.endswith("\n"):
        return f"{text}{newline}{section}{newline}"
    return f"{text}{newline}{newline}{section}"


def erase(text: str) -> str | None:
    """The file without the section; None if there would be no file without us."""
    place = find(text)
    if place is None:
        return text
    newline = _newline(text, place)
    before, after = text[: place[0]].removesuffix(newline), text[place[1] :]
    if not before and after == newline:
        return None
    return before + after.removeprefix(newline) if after else before.removesuffix(newline)


def find(text: str) -> tuple[int, int] | None:
    """Where the section begins and ends."""
    markers = _markers(text)
    if not markers:
        return None
    if [marker[0] for marker in markers] != [BEGIN, END]:
        raise Invalid(
            f"the section in AGENTS.md or CLAUDE.md should have one {BEGIN} and one {END} after "
            "it; mend that and ask again, nothing was changed"
        )
    return markers[0].start(), markers[1].end()


def is_current(text: str) -> bool:
    """Whether the section is there and says what this version says."""
    place = find(text)
    return place is not None and text[slice(*place)].replace("\r\n", "\n") == _LINES


def _markers(text: str) -> list[re.Match[str]]:
    """The markers outside of blocks of code; a block that is never closed hides none."""
    found: list[re.Match[str]] = []
    inside: list[re.Match[str]] = []
    fence = ""
    for mark in _MARK.finditer(text):
        if mark[1] is None:
            (inside if fence else found).append(mark)
        elif not fence:
            fence = mark[1]
        elif mark[1].startswith(fence) and not mark[2].strip():
            fence, inside = "", []
    return found + inside


def _newline(text: str, place: tuple[int, int]) -> str:
    """The line break that the section was written with."""
    return "\r\n" if text.startswith("\r\n", place[0] + len(BEGIN)) else "\n"
