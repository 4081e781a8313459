"""Deciding: the one way from a proposal to events."""

from journal import events as e
from journal.entities import Project
from journal.errors import NotFound, Rejected
from journal.ondemand import OnDemand
from journal.rules.names import command, with_workspace_paths
from journal.rules.rule import By, Rule

_WHEN_OVER = (e.ProjectOpened, e.ProjectReopened, e.ProjectArchived, e.ProjectAborted)

_RULES: OnDemand[Rule] = OnDemand("journal.rules", "RULES")


def decide(project: Project, proposal: e.Event, by: By) -> list[e.Event]:
    """The events that the proposal amounts to in this state; none if it is already so."""
    if not project.version and not isinstance(proposal, e.ProjectOpened):
        raise NotFound("project", project.slug, ())
    over = project.archived is not None or project.aborted is not None
    if over and not (proposal.bookkeeping or isinstance(proposal, _WHEN_OVER)):
        how = "aborted" if project.archived is None else "archived"
        offers = [command("reopen", "-p", project.slug)]
        if project.archived is None:
            offers.append(command("archive", "-p", project.slug))
        raise Rejected(f"record {proposal.type}", f"{project.slug} is {how}", offers)
    if by.lease is not None:
        from journal.rules.coordination import check_lease

        check_lease(project, proposal, by)
    proposal = with_workspace_paths(proposal)
    return _RULES[type(proposal)](project, proposal, by)


def cautions(project: Project, event: e.Event) -> list[str]:
    """What is worth a word to whoever did it, though it is allowed; the state is as it is now."""
    if isinstance(event, e.StepCheckpointed):
        step = project.steps.get(event.step)
        if step and step.checkpoints and event.checkpoint not in step.checkpoints:
            known = ", ".join(step.checkpoints)
            return [
                f"{event.checkpoint!r} is not among the checkpoints of step {step.key} ({known}); "
                "recorded as given"
            ]
    if isinstance(event, e.StepCompleted):
        step = project.steps.get(event.step)
        if step and step.to_reconcile:
            words = command("step", "reconcile", step.key, "--note", "NOTE", "-p", project.slug)
            return [
                f"step {step.key} is complete and nobody has said what it changed or leaves for "
                f"others, so it is to be reconciled: `passdown {words}`, or name its files instead"
            ]
    return []


def ruled() -> frozenset[type[e.Event]]:
    """The event classes that have a rule; a test holds this against the vocabulary."""
    return _RULES.whole()
