"""What every dialect promises: pure rendering, a stamp that proves itself, text that stays text."""

import copy
import json
import os
import random
from pathlib import Path

import pytest
import yaml as pyyaml
from examples import fresh, rich
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from strategies import Chain, events_of, hostile_text, projects

from journal import clock
from journal.errors import Invalid
from journal.events import VOCABULARY, DecisionMade, Json, SessionHeartbeat
from journal.payload import MAX_DEPTH
from journal.state import Project
from projections import markdown, stamp, yaml
from projections.dialect import DIALECTS, Dialect

GOLDEN = Path(__file__).with_name("golden")
EXAMPLES = {"fresh": fresh, "rich": rich}
thorough = settings(deadline=None, max_examples=100)
every_dialect = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)


# -- every dialect ---------------------------------------------------------------------------


@every_dialect
@pytest.mark.parametrize("name", EXAMPLES)
def test_golden_files(dialect: Dialect, name: str) -> None:
    """The two examples render to the bytes that were read and accepted (PASSDOWN_GOLDEN=write)."""
    path = GOLDEN / f"{name}-{Path(dialect.path).name}"
    content = dialect.render(EXAMPLES[name]())
    if os.environ.get("PASSDOWN_GOLDEN") == "write":
        path.write_bytes(content)
    assert content == path.read_bytes()


@every_dialect
@thorough
@given(projects())
def test_rendering_is_pure(dialect: Dialect, project: Project) -> None:
    """The same state gives the same bytes, and is the same state afterwards."""
    before = copy.deepcopy(project)
    content = dialect.render(project)
    assert project == before
    assert dialect.render(before) == content


@every_dialect
@thorough
@given(projects(), st.data())
def test_stamp_holds_until_a_byte_changes(
    dialect: Dialect, project: Project, choice: st.DataObject
) -> None:
    """A rendered file proves itself and names its state; with any one byte changed it does not."""
    content = dialect.render(project)
    assert stamp.holds(content)
    assert stamp.read(content) == stamp.Stamp(
        project.slug,
        project.content_version,
        project.content_hash.hex(),
        dialect.renderer,
        stamp.read(content).digest,  # type: ignore[union-attr]
    )
    where = choice.draw(st.integers(0, len(content) - 1))
    changed = bytearray(content)
    changed[where] ^= choice.draw(st.integers(1, 255))
    assert not stamp.holds(bytes(changed))


@every_dialect
def test_every_changed_byte_is_noticed(dialect: Dialect) -> None:
    """There is no byte of a file that its stamp does not cover."""
    content = dialect.render(fresh())
    for where in range(len(content)):
        changed = bytearray(content)
        changed[where] ^= 1
        assert not stamp.holds(bytes(changed)), where


@every_dialect
@thorough
@given(projects(), st.data())
def test_cut_file_has_no_stamp(dialect: Dialect, project: Project, choice: st.DataObject) -> None:
    """A file that lost its end has no stamp, or in front one that does not hold, whatever
    look-alikes agents put into it."""
    content = dialect.render(project)
    cut = content[: choice.draw(st.integers(0, len(content) - 9))]
    assert stamp.read(cut) == (stamp.read(content) if stamp.in_front(cut) else None)
    assert not stamp.holds(cut)


def test_stamp_in_a_decision_is_no_stamp() -> None:
    """A value that looks like our stamp is not taken for it, wherever the file ends."""
    forged = {stamp.KEY: {"project": "x", "version": 9, "hash": "a" * 64, "renderer": 1}}
    forged[stamp.KEY]["digest"] = "b" * 64
    for key in (stamp.KEY, "region"):
        made = DecisionMade(key=key, value=[forged, forged[stamp.KEY]], decision="D001")
        content = DIALECTS["session-state"].render(Chain("true").add(made).project)
        true = stamp.read(content)
        assert true is not None
        assert true.project == "true"
        for end in range(len(content) - 1):
            assert stamp.read(content[:end]) in (None, true)


@every_dialect
def test_bookkeeping_changes_no_file(dialect: Dialect) -> None:
    """A heartbeat is on record and yet every file stays as it was."""
    chain = Chain("orchard-market")
    chain.project = rich()
    before = dialect.render(chain.project)
    chain.add(SessionHeartbeat("session-003"))
    assert chain.project.sessions["session-003"].heartbeat is not None
    assert dialect.render(chain.project) == before


@every_dialect
@thorough
@given(projects())
def test_rendered_files_are_intact(dialect: Dialect, project: Project) -> None:
    """What we write is never taken for corrupt."""
    assert dialect.intact(dialect.render(project))


