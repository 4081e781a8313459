"""Mail between agents."""

from collections.abc import Callable, Iterator, Sequence
from typing import Annotated

import typer
from msgspec.structs import replace

from cli import options, output
from cli import payload as payloads
from cli.answers import answers
from cli.group import group
from cli.listing import show_list, state_of, told
from cli.peers import MessageAnswer, WholeMessage
from cli.recording import recording
from cli.screen import Cell, paint
from cli.texts import given
from journal import Project
from journal import events as e
from journal import workspace as places
from journal.clock import now as present
from journal.mail import overdue
from journal.peers import Message
from journal.rules import By
from journal.rules.message import message_id
from journal.rules.names import find, known_actor

mail = group("Post mail to another agent, and say what is done about it.")

Id = Annotated[
    str,
    typer.Argument(
        metavar="MESSAGE", help="The message's id, such as MSG-20260208-001, or 1 if that is clear."
    ),
]
Reason = Annotated[str, typer.Option("--reason", "-r", help="Why, in a sentence; always needed.")]
Token = Annotated[
    str, typer.Option("--token", help="The token of the payload that was read; it must match.")
]


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.add_typer(mail, name="mail")


@recording(mail, "post")
def post(
    subject: Annotated[str, typer.Argument(help="What it is about, on one line.")],
    to: Annotated[str, typer.Option("--to", help="Who is to get it.")],
    body: Annotated[str, typer.Option("--body", help="What it says; '-' is stdin.")] = "",
    body_file: Annotated[
        str, typer.Option("--body-file", metavar="FILE", help="A file that has what it says.")
    ] = "",
    kind: Annotated[e.MessageKind, typer.Option("--kind", help="What it wants.")] = "request",
    priority: Annotated[
        e.Priority,
        typer.Option("--priority", help="P0 for the next turn, P1 for the next session."),
    ] = "P1",
    due: options.Due = "",
    closure_owner: Annotated[
        str, typer.Option("--closure-owner", help="Who closes it; the sender if not given.")
    ] = "",
    related: Annotated[
        list[str] | None,
        typer.Option("--related", help="A message that it goes on from; repeatable."),
    ] = None,
    payload: payloads.FileOption = "",
    format: payloads.FormatOption = None,
    file: payloads.FilesOption = None,
    scope: payloads.ScopeOption = None,
    ask: payloads.AskOption = None,
    topic: payloads.TopicOption = "",
    token: payloads.TokenOption = "",
    agent: options.Agent = "",
) -> e.Event | Callable[[Project, int], Sequence[e.Event]]:
    """Leave a message for another agent, with what it is to review, if there is anything.

    A payload gets a token with its checksum. One of more than 16 KiB or 300 lines is posted in
    parts, a message for each, all or none.

    Example: passdown mail post "Review the parser" --to reviewer --body "Mind 1e400" --actor coder
    """
    places.find()  # before anything is read: without a journal there is nowhere to post it
    of_payload = payloads.Given(payload, format, tuple(file or ()), scope, ask, topic, token)
    message = e.MessagePosted(
        to,
        subject,
        given(body, body_file, "--body"),
        agent,
        kind,
        priority,
        closure_owner,
        due,
        tuple(related or ()),
    )
    whole = payloads.payload(of_payload)
    if whole is None:
        return message

    def propose(state: Project, now: int) -> list[e.Event]:
        parts = payloads.in_parts(state, whole, of_payload, now)
        if len(parts) == 1:
            return [replace(message, payload=parts[0])]
        first = message_id(state, By(now=now))
        return [
            replace(
                message,
                subject=f"{subject} (part {n} of {len(parts)})",
                body=message.body if n == 1 else "",
                related=message.related if n == 1 else (first,),
                payload=part,
                message=first if n == 1 else "",
            )
            for n, part in enumerate(parts, start=1)
        ]

    return propose


@recording(mail, "ack")
def acknowledge(message: Id, reason: Reason, token: Token = "") -> e.Event:
    """Say that you have read a message that was posted to you, and understood it.

    Example: passdown mail ack 1 --reason "on it today" --actor reviewer
    """
    return e.MessageAcknowledged(message, reason, token)


@recording(mail, "block")
def block(message: Id, reason: Reason) -> e.Event:
    """Say that you cannot act on a message yet, and what has to happen before.

    Example: passdown mail block 1 --reason "needs the lexer first" --actor reviewer
    """
    return e.MessageBlocked(message, reason)


@recording(mail, "resume")
def resume(message: Id, reason: Reason) -> e.Event:
    """Say that what blocked a message is out of the way.

    Example: passdown mail resume 1 --reason "the lexer is in" --actor reviewer
    """
    return e.MessageResumed(message, reason)


@recording(mail, "action")
def action(message: Id, reason: Reason, token: Token = "") -> e.Event:
    """Say that you have done what a message asks for.

    Example: passdown mail action 1 --reason "reviewed: two remarks" --actor reviewer
    """
    return e.MessageActioned(message, reason, token)


