"""Proof: what a file shows is the replay of the journal, and the journal is what was written."""

import shutil
from pathlib import Path

import pytest
from command import Result, files, good, quick
from forging import FORGERIES, history, put_in_place, tamper
from msgspec.structs import replace

from cli import exits
from projections import proving, stamp
from projections.dialect import DIALECTS
from projections.proving import difference, first_redacted

#: Every dialect, whatever project usually has it, and one file for each entry.
SETTINGS = "".join(f"[projections.{name}]\nenabled = true\n" for name in (*DIALECTS, "planning"))


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a project in every dialect."""
    folder = tmp_path_factory.mktemp("proof")
    (folder / "passdown.toml").write_text(SETTINGS)
    good(folder, "init", "shop", "--title", "Größe")
    good(folder, "step", "start", "1", "--actor", "ada")
    good(folder, "decide", "Where it runs", "--choice", "north", "--actor", "ada")
    good(folder, "decide", "--key", "region", "--value", "swedencentral")
    good(folder, "blocker", "raise", "no quota")
    good(folder, "finding", "open", "public access")
    return folder


@pytest.fixture
def shop(origin: Path, tmp_path: Path) -> Path:
    """A copy of it that may be spoilt."""
    shutil.copytree(origin, tmp_path / "w")
    return tmp_path / "w"


def shown(folder: Path) -> dict[str, list[Path]]:
    """The files of each projection."""
    found: dict[str, list[Path]] = {}
    for file in good(folder, "verify", "--json").json["projects"]["shop"]:
        found.setdefault(file["projection"], []).append(folder / file["path"])
    return found


def proof(folder: Path, path: Path, *words: str) -> Result:
    """What `verify` has to say about a file."""
    return quick(folder, "verify", str(path), "--json", *words)


# -- files -----------------------------------------------------------------------------------


def test_every_file_is_proved(shop: Path) -> None:
    """Each file of each dialect is proved to be the replay, also long after, also as a copy."""
    found = shown(shop)
    assert set(found) >= {*DIALECTS, "planning"}
    copies: dict[Path, tuple[str, bytes]] = {}
    for name, paths in found.items():
        for path in paths:
            copies[shop / f"copy-{len(copies)}"] = name, path.read_bytes()
    for copy, (_, content) in copies.items():
        copy.write_bytes(content)
    good(shop, "step", "complete", "1")
    good(shop, "decide", "--key", "region", "--value", "elsewhere")
    before = files(shop)
    for copy, (name, _) in copies.items():
        done = proof(shop, copy)
        assert (done.code, done.err, done.json["outcome"]) == (0, "", "proved"), (name, done)
        assert (done.json["ok"], done.json["projection"]) == (True, name)
        said = good(shop, "verify", str(copy)).out
        assert said.startswith(f"{copy}: proved: it is ")
        assert f" as {name}, byte for byte (hash " in said
    assert files(shop) == before


@pytest.mark.parametrize("form", DIALECTS["active-session"].forms)
def test_either_form_is_proved(tmp_path: Path, form: str) -> None:
    """An active-session.md is proved in the form it has, whatever form is written now."""
    settings = '[projections.active-session]\nfront_matter = "{}"\n'
    (tmp_path / "passdown.toml").write_text(settings.format(form))
    good(tmp_path, "init", "2026-05-01-limiter", "--phases", "Design; Build")
    [path] = (tmp_path / ".gemini/state").glob("*.md")
    (tmp_path / "copy").write_bytes(path.read_bytes())
    other = {"yaml": "json", "json": "yaml"}[form]
    (tmp_path / "passdown.toml").write_text(settings.format(other))
    good(tmp_path, "step", "start", "1")
    done = proof(tmp_path, tmp_path / "copy")
    assert (done.code, done.json["projection"]) == (0, "active-session")
    assert proof(tmp_path, path).code == 0


@pytest.mark.parametrize("name", [*DIALECTS, "planning"])
def test_an_edit_is_shown(shop: Path, name: str) -> None:
    """The first line that is not the journal's is named, with both sides; exit 1."""
    path = shown(shop)[name][0]
    lines = path.read_bytes().split(b"\n")
    marks = ((n, mark) for mark in (b"1", b"e") for n, line in enumerate(lines) if mark in line)
    at, mark = next((n, mark) for n, mark in marks if b"passdown" not in lines[n])
    lines[at] = lines[at].replace(mark, b"9", 1)
    path.write_bytes(b"\n".join(lines))
    done = proof(shop, path)
    assert (done.code, done.json["outcome"]) == (exits.NOT_WELL, "differs"), done
    told = done.json["difference"]
    assert (told["line"], told["theirs"]) == (at + 1, lines[at].decode())
    assert told["ours"] != told["theirs"]
    assert "by its own digest it was changed" in done.json["what"]
    said = quick(shop, "verify", str(path))
    assert said.code == exits.NOT_WELL
    assert f"  line {at + 1}\n    journal  {told['ours']!r}\n    file     " in said.out


