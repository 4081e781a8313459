"""The .planning tree: a file for each decision, blocker and session, and no other is touched."""

import copy
import json
import os
import re
import shutil
from pathlib import Path

import pytest
from command import files, good, quick
from examples import rich
from faults import CORRUPTIONS, write_settled
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from msgspec.structs import replace
from strategies import Chain, projects

from journal import Handle, Journal, clock
from journal import events as e
from journal.state import Project
from journal.workspace import find
from projections import atomic, ledger, planning, stamp
from projections.desk import Desk
from projections.files import FileState, inspect, sync
from projections.places import Folders
from projections.planning import pages, slug

ON = "[projections.planning]\nenabled = true\n"
OUR_HEADINGS = {
    *("Context", "Decision", "Reason", "Alternatives", "Impact", "Description", "Affects"),
    *("Blocked tasks", "Workaround", "Tasks of the workaround", "Resolution", "Completed"),
    *("Issues", "Notes", "Hand-off"),
}
thorough = settings(deadline=None, max_examples=100)


class Shop:
    """A workspace with one project, whose tree is switched on."""

    def __init__(self, folder: Path, written: str = ON) -> None:
        self.folder = folder
        (folder / "passdown.toml").write_text(written)
        self.journal = Journal.create(folder)
        self.app: Handle = self.journal.open_project("shop")
        self.workspace = find(folder)

    def sync(self, *, recover: bool = False, revert: bool = False) -> dict[str, FileState]:
        """Bring the files up to date; those of the tree that were not fresh, by path."""
        found = sync(self.workspace, self.app, recover=recover, revert=revert)
        return {x.path: x for x in found if x.projection == "planning" and x.status != "fresh"}

    def look(self) -> dict[str, str]:
        """How the files of the tree stand."""
        found = inspect(self.workspace, self.app)
        return {x.path: x.status for x in found if x.projection == "planning"}

    def names(self, folder: str = "decisions") -> list[str]:
        """What is in one of the folders, hidden files too."""
        place = self.folder / ".planning" / folder
        return sorted(os.listdir(place)) if place.is_dir() else []

    def file(self, title: str) -> Path:
        """The file of the decision of that title."""
        [found] = (self.folder / ".planning/decisions").glob(f"*-{slug(title)}.md")
        return found

    def lost(self) -> list[bytes]:
        """What was set aside."""
        lost = self.folder / ".passdown/lost"
        return [path.read_bytes() for path in lost.iterdir()] if lost.is_dir() else []

    def rename(self, old: str, new: str) -> None:
        """Let a decision have another title from now on."""
        self.app = Renaming(self.app, self.journal, old, new)


class Renaming(Handle):
    """A project one of whose titles reads otherwise, as after the text was redacted."""

    def __init__(self, app: Handle, journal: Journal, old: str, new: str) -> None:
        super().__init__(app.slug, journal.store, app.cached, clock.now)
        self.old, self.new = old, new

    @property
    def state(self) -> Project:
        """The state with the new title."""
        state = super().state
        for id, decision in state.decisions.items():
            if decision.title == self.old:
                state.decisions[id] = replace(decision, title=self.new)
        return state


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """A workspace with two decisions on file."""
    made = Shop(tmp_path)
    made.app.decide("JWT library", choice="jose", rationale="ES256")
    made.app.decide("Cache", choice="none")
    made.sync()
    return made


# -- the files -------------------------------------------------------------------------------


def written(project: Project, path: str) -> str:
    """A file of a state without its stamp."""
    content = pages(project)[path].render(project)
    assert stamp.holds(content)
    text, _, last = content.decode().rstrip("\n").rpartition("\n")
    assert last.startswith(f"<!-- passdown project={project.slug} version=0 hash=")
    return text


