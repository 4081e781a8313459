"""The report of a project: what is on its page, and that the page tells nothing but the journal."""

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from command import files, good, quick, run
from hypothesis import Phase, given, settings
from reporting import HOSTILE, HUGE, Clock, handle_of, hostile, story
from strategies import Chain, histories

from cli.describe import describe
from cli.document import leaf_data
from journal import Journal, Project
from journal import events as e
from journal.leaves import ABSENT, INNER, kinds, leaves
from journal.record import Record
from journal.state import evolve
from journal.workflows import generic
from projections.report import Page, Proof, is_page, page, report
from projections.report.history import _NOISE
from projections.values import as_text

PROOF = Proof(True, 1, "00" * 32, ("all is well",))


def made(slug: str, records: list[Record]) -> Page:
    """The page of some records."""
    return report(slug, records, PROOF, describe, leaf_data)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journal]:
    """The journal of the story."""
    with story(tmp_path_factory.mktemp("story")) as journal:
        yield journal


@pytest.fixture(scope="module")
def shown(told: Journal) -> Page:
    """The page of the story."""
    handle = handle_of(told)
    return made(handle.slug, list(handle.records()))


def section(content: Page, name: str) -> list[dict[str, str]]:
    """The things of a section, each with what is told about it."""
    [found] = [each for each in content.sections if each.name == name]
    return [
        {"id": x.id, "sign": x.sign, "title": text(content, x.title)}
        | {label: text(content, said) for label, said in x.about}
        for x in found.items
    ]


def text(content: Page, said: str | int) -> str:
    """A text of the page, whole."""
    return content.texts[said] if isinstance(said, int) else said


# -- what is on the page ---------------------------------------------------------------------


def test_a_decision_comes_with_its_reason(shown: Page) -> None:
    """Every decision says what was chosen, why, and instead of what."""
    first = section(shown, "decisions")[0]
    assert first["title"] == "Region: swedencentral"
    assert first["Reason"].startswith("Customer data has to stay in the EU")
    assert first["Alternatives"] == "westeurope\ngermanywestcentral"
    assert (first["Reversible"], first["sign"]) == ("no", "in force")


def test_a_blocker_comes_with_its_duration(shown: Page) -> None:
    """A blocker has a beginning and, once resolved, an end; the section says how long it took."""
    [blockers] = [each for each in shown.sections if each.name == "blockers"]
    resolved, active = blockers.items
    assert resolved.end is not None
    assert resolved.begin is not None
    assert resolved.end - resolved.begin > 24 * 3600 * 1000
    assert (active.sign, active.end, active.lasts) == ("active", None, True)
    assert blockers.says == "1 resolved, 1 active; what is over took 30 hours"


def test_errors_stand_with_the_retries(shown: Page) -> None:
    """A step that failed and was tried again shows as an error, and as a retry with its event."""
    failed, again, other = section(shown, "errors")
    assert failed["title"] == "policy definitions could not be listed: AuthorizationFailed"
    assert (again["sign"], again["title"]) == ("retry", "Step 3_5 Governance tried again")
    assert again["Why"] == "reader role granted at the root group"
    assert other["Kind"] == "validation"
    [item] = [x for each in shown.sections for x in each.items if x.sign == "retry"]
    assert shown.types[shown.events[item.version - 1].type] == "step.restarted"


def test_every_attempt_is_on_the_timeline(shown: Page) -> None:
    """A step has a span for each attempt, agents one for each session, and what goes on no end."""
    lanes = {lane.name: lane for lane in shown.lanes}
    assert [span.tone for span in lanes["3_5"].spans] == ["bad", "good"]
    assert lanes["3_5"].spans[0].end <= lanes["3_5"].spans[1].begin  # type: ignore[operator]
    assert [span.end for span in lanes["5"].spans] == [None]
    assert lanes["3"].spans == ()
    architect = lanes["03-Architect"]
    assert [span.tone for span in architect.spans] == ["bad", "good"]
    assert architect.about == "2 sessions"


