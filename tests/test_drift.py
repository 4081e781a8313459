"""Edits by hand: noticed, shown, adopted or reverted, and never lost to a race."""

import json
import os
import random
import time
from pathlib import Path
from typing import Any

import pytest
from command import files, good, quick

from journal import Journal
from journal.audit import audit
from journal.events import ProjectOpened
from journal.payload import decode
from journal.workspace import find
from projections.files import inspect, sync

STATE = "agent-output/shop/00-session-state.json"
HANDOFF = "agent-output/shop/00-handoff.md"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A workspace in which step 1 is at work."""
    good(tmp_path, "init", "shop")
    good(tmp_path, "step", "start", "1", "-a", "02-Requirements")
    good(tmp_path, "finding", "open", "old")
    return tmp_path


def edit(folder: Path, **values: Any) -> dict[str, Any]:
    """Change top-level values of the state file by hand, as an agent would."""
    document: dict[str, Any] = json.loads((folder / STATE).read_bytes())
    document |= values
    (folder / STATE).write_text(json.dumps(document, indent=1))
    return document


def types(folder: Path) -> list[str]:
    """The types of all that was recorded."""
    lines = good(folder, "log", "-n", "0", "--json").out.splitlines()
    return [json.loads(line)["type"] for line in lines]


def test_an_edit_is_noticed(shop: Path) -> None:
    """verify, show and recording commands say so, and the next event is recorded all the same."""
    edit(shop, team="blue")
    assert "was edited outside Passdown" in quick(shop, "verify").err
    assert "passdown drift" in good(shop, "show").err
    done = good(shop, "next", "go on", "--json")
    assert done.json["synced"] is False
    assert "drift --adopt" in done.err
    assert "drift --revert" in done.err
    assert json.loads((shop / STATE).read_bytes())["team"] == "blue"
    assert "go on" in (shop / HANDOFF).read_text()


def test_drift_shows_the_fields(shop: Path) -> None:
    """Each field that differs is shown with what it was and what it is, and nothing is written."""
    edit(shop, open_findings=["old", "new"], team="blue")
    before = files(shop)
    said = quick(shop, "drift", "--json")
    assert said.code == 1
    changes = {change["where"]: (change["was"], change["now"]) for change in said.json["changes"]}
    assert changes["team"] == ([], ["blue"])
    assert changes["open_findings"] == ([], ["new"])
    assert "team" in quick(shop, "drift").out
    assert files(shop) == before


def test_drift_of_a_file_that_is_not_read_back(shop: Path) -> None:
    """Of the handoff the lines are shown, and the edit can be reverted."""
    (shop / HANDOFF).write_text((shop / HANDOFF).read_text() + "my line\n")
    assert "my line" in quick(shop, "drift").out
    assert quick(shop, "drift", "--adopt").code == 1
    good(shop, "drift", "--revert")
    assert "my line" not in (shop / HANDOFF).read_text()
    assert good(shop, "drift").out == "shop: no file was edited outside Passdown\n"


def test_an_edit_is_adopted(shop: Path) -> None:
    """What was edited becomes events of whoever is named, and the file is ours again."""
    document = json.loads((shop / STATE).read_bytes())
    steps = document["steps"]
    steps["1"] |= {"status": "complete", "completed": "2026-03-02T10:15:00Z", "sub_step": None}
    edit(shop, steps=steps, open_findings=["new"], region="northeurope", team="blue")
    good(shop, "drift", "--adopt", "--actor", "ada")
    assert types(shop)[-1] == "projection.drift_adopted"
    assert {"step.completed", "finding.opened", "finding.resolved"} <= {*types(shop)}
    state = good(shop, "show", "--json").json
    assert state["steps"]["1"]["completed"] == "2026-03-02T10:15:00Z"
    assert [f["title"] for f in state["findings"].values() if not f["resolved"]] == ["new"]
    assert json.loads((shop / STATE).read_bytes())["team"] == "blue"
    assert good(shop, "verify").code == 0
    last = json.loads(good(shop, "log", "-n", "1", "--json").out)
    assert last["actor"] == "ada"


def test_an_edit_is_reverted(shop: Path) -> None:
    """The rendered bytes are put back, the edit is kept aside, and both are recorded."""
    before = (shop / STATE).read_bytes()
    edit(shop, team="blue")
    good(shop, "drift", "--revert", "--actor", "ada")
    assert (shop / STATE).read_bytes() == before
    assert types(shop)[-1] == "projection.drift_reverted"
    kept = list((shop / ".passdown/lost").iterdir())
    assert json.loads(kept[0].read_bytes())["team"] == "blue"


def test_both_sides_changed(shop: Path) -> None:
    """What was recorded since stays, and of a value that both changed the file's is the later."""
    document = json.loads((shop / STATE).read_bytes())
    good(shop, "finding", "open", "meanwhile")
    good(shop, "decide", "--key", "budget", "--value", "100")
    document["open_findings"].append("by hand")
    document["decisions"]["budget"] = "200"
    (shop / STATE).write_text(json.dumps(document))
    good(shop, "drift", "--adopt")
    state = good(shop, "show", "--json").json
    open_findings = [f["title"] for f in state["findings"].values() if not f["resolved"]]
    assert open_findings == ["old", "meanwhile", "by hand"]
    values = [d["value"] for d in state["decisions"].values() if d["key"] == "budget"]
    assert values == ["100", "200"]


