"""Projects and who acts in them: open one, list them, register an actor."""

import shlex
import subprocess
from typing import Annotated

import typer

from cli import options, output
from cli.answers import ProjectAnswer, Recorded, answers
from cli.group import group
from cli.progress import progress
from cli.recording import Asked, append, opened, recording
from cli.screen import Cell, bar, table
from journal import Journal, Project, Request
from journal import workspace as places
from journal.clock import iso
from journal.errors import Invalid, Rejected
from journal.events import ActorRegistered, DecisionMade, Event, ProjectOpened, Role
from journal.request import rehearse
from journal.workflows import generic, load
from projections.position import is_done, keyed

actors = group("Say who acts here, and as what.")


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command("init")(init)
    app.command("projects")(projects)
    app.add_typer(actors, name="actor")


@answers(Recorded)
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
                [shlex.join(("decide", "-p", project, "--key", "iac_tool", "--value", iac_tool))],
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


@answers(list[ProjectAnswer])
def projects(as_json: options.AsJson = False) -> None:
    """List the projects of this workspace.

    Example: passdown projects
    """
    with opened() as (_, journal):
        slugs = journal.projects()
        with progress("reading projects", len(slugs)) as advance:
            found = []
            for slug in slugs:
                found.append(_answer(journal.project(slug).state))
                advance(1)
    if as_json:
        output.document(found)
        return
    for line in table([_row(each) for each in found], right=(1,)):
        output.line(line)


def _answer(state: Project) -> ProjectAnswer:
    return ProjectAnswer(
        state.slug,
        state.title,
        state.workflow,
        state.version,
        state.current,
        sum(map(is_done, state.steps.values())),
        len(state.steps),
        iso(state.updated),
        state.archived is not None,
    )


def _row(each: ProjectAnswer) -> list[Cell]:
    return [
        Cell(each.project, "dim" if each.archived else "bold"),
        Cell(f"v{each.version}", "dim"),
        Cell(each.workflow),
        Cell(f"{bar(each.steps_done, each.steps)} {each.steps_done}/{each.steps}", "cyan"),
        Cell(f"archived, {each.updated}" if each.archived else each.updated, "dim"),
        Cell(each.title if each.title != each.project else ""),
    ]


@recording(actors, "register")
def register_actor(
    who: Annotated[str, typer.Argument(metavar="ACTOR", help="Who it is.")],
    role: Annotated[Role, typer.Option("--role", help="As what it acts.")] = "agent",
    title: Annotated[str, typer.Option("--title", help="What people call it.")] = "",
) -> Event:
    """Say who somebody is; an actor that was never registered is an agent.

    Example: passdown actor register ada --role person
    """
    return ActorRegistered(who, role, title)
