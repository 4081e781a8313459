"""Coordination by revision: what counts as one, whose a lease is, and what a maintainer may do."""

import multiprocessing
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import MINUTE, Chain, events_of

from journal import Journal, Project
from journal import events as e
from journal.entities import is_stale, leases_on
from journal.errors import Invalid, PassdownError, Rejected
from journal.payload import decode
from journal.rules import By, decide

OPENED = e.ProjectOpened("Tools", "shared", (), coordination=e.Coordination("ada"))
ROUNDS = 1_000


def workspace(*events: e.Event, actor: str = "coder") -> Chain:
    """A workspace of ada, coder and reviewer in which these things happened."""
    chain = Chain("tools").add(OPENED, "ada")
    for name in ("coder", "reviewer"):
        chain.add(e.ActorRegistered(name, "agent"), "ada")
    for event in events:
        chain.add(event, actor)
    return chain


def asked(project: Project, event: e.Event, actor: str, now: int = 0) -> tuple[str, ...]:
    """The types of what somebody's request comes to."""
    return tuple(made.type for made in decide(project, event, By(actor, None, now)))


# -- what counts as a revision ---------------------------------------------------------------

#: Every write of what agents coordinate by; signs of life, mail and the record of work are none.
COORDINATES = """
actor.registered actor.status_changed
session.started session.resumed session.ended session.crashed
task.added task.claimed task.started task.completed task.blocked task.unblocked task.reset
blocker.raised blocker.bypassed blocker.resolved
lease.acquired lease.released lease.expired
turn.requested turn.taken turn.withdrawn turn.moved signal.sent phase.advanced
"""


@pytest.mark.parametrize("cls", e.VOCABULARY.values(), ids=e.VOCABULARY)
@settings(deadline=None, max_examples=5)
@given(st.data())
def test_what_changes_coordination_is_a_revision(cls: type[e.Event], data: st.DataObject) -> None:
    """One more with each record that agents coordinate by, and the same with every other."""
    event = data.draw(events_of(cls))
    if isinstance(event, e.ProjectOpened | e.ProjectAdopted):
        return  # these say which revision it is
    chain = workspace()
    before = chain.project.revision
    counts = cls.type in COORDINATES.split() and not getattr(event, "over", False)
    assert chain.add(event, "coder").project.revision - before == counts


def test_what_was_over_when_it_was_reported_is_no_revision() -> None:
    """A session of last week, told today, is nothing that anybody goes by now."""
    chain = workspace()
    before, status = chain.project.revision, chain.project.actors["coder"].status
    chain.add(e.SessionStarted("coder", "old", session="session-009", over=True), "coder")
    chain.add(e.SessionEnded("session-009"), "coder")
    assert chain.project.revision == before
    assert chain.project.actors["coder"].status == status
    assert chain.project.sessions["session-009"].status == "ended"


def test_signs_of_life_are_no_revisions() -> None:
    """A heartbeat and the renewal of a lease leave the revision, and the stamp, as they were."""
    begun = (e.SessionStarted("coder", session="session-001"), e.LeaseAcquired("t", "1"))
    chain = workspace(*begun)
    before = chain.project.revision, chain.project.content_version
    chain.add(e.SessionHeartbeat("session-001"), "coder").add(e.LeaseRenewed("t"), "coder")
    assert (chain.project.revision, chain.project.content_version) == before


def test_a_request_that_changes_nothing_makes_no_revision(tmp_path: Path) -> None:
    """What is so already is not recorded, and a refusal is not either."""
    with Journal.create(tmp_path) as journal:
        tools = journal.handle("tools")
        tools.append(OPENED, actor="ada")
        tools.append(e.ActorRegistered("coder", "agent"), actor="ada")
        status = e.ActorStatusChanged("coder", "active")
        tools.append(status, actor="coder")
        assert tools.state.revision == 2
        assert tools.append(status, actor="coder").records == ()
        with pytest.raises(Rejected):
            tools.append(e.PhaseAdvanced("build", reason="why not"), actor="coder")
        assert tools.state.revision == 2


