"""What is allowed when: the rules that no other capability has a test for."""

import pytest
from strategies import Chain

from journal import events as e
from journal.errors import PassdownError, Rejected
from journal.rules import By, decide
from journal.workflows import generic

FREE = e.Policy()
STEPS = generic(("Build", "Test", "Ship")).steps


def opened(*events: e.Event, policy: e.Policy = FREE) -> Chain:
    """A project with three steps, to which these things happened."""
    chain = Chain("my-app").add(e.ProjectOpened("My app", "generic", STEPS, policy))
    for event in events:
        for made in decide(chain.project, event, By("ada")):
            chain.add(made, "ada")
    return chain


def asked(chain: Chain, event: e.Event, actor: str = "ada") -> list[str]:
    """The types of the events that a request comes to."""
    return [made.type for made in decide(chain.project, event, By(actor))]


def refusal(chain: Chain, event: e.Event, actor: str = "ada") -> Rejected:
    """The refusal that a request meets."""
    with pytest.raises(Rejected) as caught:
        decide(chain.project, event, By(actor))
    return caught.value


STRICT = e.Policy(rerun=False, retries=1, skip="person", parallel=False)


def test_steps_that_do_not_run_in_parallel() -> None:
    """Neither starting, nor retrying, nor running again makes a second step in progress."""
    chain = opened(
        *(e.StepStarted("1"), e.StepFailed("1", "no"), e.StepStarted("2")), policy=STRICT
    )
    for event in (e.StepStarted("3"), e.StepRestarted("1", "retry")):
        no = refusal(chain, event)
        assert "step 2 is in progress" in no.state
        assert "step complete 2" in no.allowed


def test_a_strict_policy_offers_what_it_allows() -> None:
    """What a refusal offers is what the policy allows, with who must do it."""
    chain = opened(e.StepStarted("1"), e.StepCompleted("1"), policy=STRICT)
    assert refusal(chain, e.StepStarted("1")).allowed == ("step rerun 1 --approved-by PERSON",)
    assert "step skip 2 --actor PERSON" in refusal(chain, e.StepCompleted("2")).allowed
    assert "only a person skips" in refusal(chain, e.StepSkipped("2")).state


def test_a_person_decides_after_the_last_retry() -> None:
    """Beyond the limit of retries a person must approve, and may."""
    tries = (e.StepStarted("1"), e.StepFailed("1", "no"))
    again = (e.StepRestarted("1", "retry"), e.StepFailed("1", "no"))
    chain = opened(*tries, *again, e.ActorRegistered("ann", "person"), policy=STRICT)
    retry = e.StepRestarted("1", "retry")
    assert "a person must decide" in refusal(chain, retry).state
    assert "not known as a person" in refusal(chain, e.StepRestarted("1", "retry", "", "bob")).state
    assert asked(chain, e.StepRestarted("1", "retry", "", "ann")) == ["step.restarted"]
    assert asked(chain, retry, "ann") == ["step.restarted"]
    assert asked(chain, e.StepSkipped("1"), "ann") == ["step.skipped"]


def test_the_same_finding_with_another_weight_is_not_the_same() -> None:
    """The same words are one finding; with another severity somebody must say which it is."""
    chain = opened(e.FindingOpened("leak", "consider"))
    assert asked(chain, e.FindingOpened("leak", "consider")) == []
    assert "F001 says the same and is consider" in refusal(chain, e.FindingOpened("leak")).state


def test_a_gate_is_passed_again_after_a_rerun() -> None:
    """A gate once passed is passed, until its step is run again."""
    gate = e.GatePassed("review", "1")
    chain = opened(e.StepStarted("1"), gate, e.StepCompleted("1"))
    assert asked(chain, gate) == []
    chain.add(e.StepRestarted("1", "rerun"))
    assert asked(chain, gate) == ["project.gate_passed"]


def test_a_step_is_planned_once() -> None:
    """Planning a step again is nothing if it is the same, and refused if it is not."""
    chain = opened(e.StepPlanned(e.StepPlan("4", "Rest", checkpoints=("a",))))
    assert asked(chain, e.StepPlanned(e.StepPlan("4", "Rest", checkpoints=("a",)))) == []
    refusal(chain, e.StepPlanned(e.StepPlan("4", "Rest", checkpoints=("b",))))


def test_plans_are_numbered_around_what_is_taken() -> None:
    """A plan that somebody named like the next number does not stop the next one."""
    chain = opened(e.PlanAdded("1", "mine", plan="1-1"), e.PlanAdded("1", "next"))
    assert list(chain.project.plans) == ["1-1", "1-2"]


def test_a_task_waits_for_what_it_depends_on() -> None:
    """A task starts once every task it depends on is done, and by one agent only."""
    chain = opened(e.TaskAdded("one"), e.TaskAdded("two", depends_on=("T001",)))
    assert "waits on T001" in refusal(chain, e.TaskStarted("T002")).state
    for event in (e.TaskStarted("T001"), e.TaskCompleted("T001"), e.TaskClaimed("T002")):
        for made in decide(chain.project, event, By("ada")):
            chain.add(made, "ada")
    assert asked(chain, e.TaskStarted("T002")) == ["task.started"]
    assert "held by ada" in refusal(chain, e.TaskClaimed("T002"), "bob").state


def test_an_archived_project_takes_nothing_but_reopening() -> None:
    """After archiving only bookkeeping and reopening are recorded."""
    chain = opened(e.ProjectArchived())
    with pytest.raises(PassdownError, match="archived"):
        decide(chain.project, e.FindingOpened("late"), By("ada"))
    assert asked(chain, e.ProjectRecovered("files")) == ["project.recovered"]
    assert asked(chain, e.ProjectReopened()) == ["project.reopened"]
