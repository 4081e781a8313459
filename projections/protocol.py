"""The resume protocol: what is to be done at a step, and the command that does or records it.

| the step is | the answer |
|---|---|
| pending | start it |
| in progress, with a checkpoint | continue after it, without reading again what was read for it |
| in progress, without one | do it again from its beginning |
| complete | nothing; it can be run again |
| skipped | go on with the next |
| failed | retry it, or skip it with the reason |
"""

import shlex
from typing import Literal, TypeAlias

from msgspec import Struct

from journal.blocking import is_escalated, paused_steps
from journal.clock import iso
from journal.entities import Plan, Project, Step, Task, step_agent, step_order
from projections.markdown import clip
from projections.position import ahead, failure, is_done, keyed, plan_ahead, task_ahead
from projections.values import as_text

Verdict: TypeAlias = Literal[
    "fresh_start",
    "start",
    "continue",
    "restart",
    "complete",
    "skipped",
    "failed",
    "finished",
    "migrate",
    "unreadable",
    "refused",
]


class Offer(Struct, frozen=True):
    """Something else that could be done, and the command for it."""

    what: str
    command: str


class Caution(Struct, frozen=True):
    """Something that whoever goes on must see first, and what can be done about it."""

    text: str
    offers: tuple[Offer, ...] = ()


class Advice(Struct, frozen=True):
    """What is to be done at a step; there is no command where only a person can go on."""

    verdict: Verdict
    say: str
    command: str
    offers: tuple[Offer, ...] = ()


def command(project: Project, *words: str, agent: str = "") -> str:
    """A command as one types it, for this project and by this agent."""
    actor = ("--actor", agent) if _typeable(agent) else ()
    return shlex.join(("passdown", *words, "-p", project.slug, *actor))


def _typeable(word: str) -> bool:
    """Whether a word can stand on a command line as it is, and not be taken for an option."""
    return 0 < len(word) <= 100 and word.isprintable() and not word.startswith("-")


def advise(project: Project, step: Step | None, agent: str = "") -> Advice:
    """What to do at the step, or at the end where there is none left."""
    if project.archived is not None:
        reopen = Offer("reopen it", command(project, "append", "project.reopened", agent=agent))
        said = "The project is archived: nothing is recorded in it until it is reopened."
        return Advice("finished", said, _handoff(project), (reopen,))
    if step is None:
        done = "Every step is complete or skipped." if project.steps else "No step is planned."
        return Advice("finished", f"{done} Nothing is left to do.", _handoff(project))
    match step.status:
        case "pending":
            return _start(project, step, agent)
        case "in_progress":
            return _go_on(project, step, agent)
        case "complete" | "skipped":
            return _leave(project, step, agent)
        case "failed":
            return _mend(project, step, agent)


def titled(step: Step) -> str:
    """The step as a sentence names it."""
    return f"step {step.key} {step.name}"


def _handoff(project: Project) -> str:
    return command(project, "show", "--as", "handoff")


def _resume(project: Project, step: Step) -> str:
    return command(project, "resume", "--step", step.key)


def _start(project: Project, step: Step, agent: str) -> Advice:
    skip = _skip(project, step, agent, "not needed") if step.optional else ()
    said = f"Start {titled(step)}." + (" It is optional." if step.optional else "")
    if running := _running(project):
        return Advice("start", f"{said} {_after(running)}", _resume(project, running), skip)
    return Advice("start", said, command(project, "step", "start", step.key, agent=agent), skip)


def _go_on(project: Project, step: Step, agent: str) -> Advice:
    """Steps that are in progress go on by recording what is reached next."""
    following = _next_checkpoint(step)
    if following:
        record = command(project, "step", "checkpoint", step.key, following, agent=agent)
        then = f"Record when {following} is reached."
    else:
        record = command(project, "step", "complete", step.key, agent=agent)
        then = "Record when it is done."
    if at_task := _at_task(project, step, agent):
        return Advice("continue", *at_task)
    if step.sub_step:
        again = " without reading again what was read for it" if step.context_files else ""
        said = f"Continue {titled(step)} after checkpoint {step.sub_step}{again}. {then}"
        return Advice("continue", said, record)
    said = f"Restart {titled(step)}: it was begun and reached no checkpoint. {then}"
    return Advice("restart", said, record)