@recording(mail, "defer")
def defer(message: Id, reason: Reason) -> e.Event:
    """Put a message off, as the maintainer, until what the reason names; it stays open.

    Example: passdown mail defer 1 --reason "after the release" --actor ada
    """
    return e.MessageDeferred(message, reason)


@recording(mail, "close")
def close(
    message: Id,
    reason: Reason,
    disposition: Annotated[
        e.Disposition,
        typer.Option(
            "--as", help="How it ends; only the sender withdraws, the maintainer abandons."
        ),
    ] = "resolved",
) -> e.Event:
    """Close a message, as its sender or the maintainer; it never opens again.

    Example: passdown mail close 1 --reason "merged" --actor coder
    """
    return e.MessageClosed(message, reason, disposition)


@answers(list[MessageAnswer])
def list_mail(
    agent: Annotated[str, typer.Option("--agent", help="What was posted to this agent.")] = "",
    sender: Annotated[str, typer.Option("--from", help="What this agent posted.")] = "",
    unread: Annotated[
        bool, typer.Option("--unread", help="Only what its receiver has not read.")
    ] = False,
    every: Annotated[bool, typer.Option("--all", help="Also what is closed.")] = False,
    project: options.Project = "",
    as_json: options.AsJson = False,
) -> None:
    """List the mail that is not closed yet, the oldest first.

    Example: passdown mail list --agent reviewer --unread
    """
    state = state_of(project)
    to, by = (known_actor(state, name) if name else "" for name in (agent, sender))
    found = [
        _message(state, message)
        for message in state.messages.values()
        if to in ("", message.to)
        and by in ("", message.sender)
        and (message.status == "unread" or not unread)
        and (message.status != "closed" or every)
    ]
    head = ("id", "from", "to", "kind", "", "status", "due", "subject")
    show_list(found, as_json, head, _row, f"{state.slug}: no mail of that sort")


mail.command("list")(list_mail)


@answers(WholeMessage)
def show_message(
    message: Id, project: options.Project = "", as_json: options.AsJson = False
) -> None:
    """Show a message: what it says, its payload, and what was done about it. It stays unread.

    Example: passdown mail show 1
    """
    state = state_of(project)
    known = find("message", message, state.messages)
    whole = told(WholeMessage, known, token=_token(known), overdue=overdue(state, known, present()))
    if as_json:
        output.document(whole)
        return
    for line in _whole(whole):
        output.line(line)


mail.command("show")(show_message)


def _token(message: Message) -> str | None:
    return message.payload.token if message.payload else None


def _message(state: Project, message: Message) -> MessageAnswer:
    late = overdue(state, message, present())
    return told(MessageAnswer, message, token=_token(message), overdue=late)


def _row(message: MessageAnswer) -> list[Cell]:
    status = f"{message.status}, overdue" if message.overdue else message.status
    return [
        Cell(message.id, "cyan"),
        Cell(message.sender),
        Cell(message.to),
        Cell(message.kind),
        Cell(message.priority, "red" if message.priority == "P0" else ""),
        Cell(status, "yellow" if message.overdue or message.status == "blocked" else ""),
        Cell(message.due or "-"),
        Cell(message.subject),
    ]


def _whole(message: WholeMessage) -> Iterator[str]:
    """A message for people, its words line by line as they are."""
    yield paint(output.plain(f"{message.id}  {message.subject}"), "bold")
    facts = {
        "from": f"{message.sender} to {message.to}, {message.posted}",
        "kind": f"{message.kind}, {message.priority}",
        "status": f"{message.status}{f': {message.overdue}' if message.overdue else ''}",
        "due": message.due,
        "closed by": message.closure_owner,
        "related": ", ".join(message.related),
        "snapshot": message.snapshot,
        "escalated": message.escalated,
    }
    for name, said in facts.items():
        if said:
            yield f"  {name}: {output.plain(said)}"
    if message.body:
        yield ""
        yield from map(_visible, message.body.splitlines())
    if payload := message.payload:
        about = ", ".join((payload.format, payload.scope, payload.ask, *payload.files))
        yield ""
        yield paint(output.plain(f"Payload {payload.token} ({about})"), "bold")
        yield from (f"  {_visible(line)}" for line in payload.text.splitlines())
    if message.acks:
        yield ""
    for ack in message.acks:
        what = f"{ack.what} as {ack.disposition}" if ack.disposition else ack.what
        token = f" ({ack.token})" if ack.token else ""
        yield output.plain(f"{ack.at}  {what} by {ack.by}{token}: {ack.reason}")


def _visible(line: str) -> str:
    """A line as it is, without anything that could steer a terminal."""
    return "".join(c if c.isprintable() else " " for c in line.expandtabs()).rstrip()