def test_a_decision() -> None:
    """A decision with everything set, and one that was superseded, which says by what."""
    assert written(rich(), "decisions/2026-01-01-where-the-catalogue-is-stored.md") == (
        """\
# Where the catalogue is stored

- Decision: D004
- Date: 2026-01-01
- Kind: architecture
- Reversible: no
- Step: 2 Architecture
- Agent: worker-abc
- Session: session-001

## Decision

One managed PostgreSQL, zone-redundant

## Reason

Orders and stock change in one transaction

## Alternatives

- Document store: no transaction across stock and orders

## Impact

Step 4 plans a private endpoint
"""
    )
    assert written(rich(), "decisions/2026-01-01-cache.md") == (
        """\
# Cache

- Decision: D006
- Date: 2026-01-01
- Superseded by: D008 Cache
- Step: 2 Architecture
- Agent: worker-abc
- Session: session-001

## Decision

None for now

## Reason

Traffic is small
"""
    )
    assert written(rich(), "decisions/2026-01-01-budget.md") == (
        """\
# budget

- Decision: D002
- Date: 2026-01-01
- Key: budget
- Step: 1 Requirements
- Agent: worker-abc
- Session: session-001

## Decision

<$50/month
"""
    )


def test_a_blocker() -> None:
    """A blocker with a way around it, and then with how it ended; its name stays."""
    chain = Chain("orchard-market")
    chain.project = rich()
    path = "blockers/block-002-no-icons-yet.md"
    bypassed = """\
# No icons yet

- Blocker: block-002
- Status: bypassed
- Identified: 2026-01-01T10:46:00Z

## Affects

- Step 7: As-Built

## Workaround

Plain boxes, replaced later

## Tasks of the workaround

- T004 Stub for payments
"""
    assert written(chain.project, path) == bypassed
    chain.add(e.BlockerResolved("block-002", "They came\nby mail"))
    told = written(chain.project, path)
    assert "- Status: resolved\n- Identified: 2026-01-01T10:46:00Z\n- Resolved: 2026-" in told
    assert told.endswith("\n## Resolution\n\nThey came\\\nby mail\n")
    other = "blockers/block-001-the-payment-provider-has-not-sent-test-credentials.md"
    assert "## Blocked tasks\n\n- T003 Payment gateway\n" in written(chain.project, other)


def test_a_session() -> None:
    """A session that was closed, one that crashed, and the one that goes on from it."""
    assert written(rich(), "sessions/session-001.md") == (
        """\
# session-001

- Agent: worker-abc
- Status: ended
- Started: 2026-01-01T10:01:00Z
- Ended: 2026-01-01T10:17:00Z
- Context usage: 62%

## Completed

- Step 1: Requirements
- Step 2: Architecture

## Issues

- Prices for one region were missing: used the neighbour's

## Notes

Clean run otherwise

## Hand-off

Context limit near
"""
    )
    crashed = written(rich(), "sessions/session-002.md")
    assert "- Status: crashed\n" in crashed
    assert "- Continued by: session-003\n" in crashed
    assert "## Reason\n\nNo sign of life for 30 minutes, task reset\n" in crashed
    going_on = written(rich(), "sessions/session-003.md")
    assert "- Name: evening run\n- Status: active\n" in going_on
    assert "- Continues: session-002\n" in going_on
    assert "## Notes\n\nResuming after the crash\n" in going_on


def test_signs_of_life_do_not_show() -> None:
    """Work that is recorded in a session, and its heartbeats, leave its file as it is."""
    chain = Chain("orchard-market")
    chain.project = rich()
    before = pages(chain.project)["sessions/session-003.md"]
    rendered = before.render(chain.project)
    chain.add(e.FindingOpened("found"), "worker-ghi", "session-003")
    chain.add(e.SessionHeartbeat("session-003"))
    after = pages(chain.project)["sessions/session-003.md"]
    assert after.source == before.source
    assert after.render(chain.project) == rendered


@thorough
@given(projects())
def test_rendering_is_pure(project: Project) -> None:
    """The same state gives the same names and bytes, which prove themselves, and stays as it is."""
    before = copy.deepcopy(project)
    rendered = {path: page.render(project) for path, page in pages(project).items()}
    assert project == before
    assert rendered == {path: page.render(before) for path, page in pages(before).items()}
    for path, page in pages(project).items():
        assert stamp.holds(rendered[path])
        assert planning.intact(rendered[path])
        signed = stamp.read(rendered[path])
        assert signed is not None
        assert (signed.version, signed.hash) == (0, page.source)


