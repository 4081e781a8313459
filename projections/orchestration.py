"""The resume protocol of an orchestration: which phases can go on, and what a person may decide.

| the phase | the answer |
|---|---|
| failed | why, and the options: retry it, adjust and retry it, skip it, abort the project |
| is in progress | as any step; the others at work are named, and what may start beside it |
| is pending | start it, together with whatever may start beside it |
| is pending, and waits | what it waits on |
| was the last | archive the project, once it is known what every phase changed |
"""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from journal.blocking import paused_steps
from journal.entities import Error, Project, Step, is_over, is_person
from journal.rules.names import tries
from projections import cautions as of_any
from projections import protocol
from projections.markdown import clip
from projections.position import ahead
from projections.protocol import (
    PERSON,
    Advice,
    Caution,
    Offer,
    archiving,
    capital,
    command,
    hindrance,
    resumed,
    titled,
)

#: So many phases are named in one sentence.
_NAMED = 5


def advise(project: Project, step: Step | None, agent: str = "") -> Advice:
    """What to do at a phase, or at the end where there is none left."""
    if is_over(project):
        return protocol.advise(project, step, agent)
    if step is None:
        return _finished(project, agent)
    advice = protocol.advise(project, step, agent)
    match step.status:
        case "pending":
            advice = _begin(project, step, advice, agent)
        case "in_progress":
            advice = _go_on(project, step, advice, agent)
        case "failed":
            advice = _mend(project, step, agent)
        case "complete" | "skipped":
            onward = advice.command if ahead(project) else _finished(project, agent).command
            return replace(advice, command=onward)
    last = next(reversed(_of(project, "complete")), None)
    behind = f"Last completed: {titled(project, last)}. " if last else ""
    return replace(advice, say=f"{behind}{advice.say}")


# -- the phases that can go on ---------------------------------------------------------------


def together(project: Project, step: Step) -> list[Step]:
    """The phases that may start now beside one another, this one first; none if it may not."""
    if not _is_free(project, step):
        return []
    if not (step.parallel or project.policy.parallel):
        return [step]
    paused = paused_steps(project)
    others = [
        each
        for each in project.steps.values()
        if each.key != step.key
        and (each.parallel or project.policy.parallel)
        and each not in paused
        and _is_free(project, each)
    ]
    return [step, *others]


def startable(project: Project) -> list[Step]:
    """The phases that may start now, all at once: those beside the first that may."""
    paused = paused_steps(project)
    for step in project.steps.values():
        if step not in paused and (found := together(project, step)):
            return found
    return []


def _is_free(project: Project, step: Step) -> bool:
    """Whether a phase may start now."""
    return step.status == "pending" and hindrance(project, step) is None


def _start(project: Project, steps: Sequence[Step], agent: str) -> str:
    """The command that starts one phase, or several of them as one batch."""
    batch = ("--batch", f"batch-{steps[0].key}") if len(steps) > 1 else ()
    return command(project, "step", "start", *(step.key for step in steps), *batch, agent=agent)


def _begin(project: Project, step: Step, advice: Advice, agent: str) -> Advice:
    steps = together(project, step)
    if len(steps) < 2:
        return advice
    said = f"Start {_named(project, steps)} together: they may run beside one another."
    alone = Offer(f"start phase {step.key} alone", _start(project, [step], agent))
    return Advice("start", said, _start(project, steps, agent), (alone, *advice.offers))


def _go_on(project: Project, step: Step, advice: Advice, agent: str) -> Advice:
    others = [each for each in _of(project, "in_progress") if each.key != step.key]
    said = f" In progress beside it: {_named(project, others)}." if others else ""
    offers = [Offer(f"go on with phase {each.key}", resumed(project, each)) for each in others]
    return replace(
        advice,
        say=f"{advice.say}{said}",
        offers=(*offers, *_start_beside(project, agent), *advice.offers),
    )


def _start_beside(project: Project, agent: str) -> Iterator[Offer]:
    """What may start while something else is at work, or is to be decided."""
    if steps := startable(project):
        yield Offer(f"start {_named(project, steps)} meanwhile", _start(project, steps, agent))


def _of(project: Project, status: str) -> list[Step]:
    return [step for step in project.steps.values() if step.status == status]


def _named(project: Project, steps: Sequence[Step]) -> str:
    names = [f"{step.key} {step.name}" for step in steps[:_NAMED]]
    names += [f"{len(steps) - _NAMED} more"] if len(steps) > _NAMED else []
    listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return f"phase {listed}" if len(steps) == 1 else f"phases {listed}"


# -- what somebody has to decide -------------------------------------------------------------


def why(project: Project, step: Step) -> str:
    """Why a phase failed; empty where nobody has said it."""
    error = project.errors.get(step.error) or next(unresolved(project, step), None)
    return (error.message if error else step.reason).rstrip(" .")


def unresolved(project: Project, step: Step) -> Iterator[Error]:
    """The errors of a phase that nobody has resolved, the newest first."""
    found = (error for error in reversed(project.errors.values()) if error.step == step.key)
    return (error for error in found if error.resolved is None)


