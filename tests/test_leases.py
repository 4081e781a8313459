"""Leases: one agent at a time holds a step, and whoever lost it is told so before it writes."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from command import Result, files, good, quick
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from strategies import Chain

from cli import exits
from journal import Journal, Project
from journal import events as e
from journal.entities import held_lease
from journal.errors import Invalid, NotFound, PassdownError, Rejected
from journal.payload import decode
from journal.rules import By, decide
from journal.workflows import generic
from projections.dialect import DIALECTS

SECOND = 1_000_000
STEPS = generic(("Build", "Test", "Ship")).steps
OPENED = e.ProjectOpened("My app", "generic", STEPS)


class Clocked:
    """A project to which things happen at chosen seconds."""

    def __init__(self) -> None:
        self.chain = Chain("my-app", at=0).add(OPENED)

    @property
    def project(self) -> Project:
        """Its state."""
        return self.chain.project

    def ask(
        self, at: float, event: e.Event, actor: str = "ada", *, lease: str | None = None
    ) -> tuple[str, ...]:
        """The types of the events that a request comes to, which are recorded."""
        now = int(at * SECOND)
        made = decide(self.project, event, By(actor, None, now, lease))
        for each in made:
            self.chain.at = now
            self.chain.add(each, actor)
        return tuple(each.type for each in made)


# -- what is allowed when --------------------------------------------------------------------

ADAS = e.LeaseAcquired("t-ada", "1")
BOBS = e.LeaseAcquired("t-bob", "1")
#: How the lease of ada stands 100 seconds after it may have been acquired, for 300 by default.
STATES: dict[str, tuple[tuple[float, e.Event, str], ...]] = {
    "free": (),
    "held": ((0, ADAS, "ada"),),
    "stale": ((0, replace(ADAS, seconds=100), "ada"),),
    "released": ((0, ADAS, "ada"), (50, e.LeaseReleased("t-ada"), "ada")),
    "lost": ((0, replace(ADAS, seconds=50), "ada"), (50, BOBS, "bob")),
}
ADA_HAS_IT = "ada has step 1 since 1970-01-01T00:00:00Z, until 1970-01-01T00:05:00Z"
BOB_HAS_IT = "bob has step 1 since 1970-01-01T00:00:50Z, until 1970-01-01T00:05:50Z"
UNKNOWN = "there is no such lease"
ACQUIRED, RENEWED = ("lease.acquired",), ("lease.renewed",)
RELEASED, EXPIRED = ("lease.released",), ("lease.expired",)
FOUND = ("finding.opened",)

#: What is asked, by whom and under which lease, and what comes of it in each of the states above:
#: the events, or what the refusal says.
REQUESTS: list[tuple[e.Event, str, str | None, dict[str, tuple[str, ...] | str]]] = [
    (
        *(ADAS, "ada", None),
        {
            "free": ACQUIRED,
            "held": (),
            "stale": "that token names a lease on step 1 already",  # for another time than it had
            "released": "that token names a lease on step 1 already, which is released",
            "lost": BOB_HAS_IT,
        },
    ),
    (
        *(replace(ADAS, seconds=100), "ada", None),
        {"free": ACQUIRED, "held": ADA_HAS_IT, "stale": RENEWED, "lost": BOB_HAS_IT},
    ),
    (
        *(ADAS, "bob", None),  # two who chose the same token are still two
        {"free": ACQUIRED, "held": ADA_HAS_IT, "stale": "that token names a lease"},
    ),
    (
        *(replace(BOBS, token="t-new"), "bob", None),
        {
            "free": ACQUIRED,
            "held": ADA_HAS_IT,
            "stale": (*EXPIRED, *ACQUIRED),
            "released": ACQUIRED,
            "lost": BOB_HAS_IT,
        },
    ),
    (
        *(e.LeaseAcquired("t-new", "2"), "bob", None),
        dict.fromkeys(STATES, ACQUIRED),
    ),
    (
        *(e.LeaseRenewed("t-ada"), "ada", None),
        {
            "free": UNKNOWN,
            "held": RENEWED,
            "stale": RENEWED,
            "released": "it was released, and step 1 is free; allowed now: lease acquire 1",
            "lost": f"it has expired, and {BOB_HAS_IT}",
        },
    ),
    (
        *(e.LeaseReleased("t-ada"), "ada", None),
        {
            "free": UNKNOWN,
            "held": RELEASED,
            "stale": RELEASED,
            "released": (),
            "lost": f"it has expired, and {BOB_HAS_IT}",
        },
    ),
    (
        *(e.LeaseExpired("t-ada"), "bob", None),
        {
            "free": UNKNOWN,
            "held": ADA_HAS_IT,
            "stale": EXPIRED,
            "released": "step 1 is free",
            "lost": BOB_HAS_IT,
        },
    ),
    (
        *(e.LeaseReleased("t-ada", "2"), "ada", None),
        {"held": "it is on step 1", "stale": "it is on step 1"},
    ),
    (
        *(e.FindingOpened("leak"), "ada", "t-ada"),
        {
            "free": UNKNOWN,
            "held": FOUND,
            "stale": FOUND,  # nobody took it over, so it is still hers
            "released": "it was released, and step 1 is free; allowed now: lease acquire 1",
            "lost": f"it has expired, and {BOB_HAS_IT}",
        },
    ),
    (*(e.FindingOpened("leak"), "cy", None), dict.fromkeys(STATES, FOUND)),
    (  # the way back from a lost lease is not closed by it
        *(e.LeaseAcquired("t-new", "1"), "ada", "t-ada"),
        {"free": ACQUIRED, "stale": (*EXPIRED, *ACQUIRED), "released": ACQUIRED},
    ),
]
CASES = [
    pytest.param(state, event, actor, lease, expected, id=f"{state}-{n}-{event.type}")
    for n, (event, actor, lease, outcomes) in enumerate(REQUESTS)
    for state, expected in outcomes.items()
]


@pytest.mark.parametrize(("state", "event", "actor", "lease", "expected"), CASES)
def test_what_comes_of_a_request(
    state: str, event: e.Event, actor: str, lease: str | None, expected: tuple[str, ...] | str
) -> None:
    """In each state of a lease every request is let in, changes nothing, or says who has it."""
    app = Clocked()
    for at, happened, by in STATES[state]:
        app.ask(at, happened, by)
    if isinstance(expected, tuple):
        assert app.ask(100, event, actor, lease=lease) == expected
        return
    version = app.project.version
    with pytest.raises(Rejected) as caught:
        app.ask(100, event, actor, lease=lease)
    assert expected in str(caught.value)
    assert app.project.version == version


def test_a_takeover_names_whom_it_was_taken_from() -> None:
    """The old lease is known as expired, with its holder, and the new one is held."""
    app = Clocked()
    app.ask(0, ADAS)
    app.ask(300, BOBS, "bob")
    expired = app.chain.records[-2]
    assert decode(expired.type, expired.data) == e.LeaseExpired("t-ada", "1", "ada")
    assert app.project.leases["t-ada"].status == "expired"
    held = held_lease(app.project, "1")
    assert held is not None
    assert (held.token, held.agent, held.acquired) == ("t-bob", "bob", 300 * SECOND)


def test_a_lease_goes_stale_to_the_microsecond() -> None:
    """It is held until its time is over, counted from the last renewal that was recorded."""
    app = Clocked()
    app.ask(0, ADAS)
    assert app.ask(59.999999, e.LeaseRenewed("t-ada")) == ()
    assert app.ask(60, e.LeaseRenewed("t-ada")) == RENEWED
    with pytest.raises(Rejected, match="ada has step 1"):
        app.ask(359.999999, BOBS, "bob")
    assert app.ask(360, BOBS, "bob") == (*EXPIRED, *ACQUIRED)


def test_a_lease_runs_by_the_journals_clock() -> None:
    """A time that somebody reports makes a lease neither longer nor stale."""
    for reported in (0, 10**15):
        chain = Chain("my-app", at=5 * SECOND).add(OPENED)
        chain.at = 10 * SECOND
        chain.add(ADAS, "ada", occurred=reported)
        lease = chain.project.leases["t-ada"]
        assert (lease.acquired, lease.renewed) == (10 * SECOND, 10 * SECOND)


@pytest.mark.parametrize("token", ["", "a\nb", "x" * 201])
def test_a_token_that_cannot_be_given(tmp_path: Path, token: str) -> None:
    """What could not be named later is refused at once."""
    with Journal.create(tmp_path) as journal:
        app = journal.handle("my-app")
        app.append(OPENED)
        with pytest.raises(Invalid):
            app.append(e.LeaseAcquired(token, "1"))
        with pytest.raises(Invalid):
            app.open_finding("leak", lease=token)


def test_only_a_step_that_is_there() -> None:
    """A lease on a step that the project does not have is an error with the near ones."""
    with pytest.raises(NotFound, match="near: 1, 2, 3"):
        Clocked().ask(0, e.LeaseAcquired("t", "7"))


# -- the law ---------------------------------------------------------------------------------

_asked = st.tuples(
    st.integers(0, 200),
    st.sampled_from(("acquire", "renew", "release", "write")),
    st.sampled_from(("ada", "bob", "cy")),
    st.sampled_from("12"),
)


def tried(
    app: Clocked, at: int, event: e.Event, agent: str, lease: str | None = None
) -> tuple[str, ...] | str:
    """What a request comes to: the types of its events, or the refusal."""
    try:
        return app.ask(at, event, agent, lease=lease)
    except Rejected as no:
        return str(no)


@settings(deadline=None, max_examples=300)
@given(st.lists(_asked, max_size=40))
def test_nobody_writes_under_a_lease_that_another_has(
    story: list[tuple[int, str, str, str]],
) -> None:
    """Whatever three agents try: one holds a step, who holds it writes, who lost it does not."""
    app = Clocked()
    now = 0
    tokens: dict[tuple[str, str], str] = {}  # the last that each agent got for a step
    held: dict[str, tuple[str, int]] = {}  # who has a step, and since its last renewal
    for n, (wait, verb, agent, step) in enumerate(story):
        now += wait
        has, since = held.get(step, ("", 0))
        token = tokens.get((agent, step))
        if verb == "acquire":
            found = tried(app, now, e.LeaseAcquired(f"t-{n}", step, seconds=300), agent)
            if has and now - since < 300:
                assert f"{has} has step {step} since" in found
                continue
            assert found == ((*EXPIRED, *ACQUIRED) if has else ACQUIRED)
            tokens[agent, step] = f"t-{n}"
            held[step] = agent, now
        elif token is not None:
            event, comes_to = {
                "renew": (e.LeaseRenewed(token), RENEWED if now - since >= 60 else ()),
                "release": (e.LeaseReleased(token), RELEASED),
                "write": (e.FindingOpened(f"f-{n}"), FOUND),
            }[verb]
            found = tried(app, now, event, agent, token)
            if has == agent:
                assert found == comes_to
                if found == RENEWED:
                    held[step] = agent, now
                if found == RELEASED:
                    del held[step]
            elif found != ():  # giving back what was given back is nothing
                assert (f"{has} has step {step} since" if has else "is free") in found
        known = app.project.leases.values()
        told = [(lease.step, lease.agent) for lease in known if lease.status == "held"]
        assert sorted(told) == sorted((step, agent) for step, (agent, _) in held.items())


@pytest.mark.parametrize("form", DIALECTS)
def test_leases_are_in_no_file(form: str) -> None:
    """A lease changes what is rendered only as every record does: version and time."""
    app = Clocked()
    app.ask(0, ADAS)
    app.ask(100, e.LeaseRenewed("t-ada"))
    bare = app.project.copy()
    bare.leases, bare.leased = {}, {}
    assert DIALECTS[form].render(app.project) == DIALECTS[form].render(bare)


# -- from Python -----------------------------------------------------------------------------


def test_a_lease_from_python(tmp_path: Path) -> None:
    """The token is what is written under; after a takeover the old one is refused."""
    at = [0]
    with Journal.create(tmp_path, lambda: at[0]) as journal:
        app = journal.handle("my-app")
        app.append(OPENED)
        token = app.acquire_lease("1", actor="ada", seconds=60)
        app.start_step("1", actor="ada", lease=token)
        assert app.renew_lease(token).records == ()
        at[0] = 60 * SECOND
        taken = app.acquire_lease("1", agent="bob")
        with pytest.raises(Rejected, match="bob has step 1"):
            app.complete_step("1", actor="ada", lease=token)
        app.complete_step("1", actor="bob", lease=taken)
        assert app.release_lease(taken, reason="done").records
        assert app.state.leased == {}
        assert not any(token.encode() in r.data for r in app.records() if "step" in r.type)


def test_the_same_request_again_asks_for_the_same_lease(tmp_path: Path) -> None:
    """With an id, acquiring again returns the first token and adds nothing."""
    with Journal.create(tmp_path) as journal:
        app = journal.handle("my-app")
        app.append(OPENED)
        first = app.acquire_lease("1", actor="ada", id="k-1")
        assert app.acquire_lease("1", actor="ada", id="k-1") == first
        assert app.acquire_lease("1", actor="ada", token=first) == first
        assert app.state.version == 2


def test_a_request_keeps_its_first_result_when_its_lease_is_lost(tmp_path: Path) -> None:
    """Repeating what was recorded in time is no write, so it is not refused."""
    with Journal.create(tmp_path) as journal:
        app = journal.handle("my-app")
        app.append(OPENED)
        token = app.acquire_lease("1")
        app.open_finding("leak", lease=token, id="k-1")
        app.release_lease(token)
        assert app.open_finding("leak", lease=token, id="k-1").repeated
        with pytest.raises(PassdownError, match="step 1 is free"):
            app.open_finding("crack", lease=token)


# -- from the command line -------------------------------------------------------------------


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A workspace with one project."""
    good(tmp_path, "init", "shop")
    return tmp_path


