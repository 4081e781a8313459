"""After the last phase: archiving an orchestration, or the offer to, and where its files are."""

from msgspec import Struct
from msgspec.structs import replace

from cli.answers import ArchivedAnswer
from journal.clock import iso
from journal.errors import PassdownError
from journal.events import ProjectArchived
from journal.handle import Handle
from journal.request import Appended, Request
from journal.rules.names import command
from journal.state import Project
from journal.workspace import Workspace
from projections.archive import ready, wanting
from projections.position import is_done
from projections.settings import archiving


class Closing(Struct, frozen=True):
    """What was recorded in all, the commands that are offered, and what went wrong."""

    done: Appended
    offers: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def closing(
    workspace: Workspace,
    handle: Handle,
    done: Appended,
    actor: str | None,
    session: str | None,
    *,
    no_sync: bool = False,
) -> Closing:
    """Archive an orchestration whose last phase is done, where that is automatic, or offer it."""
    state = handle.state
    if not _is_over(state):
        return Closing(done)
    offer = command("archive", "-p", state.slug)
    try:
        if no_sync or archiving(workspace.root) == "offer":
            return Closing(done, (offer,))
        request = Request(ProjectArchived("all phases are done"), actor, session)
        with ready(workspace, handle, [request]) as told:
            more = handle.append_all(told.requests)
    except (PassdownError, OSError) as error:
        return Closing(done, (offer,), (f"it is not archived yet: {error}",))
    records, cautions = (*done.records, *more.records), (*done.cautions, *told.notes)
    return Closing(replace(done, version=more.version, records=records, cautions=cautions))


def _is_over(state: Project) -> bool:
    """Whether nothing is left to do but to archive the orchestration."""
    ended = state.archived is not None or state.aborted is not None
    steps = state.steps.values()
    return not ended and all(is_done(step) and not step.to_reconcile for step in steps)


def where(workspace: Workspace, state: Project, *, anew: bool, no_sync: bool) -> ArchivedAnswer:
    """Where the files of an archived project are, and what of it is not so."""
    since = iso(state.archived) if state.archived is not None else ""
    found = [] if no_sync else wanting(workspace, state, moved_now=anew)
    return ArchivedAnswer(since, list(state.moves), found)


def said(answer: ArchivedAnswer, *, anew: bool, no_sync: bool) -> list[str]:
    """The same in words, a line for each file."""
    if not answer.moved:
        return ["no file is moved, they stay where they are"] if anew else [_since(answer)]
    files = [f"{move.active} → {move.archived}" for move in answer.moved]
    if no_sync:
        return [*files, "the next `passdown sync` moves them"]
    return files if anew else [_since(answer), *files]


def _since(answer: ArchivedAnswer) -> str:
    return f"archived {answer.archived}"
