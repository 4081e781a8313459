"""`passdown diff` and `log --changes`: what changed between two moments, and what did it."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from command import files, good, quick, run
from hypothesis import given
from hypothesis import strategies as st
from pasts import begin_shop, chains, thorough

from cli.diff import Compared
from cli.facts import facts
from journal import Project, fold
from journal.changes import Change, difference
from journal.following import follow
from journal.leaves import INNER, text
from journal.record import Record

STATE, STATE_MD = "agent-output/shop/00-session-state.json", ".planning/STATE.md"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A project with two sessions and ten events."""
    begin_shop(tmp_path)
    return tmp_path


def told(folder: Path, *args: str) -> dict[str, list[int]]:
    """The facts of a difference in words, each with the versions that did it."""
    answer = good(folder, "diff", *args, "--json").json
    return {fact["fact"]: fact["events"] for fact in answer["facts"] if not fact["quiet"]}


def test_facts_between_versions(shop: Path) -> None:
    """What changed is told as facts, each with the events that caused it."""
    assert told(shop, "4", "9") == {
        "finding F001 opened (must_fix): leak": [5],
        "session-002 started by bob": [6],
        "step 1 completed: all said": [7],
        "step 1 artifacts: added a.md": [7],
        "decision region changed from sweden to europe": [8],
        "finding F001 resolved: closed": [9],
    }
    said = good(shop, "diff", "4", "9").out
    assert "shop: version 4 (" in said
    assert "decision region changed from sweden to europe  v8 decision.made by bob" in said


def test_facts_as_data(shop: Path) -> None:
    """As data each fact has its leaves, old and new, and each event its type, actor and session."""
    answer = good(shop, "diff", "7", "8", "--json").json
    [fact] = [fact for fact in answer["facts"] if not fact["quiet"]]
    assert fact["path"] == "decisions.region"
    assert {
        "path": "decisions.region",
        "change": "changed",
        "old": "sweden",
        "new": "europe",
        "events": [8],
    } in fact["changes"]
    [event] = answer["events"]
    assert (event["version"], event["type"], event["actor"]) == (8, "decision.made", "bob")
    assert (answer["before"]["version"], answer["after"]["version"]) == (7, 8)


def test_to_now_and_from_the_beginning(shop: Path) -> None:
    """Without a second moment it is to now; 0 is before the first event."""
    assert told(shop, "9") == {"task T001 added: Write": [10]}
    first = told(shop, "0", "1")
    assert first["step 3_5 planned: Governance"] == [1]
    assert first["title is now shop"] == [1]
    assert told(shop, "10") == {}
    assert good(shop, "diff", "10").out.splitlines()[1:] == ["  nothing"]


def test_between_times_and_events(shop: Path) -> None:
    """A moment is also a time, or the id of an event or its unambiguous beginning."""
    log = [json.loads(x) for x in good(shop, "log", "-n", "0", "--json").out.splitlines()]
    ids = [record["id"] for record in log]
    assert told(shop, ids[7], ids[8].upper()) == told(shop, "8", "9")
    alone = [id for id in ids if sum(x[:23] == id[:23] for x in ids) == 1]
    assert told(shop, alone[0][:23]) == told(shop, str(ids.index(alone[0]) + 1))
    assert told(shop, "0", log[-1]["at"][:-1] + ".999999Z") == told(shop, "0")
    assert told(shop, "2h ago") == told(shop, "0")
    shared = quick(shop, "diff", ids[0][:8])
    assert shared.code == 3
    assert "(version 1)" in shared.err


def test_what_a_session_changed(shop: Path) -> None:
    """Of a session only its own events count, whatever others did in between."""
    assert told(shop, "--session", "morning") == {
        "session-001 started by ada": [2],
        "current step is now 1": [3],
        "step 1 started": [3],
        "decision region is now sweden": [4],
        "finding F001 opened (must_fix): leak": [5],
        "finding F001 resolved: closed": [9],
    }
    of_bob = told(shop, "-s", "session-002")
    assert of_bob["decision region changed from sweden to europe"] == [8]
    assert "finding F001 resolved: closed" not in of_bob