def test_an_edit_with_a_new_digest_is_shown(shop: Path) -> None:
    """Who also makes the stamp fit the edit does not make the journal fit it."""
    path = shown(shop)["handoff"][0]
    edited = path.read_bytes().replace(b"swedencentral", b"northpole")
    digest = stamp.read(edited)
    assert digest is not None
    forged = stamp.stamped(edited.replace(digest.digest.encode(), stamp.ZEROS.encode()))
    assert stamp.holds(forged)
    path.write_bytes(forged)
    done = proof(shop, path)
    assert done.json["outcome"] == "differs"
    assert "though its own digest holds" in done.json["what"]
    assert "northpole" in done.json["difference"]["theirs"]


@pytest.mark.parametrize("name", ["session-state", "active-session"])
@pytest.mark.parametrize("spoil", [b"\n", b" ", b"\xff\xfe", b"\xef\xbb\xbf{{{"])
def test_a_file_that_is_spoilt_at_its_start(shop: Path, name: str, spoil: bytes) -> None:
    """Also of a file that no longer reads as what it was, the first other line is shown."""
    path = shown(shop)[name][0]
    path.write_bytes(spoil + path.read_bytes())
    done = proof(shop, path)
    assert done.code == exits.NOT_WELL
    if done.json["outcome"] != "unknown":  # the stamp of a front matter goes with that
        assert (done.json["outcome"], done.json["difference"]["line"]) == ("differs", 1)
        assert done.json["projection"] == name


def restamped(content: bytes, **other: object) -> bytes:
    """The content with another stamp, which is sound in itself."""
    old = stamp.read(content)
    assert old is not None
    new = replace(old, digest=stamp.ZEROS, **other)
    return stamp.stamped(content.replace(stamp.line(old).encode(), stamp.line(new).encode()))


def test_a_file_of_what_the_journal_does_not_have(shop: Path) -> None:
    """Another project, a later version, another record there: each has its own sentence."""
    path = shown(shop)["handoff"][0]
    content = path.read_bytes()
    signed = stamp.read(content)
    assert signed is not None
    for other, outcome, said in (
        ({"project": "shoq"}, "foreign", "from shoq, which this journal does not have"),
        ({"version": 99}, "ahead", f"and the journal ends at version {signed.version}"),
        ({"version": 10**17}, "ahead", "the journal ends at version"),
        ({"hash": "ab" * 32}, "forked", "and the journal has another record there"),
        ({"version": 2}, "forked", "with the hash"),
        ({"renderer": 7}, "renderer", "number 7 of the renderer of handoff, and here is number"),
        ({"version": 0}, "forked", "was never there"),
    ):
        path.write_bytes(restamped(content, **other))
        done = proof(shop, path)
        assert (done.code, done.json["outcome"]) == (exits.NOT_WELL, outcome), done
        assert said in done.json["what"]
        assert done.json["difference"] is None


def test_a_file_of_an_older_renderer_is_no_drift(shop: Path) -> None:
    """What another version of the renderer made is said to be that; and if it was edited, too."""
    path = shown(shop)["handoff"][0]
    old = restamped(path.read_bytes(), renderer=0)
    path.write_bytes(old)
    told = proof(shop, path).json["what"]
    assert "nothing is proved" in told
    assert "changed since" not in told
    path.write_bytes(old.replace(b"swedencentral", b"northpole"))
    assert "by its own digest it was changed since" in proof(shop, path).json["what"]


def test_a_file_without_a_stamp(shop: Path) -> None:
    """One of ours that says nothing of where it is from is told apart from what is none of ours."""
    path = shown(shop)["handoff"][0]
    path.write_bytes(b"".join(x for x in path.read_bytes().splitlines(True) if b"digest=" not in x))
    done = proof(shop, path)
    assert (done.json["outcome"], done.json["projection"]) == ("unstamped", "handoff")
    (shop / "noise").write_bytes(bytes(range(256)))
    assert proof(shop, shop / "noise").json["outcome"] == "unknown"
    (shop / "empty").write_bytes(b"")
    assert proof(shop, shop / "empty").json["outcome"] == "unknown"


