"""The payload of a message: what is to be reviewed, with the token that it goes by, in parts."""

import re
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer
from msgspec import Struct
from msgspec.structs import replace

from cli.texts import read
from journal import Project, payloads
from journal import events as e
from journal.clock import day
from journal.errors import Invalid, quoted
from journal.rules import workspace_path

Format: TypeAlias = Literal["unified-diff", "full-text"]
Scope: TypeAlias = Literal["full", "critical-only", "interface-only"]
Ask: TypeAlias = Literal["apply-or-counter", "review-only", "fyi"]

FileOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--payload",
        metavar="FILE",
        help="What is to be reviewed; '-' is stdin. In parts if it is longer than 16 KiB.",
    ),
]
FormatOption: TypeAlias = Annotated[
    Format | None,
    typer.Option(
        "--format", help="How the payload is written; by its name (.diff, .patch) if not given."
    ),
]
FilesOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--file", help="A file of the workspace that the payload is about; repeatable."),
]
ScopeOption: TypeAlias = Annotated[
    Scope | None, typer.Option("--scope", help="What is to be looked at; full if not given.")
]
AskOption: TypeAlias = Annotated[
    Ask | None, typer.Option("--ask", help="What is to be done; apply-or-counter if not given.")
]
TopicOption: TypeAlias = Annotated[
    str, typer.Option("--topic", help="What its token is named after; its file if not given.")
]
TokenOption: TypeAlias = Annotated[
    str,
    typer.Option("--token", help="The token that it came with, which must be that of its text."),
]

_TOPIC = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
#: A part is numbered in three digits.
_MOST_PARTS = 999


class Given(Struct, frozen=True):
    """What was said of a payload on the command line."""

    file: str = ""
    format: Format | None = None
    files: tuple[str, ...] = ()
    scope: Scope | None = None
    ask: Ask | None = None
    topic: str = ""
    token: str = ""


def payload(given: Given) -> e.Payload | None:
    """The payload that is given, whole and without a token, if there is one."""
    if not given.file:
        for option in given.__struct_fields__:
            if getattr(given, option) != getattr(Given(), option):
                name = "file" if option == "files" else option
                raise Invalid(f"--{name} is about a payload; name its file with --payload")
        return None
    if given.topic and not _TOPIC.fullmatch(given.topic):
        raise Invalid(
            f"topic {quoted(given.topic)} cannot be in a token; it is 1 to 60 letters, digits, "
            "'.', '_' and '-'"
        )
    text = read(given.file)
    if not text.strip():
        raise Invalid(f"there is nothing in {quoted(given.file)} to review; leave out --payload")
    diff = Path(given.file).suffix in (".diff", ".patch")
    return e.Payload(
        text,
        given.token,
        given.format or ("unified-diff" if diff else "full-text"),
        tuple(map(workspace_path, given.files)),
        given.scope or "full",
        given.ask or "apply-or-counter",
    )


def in_parts(state: Project, whole: e.Payload, given: Given, now: int) -> list[e.Payload]:
    """The payload with its token, in as many parts as it takes."""
    texts = list(payloads.parts(whole.text))
    if given.token:
        if len(texts) > 1:
            raise Invalid(
                f"the payload takes {len(texts)} parts, each with a token of its own; leave out "
                "--token"
            )
        payloads.check_payload(whole)
        return [whole]
    if len(texts) > _MOST_PARTS:
        raise Invalid(f"the payload takes {len(texts):,} parts; say where it is instead")
    topic = given.topic or _topic(given.file)
    known = [each.payload.token for each in state.messages.values() if each.payload]
    number = payloads.sequence(known, topic)

    def token(text: str) -> str:
        return payloads.token(day(now), topic, number, text)

    if len(texts) == 1:
        return [replace(whole, token=token(whole.text))]
    return [
        replace(whole, text=text, token=f"{token(text)}-p{n}of{len(texts)}")
        for n, text in enumerate(texts, start=1)
    ]


def _topic(file: str) -> str:
    """What a token is named after: the file, as far as that can be in one."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(file).stem).strip("-._")[:40]
    return name or "payload"