def test_what_came_and_went(shop: Path) -> None:
    """What was set and taken back in between is no difference, nor is it in a session."""
    good(shop, "decide", "--key", "trial", "--value", "yes", "-a", "ada", "-s", "morning")
    superseded = '{"decision": "D003", "reason": "not needed"}'
    good(shop, "append", "decision.superseded", superseded, "-s", "morning")
    assert told(shop, "10") == {"decision D003 made: trial = yes": [11]}
    assert "decision D003 made: trial = yes" in told(shop, "-s", "morning")


def test_back_in_time(shop: Path) -> None:
    """The other way round old is new, and nothing is told as if it had happened."""
    back = told(shop, "9", "4")
    assert back["decision region changed from europe to sweden"] == [8]
    assert back["finding F001 gone"] == [5, 9]
    assert back["step 1 status changed from complete to in_progress"] == [7]


def test_against_a_file(shop: Path) -> None:
    """A file is compared with what the journal says at a moment, place by place."""
    assert good(shop, "diff", STATE, "--json").json["changes"] == []
    old = good(shop, "diff", "4", STATE, "--json").json
    changes = {x["where"]: (x["was"], x["now"]) for x in old["changes"]}
    assert changes["decisions.region"] == (["sweden"], ["europe"])
    assert (old["before"]["version"], old["after"], old["file"]) == (4, None, STATE)
    back = good(shop, "diff", STATE, "4", "--json").json
    assert {x["where"]: (x["now"], x["was"]) for x in back["changes"]} == changes
    text = (shop / STATE_MD).read_text().replace("Requirements", "Requests")
    (shop / "copy.md").write_text(text)
    assert "Requests" in good(shop, "diff", "10", "copy.md").out


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        ((), 3, "give a moment or a file, or --session"),
        (("3", "--session", "noon"), 3, "not both"),
        (("99",), 3, "has versions 1 to 10, not 99"),
        (("3", "40"), 3, "has versions 1 to 10, not 40"),
        (("soon",), 3, "is no moment of shop; give a version, a time"),
        (("--session", "evening"), 4, "no session 'evening'; near: morning"),
        (("1", "notes.txt"), 3, "is none of the files of shop"),
        ((STATE, STATE_MD), 3, "both are files"),
    ],
)
def test_what_is_no_difference(shop: Path, args: tuple[str, ...], code: int, said: str) -> None:
    """What cannot be compared is refused in one sentence that says what would be right."""
    (shop / "notes.txt").write_text("something else")
    failed = quick(shop, "diff", *args)
    assert (failed.code, failed.out) == (code, "")
    assert said in failed.err
    assert failed.err.count("\n") == 1


def test_a_file_of_another_project(shop: Path) -> None:
    """A file that is stamped by another project is not taken for one of this."""
    good(shop, "init", "zoo", "-w", "apex")
    failed = quick(shop, "diff", "agent-output/zoo/00-session-state.json", "-p", "shop")
    assert failed.code == 3
    assert "is of project zoo" in failed.err


def test_log_with_changes(shop: Path) -> None:
    """`log --changes` has every leaf that each event changed, in words and as data."""
    said = good(shop, "log", "--changes", "-n", "3").out.splitlines()
    assert "    findings.F001.resolution: nothing → closed" in said
    assert any(line.startswith("    + tasks.T001: title Write") for line in said)
    lines = good(shop, "log", "--changes", "--type", "decision.made", "--json").out.splitlines()
    last = json.loads(lines[-1])
    changes = {x["path"]: (x["old"], x["new"], x["events"]) for x in last["changes"]}
    assert changes["decisions.region"] == ("sweden", "europe", [8])
    assert changes["decisions.D001.superseded_by"] == (None, "D002", [8])
    plain = json.loads(good(shop, "log", "-n", "1", "--json").out)
    assert "changes" not in plain


