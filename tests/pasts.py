"""Projects with a past: a small one that reads well, random ones, and a long random one."""

import random
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
from command import good
from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from msgspec.structs import replace
from strategies import NEW, START, Chain, events_of, histories

from journal import Handle, Journal, Project, evolve
from journal import events as e
from journal.errors import PassdownError
from journal.record import Record
from journal.request import Envelope
from journal.workflows import generic

thorough = settings(deadline=None, max_examples=200)


def begin_shop(folder: Path) -> None:
    """A project with two sessions and ten events: ada begins, bob goes on."""
    good(folder, "init", "shop", "-w", "apex", "-a", "lead")  # 1
    with Journal.open(folder) as journal:
        app = journal.project("shop")
        ada: Envelope = {"actor": "ada", "session": "morning"}
        bob: Envelope = {"actor": "bob", "session": "noon"}
        app.append(e.SessionStarted(name="morning"), **ada)  # 2
        app.append(e.StepStarted("1"), **ada)  # 3
        app.append(e.DecisionMade(key="region", value="sweden", rationale="near"), **ada)  # 4
        app.append(e.FindingOpened("leak"), **ada)  # 5
        app.append(e.SessionStarted(name="noon"), **bob)  # 6
        app.append(e.StepCompleted("1", ("a.md",), summary="all said"), **bob)  # 7
        app.append(e.DecisionMade(key="region", value="europe", rationale="cheap"), **bob)  # 8
        app.append(e.FindingResolved("F001", "closed"), **ada)  # 9
        app.append(e.TaskAdded("Write"), **bob)  # 10
    good(folder, "sync")


@st.composite
def chains(draw: st.DrawFn) -> list[Record]:
    """A random history that was recorded by several, in and out of sessions."""
    chain = Chain("my-app")
    for event in draw(histories(30)):
        actor = draw(st.sampled_from((None, "ada", "bob")))
        chain.add(event, actor, draw(st.sampled_from((None, "session-001"))))
    return chain.records


#: Fields that name a thing, and the collection that it is in.
_NAMES = {
    **{"task": "tasks", "plan": "plans", "finding": "findings", "error": "errors"},
    **{"decision": "decisions", "blocker": "blockers", "question": "questions"},
    **{"session": "sessions", "message": "messages", "commitment": "commitments"},
    **{"entry": "worklog", "turn": "turns", "escalation": "escalations", "token": "leases"},
}
#: What is not to happen, or not all the time.
_NOT: tuple[type[e.Event], ...] = (
    *(e.ProjectOpened, e.ProjectArchived, e.ProjectAborted, e.ProjectAdopted, e.BriefShown),
    *(e.ProjectRecovered, e.DriftAdopted, e.DriftReverted, e.LeaseExpired),
)


@contextmanager
def long_history(folder: Path, count: int) -> Iterator[tuple[Handle, list[Project]]]:
    """So many random events that the rules let in, and the state in memory after each."""
    kinds = [cls for cls in e.VOCABULARY.values() if cls not in _NOT]
    asked = drawn(st.sampled_from(kinds).flatmap(events_of), 1_500)
    rng = random.Random(1)
    states: list[Project] = []
    with Journal.create(folder, lambda: START) as journal:
        app = journal.handle("my-app")
        opened = e.ProjectOpened("My app", "generic", generic(("A", "B", "C")).steps)
        app.append(opened, actor="ada")
        states.append(app.state)
        while len(states) < count:
            event = fitting(rng.choice(asked), states[-1], rng)
            with suppress(PassdownError):
                session = rng.choice((None, "session-001", "session-002"))
                done = app.append(event, actor=rng.choice(("ada", "bob")), session=session)
                for record in done.records:
                    states.append(evolve(states[-1].copy(), record))
                assert app.state == states[-1]
        yield app, states


def drawn(strategy: SearchStrategy[e.Event], count: int) -> list[e.Event]:
    """So many random events, those that are not long, the same in every run."""
    found: list[e.Event] = []

    @seed(1)
    @settings(max_examples=count, database=None, phases=[Phase.generate], deadline=None)
    @given(strategy)
    def draw(event: e.Event) -> None:
        if len(msgspec.json.encode(event)) < 2_000:
            found.append(event)

    draw()
    return found


def fitting(event: e.Event, state: Project, rng: random.Random) -> e.Event:
    """The event about something that is there, or with the id of what it makes left open."""
    made = NEW.get(type(event), ("",))[0]
    named = {}
    for name in event.__struct_fields__:
        known = list(getattr(state, _NAMES.get(name, "steps")))
        if name == made:
            named[name] = ""
        elif name in _NAMES and known:
            named[name] = rng.choice(known[-5:])
        elif name == "step" and getattr(event, name):
            named[name] = rng.choice(known[:3])
    return replace(event, **named)