@every_dialect
@thorough
@given(st.one_of(st.binary(max_size=200), hostile_text().map(str.encode)))
@example(b"")
@example(b"[" * 100_000)
@example(b"# STATE.md\n" + b"[" * 100_000)
@example(b"# STATE.md\n" + b"- " * 100_000)
@example(b'# STATE.md\ninitiative: "\\UFFFFFFFF"\nposition: 1')
@example(b"# STATE.md\ninitiative: *x\nposition: 1")
@example(b"# STATE.md\n%YAML 99999999999.1\n---\ninitiative: 1")
@example(b'{"schema_version": "3.0", "project": "x", "steps": ' + b"[" * 100_000)
@example(b'{"a":' * 100_000)
def test_any_bytes_are_judged(dialect: Dialect, content: bytes) -> None:
    """Any bytes at all get an answer, and none of these are a file of ours."""
    assert not dialect.intact(content)
    assert not stamp.holds(content)


@every_dialect
@pytest.mark.parametrize("seed", range(20))
def test_damaged_files_are_judged(dialect: Dialect, seed: int) -> None:
    """No damage to a real file makes the checks raise."""
    chance = random.Random(seed)
    content = bytearray(dialect.render(rich()))
    for _ in range(chance.randrange(1, 30)):
        where = chance.randrange(len(content))
        content[where : where + chance.randrange(3)] = chance.randbytes(chance.randrange(4))
        assert dialect.intact(bytes(content)) in (True, False)
        assert not stamp.holds(bytes(content)) or bytes(content) == dialect.render(rich())


@every_dialect
def test_edited_file_keeps_its_stamp(dialect: Dialect) -> None:
    """A file that was edited by hand still says which state it was, though it no longer holds."""
    content = dialect.render(rich())
    edited = content.replace(b"northeurope", b"westeurope").replace(b"\n", b"\r\n")
    assert stamp.read(edited) == stamp.read(content)
    assert not stamp.holds(edited)
    assert dialect.intact(edited)


def test_reformatted_json_keeps_its_stamp() -> None:
    """Another indentation and order of keys, or a missing comma, do not lose the stamp."""
    content = DIALECTS["session-state"].render(rich())
    expected = stamp.read(content)
    sorted_keys = json.dumps(json.loads(content), sort_keys=True).encode()
    assert stamp.read(sorted_keys) == expected
    assert stamp.read(content.replace(b",", b"", 1)) == expected


@thorough
@given(st.sampled_from(list(VOCABULARY)).flatmap(lambda tag: events_of(VOCABULARY[tag])))
def test_strategies_know_every_event(event: object) -> None:
    """Random histories can contain every event of the vocabulary."""
    assert type(event) in VOCABULARY.values()


# -- markdown --------------------------------------------------------------------------------

COMMONMARK = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def shown(source: str) -> tuple[list[str], str]:
    """The blocks that markdown consists of, and the text of it that a reader sees."""
    tokens = COMMONMARK.parse(source)
    blocks = [token.type for token in tokens if token.type.endswith("_open")]
    parts = [part for token in tokens for part in token.children or ()]
    marks = [part.type for part in parts if part.type != "text"]
    return blocks + marks, "".join(part.content for part in parts)


@thorough
@given(hostile_text())
@example("-->")
@example("<1@b.c>")
@example("- - -")
@example("__init__.py and _x_")
@example("* a *b")
@example("\\")
@example("1986\\. A year")
@example("&#35;&amp;")
@example("`` ` ``")
@example("[a](b) ![c](d) [e][f] [g]: h")
def test_text_stays_text(text: str) -> None:
    """Any text, wherever it stands, is shown by a markdown reader as exactly that text."""
    plain = markdown.clip(text)
    safe = markdown.inline(text)
    assert "\n" not in safe
    assert shown(safe) == ((["paragraph_open"], plain) if plain else ([], ""))
    blocks = ["bullet_list_open", "list_item_open", "paragraph_open"]
    assert shown(f"- {safe}") == (blocks if plain else blocks[:2], plain)
    assert shown(f"# {safe} — x") == (["heading_open"], f"{plain} — x".strip())
    assert shown(f"before\n\n{safe} x\n\nafter")[0] == ["paragraph_open"] * 3


@thorough
@given(hostile_text())
def test_paths_stay_paths(text: str) -> None:
    """A code span shows exactly the path, however many backticks are in it."""
    marks, content = shown(f"x {markdown.code(text)} y")
    assert marks == ["paragraph_open", "code_inline"]
    assert content == f"x {markdown.clip(text) or ' '} y"