@thorough
@given(projects())
def test_no_text_forges_structure(project: Project) -> None:
    """Whatever agents wrote, a file has our headings, lists, paragraphs and stamp, and no more."""
    for page in pages(project).values():
        check_structure(page.render(project).decode())


def check_structure(text: str) -> None:
    """Read a file as any markdown reader would; there is nothing in it that is not ours."""
    *tokens, last = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    assert last.type == "html_block"
    assert last.content.startswith("<!-- passdown project=")
    headings = []
    for n, token in enumerate(tokens):
        assert token.type.removesuffix("_open").removesuffix("_close") in (
            *("heading", "inline", "bullet_list", "list_item", "paragraph"),
        ), token
        if token.type == "heading_open":
            headings.append((token.tag, tokens[n + 1].content))
        for child in token.children or ():
            assert child.type in ("text", "text_special", "softbreak", "hardbreak"), child
    assert [tag for tag, _ in headings] == ["h1", *["h2"] * (len(headings) - 1)]
    assert {title for tag, title in headings if tag == "h2"} <= OUR_HEADINGS


def test_lines_stay_lines() -> None:
    """A text of several lines and paragraphs reads as it was written, markup and all."""
    said = "---\ntitle: forged\n---\n\n# Heading\n\n\n- item <b>\n===\n    code\n`a`"
    chain = Chain("a").add(e.DecisionMade("T", "C", said, decision="D001"))
    [page] = pages(chain.project).values()
    text = page.render(chain.project).decode()
    check_structure(text)
    reason = text.partition("## Reason\n\n")[2].partition("\n\n<!--")[0]
    assert reason.split("\n") == [
        *("\\---\\", "title: forged\\", "\\---", "", "\\# Heading", ""),
        *("\\- item &lt;b>\\", "\\===\\", "code\\", "\\`a\\`"),
    ]


def test_a_long_title_is_told_in_full() -> None:
    """What the first line and the name have no room for is in the file."""
    title = f"Whether {'very ' * 100}long titles\nare kept"
    chain = Chain("a").add(e.DecisionMade(title, decision="D001"))
    [(path, page)] = pages(chain.project).items()
    assert len(path) < 90
    assert "very long titles\\\nare kept" in page.render(chain.project).decode()


# -- names -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("JWT library", "jwt-library"),
        ("Größe & Straße: é", "grosse-strasse-e"),
        ("../../etc/passwd\0", "etc-passwd"),
        ("x" * 59 + " " + "y" * 9, "x" * 59),
        ("漢字 🙂", ""),
    ],
)
def test_slugs(text: str, name: str) -> None:
    """Names are lower case letters, digits and dashes, and never too long."""
    assert slug(text) == name


def test_names_that_collide() -> None:
    """The first keeps the plain name, the others add their id, and what has no words is its id."""
    chain = Chain("a")
    for title in ("Cache", "cache!", "Cache D002", "漢字", "CACHE"):
        chain.add(e.DecisionMade(title, decision=f"D{len(chain.records) + 1:03}"))
    chain.add(e.SessionStarted(session="evening run"))
    chain.add(e.SessionStarted(session="Evening run"))
    chain.add(e.SessionStarted(session="漢"))
    chain.add(e.BlockerRaised("?!", blocker="block-001"))
    assert list(pages(chain.project)) == [
        "decisions/2026-01-01-cache.md",
        "decisions/2026-01-01-cache-d002.md",
        "decisions/2026-01-01-cache-d002-d003.md",
        "decisions/2026-01-01-d004.md",
        "decisions/2026-01-01-cache-d005.md",
        "blockers/block-001.md",
        "sessions/evening-run.md",
        "sessions/evening-run-2.md",
        "sessions/session.md",
    ]


