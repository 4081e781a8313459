"""Every transition in every state of a phase and of an orchestration: allowed, or refused, and why.

The tables are the specification. A row is a state, a column is what is asked in it, and a cell
says what comes of that:

    a word    it is recorded, and the status is that word now
    =         it is recorded, and the status stays as it was
    .         it is so already, and nothing is recorded
    a sign    it is refused, for the reason that REASONS has for the sign
"""

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import good
from strategies import START, Chain

from journal import Journal
from journal import events as e
from journal.errors import Invalid, Rejected
from journal.rules import By, decide
from journal.workflows import ORCHESTRATED

REASONS = {
    "<p>": "it is pending",
    "<i>": "it is in_progress",
    "<f>": "it is failed",
    "<c>": "it is complete",
    "<s>": "it is skipped",
    "<wait>": "it waits on step 1, which is pending",
    "<2>": "it failed after 2 of 2 retries; a person must decide",
    "<once>": "it is complete and steps are not run again here",
    "<left>": "it is skipped and steps are not run again here",
    "<who>": "only a person ",
    "<what>": "what did step 2 change?",
    "<arch>": "is archived",
    "<abort>": "is aborted",
    "<vague>": "nobody has said what step 2 changed",
}

# -- phases ----------------------------------------------------------------------------------

#: What an agent that is no person may do, here the one that did whatever happened before.
BY_AGENT = """
            start        checkpoint complete  fail    retry        approved     rerun
pending     in_progress  <p>        <p>       <p>     <p>          <p>          <p>
waiting     <wait>       <p>        <p>       <p>     <p>          <p>          <p>
in_progress .            =          complete  failed  <i>          <i>          <i>
failed      <f>          <f>        <f>       <f>     in_progress  in_progress  <f>
twice       <f>          <f>        <f>       <f>     <2>          in_progress  <f>
complete    <c>          <c>        <c>       <c>     <c>          <c>          <once>
reconcile   <c>          <c>        <c>       <c>     <c>          <c>          <once>
skipped     <s>          <s>        <s>       <s>     <s>          <s>          <left>

            skip         adjust     reconcile told    verify       output       waits
pending     <who>        =          <p>       <p>     <p>          =            =
waiting     <who>        =          <p>       <p>     <p>          =            .
in_progress <who>        =          <i>       <i>     =            =            =
failed      <who>        =          <f>       <f>     =            =            =
twice       <who>        =          <f>       <f>     =            =            =
complete    <c>          <c>        .         =       =            =            <c>
reconcile   <c>          <c>        <what>    =       =            =            <c>
skipped     .            <s>        <s>       <s>     <s>          =            <s>
"""
#: What a person may do, where that is something else.
BY_PERSON = """
            start        retry        rerun        skip
pending     in_progress  <p>          <p>          skipped
waiting     <wait>       <p>          <p>          skipped
in_progress <i>          <i>          <i>          <i>
failed      <f>          in_progress  <f>          skipped
twice       <f>          in_progress  <f>          skipped
complete    <c>          <c>          in_progress  <c>
reconcile   <c>          <c>          in_progress  <c>
skipped     <s>          <s>          in_progress  .
"""

LEFT = e.Downstream(warnings=("slow on Mondays",))
FAILED = (e.StepStarted("2"), e.StepFailed("2", "no"))
AGAIN = (e.StepRestarted("2", "retry"), e.StepFailed("2", "no"))
#: How a phase comes to be in a state.
PHASES: dict[str, tuple[e.Event, ...]] = {
    "pending": (),
    "waiting": (e.StepAdjusted("2", blocked_by=("1",)),),
    "in_progress": (e.StepStarted("2"),),
    "failed": FAILED,
    "twice": (*FAILED, *AGAIN, *AGAIN),
    "complete": (e.StepStarted("2"), e.StepCompleted("2", downstream=LEFT)),
    "reconcile": (e.StepStarted("2"), e.StepCompleted("2")),
    "skipped": (e.StepSkipped("2"),),
}
#: What is asked of it.
ASKED: dict[str, e.Event] = {
    "start": e.StepStarted("2"),
    "checkpoint": e.StepCheckpointed("2", "halfway"),
    "complete": e.StepCompleted("2"),
    "fail": e.StepFailed("2", "no"),
    "retry": e.StepRestarted("2", "retry"),
    "approved": e.StepRestarted("2", "retry", approved_by="ada"),
    "rerun": e.StepRestarted("2", "rerun"),
    "skip": e.StepSkipped("2"),
    "adjust": e.StepAdjusted("2", agent="senior"),
    "waits": e.StepAdjusted("2", blocked_by=("1",)),
    "reconcile": e.StepReconciled("2"),
    "told": e.StepReconciled("2", "nothing"),
    "verify": e.StepVerified("2", passed=True),
    "output": e.StepOutputRecorded("2", "done"),
}

