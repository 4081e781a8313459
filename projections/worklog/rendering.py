"""From a state to the bytes of its worklog, or of the archive beside it."""

import re

from journal.state import Project
from projections import narrative
from projections.worklog.document import ARCHIVE, NAME, form

RENDERER = 1

_ANY = re.IGNORECASE | re.MULTILINE
_TITLES = {
    NAME: re.compile(r"^#[ \t][^\n]*\bworklog\b(?![^\n]*\barchive\b)", _ANY),
    ARCHIVE: re.compile(r"^#[ \t][^\n]*\bworklog[ \t]+archive\b", _ANY),
}
#: A title stands so far up.
_TOP = 4000


def render(project: Project, name: str = NAME) -> bytes:
    """The worklog of a state."""
    return narrative.stamped(form(project, name), project, RENDERER)


def intact(content: bytes, name: str = NAME) -> bool:
    """Whether bytes are a worklog at all; it answers for any bytes."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return False
    return "\0" not in text and title(text, name) is not None


def title(text: str, name: str = NAME) -> re.Match[str] | None:
    """The title by which a text is known as one of the files."""
    return _TITLES[name].search(text, 0, _TOP)