def test_token_use_adds_up(told: Journal, shown: Page) -> None:
    """Each agent's use grows to what the state says it is, the greatest first."""
    state = handle_of(told).state
    for use in shown.uses:
        own = state.tokens[use.name]
        assert (use.input, use.output, use.cached) == (own.input, own.output, own.cached)
        assert use.growth[-1] == own.input + own.output + own.cached
        assert list(use.growth[1::2]) == sorted(use.growth[1::2])
        assert list(use.growth[::2]) == sorted(use.growth[::2])
    totals = [use.growth[-1] for use in shown.uses]
    assert totals == sorted(totals, reverse=True)


def test_growth_has_a_limit(tmp_path: Path) -> None:
    """However many calls are recorded, a few hundred points say how the sum grew."""
    with Journal.create(tmp_path, Clock()) as journal:
        handle = journal.open_project("shop", generic(("Build",)))
        handle.append(*(e.TokensUsed(n, agent="coder") for n in range(1, 2000)))
        [use] = made("shop", list(handle.records())).uses
        assert len(use.growth) <= 500
        assert use.growth[-1] == sum(range(1, 2000))


def test_the_numbers_at_the_top(shown: Page) -> None:
    """The tiles count what there is, and leave out what there is none of."""
    tiles = {tile.name: (tile.count, tile.whole) for tile in shown.tiles}
    assert tiles["steps done"] == (5, 8)
    assert tiles["active blockers"] == (1, 2)
    assert tiles["unresolved errors"] == (0, 2)
    assert tiles["events"] == (len(shown.events), 0)
    assert "open messages" not in tiles


def test_a_shared_workspace(tmp_path: Path) -> None:
    """Mail, promises, turns, snapshots and the worklog have sections of their own."""
    good(
        tmp_path, "init", "tools", "--maintainer", "ada", "--agent", "coder", "--agent", "reviewer"
    )
    asked = (
        ("session", "start", "--actor", "coder"),
        ("mail", "post", "Review the parser", "--to", "reviewer", "--actor", "coder"),
        ("commitment", "make", "numbers by Friday", "--actor", "coder"),
        ("turn", "request", "merge", "--actor", "coder"),
        ("worklog", "log", "Parser begun", "--actor", "coder"),
        ("snapshot", "--actor", "coder"),
    )
    for words in asked:
        good(tmp_path, *words)
    with Journal.open(tmp_path / ".passdown") as journal:
        content = made("tools", list(handle_of(journal).records()))
    names = [each.name for each in content.sections]
    assert {"mail", "commitments", "turns", "snapshots", "worklog"} <= set(names)
    assert section(content, "mail")[0]["To"] == "reviewer"


@pytest.mark.parametrize(
    "words", [("shop",), ("2026-05-01-limiter", "--phases", "Design; Build"), ("x", "--step", "A")]
)
def test_a_project_of_any_kind(tmp_path: Path, words: tuple[str, ...]) -> None:
    """A project that was only opened has a page, whatever its workflow."""
    good(tmp_path, "init", *words)
    assert good(tmp_path, "report", "--json").json["well"]
    assert is_page((tmp_path / "audit.html").read_bytes())


# -- the differences -------------------------------------------------------------------------


def replayed(content: Page) -> Iterator[dict[tuple[str, str, str], object]]:
    """The state after each event, put together as the page's script does it."""
    state: dict[tuple[str, str, str], object] = {}
    for event in content.events:
        changes = iter(event.changes)
        for thing, field, leaf in zip(changes, changes, changes, strict=True):
            assert isinstance(thing, int)
            assert isinstance(field, int)
            path = (*content.things[thing], content.fields[field])
            was = state.get(path)
            if leaf is None:
                state.pop(path, None)
            elif isinstance(leaf, tuple):
                start, count, *came = leaf
                assert isinstance(start, int)
                assert isinstance(count, int)
                items = list(was) if isinstance(was, list) else []
                items[start : start + count] = [text(content, each) for each in came]
                state[path] = items
            else:
                state[path] = text(content, leaf)
        yield state