SAFE = re.compile(r"(decisions/\d{4}-\d\d-\d\d|blockers|sessions)[/-][a-z0-9]+(-[a-z0-9]+)*\.md")


@thorough
@given(projects(), st.lists(st.sampled_from(("Cache", "漢", "x" * 99, "D001")), max_size=5))
def test_names_are_apart_safe_and_stay(project: Project, later: list[str]) -> None:
    """Every entry has a name of its own that any system takes, whatever comes after it."""
    entries = len(project.decisions) + len(project.blockers) + len(project.sessions)
    before = list(pages(project))
    assert len(before) == entries
    for path in before:
        assert SAFE.fullmatch(path), path
        assert len(Path(path).name) < 160
    chain = Chain(project.slug)
    chain.project = project
    for n, words in enumerate(later):
        chain.add(e.DecisionMade(words, decision=f"D9{n:02}"))
        chain.add(e.BlockerRaised(words, blocker=f"block-9{n:02}"))
        chain.add(e.SessionStarted(session=f"session-9{n:02}"))
    after = list(pages(chain.project))
    assert [path for path in after if path in before] == before
    assert len(after) == len(before) + 3 * len(later)


# -- the folder ------------------------------------------------------------------------------


def test_nothing_is_written_unasked(tmp_path: Path) -> None:
    """The tree is off until passdown.toml switches it on; switched off again, its files stay."""
    shop = Shop(tmp_path, "")
    shop.app.decide("JWT library")
    shop.sync()
    assert os.listdir(tmp_path / ".planning") == ["STATE.md"]
    (tmp_path / "passdown.toml").write_text(ON)
    assert [file.status for file in shop.sync().values()] == ["missing"]
    (tmp_path / "passdown.toml").write_text("")
    shop.app.decide("Cache")
    before = files(tmp_path / ".planning/decisions")
    assert shop.sync() == {}
    assert shop.look() == {}
    assert files(tmp_path / ".planning/decisions") == before
    (tmp_path / "passdown.toml").write_text(ON)
    assert [file.status for file in shop.sync().values()] == ["missing"]
    assert len(shop.names()) == 2


def test_one_event_touches_one_file(tmp_path: Path) -> None:
    """Of 1,000 decisions a new one leaves all other files as they are, without rendering them."""
    shop = Shop(tmp_path)
    shop.app.append(*(e.DecisionMade(f"Number {n}", f"choice {n}") for n in range(1000)))
    assert len(shop.sync()) == 1000
    folder = tmp_path / ".planning/decisions"
    before = {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.iterdir()}
    assert len(before) == 1000
    shop.app.decide("One more")
    [(path, file)] = shop.sync().items()
    assert (file.status, file.written) == ("missing", True)
    assert path.endswith("-one-more.md")
    after = {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.iterdir()}
    del after[tmp_path / path]
    assert after == before
    shop.app.append(e.DecisionSuperseded("D500", "D501"))
    [(path, file)] = shop.sync().items()
    assert (file.status, file.written, file.kept) == ("stale", True, "")
    assert path.endswith("-number-499.md")
    assert shop.lost() == []
    assert set(shop.look().values()) == {"fresh"}


def test_only_what_is_not_up_to_date_is_rendered(shop: Shop) -> None:
    """Of a file that the ledger knows, its stamp says whether it shows the entry as it is."""
    shop.app.decide("Queue")
    shop.app.append(e.DecisionSuperseded("D001", "D002"))
    known = ledger.read(shop.workspace.folder)
    desk = Desk(Folders(shop.workspace), shop.app, shop.app.state, known)
    late = [target.path for target in desk.targets() if not desk.is_current(target)]
    assert [path[31:] for path in late[3:]] == ["jwt-library.md", "queue.md"]


def test_a_changed_file_has_no_backup(shop: Shop) -> None:
    """What the ledger knows for ours is in the journal, and nothing of it stays beside the file."""
    shop.app.append(e.DecisionSuperseded("D001", "D002"))
    shop.sync()
    assert "Superseded by: D002 Cache" in shop.file("JWT library").read_text()
    assert len(shop.names()) == 2
    assert shop.lost() == []