def test_a_workspace_that_begins_with_a_file_is_at_the_files_revision() -> None:
    """Until the file is adopted nothing counts; from then on everything does."""
    coordination = e.Coordination("ada", revision=41)
    opened = e.ProjectOpened("Tools", "shared", (), coordination=coordination)
    chain = Chain("tools").add(opened, "ada").add(e.ActorRegistered("coder", "agent"), "ada")
    chain.add(e.TaskAdded("Parse", "T1"), "coder")
    chain.add(e.LeaseAcquired("t", files=("a",), revision=40), "coder")
    assert (chain.project.revision, chain.project.tasks["T1"].created_revision) == (41, 41)
    assert chain.project.leases["t"].revision == 40
    chain.add(e.ProjectAdopted("TURNFILE.yaml", "00", revision=41), "ada")
    assert chain.project.revision == 41
    assert chain.add(e.TaskClaimed("T1"), "coder").project.revision == 42


def test_the_revision_never_goes_back() -> None:
    """A file ahead of it is followed, one behind is not, and no lease is of the future."""
    chain = workspace()
    for said, found in ((9, 9), (4, 9), (0, 9), (10, 10)):
        chain.add(e.ProjectAdopted("TURNFILE.yaml", "00", revision=said), "ada")
        assert chain.project.revision == found
    chain.add(e.LeaseAcquired("t", files=("a",), revision=99), "coder")
    assert chain.project.leases["t"].revision == chain.project.revision == 11


# -- leases by revision ----------------------------------------------------------------------


def passed(chain: Chain, revisions: int) -> Chain:
    """The chain so many revisions later."""
    for n in range(revisions):
        chain.add(e.SignalSent("notify", signal=f"SIG-{len(chain.records)}{n}"), "reviewer")
    return chain


@pytest.mark.parametrize("lasts", [1, 2, 5])
def test_a_lease_lasts_for_its_revisions(lasts: int) -> None:
    """To the last of them it holds, after it anybody may take it over, and that is recorded."""
    mine = e.LeaseAcquired("l-1", files=("a", "b"), revisions=lasts)
    chain = passed(workspace(mine), lasts)
    yours = e.LeaseAcquired("l-2", files=("b",))
    with pytest.raises(Rejected, match=f"coder has l-1 .* for {lasts} revisions"):
        asked(chain.project, yours, "reviewer")
    with pytest.raises(Rejected, match="coder has l-1"):
        asked(chain.project, e.LeaseExpired("l-1"), "reviewer")
    passed(chain, 1)
    assert is_stale(chain.project, chain.project.leases["l-1"])
    assert asked(chain.project, yours, "reviewer") == ("lease.expired", "lease.acquired")
    assert asked(chain.project, e.LeaseExpired("l-1"), "reviewer") == ("lease.expired",)


@given(st.integers(0, 10**6))
def test_no_clock_ends_a_lease_on_files(minutes: int) -> None:
    """Time alone never makes one stale, however much of it passes."""
    chain = workspace(e.LeaseAcquired("l-1", files=("a",), seconds=1, revisions=2))
    chain.at += minutes * MINUTE
    chain.add(e.FindingOpened("late", finding="F001"), "reviewer")
    with pytest.raises(Rejected, match="coder has l-1"):
        asked(chain.project, e.LeaseAcquired("l-2", files=("a",)), "reviewer", chain.at)


def test_a_lease_is_renewed_by_acquiring_it_again() -> None:
    """It counts from then on; in the same revision there is nothing to renew."""
    lease = e.LeaseAcquired("l-1", files=("a",), revisions=2)
    chain = workspace(lease)
    assert asked(chain.project, lease, "coder") == ()
    assert asked(passed(chain, 2).project, lease, "coder") == ("lease.acquired",)
    chain.add(lease, "coder")
    assert chain.project.leases["l-1"].revision == chain.project.revision


@given(st.permutations([("z", 3), ("a", 5), ("m", 3), ("k", 4)]))
def test_of_several_on_a_file_one_counts(order: list[tuple[str, int]]) -> None:
    """That of the smaller revision, then that of the smaller id, in whatever order they came."""
    chain = passed(workspace(), 5)
    for token, revision in order:
        chain.add(e.LeaseAcquired(token, files=("a", token), revision=revision), "coder")
    found = [(lease.token, lease.revision) for lease in leases_on(chain.project, ("a",))]
    assert found == [("m", 3), ("z", 3), ("k", 4), ("a", 5)]


