"""Projects: open one, list them."""

import shlex
import subprocess
from typing import Annotated, Literal

import typer

from cli import options, output
from cli.answers import ProjectAnswer, Recorded, answers
from cli.documents import document_recorded
from cli.orchestration import Complexity, Mode, executed, of_phases, session_id, topic_of
from cli.progress import progress
from cli.recording import Asked, append, append_alone, finish, opened
from cli.screen import Cell, bar, table
from cli.sharing import (
    SHARED,
    Agents,
    Folder,
    HandedOver,
    LeaseRevisions,
    Maintainer,
    coordination,
)
from journal import Journal, Project, Request
from journal import workspace as places
from journal.clock import iso, now
from journal.errors import Invalid, Rejected
from journal.events import ActorRegistered, Coordination, DecisionMade, Event, ProjectOpened
from journal.handle import Handle
from journal.request import rehearse
from journal.workflows import Workflow, generic, load
from projections.archive import check_new, vacant_place
from projections.position import is_done, keyed


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command("init")(init)
    app.command("projects")(projects)


@answers(Recorded)
def init(
    project: Annotated[
        str,
        typer.Argument(help="A name: a-z, 0-9, '.', '_', '-'; of an orchestration, its topic."),
    ],
    workflow: Annotated[
        str, typer.Option("--workflow", "-w", help="apex, generic, or the path of a .toml file.")
    ] = "",
    step: Annotated[
        list[str] | None, typer.Option("--step", help="A step of a generic workflow; repeatable.")
    ] = None,
    phases: Annotated[
        str | None,
        typer.Option("--phases", help="The phases of an orchestration, ';' between them."),
    ] = None,
    title: Annotated[str, typer.Option("--title", help="What people call it.")] = "",
    design: Annotated[
        str, typer.Option("--design", metavar="FILE", help="The design document that it follows.")
    ] = "",
    plan: Annotated[
        str, typer.Option("--plan", metavar="FILE", help="The plan that it follows.")
    ] = "",
    mode: Mode = None,
    complexity: Complexity = "",
    maintainer: Maintainer = None,
    folder: Folder = None,
    agent: Agents = None,
    handoff: HandedOver = None,
    lease_revisions: LeaseRevisions = None,
    native: Annotated[str, typer.Option("--native", help="Its id in another system.")] = "",
    branch: Annotated[str, typer.Option("--branch", help="Its branch; git's if not given.")] = "",
    iac_tool: Annotated[str, typer.Option("--iac-tool", help="Bicep or Terraform.")] = "",
    actor: options.Actor = "",
    session: options.Session = "",
    key: options.Key = "",
    no_sync: options.NoSync = False,
    as_json: options.AsJson = False,
) -> None:
    """Open a project, and a journal for it where there is none yet.

    With --phases, or with a workflow file that has an [execution] table, it is an orchestration:
    its phases are all pending, and its name is its session id, today's date in front of its topic.

    With --maintainer it is a workspace that agents share, who leave each other mail, turns and a
    worklog: `passdown init tools --maintainer ada --agent coder --agent reviewer`. It needs no
    steps, and whoever opens it acts as its maintainer where no --actor is given.

    Example: passdown init my-app --workflow apex --iac-tool Bicep
    """
    shared = coordination(maintainer, folder, agent, handoff, lease_revisions)
    flow = _flow(workflow, step or [], phases, shared)
    execution = executed(flow, mode, complexity)
    if execution is not None:
        project = session_id(project, now())
        if native not in ("", project):
            raise Invalid(f"an orchestration goes by its session id, {project}; leave out --native")
        native, title = project, title or topic_of(project)
    by = actor or (shared.maintainer if shared else "")
    asked = Asked(project, by, session, key, no_sync=no_sync, as_json=as_json)
    opening = ProjectOpened(
        title or project,
        flow.name,
        flow.steps,
        flow.policy,
        native,
        branch or _git_branch(),
        execution,
        shared,
    )
    proposed: list[Event] = [opening, *(ActorRegistered(each, "agent") for each in agent or ())]
    if iac_tool:
        proposed.append(DecisionMade(key="iac_tool", value=iac_tool))
    Journal.check_slug(project)
    workspace = places.choose()
    documents: dict[Literal["design", "plan"], str] = {"design": design, "plan": plan}
    proposed += [
        document_recorded(workspace, kind, path) for kind, path in documents.items() if path
    ]
    requests = [Request(event, asked.actor, asked.session) for event in proposed]
    rehearse(project, requests, id=asked.key)
    if execution is not None and not workspace.folder.exists():
        check_new(workspace, project)  # so that a refusal sets nothing up
    with Journal.create(workspace.root) as journal:
        handle = journal.handle(project)
        held = keyed(handle.state).get("iac_tool")
        if iac_tool and held and held.value != iac_tool:
            raise Rejected(
                f"open {project} with {iac_tool}",
                f"it is there already, and its iac_tool is {held.value}",
                [shlex.join(("decide", "-p", project, "--key", "iac_tool", "--value", iac_tool))],
            )
        if execution is None:
            append(asked, workspace, handle, requests)
            return
        with vacant_place(workspace, journal, project):
            _check_new(asked, handle)
            done = append_alone(asked, workspace, handle, requests)
        finish(asked, workspace, handle, done)