def test_a_new_name_takes_the_old_file_away(shop: Shop) -> None:
    """When a text was redacted the file has another name, and the old one is gone without trace."""
    old, content = shop.file("Cache"), shop.file("Cache").read_bytes()
    shop.rename("Cache", "████")
    found = shop.sync()
    assert sorted((file.status, file.written) for file in found.values()) == [
        ("missing", True),
        ("stale", True),
    ]
    assert not old.exists()
    assert [name[11:] for name in shop.names()] == ["d002.md", "jwt-library.md"]
    assert shop.sync() == {}
    assert content not in shop.lost()


def test_an_edited_file_outlives_its_name(shop: Shop) -> None:
    """Somebody's words stay where they are when the entry is called otherwise, until reverted."""
    old = shop.file("Cache")
    edited = old.read_bytes().replace(b"none", b"Redis, I think")
    write_settled(old, edited)
    shop.rename("Cache", "Store")
    [problem] = [file.problem for file in shop.sync().values() if file.problem]
    assert "has another name now" in problem
    assert old.read_bytes() == edited
    assert shop.file("Store").exists()
    assert [file.status for file in shop.sync(revert=True).values()] == ["drifted"]
    assert not old.exists()
    assert shop.lost() == [edited]


def test_without_a_ledger_what_goes_is_kept(shop: Shop) -> None:
    """Where only the stamp says that a file is ours, it is set aside before it goes."""
    old, content = shop.file("Cache"), shop.file("Cache").read_bytes()
    (shop.folder / ".passdown/ledger.json").unlink()
    shop.rename("Cache", "Store")
    shop.sync()
    assert not old.exists()
    assert shop.lost() == [content]


def test_what_somebody_else_has_there_stays(shop: Shop) -> None:
    """Files that are not ours, and links, are left alone and not mentioned."""
    theirs = shop.folder / ".planning/decisions/0001-use-postgres.md"
    theirs.write_text("# Use Postgres\n")
    copied = theirs.with_name("state.md")
    shutil.copy(shop.folder / ".planning/STATE.md", copied)
    link = theirs.with_name("link.md")
    link.symlink_to(shop.file("Cache"))
    before = files(shop.folder / ".planning/decisions")
    assert shop.sync() == {}
    assert set(shop.look().values()) == {"fresh"}
    assert files(shop.folder / ".planning/decisions") == before


@pytest.mark.parametrize("content", [b"# My own words\n", b"", b"\xff\0"])
def test_a_file_that_was_there_first(tmp_path: Path, content: bytes) -> None:
    """What stands where a file is to be is not overwritten unasked, and kept when it is."""
    shop = Shop(tmp_path)
    shop.app.decide("Cache")
    [path] = pages(shop.app.state)
    mine = tmp_path / ".planning" / path
    mine.parent.mkdir(parents=True)
    write_settled(mine, content)
    [file] = shop.sync().values()
    if content:
        assert (file.written, mine.read_bytes()) == (False, content)
        assert file.problem
        shop.sync(recover=True, revert=True)
        assert shop.lost() == [content]
    assert mine.read_bytes().startswith(b"# Cache\n")


