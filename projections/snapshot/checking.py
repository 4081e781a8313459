"""Whether a snapshot still holds: its checksum, and four things that it says, against the state.

Mail is held against what it was when the snapshot was taken: what came later makes no snapshot
wrong. A task is held against what it is now, for that is what somebody is to go on with.
"""

from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

from msgspec import Struct

from journal.clock import Moment
from journal.entities import Project
from journal.mail import unread_at
from journal.payloads import checksum, has_checksum, matches
from projections.snapshot.parts import Parts
from projections.snapshot.reading import read

Name: TypeAlias = Literal["checksum", "active task", "mailbox", "files", "questions"]
NAMES: tuple[Name, ...] = ("checksum", "active task", "mailbox", "files", "questions")


class Check(Struct, frozen=True):
    """One thing about a snapshot that does not hold: on which line of its body, which value."""

    name: Name
    line: int
    value: str
    said: str


def checks(
    project: Project,
    agent: str,
    token: str,
    body: str,
    taken: Moment,
    exists: Callable[[str], bool],
) -> list[Check]:
    """What of a snapshot does not hold, in the order of the checks; nothing if all of it does."""
    has = read(body)
    return [
        *_checksum(token, body),
        *_task(project, agent, has),
        *_mail(project, agent, has, taken),
        *_files(has, exists),
        *_questions(project, has),
    ]


def _checksum(token: str, body: str) -> Iterator[Check]:
    if not token:
        yield Check("checksum", 0, "", "it has no revision token")
    elif not has_checksum(token):
        yield Check("checksum", 0, token, "its revision token has no checksum")
    elif not matches(token, body):
        yield Check("checksum", 0, token, f"the text below it has h{checksum(body)}")


def _task(project: Project, agent: str, has: Parts) -> Iterator[Check]:
    line = has.task_line or has.status_line
    if not has.status:
        yield Check("active task", has.status_line, "", "it does not say how its task stands")
        return
    if not has.task:
        at = [
            task.id
            for task in project.tasks.values()
            if task.agent == agent and task.status == "in_progress"
        ]
        if has.status == "complete" and at:
            said = f"{agent} is at {', '.join(at)} by the worklog's status block"
            yield Check("active task", has.status_line, has.status, said)
        return
    task = project.tasks.get(has.task)
    if task is None:
        yield Check("active task", line, has.task, "there is no such task")
    elif has.status == "complete" and task.status != "done":
        said = f"{has.task} is {task.status} by the worklog's status block"
        yield Check("active task", has.status_line, has.status, said)
    elif has.status != "complete" and task.status == "done":
        yield Check("active task", has.status_line, has.status, f"{has.task} is done by now")
    elif has.status != "complete" and task.agent not in ("", agent):
        yield Check("active task", line, has.task, f"it is {task.agent}'s by now")


def _mail(project: Project, agent: str, has: Parts, taken: Moment) -> Iterator[Check]:
    then = {message.id for message in unread_at(project, agent, taken)}
    if has.unread_count is not None and not has.unread:
        if has.unread_count != len(then):
            said = f"{agent} had {len(then)} unread by the inbox"
            yield Check("mailbox", has.unread_line, str(has.unread_count), said)
        return
    for cited in has.unread:
        if cited.id not in project.messages:
            yield Check("mailbox", cited.line, cited.id, "there is no such message")
        elif cited.id not in then:
            yield Check("mailbox", cited.line, cited.id, "it was not unread by the inbox")
    listed = {cited.id for cited in has.unread}
    for id in sorted(then - listed):
        yield Check("mailbox", has.unread_line, id, "it was unread by the inbox, and is not listed")
    for cited in (*has.to_acknowledge, *has.unanswered):
        if cited.id not in project.messages:
            yield Check("mailbox", cited.line, cited.id, "there is no such message")


def _files(has: Parts, exists: Callable[[str], bool]) -> Iterator[Check]:
    for file in has.modified:
        if file.change != "deleted" and not exists(file.path):
            yield Check("files", file.line, file.path, "it is listed as modified, and is not there")


def _questions(project: Project, has: Parts) -> Iterator[Check]:
    for cited in has.questions:
        if cited.id not in project.questions:
            yield Check("questions", cited.line, cited.id, "there is no such question")
