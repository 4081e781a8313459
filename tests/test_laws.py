"""The laws of the journal: for every history, however it is cut, cached, batched or interrupted."""

import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
import pytest
from faults import flip
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from strategies import START, Chain, events_of, histories, numbered

from journal import Handle, Journal, Project, cache, evolve, fold
from journal import events as e
from journal.errors import Invalid, PassdownError
from journal.rules import By, decide
from journal.state import FOLD
from journal.workflows import generic

thorough = settings(deadline=None, max_examples=300)
on_disk = settings(deadline=None, max_examples=100)
OPENED = e.ProjectOpened("My app", "generic", generic(("Build", "Test", "Ship")).steps)

#: Something of each kind, so that later requests find what they name.
BEGUN: list[e.Event] = [
    OPENED,
    *(e.ProjectArchived(), e.ProjectReopened(), e.StepStarted("1"), e.StepFailed("1", "no")),
    *(e.PlanAdded("1", "one", 1), e.PlanAdded("2", "one", 1), e.PlanAdded("2", "two", 2)),
    *(e.TaskAdded("one"), e.TaskAdded("two"), e.BlockerRaised("no key"), e.QuestionOpened("who?")),
    *(e.DecisionMade("one"), e.DecisionMade(key="region", value=1), e.FindingOpened("leak")),
    *(
        e.SessionStarted(name="morning"),
        e.SessionStarted(name="noon"),
        e.StepRestarted("1", "retry"),
    ),
]


@st.composite
def requests(draw: st.DrawFn) -> list[e.Event]:
    """What many ask of a project with three steps, much of which can be let in."""
    asked = [
        cls for cls in e.VOCABULARY.values() if cls not in (e.ProjectOpened, e.ProjectArchived)
    ]
    events = list(BEGUN)
    for cls in draw(st.lists(st.sampled_from(asked), min_size=5, max_size=30)):
        event = draw(events_of(cls))
        if "step" in cls.__struct_fields__:
            event = replace(event, step=draw(st.sampled_from("12")))
        events.append(event)
    return numbered(events)


def admitted(history: list[e.Event]) -> tuple[Chain, list[e.Event]]:
    """The records of the requests that the rules let in one after the other, and those requests."""
    chain = Chain("my-app")
    requests = []
    for event in history:
        try:
            decided = decide(chain.project, event, By("ada", None, chain.at))
            for made in decided:
                chain.add(made, "ada")
        except PassdownError:
            continue
        if decided:
            requests.append(event)
    return chain, requests


@contextmanager
def workspace() -> Iterator[Journal]:
    """A journal in a folder of its own, where time stands still."""
    with tempfile.TemporaryDirectory() as folder, Journal.create(folder, lambda: START) as journal:
        yield journal


# -- fold and rules --------------------------------------------------------------------------


@thorough
@given(requests(), st.data())
def test_a_history_folds_the_same_from_any_prefix(
    history: list[e.Event], choice: st.DataObject
) -> None:
    """Folding a prefix, keeping it or caching it, and going on later gives the state of all."""
    records = admitted(history)[0].records
    cut = choice.draw(st.integers(0, len(records)))
    expected = fold("my-app", records)
    kept = fold("my-app", records[:cut])
    with tempfile.TemporaryDirectory() as folder:
        cache.write(Path(folder), kept)
        cached = cache.read(Path(folder), "my-app")
    for state in filter(None, (kept, cached)):
        for record in records[cut:]:
            evolve(state, record)
        assert state == expected


@thorough
@given(histories(30), st.randoms(use_true_random=False))
def test_the_fold_accepts_every_event_in_any_order(
    history: list[e.Event], rng: random.Random
) -> None:
    """Nothing that can be stored stops the fold, not even what came before it could."""
    rng.shuffle(history)
    chain = Chain("my-app")
    for event in history:
        chain.add(event, "ada", "session-001")
    assert chain.project.version == len(history)


@thorough
@given(requests())
def test_deciding_leaves_the_state_as_it_was(history: list[e.Event]) -> None:
    """Whether a request is let in, changes nothing or is refused: the state is as it was."""
    state = admitted(history)[0].project
    before = msgspec.json.encode(state)
    for event in history:
        with suppress(PassdownError):
            decide(state, event, By("bob", "session-001", START))
        assert msgspec.json.encode(state) == before


#: Facts of which there can be two alike; only a request's id tells them apart.
ADDITIVE = (
    *(
        e.TokensUsed,
        e.ErrorRecorded,
        e.StepOutputRecorded,
        e.SessionNoted,
        e.SessionHeartbeat,
        e.BriefShown,
    ),
    *(e.PlanAdded, e.ProjectRecovered, e.DriftAdopted, e.DriftReverted),
)