# -- orchestrations --------------------------------------------------------------------------

BY_AGENT_ON_THE_WHOLE = """
            abort    archive   reopen  anything
open        <who>    <who>     .       =
done        <who>    archived  .       =
vague       <who>    <vague>   .       =
aborted     .        archived  open    <abort>
archived    <arch>   .         open    <arch>
both        .        .         open    <arch>
"""
BY_PERSON_ON_THE_WHOLE = """
            abort    archive   reopen  anything  reason
open        aborted  archived  .       =         archived
done        aborted  archived  .       =         archived
vague       aborted  <vague>   .       =         archived
aborted     .        archived  open    <abort>   archived
archived    <arch>   .         open    <arch>    .
both        .        .         open    <arch>    .
"""
DONE = tuple(
    event for key in "123" for event in (e.StepStarted(key), e.StepCompleted(key, downstream=LEFT))
)
WHOLES: dict[str, tuple[e.Event, ...]] = {
    "open": (),
    "done": DONE,
    "vague": (*DONE[:2], *PHASES["reconcile"], *DONE[4:]),
    "aborted": (*PHASES["reconcile"], e.ProjectAborted("no money")),
    "archived": (*DONE, e.ProjectArchived()),
    "both": (e.ProjectAborted(), e.ProjectArchived()),
}
ASKED_OF_THE_WHOLE: dict[str, e.Event] = {
    "abort": e.ProjectAborted("no money"),
    "archive": e.ProjectArchived(),
    "reopen": e.ProjectReopened(),
    "anything": e.ErrorRecorded("no"),
    "reason": e.ProjectArchived("the files are known"),
}

# -- what the tables are held against --------------------------------------------------------

AGENT, PERSON = "worker", "ada"
OPENING = e.ProjectOpened(
    "Rate limiter",
    "maestro",
    (e.StepPlan("1", "Design"), e.StepPlan("2", "Build"), e.StepPlan("3", "Test")),
    ORCHESTRATED,
    execution=e.Execution(),
)
NEEDS_PERSON = (e.StepSkipped, e.ProjectAborted)


def story(*events: e.Event) -> Chain:
    """An orchestration to which these things happened, each allowed when it did."""
    chain = Chain("topic").add(OPENING).add(e.ActorRegistered(PERSON, "person"))
    for event in events:
        who = PERSON if isinstance(event, NEEDS_PERSON) else AGENT
        for made in decide(chain.project, event, By(who, now=START)):
            chain.add(made, who)
    return chain


def cells(table: str) -> Iterator[tuple[str, str, str]]:
    """Each cell of a table with its row and its column."""
    for block in table.strip().split("\n\n"):
        head, *rows = (line.split() for line in block.splitlines())
        for row in rows:
            assert len(row) == len(head) + 1, row
            for asked, outcome in zip(head, row[1:], strict=True):
                yield row[0], asked, outcome


def whole(agent: str, person: str) -> dict[tuple[str, str, str], str]:
    """Both tables as one: state, what is asked, who asks, and what comes of it."""
    table = {(state, asked, AGENT): outcome for state, asked, outcome in cells(agent)}
    others = {(state, asked, PERSON): outcome for state, asked, outcome in cells(person)}
    same = {(state, asked, PERSON): outcome for (state, asked, _), outcome in table.items()}
    return table | same | others


OF_PHASES = whole(BY_AGENT, BY_PERSON)
OF_WHOLES = whole(BY_AGENT_ON_THE_WHOLE, BY_PERSON_ON_THE_WHOLE)


def outcome(chain: Chain, event: e.Event, who: str) -> str:
    """What comes of a request: the statuses before and after, or the words of the refusal."""
    before = chain.project
    try:
        made = decide(before, event, By(who, now=START))
    except (Rejected, Invalid) as no:
        return str(no)
    if not made:
        return "."
    for each in made:
        chain.add(each, who)
    return "="


