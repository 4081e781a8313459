"""Any event by its type, one or a stream of them."""

import sys
from collections.abc import Iterator
from typing import Annotated

import msgspec
import typer
from msgspec import Struct

from cli import options, output
from cli.answers import Recorded, answers
from cli.progress import progress
from cli.recording import Asked, chosen, opened, record
from cli.recording import append as append_requests
from journal import Request
from journal.clock import parse as parse_time
from journal.errors import Invalid, PassdownError
from journal.payload import MAX_PAYLOAD, parse


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command("append")(append)


#: As JSON may escape it, a character takes up to six bytes.
_LONGEST = 6 * MAX_PAYLOAD + 10_000


class Line(Struct, frozen=True, forbid_unknown_fields=True):
    """One line of an event stream."""

    type: str
    data: msgspec.Raw = msgspec.Raw(b"{}")
    actor: str | None = None
    session: str | None = None
    occurred: str | None = None
    cause: str | None = None
    lease: str | None = None


@answers(Recorded)
def append(
    type: Annotated[str, typer.Argument(help="The event's type; '-' reads lines from stdin.")],
    payload: Annotated[str, typer.Argument(metavar="JSON", help="The event's fields.")] = "{}",
    project: options.Project = "",
    actor: options.Actor = "",
    session: options.Session = "",
    key: options.Key = "",
    occurred: options.Occurred = "",
    no_sync: options.NoSync = False,
    as_json: options.AsJson = False,
    lease: options.Lease = "",
) -> None:
    """Record any event by its type, or a stream of them from stdin, all or none.

    A line of the stream: {"type": "tokens.used", "data": {"input": 1200}, "actor": "coder"}

    Example: passdown append task.added '{"title": "Write the parser", "step": "2"}'
    """
    asked = Asked(project, actor, session, key, occurred, no_sync, as_json, lease)
    if type != "-":
        record(asked, parse(type, payload.encode(errors="surrogateescape")))
        return
    with progress("reading events"):
        lines = list(_stream(asked))
    if not lines:
        output.note("there was no event on stdin, so there is nothing to record")
    with opened() as (workspace, journal):
        handle = chosen(journal, asked.project)
        try:
            append_requests(asked, workspace, handle, [request for _, request in lines])
        except PassdownError as error:
            if error.nth is not None:
                error.args = (f"line {lines[error.nth][0]}: {error}; nothing was recorded",)
            raise


def _stream(asked: Asked) -> Iterator[tuple[int, Request]]:
    """The requests of a stream, each with its line number."""
    decoder = msgspec.json.Decoder(Line)
    if sys.stdin is None:
        raise Invalid("stdin is closed; send the events as JSON lines")
    for number, text in enumerate(sys.stdin.buffer, start=1):
        if not text.strip():
            continue
        try:
            if len(text) > _LONGEST:
                raise Invalid(
                    f"the line is {len(text):,} bytes, a payload may have {MAX_PAYLOAD:,}"
                )
            line = decoder.decode(text)
            yield (
                number,
                Request(
                    parse(line.type, bytes(line.data)),
                    line.actor or asked.actor,
                    line.session or asked.session,
                    parse_time(line.occurred) if line.occurred else asked.occurred,
                    line.cause,
                    line.lease or asked.lease,
                ),
            )
        except PassdownError as error:
            error.args = (f"line {number}: {error}; nothing was recorded",)
            raise
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise Invalid(f"line {number}: {error}; nothing was recorded") from error