def test_a_file_of_another_project(shop: Path) -> None:
    """With -p a file of another project is not proved, though it is that of another."""
    good(shop, "init", "tour")
    path = shown(shop)["handoff"][0]
    done = proof(shop, path, "-p", "tour")
    assert (done.code, done.json["outcome"]) == (exits.NOT_WELL, "foreign")
    assert done.json["what"] == "it was made from shop, not tour"
    assert proof(shop, path, "-p", "shop").code == 0


@pytest.mark.parametrize(
    ("path", "code", "said"),
    [
        ("none.md", exits.NOT_FOUND, "no file 'none.md'"),
        (".", exits.INVALID, ". is a folder"),
        ("passdown.toml/x", exits.INVALID, "would be in a file"),
    ],
)
def test_what_is_no_file(shop: Path, path: str, code: int, said: str) -> None:
    """A path where no file is, is refused in a sentence."""
    done = quick(shop, "verify", path)
    assert (done.code, done.out) == (code, "")
    assert said in done.err


def test_a_file_shows_that_the_journal_was_rewritten(shop: Path) -> None:
    """A file from before is not the replay of a history that was forged since."""
    path = shown(shop)["handoff"][0]
    (shop / "kept").write_bytes(path.read_bytes())
    records = history(shop, "shop")
    put_in_place(shop, FORGERIES["changed"](records))
    done = proof(shop, shop / "kept")
    assert (done.code, done.json["outcome"]) == (exits.NOT_WELL, "forked")
    assert proof(shop, path).code == 0


# -- redaction -------------------------------------------------------------------------------


def test_the_first_redacted_record(shop: Path) -> None:
    """A record is known for redacted by its salt, which is gone."""
    records = history(shop, "shop")
    assert first_redacted(records) is None
    redacted = [replace(each, salt=None) if each.version in (3, 4) else each for each in records]
    assert first_redacted(redacted) == 3
    assert first_redacted(redacted[:2]) is None


# -- the difference --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ours", "theirs", "line", "one", "other"),
    [
        (b"a\nb\nc", b"a\nx\nc", 2, "b", "x"),
        (b"a\nb\n", b"a\nb\r\n", 2, "b", "b\r"),
        (b"a\nb\n", b"a\nb", 3, "", None),
        (b"a\n", b"a\n\n", 3, None, ""),
        (b"a", b"a\nb", 2, None, "b"),
        (b"", b"\xff", 1, "", "\\xff"),
    ],
)
def test_the_first_line_that_differs(
    ours: bytes, theirs: bytes, line: int, one: str | None, other: str | None
) -> None:
    """It is counted from 1, and a side that has ended is null."""
    assert difference(ours, theirs) == proving.Difference(line, one, other)


def test_of_long_lines_the_place_is_shown() -> None:
    """Of a line of a megabyte, what is shown is where the difference is."""
    told = difference(b"x" * 1_000_000 + b"old" + b"y" * 999, b"x" * 1_000_000 + b"new" + b"y" * 9)
    assert told.ours is not None
    assert told.theirs is not None
    assert told.ours.startswith("…xxx")
    assert "xoldy" in told.ours
    assert "xnewy" in told.theirs
    assert len(told.ours) < 110


# -- the journal -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statements", "said"),
    [
        (["DELETE FROM records WHERE version = 6"], "its head says 6"),
        (["DELETE FROM records WHERE version >= 4"], "its head says 6"),
        (["DELETE FROM records WHERE version = 3"], "version 3 is missing"),
        (["UPDATE heads SET version = 5"], "its head says 5"),
        (
            [
                "UPDATE records SET version = 99 WHERE version = 3",
                "UPDATE records SET version = 3 WHERE version = 4",
                "UPDATE records SET version = 4 WHERE version = 99",
            ],
            "version 3 of shop: its hash does not match",
        ),
        (["UPDATE records SET data = x'7b7d' WHERE version = 5"], "version 5 of shop: its payload"),
        (["UPDATE records SET data = '{}' WHERE version = 5"], "version 5 of shop: a field has a"),
        (["UPDATE records SET actor = 'eve' WHERE version = 2"], "version 2 of shop: its payload"),
    ],
)
def test_verify_finds(shop: Path, statements: list[str], said: str) -> None:
    """A tail cut off, two records that changed places, one changed or gone: each is named."""
    assert len(history(shop, "shop")) == 6
    tamper(shop, *statements)
    done = quick(shop, "verify")
    assert done.code == exits.NOT_WELL
    assert said in done.out
