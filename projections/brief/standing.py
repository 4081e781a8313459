"""How an orchestration stands, phase by phase, and what its phases leave for those after them."""

from collections.abc import Iterator

from journal.clock import iso
from journal.entities import Error, Project, Step, is_over, step_agent, step_order, waits_on
from journal.rules.names import tries
from projections.brief.brief import Item, Phase
from projections.orchestration import startable, unresolved
from projections.position import is_done


def standing(project: Project) -> tuple[Phase, ...]:
    """Every phase that is not done and the last that is complete: begun ones first, then the next.

    A project that is over has none to go on with.
    """
    if project.execution is None or is_over(project):
        return ()
    steps = list(project.steps.values())
    begun = [step for step in steps if step.status in ("in_progress", "failed")]
    last = [step for step in steps if step.status == "complete"][-1:]
    following = {step.key: step for step in startable(project)}
    rest = [step for step in steps if step.status == "pending" and step.key not in following]
    return tuple(
        Phase(
            step.key,
            step.name,
            step.status,
            _told(project, step, step.key in following),
            step.key in following,
            tuple(each.key for each in waits_on(project, step)),
            tuple(error.id for error in unresolved(project, step)),
        )
        for step in (*begun, *last, *following.values(), *rest)
    )


def _told(project: Project, step: Step, following: bool) -> str:
    """How a phase stands, in words."""
    match step.status:
        case "complete" | "skipped":
            since = "" if step.completed is None else f", since {iso(step.completed)}"
            return f"the last that is complete{since}"
        case "pending":
            before = ", ".join(each.key for each in waits_on(project, step))
            said = f"waits on {before}" if before else "pending"
            return f"can start now{_by(project, step)}" if following else said
        case "in_progress" | "failed":
            since = "" if step.started is None else f" since {iso(step.started)}"
            said = "failed" if step.status == "failed" else f"in progress{since}"
            again = f", tried again {tries(project, step)} times" if step.retries else ""
            return f"{said}{_by(project, step)}{again}"


def _by(project: Project, step: Step) -> str:
    """Who is at work on a phase, as a part of a sentence."""
    names = dict.fromkeys(filter(None, (step_agent(project, step), *step.team)))
    return f", by {' and '.join(names)}" if names else ""


def failed_at(project: Project, error: Error) -> str:
    """An error of an orchestration with its circumstances: phase, agent, kind and time."""
    step = project.steps.get(error.step)
    named = f"phase {step.key} {step.name}" if step else ""
    agent = error.agent or (step_agent(project, step) if step else "")
    where = ", ".join(filter(None, (named, agent, error.kind, iso(error.at))))
    return f"{where}: {error.message}"


def left_for_others(project: Project) -> Iterator[Item]:
    """What complete phases leave for those that come after them, the last phase's first."""
    done = [step for step in project.steps.values() if is_done(step)]
    for step in sorted(done, key=lambda step: step_order(step.key), reverse=True):
        left = step.downstream
        for kind, texts in (
            ("interface", left.interfaces),
            ("pattern", left.patterns),
            ("integration point", left.integration_points),
            ("assumption", left.assumptions),
            ("warning", left.warnings),
        ):
            yield from (Item(kind, f"{text} (phase {step.key})") for text in texts)