def facts(project: Project) -> Iterator[tuple[tuple[str, str, str], object, bool]]:
    """Every leaf of a state as the page names it, and whether it is as in every new thing."""
    for path, value in leaves(project):
        name, *rest = path
        if name in INNER or (name, path[-1]) in _NOISE or value is ABSENT:
            continue
        where = (name, rest[0], rest[1] if len(rest) > 1 else "") if rest else ("", name, "")
        said = leaf_data(path, value)
        words = [as_text(x) for x in said] if isinstance(value, tuple) else as_text(said)  # type: ignore[union-attr]
        blank = False
        if len(path) == 3:
            fields = {x.name: x for x in msgspec.structs.fields(kinds()[name])}
            blank = not fields[path[2]].required and value == fields[path[2]].default
        yield where, words, blank or (len(path) == 1 and words in ("", [], "{}"))


@given(history=histories())
# A history takes minutes to shrink; as it is found it says enough.
@settings(deadline=None, max_examples=60, phases=[Phase.explicit, Phase.reuse, Phase.generate])
def test_the_changes_of_the_events_make_the_state(history: list[e.Event]) -> None:
    """Put together, they are at every event what the journal's own fold makes of the history."""
    chain = Chain("my-app")
    for event in history:
        chain.add(event, actor="worker", session="S1")
    content = made("my-app", chain.records)
    state = Project("my-app")
    begun = {where for where, _, _ in facts(state)}
    for record, found in zip(chain.records, replayed(content), strict=True):
        evolve(state, record)
        expected = list(facts(state))
        for where, words, blank in expected:
            if where not in found:
                assert blank or where in begun, where
            else:
                assert found[where] == words, where
        known = {where for where, _, _ in expected}
        assert all(where in known or where[1].startswith("order of ") for where in found)


def test_a_value_that_is_a_list_is_told_whole(tmp_path: Path) -> None:
    """A list that was decided takes the place of the one before, and is not put in front of it."""
    with Journal.create(tmp_path, Clock()) as journal:
        handle = journal.open_project("shop", generic(("Build",)))
        for value in ([True], [True, 2], ["a", "b"]):
            handle.append(e.DecisionMade(key="regions", value=value))
        *_, state = replayed(made("shop", list(handle.records())))
    values = [state["decisions", id, "value"] for id in ("D001", "D002", "D003")]
    assert values == ["[true]", "[true,2]", "a, b"]


def test_a_list_that_grows_is_not_told_again(tmp_path: Path) -> None:
    """Of a list with one more item only that item is on the page."""
    with Journal.create(tmp_path, Clock()) as journal:
        handle = journal.open_project("shop", generic(("Build",)))
        handle.append(e.SessionStarted(name="night"), actor="coder")
        for n in range(300):
            handle.append(e.SessionNoted(f"note number {n}", session="night"), actor="coder")
        content = made("shop", list(handle.records()))
    assert len(msgspec.json.encode(content.events)) < 300_000


# -- the page --------------------------------------------------------------------------------


def test_the_same_journal_makes_the_same_page(tmp_path: Path) -> None:
    """Two runs give the same bytes, and nothing but the page is written."""
    story(tmp_path).close()
    before = files(tmp_path)
    for name in ("one.html", "two.html"):
        assert run(tmp_path, "report", "-o", name).code == 0
    one, two = ((tmp_path / name).read_bytes() for name in ("one.html", "two.html"))
    assert one == two
    assert good(tmp_path, "report", "-o", "-").out.encode() == one
    for name in ("one.html", "two.html"):
        (tmp_path / name).unlink()
    assert files(tmp_path) == before


def test_no_text_ends_the_element_it_stands_in(tmp_path: Path) -> None:
    """Between its own tags the page has no other, whatever the texts in it are."""
    with hostile(tmp_path, 400) as journal:
        content = page(made("hostile", list(handle_of(journal).records()))).decode()
    [data] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', content, re.S)
    assert "<" not in data
    assert content.count("</script>") == 2
    assert HOSTILE[1] in str(msgspec.json.decode(data))
    assert "{data}" in data


def test_a_long_text_is_there_once(tmp_path: Path) -> None:
    """A text of 100 KB that many events and things have is in the page a single time."""
    with Journal.create(tmp_path, Clock()) as journal:
        handle = journal.open_project("shop", generic(("Build",)))
        handle.append(*(e.FindingOpened(f"leak {n}", detail=HUGE) for n in range(20)))
        content = page(made("shop", list(handle.records())))
    assert content.count(b"x" * 50_000) == 1


