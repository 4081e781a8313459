"""From a state to the file."""

import re

from journal.state import Project
from projections import narrative
from projections.mailbox.document import form

RENDERER = 1

_TITLE = re.compile(r"(?:\A|\n)#[ \t]+Mailbox\b", re.IGNORECASE)
_ACTIVE = re.compile(r"\n##[ \t]+Active Messages\b", re.IGNORECASE)


def render(project: Project) -> bytes:
    """The MAILBOX.md of a workspace."""
    return narrative.stamped(form(project), project, RENDERER)


def intact(content: bytes) -> bool:
    """Whether the content is a MAILBOX.md at all, whoever wrote it last."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return False
    return "\0" not in text and bool(_TITLE.search(text)) and bool(_ACTIVE.search(text))