def test_without_a_stamp_nothing_is_believed_to_be_gone(shop: Path) -> None:
    """A file that lost its stamp adds and changes, and takes nothing away."""
    document = json.loads((shop / STATE).read_bytes())
    del document["_passdown"]
    document["open_findings"] = ["new"]
    (shop / STATE).write_text(json.dumps(document))
    good(shop, "drift", "--adopt")
    state = good(shop, "show", "--json").json
    assert [f["title"] for f in state["findings"].values() if not f["resolved"]] == ["old", "new"]


def test_an_edit_that_cannot_be_read(shop: Path) -> None:
    """A version that is not known is not adopted; the file stays, and the sentence says why."""
    edit(shop, schema_version="9.9")
    before = files(shop)
    no = quick(shop, "drift", "--adopt")
    assert no.code == 1
    assert "schema_version" in no.err
    assert files(shop) == before


def test_adoption_by_itself(shop: Path) -> None:
    """With drift = "adopt" an old agent that writes the file and a new one work in turn."""
    (shop / "passdown.toml").write_text('drift = "adopt"\n')
    for n in range(5):
        document = json.loads((shop / STATE).read_bytes())
        document["open_findings"].append(f"old agent {n}")
        (shop / STATE).write_text(json.dumps(document))
        done = good(shop, "finding", "open", f"new agent {n}", "--json")
        assert (done.json["synced"], done.err) == (True, "")
    found = json.loads((shop / STATE).read_bytes())["open_findings"]
    assert {f"{who} agent {n}" for who in ("old", "new") for n in range(5)} <= {*found}
    assert good(shop, "verify").code == 0


EDITS = 150


def _edit_on(path: Path, rng: random.Random) -> None:
    """An agent that reads, changes and writes the file, now in place, now by rename."""
    for n in range(EDITS):
        while True:
            try:
                document = json.loads(path.read_bytes())
                break
            except ValueError:
                time.sleep(0.001)  # it is written in place by nobody but this agent
        document["open_findings"].append(f"edit {n}")
        document["decisions"][f"key_{n}"] = n
        text = json.dumps(document, indent=2)
        if rng.random() < 0.5:
            path.write_text(text)
        else:
            fresh = path.with_name("edited")
            fresh.write_text(text)
            os.replace(fresh, path)
        time.sleep(rng.uniform(0, 0.02))


def test_two_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    """One process edits the file 150 times, another records 150 times: all of both is there."""
    (tmp_path / "passdown.toml").write_text('drift = "adopt"\n')
    with Journal.create(tmp_path) as journal:
        app = journal.open_project("shop")
        workspace = find(tmp_path)
        sync(workspace, app)
        child = os.fork()
        if child == 0:
            try:
                _edit_on(tmp_path / STATE, random.Random(7))
                os._exit(0)
            finally:
                os._exit(1)
        for n in range(EDITS):
            app.open_finding(f"record {n}")
            sync(workspace, app)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        for _ in range(2):
            sync(workspace, app)
        state = app.state
        assert {f"record {n}" for n in range(EDITS)} <= state.open_findings.keys()
        assert {f"edit {n}" for n in range(EDITS)} <= state.open_findings.keys()
        assert {f"key_{n}" for n in range(EDITS)} <= state.keyed.keys()
        assert not [x for x in state.findings.values() if x.resolved is not None]
        assert {file.status for file in inspect(workspace, app)} == {"fresh"}
        assert list(audit(journal.store)) == []
        kinds = [type(decode(record.type, record.data)) for record in app.records()]
        assert kinds.count(ProjectOpened) == 1