@pytest.mark.parametrize(
    "text",
    [
        "src/api/auth_token/refresh-v2.ts",
        "snake_case_word and a-b-c, (really): 50% of it!",
        "~€500/month, <$50/month; a < b",
        "phase_1.5_governance → 3_5 & more",
        "items[0] is #1 at 12:30 -5 °C",
        "C:\\temp",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    """What no reader takes for markup gets no backslash."""
    assert markdown.inline(text) == text


def test_no_tag_survives_even_in_the_source() -> None:
    """A tag is not merely escaped: its opening bracket is gone for readers that know no escapes."""
    assert "<script" not in markdown.inline("<script>alert(1)</script>")
    assert "-->" not in markdown.inline("a --> b")


@thorough
@given(hostile_text(), st.integers(1, 50))
def test_clipped_text_is_short(text: str, limit: int) -> None:
    """Clipping keeps to its limit, on one line, and says that something is missing."""
    clipped = markdown.clip(text, limit)
    assert len(clipped) <= limit
    assert clipped == " ".join(clipped.split())
    assert clipped == markdown.clip(text, 10**6) or clipped.endswith("…")


# -- YAML ------------------------------------------------------------------------------------


@thorough
@given(hostile_text(min_size=0))
@example("a\n")
@example("a\n\n")
@example(" a")
@example("a\n \nb")
@example("a\n\tb\n")
def test_yaml_gives_back_the_text(text: str) -> None:
    """However a text is written, it loads as the same text, and nothing around it is touched."""
    entries: dict[str, yaml.Node] = {
        "quoted": yaml.text(text),
        "name": yaml.name(text),
        "literal": yaml.literal(text),
        "items": [yaml.text(text), {"inner": yaml.literal(text)}, []],
        "last": yaml.flag(True),
    }
    source = "\n".join((*yaml.mapping(entries), "", "# the end", ""))
    assert pyyaml.safe_load(source) == {
        "quoted": text,
        "name": text,
        "literal": text,
        "items": [text, {"inner": text}, []],
        "last": True,
    }


@thorough
@given(hostile_text(huge=False))
def test_yaml_keys_are_text(text: str) -> None:
    """A key loads as the text it was, also where YAML would see a number or a merge."""
    assert pyyaml.safe_load("\n".join(yaml.mapping({text: yaml.NULL}))) == {text: None}


@pytest.mark.parametrize(
    "text", ["3_5", "yes", "No", "null", "1e3", "0x10", "12:30", "2026-01-01", ""]
)
def test_yaml_traps_are_quoted(text: str) -> None:
    """A text that YAML would load as something else is quoted even as a name."""
    assert yaml.name(text) == f'"{text}"'


@pytest.mark.parametrize("text", ["block-001", "worker-abc", "src/api/auth.ts", "in_progress"])
def test_yaml_names_are_plain(text: str) -> None:
    """An id or a path that can only be text is not quoted."""
    assert yaml.name(text) == text


def test_yaml_literal_blocks() -> None:
    """Text of several lines is a literal block, with or without its last line break."""
    assert yaml.mapping({"next": yaml.literal("a\n\n  b\n")}) == ["next: |", "  a", "", "    b"]
    assert yaml.mapping({"next": yaml.literal("a")}) == ["next: |-", "  a"]


# -- times and values ------------------------------------------------------------------------


def test_moments() -> None:
    """Times are written to the second in UTC, also beyond the ends of the calendar."""
    assert clock.iso(1_767_261_600_999_999) == "2026-01-01T10:00:00Z"
    assert clock.day(1_767_261_600_999_999) == "2026-01-01"
    assert clock.iso(-1) == "1969-12-31T23:59:59Z"
    assert clock.iso(-(2**63)) == "0001-01-01T00:00:00Z"
    assert clock.iso(2**63) == "9999-12-31T23:59:59Z"


@every_dialect
def test_values_of_any_depth(dialect: Dialect) -> None:
    """The deepest value that the journal takes is rendered; a deeper one never gets there."""
    deepest: Json = "x"
    for _ in range(MAX_DEPTH - 1):
        deepest = [deepest]
    chain = Chain("deep").add(DecisionMade(key="region", value=deepest, decision="D001"))
    chain.add(DecisionMade(key="note", value=deepest, decision="D002"))
    assert dialect.intact(dialect.render(chain.project))
    with pytest.raises(Invalid, match="deeper than 64"):
        chain.add(DecisionMade(key="deeper", value=[deepest], decision="D003"))