def _at_task(project: Project, step: Step, agent: str = "") -> tuple[str, str] | None:
    """Where work goes on in a phase that has plans or tasks, and the command that says so."""
    plan, task = plan_ahead(project, step), task_ahead(project, step)
    stuck = task is None and _has_tasks_left(project, step, plan)
    if plan is None and task is None and not stuck:
        return None
    where = [f"Phase {step.key}"]
    where += [f"Plan {plan.number}"] if plan else []
    where += [f"Task: {task.title}"] if task else []
    said = f"Resuming from {', '.join(where)}"
    said += "" if said.endswith((".", "!", "?")) else "."
    if stuck:
        return f"{said} None of its tasks can go on: they are blocked, or wait on others.", ""
    if task is None:
        last = ("plan", "complete" if plan and plan.status == "in_progress" else "start")
        return said, command(project, *last, plan.id, agent=agent) if plan else ""
    if task.interrupted is not None:
        said += " It was interrupted, and is open again."
    if task.status == "in_progress":
        return f"{said} Record when it is done.", _task(project, task, "complete", agent)
    if task.status == "claimed" and task.agent:
        # Only who has claimed it may start it.
        theirs = agent not in ("", task.agent)
        start = "" if theirs else _task(project, task, "start", task.agent)
        return f"{said} It is claimed by {task.agent}.", start
    return said, _task(project, task, "start", agent)


def _has_tasks_left(project: Project, step: Step, plan: Plan | None) -> bool:
    """Whether tasks of the step, or of its plan, are not done yet."""
    plans = ("", plan.id) if plan else ("", *project.plans)
    return any(
        task.step == step.key and task.plan in plans and task.status != "done"
        for task in project.tasks.values()
    )


def _task(project: Project, task: Task, verb: str, agent: str) -> str:
    return command(project, "task", verb, task.id, agent=agent)


def _next_checkpoint(step: Step) -> str:
    """The planned checkpoint after the one reached; none after the last or an unplanned one."""
    planned = step.checkpoints
    if not step.sub_step:
        following = planned[:1]
    elif step.sub_step in planned:
        at = planned.index(step.sub_step) + 1
        following = planned[at : at + 1]
    else:
        following = ()
    return following[0] if following and _typeable(following[0]) else ""


def _leave(project: Project, step: Step, agent: str) -> Advice:
    """A step that is behind us: go on with what follows it, or run it again."""
    following = _following(project, step)
    onward = _resume(project, following) if following else _handoff(project)
    said = f"go on with {titled(following)}" if following else "nothing is left to do"
    again: tuple[Offer, ...] = ()
    # A project where a person must allow it is offered nothing: the approval is not ours to write.
    if project.policy.rerun and not _running(project):
        rerun = command(project, "step", "rerun", step.key, agent=agent)
        again = (Offer(f"run step {step.key} again", rerun),)
    if step.status == "skipped":
        why = f" ({step.reason})" if step.reason else ""
        return Advice(
            "skipped", f"{_capital(titled(step))} was skipped{why}: {said}.", onward, again
        )
    since = "" if step.completed is None else f" since {iso(step.completed)}"
    return Advice(
        "complete", f"{_capital(titled(step))} is complete{since}: {said}.", onward, again
    )


def _following(project: Project, step: Step) -> Step | None:
    later = (s for s in project.steps.values() if step_order(s.key) > step_order(step.key))
    return next((s for s in later if not is_done(s)), None) or ahead(project)


def _mend(project: Project, step: Step, agent: str) -> Advice:
    why = failure(project, step).rstrip(" .")
    said = f"{_capital(titled(step))} failed: {why}."
    if step.sub_step:
        said += f" It had reached checkpoint {step.sub_step}."
    skip = _skip(project, step, agent, f"it failed: {why}")
    limit = project.policy.retries
    if limit is not None and step.retries >= limit:
        said += f" It was tried again {step.retries} of {limit} times: a person must decide."
        return Advice("failed", said, "", skip)
    if running := _running(project):
        return Advice("failed", f"{said} {_after(running)}", _resume(project, running), skip)
    said += " Retry it, or skip it with the reason." if skip else " Retry it."
    return Advice("failed", said, command(project, "step", "retry", step.key, agent=agent), skip)