def acquired(result: Result) -> str:
    """The token that `lease acquire --json` answered with."""
    token: str = result.json["appended"][-1]["data"]["token"]
    return token


def test_a_lease_from_the_command_line(shop: Path) -> None:
    """Acquire, show, write under it, renew without a change of any file, release."""
    token = acquired(good(shop, "lease", "acquire", "2", "-a", "coder", "--json"))
    assert "step 2  coder, since " in good(shop, "show").out
    assert good(shop, "show", "--json").json["leases"][token]["agent"] == "coder"
    env = {"PASSDOWN_LEASE": token}
    good(shop, "step", "start", "2", env=env)
    before = files(shop)
    assert "already so" in good(shop, "lease", "renew", env=env).out
    assert files(shop) == before
    assert "lease on step 2 released" in good(shop, "lease", "release", token).out
    assert "Leases" not in good(shop, "show").out
    no = quick(shop, "step", "complete", "2", "--lease", token, "--json")
    assert no.code == exits.REJECTED
    assert no.json["error"]["allowed"] == ["lease acquire 2"]
    good(shop, "step", "complete", "2")


def test_a_recorded_renewal_changes_no_file(shop: Path) -> None:
    """A sign of life is in the journal and in no file."""
    good(shop, "lease", "acquire", "2", "--token", "t", "--seconds", "1")
    before = files(shop / "agent-output"), (shop / ".planning/STATE.md").read_bytes()
    time.sleep(0.25)
    assert "lease on step 2 renewed" in good(shop, "lease", "renew", "t").out
    assert (files(shop / "agent-output"), (shop / ".planning/STATE.md").read_bytes()) == before
    good(shop, "verify")


