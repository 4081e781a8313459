"""`passdown why`, and moments: which events made something so, and what stood there then."""

import json
import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from command import good, quick
from pasts import begin_shop, long_history

from cli.why import made
from journal import Handle, Journal, Project, note
from journal.leaves import ABSENT, INNER, leaves, same, text
from journal.pointing import pointed_at
from journal.seal import over


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A project with two sessions and ten events."""
    begin_shop(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Handle, list[Project]]]:
    """600 random events, and the state as it was after each."""
    with long_history(tmp_path_factory.mktemp("long"), 600) as found:
        yield found


def why(folder: Path, *args: str) -> Any:
    """The answer as data."""
    return good(folder, "why", *args, "--json").json


def test_why_a_step_is_as_it_is(shop: Path) -> None:
    """The events that made it so come newest first, with actor, session and time."""
    answer = why(shop, "steps.1.status")
    assert (answer["path"], answer["value"]) == ("steps.1.status", "complete")
    assert [x["type"] for x in answer["events"]] == [
        "step.completed",
        "step.started",
        "project.opened",
    ]
    newest = answer["events"][0]
    assert (newest["actor"], newest["session"], newest["version"]) == ("bob", "noon", 7)
    assert [(x["old"], x["new"]) for x in newest["changes"]] == [("in_progress", "complete")]
    said = good(shop, "why", "steps.1.status").out.splitlines()
    assert said[0] == "steps.1.status is complete"
    assert "bob, noon" in said[1]
    assert said[2] == "    steps.1.status: in_progress → complete"


@pytest.mark.parametrize(
    "path", ["decisions.region", "region", "decision.region", "decisions.region.value"]
)
def test_why_a_decision_holds(shop: Path, path: str) -> None:
    """The value of a key is explained by every decision on it, with its rationale."""
    answer = why(shop, path)
    assert answer["value"] == "europe"
    assert [(x["version"], x["reason"]) for x in answer["events"]] == [(8, "cheap"), (4, "near")]
    assert "because: cheap" in good(shop, "why", path).out


@pytest.mark.parametrize(
    ("path", "meant", "versions"),
    [
        ("D001", "decisions.D001", [8, 4]),
        ("D001.superseded_by", "decisions.D001.superseded_by", [8, 4]),
        ("F001", "findings.F001", [9, 5]),
        ("findings.f1.resolution", "findings.F001.resolution", [9, 5]),
        ("T001.title", "tasks.T001.title", [10]),
        ("session-002.agent", "sessions.session-002.agent", [6]),
        ("step.3.5.name", "steps.3_5.name", [1]),
        ("current_step", "current_step", [3]),
        ("title", "title", [1]),
        ("findings", "findings", [9, 5]),
        ("branch", "branch", []),
        ("policy.retries", "policy", []),
    ],
)
def test_what_can_be_asked_about(shop: Path, path: str, meant: str, versions: list[int]) -> None:
    """A path, an id with or without a field, short forms, and fields of the project itself."""
    answer = why(shop, path)
    assert answer["path"] == meant
    assert [x["version"] for x in answer["events"]] == versions


def test_why_a_task_is_blocked(shop: Path) -> None:
    """A task is blocked, and free again, because of what happened to a blocker."""
    good(shop, "blocker", "raise", "no key", "--task", "T001", "-a", "ada")
    assert why(shop, "T001.status")["value"] == "blocked"
    good(shop, "blocker", "resolve", "block-001", "-r", "it came")
    answer = why(shop, "T001.status")
    assert answer["value"] == "open"
    assert [(x["type"], x["reason"]) for x in answer["events"]] == [
        ("blocker.resolved", "it came"),
        ("blocker.raised", ""),
        ("task.added", ""),
    ]
    assert [x["type"] for x in why(shop, "block-001")["events"]] == [
        "blocker.resolved",
        "blocker.raised",
    ]


def test_why_something_is_gone(tmp_path: Path) -> None:
    """What is not there any more can still be asked about, and what it was before."""
    good(tmp_path, "init", "desk", "--maintainer", "mia")
    good(tmp_path, "actor", "register", "ada")
    good(tmp_path, "turn", "request", "Check the plan", "-a", "ada")
    good(tmp_path, "turn", "withdraw", "TURN-001", "-r", "done already", "-a", "ada")
    answer = why(tmp_path, "turns.TURN-001")
    assert [x["type"] for x in answer["events"]] == ["turn.withdrawn", "turn.requested"]
    assert answer["events"][0]["reason"] == "done already"
    assert {x["change"] for x in answer["events"][0]["changes"]} == {"removed"}


def test_keys_with_dots(shop: Path) -> None:
    """A key may have dots; in quotes it stands for itself, as the answer writes it."""
    good(shop, "append", "files.changed", '{"path": "src/a.b.c", "digest": "x"}')
    for path in ("files.src/a.b.c.digest", 'files."src/a.b.c".digest', "src/a.b.c.digest"):
        answer = why(shop, path)
        assert answer["path"] == 'files."src/a.b.c".digest'
        assert [x["version"] for x in answer["events"]] == [11]


def test_the_newest_so_many(shop: Path) -> None:
    """-n shows the newest, and says how many more there are."""
    some = why(shop, "steps.1", "-n", "1")
    assert ([x["version"] for x in some["events"]], some["left_out"]) == ([7], 2)
    assert "2 older events" in quick(shop, "why", "steps.1", "-n", "1").err
    assert len(why(shop, "steps.1", "-n", "0")["events"]) == 3


def test_why_it_was_so_then(shop: Path) -> None:
    """With --at it is explained as of then."""
    then = why(shop, "decisions.region", "--at", "6")
    assert then["value"] == "sweden"
    assert [x["version"] for x in then["events"]] == [4]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("steps.1.stat", "no field 'stat'; near: status"),
        ("steps.99", "no step '99'"),
        ("decisions.regoin", "near: region"),
        ("F00", "no part 'F00'; near: F001"),
        ("nonsense.at.all", "`passdown show --json` has all there is"),
        ("title.x", "`passdown show --json` has all there is"),
        ('files."a', "begins with a quote that does not end"),
        ("", "no part ''"),
    ],
)
def test_what_is_not_there(shop: Path, path: str, said: str) -> None:
    """What means nothing is refused, with names that are like it."""
    failed = quick(shop, "why", path)
    assert failed.code in (3, 4)
    assert said in failed.err
    assert failed.err.count("\n") == 1


def test_an_id_of_two_things(shop: Path) -> None:
    """An id that two things have is refused, and both are named."""
    good(shop, "append", "plan.added", '{"step": "1", "name": "One", "plan": "1"}')
    failed = quick(shop, "why", "1")
    assert failed.code == 3
    assert "could be steps.1, plans.1; say which" in failed.err


# -- moments ---------------------------------------------------------------------------------


def test_any_moment_for_every_command(shop: Path) -> None:
    """show, its files, resume and why take a version, a time, an event's id or its beginning."""
    record = json.loads(good(shop, "log", "-n", "0", "--json").out.splitlines()[5])
    for form in ("json", "session-state", "handoff", "state-md"):
        expected = good(shop, "show", "--as", form, "--at", "6").out
        assert good(shop, "show", "--as", form, "--at", record["id"]).out == expected
        assert good(shop, "show", "--as", form, "--at", record["id"][:30]).out == expected
    now = good(shop, "show", "--json").json
    assert good(shop, "show", "--json", "--at", "0s").json == now
    assert good(shop, "show", "--json", "--at", "0s ago").json == now
    assert now["version"] == 10