@thorough
@given(requests())
@example([OPENED, e.ActorRegistered("ada", "person", "Ada"), e.ActorRegistered("ada", "person")])
def test_what_is_so_already_is_not_recorded_again(history: list[e.Event]) -> None:
    """A setter that was let in and is asked again at once comes to nothing, or is refused."""
    chain = Chain("my-app")
    for event in history:
        try:
            for made in decide(chain.project, event, By("ada", None, chain.at)):
                chain.add(made, "ada")
            again = decide(chain.project, event, By("ada", None, chain.at))
        except PassdownError:
            continue
        assert again == [] or isinstance(event, ADDITIVE)


# -- requests to a real journal --------------------------------------------------------------


@on_disk
@given(requests())
def test_a_request_with_an_id_is_recorded_once(history: list[e.Event]) -> None:
    """Whenever it is repeated, at once or at the end, it appends nothing and returns the same."""
    with workspace() as journal:
        app = journal.handle("my-app")
        first = {}
        for n, event in enumerate(history):
            with suppress(PassdownError):
                first[n] = app.append(event, actor="ada", id=f"k-{n}")
                again = app.append(event, actor="ada", id=f"k-{n}")
                assert again.records == first[n].records
        state = app.state
        assert state.version == sum(len(done.records) for done in first.values())
        for n, done in first.items():
            if done.records:
                again = app.append(history[n], actor="ada", id=f"k-{n}")
                assert again == replace(done, repeated=True, cautions=())
        assert app.state == state


@on_disk
@given(requests())
def test_a_batch_is_what_its_requests_are_one_by_one(history: list[e.Event]) -> None:
    """All at once or each by itself: the same events, and the same state once reopened."""
    requests = admitted(history)[1]
    with workspace() as journal:
        single, batch = journal.handle("single"), journal.handle("batch")
        for event in requests:
            single.append(event, actor="ada")
        batch.append(*requests, actor="ada")
        told = [(r.type, r.data, r.actor, r.at) for r in single.records()]
        assert [(r.type, r.data, r.actor, r.at) for r in batch.records()] == told
        with Journal.open(journal.folder) as again:
            for app in (single, batch):
                assert app.state == again.project(app.slug).state
                assert app.state == fold(app.slug, app.records())


# -- the cache changes no answer -------------------------------------------------------------


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Handle]:
    """A project that has grown enough for a cache at version 302, and by one more record."""
    with Journal.create(tmp_path) as journal:
        app = journal.handle("my-app")
        app.append(OPENED, *(e.FindingOpened(f"f-{n}") for n in range(301)))
        app.open_finding("in the tail")
        yield app


def reopened(app: Handle) -> Project:
    """The state as somebody sees it who comes now."""
    return Handle(app.slug, app._store, app.cached, app._clock).state


def test_a_sound_cache_is_used(app: Handle) -> None:
    """Opening takes the cached state and folds only the tail."""
    assert (app.cached / "my-app.state").exists()
    cache.write(app.cached, replace(app.at(302), title="from the cache"))
    assert reopened(app) == replace(app.state, title="from the cache")


@pytest.mark.parametrize("kind", ["another fold", "beyond the journal", "another history", "slug"])
def test_a_cache_of_something_else_is_not_believed(
    app: Handle, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A whole cache that is not of this journal and this fold never shows in a state."""
    told = replace(app.at(302), title="forged")
    match kind:
        case "another fold":
            monkeypatch.setattr(cache, "FOLD", FOLD + 1)
        case "beyond the journal":
            told.version = 304
        case "another history":
            told.hash = bytes(32)
        case _:
            told.slug = "other"
    cache.write(app.cached, told)
    monkeypatch.undo()
    if kind == "slug":
        (app.cached / "other.state").replace(app.cached / "my-app.state")
    assert reopened(app) == fold(app.slug, app.records())


def test_a_damaged_cache_is_not_believed(app: Handle) -> None:
    """Deleted, cut anywhere or with any bit flipped, the cache never shows in a state."""
    path = app.cached / "my-app.state"
    sound = path.read_bytes()
    expected = fold(app.slug, app.records())
    rng = random.Random(1)
    flipped = [flip(sound, rng, within) for within in 200 * [56] + 100 * [None]]
    cut = [sound[:end] for end in (0, 1, 55, 56, 57, len(sound) // 2, len(sound) - 1)]
    for content in (*flipped, *cut, sound + b"x"):
        path.write_bytes(content)
        assert reopened(app) == expected
    path.unlink()
    assert reopened(app) == expected


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1, [{"deep": 2**70}]])
def test_what_cannot_be_cached_is_not_recorded(app: Handle, value: e.Json) -> None:
    """Numbers of more than 64 bits are refused; the largest of 64 goes through the cache."""
    with pytest.raises(Invalid, match="64 bits"):
        app.decide(key="limit", value=value)
    app.decide(key="limit", value=[2**64 - 1, -(2**63)])
    app.append(*(e.FindingOpened(f"g-{n}") for n in range(400)))
    assert reopened(app) == fold(app.slug, app.records())