EVERY_WAY: dict[str, Callable[[Path], Result]] = {
    "step": lambda folder: quick(folder, "step", "start", "1", "--lease", "lost"),
    "transition": lambda folder: quick(folder, "transition", "1", "2", "--lease", "lost"),
    "note": lambda folder: quick(folder, "note", "x", env={"PASSDOWN_LEASE": "lost"}),
    "append": lambda folder: quick(folder, "append", "tokens.used", "--lease", "lost"),
    "stream": lambda folder: quick(
        folder, "append", "-", "--lease", "lost", stdin=b'{"type": "tokens.used"}\n'
    ),
    "line": lambda folder: quick(
        folder, "append", "-", stdin=b'{"type": "tokens.used", "lease": "lost"}\n'
    ),
}


@pytest.mark.parametrize("way", EVERY_WAY)
def test_every_recording_command_heeds_a_lost_lease(shop: Path, way: str) -> None:
    """However it is asked, what comes under a lost lease appends nothing and says who has it."""
    good(shop, "lease", "acquire", "1", "--token", "lost", "-a", "ada", "--seconds", "1")
    time.sleep(1)
    good(shop, "lease", "acquire", "1", "--token", "won", "-a", "bob")
    before = files(shop)
    said = EVERY_WAY[way](shop)
    assert said.code == exits.REJECTED, said
    assert "it has expired, and bob has step 1 since" in said.err
    assert files(shop) == before


