"""The documents that the work follows: record the design and the plan as they are now."""

from typing import Annotated, Literal

import typer

from cli.documents import document_recorded
from cli.recording import recording
from journal import events as e
from journal import workspace as places


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    recording(app, "document")(document)


def document(
    kind: Annotated[
        Literal["design", "plan"], typer.Argument(metavar="design|plan", help="Which of the two.")
    ],
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="The file, relative to the workspace root.")
    ],
) -> e.Event:
    """Record the document that the work follows, as it is now; again, once it has changed.

    With its digest, and up to 256 KiB of text, `passdown resume` says whether and how it differs.

    Example: passdown document plan docs/plan.md
    """
    return document_recorded(places.find(), kind, path)
