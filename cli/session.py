"""Sessions and what they leave behind: files, tokens, context, the next action."""

from collections.abc import Sequence
from typing import Annotated, Literal

import typer

from cli import leaving, options
from cli.group import group
from cli.manifest import changed
from cli.recording import Propose, recording
from journal import Project
from journal import events as e
from journal import workspace as places
from journal.errors import Invalid

sessions = group("Start sessions, keep them alive, and end them.")
files = group("Record what was done to files of the workspace.")

Session = Annotated[
    str,
    typer.Argument(
        metavar="[SESSION]", help="The session's id or name; the one of --session if not given."
    ),
]


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.add_typer(sessions, name="session")
    app.add_typer(files, name="files")
    recording(app, "next")(set_next)
    recording(app, "note")(note)


# -- sessions --------------------------------------------------------------------------------


@recording(sessions, "start")
def start(
    name: Annotated[str, typer.Argument(help="What the agent itself calls it.")] = "",
    agent: options.Agent = "",
    host: Annotated[str, typer.Option("--host", help="Its id in the agent's host.")] = "",
    note: Annotated[str, typer.Option("--note", help="A word to begin with.")] = "",
    continues: Annotated[
        str, typer.Option("--continues", help="The session that it takes up.")
    ] = "",
) -> e.Event:
    """Begin a stretch of work.

    Example: passdown session start night-shift --actor coder
    """
    return e.SessionStarted(agent, name, host, note, continues)


@recording(sessions, "note")
def note_in_session(
    text: Annotated[str, typer.Argument(help="What the next session should know.")],
    kind: Annotated[
        Literal["note", "deviation", "issue"], typer.Option("--kind", help="What sort of note.")
    ] = "note",
) -> e.Event:
    """Record something worth telling the next session.

    Example: passdown session note "the tests need Docker" --session night-shift
    """
    return e.SessionNoted(text, kind)


@recording(sessions, "heartbeat")
def heartbeat(name: Session = "") -> e.Event:
    """Say that a session is still alive; within five minutes of the last it changes nothing.

    Example: passdown session heartbeat night-shift
    """
    return e.SessionHeartbeat(name)


@recording(sessions, "end")
def end(
    name: Session = "",
    completed: Annotated[
        list[str] | None, typer.Option("--completed", help="What was done; repeatable.")
    ] = None,
    issues: Annotated[
        list[str] | None, typer.Option("--issue", help="What went wrong; repeatable.")
    ] = None,
    notes: Annotated[str, typer.Option("--notes", help="For whoever goes on.")] = "",
    context_usage: Annotated[
        float | None,
        typer.Option("--context-usage", min=0, max=1, help="How full the context was, 0 to 1."),
    ] = None,
    reason: Annotated[str, typer.Option("--reason", "-r", help="Why it is handed over.")] = "",
    snapshot: Annotated[
        bool, typer.Option("--snapshot", help="Take a snapshot of it first, of what follows here.")
    ] = False,
    why: leaving.Why = "",
    why_file: leaving.WhyFile = "",
    following: leaving.Next = "",
    status: leaving.Status = None,
    close_reason: leaving.CloseReason = "completed",
    read: leaving.Read = None,
    actor: options.Actor = "",
    session: options.Session = "",
) -> e.Event | Propose:
    """Close a session, with what whoever goes on should know.

    Example: passdown session end night-shift --completed "the parser" --context-usage 0.8
    """
    lists = tuple(completed or ()), tuple(issues or ())
    if not snapshot:
        if why or why_file or following or status or read:
            raise Invalid("--why, --next, --status and --read are for a snapshot; add --snapshot")
        return e.SessionEnded(name, *lists, notes, context_usage, reason)
    words = leaving.said(why, why_file, following, status, read)
    workspace = places.find()

    def propose(state: Project, now: int) -> list[e.Event]:
        meant = leaving.open_session(state, name or session, actor)
        ended = e.SessionEnded(meant.id, *lists, notes, context_usage, reason)
        return [*leaving.taken(workspace, state, meant, words, close_reason), ended]

    return propose


@recording(sessions, "resume")
def resume(name: Session = "") -> e.Event:
    """Go on with a session that had ended.

    Example: passdown session resume night-shift
    """
    return e.SessionResumed(name)


@recording(sessions, "crash")
def crash(name: Session = "", reason: options.Reason = "") -> e.Event:
    """Record that a session ended without closing.

    Example: passdown session crash night-shift --reason "no answer for an hour"
    """
    return e.SessionCrashed(name, reason)


# -- files -----------------------------------------------------------------------------------

Paths = Annotated[
    list[str], typer.Argument(metavar="PATH…", help="Files, relative to the workspace root.")
]
Description = Annotated[str, typer.Option("--description", "-d", help="What was done, in a line.")]


@recording(files, "created")
def created(
    paths: Paths, description: Description = "", step: options.AtStep = ""
) -> Sequence[e.Event]:
    """Record that files were created, with the digest of each.

    Example: passdown files created src/parser.py --description "the parser"
    """
    return changed("created", paths, description, step)


@recording(files, "modified")
def modified(
    paths: Paths, description: Description = "", step: options.AtStep = ""
) -> Sequence[e.Event]:
    """Record that files were modified, with the digest of each.

    Example: passdown files modified src/parser.py --description "numbers with exponents"
    """
    return changed("modified", paths, description, step)


@recording(files, "deleted")
def deleted(
    paths: Paths, description: Description = "", step: options.AtStep = ""
) -> Sequence[e.Event]:
    """Record that files were deleted.

    Example: passdown files deleted src/old_parser.py
    """
    return changed("deleted", paths, description, step)


# -- what is next, and what to know ----------------------------------------------------------


def set_next(
    text: Annotated[str, typer.Argument(help="What is to be done; '' for nothing in particular.")],
    agent: Annotated[
        str, typer.Option("--agent", help="By whom; by whoever goes on if not given.")
    ] = "",
) -> e.Event:
    """Say what is to be done next.

    Example: passdown next "Finish the parser, then run the fuzzer"
    """
    return e.NextActionSet(text, agent)


def note(
    text: Annotated[str, typer.Argument(help="What whoever goes on must know.")],
    kind: Annotated[
        Literal["implementation", "next_step", "skill"],
        typer.Option("--kind", help="What it is about."),
    ] = "next_step",
    file: Annotated[str, typer.Option("--file", help="The file that it is about.")] = "",
    contains: Annotated[
        str,
        typer.Option("--contains", help="What that file has while this holds: a symbol, a line."),
    ] = "",
    step: options.AtStep = "",
) -> e.Event:
    """Note something that whoever goes on must know; it stands in the handoff.

    Example: passdown note "Recursive descent" --kind implementation --file src/parser.py
    """
    return e.ContextNoted(kind, text, step, file, contains)