# -- edits, and what was recorded meanwhile --------------------------------------------------


def written(folder: Path) -> dict[str, Any]:
    """What the state file says."""
    document: dict[str, Any] = json.loads((folder / STATE).read_bytes())
    return document


def test_an_edit_of_a_step_keeps_what_was_recorded_in_it(shop: Path) -> None:
    """Of a step only the fields that were edited are taken over; lists are joined."""
    (shop / "passdown.toml").write_text('drift = "adopt"\n')
    document = written(shop)
    document["steps"]["1"]["note"] = "mine"
    document["steps"]["1"]["artifacts"] = ["edited.md"]
    (shop / STATE).write_text(json.dumps(document))
    good(shop, "step", "complete", "1", "--artifact", "recorded.md")
    step = written(shop)["steps"]["1"]
    assert (step["status"], step["note"]) == ("complete", "mine")
    assert {*step["artifacts"]} == {"edited.md", "recorded.md"}


def test_an_edit_inside_what_no_event_can_say(shop: Path) -> None:
    """Objects that the model does not know can be edited again and again."""
    edit(shop, custom={"k": "one", "deep": {"n": 1}})
    good(shop, "drift", "--adopt")
    edit(shop, custom={"k": "two", "deep": {"n": 1, "m": 2}, "added": True})
    good(shop, "drift", "--adopt")
    assert written(shop)["custom"] == {"k": "two", "deep": {"n": 1, "m": 2}, "added": True}
    assert good(shop, "verify").code == 0


def test_what_has_no_place_is_kept_alone(shop: Path) -> None:
    """A value that the file may not have is kept, also if nothing else was edited."""
    edit(shop, lock={"owner": "somebody"})
    good(shop, "drift", "--adopt")
    originals = good(shop, "show", "--json").json["originals"]
    assert {"path": ["lock"], "value": {"owner": "somebody"}} in originals


@pytest.mark.parametrize("damage", ["an empty finding", "no stamp", "a garbled stamp"])
def test_no_edit_hides_a_finding(shop: Path, damage: str) -> None:
    """Whatever was done to the list or to the stamp, every open finding is in the file."""
    document = written(shop)
    match damage:
        case "an empty finding":
            document["open_findings"].append("")
        case "no stamp":
            del document["_passdown"]
            document["open_findings"] = []
        case _:
            document["_passdown"]["hash"] = "0" * 64
            document["region"] = "westeurope"
    good(shop, "finding", "open", "recorded")
    good(shop, "decide", "--key", "budget", "--value", "new")
    (shop / STATE).write_text(json.dumps(document))
    good(shop, "drift", "--adopt")
    assert {"old", "recorded"} <= {*written(shop)["open_findings"]}
    assert written(shop)["decisions"]["budget"] == "new"


def test_a_copy_that_is_written_again(shop: Path) -> None:
    """An agent that keeps its document and writes it again adds each of its entries once."""
    (shop / "passdown.toml").write_text('drift = "adopt"\n')
    document = written(shop)
    for n, entry in enumerate(({"decision": "X"}, {"decision": "Y"}, {"id": "D050", "title": "Z"})):
        document["decision_log"].append(entry)
        (shop / STATE).write_text(json.dumps(document))
        good(shop, "note", f"note {n}")
    assert len(written(shop)["decision_log"]) == 3


def test_a_file_of_another_project(shop: Path) -> None:
    """Another project's file in the place of ours is left there and refused."""
    good(shop, "init", "other")
    other = (shop / "agent-output/other/00-session-state.json").read_bytes()
    (shop / STATE).write_bytes(other)
    no = quick(shop, "drift", "--adopt", "-p", "shop")
    assert no.code == 1
    assert "'other', not of shop" in no.err
    assert (shop / STATE).read_bytes() == other


def test_the_current_step_is_the_files(shop: Path) -> None:
    """A step that was finished in the file does not become the current one by that."""
    document = written(shop)
    document["steps"]["3"] |= {
        "status": "complete",
        "started": "2026-03-01T00:00:00Z",
        "completed": "2026-03-02T00:00:00Z",
    }
    (shop / STATE).write_text(json.dumps(document))
    good(shop, "drift", "--adopt")
    assert written(shop)["current_step"] == 1
