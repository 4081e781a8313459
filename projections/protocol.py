"""The resume protocol: what is to be done at a step, and the command that does or records it.

| the step is | the answer |
|---|---|
| pending | start it |
| in progress, with a checkpoint | continue after it, without reading again what was read for it |
| in progress, without one | do it again from its beginning |
| complete | nothing; it can be run again |
| skipped | go on with the next |
| failed | retry it, or skip it with the reason |

What is different in an orchestration is in `projections.orchestration`.
"""

import shlex
from typing import Literal, TypeAlias

from msgspec import Struct

from journal.clock import iso
from journal.entities import (
    Plan,
    Project,
    Step,
    Task,
    is_over,
    is_person,
    step_order,
    waits_on,
)
from journal.rules.names import tries
from projections.markdown import clip
from projections.position import ahead, failure, is_done, plan_ahead, task_ahead

Verdict: TypeAlias = Literal[
    "fresh_start",
    "start",
    "continue",
    "restart",
    "complete",
    "skipped",
    "failed",
    "waiting",
    "finished",
    "aborted",
    "migrate",
    "unreadable",
    "refused",
]


#: Whoever gives a command that only a person may give, or approves it, in their own name.
PERSON = "PERSON"


class Offer(Struct, frozen=True):
    """Something else that could be done, and the command for it."""

    what: str
    command: str


class Caution(Struct, frozen=True):
    """Something that whoever goes on must see first, and what can be done about it."""

    text: str
    offers: tuple[Offer, ...] = ()


#: So many steps are named in one sentence.
_NAMED = 5


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
    if is_over(project):
        return _over(project, agent)
    if step is None and project.coordination is not None and not project.steps:
        return together(project, agent)
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


def together(project: Project, agent: str = "") -> Advice:
    """How a workspace stands that agents share and that has no steps: it has no end of its own."""
    at = "No phase was named yet."
    if project.phase:
        step = f", step {project.phase_step}" if project.phase_step else ""
        at = f"The workspace is in phase {project.phase}{step}."
    waiting = [
        message
        for message in project.messages.values()
        if message.status == "unread" and agent in ("", message.to)
    ]
    if not waiting:
        return Advice("continue", at, command(project, "show"))
    said = "1 message is" if len(waiting) == 1 else f"{len(waiting)} messages are"
    to = ("--agent", agent) if _typeable(agent) else ()
    return Advice(
        "continue", f"{at} {said} unread.", command(project, "mail", "list", "--unread", *to)
    )


def _over(project: Project, agent: str) -> Advice:
    """A project that is closed or was given up: nothing but its end can be recorded in it."""
    how = "was aborted" if project.archived is None else "is archived"
    said = f"The project {how}: nothing is recorded in it until it is reopened."
    offers = [Offer("reopen it", command(project, "reopen", agent=agent))]
    if project.archived is not None:
        return Advice("finished", said, _handoff(project), tuple(offers))
    offers.append(Offer("archive it", archiving(project, agent)))
    return Advice("aborted", said, _handoff(project), tuple(offers))


def archiving(project: Project, agent: str) -> str:
    """The command that archives a project of which nothing is left to do."""
    vague = any(step.to_reconcile for step in project.steps.values())
    if not vague or is_over(project):
        return command(project, "archive", agent=agent)
    # Only a person may leave it open what was changed, and has to say why.
    who = agent if is_person(project, agent) else PERSON
    return command(project, "archive", "--reason", "REASON", agent=who)


def unit(project: Project) -> str:
    """What a step is called: an orchestration has phases."""
    return "step" if project.execution is None else "phase"


def titled(project: Project, step: Step) -> str:
    """The step as a sentence names it."""
    return f"{unit(project)} {step.key} {step.name}"


def _handoff(project: Project) -> str:
    """The command that shows how things stand."""
    form = ("--as", "handoff") if project.execution is None else ()
    return command(project, "show", *form)


def resumed(project: Project, step: Step) -> str:
    """The command that says how to go on at a step."""
    return command(project, "resume", "--step", step.key)


def _start(project: Project, step: Step, agent: str) -> Advice:
    skip = _skip(project, step, agent, "not needed") if step.optional else ()
    if before := waits_on(project, step):
        return _wait(project, step, before, skip)
    said = f"Start {titled(project, step)}." + (" It is optional." if step.optional else "")
    if hindered := hindrance(project, step):
        first, because = hindered
        return Advice("start", f"{said} {because}", resumed(project, first), skip)
    return Advice("start", said, command(project, "step", "start", step.key, agent=agent), skip)


