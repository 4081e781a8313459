"""Projects: open one, list them."""

import subprocess
from typing import Annotated

import typer

from cli import options, output
from cli.recording import Asked, append, opened
from journal import Journal, Request
from journal import workspace as places
from journal.clock import iso
from journal.errors import Invalid, Rejected
from journal.events import DecisionMade, Event, ProjectOpened
from journal.handle import rehearse
from journal.workflows import generic, load
from projections.position import is_done, keyed


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command("init")(init)
    app.command("projects")(projects)


def init(
    project: Annotated[str, typer.Argument(help="A name: a-z, 0-9, '.', '_', '-'.")],
    workflow: Annotated[
        str, typer.Option("--workflow", "-w", help="apex, generic, or the path of a .toml file.")
    ] = "",
    step: Annotated[
        list[str] | None, typer.Option("--step", help="A step of a generic workflow; repeatable.")
    ] = None,
    title: Annotated[str, typer.Option("--title", help="What people call it.")] = "",
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

    Example: passdown init my-app --workflow apex --iac-tool Bicep
    """
    asked = Asked(project, actor, session, key, no_sync=no_sync, as_json=as_json)
    if workflow in ("", "generic") and step:
        flow = generic(step)
    elif step:
        raise Invalid(f"--step names the steps of a generic workflow, {workflow!r} has its own")
    elif workflow == "generic":
        raise Invalid("a generic workflow needs its steps: --step NAME, once for each")
    else:
        flow = load(workflow or "apex")
    proposed: list[Event] = [
        ProjectOpened(
            title or project, flow.name, flow.steps, flow.policy, native, branch or _git_branch()
        )
    ]
    if iac_tool:
        proposed.append(DecisionMade(key="iac_tool", value=iac_tool))
    requests = [Request(event, asked.actor, asked.session) for event in proposed]
    Journal.check_slug(project)
    rehearse(project, requests, id=asked.key)
    workspace = places.choose()
    with Journal.create(workspace.root) as journal:
        handle = journal.handle(project)
        held = keyed(handle.state).get("iac_tool")
        if iac_tool and held and held.value != iac_tool:
            raise Rejected(
                f"open {project} with {iac_tool}",
                f"it is there already, and its iac_tool is {held.value}",
                [f"decide -p {project} --key iac_tool --value {iac_tool}"],
            )
        append(asked, workspace, handle, requests)


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


def projects(as_json: options.AsJson = False) -> None:
    """List the projects of this workspace.

    Example: passdown projects
    """
    with opened() as (_, journal):
        states = [journal.project(slug).state for slug in journal.projects()]
    if as_json:
        output.document(
            [
                {
                    "project": state.slug,
                    "title": state.title,
                    "workflow": state.workflow,
                    "version": state.version,
                    "current_step": state.current,
                    "updated": iso(state.updated),
                    "archived": state.archived is not None,
                }
                for state in states
            ]
        )
        return
    wide = max((len(state.slug) for state in states), default=0)
    for state in states:
        done = sum(is_done(step) for step in state.steps.values())
        title = output.plain(state.title, 40)
        output.line(
            f"{state.slug:{wide}}  v{state.version:<6} {state.workflow:8} "
            f"{done}/{len(state.steps)} steps  {iso(state.updated)}  {title}"
        )