def test_an_id_of_ones_own_is_a_moment(shop: Path) -> None:
    """A request's own --id names the moment at which it was recorded."""
    good(shop, "finding", "open", "later", "--id", "deploy-7")
    good(shop, "finding", "open", "last")
    assert good(shop, "show", "--json", "--at", "deploy-7").json["version"] == 11


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ("0", "has versions 1 to 10, not 0"),
        ("11", "has versions 1 to 10, not 11"),
        ("00000000", "is no moment of shop"),
        ("deadbeef", "is no moment of shop"),
        ("passdown.seal", "is no moment of shop"),
        ("9999w", "had no records yet"),
        (".planning/STATE.md", ".planning/STATE.md: "),
    ],
)
def test_no_moment(shop: Path, at: str, said: str) -> None:
    """What is no moment is refused, with what would be one."""
    for command in ("show", "resume"):
        failed = quick(shop, command, "--at", at)
        assert failed.code == 3
        assert said in failed.err


def test_a_seal_is_a_moment(shop: Path) -> None:
    """A seal means the version that it states, if the journal has what was sealed."""
    with Journal.open(shop) as journal:
        hashes = [record.hash for record in journal.project("shop").records()]
    signer = note.named("shop", bytes(range(32)))
    for name, sealed in (
        ("seven", hashes[:7]),
        ("forged", hashes[1:7]),
        ("ahead", hashes + hashes),
    ):
        (shop / f"{name}.seal").write_bytes(signer.sign(over("shop", sealed).text))
    assert good(shop, "show", "--json", "--at", "seven.seal").json["version"] == 7
    facts = good(shop, "diff", "seven.seal", "--json").json
    assert (facts["before"]["version"], facts["after"]["version"]) == (7, 10)
    for name in ("forged", "ahead"):
        for args in (("show", "--at", f"{name}.seal"), ("diff", f"{name}.seal")):
            failed = quick(shop, *args)
            assert failed.code == 3
            assert f"{name}.seal is no moment of this journal: it states" in failed.err