def _mend(project: Project, step: Step, agent: str) -> Advice:
    """A failed phase, with all that may be done about it, and about the others that failed."""
    because = why(project, step)
    said = [f"{capital(titled(project, step))} failed{because and f': {because}'}."]
    if step.sub_step:
        said.append(f"It had reached checkpoint {step.sub_step}.")
    if others := [each for each in _of(project, "failed") if each.key != step.key]:
        said.append(f"So did {_named(project, others)}.")
    if at_work := _of(project, "in_progress"):
        said.append(f"In progress: {_named(project, at_work)}.")
    options = [offer for each in (step, *others) for offer in _options(project, each, agent)]
    offers = [*options, _abort(project, step, agent), *_start_beside(project, agent)]
    name = f"; {PERSON} stands for their name" if any(PERSON in x.command for x in offers) else ""
    said.append(f"Ask whoever is in charge whether to retry it, adjust it, skip it or abort{name}.")
    if _needs_person(project, step, agent):
        said.append(f"It was tried again {tries(project, step)} times: a person must decide.")
    hindered = hindrance(project, step)
    if hindered is not None:
        before, because = hindered
        said.append(f"It cannot be retried yet. {because}")
        return Advice("failed", " ".join(said), resumed(project, before), tuple(offers))
    if _needs_person(project, step, agent):
        return Advice("failed", " ".join(said), "", tuple(offers))
    first, *rest = offers
    return Advice("failed", " ".join(said), first.command, tuple(rest))


def _needs_person(project: Project, step: Step, agent: str) -> bool:
    """Whether a person must approve that a phase is tried once more."""
    limit = project.policy.retries
    return limit is not None and step.retries >= limit and not is_person(project, agent)


def _options(project: Project, step: Step, agent: str) -> Iterator[Offer]:
    """What may be done about a failed phase: tried again as it is or otherwise, or left out."""
    because = f"it failed: {clip(why(project, step), 120) or 'nobody said why'}"
    approved = ("--approved-by", PERSON) if _needs_person(project, step, agent) else ()
    if hindrance(project, step) is None:
        retry = ("step", "retry", step.key, *approved)
        yield Offer(f"retry phase {step.key}", command(project, *retry, agent=agent))
        adjust = ("step", "adjust", step.key, "--agent", "AGENT", "--reason", because, *approved)
        what = f"adjust phase {step.key} and retry it (step adjust --help names its parameters)"
        yield Offer(what, command(project, *adjust, agent=agent))
    skip = ("step", "skip", step.key, "--reason", because)
    yield Offer(f"skip phase {step.key}", command(project, *skip, agent=_decider(project, agent)))


def _abort(project: Project, step: Step, agent: str) -> Offer:
    because = clip(why(project, step), 120)
    reason = f"phase {step.key} failed{because and f': {because}'}"
    who = _decider(project, agent)
    return Offer("abort the project", command(project, "abort", "--reason", reason, agent=who))


def _decider(project: Project, agent: str) -> str:
    """In whose name work is left undone: a person's, where only one may."""
    anyone = project.policy.skip != "person" or is_person(project, agent)
    return agent if anyone else PERSON


def _finished(project: Project, agent: str) -> Advice:
    archive = archiving(project, agent)
    if vague := [step for step in project.steps.values() if step.to_reconcile]:
        said = (
            f"Every phase is complete or skipped. Nobody has said what {_named(project, vague)} "
            "changed: do that first, then archive the project."
        )
        offer = Offer("archive it all the same, as a person", archive)
        return Advice("finished", said, _reconcile(project, vague[0], agent), (offer,))
    said = "Every phase is complete or skipped. Nothing is left to do but to archive the project."
    return Advice("finished", said, archive)


def _reconcile(project: Project, step: Step, agent: str) -> str:
    return command(project, "step", "reconcile", step.key, "--note", "NOTE", agent=agent)


# -- what must be seen first -----------------------------------------------------------------


def cautions(project: Project, step: Step | None, agent: str, *, direct: bool) -> list[Caution]:
    """What speaks against going on at the phase without a second look."""
    if is_over(project):
        return []
    found = []
    if step is not None and step.status == "failed" and _is_nobodys(project, step, agent):
        text = "Nobody is known as a person here yet, and one has to decide."
        known = command(project, "actor", "register", PERSON, "--role", "person")
        found.append(Caution(text, (Offer("say who is a person", known),)))
    for each in project.steps.values():
        if each.to_reconcile:
            text = f"{capital(titled(project, each))} is complete, and nobody said what it changed."
            what = "name its files (see step reconcile --help), or say that there are none"
            found.append(Caution(text, (Offer(what, _reconcile(project, each, agent)),)))
    if left := project.beyond.get("files", 0):
        shows = command(project, "resume", "--only", "mismatches")
        text = f"Of its files {left:,} more were not looked at here."
        found.append(Caution(text, (Offer("look at all of them", shows),)))
    return found + of_any.cautions(project, step, agent, direct=direct)


def _is_nobodys(project: Project, step: Step, agent: str) -> bool:
    """Whether a person has to decide about a failed phase, and nobody is known as one."""
    asked = _decider(project, agent) == PERSON or _needs_person(project, step, agent)
    return asked and not any(is_person(project, actor) for actor in project.actors)
