"""Archiving an orchestration: all of its files are moved or none, and they come back when asked."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from command import Result, bound_by_permissions, files, finished, good, quick, run
from faults import write_settled

from journal import Journal
from journal.events import ProjectArchived
from journal.workspace import find
from projections import atomic
from projections.files import sync

TOUR = "2024-01-15-rate-limiter"
STATE = ".gemini/state/active-session.md"
ARCHIVED = f".gemini/state/archive/{TOUR}.md"
DESIGN, PLAN = ".gemini/plans/design.md", ".gemini/plans/plan.md"
MOVES = {
    DESIGN: ".gemini/plans/archive/design.md",
    PLAN: ".gemini/plans/archive/plan.md",
    STATE: ARCHIVED,
}
DONE = ("step start 1", "step complete 1 --interface A", "step start 2")


def begun(folder: Path, *said: str) -> Path:
    """A workspace with an orchestration of two phases, its documents, and what was said then."""
    write(folder / DESIGN, "# Design\n")
    write(folder / PLAN, "# Plan\n")
    words = ("init", TOUR, "--phases", "Design; Build", "--design", DESIGN, "--plan", PLAN)
    good(folder, *words)
    good(folder, "actor", "register", "ada", "--role", "person")
    for line in said:
        good(folder, *shlex.split(line))
    return folder


@pytest.fixture
def tour(tmp_path: Path) -> Path:
    """A workspace with an orchestration whose phases are all complete."""
    return begun(tmp_path, *DONE, "step complete 2 --interface B")


def write(path: Path, text: str) -> None:
    """A file with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def there(folder: Path) -> set[str]:
    """The files of a workspace, but for the journal's own."""
    found = (str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    return {name for name in found if not name.startswith(".passdown/")}


def front(folder: Path, path: str) -> dict[str, object]:
    """The front matter of a session file."""
    loaded = yaml.safe_load((folder / path).read_text().split("---\n")[1])
    assert isinstance(loaded, dict)
    return loaded


def kinds(folder: Path, slug: str = TOUR) -> list[str]:
    """The types of what was recorded, in order."""
    with Journal.open(folder) as journal:
        return [record.type for record in journal.project(slug).records()]


# -- archiving -------------------------------------------------------------------------------


def test_all_of_it_is_moved_and_said(tour: Path) -> None:
    """The session file and both documents are in their archives and nowhere else, and named."""
    plan = (tour / PLAN).read_bytes()
    said = good(tour, "archive", "--reason", "shipped").out
    assert [line.strip() for line in said.splitlines()[1:]] == [
        f"{origin} → {goal}" for origin, goal in MOVES.items()
    ]
    assert there(tour) == {*MOVES.values(), f"{ARCHIVED}.bak"}
    assert (tour / MOVES[PLAN]).read_bytes() == plan
    shown = front(tour, ARCHIVED)
    assert (shown["status"], shown["session_id"]) == ("completed", TOUR)
    assert (shown["design_document"], shown["implementation_plan"]) == (MOVES[DESIGN], MOVES[PLAN])
    assert good(tour, "verify").out.endswith(f"{ARCHIVED}: fresh\n")


def test_the_same_file_is_moved(tour: Path) -> None:
    """A document that somebody has open is the same file afterwards: moved, and not copied."""
    before = (tour / PLAN).stat().st_ino
    good(tour, "archive")
    assert (tour / MOVES[PLAN]).stat().st_ino == before


def test_as_data(tour: Path) -> None:
    """The answer as data says what was recorded, and where every file was and is."""
    said = good(tour, "archive", "--json").json
    moves = [{"active": origin, "archived": goal} for origin, goal in MOVES.items()]
    assert said["appended"][0]["data"]["moves"] == moves
    assert (said["archived"]["moved"], said["archived"]["wanting"]) == (moves, [])
    assert said["synced"] is True


def test_archived_again(tour: Path) -> None:
    """A second time nothing is recorded, and it is said since when and what is where."""
    good(tour, "archive")
    before = files(tour)
    said = good(tour, "archive").out
    assert "already so, nothing recorded" in said
    assert f"{STATE} → {ARCHIVED}" in said
    assert good(tour, "archive", "--json").json["archived"]["archived"] != ""
    assert files(tour) == before


def test_the_same_request_again(tour: Path) -> None:
    """With an id the request is known again, and its first result is the answer."""
    first = good(tour, "archive", "--id", "k-1", "--json").json
    again = good(tour, "archive", "--id", "k-1", "--json").json
    assert again["repeated"] is True
    assert again["appended"] == first["appended"]
    assert again["archived"] == first["archived"]


def test_two_at_once(tour: Path) -> None:
    """Of two processes that archive at the same moment one does, and both say where files are."""
    command = [sys.executable, "-m", "passdown", "archive", "--json"]
    both = [subprocess.Popen(command, cwd=tour, stdout=subprocess.PIPE) for _ in range(2)]
    said = [json.loads(each.communicate(timeout=60)[0]) for each in both]
    assert [each.returncode for each in both] == [0, 0]
    assert sorted(len(each["appended"]) for each in said) == [0, 1]
    assert [each["archived"]["wanting"] for each in said] == [[], []]
    assert kinds(tour).count("project.archived") == 1
    assert there(tour) == {*MOVES.values(), f"{ARCHIVED}.bak"}


def test_any_event_of_that_kind_moves_the_files(tour: Path) -> None:
    """Appended by its type, whatever moves it names, it moves what there is to move."""
    moves = '{"moves": [{"active": "../theirs", "archived": "passdown.toml"}]}'
    good(tour, "append", "project.archived", moves)
    assert there(tour) == {*MOVES.values(), f"{ARCHIVED}.bak"}


def test_without_files_of_its_own_nothing_is_moved(tmp_path: Path) -> None:
    """A project of another kind is archived where it is, and says so."""
    good(tmp_path, "init", "shop")
    write(tmp_path / PLAN, "# Plan\n")
    good(tmp_path, "append", "document.recorded", json.dumps({"kind": "plan", "path": PLAN}))
    before = there(tmp_path)
    assert "no file is moved" in good(tmp_path, "archive").out
    assert there(tmp_path) - before <= {f"{name}.bak" for name in before}
    assert [row["archived"] for row in good(tmp_path, "projects", "--json").json] == [True]


def test_the_files_follow_later(tour: Path) -> None:
    """Recorded only, the files stay where they are, and the next sync moves them."""
    before = there(tour)
    assert "the next `passdown sync` moves them" in good(tour, "archive", "--no-sync").out
    assert there(tour) == before
    good(tour, "sync")
    assert there(tour) == {*MOVES.values(), f"{ARCHIVED}.bak"}


# -- who may, and what is refused ------------------------------------------------------------


def refused(folder: Path, *words: str) -> Result:
    """A command that is refused in one sentence, and changes nothing."""
    before = files(folder)
    said = quick(folder, *words)
    assert said.code == 5, said
    assert said.err.count("\n") == 1
    assert {x: y for x, y in files(folder).items() if x not in _LOCKS} == {
        x: y for x, y in before.items() if x not in _LOCKS
    }
    return said


_LOCKS = (".passdown/files.lock", ".passdown/write.lock")


def test_work_that_is_left(tmp_path: Path) -> None:
    """While a phase is open an agent is refused, and a person may: the offer is the command."""
    folder = begun(tmp_path, "step start 1")
    said = refused(folder, "archive", "-p", TOUR, "--actor", "coder")
    assert "steps 1, 2 are not done" in said.err
    offer = f"archive --actor PERSON -p {TOUR}"
    assert offer in said.err
    good(folder, *shlex.split(offer.replace("PERSON", "ada")))


def test_a_person_archives_with_a_reason_what_nobody_reconciled(tmp_path: Path) -> None:
    """A phase that nobody accounts for blocks archiving, but for a person who says why."""
    folder = begun(tmp_path, *DONE, "step complete 2")
    said = refused(folder, "archive", "-p", TOUR, "--actor", "ada")
    offer = f"archive --actor PERSON --reason REASON -p {TOUR}"
    assert offer in said.err
    assert f"step reconcile 2 --note NOTE -p {TOUR}" in said.err
    good(folder, *shlex.split(offer.replace("PERSON", "ada").replace("REASON", "'no time left'")))
    assert there(folder) == {*MOVES.values(), f"{ARCHIVED}.bak"}


def test_an_archived_project_rejects_writes(tour: Path) -> None:
    """Whatever is recorded is refused with the command that opens the project again."""
    good(tour, "archive")
    said = refused(tour, "note", "still a word", "--kind", "next_step")
    offer = f"reopen -p {TOUR}"
    assert f"allowed now: {offer}" in said.err
    good(tour, *shlex.split(offer))
    good(tour, "note", "still a word", "--kind", "next_step")


def test_an_edit_that_was_not_adopted(tour: Path) -> None:
    """A session file that drifted is not moved: the refusal offers to adopt the edit, or not to."""
    text = (tour / STATE).read_text().replace('task: "', 'task: "My ')
    write_settled(tour / STATE, text.encode())
    said = refused(tour, "archive")
    for offer in (f"drift --adopt -p {TOUR}", f"drift --revert -p {TOUR}"):
        assert offer in said.err
    good(tour, "drift", "--adopt", "-p", TOUR)
    good(tour, "archive")
    assert front(tour, ARCHIVED)["task"] == "My Rate limiter"


def test_its_tool_archives_it(tour: Path) -> None:
    """Moved away by whoever writes it too, it is not there again at once, and is asked for back."""
    edited = (tour / STATE).read_text().replace('status: "in_progress"', 'status: "completed"')
    (tour / ARCHIVED).parent.mkdir()
    write_settled(tour / ARCHIVED, edited.encode())
    (tour / STATE).unlink()
    for words in (("sync",), ("archive",), ("next", "Ship it.")):
        said = run(tour, *words)
        assert f"{STATE} was moved to {ARCHIVED} outside Passdown; move it back" in said.err
        assert not (tour / STATE).exists()
    (tour / ARCHIVED).rename(tour / STATE)
    good(tour, "drift", "--adopt")
    assert "kept 1 value of a file" in good(tour, "log").out
    good(tour, "archive")
    assert front(tour, ARCHIVED)["status"] == "completed"
    assert good(tour, "verify").out.endswith(f"{ARCHIVED}: fresh\n")


def test_what_its_tool_archived_is_written_anew_on_purpose(tour: Path) -> None:
    """`recover` puts the file back in its place, and what was moved away stays as it is."""
    (tour / ARCHIVED).parent.mkdir()
    was = (tour / STATE).read_bytes()
    write_settled(tour / ARCHIVED, was.replace(b"Rate limiter", b"My limiter"))
    (tour / STATE).unlink()
    good(tour, "recover")
    assert (tour / STATE).read_bytes() == was
    assert b"My limiter" in (tour / ARCHIVED).read_bytes()


def test_an_edit_is_adopted_first_where_the_settings_say_so(tour: Path) -> None:
    """With drift = "adopt" the edit is recorded, and then the file is archived with it."""
    write(tour / "passdown.toml", 'drift = "adopt"\n')
    text = (tour / STATE).read_text().replace('task: "', 'task: "My ')
    write_settled(tour / STATE, text.encode())
    good(tour, "archive")
    assert front(tour, ARCHIVED)["task"] == "My Rate limiter"


@pytest.mark.parametrize("origin", MOVES)
def test_nothing_is_overwritten(tour: Path, origin: str) -> None:
    """What is at one of the new places already is refused before anything is recorded."""
    write(tour / MOVES[origin], "somebody else's\n")
    said = refused(tour, "archive")
    assert f"{MOVES[origin]} is there already; move it away" in said.err
    (tour / MOVES[origin]).unlink()
    good(tour, "archive")


def test_what_is_there_already_is_no_reason_to_refuse(tour: Path) -> None:
    """A document whose archive has the same content is not kept twice."""
    write(tour / MOVES[PLAN], "# Plan\n")
    good(tour, "archive")
    assert there(tour) == {*MOVES.values(), f"{ARCHIVED}.bak"}


def test_a_document_that_is_gone(tour: Path) -> None:
    """A document that is not there is said, and does not keep the rest from being archived."""
    (tour / DESIGN).unlink()
    said = good(tour, "archive")
    assert f"{DESIGN} is not there and was not moved" in said.err
    assert there(tour) == {MOVES[PLAN], ARCHIVED, f"{ARCHIVED}.bak"}
    assert front(tour, ARCHIVED)["design_document"] == DESIGN


def test_a_document_that_is_the_session_file(tour: Path) -> None:
    """Named as a document as well, the session file is moved once, and as what it is."""
    named = {"kind": "design", "path": STATE}
    good(tour, "append", "document.recorded", json.dumps(named))
    good(tour, "archive")
    assert there(tour) == {DESIGN, MOVES[PLAN], ARCHIVED, f"{ARCHIVED}.bak"}
    good(tour, "verify")


def test_links_stay(tour: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A document behind a link is left where it is, and a session file behind one is refused."""
    outside = tmp_path_factory.mktemp("outside") / "plan.md"
    outside.write_text("# Plan\n")
    (tour / PLAN).unlink()
    (tour / PLAN).symlink_to(outside)
    (tour / "real.md").write_bytes((tour / STATE).read_bytes())
    (tour / STATE).unlink()
    (tour / STATE).symlink_to(tour / "real.md")
    assert "is a link; put the file itself there" in quick(tour, "archive").err
    (tour / STATE).unlink()
    said = good(tour, "archive")
    assert f"{PLAN} is a link and was not moved" in said.err
    assert (tour / PLAN).is_symlink()


def test_a_folder_that_takes_nothing(tour: Path) -> None:
    """Where the archive cannot be made nothing is recorded either."""
    (tour / ".gemini/plans").chmod(0o555)
    said = run(tour, "archive", before=bound_by_permissions)
    assert (said.code, "nothing can be moved in .gemini/plans" in said.err) == (5, True), said
    assert "project.archived" not in kinds(tour)
    (tour / ".gemini/plans").chmod(0o755)
    good(tour, "archive")
    (tour / ".gemini/state").chmod(0o555)
    said = run(tour, "reopen", before=bound_by_permissions)
    assert (said.code, "nothing can be moved in .gemini/state" in said.err) == (5, True), said
    (tour / ".gemini/state").chmod(0o755)


def test_an_archive_that_leads_elsewhere(
    tour: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Where the archive is a link out of the workspace, or no folder, nothing is moved at all."""
    outside = tmp_path_factory.mktemp("outside")
    (tour / ".gemini/plans/archive").symlink_to(outside)
    assert "leads out of the workspace" in refused(tour, "archive").err
    (tour / ".gemini/plans/archive").unlink()
    write(tour / ".gemini/plans/archive", "a file\n")
    assert ".gemini/plans/archive is no folder" in refused(tour, "archive").err


def test_what_comes_in_between_is_said(tour: Path) -> None:
    """A file that is put into the way once it is recorded stops the move until it is gone."""
    good(tour, "archive", "--no-sync")
    write(tour / MOVES[PLAN], "somebody else's\n")
    said = quick(tour, "archive")
    assert said.code == 1
    assert f"{MOVES[PLAN]} is there already" in said.err
    assert f"{STATE} is still there" in said.err
    assert (tour / MOVES[PLAN]).read_text() == "somebody else's\n"
    assert (tour / PLAN).read_text() == "# Plan\n"
    assert quick(tour, "sync").code == 1
    (tour / MOVES[PLAN]).unlink()
    good(tour, "archive")
    assert there(tour) == {*MOVES.values(), f"{ARCHIVED}.bak"}


# -- interrupted -----------------------------------------------------------------------------

#: Runs a command, and kills the process before its n-th operation that changes a file.
_KILLED = """
import os, signal, sys
left = int(sys.argv.pop(1))
changes = {"os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "os.truncate"}

def count(event, args):
    global left
    written = event == "open" and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    if written or event in changes or (event == "ctypes.dlsym" and "rename" in str(args[1])):
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

import cli.app, cli.archive, cli.closing, cli.recording, ctypes
sys.addaudithook(count)
sys.exit(cli.app.run(sys.argv[1:]))
"""


def killed(folder: Path, after: int, *words: str) -> bool:
    """Run a command that is killed after so many changes; whether it came that far."""
    done = finished([sys.executable, "-c", _KILLED, str(after), *words], folder)
    assert done.code in (0, -signal.SIGKILL), done
    return done.code != 0


def outcome(folder: Path) -> dict[str, str]:
    """What is in the files of a workspace, but for times and what stamps say of them."""
    return {name: plain((folder / name).read_text()) for name in there(folder)}


def plain(text: str) -> str:
    """A session file without its times and the hashes that come of them."""
    text = re.sub(r"\d{4}-\d\d-\d\dT[0-9:.]+Z", "TIME", text)
    return re.sub(r"(hash|digest)=[0-9a-f]{64}", r"\1", text)


@pytest.mark.parametrize("again", ["the same", "sync", "recover"])
@pytest.mark.parametrize("word", ["archive", "reopen"])
def test_killed_anywhere_it_can_be_carried_to_the_end(
    tmp_path: Path, word: str, again: str
) -> None:
    """Killed before every change of a file in turn, the next command ends as without the kill."""
    begun(tmp_path / "before", *DONE, "step complete 2 --interface B")
    if word == "reopen":
        good(tmp_path / "before", "archive")
    shutil.copytree(tmp_path / "before", tmp_path / "whole")
    good(tmp_path / "whole", word)
    old, new = outcome(tmp_path / "before"), outcome(tmp_path / "whole")
    recorded = 0
    for after in range(200):
        folder = tmp_path / f"killed-{after}"
        shutil.copytree(tmp_path / "before", folder)
        cut = killed(folder, after, word)
        is_recorded = kinds(folder)[-1].endswith(("archived", "reopened")) and (
            len(kinds(folder)) > len(kinds(tmp_path / "before"))
        )
        good(folder, word if again == "the same" else again)
        expected = new if is_recorded or again == "the same" else old
        assert outcome(folder) == expected, f"killed before change {after}"
        good(folder, "verify")
        recorded += cut and is_recorded
        shutil.rmtree(folder)
        if not cut:
            break
    assert not cut, "it was killed each time"
    assert recorded > 5, "it was never killed while files were moved"


def test_a_file_at_both_places_is_moved_to_the_end(tour: Path) -> None:
    """Killed where a move takes two steps, a file is at both places; then at the new one alone."""
    good(tour, "archive", "--no-sync")
    (tour / MOVES[PLAN]).parent.mkdir()
    os.link(tour / PLAN, tour / MOVES[PLAN])
    good(tour, "sync")
    assert there(tour) == {*MOVES.values(), f"{ARCHIVED}.bak"}


def test_a_session_file_that_is_lost_on_the_way(tour: Path) -> None:
    """Deleted before it was moved, it is restored in the archive, and the documents follow."""
    good(tour, "archive", "--no-sync")
    (tour / STATE).unlink()
    good(tour, "archive")
    assert there(tour) - {f"{STATE}.bak"} == set(MOVES.values())


def test_moving_where_the_system_has_no_call_for_it(tmp_path: Path) -> None:
    """By links as well nothing is replaced, and the file is at one place afterwards."""
    origin, goal = tmp_path / "origin", tmp_path / "goal"
    origin.write_text("ours")
    goal.write_text("theirs")
    with pytest.raises(FileExistsError):
        atomic.move_by_links(origin, goal)
    with pytest.raises(FileExistsError):
        atomic.move(origin, goal)
    assert (origin.read_text(), goal.read_text()) == ("ours", "theirs")
    goal.unlink()
    atomic.move_by_links(origin, goal)
    assert (goal.read_text(), origin.exists()) == ("ours", False)


def test_what_comes_later_is_not_taken_for_what_was_to_be_moved(tour: Path) -> None:
    """Once it is archived, a document of the same name is the next project's and stays."""
    good(tour, "archive")
    (tour / MOVES[PLAN]).unlink()
    begun_again = ("init", "2024-02-01-next", "--phases", "One", "--plan", PLAN)
    write(tour / PLAN, "# The next plan\n")
    good(tour, *begun_again)
    good(tour, "sync")
    assert (tour / PLAN).read_text() == "# The next plan\n"
    said = quick(tour, "archive", "-p", TOUR)
    assert (said.code, said.err) == (
        1,
        f"passdown: {MOVES[PLAN]} is not there; restore it from a copy\n",
    )
    good(tour, "verify")


# -- afterwards ------------------------------------------------------------------------------


@pytest.mark.parametrize("damage", [None, b"", b"---\ncut", b"\xff\x00"])
@pytest.mark.parametrize("ledger", ["with ledger", "without ledger"])
def test_the_archived_file_comes_back_byte_for_byte(
    tour: Path, damage: bytes | None, ledger: str
) -> None:
    """Deleted or damaged in the archive, the session file is restored there and nowhere else."""
    good(tour, "archive")
    before = (tour / ARCHIVED).read_bytes()
    if damage is None:
        (tour / ARCHIVED).unlink()
    else:
        write_settled(tour / ARCHIVED, damage)
    if ledger == "without ledger":
        (tour / ".passdown/ledger.json").unlink()
    assert quick(tour, "verify").code == 1
    good(tour, "recover")
    assert (tour / ARCHIVED).read_bytes() == before
    assert not (tour / STATE).exists()
    good(tour, "verify")


def test_an_old_copy_in_the_active_place(tour: Path) -> None:
    """The session file of an archived project, put back as it was once, goes again."""
    old = (tour / STATE).read_bytes()
    good(tour, "archive")
    write_settled(tour / STATE, old)
    said = quick(tour, "sync")
    assert said.code == 0, said
    assert there(tour) == {*MOVES.values(), f"{ARCHIVED}.bak"}


def test_the_list_of_projects(tour: Path) -> None:
    """An archived orchestration is listed where that is asked for, with when and where."""
    good(tour, "archive")
    good(tour, "init", "2024-02-01-next", "--phases", "One")
    good(tour, "init", "shop")
    assert [x["project"] for x in good(tour, "projects", "--json").json] == [
        "2024-02-01-next",
        "shop",
    ]
    [found] = good(tour, "projects", "--archived", "--json").json
    assert found["project"] == TOUR
    assert found["archived_at"] == good(tour, "show", "-p", TOUR, "--json").json["archived"]
    assert {move["active"]: move["archived"] for move in found["moved"]} == MOVES
    said = good(tour, "projects", "--archived").out
    assert all(f"  {origin} → {goal}" in said for origin, goal in MOVES.items())
    assert "1 archived; `passdown projects --archived`" in good(tour, "projects").err


# -- the way back ----------------------------------------------------------------------------


def test_reopened_it_is_as_it_was(tour: Path) -> None:
    """Every file is back at its place: documents to the byte, the session file but for its time."""
    before = outcome(tour)
    raw = (tour / PLAN).read_bytes()
    good(tour, "archive")
    good(tour, "reopen")
    assert (tour / PLAN).read_bytes() == raw
    assert there(tour) == {*MOVES, f"{STATE}.bak"}
    again = outcome(tour)
    for path in MOVES:
        assert _unversioned(again[path]) == _unversioned(before[path])
    good(tour, "verify")
    good(tour, "archive")
    assert there(tour) == {*MOVES.values(), f"{ARCHIVED}.bak"}


def _unversioned(text: str) -> str:
    return re.sub(r"version=\d+", "version", text)


def test_reopening_is_refused_where_somebody_else_is_at_work(tour: Path) -> None:
    """While another orchestration has the place, it is offered to archive or to resume that."""
    good(tour, "archive")
    good(tour, "init", "2024-02-01-next", "--phases", "One")
    said = refused(tour, "reopen", "-p", TOUR)
    offers = said.err.partition("allowed now: ")[2].strip().split(", ")
    assert offers == [
        "archive -p 2024-02-01-next --actor PERSON",
        "resume -p 2024-02-01-next",
    ]
    good(tour, *shlex.split(offers[1]))
    good(tour, "actor", "register", "ada", "--role", "person", "-p", "2024-02-01-next")
    good(tour, *shlex.split(offers[0].replace("PERSON", "ada")))
    good(tour, "reopen", "-p", TOUR)


@pytest.mark.parametrize("path", [PLAN, STATE])
def test_reopening_replaces_nothing(tour: Path, path: str) -> None:
    """What is at the place of a file by now is refused, and nothing is recorded."""
    good(tour, "archive")
    write(tour / path, "somebody else's\n")
    assert path in refused(tour, "reopen").err
    (tour / path).unlink()
    good(tour, "reopen")


def test_aborted(tmp_path: Path) -> None:
    """A person gives up an orchestration; it is archived as aborted, or goes on again."""
    folder = begun(tmp_path, "step start 1")
    said = refused(folder, "abort", "-p", TOUR, "--actor", "coder", "--reason", "no use")
    assert f"abort --actor PERSON -p {TOUR}" in said.err
    good(folder, "abort", "--actor", "ada", "--reason", "no use")
    assert front(folder, STATE)["status"] == "aborted"
    said = refused(folder, "step", "start", "2")
    offers = said.err.partition("allowed now: ")[2].strip().split(", ")
    assert offers == [f"reopen -p {TOUR}", f"archive -p {TOUR}"]
    good(folder, *shlex.split(offers[0]))
    good(folder, "abort", "--actor", "ada")
    good(folder, *shlex.split(offers[1]))
    assert front(folder, ARCHIVED)["status"] == "aborted"
    good(folder, "reopen")
    assert front(folder, STATE)["status"] == "in_progress"


# -- one place, one orchestration ------------------------------------------------------------


def test_a_second_one_in_the_same_place(tmp_path: Path) -> None:
    """A session already active is in the way: it can be archived or resumed, by these commands."""
    folder = begun(tmp_path)
    said = refused(folder, "init", "2024-02-01-next", "--phases", "One")
    assert f"archive -p {TOUR} --actor PERSON, resume -p {TOUR}" in said.err


def test_a_session_file_of_nobody(tmp_path: Path) -> None:
    """A session file that no journal knows is offered to be adopted, from any folder."""
    write(tmp_path / STATE, _THEIRS)
    (tmp_path / "src").mkdir()
    good(tmp_path, "init", "shop")
    said = quick(tmp_path / "src", "init", "2024-02-01-next", "--phases", "One")
    assert (said.code, f"adopt ../{STATE}" in said.err) == (5, True), said
    assert (tmp_path / STATE).read_text() == _THEIRS


def test_an_archive_that_was_interrupted_makes_room(tour: Path) -> None:
    """The next orchestration first finishes what the last one's archive had begun."""
    good(tour, "archive", "--no-sync")
    good(tour, "init", "2024-02-01-next", "--phases", "One")
    assert front(tour, STATE)["session_id"] == "2024-02-01-next"
    assert front(tour, ARCHIVED)["session_id"] == TOUR
    good(tour, "verify")


def test_two_begun_at_once(tmp_path: Path) -> None:
    """Of two orchestrations that begin at the same moment one gets the place."""
    good(tmp_path, "init", "shop")
    both = [
        subprocess.Popen(
            [sys.executable, "-m", "passdown", "init", f"2024-01-0{n}-x", "--phases", "One"],
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for n in (1, 2)
    ]
    said = [each.communicate(timeout=60)[1].decode() for each in both]
    assert sorted(each.returncode for each in both) == [0, 5], said
    assert len(good(tmp_path, "projects", "--json").json) == 2


# -- automatic -------------------------------------------------------------------------------


def test_it_is_offered(tmp_path: Path) -> None:
    """The command that completes the last phase ends with the one that archives."""
    folder = begun(tmp_path, *DONE)
    said = good(folder, "step", "complete", "2", "--interface", "B", "--json").json
    assert (said["offers"], said["archived"]) == ([f"archive -p {TOUR}"], None)
    good(folder, *shlex.split(said["offers"][0]))


def test_it_is_done_automatically(tmp_path: Path) -> None:
    """So configured, the command that completes the last phase archives as well."""
    folder = begun(tmp_path, *DONE)
    write(folder / "passdown.toml", '[projections.active-session]\narchive = "automatic"\n')
    said = good(folder, "step", "complete", "2", "--interface", "B")
    assert f"  {STATE} → {ARCHIVED}\n" in said.out
    assert kinds(folder)[-2:] == ["step.completed", "project.archived"]
    assert there(folder) == {*MOVES.values(), f"{ARCHIVED}.bak", "passdown.toml"}


def test_automatically_nothing_is_archived_that_may_not_be(tmp_path: Path) -> None:
    """A phase that nobody accounts for is reconciled first; that archives then."""
    folder = begun(tmp_path, *DONE)
    write(folder / "passdown.toml", '[projections.active-session]\narchive = "automatic"\n')
    good(folder, "step", "complete", "2")
    assert kinds(folder)[-1] == "step.completed"
    good(folder, "step", "reconcile", "2", "--note", "nothing changed")
    assert kinds(folder)[-1] == "project.archived"


def test_what_keeps_it_from_being_archived_is_said(tmp_path: Path) -> None:
    """Where a file is in the way the phase is complete all the same, and archiving is offered."""
    folder = begun(tmp_path, *DONE)
    write(folder / "passdown.toml", '[projections.active-session]\narchive = "automatic"\n')
    write(folder / ARCHIVED, "somebody else's\n")
    said = good(folder, "step", "complete", "2", "--interface", "B")
    assert f"`passdown archive -p {TOUR}`" in said.out
    assert f"it is not archived yet: cannot archive {TOUR}: {ARCHIVED} is there already" in said.err
    assert kinds(folder)[-1] == "step.completed"


# -- where and how ---------------------------------------------------------------------------


def test_an_orchestration_has_its_own_file_and_the_others_theirs(tmp_path: Path) -> None:
    """What is written by default goes by the kind of the project; the settings have their way."""
    begun(tmp_path)
    assert there(tmp_path) == set(MOVES) | {f"{STATE}.bak"}
    good(tmp_path, "init", "shop", "--step", "One")
    assert (tmp_path / "agent-output/shop/00-handoff.md").exists()
    write(
        tmp_path / "passdown.toml",
        "[projections.active-session]\nenabled = false\n[projections.handoff]\nenabled = true\n",
    )
    good(tmp_path, "sync")
    assert (tmp_path / f"agent-output/{TOUR}/00-handoff.md").exists()
    assert not (tmp_path / f"agent-output/{TOUR}/00-session-state.json").exists()


@pytest.mark.parametrize("project", [TOUR, "shop"])
@pytest.mark.parametrize("form", ["session-state", "handoff", "state-md", "active-session"])
def test_every_project_is_shown_as_everything(tmp_path: Path, project: str, form: str) -> None:
    """Whatever is written, a project can be shown as any of the files."""
    begun(tmp_path)
    good(tmp_path, "init", "shop")
    assert good(tmp_path, "show", "-p", project, "--as", form).out


def test_another_tree_and_another_form(tmp_path: Path) -> None:
    """Path and front matter go by the settings, and the archive is beside that path."""
    write(
        tmp_path / "passdown.toml",
        '[projections.active-session]\npath = "docs/maestro/state/active-session.md"\n'
        'front_matter = "json"\n',
    )
    begun(tmp_path, *DONE, "step complete 2 --interface B")
    text = (tmp_path / "docs/maestro/state/active-session.md").read_text()
    assert json.loads(text.split("---\n")[1])["session_id"] == TOUR
    assert good(tmp_path, "show", "--as", "active-session").out == text
    good(tmp_path, "archive")
    text = (tmp_path / f"docs/maestro/state/archive/{TOUR}.md").read_text()
    assert json.loads(text.split("---\n")[1])["status"] == "completed"


_THEIRS = """\
---
{"session_id": "2023-05-05-theirs", "created": "2023-05-05T10:00:00Z",
 "updated": "2023-05-05T10:00:00Z", "status": "in_progress",
 "current_phase": 1, "total_phases": 1,
 "phases": [{"id": 1, "name": "Only", "status": "pending", "agents": ["coder"]}]}
---

# Theirs Orchestration Log
"""


def test_it_stays_where_and_as_it_was_adopted(tmp_path: Path) -> None:
    """An adopted file keeps its place and its form, and is archived beside that place."""
    place = "tools/maestro/state/active-session.md"
    write(tmp_path / place, _THEIRS)
    good(tmp_path, "adopt", place)
    good(tmp_path, "actor", "register", "ada", "--role", "person")
    assert there(tmp_path) == {place, f"{place}.bak"}
    assert (tmp_path / place).read_text().startswith("---\n{")
    good(tmp_path, "archive", "--actor", "ada")
    assert (tmp_path / "tools/maestro/state/archive/2023-05-05-theirs.md").exists()
    assert not (tmp_path / place).exists()


@pytest.mark.parametrize(
    "source", ["passdown.toml", ".passdown/lost/old.md", "../old.md", "/old.md", ".", "old.md.bak"]
)
def test_what_is_no_place_for_it(tour: Path, source: str) -> None:
    """Adopted from where no session file may stay, it has its usual place."""
    adopted = {"source": source, "digest": "0" * 64, "projection": "active-session"}
    before = there(tour)
    good(tour, "append", "project.adopted", json.dumps(adopted))
    assert there(tour) == before
    good(tour, "archive")
    assert (tour / ARCHIVED).exists()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('[projections.handoff]\nfront_matter = "json"', "handoff has no front_matter"),
        ('[projections.planning]\nfront_matter = "json"', "planning has no front_matter"),
        ('[projections.state-md]\narchive = "offer"', "state-md has no archive"),
        ('[projections.active-session]\nfront_matter = "toml"', "Invalid enum value 'toml'"),
        ('[projections.active-session]\narchive = "always"', "Invalid enum value 'always'"),
    ],
)
def test_settings_that_mean_nothing(tour: Path, settings: str, said: str) -> None:
    """What only one kind of file has is refused for others, in one sentence."""
    write(tour / "passdown.toml", settings)
    found = quick(tour, "verify")
    assert (found.code, found.err.count("\n")) == (3, 1)
    assert said in found.err


def test_who_names_no_moves_moves_nothing(tour: Path) -> None:
    """Archived by the library alone, its files stay where they are, and are well there."""
    with Journal.open(tour) as journal:
        handle = journal.project(TOUR)
        handle.append(ProjectArchived())
        assert {file.status for file in sync(find(tour), handle)} == {"stale"}
    assert front(tour, STATE)["status"] == "completed"
    said = refused(tour, "init", "2024-02-01-next", "--phases", "One")
    assert f"{STATE} was left there by {TOUR}" in said.err
