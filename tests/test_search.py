"""Finding things by their words: what is found, in which order, and whatever is typed."""

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from command import bound_by_permissions, files, good, quick, run
from hypothesis import example, given, settings
from strategies import START, hostile_text
from test_laws import OPENED, requests

from journal import Journal
from journal import events as e
from journal.entities import is_over
from journal.errors import Invalid, PassdownError
from journal.workspace import Workspace
from projections import tables
from projections.tables import Hit

#: A request for each kind of thing, with a word that is in no other.
WORDED: dict[str, tuple[str, ...]] = {
    "decision": ("decide", "Login", "--choice", "Oxalis"),
    "blocker": ("blocker", "raise", "no Borage yet"),
    "note": ("note", "see the Caraway", "--kind", "implementation"),
    "session": ("session", "note", "the Dill is slow", "--session", "night"),
    "next": ("next", "Plant the Endive"),
    "finding": ("finding", "open", "Fennel is public"),
    "error": ("error", "record", "no Ginger left"),
    "question": ("question", "open", "Hyssop or thyme?"),
    "task": ("task", "add", "Weed the Iris"),
    "step": ("step", "complete", "1", "--summary", "all Jasmine"),
    "file": ("files", "modified", "src/kale.py", "--description", "leaves"),
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A workspace in which each kind of thing was recorded."""
    good(tmp_path, "init", "shop", "--title", "Web Shop")
    good(tmp_path, "session", "start", "night")
    good(tmp_path, "step", "start", "1")
    (tmp_path / "src").mkdir()
    (tmp_path / "src/kale.py").write_text("kale = 1\n")
    for words in WORDED.values():
        good(tmp_path, *words)
    return tmp_path


def found(folder: Path, *words: str) -> list[tuple[str, str]]:
    """The things that are found, by kind and id."""
    hits = good(folder, "search", "--json", *words).json
    return [(hit["kind"], hit["item"]) for hit in hits]


WORDS = (
    *("oxalis", "BORAGE", "caraway", "dill", "endive", "fennel", "ginger", "hyssop", "iris"),
    *("jasmine", "kale"),
)


@pytest.mark.parametrize(("kind", "word"), [*zip(WORDED, WORDS, strict=True)])
def test_every_kind_of_thing_is_found(shop: Path, kind: str, word: str) -> None:
    """In any case, by a word that is in it and nowhere else, with the words around it."""
    [hit] = good(shop, "search", word, "--json").json
    assert hit["kind"] == kind
    assert hit["project"] == "shop"
    [[begin, end]] = hit["matches"]
    assert hit["snippet"][begin:end].lower() == word.lower()


def test_all_words_in_any_order(shop: Path) -> None:
    """A thing must have every word; of the last its beginning is enough, of others it is not."""
    assert found(shop, "public", "fennel") == [("finding", "F001")]
    assert found(shop, "public fenn") == [("finding", "F001")]
    assert found(shop, "fenn", "public") == []
    assert found(shop, "fennel", "ginger") == []


def test_the_best_first(shop: Path) -> None:
    """What says it shortly and often comes before what mentions it; the newer before the older."""
    good(shop, "finding", "open", f"kelp once among {'many other words ' * 20}")
    good(shop, "finding", "open", "kelp, kelp and kelp")
    for _ in range(2):
        good(shop, "error", "record", "kelp in the tank")
    kinds = found(shop, "kelp")
    assert kinds[0] == ("finding", "F003")
    assert kinds[-1] == ("finding", "F002")
    assert kinds[1:3] == [("error", "E003"), ("error", "E002")]
    assert len(found(shop, "kelp", "-n", "2")) == 2
    assert found(shop, "kelp", "-n", str(10**30)) == kinds


def test_what_is_settled_says_so(shop: Path) -> None:
    """Resolved and superseded things are found too, and shown as what they are."""
    good(shop, "finding", "resolve", "F001", "-r", "fenced")
    good(shop, "decide", "--key", "region", "--value", "north")
    good(shop, "decide", "--key", "region", "--value", "south")
    said = good(shop, "search", "fenced").out
    assert said.startswith("finding  F001  resolved  20")
    assert said.endswith("Fennel is public fenced\n")
    hits = good(shop, "search", "region", "--json").json
    assert {hit["snippet"]: hit["status"] for hit in hits} == {
        "region north": "superseded",
        "region south": "holds",
    }


def test_one_project_or_all(shop: Path) -> None:
    """All projects are searched, each hit with its project, or the one that is named."""
    good(shop, "init", "blog", "--no-sync")
    good(shop, "finding", "open", "Fennel again", "-p", "blog", "--no-sync")
    lines = good(shop, "search", "fennel").out.splitlines()[::2]
    assert sorted(line.split()[0] for line in lines) == ["blog", "shop"]
    assert good(shop, "search", "fennel", "-p", "blog").out.startswith("finding  F001  open")
    assert len(found(shop, "fennel", "-p", "shop")) == 1
    good(shop, "init", "shop.blog", "--no-sync")
    good(shop, "finding", "open", "Fennel for ever", "-p", "shop.blog", "--no-sync")
    for project in ("blog", "shop", "shop.blog"):
        [hit] = good(shop, "search", "fennel", "-p", project, "--json").json
        assert hit["project"] == project
    assert found(shop, "blog") == found(shop, "shop") == []


def test_nothing_is_found(shop: Path) -> None:
    """No match is no error: an empty answer, and a word beside it for a person."""
    said = good(shop, "search", "weather")
    assert (said.out, said.err) == ("", "passdown: nothing has these words in it\n")
    assert good(shop, "search", "weather", "--json").json == []


@pytest.mark.parametrize("words", ["", "  ", '"', "* - ()", '""', "\x1b", "٪"])
def test_no_words(shop: Path, words: str) -> None:
    """What has no word in it is refused in a sentence."""
    done = quick(shop, "search", words)
    assert done.code == 3
    assert "no words to search for" in done.err


# -- whatever is typed and whatever was recorded ---------------------------------------------

SYNTAX = (
    *('fennel"', '"fennel', "fennel*", "fennel AND public", "fennel NOT public", "NEAR(fennel)"),
    *("text:fennel", "^fennel", "fennel+public", "-fennel", "{text}: fennel", "' OR 1=1 --"),
    *("fennel OR", "(fennel", "NOT", "fen nel' ; DROP TABLE texts; --", "a" * 100_000, "a " * 60),
)


@pytest.mark.parametrize("words", SYNTAX)
def test_operators_are_words(shop: Path, words: str) -> None:
    """What FTS5 would take for an operator is a word like any other, and never an error."""
    hits = found(shop, "--", words)
    assert hits in ([], [("finding", "F001")])
    assert found(shop, "fennel") == [("finding", "F001")]


def test_words_beyond_measure(shop: Path) -> None:
    """More words than the index takes are refused with the limit; broken text finds nothing."""
    assert "64 at most" in quick(shop, "search", "a " * 65).err
    assert run(shop, "search", b"fenn\xffel", "--json").out == "[]\n"
    assert run(shop, "search", b"x\xff").code == 0


@settings(deadline=None, max_examples=150)
@given(hostile_text(), hostile_text(huge=False))
@example("\x02\x03\x03\x02marked\x02", "marked")
@example("a\x02b", "a")
def test_hostile_text_can_be_searched(text: str, words: str) -> None:
    """Any text is found by its own words, on one line, with matches that lie within it."""
    with tempfile.TemporaryDirectory() as folder, Journal.create(folder, lambda: START) as journal:
        workspace = Workspace(journal.folder)
        app = journal.handle("my-app")
        app.append(OPENED, e.FindingOpened("seaweed"))
        try:
            app.append(e.FindingOpened(f"kelp {text}"))
        except PassdownError:
            return
        hits = tables.search(workspace, journal, "kelp")
        assert [hit.item for hit in hits] == ["F002"]
        try:
            hits += tables.search(workspace, journal, words)
        except Invalid:
            assert not any(c.isalnum() for c in words) or len(words.split()) > 64
        for hit in hits:
            assert hit.snippet.isprintable()
            for begin, end in hit.matches:
                assert 0 <= begin <= end <= len(hit.snippet)


@settings(deadline=None, max_examples=25)
@given(requests())
def test_a_search_is_of_now(history: list[e.Event]) -> None:
    """After any requests every finding and task is found, whether or not the tables were there."""
    with tempfile.TemporaryDirectory() as folder, Journal.create(folder, lambda: START) as journal:
        workspace = Workspace(journal.folder)
        app = journal.handle("my-app")
        for n, event in enumerate(history):
            try:
                app.append(event, actor="ada")
            except PassdownError:
                continue
            if n % 8 == 0 and not is_over(app.state):
                app.append(e.FindingOpened(f"kelp {n}"), e.TaskAdded(f"kelp {n}"))
                hits = tables.search(workspace, journal, f"kelp {n}")
                assert {hit.kind for hit in hits if hit.snippet == f"kelp {n}"} == {
                    "finding",
                    "task",
                }


# -- what it writes --------------------------------------------------------------------------


def test_the_tables_are_made_by_the_first_search(shop: Path) -> None:
    """A search makes and renews the tables, and leaves everything else as it was."""
    before = files(shop)
    assert found(shop, "fennel") == [("finding", "F001")]
    after = files(shop)
    assert after.pop(".passdown/tables.db")
    assert after == before
    path = shop / ".passdown/tables.db"
    traits = path.stat()
    assert found(shop, "fennel") == [("finding", "F001")]
    assert path.stat() == traits
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DELETE FROM texts")
    assert found(shop, "fennel") == [("finding", "F001")]


def test_where_nothing_can_be_written(shop: Path) -> None:
    """In a workspace that can only be read a search finds what there is all the same."""
    (shop / ".passdown").chmod(0o555)
    try:
        said = run(shop, "search", "fennel", "--json", before=bound_by_permissions)
        assert [hit["item"] for hit in said.json] == ["F001"], said
    finally:
        (shop / ".passdown").chmod(0o755)
    assert not (shop / ".passdown/tables.db").exists()


def test_matches_are_highlighted(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal the matches have a colour; what a text has of its own steers nothing."""
    from cli import screen
    from cli.tables import _highlighted

    monkeypatch.setattr(screen, "_coloured", lambda: True)
    hit = Hit("shop", "finding", "F001", "open", None, "no kelp [31m in kelp", [(3, 7), (16, 20)])
    assert _highlighted(hit, 80) == "no \x1b[33mkelp\x1b[0m [31m in \x1b[33mkelp\x1b[0m"
    assert _highlighted(hit, 6) == "no \x1b[33mke…\x1b[0m"
    good(shop, "finding", "open", "red \x1b[31m kelp")
    assert "\x1b[31m" not in good(shop, "search", "kelp").out