def test_the_policy_names_the_script_and_the_style() -> None:
    """The page lets the browser run one script and apply one style, and load nothing."""
    content = page(made("empty", [])).decode()
    [policy] = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', content)
    assert policy.startswith("default-src 'none'; base-uri 'none'; form-action 'none'; ")
    assert "unsafe" not in policy
    assert not re.search(r'\son\w+="|\sstyle="|javascript:|https?://(?!www\.w3\.org)', content)


def test_ten_thousand_events_are_told_in_seconds(tmp_path: Path) -> None:
    """The page of a project with 10,000 events is made in a few seconds at the most."""
    with hostile(tmp_path) as journal:
        records = list(handle_of(journal).records())
    began = time.monotonic()
    content = page(made("hostile", records))
    assert time.monotonic() - began < 5
    assert len(content) < 10_000_000


# -- the command -----------------------------------------------------------------------------


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A workspace with one project."""
    good(tmp_path, "init", "shop")
    return tmp_path


def test_a_report_is_replaced_and_nothing_else(shop: Path) -> None:
    """A report takes the place of an older one; any other file is left alone."""
    good(shop, "report")
    older = (shop / "audit.html").read_bytes()
    good(shop, "step", "start", "1")
    good(shop, "report")
    assert (shop / "audit.html").read_bytes() != older
    (shop / "notes.html").write_text("<p>mine</p>")
    refused = quick(shop, "report", "-o", "notes.html")
    assert refused.code == 3
    assert "notes.html is something else than a report" in refused.err
    assert (shop / "notes.html").read_text() == "<p>mine</p>"


@pytest.mark.parametrize(
    ("path", "why"),
    [
        (".passdown/journal.db", "within the journal's own folder"),
        (".passdown/x.html", "within the journal's own folder"),
        ("no/such/x.html", "there is no folder no/such"),
        (".", "is a folder"),
        ("pipe", "is no file to write to"),
    ],
)
def test_a_bad_place_is_refused(shop: Path, path: str, why: str) -> None:
    """Where no page can or may be, one sentence says so, and nothing is written."""
    os.mkfifo(shop / "pipe")
    before = files(shop)
    result = quick(shop, "report", "-o", path)
    assert result.code == 3
    assert why in result.err
    assert files(shop) == before
    assert (shop / "pipe").is_fifo()


def test_a_report_of_a_moment(shop: Path) -> None:
    """With --at the page is the one that was made then."""
    good(shop, "report")
    good(shop, "step", "start", "1")
    then = (shop / "audit.html").read_bytes()
    assert good(shop, "report", "--at", "1", "--json").json["version"] == 1
    assert (shop / "audit.html").read_bytes() == then
    refused = quick(shop, "report", "--at", "7")
    assert refused.code == 3
    assert "versions 1 to 2" in refused.err


def test_what_was_redacted_shows_as_redacted(shop: Path) -> None:
    """A text that was erased is on no page, and its event says that it was redacted."""
    good(shop, "finding", "open", "the password is hunter2")
    good(shop, "redact", "2", "--reason", "a secret")
    assert good(shop, "report", "--json").json["well"]
    content = (shop / "audit.html").read_text()
    assert "hunter2" not in content
    assert "or in 1 what a redaction left there" in content
    with Journal.open(shop / ".passdown") as journal:
        events = made("shop", list(handle_of(journal).records())).events
    assert [event.redacted for event in events] == [False, True, False]


def test_stdout_is_for_one_of_them(shop: Path) -> None:
    """The page and the answer as data cannot both go to stdout."""
    assert quick(shop, "report", "-o", "-", "--json").code == 3


def test_a_damaged_journal_has_a_page_that_says_so(shop: Path) -> None:
    """What can still be read is shown, with what is wrong, and the exit code says it too."""
    for n in range(5):
        good(shop, "finding", "open", f"finding number {n}")
    database = shop / ".passdown" / "journal.db"
    content = bytearray(database.read_bytes())
    content[content.index(b"finding number 3")] ^= 1
    database.write_bytes(content)
    result = quick(shop, "report", "--json")
    assert result.code == 1, result
    assert not result.json["well"]
    assert result.json["version"] == 4
    said = (shop / "audit.html").read_text()
    assert "The page shows versions 1 to 4, which can be read." in said
    assert "version 5 of shop" in said