# -- races between real processes ------------------------------------------------------------


def race(folder: Path, count: int) -> list[Result]:
    """What many processes get that ask for step 2 at once."""
    command = [sys.executable, "-m", "passdown", "lease", "acquire", "2", "--no-sync", "--actor"]
    running = [
        subprocess.Popen(
            [*command, f"agent-{n}"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for n in range(count)
    ]
    return [Result(each.wait(60), *each.communicate()) for each in running]


def winner(results: list[Result], folder: Path) -> str:
    """The one that got it, as all the others say and the journal knows."""
    [agent] = [f"agent-{n}" for n, each in enumerate(results) if each.code == exits.OK]
    losers = [each for each in results if each.code != exits.OK]
    assert {each.code for each in losers} == {exits.REJECTED}
    assert all(f"{agent} has step 2 since" in each.err for each in losers), losers
    held = [x for x in good(folder, "show", "--json").json["leases"].values() if not x["ended"]]
    assert [(x["agent"], x["status"]) for x in held] == [(agent, "held")]
    return agent


def test_exactly_one_of_many_processes_gets_a_free_step(shop: Path) -> None:
    """The others are refused with the name of the one that got it."""
    winner(race(shop, 8), shop)
    assert len(good(shop, "show", "--json").json["leases"]) == 1


def test_exactly_one_of_many_processes_takes_over_a_stale_lease(shop: Path) -> None:
    """The old lease expires once, right before the only new one, in one append."""
    good(shop, "lease", "acquire", "2", "--token", "old", "-a", "sleeper", "--seconds", "1")
    time.sleep(1)
    agent = winner(race(shop, 8), shop)
    log = [msg for msg in good(shop, "log", "--json").out.splitlines() if '"lease.' in msg]
    assert [line.count("lease.expired") for line in log] == [0, 1, 0]
    with Journal.open(shop) as journal:
        expired, taken = list(journal.project("shop").records(2))
    assert (expired.type, taken.type) == ("lease.expired", "lease.acquired")
    assert (expired.actor, expired.at) == (agent, taken.at)