def _skip(project: Project, step: Step, agent: str, reason: str) -> tuple[Offer, ...]:
    """The offer to go on without the step, where that needs no person's word."""
    if project.policy.skip == "person":
        return ()
    words = ("step", "skip", step.key, "--reason", clip(reason, 120))
    return (Offer(f"go on without step {step.key}", command(project, *words, agent=agent)),)


def _running(project: Project) -> Step | None:
    """The step that must end before another begins, where they do not run in parallel."""
    if project.policy.parallel:
        return None
    return next((s for s in project.steps.values() if s.status == "in_progress"), None)


def _after(running: Step) -> str:
    return f"Before that, finish {titled(running)}: steps do not run in parallel here."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# -- what must be seen first -----------------------------------------------------------------


def cautions(project: Project, step: Step | None, agent: str, *, direct: bool) -> list[Caution]:
    """What speaks against going on at the step without a second look."""
    if step is None or project.archived is not None:
        return []
    stuck = _stuck(project, step)
    hand_over = Offer("hand to the orchestrator", command(project, "resume"))
    found = stuck + _unfinished(project, step, (hand_over,) if direct else ())
    if is_done(step):
        return found
    owner = step_agent(project, step)
    if agent and owner and agent != owner:
        text = f"{_capital(titled(step))} belongs to {owner}, not to {agent}."
        found.append(Caution(text, (hand_over,)))
    if step.agent_when and not owner:
        found.append(_undecided(project, step, agent))
    if step.sub_step and step.checkpoints and step.sub_step not in step.checkpoints:
        known = ", ".join(step.checkpoints)
        found.append(
            Caution(f"{step.sub_step} is not among the checkpoints of step {step.key} ({known}).")
        )
    return found


def _stuck(project: Project, step: Step) -> list[Caution]:
    """That the step is paused by blockers, with what is free; at last, that everything is."""
    paused = paused_steps(project)
    if is_escalated(project):
        shows = Offer("see what is in the way", command(project, "resume", "--only", "blockers"))
        text = "Every phase that remains is blocked: a person has to decide how to go on."
        return [Caution(text, (shows,))]
    if step not in paused:
        return []
    free = next((s for s in project.steps.values() if not is_done(s) and s not in paused), None)
    offers = (Offer(f"go on with step {free.key}", _resume(project, free)),) if free else ()
    return [Caution(f"{_capital(titled(step))} is paused by a blocker.", offers)]


def _unfinished(project: Project, step: Step, hand_over: tuple[Offer, ...]) -> list[Caution]:
    """Steps before this one that are not done, and steps after it that were begun."""
    found = []
    for other in project.steps.values():
        if is_done(other) or other.key == step.key:
            continue
        begun = other.status in ("in_progress", "failed") and not is_done(step)
        if begun or step_order(other.key) < step_order(step.key):
            text = f"{_capital(titled(other))} is {other.status.replace('_', ' ')}."
            go_on = Offer(f"go on with step {other.key}", _resume(project, other))
            found.append(Caution(text, (go_on, *hand_over)))
    return found


def _undecided(project: Project, step: Step, agent: str) -> Caution:
    """Nobody's step yet: the decision that says whose it is, with the values it may have."""
    key = step.agent_when[0].decision
    held = keyed(project).get(key)
    offers = tuple(
        Offer(
            f"decide for {when.value}: {when.agent}",
            command(project, "decide", "--key", key, "--value", when.value, agent=agent),
        )
        for when in step.agent_when
        if when.decision == key
    )
    so = f"it is {as_text(held.value)}, which names none" if held else "it is not decided yet"
    return Caution(f"Whose {titled(step)} is depends on {key}: {so}.", offers)