# -- two at once -----------------------------------------------------------------------------


def _racing(folder: Path, agent: str, start: Barrier) -> None:
    """Try for the lease in every round, at the moment at which the other one does."""
    with Journal.open(folder) as journal:
        tools = journal.handle("tools")
        for n in range(ROUNDS):
            token = f"{n:04}-{agent}"
            start.wait(60)
            try:
                won = tools.append(e.LeaseAcquired(token, files=("a.md",)), actor=agent).records
            except PassdownError:
                won = ()
            start.wait(60)
            if won:
                tools.append(e.LeaseReleased(token), actor=agent)


def test_two_race_for_one_lease(tmp_path: Path) -> None:
    """A thousand times two processes ask at once: one holds it, the one that was recorded first,
    and the other is recorded nowhere."""
    with Journal.create(tmp_path) as journal:
        tools = journal.handle("tools")
        tools.append(OPENED, actor="ada")
        for agent in ("coder", "reviewer"):
            tools.append(e.ActorRegistered(agent, "agent"), actor="ada")
        folder = journal.folder
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(2)
    racers = [
        context.Process(target=_racing, args=(folder, agent, start))
        for agent in ("coder", "reviewer")
    ]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join(300)
    assert [racer.exitcode for racer in racers] == [0, 0]
    with Journal.open(folder) as journal:
        tools = journal.handle("tools")
        events = [decode(record.type, record.data) for record in tools.records()]
    held, winners = "", list[str]()
    for event in events:
        match event:
            case e.LeaseAcquired(token=token):
                assert held == ""
                held = token
                winners.append(token)
            case e.LeaseReleased(token=token):
                assert held == token
                held = ""
    assert held == ""
    assert [int(token[:4]) for token in winners] == list(range(ROUNDS))
    assert {token[5:] for token in winners} <= {"coder", "reviewer"}


# -- the maintainer's powers -----------------------------------------------------------------

_HELD = e.LeaseAcquired("l-1", files=("a",))
_TURNS = (e.TurnRequested("merge", turn="TURN-001"), e.TurnRequested("test", turn="TURN-002"))
#: What overrides somebody, without a reason and with one; and whether its owner may do it too.
POWERS: dict[str, tuple[e.Event, e.Event, bool]] = {
    "release": (e.LeaseReleased("l-1"), e.LeaseReleased("l-1", reason="dead"), True),
    "withdraw": (e.TurnWithdrawn("TURN-001"), e.TurnWithdrawn("TURN-001", "late"), True),
    "move": (e.TurnMoved("TURN-002", "TURN-001"), e.TurnMoved("TURN-002", "TURN-001", "x"), False),
    "advance": (e.PhaseAdvanced("build"), e.PhaseAdvanced("build", "", "ready"), False),
    "status": (
        e.ActorStatusChanged("coder", "offline"),
        e.ActorStatusChanged("coder", "offline", "silent"),
        True,
    ),
}


@pytest.mark.parametrize("power", POWERS)
def test_a_maintainer_overrides_with_a_reason(power: str) -> None:
    """With one it is done, without one it is asked for; nobody else may, but whose it is."""
    project = workspace(_HELD, *_TURNS).project
    bare, reasoned, owns = POWERS[power]
    assert asked(project, reasoned, "ada") == (reasoned.type,)
    with pytest.raises(Invalid, match=r"why|reason"):
        asked(project, bare, "ada")
    with pytest.raises(Rejected, match="maintainer"):
        asked(project, reasoned, "reviewer")
    if owns:
        assert asked(project, bare, "coder") == (bare.type,)
    else:
        with pytest.raises(Rejected, match="maintainer"):
            asked(project, reasoned, "coder")


def test_a_maintainer_gives_a_task_to_another() -> None:
    """It is taken from whoever had it, and both are recorded; nobody else can do that."""
    project = workspace(e.TaskAdded("Parse", "T1"), e.TaskStarted("T1")).project
    given_away = e.TaskClaimed("T1", "reviewer")
    assert asked(project, given_away, "ada") == ("task.reset", "task.claimed")
    with pytest.raises(Rejected, match="held by coder"):
        asked(project, given_away, "reviewer")
