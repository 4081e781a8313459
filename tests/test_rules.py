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
    no = refusal(chain, e.StepRestarted("1", "retry", "", "bob"))
    assert "not known as a person" in no.state
    assert no.allowed == ("step retry 1 --approved-by PERSON", "step skip 1 --actor PERSON")
    assert "is pending" in refusal(chain, e.StepRestarted("2", "retry", "", "bob")).state
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
    no = refusal(chain, e.StepPlanned(e.StepPlan("4", "Rest", checkpoints=("b",))))
    assert ("choose another key" in no.state, no.allowed) == (True, ())


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


def test_a_task_is_offered_what_its_asker_may_do() -> None:
    """Dependencies, the holder and what is beneath a blocker decide what a refusal offers."""
    chain = opened(e.TaskAdded("one", "my task"), e.TaskAdded("two", depends_on=("my task",)))
    block = "task block T001 --reason REASON"
    assert refusal(chain, e.TaskStarted("T002")).allowed == (block.replace("1", "2"),)
    quoted = ("task claim 'my task'", "task start 'my task'")
    assert refusal(chain, e.TaskCompleted("my task")).allowed[:2] == quoted
    chain = opened(e.TaskAdded("one"), e.TaskClaimed("T001"))
    mine = ("task start T001", "task complete T001", block, "task reset T001")
    assert refusal(chain, e.TaskClaimed("T001", "bob")).allowed == mine
    assert refusal(chain, e.TaskClaimed("T001"), "bob").allowed == mine[1:]
    chain = opened(e.TaskAdded("one"), e.TaskBlocked("T001", reason="no key"))
    assert refusal(chain, e.TaskCompleted("T001")).allowed == ("task unblock T001", block)


def test_every_session_keeps_its_names() -> None:
    """A new id is none that a session goes by, and no name or host is the id of another."""
    chain = opened(e.SessionStarted(name="session-002"), e.SessionStarted(name="day"))
    assert list(chain.project.sessions) == ["session-001", "session-003"]
    refusal(chain, e.SessionStarted(session="session-002"))
    refusal(chain, e.SessionStarted(name="new", host="session-001"))
    no = refusal(chain, e.SessionStarted(name="session-003"), "bob")
    assert ("another name" in no.state, no.allowed) == (True, ("session end session-003",))


def test_tokens_are_summed_within_64_bits() -> None:
    """Tokens of whatever agents and kinds come to a sum that can be stored."""
    chain = opened(*[e.TokensUsed(2**53, agent=str(n % 2)) for n in range(1023)])
    assert "can be summed" in refusal(chain, e.TokensUsed(output=2**52, cached=2**52)).state
    assert asked(chain, e.TokensUsed(2**53 - 1)) == ["tokens.used"]


def test_one_file_has_one_name() -> None:
    """However a path is spelt, it is the same file."""
    chain = opened(e.StepStarted("1"), e.FilesChanged("./src//a.py"))
    assert list(chain.project.files) == ["src/a.py"]
    assert asked(chain, e.FilesChanged("src/./a.py")) == []
    [made] = decide(chain.project, e.StepCheckpointed("1", "x", ("./a", "b/")), By("ada"))
    assert getattr(made, "artifacts", ()) == ("a", "b")


def test_a_short_name_means_one_thing() -> None:
    """Whatever a short form can mean counts, and two names of one thing are one."""
    plans = opened(e.PlanAdded("1", "a"), e.PlanAdded("1", "b"), e.PlanAdded("2", "c"))
    with pytest.raises(PassdownError, match="could be 1-2, 2-1"):
        decide(plans.project, e.PlanStarted("2"), By())
    night = opened(e.SessionStarted(name="night-a", host="night-b"))
    assert asked(night, e.SessionEnded("night")) == ["session.ended"]
    dated = opened(e.SessionStarted(session="2026-11-18"))
    assert asked(dated, e.SessionEnded("2026")) == ["session.ended"]
    many = opened(*[e.FindingOpened(str(n)) for n in range(100)])
    assert asked(many, e.FindingResolved("f1")) == ["finding.resolved"]


def test_an_archived_project_takes_nothing_but_reopening() -> None:
    """After archiving only bookkeeping and reopening are recorded."""
    chain = opened(e.ProjectArchived())
    with pytest.raises(PassdownError, match="archived"):
        decide(chain.project, e.FindingOpened("late"), By("ada"))
    assert asked(chain, e.ProjectRecovered("files")) == ["project.recovered"]
    assert asked(chain, e.ProjectReopened()) == ["project.reopened"]
