"""The past of a project: every state it had, what makes one of another, and which event did it."""

import random
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pasts import chains, long_history, thorough

from journal import Handle, Project, evolve, fold
from journal import events as e
from journal.changes import apply, difference, leafwise
from journal.following import follow
from journal.leaves import ABSENT, PLACE, leaves, same
from journal.record import Record
from projections import handoff, session_state


def orders(project: Project) -> list[list[str]]:
    """In which order the things of each collection stand, which equality does not tell."""
    values = (getattr(project, name) for name in project.__struct_fields__)
    return [list(value) for value in values if isinstance(value, dict)]


def moved_on(state: Project, record: Record) -> Project:
    """The state at the place to which a record moves it, whatever else that did."""
    state.version, state.hash = record.version, record.hash
    if not e.VOCABULARY[record.type].bookkeeping:
        state.content_version, state.content_hash = record.version, record.hash
        state.updated = record.at
    return state


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
    for record, touches in follow(Project("my-app"), records):
        changes = list(leafwise(touches))
        before = state.copy()
        evolve(state, record)
        expected = [each for each in difference(before, state) if each.path[0] not in PLACE]
        assert sorted(map(repr, changes)) == sorted(map(repr, expected))
        assert moved_on(apply(before, changes), record) == state


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


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Handle, list[Project]]]:
    """2,000 random events, and the state as it was after each."""
    with long_history(tmp_path_factory.mktemp("long"), 2_000) as found:
        yield found


def test_every_state_there_ever_was(long: tuple[Handle, list[Project]]) -> None:
    """The state at a version is a fold of what is recorded up to it, in memory, from the journal,
    and by the changes of its last record alone."""
    app, states = long
    records = list(app.records())
    assert len({record.type for record in records}) > 55
    made = Project("my-app")
    for (record, touches), state in zip(follow(Project("my-app"), records), states, strict=True):
        made = moved_on(apply(made, leafwise(touches)), record)
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
    for record, touches in follow(Project("my-app"), app.records()):
        last |= {change.path: record.version for change in leafwise(touches)}
    values = [dict(leaves(state)) for state in (Project("my-app"), *states)]
    found = {path: leaf for path, leaf in values[-1].items() if path in last}
    assert len(found) > 5_000
    for path, leaf in found.items():
        version = last[path]
        assert not same(values[version - 1].get(path, ABSENT), leaf)
        assert all(same(each.get(path, ABSENT), leaf) for each in values[version::97])
    for path in values[-1].keys() - found.keys() - {(name,) for name in PLACE}:
        assert same(values[-1][path], values[0][path])