def test_looking_back_writes_nothing(shop: Path) -> None:
    """No command about the past touches a file or adds a record."""
    before = files(shop)
    for args in (
        *(("diff", "1"), ("diff", "-s", "noon"), ("diff", "3", STATE), ("why", "steps.1")),
        *(("log", "--changes"), ("resume", "--at", "4"), ("show", "--at", "4")),
    ):
        assert run(shop, *args).code == 0
    assert files(shop) == before


def test_hostile_words(shop: Path) -> None:
    """Text of agents stays on its line and steers no terminal."""
    good(shop, "finding", "open", "a\nb\x1b[31m | c")
    for args in (("diff", "10"), ("why", "F002"), ("log", "--changes", "-n", "1")):
        out = good(shop, *args).out
        assert "\x1b" not in out
        assert "a b [31m | c" in out


# -- laws ------------------------------------------------------------------------------------


def between(records: list[Record], first: int, last: int) -> Compared:
    """What `diff` finds between two versions of a history."""
    state = fold("my-app", records[:first])
    found = Compared(state, {}, {})
    for record, touches in follow(state, records[first:last]):
        found.add(record, touches)
    return found


@thorough
@given(chains(), st.data())
def test_the_facts_are_the_whole_difference(records: list[Record], data: st.DataObject) -> None:
    """Between any two versions the touched leaves that differ are exactly those of the states,
    and each fact names at least one event in between, which set one of its leaves."""
    first = data.draw(st.integers(0, len(records)))
    last = data.draw(st.integers(first, len(records)))
    found = between(records, first, last)
    a, b = fold("my-app", records[:first]), fold("my-app", records[:last])
    expected = [each for each in difference(a, b) if each.path[0] not in INNER]
    leaves = [each for thing in found.things.values() for each in thing.changes().values()]
    assert _ordered(leaves) == _ordered(expected)
    told = facts(found.things, found.state)
    assert {change.path[:2] for change in leaves} == {t.path for fact in told for t in fact.things}
    for fact in told:
        assert fact.events
        assert all(first < version <= last for version in fact.events)


def _ordered(changes: list[Change]) -> list[str]:
    # Where things stand may follow from what came and went in between.
    return sorted(repr(each) for each in changes if len(each.path) > 1 or not _is_order(each))


def _is_order(change: Change) -> bool:
    return isinstance(getattr(Project("x"), change.path[0]), dict)


@thorough
@given(chains())
def test_step_by_step_is_end_to_end(records: list[Record]) -> None:
    """A session that did everything changed what is different between both ends."""
    whole = between(records, 0, len(records))
    for thing in whole.things.values():
        ends = {text(path): repr(change) for path, change in thing.changes().items()}
        thing.whole = False
        steps = {text(path): repr(change) for path, change in thing.changes().items()}
        assert steps == ends


def test_any_two_versions_of_a_real_journal(shop: Path) -> None:
    """The leaves of `diff --json` lead from what `show --json` says then to what it says later."""
    rng = random.Random(3)
    shown = {n: good(shop, "show", "--at", str(n), "--json").json for n in range(1, 11)}
    for _ in range(12):
        a, b = sorted(rng.sample(range(1, 11), 2))
        for fact in good(shop, "diff", str(a), str(b), "--json").json["facts"]:
            for leaf in fact["changes"]:
                if leaf["path"] != "decisions.region" and leaf["change"] == "changed":
                    path = leaf["path"].split(".")
                    assert at(shown[a], path) == leaf["old"], leaf
                    assert at(shown[b], path) == leaf["new"], leaf


def at(document: Any, path: list[str]) -> Any:
    """What a document has at a path."""
    for part in path:
        document = document[part]
    return document
