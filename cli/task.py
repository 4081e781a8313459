"""Plans, tasks, and the blockers that stand in their way."""

from typing import Annotated

import typer

from cli import options
from cli.group import group
from cli.recording import recording
from journal import events as e
from journal.errors import Invalid

plans = group("Add, start and complete plans.")
tasks = group("Add tasks and work on them.")
blockers = group("Raise, bypass and resolve blockers.")

Plan = Annotated[str, typer.Argument(help="The plan's id, such as 2-1.")]
Task = Annotated[str, typer.Argument(help="The task's id, such as T001, or 1.")]
Blocker = Annotated[str, typer.Argument(help="The blocker's id, such as block-001, or 1.")]


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.add_typer(plans, name="plan")
    app.add_typer(tasks, name="task")
    app.add_typer(blockers, name="blocker")


# -- plans -----------------------------------------------------------------------------------


@recording(plans, "add")
def add_plan(
    step: options.Step,
    name: Annotated[str, typer.Argument(help="What it is a plan of.")],
    number: Annotated[
        int, typer.Option("--number", min=0, help="Its number; the next if not given.")
    ] = 0,
) -> e.Event:
    """Add a plan for part of a step.

    Example: passdown plan add 2 "The data model"
    """
    return e.PlanAdded(step, name, number)


@recording(plans, "start")
def start_plan(plan: Plan) -> e.Event:
    """Begin work on a plan.

    Example: passdown plan start 2-1
    """
    return e.PlanStarted(plan)


@recording(plans, "complete")
def complete_plan(
    plan: Plan, summary: Annotated[str, typer.Option("--summary", help="What came of it.")] = ""
) -> e.Event:
    """Record that a plan is done.

    Example: passdown plan complete 2-1 --summary "three tables, no triggers"
    """
    return e.PlanCompleted(plan, summary)


# -- tasks -----------------------------------------------------------------------------------


@recording(tasks, "add")
def add_task(
    title: Annotated[str, typer.Argument(help="What is to be done.")],
    task: Annotated[
        str, typer.Option("--task", help="An id of your choice; T001 … if not given.")
    ] = "",
    step: Annotated[str, typer.Option("--step", help="The step it is part of.")] = "",
    plan: Annotated[str, typer.Option("--plan", help="The plan it is part of.")] = "",
    wave: Annotated[
        int, typer.Option("--wave", min=0, help="Tasks of one wave run side by side.")
    ] = 0,
    priority: Annotated[e.Priority, typer.Option("--priority", help="How urgent.")] = "P1",
    depends_on: Annotated[
        list[str] | None,
        typer.Option("--depends-on", help="A task that must be done first; repeatable."),
    ] = None,
    description: Annotated[str, typer.Option("--description", help="More about it.")] = "",
) -> e.Event:
    """Add a piece of work that one agent can do.

    Example: passdown task add "Write the parser" --step 2 --priority P0
    """
    return e.TaskAdded(
        title, task, step, plan, wave, priority, tuple(depends_on or ()), description
    )


@recording(tasks, "claim")
def claim_task(task: Task, agent: options.Agent = "") -> e.Event:
    """Take a task, so that nobody else does.

    Example: passdown task claim T001 --actor coder
    """
    return e.TaskClaimed(task, agent)


@recording(tasks, "start")
def start_task(task: Task, agent: options.Agent = "") -> e.Event:
    """Begin work on a task.

    Example: passdown task start T001 --actor coder
    """
    return e.TaskStarted(task, agent)


@recording(tasks, "complete")
def complete_task(
    task: Task, note: Annotated[str, typer.Option("--note", help="What came of it.")] = ""
) -> e.Event:
    """Record that a task is done.

    Example: passdown task complete T001 --note "with tests"
    """
    return e.TaskCompleted(task, note)


@recording(tasks, "block")
def block_task(
    task: Task,
    reason: options.Reason = "",
    blocker: Annotated[
        str, typer.Option("--blocker", help="The blocker; a new one is raised if not given.")
    ] = "",
) -> e.Event:
    """Record that a task cannot go on; the reason is raised as a blocker.

    Example: passdown task block T001 --reason "no credentials for the registry"
    """
    return e.TaskBlocked(task, blocker, reason)


@recording(tasks, "unblock")
def unblock_task(task: Task, reason: options.Reason = "") -> e.Event:
    """Record that nothing blocks a task any more.

    Example: passdown task unblock T001
    """
    return e.TaskUnblocked(task, reason)


@recording(tasks, "reset")
def reset_task(task: Task, reason: options.Reason = "") -> e.Event:
    """Put a task back to open, with nobody on it.

    Example: passdown task reset T001 --reason "its agent is gone"
    """
    return e.TaskReset(task, reason)


# -- blockers --------------------------------------------------------------------------------


@recording(blockers, "raise")
def raise_blocker(
    description: Annotated[str, typer.Argument(help="What stands in the way.")],
    affects: Annotated[
        list[str] | None, typer.Option("--affects", help="What it affects; repeatable.")
    ] = None,
    tasks: options.Tasks = None,
) -> e.Event:
    """Record that something outside stands in the way of the work.

    Example: passdown blocker raise "the registry is down" --task T001
    """
    return e.BlockerRaised(description, tuple(affects or ()), tuple(tasks or ()))


@recording(blockers, "bypass")
def bypass_blocker(
    blocker: Blocker,
    workaround: Annotated[str, typer.Option("--workaround", "-w", help="The way around it.")],
    tasks: options.Tasks = None,
) -> e.Event:
    """Record that work goes on around a blocker.

    Example: passdown blocker bypass block-001 --workaround "use the mirror"
    """
    if not workaround.strip():
        raise Invalid(f"a workaround is needed: say with -w how work goes on around {blocker}")
    return e.BlockerBypassed(blocker, workaround, tuple(tasks or ()))


@recording(blockers, "resolve")
def resolve_blocker(blocker: Blocker, resolution: options.Resolution = "") -> e.Event:
    """Record that a blocker is gone.

    Example: passdown blocker resolve block-001 --resolution "it is up again"
    """
    return e.BlockerResolved(blocker, resolution)