@pytest.mark.parametrize("ledger", ["with ledger", "without ledger"])
@pytest.mark.parametrize("kind", [*CORRUPTIONS, "edited"])
def test_damage_is_undone(shop: Shop, kind: str, ledger: str) -> None:
    """Deleted or damaged, a file comes back byte for byte; an edit waits to be reverted."""
    path = shop.file("JWT library")
    before = path.read_bytes()
    damaged = {
        "emptied": b"",
        "halved": before[: len(before) // 2],
        "cut in a character": b"# JWT \xc3",
        "noise": b"\xff\x12\0",
        "{}": b"{}",
        "edited": before.replace(b"jose", b"authlib"),
        "deleted": None,
    }[kind]
    if damaged is None:
        path.unlink()
    else:
        write_settled(path, damaged)
    if ledger == "without ledger":
        (shop.folder / ".passdown/ledger.json").unlink()
    name = str(path.relative_to(shop.folder))
    status = {"deleted": "missing", "edited": "drifted"}.get(kind, "corrupt")
    assert shop.look()[name] == status
    found = shop.sync(recover=True)[name]
    assert found.status == status
    if kind == "edited":
        assert path.read_bytes() == damaged
        shop.sync(revert=True)
    assert path.read_bytes() == before
    assert shop.lost() == ([] if damaged is None else [damaged])
    assert set(shop.look().values()) == {"fresh"}


def test_files_ahead_of_the_journal(shop: Shop) -> None:
    """After an older journal was restored, what it does not have is not taken away."""
    journal = shop.folder / ".passdown/journal.db"
    shop.journal.close()
    old = journal.read_bytes()
    with Journal.open(shop.folder) as later:
        shop.app = later.project("shop")
        shop.app.decide("Recorded since")
        shop.app.append(e.DecisionSuperseded("D001", "D002"))
        shop.sync()
    newer = shop.file("Recorded since"), shop.file("JWT library")
    contents = [path.read_bytes() for path in newer]
    journal.write_bytes(old)
    with Journal.open(shop.folder) as restored:
        shop.app = restored.project("shop")
        assert sorted(shop.look().values()) == ["ahead", "ahead", "fresh"]
        found = shop.sync()
        assert all(
            "records that the journal does not have" in file.problem for file in found.values()
        )
        assert [path.read_bytes() for path in newer] == contents
        shop.sync(recover=True, revert=True)
        assert set(shop.look().values()) == {"fresh"}
    assert set(contents) <= set(shop.lost())


def test_leftovers_of_a_killed_writer(shop: Shop) -> None:
    """The next sync removes what was left half done, and keeps what is not ours."""
    path = shop.file("Cache")
    ours = path.with_name(f".{path.name}.passdown-0123456789abcdef")
    theirs = path.with_name(".2024-01-01-old.md.passdown-0123456789abcdef")
    ours.write_bytes(path.read_bytes())
    theirs.write_bytes(b"an edit that was displaced")
    shop.look()
    assert ours.exists()
    shop.sync()
    assert len(shop.names()) == 2
    assert shop.lost() == [b"an edit that was displaced"]


def test_a_file_that_goes_while_it_is_replaced(shop: Shop) -> None:
    """It is not brought back over what may come there next, and nothing is left beside it."""
    path = shop.file("Cache")
    before = path.read_bytes()
    path.unlink()
    with pytest.raises(atomic.Displaced):
        atomic.replace(path, b"# Cache\n", before, None)
    with pytest.raises(atomic.Displaced):
        atomic.remove(path, before)
    assert [name[11:] for name in shop.names()] == ["jwt-library.md"]


def test_a_folder_that_leads_out_of_the_workspace(
    shop: Shop, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Nothing is written through such a link, which is told once and not for each file."""
    outside = tmp_path_factory.mktemp("outside")
    folder = shop.folder / ".planning/decisions"
    shutil.rmtree(folder)
    folder.symlink_to(outside)
    shop.app.append(e.BlockerRaised("Elsewhere"))
    found = shop.sync()
    assert found[".planning/decisions"].status == "unusable"
    assert "leads out of the workspace" in found[".planning/decisions"].problem
    assert found[".planning/blockers/block-001-elsewhere.md"].written
    assert len(found) == 2
    assert os.listdir(outside) == []


# -- several projects, and other projections -------------------------------------------------


@pytest.mark.parametrize("ledger", ["with ledger", "without ledger"])
def test_a_shared_folder_is_the_first_projects(shop: Shop, ledger: str) -> None:
    """A second project writes nothing into it, and is told how to have one of its own, once."""
    other = shop.journal.open_project("other")
    other.decide("Theirs")
    other.decide("Theirs too")
    if ledger == "without ledger":
        (shop.folder / ".passdown/ledger.json").unlink()
    before = files(shop.folder / ".planning")
    [file] = [x for x in sync(shop.workspace, other) if x.projection == "planning"]
    assert (file.path, file.status, file.well) == (".planning", "taken", True)
    assert "belongs to shop" in file.problem
    assert files(shop.folder / ".planning") == before
    (shop.folder / "passdown.toml").write_text(f'{ON}path = ".planning/{{project}}"\n')
    sync(shop.workspace, other)
    assert len(os.listdir(shop.folder / ".planning/other/decisions")) == 2
    shop.sync()
    assert len(os.listdir(shop.folder / ".planning/shop/decisions")) == 2
    assert len(shop.names()) == 2, "the files at the old place are left alone"


def test_no_other_projection_in_its_folders(tmp_path: Path) -> None:
    """A file of another projection among those of the tree would be taken for one of them."""
    good(tmp_path, "init", "shop")
    (tmp_path / "passdown.toml").write_text(
        f'{ON}[projections.handoff]\npath = ".planning/decisions/handoff.md"\n'
    )
    no = quick(tmp_path, "sync")
    assert no.code != 0
    assert "planning and handoff would both be written" in no.err


# -- the commands ----------------------------------------------------------------------------


def test_the_commands_know_every_file(tmp_path: Path) -> None:
    """sync, verify and recover answer for each file; drift shows the lines and reverts them."""
    (tmp_path / "passdown.toml").write_text(ON)
    good(tmp_path, "init", "shop")
    good(tmp_path, "decide", "JWT library", "--choice", "jose")
    good(tmp_path, "blocker", "raise", "OAuth creds")
    blocker = ".planning/blockers/block-001-oauth-creds.md"
    for command in ("sync", "verify"):
        found = good(tmp_path, command, "--json").json["projects"]["shop"]
        paths = [x["path"] for x in found if x["projection"] == "planning"]
        assert [re.sub(r"\d{4}-\d\d-\d\d", "DAY", path) for path in paths] == [
            ".planning/decisions/DAY-jwt-library.md",
            blocker,
        ]
    (tmp_path / blocker).unlink()
    assert quick(tmp_path, "verify").code == 1
    recovered = good(tmp_path, "recover", "--json").json["projects"]["shop"]
    assert [x["path"] for x in recovered if x["written"]] == [blocker]
    before = (tmp_path / blocker).read_bytes()
    (tmp_path / blocker).write_bytes(before.replace(b"OAuth creds", b"OAuth creds, says Ada"))
    shown = quick(tmp_path, "drift", "--json")
    assert shown.code == 1
    [change] = shown.json["changes"][1:]
    assert change["now"] == ["# OAuth creds, says Ada"]
    assert quick(tmp_path, "drift", "--adopt").code == 1
    good(tmp_path, "drift", "--revert")
    assert (tmp_path / blocker).read_bytes() == before
    last = json.loads(good(tmp_path, "log", "-n", "1", "--json").out)
    assert last["type"] == "projection.drift_reverted"
    assert good(tmp_path, "verify").code == 0


def test_recording_tells_what_it_changed(tmp_path: Path) -> None:
    """Of the tree a recording command lists what it wrote and what is not well, of others all."""
    (tmp_path / "passdown.toml").write_text(ON)
    good(tmp_path, "init", "shop")
    single = [x["path"] for x in good(tmp_path, "sync", "--json").json["projects"]["shop"]]
    good(tmp_path, "decide", "JWT library", "--choice", "jose")
    good(tmp_path, "blocker", "raise", "OAuth creds")
    blocker = tmp_path / ".planning/blockers/block-001-oauth-creds.md"
    told = [x["path"] for x in good(tmp_path, "decide", "Cache", "--json").json["files"]]
    assert told[: len(single)] == single
    assert [path[31:] for path in told[len(single) :]] == ["cache.md"]
    write_settled(blocker, blocker.read_bytes() + b"Ask Ada\n")
    told = [x["path"] for x in good(tmp_path, "note", "Asked", "--json").json["files"]]
    assert told == [*single, str(blocker.relative_to(tmp_path))]