def test_the_brief_of_then(shop: Path) -> None:
    """`resume --at` is the brief as of then, says so, and holds no file of now against it."""
    (shop / ".planning/STATE.md").write_text("edited")
    then = good(shop, "resume", "--at", "5", "--format", "json").json
    assert (then["version"], then["as_of"], then["step"]) == (5, 5, "1")
    assert then["say"].startswith("This is how it stood at version 5 of 10, 20")
    assert [item["id"] for item in then["findings"]] == ["F001"]
    assert (then["drift"], then["mismatches"]) == ([], [])
    assert good(shop, "resume", "--format", "json").json["drift"] != []
    short = good(shop, "resume", "--at", "5", "--only", "findings", "--format", "json").json
    assert short["more"].endswith("--at 5")
    assert quick(shop, "resume", "--at", "5", "--session", "x").code == 3


def test_no_brief_of_then_without_a_journal(tmp_path: Path) -> None:
    """Where no journal knows the project there is no past of it."""
    failed = quick(tmp_path, "resume", "--at", "5")
    assert failed.code == 3
    assert "leave --at out" in failed.err


#: What is told by other leaves, and not pointed at.
_OTHERWISE = INNER | {"keyed"}

# -- laws ------------------------------------------------------------------------------------


def test_why_names_an_event_that_set_the_leaf(long: tuple[Handle, list[Project]]) -> None:
    """For leaves of a long random history, named as one writes them: the newest event that `why`
    names made the leaf what it is, and the ones before it are all that ever changed it."""
    app, states = long
    last = states[-1]
    values = [dict(leaves(state)) for state in (Project("my-app"), *states)]
    records = list(app.records())
    # Whether a task is blocked is not only for the task to say.
    found = [path for path in values[-1] if path[0] not in _OTHERWISE and path[2:] != ("status",)]
    for path in random.Random(4).sample(found, 100):
        versions = [each.record.version for each in made(last, records, [path])]
        sides = [(old.get(path, ABSENT), new.get(path, ABSENT)) for old, new in pairwise(values)]
        changed = [n for n, (old, new) in enumerate(sides, start=1) if not same(old, new)]
        assert versions == changed


def test_every_leaf_can_be_pointed_at(long: tuple[Handle, list[Project]]) -> None:
    """The path of every leaf, written as text, means that leaf and no other."""
    last = long[1][-1]
    for path, _ in leaves(last):
        if path[0] not in _OTHERWISE:
            assert pointed_at(last, text(path)) == [path]