def _wait(project: Project, step: Step, before: list[Step], skip: tuple[Offer, ...] = ()) -> Advice:
    """A step that others come before: go on with the first of them that can go on itself."""
    these = [f"{titled(project, each)}, which is {status(each)}" for each in before[:_NAMED]]
    these += [f"{len(before) - _NAMED} more"] if len(before) > _NAMED else []
    said = f"{capital(titled(project, step))} waits on {'; on '.join(these)}."
    first = _first(project, before)
    others = tuple(
        Offer(f"go on with {unit(project)} {each.key}", resumed(project, each))
        for each in before
        if each != first
    )
    return Advice("waiting", said, resumed(project, first), (*others, *skip))


def status(step: Step) -> str:
    """How a step stands, as a sentence says it."""
    return step.status.replace("_", " ")


def _go_on(project: Project, step: Step, agent: str) -> Advice:
    """Steps that are in progress go on by recording what is reached next."""
    following = _next_checkpoint(step)
    if following:
        record = command(project, "step", "checkpoint", step.key, following, agent=agent)
        then = f"Record when {following} is reached."
    else:
        record = command(project, "step", "complete", step.key, agent=agent)
        then = "Record when it is done."
        if project.policy.manifest:
            then = "Record when it is done, with its files or what it leaves for others."
    if at_task := _at_task(project, step, agent):
        return Advice("continue", *at_task)
    if step.sub_step:
        again = " without reading again what was read for it" if step.context_files else ""
        said = f"Continue {titled(project, step)} after checkpoint {step.sub_step}{again}. {then}"
        return Advice("continue", said, record)
    said = f"Restart {titled(project, step)}: it was begun and reached no checkpoint. {then}"
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
    onward = resumed(project, following) if following else _handoff(project)
    said = f"go on with {titled(project, following)}" if following else "nothing is left to do"
    again: tuple[Offer, ...] = ()
    # A project where a person must allow it is offered nothing: the approval is not ours to write.
    if project.policy.rerun and hindrance(project, step) is None:
        rerun = command(project, "step", "rerun", step.key, agent=agent)
        again = (Offer(f"run step {step.key} again", rerun),)
    if step.status == "skipped":
        why = f" ({step.reason})" if step.reason else ""
        return Advice(
            "skipped", f"{capital(titled(project, step))} was skipped{why}: {said}.", onward, again
        )
    since = "" if step.completed is None else f" since {iso(step.completed)}"
    return Advice(
        "complete", f"{capital(titled(project, step))} is complete{since}: {said}.", onward, again
    )


def _following(project: Project, step: Step) -> Step | None:
    if project.execution is not None:
        return ahead(project)
    later = (s for s in project.steps.values() if step_order(s.key) > step_order(step.key))
    return next((s for s in later if not is_done(s)), None) or ahead(project)


def _mend(project: Project, step: Step, agent: str) -> Advice:
    why = failure(project, step).rstrip(" .")
    said = f"{capital(titled(project, step))} failed: {why}."
    if step.sub_step:
        said += f" It had reached checkpoint {step.sub_step}."
    skip = _skip(project, step, agent, f"it failed: {why}")
    limit = project.policy.retries
    if limit is not None and step.retries >= limit:
        said += f" It was tried again {tries(project, step)} times: a person must decide."
        return Advice("failed", said, "", skip)
    if hindered := hindrance(project, step):
        first, because = hindered
        return Advice("failed", f"{said} {because}", resumed(project, first), skip)
    said += " Retry it, or skip it with the reason." if skip else " Retry it."
    return Advice("failed", said, command(project, "step", "retry", step.key, agent=agent), skip)


def _skip(project: Project, step: Step, agent: str, reason: str) -> tuple[Offer, ...]:
    """The offer to go on without the step, where that needs no person's word."""
    if project.policy.skip == "person":
        return ()
    words = ("step", "skip", step.key, "--reason", clip(reason, 120))
    return (Offer(f"go on without step {step.key}", command(project, *words, agent=agent)),)


def hindrance(project: Project, step: Step) -> tuple[Step, str] | None:
    """The step that must end before this one begins, and a sentence that says why."""
    if before := waits_on(project, step):
        first = _first(project, before)
        why = f"{unit(project)} {step.key} waits on {'it' if len(before) == 1 else 'that first'}"
        return first, f"Before that, finish {titled(project, first)}: {why}."
    if project.policy.parallel:
        return None
    for other in project.steps.values():
        if other.status == "in_progress" and not (other.parallel and step.parallel):
            why = f"{unit(project)}s do not run in parallel here"
            return other, f"Before that, finish {titled(project, other)}: {why}."
    return None


def _first(project: Project, before: list[Step]) -> Step:
    """Of the steps that another waits on, the one to go on with: it waits on none itself."""
    return next((each for each in before if not waits_on(project, each)), before[0])


def capital(text: str) -> str:
    """The text as the beginning of a sentence."""
    return text[:1].upper() + text[1:]
