"""The end of a project, and its way back: archive, abort, reopen."""

import typer

from cli import exits, options
from cli.answers import Recorded, answers
from cli.recording import Asked, append_alone, chosen, finish, opened, recording
from journal import Request
from journal.events import Event, ProjectAborted, ProjectArchived, ProjectReopened


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command("archive")(archive)
    recording(app, "abort")(abort)
    recording(app, "reopen")(reopen)


@answers(Recorded)
def archive(
    reason: options.Reason = "",
    project: options.Project = "",
    actor: options.Actor = "",
    session: options.Session = "",
    key: options.Key = "",
    occurred: options.Occurred = "",
    no_sync: options.NoSync = False,
    as_json: options.AsJson = False,
    lease: options.Lease = "",
) -> int:
    """Close a project, and move its active-session.md and its documents into their archive.

    Interrupted at any point, it is carried to the end by asking again, or by `passdown sync`.

    Example: passdown archive --reason "all of it is shipped"
    """
    asked = Asked(project, actor, session, key, occurred, no_sync, as_json, lease)
    request = Request(
        ProjectArchived(reason), asked.actor, asked.session, asked.occurred, lease=asked.lease
    )
    with opened() as (workspace, journal):
        handle = chosen(journal, asked.project)
        done = append_alone(asked, workspace, handle, [request])
        archived = finish(asked, workspace, handle, done)
    return exits.NOT_WELL if archived is not None and archived.wanting else exits.OK


def abort(reason: options.Reason = "") -> Event:
    """Give a project up: nothing more is recorded in it, and it can be archived or reopened.

    Example: passdown abort --reason "the requirement is gone"
    """
    return ProjectAborted(reason)


def reopen(reason: options.Reason = "") -> Event:
    """Go on with a project that was archived or aborted; its files come back to their places.

    Example: passdown reopen --reason "a defect turned up"
    """
    return ProjectReopened(reason)