def _check_new(asked: Asked, handle: Handle) -> None:
    """Refuse the id of an orchestration that is there; the same request again has an id itself."""
    if handle.version and asked.key is None:
        archived = handle.state.archived is not None
        raise Rejected(
            f"open {handle.slug}",
            f"there is one of that name already{' in the archive' if archived else ''}; choose "
            "another topic",
            [shlex.join(("reopen" if archived else "resume", "-p", handle.slug))],
        )


def _flow(
    workflow: str, steps: list[str], named: str | None, shared: Coordination | None
) -> Workflow:
    """The workflow that is asked for, and that goes together with the rest."""
    if shared is not None and not (workflow or steps or named is not None):
        return SHARED
    flow = _named(workflow, steps, named)
    if shared is not None and flow.execution is not None:
        option = "--workflow" if named is None else "--phases"
        raise Invalid(
            "a workspace that agents share is no orchestration; leave out --maintainer, or "
            f"{option} and name its steps with --step"
        )
    return flow


def _named(workflow: str, steps: list[str], named: str | None) -> Workflow:
    """The workflow of that name, of these steps, or of these phases."""
    if named is not None and (workflow or steps):
        other = "--workflow" if workflow else "--step"
        raise Invalid(f"--phases names all the steps of an orchestration; leave out {other}")
    if named is not None:
        return of_phases(named)
    if workflow in ("", "generic") and steps:
        return generic(steps)
    if steps:
        raise Invalid(f"--step names the steps of a generic workflow, {workflow!r} has its own")
    if workflow == "generic":
        raise Invalid("a generic workflow needs its steps: --step NAME, once for each")
    return load(workflow or "apex")


def _git_branch() -> str:
    try:
        said = subprocess.run(
            ["git", "symbolic-ref", "--quiet", "--short", "HEAD"],
            capture_output=True,
            text=True,
            timeout=2,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return ""
    return said.stdout.strip()


@answers(list[ProjectAnswer])
def projects(
    archived: Annotated[
        bool, typer.Option("--archived", help="Those that are archived, and where their files are.")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """List the projects of this workspace; archived orchestrations only if asked for.

    Example: passdown projects
    """
    with opened() as (_, journal):
        slugs = journal.projects()
        with progress("reading projects", len(slugs)) as advance:
            found, hidden = list[ProjectAnswer](), 0
            for slug in slugs:
                state = journal.project(slug).state
                closed = state.archived is not None
                if closed and not archived and state.execution is not None:
                    hidden += 1
                elif closed or not archived:
                    found.append(_answer(state))
                advance(1)
    if as_json:
        output.document(found)
        return
    if hidden:
        output.note(f"{hidden} archived; `passdown projects --archived` lists them")
    rows = table([_row(each) for each in found], right=(1,))
    for line, each in zip(rows, found, strict=True):
        output.line(line)
        for move in each.moved if archived else ():
            output.line(f"  {move.active} → {move.archived}")


def _answer(state: Project) -> ProjectAnswer:
    closed = state.archived is not None
    return ProjectAnswer(
        state.slug,
        state.title,
        state.workflow,
        state.version,
        state.current,
        sum(map(is_done, state.steps.values())),
        len(state.steps),
        iso(state.updated),
        closed,
        state.aborted is not None,
        None if state.archived is None else iso(state.archived),
        list(state.moves) if closed else [],
    )


def _progress(each: ProjectAnswer) -> str:
    """How far it is, where it has steps to count."""
    done = f"{bar(each.steps_done, each.steps)} {each.steps_done}/{each.steps}"
    return done if each.steps else ""


def _row(each: ProjectAnswer) -> list[Cell]:
    ended = f"archived, {each.archived_at}" if each.archived else f"aborted, {each.updated}"
    over = each.archived or each.aborted
    return [
        Cell(each.project, "dim" if over else "bold"),
        Cell(f"v{each.version}", "dim"),
        Cell(each.workflow),
        Cell(_progress(each), "cyan"),
        Cell(ended if over else each.updated, "dim"),
        Cell(each.title if each.title != each.project else ""),
    ]
