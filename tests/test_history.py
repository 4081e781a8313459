"""The past of a project: every state it had, what makes one of another, and which event did it."""

import random
from collections.abc import Iterator
from contextlib import suppress

import msgspec
import pytest
from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from msgspec.structs import replace
from strategies import NEW, START, Chain, events_of, histories

from journal import Handle, Journal, Project, evolve, fold
from journal import events as e
from journal.changes import apply, difference
from journal.errors import PassdownError
from journal.following import follow
from journal.leaves import ABSENT, leaves, same
from journal.record import Record
from journal.workflows import generic
from projections import handoff, session_state

thorough = settings(deadline=None, max_examples=200)


def orders(project: Project) -> list[list[str]]:
    """In which order the things of each collection stand, which equality does not tell."""
    values = (getattr(project, name) for name in project.__struct_fields__)
    return [list(value) for value in values if isinstance(value, dict)]


@st.composite
def chains(draw: st.DrawFn) -> list[Record]:
    """A random history that was recorded by several, in and out of sessions."""
    chain = Chain("my-app")
    for event in draw(histories(30)):
        actor = draw(st.sampled_from((None, "ada", "bob")))
        chain.add(event, actor, draw(st.sampled_from((None, "session-001"))))
    return chain.records


# -- laws ------------------------------------------------------------------------------------


@thorough
@given(chains(), st.data())
def test_the_difference_makes_the_other_state(records: list[Record], data: st.DataObject) -> None:
    """Applied to the one state the difference gives the other, in its order, there and back."""
    first, last = (data.draw(st.integers(0, len(records))) for _ in range(2))
    a, b = (fold("my-app", records[:version]) for version in (first, last))
    before = msgspec.msgpack.encode(a)
    changes = difference(a, b)
    made = apply(a, changes)
    assert made == b
    assert orders(made) == orders(b)
    assert msgspec.msgpack.encode(a) == before
    assert apply(b, (change.reversed() for change in reversed(changes))) == a
    assert difference(a, a.copy()) == []


@thorough
@given(chains())
def test_what_every_event_changed(records: list[Record]) -> None:
    """What a record is said to change makes the state after it of the one before it."""
    state = Project("my-app")
    for record, changes in follow(Project("my-app"), records):
        before = state.copy()
        evolve(state, record)
        made = apply(before, changes)
        assert made == state
        assert sorted(map(repr, changes)) == sorted(map(repr, difference(before, state)))


@thorough
@given(chains())
def test_following_changes_nothing(records: list[Record]) -> None:
    """A state that is followed is the one that is folded, down to the bytes it is cached as."""
    followed = Project("my-app")
    for _ in follow(followed, records):
        pass
    folded = fold("my-app", records)
    assert followed == folded
    assert orders(followed) == orders(folded)
    assert msgspec.msgpack.encode(followed) == msgspec.msgpack.encode(folded)
    assert type(followed.copy().tasks) is dict


def test_values_that_are_equal_and_not_the_same() -> None:
    """1 becoming true or 1.0 is a change."""
    for one, other in ((1, True), (1, 1.0), ([0], [False])):
        a, b = Project("x"), Project("x")
        for project, value in ((a, one), (b, other)):
            project.leftovers["f"] = (e.Leftover(("n",), "", (value,)),)
        assert len(difference(a, b)) == 1


# -- one long random history -----------------------------------------------------------------

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


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Handle, list[Project]]]:
    """2,000 events that the rules let in, and the state as it was in memory after each."""
    kinds = [cls for cls in e.VOCABULARY.values() if cls not in _NOT]
    asked = drawn(st.sampled_from(kinds).flatmap(events_of), 1_500)
    rng = random.Random(1)
    states: list[Project] = []
    with Journal.create(tmp_path_factory.mktemp("long"), lambda: START) as journal:
        app = journal.handle("my-app")
        opened = e.ProjectOpened("My app", "generic", generic(("A", "B", "C")).steps)
        app.append(opened, actor="ada")
        states.append(app.state)
        while len(states) < 2_000:
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


def test_every_state_there_ever_was(long: tuple[Handle, list[Project]]) -> None:
    """The state at a version is a fold of what is recorded up to it, in memory, from the journal,
    and by the changes of its last record alone."""
    app, states = long
    records = list(app.records())
    assert len({record.type for record in records}) > 55
    made = Project("my-app")
    for (record, changes), state in zip(follow(Project("my-app"), records), states, strict=True):
        made = apply(made, changes)
        assert made == state
        if record.version % 13 == 0:
            assert app.at(record.version) == state
            assert fold("my-app", records[: record.version]) == state


def test_the_difference_of_any_two_of_them(long: tuple[Handle, list[Project]]) -> None:
    """Between any two states of the history, in either direction, it makes the one of the other."""
    _, states = long
    rng = random.Random(2)
    for _ in range(300):
        a, b = rng.choice(states), rng.choice(states)
        made = apply(a, difference(a, b))
        assert made == b
        assert orders(made) == orders(b)
    last = states[-1]
    whole = apply(Project("my-app"), difference(Project("my-app"), last))
    assert whole == last
    assert (session_state.render(whole), handoff.render(whole)) == (
        session_state.render(last),
        handoff.render(last),
    )


def test_the_last_event_that_changed_a_leaf_set_it(long: tuple[Handle, list[Project]]) -> None:
    """For every leaf: it was otherwise before that event, and has been as it is ever since."""
    app, states = long
    last: dict[tuple[str, ...], int] = {}
    for record, changes in follow(Project("my-app"), app.records()):
        last |= {change.path: record.version for change in changes}
    values = [dict(leaves(state)) for state in (Project("my-app"), *states)]
    found = {path: leaf for path, leaf in values[-1].items() if path in last}
    assert len(found) > 5_000
    for path, leaf in found.items():
        version = last[path]
        assert not same(values[version - 1].get(path, ABSENT), leaf)
        assert all(same(each.get(path, ABSENT), leaf) for each in values[version::97])
    for path in values[-1].keys() - found.keys():
        assert same(values[-1][path], values[0][path])
