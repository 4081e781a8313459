"""What must be seen before work goes on at a step, and what can be done about it."""

from journal.blocking import is_escalated, paused_steps
from journal.entities import Project, Step, is_over, step_agent, step_order
from projections.position import is_done, keyed
from projections.protocol import Caution, Offer, capital, command, resumed, status, titled
from projections.values import as_text


def cautions(project: Project, step: Step | None, agent: str, *, direct: bool) -> list[Caution]:
    """What speaks against going on at the step without a second look."""
    if step is None or is_over(project):
        return []
    hand_over = Offer("hand to the orchestrator", command(project, "resume"))
    found = _stuck(project, step)
    # Where phases name those that they wait on, the rest need not be done in their order.
    if direct or project.execution is None:
        found += _unfinished(project, step, (hand_over,) if direct else ())
    if is_done(step):
        return found
    owner = step_agent(project, step)
    if agent and owner and agent not in (owner, *step.team):
        text = f"{capital(titled(project, step))} belongs to {owner}, not to {agent}."
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
    offers = (Offer(f"go on with step {free.key}", resumed(project, free)),) if free else ()
    return [Caution(f"{capital(titled(project, step))} is paused by a blocker.", offers)]


def _unfinished(project: Project, step: Step, hand_over: tuple[Offer, ...]) -> list[Caution]:
    """Steps before this one that are not done, and steps after it that were begun."""
    found = []
    for other in project.steps.values():
        if is_done(other) or other.key == step.key:
            continue
        begun = other.status in ("in_progress", "failed") and not is_done(step)
        if begun or step_order(other.key) < step_order(step.key):
            text = f"{capital(titled(project, other))} is {status(other)}."
            go_on = Offer(f"go on with step {other.key}", resumed(project, other))
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
    return Caution(f"Whose {titled(project, step)} is depends on {key}: {so}.", offers)
