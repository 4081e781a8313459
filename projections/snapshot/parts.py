"""What the body of a snapshot says, part by part."""

from typing import Literal, TypeAlias

from msgspec import Struct

from projections.peers import Standing

ACTIVE = "Active task"
MAIL = "Mailbox state"
COMMITMENTS = "Open commitments"
MODIFIED = "Files modified this session"
READING = "Files to read on resume"
DECISIONS = "Decision context"
QUESTIONS = "Open questions touched"
#: The sections of a body, in their order.
PARTS = (ACTIVE, MAIL, COMMITMENTS, MODIFIED, READING, DECISIONS, QUESTIONS)


#: What was done to a file; a foreign snapshot may not say.
Change: TypeAlias = Literal["created", "modified", "deleted", ""]


class Cited(Struct, frozen=True):
    """A thing that a part names, by its id, and what is said of it on that line."""

    id: str
    said: str = ""
    #: Which line of the body it is on, where it was read; the first is 1.
    line: int = 0


class Changed(Struct, frozen=True):
    """A file of the session: what was done to it, in a line."""

    path: str
    change: Change = ""
    said: str = ""
    line: int = 0


class ToRead(Struct, frozen=True):
    """A file for whoever goes on, with about what it costs to read it, and why."""

    path: str
    lines: int | None = None
    tokens: int | None = None
    why: str = ""
    line: int = 0


class Parts(Struct, frozen=True):
    """The seven parts that a body has; what no journal can know is `next_action` and `why`."""

    status: Standing | Literal[""] = ""
    #: Id and title of the task; no id where it is none of the project.
    task: str = ""
    title: str = ""
    next_action: str = ""
    #: What the agent has not read, has to answer for, and waits for an answer to.
    unread: tuple[Cited, ...] = ()
    to_acknowledge: tuple[Cited, ...] = ()
    unanswered: tuple[Cited, ...] = ()
    commitments: tuple[Cited, ...] = ()
    #: The files that are there, and those that are not to be there any more.
    modified: tuple[Changed, ...] = ()
    deleted: tuple[Changed, ...] = ()
    reading: tuple[ToRead, ...] = ()
    decisions: tuple[Cited, ...] = ()
    #: In the agent's own words.
    why: str = ""
    questions: tuple[Cited, ...] = ()
    #: Where it was read: the lines of status, task and unread mail.
    status_line: int = 0
    task_line: int = 0
    unread_line: int = 0
    #: How many are unread by what a foreign snapshot says, which names none.
    unread_count: int | None = None