def check(expected: str, said: str, was: str, now: str) -> None:
    """Hold what came of a request against its cell."""
    if expected in REASONS:
        assert REASONS[expected] in said
    elif expected in ("=", "."):
        assert (said, now) == (expected, was)
    else:
        assert said == "=", said
        assert (now, expected) == (expected, now)
        assert was != now


def test_the_tables_are_whole() -> None:
    """Every transition stands in the table for every state, for an agent and for a person."""
    assert OF_PHASES.keys() == {
        (state, asked, who) for state in PHASES for asked in ASKED for who in (AGENT, PERSON)
    }
    assert {key for key in OF_WHOLES if key[1] != "reason"} == {
        (state, asked, who)
        for state in WHOLES
        for asked in ASKED_OF_THE_WHOLE
        for who in (AGENT, PERSON)
        if asked != "reason"
    }


@pytest.mark.parametrize(("state", "asked", "who"), OF_PHASES)
def test_a_phase(state: str, asked: str, who: str) -> None:
    """Each transition of a phase comes to what the table says, and to nothing else."""
    chain = story(*PHASES[state])
    was = chain.project.steps["2"].status
    said = outcome(chain, ASKED[asked], who)
    check(OF_PHASES[state, asked, who], said, was, chain.project.steps["2"].status)


def status(chain: Chain) -> str:
    """How an orchestration stands on the whole."""
    project = chain.project
    if project.archived is not None:
        return "archived"
    return "open" if project.aborted is None else "aborted"


@pytest.mark.parametrize(("state", "asked", "who"), OF_WHOLES)
def test_an_orchestration(state: str, asked: str, who: str) -> None:
    """Aborting, archiving, reopening and writing come to what the table says in every state."""
    chain = story(*WHOLES[state])
    was = status(chain)
    said = outcome(chain, ASKED_OF_THE_WHOLE[asked], who)
    check(OF_WHOLES[state, asked, who], said, was, status(chain))


# -- what refusals offer ---------------------------------------------------------------------


def refusal(chain: Chain, event: e.Event, who: str) -> Rejected | None:
    """Why a request is refused, if a rule says no."""
    try:
        decide(chain.project, event, By(who, now=START))
    except Rejected as no:
        return no
    except Invalid:
        pass
    return None


def offers(
    states: dict[str, tuple[e.Event, ...]], requests: dict[str, e.Event]
) -> Iterator[tuple[str, str, str]]:
    """What refusals offer in each state and to whom, each once."""
    for state, events in states.items():
        chain = story(*events)
        for who in (AGENT, PERSON):
            refusals = (refusal(chain, event, who) for event in requests.values())
            found = dict.fromkeys(offer for no in refusals if no for offer in no.allowed)
            yield from ((state, who, offer) for offer in found)


def test_every_refusal_offers_something() -> None:
    """Whoever is refused is told what would be allowed."""
    for states, requests in ((PHASES, ASKED), (WHOLES, ASKED_OF_THE_WHOLE)):
        for events in states.values():
            for event in requests.values():
                no = refusal(story(*events), event, AGENT)
                assert no is None or no.allowed, no


OFFERS = [*offers(PHASES, ASKED), *offers(WHOLES, ASKED_OF_THE_WHOLE)]


@pytest.mark.parametrize(("state", "who", "offer"), OFFERS)
def test_what_a_refusal_offers(tmp_path: Path, state: str, who: str, offer: str) -> None:
    """Each command that a refusal offers works as it stands, for whom it names, else the asker."""
    with Journal.create(tmp_path) as journal:
        handle = journal.handle("topic")
        handle.append(OPENING)
        handle.append(e.ActorRegistered(PERSON, "person"))
        for event in {**PHASES, **WHOLES}[state]:
            handle.append(event, actor=PERSON if isinstance(event, NEEDS_PERSON) else AGENT)
        before = handle.version
    words = shlex.split(offer.replace("PERSON", PERSON))
    reads = words[0] == "resume"
    said = good(tmp_path, *words, *([] if reads or "--actor" in words else ["--actor", who]))
    assert said.out
    if not reads:
        with Journal.open(tmp_path) as journal:
            assert journal.project("topic").version > before, said
