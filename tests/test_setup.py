"""What `setup` puts into files that are somebody else's, and that it takes out just that again.

The laws hold for any settings and any text; the command is shown on real files and processes.
"""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import pytest
from command import bound_by_permissions, files, good, quick, run
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from cli import entries, exits, hosts, jsonc, placing, section, skill
from cli.hosts import HOSTS, Host
from journal.errors import Invalid

#: A JSON value; a number is the word it is written as.
Tree: TypeAlias = Any
CLAUDE = HOSTS["claude-code"]
PATHS = {host.name: host.path for host in HOSTS.values()} | {
    "agents-md": "AGENTS.md",
    "skill": ".claude/skills/passdown/SKILL.md",
}
every_target = pytest.mark.parametrize("target", PATHS)

# -- settings as somebody may have written them ----------------------------------------------


class Number(str):
    """A number, as it is written."""


NOT_OURS = (
    "prettier --check .",
    "echo // passdown",
    "passdown verify",
    "passdown-lint hook claude-code Stop",
    "not-passdown hook gemini SessionStart",
    "passdown hook emacs SessionStart",
    "passdown hook claude-code Stop-guard",
)
EVENTS = ("SessionStart", "Stop", "BeforeAgent", "SessionEnd", "PreToolUse")
COMMENTS = ("/* c */", "/**/", '/* " { [ // */', "// c\n", '// " } ]\r\n', "\n  // ü, \n")
BLANKS = (" ", "  ", "\t", "\n", "\n  ", "\r\n\t", "\r", "\n\n      ")
#: What may stand between any two tokens, one line for each way of writing.
STYLES = (
    [""],
    ["", " ", "  "],
    ["\n  "],
    ["\r\n\t"],
    ["", *BLANKS],
    ["", *BLANKS, *COMMENTS],
)

words = st.sampled_from(["a", "", "//", "/*", "[{", '"\\', "ü\u2028", "\ud800", "1\n"])
leaves = (
    st.sampled_from([True, False, None])
    | st.sampled_from(["0", "-1.50", "1E400", "9" * 50]).map(Number)
    | words
)
trees = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)


def groups(commands: st.SearchStrategy[str]) -> st.SearchStrategy[Tree]:
    """Entries at an event, some of which make no sense."""
    handler = st.fixed_dictionaries({"type": st.just("command"), "command": commands})
    group = st.fixed_dictionaries(
        {"hooks": st.lists(handler, max_size=3)}, optional={"matcher": st.just("Bash")}
    )
    return st.lists(group | group | trees, max_size=3)


def settings_of(commands: st.SearchStrategy[str]) -> st.SearchStrategy[Tree]:
    """Settings as values, with hooks or without."""
    hooks = st.dictionaries(st.sampled_from(EVENTS), groups(commands), max_size=4)
    return st.fixed_dictionaries(
        {}, optional={"a": trees, "//": trees, "hooks": hooks, "b": trees, "ü": trees}
    )


def written(tree: Tree, rng: Random, style: list[str]) -> str:
    """A value as text, with anything between its tokens that may be there."""

    def gap() -> str:
        return "".join(rng.choice(style) for _ in range(rng.choice((0, 1, 1, 2))))

    def between(brackets: str, items: list[str]) -> str:
        joined = f"{gap()},{gap()}".join(items)
        trailing = f",{gap()}" if items and rng.random() < 0.1 and "/**/" in style else ""
        return f"{brackets[0]}{gap()}{joined}{gap()}{trailing}{brackets[1]}"

    if isinstance(tree, Number):
        return tree
    if isinstance(tree, list):
        return between("[]", [written(item, rng, style) for item in tree])
    if not isinstance(tree, dict):
        return json.dumps(tree, ensure_ascii=rng.random() < 0.5 or "\ud800" in str(tree))
    members = []
    for key, value in tree.items():
        if key not in ("hooks", *EVENTS) and rng.random() < 0.1:
            members.append((key, rng.choice(["1", "{}"])))  # twice: the last one counts
        members.append((key, written(value, rng, style)))
    return between("{}", [f"{json.dumps(k)}{gap()}:{gap()}{text}" for k, text in members])


@st.composite
def texts(draw: st.DrawFn, tree: st.SearchStrategy[Tree]) -> tuple[str, Tree]:
    """Settings as text, and the value they are."""
    content = draw(tree)
    rng, style = draw(st.randoms(use_true_random=False)), draw(st.sampled_from(STYLES))
    ends = [rng.choice(["", "\n", *style]) for _ in range(2)]
    bom = draw(st.sampled_from(["", "\ufeff"]))
    text = "" if not content and draw(st.booleans()) else written(content, rng, style)
    return f"{bom}{ends[0]}{text}{ends[1]}", content


every_host = st.sampled_from(list(HOSTS.values()))
others = texts(settings_of(st.sampled_from(NOT_OURS)))
ours = every_host.flatmap(
    lambda host: st.tuples(
        st.just(host),
        texts(
            settings_of(
                st.sampled_from(
                    [*NOT_OURS[:2], *(f"passdown hook {host.name} {e}" for e in EVENTS)]
                )
            )
        ),
    )
)
often = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))


def content_of(text: str) -> Tree:
    """The value of settings; that it is the right one, the first law shows."""
    return jsonc.scan(text).content or {}


def calls(tree: Tree, host: Host, event: str) -> int:
    """How often a host calls us at an event."""
    found = [one for group in tree["hooks"][event] for one in hosts.handlers(group)]
    return sum(hosts.calls_us(one, host, event) for one in found)


def without_empty(tree: Tree) -> Tree:
    """Settings without hooks that are none."""
    hooks = {event: groups for event, groups in tree.get("hooks", {}).items() if groups}
    rest = {key: value for key, value in tree.items() if key != "hooks"}
    return rest | ({"hooks": hooks} if hooks else {})


# -- the laws of settings --------------------------------------------------------------------


@often
@given(others)
def test_comments_are_read_over(found: tuple[str, Tree]) -> None:
    """Settings with comments and trailing commas are understood as what they say."""
    text, content = found
    assert content_of(text) == content


@often
@given(others, every_host)
@example(("", {}), CLAUDE)
def test_what_is_put_in_can_be_taken_out(found: tuple[str, Tree], host: Host) -> None:
    """Install and remove leave the very same text, whatever it was."""
    text, _ = found
    assert entries.remove(text, host) == text
    assert entries.remove(entries.install(text, host), host) == text


@often
@given(others, every_host)
def test_all_else_stays(found: tuple[str, Tree], host: Host) -> None:
    """Settings afterwards say what they said, and one entry of ours at every event."""
    text, content = found
    once = entries.install(text, host)
    assert entries.install(once, host) == once
    now = content_of(once)
    for event in host.events:
        first, *rest = now["hooks"][event]
        assert first == json.loads(hosts.entry(host, event), parse_int=str)
        assert rest == content.get("hooks", {}).get(event, [])
        now["hooks"][event] = rest
    assert without_empty(now) == without_empty(content)


@often
@given(ours)
def test_what_is_there_already_stays(found: tuple[Host, tuple[str, Tree]]) -> None:
    """Entries written by hand, in whatever form, count; only what is missing is added."""
    host, (text, content) = found
    once = entries.install(text, host)
    for event in host.events:
        before = calls(content, host, event) if event in content.get("hooks", {}) else 0
        assert calls(content_of(once), host, event) == max(before, 1)
    bare = entries.remove(text, host)
    assert entries.remove(once, host) == bare
    assert bare is None or not hosts.found_events(jsonc.scan(bare), host)


@often
@given(others, every_host, st.integers(1, 3))
def test_an_earlier_version_knew_fewer_events(
    found: tuple[str, Tree], host: Host, known: int
) -> None:
    """What two versions put in one after the other is taken out as if it were one."""
    text, _ = found
    earlier = replace(host, events=host.events[-known:])
    both = entries.install(entries.install(text, earlier), host)
    assert entries.remove(both, host) == text


@often
@given(others, every_host, st.sampled_from([None, 4, "\t"]), st.booleans())
def test_edits_in_between(
    found: tuple[str, Tree], host: Host, indent: int | str | None, turned: bool
) -> None:
    """Settings that were written anew, with an entry of the owner beside ours, lose only ours."""
    text, content = found
    mine = {"hooks": [{"type": "command", "command": "mine"}]}
    now = content_of(entries.install(text, host))
    now["hooks"][host.events[0]].insert(0 if turned else 99, mine)
    if turned:
        now["hooks"] = dict(reversed(now["hooks"].items()))
        now = dict(reversed(now.items()))
    left = entries.remove(json.dumps(now, indent=indent), host)
    assert left is not None
    assert jsonc.scan(left).is_plain
    kept = content_of(left)
    assert kept["hooks"][host.events[0]].pop(0 if turned else -1) == mine
    assert without_empty(kept) == without_empty(content)


def test_how_it_is_written() -> None:
    """One line for each entry, in front of all others, indented as its neighbours are."""
    host = replace(HOSTS["gemini"], events=("SessionStart", "SessionEnd"))
    start, end = hosts.entry(host, "SessionStart"), hosts.entry(host, "SessionEnd")
    assert entries.install('{\r\n\t"a": 1,\r\n\t"hooks": {\r\n\t\t"X": []\r\n\t}\r\n}', host) == (
        '{\r\n\t"a": 1,\r\n\t"hooks": {'
        f'\r\n\t\t"SessionStart": [\r\n\t\t\t{start}\r\n\t\t],'
        f'\r\n\t\t"SessionEnd": [\r\n\t\t\t{end}\r\n\t\t],'
        '\r\n\t\t"X": []\r\n\t}\r\n}'
    )
    assert entries.install('{"hooks": {"SessionEnd": [1]}}', host) == (
        f'{{"hooks": {{"SessionStart": [ {start} ],"SessionEnd": [{end},1]}}}}'
    )


def test_words_of_the_owner_stay() -> None:
    """A comment among our entries keeps what it stands in from being taken for ours alone."""
    made = entries.install(None, CLAUDE)
    assert entries.remove(made, CLAUDE) is None
    assert entries.remove(f"// mine\n{made}", CLAUDE) == "// mine\n\n"
    for bracket in ("{", "["):
        left = entries.remove(made.replace(bracket, f"{bracket} // mine", 1), CLAUDE)
        assert left is not None
        assert left.count("// mine") == 1
        assert hosts.found_events(jsonc.scan(left), CLAUDE) == ()


def test_an_object_stays_an_object() -> None:
    """Where all but ours was taken out of a file, on one line, it does not become an empty one."""
    text = entries.install('{ "a": 1 }', CLAUDE).replace(', "a": 1', "")
    assert entries.remove(text, CLAUDE) == "{ }"


def test_an_entry_that_was_moved_among_others() -> None:
    """A handler of ours in an entry with others is taken out of it, and they stay."""
    call = '{"type": "command", "command": "/opt/passdown hook claude-code Stop -p shop"}'
    text = f'{{"hooks": {{"Stop": [{{"hooks": [{{"command": "a"}}, /* us */ {call}, 1]}}]}}}}'
    left = '{"hooks": {"Stop": [{"hooks": [{"command": "a"}, /* us */  1]}]}}'
    assert entries.remove(text, CLAUDE) == left


@pytest.mark.parametrize(
    ("command", "called", "own"),
    [
        ("passdown hook claude-code Stop", True, True),
        ("timeout 5 '/opt/my tools/passdown' hook claude-code Stop -p shop", True, True),
        (r"C:\bin\passdown.exe  hook claude-code Stop", True, True),
        ("python -m passdown hook claude-code Stop", True, True),
        ("passdown hook claude-code Stop && make lint", True, False),
        ("make lint; passdown hook claude-code Stop", True, False),
        ("passdown hook claude-code Stop | tee log", True, False),
        ("passdown hook claude-code SessionEnd", False, True),
        *[(command, False, False) for command in NOT_OURS],
        ("passdown hook claude-code", False, False),
        (None, False, False),
    ],
)
def test_whose_command_it_is(command: str | None, called: bool, own: bool) -> None:
    """Ours is what does nothing but call us; a command that does more is kept by remove."""
    handler = {"type": "command", "command": command}
    assert hosts.calls_us(handler, CLAUDE, "Stop") is called
    assert hosts.is_ours(handler, CLAUDE) is own


NOT_UNDERSTOOD = {
    "{": "is not JSON",
    '{"a": 1,, "b": 2}': "is not JSON",
    '{"a": [,]}': "is not JSON",
    "{} {}": "more than one value",
    "{} /* open": "more than one value",
    '{\n\n"a": "open}': "line 3",
    '{"a": NaN}': "NaN",
    "[]": "is not an object",
    '{"hooks": []}': '"hooks" that are not an object',
    '{"hooks": {"Stop": {}}}': "Stop that are not a list",
    '{"hooks": {}, "h\\u006foks": {}}': "'hooks' twice",
    '{"hooks": {"Stop": [], "Stop": []}}': "'Stop' twice",
    '{"a": ' * 100_000: "nested too deeply",
    "\0": "is not JSON",
}


@pytest.mark.parametrize("text", NOT_UNDERSTOOD)
def test_settings_that_are_not_understood(text: str) -> None:
    """What could be read in two ways, or in none, is refused with what is wrong."""
    for edit in (entries.install, entries.remove):
        with pytest.raises(Invalid, match=re.escape(NOT_UNDERSTOOD[text])):
            edit(text, CLAUDE)


@pytest.mark.parametrize(
    "text",
    [
        "{%s}" % ("//\n" * 300_000),
        "{%s}" % (" " * 1_000_000),
        json.dumps({"hooks": {"Stop": [{"hooks": [{"command": "a"}]}] * 20_000}}),
        '{"hooks": {"Stop": [%s 1]}}'
        % ('{"hooks": [{"command": "passdown hook gemini a"}]},' * 9999),
    ],
    ids=["comments", "blanks", "hooks", "ours"],
)
def test_large_settings(text: str) -> None:
    """A megabyte takes a moment, whatever is in it."""
    begin = time.monotonic()
    host = HOSTS["gemini"]
    assert entries.remove(entries.install(text, host), host) == entries.remove(text, host)
    assert time.monotonic() - begin < 30


# -- the laws of the section -----------------------------------------------------------------

MARKED = f"{section.BEGIN}\nold\n{section.END}"
FENCED = f"```md\n{MARKED}\n```\n"
lines = st.sampled_from(
    ["# Title", "", "é", "\ufeff", "```", "``` sh", "~~~~", "    ", "a\r", FENCED,
     f"see {section.BEGIN}", f"{section.END}.", f"`{section.BEGIN}`"]
)  # fmt: skip
prose = st.lists(st.tuples(lines, st.sampled_from(["\n", "\r\n", ""])), max_size=6).map(
    lambda parts: "".join(line + end for line, end in parts)
)


@often
@given(prose)
@example("")
@example("a")
@example(FENCED)
@example(f"```\n\n{FENCED}")
def test_a_section_that_is_put_in_can_be_taken_out(text: str) -> None:
    """The section goes behind any text, once, and leaves it as it was."""
    try:
        known = section.find(text)
    except Invalid:
        return
    once = section.write(text)
    assert section.is_current(once)
    assert section.write(once) == once
    if known is None:
        assert once.startswith(text)
        assert section.erase(text) == text
        assert section.erase(once) == text


@often
@given(prose, prose)
def test_a_section_stays_where_it_is(before: str, after: str) -> None:
    """What others write before and behind the section is not touched."""
    text = f"{before}\n{MARKED}\n{after}"
    try:
        place = section.find(text)
    except Invalid:
        return
    if place is not None and place[0] == len(before) + 1:
        assert section.write(text) == f"{before}\n{section.write('')}\n{after}"
        assert section.erase(text) == f"{before}{after}" or after == ""


@pytest.mark.parametrize(
    "text",
    [section.BEGIN, section.END, f"{section.END}\n{section.BEGIN}\n", f"{MARKED}\n{MARKED}\n",
     f"{MARKED}\n{section.BEGIN}", f"{section.BEGIN}  \r\n"],
)  # fmt: skip
def test_broken_markers(tmp_path: Path, text: str) -> None:
    """Where the section begins or ends cannot be told, nothing is changed."""
    file = tmp_path / "CLAUDE.md"
    file.write_bytes(text.encode())
    for option in ([], ["--remove"], ["--print"], ["--check"]):
        done = quick(tmp_path, "setup", "agents-md", *option)
        assert done.code == exits.INVALID
        assert "nothing was changed" in done.err
    assert file.read_bytes() == text.encode()


def test_markers_in_a_block_of_code_are_shown_not_meant() -> None:
    """Text that explains the markers is left alone, until its block is found to be none."""
    assert section.find(FENCED) is None
    assert section.find(f"~~~\n```\n{MARKED}\n~~~\n") is None
    assert section.find(f"```\n{MARKED}\n") is not None
    assert section.find(f"```not a block```\n{MARKED}\n```\n```") is not None


# -- the command -----------------------------------------------------------------------------


@every_target
def test_from_nothing_and_back(tmp_path: Path, target: str) -> None:
    """Files and folders are made, without any journal, and --remove takes them away again."""
    good(tmp_path, "setup", target)
    made = files(tmp_path)
    assert PATHS[target] in made
    assert good(tmp_path, "setup", target, "--check").out.startswith(PATHS[target])
    assert ".passdown" not in made
    good(tmp_path, "setup", target, "--remove")
    assert files(tmp_path) == {}
    assert "nothing changed" in good(tmp_path, "setup", target, "--remove").out


@every_target
def test_a_second_time(tmp_path: Path, target: str) -> None:
    """Who asks again is told so, and the file is not even written."""
    good(tmp_path, "setup", target)
    before = (tmp_path / PATHS[target]).stat()
    assert "already installed, nothing changed" in good(tmp_path, "setup", target).out
    after = (tmp_path / PATHS[target]).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@every_target
def test_looking_only(tmp_path: Path, target: str) -> None:
    """--check exits 1 while it is not there, --print shows what it would be; both write nothing."""
    assert quick(tmp_path, "setup", target, "--check").code == exits.NOT_WELL
    shown = good(tmp_path, "setup", target, "--print").out
    data = good(tmp_path, "setup", target, "--print", "--json").json
    assert files(tmp_path) == {}
    good(tmp_path, "setup", target)
    assert (tmp_path / PATHS[target]).read_text() == shown == data["content"]


@pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS)
def test_part_of_it_is_gone(tmp_path: Path, host: Host) -> None:
    """What is there and what is missing is told as data; setup adds the rest."""
    good(tmp_path, "setup", host.name)
    file = tmp_path / host.path
    file.write_text(file.read_text().replace(f"{host.name} {host.events[-1]}", "nothing"))
    looked = quick(tmp_path, "setup", host.name, "--check", "--json")
    assert looked.code == exits.NOT_WELL
    assert looked.json == {
        "target": host.name,
        "path": host.path,
        "ok": False,
        "changed": False,
        "installed": list(host.events[:-1]),
        "missing": [host.events[-1]],
        "content": None,
        "warnings": [],
    }
    mended = good(tmp_path, "setup", host.name, "--json").json
    assert (mended["ok"], mended["changed"], mended["missing"]) == (True, True, [])


SETTINGS = b'\xef\xbb\xbf{ // mine\r\n\t"hooks":{"Stop" :[ {"hooks":[{"command":"x"}]}, ]},}'


def test_settings_with_a_life_of_their_own(tmp_path: Path) -> None:
    """Bytes, mode and all that is beside them in the folder are as before."""
    folder = tmp_path / ".gemini"
    folder.mkdir()
    file = folder / "settings.json"
    file.write_bytes(SETTINGS)
    file.chmod(0o600)
    (folder / "GEMINI.md").write_text("mine")
    before = files(tmp_path)
    good(tmp_path, "setup", "gemini")
    assert file.stat().st_mode & 0o777 == 0o600
    assert b"passdown hook gemini SessionEnd" in file.read_bytes()
    good(tmp_path, "setup", "gemini", "--remove")
    assert files(tmp_path) == before
    assert file.stat().st_mode & 0o777 == 0o600
    file.unlink()
    good(tmp_path, "setup", "gemini")
    good(tmp_path, "setup", "gemini", "--remove")
    assert os.listdir(folder) == ["GEMINI.md"]


def test_from_a_folder_of_the_workspace(tmp_path: Path) -> None:
    """Setup goes to the root of the workspace, from wherever it is asked for."""
    good(tmp_path, "init", "shop")
    (tmp_path / "src/deep").mkdir(parents=True)
    good(tmp_path / "src/deep", "setup", "claude-code")
    assert (tmp_path / CLAUDE.path).exists()
    assert list((tmp_path / "src").rglob("*.json")) == []
    good(tmp_path / "src/deep", "setup", "claude-code", "--remove")
    assert not (tmp_path / ".claude").exists()


def test_links(tmp_path: Path) -> None:
    """A link within the workspace is followed and stays; one that leads out is refused."""
    shop, outside = tmp_path / "shop", tmp_path / "outside"
    (shop / "real").mkdir(parents=True)
    outside.mkdir()
    (shop / ".claude").symlink_to("real")
    good(shop, "setup", "claude-code")
    assert (shop / "real/settings.json").exists()
    assert (shop / ".claude").is_symlink()
    (shop / "AGENTS.md").write_text("# Agents\n")
    (shop / "CLAUDE.md").symlink_to("AGENTS.md")
    good(shop, "setup", "agents-md")
    assert (shop / "CLAUDE.md").is_symlink()
    (shop / ".codex").symlink_to(outside)
    for option in ([], ["--check"], ["--remove"], ["--print"]):
        done = quick(shop, "setup", "codex", *option)
        assert done.code == exits.INVALID
        assert ".codex/hooks.json leads out of the workspace" in done.err
    assert os.listdir(outside) == []


@pytest.mark.parametrize("content", [None, b'{"a": ', "{}".encode("utf-16")])
def test_something_else_in_its_place(tmp_path: Path, content: bytes | None) -> None:
    """What cannot be edited is refused in one sentence that names it, and stays."""
    file = tmp_path / ".codex/hooks.json"
    file.parent.mkdir()
    file.mkdir() if content is None else file.write_bytes(content)
    before = files(tmp_path)
    for option in ([], ["--remove"], ["--print"]):
        done = quick(tmp_path, "setup", "codex", *option)
        assert done.code == exits.INVALID
        assert done.err.startswith("passdown: .codex/hooks.json ")
        assert done.err.count("\n") == 1
    assert quick(tmp_path, "setup", "codex", "--check").code == exits.NOT_WELL
    assert files(tmp_path) == before


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    """A file where the folder would be is refused and stays."""
    (tmp_path / ".claude").write_text("mine")
    for target in ("claude-code", "skill"):
        done = quick(tmp_path, "setup", target)
        assert done.code == exits.INVALID
        assert "would be in a file" in done.err
    assert (tmp_path / ".claude").read_text() == "mine"


@pytest.mark.parametrize("protected", [".claude/settings.json", ".claude"])
@pytest.mark.parametrize("option", [[], ["--remove"]])
def test_what_may_not_be_written(tmp_path: Path, protected: str, option: list[str]) -> None:
    """A file that is read-only, or in such a folder, is left alone and named."""
    file = tmp_path / ".claude/settings.json"
    file.parent.mkdir()
    file.write_text(entries.install('{"a": 1}', replace(CLAUDE, events=("Stop",))))
    before = file.read_bytes()
    (tmp_path / protected).chmod(0o555)
    done = run(tmp_path, "setup", "claude-code", *option, before=bound_by_permissions)
    (tmp_path / protected).chmod(0o755)
    assert done.code == exits.UNAVAILABLE
    assert ".claude/settings.json cannot be written" in done.err
    assert os.listdir(file.parent) == ["settings.json"]
    assert file.read_bytes() == before


def test_a_command_of_ours_and_more(tmp_path: Path) -> None:
    """What calls us among other things counts as installed, and is its owner's to take out."""
    file = tmp_path / CLAUDE.path
    file.parent.mkdir()
    mixed = {"hooks": [{"type": "command", "command": "lint; passdown hook claude-code Stop"}]}
    file.write_text(json.dumps({"hooks": {"Stop": [mixed]}}))
    before = file.read_bytes()
    good(tmp_path, "setup", "claude-code")
    done = quick(tmp_path, "setup", "claude-code", "--remove")
    assert done.code == exits.NOT_WELL
    assert "Stop kept" in done.out
    assert file.read_bytes() == before


def test_settings_that_keep_hooks_from_running(tmp_path: Path) -> None:
    """Hooks that are there and would not run are told of."""
    file = tmp_path / CLAUDE.path
    file.parent.mkdir()
    file.write_text('{"disableAllHooks": true}')
    assert "switches all hooks off" in good(tmp_path, "setup", "claude-code").err
    file.write_text("{} // mine")
    assert "no JSON with comments" in good(tmp_path, "setup", "claude-code").err
    file.write_text("\ufeff {}")
    assert good(tmp_path, "setup", "claude-code").err == ""


def test_which_file_has_the_section(tmp_path: Path) -> None:
    """The section goes where it is, else into AGENTS.md, unless there is only a CLAUDE.md."""
    claude, agents = tmp_path / "CLAUDE.md", tmp_path / "AGENTS.md"
    claude.write_text("# Mine")
    good(tmp_path, "setup", "agents-md")
    assert not agents.exists()
    agents.write_text(f"In {section.BEGIN} there is ours.\n{FENCED}")
    assert "nothing changed" in good(tmp_path, "setup", "agents-md").out
    claude.write_text(f"# Mine\n\n{MARKED}\n\nMore\n")
    old = quick(tmp_path, "setup", "agents-md", "--check")
    assert old.code == exits.NOT_WELL
    assert "of another version" in old.err
    good(tmp_path, "setup", "agents-md")
    assert claude.read_text() == f"# Mine\n\n{section.write('')}\n\nMore\n"
    good(tmp_path, "setup", "agents-md", "--remove")
    assert claude.read_text() == "# Mine\n\nMore\n"


def test_a_skill_that_somebody_changed(tmp_path: Path) -> None:
    """The skill of another version is renewed; one changed by hand is kept, and told of."""
    file = tmp_path / PATHS["skill"]
    good(tmp_path, "setup", "skill")
    current = file.read_bytes()
    assert skill.is_untouched(current)
    file.write_bytes(current + b"mine\n")
    assert quick(tmp_path, "setup", "skill").code == exits.INVALID
    for option in ("--check", "--remove"):
        done = quick(tmp_path, "setup", "skill", option)
        assert done.code == exits.NOT_WELL
        assert "changed by hand" in done.err
    assert file.read_bytes() == current + b"mine\n"


def test_another_folder_of_skills(tmp_path: Path) -> None:
    """--to takes a folder of skills or the skill's own, also outside; only the skill has it."""
    (tmp_path / "ws").mkdir()
    for to in ("../all", "../all/passdown", str(tmp_path / "all")):
        good(tmp_path / "ws", "setup", "skill", "--to", to)
        assert (tmp_path / "all/passdown/SKILL.md").read_bytes() == skill.content()
    assert good(tmp_path / "ws", "setup", "skill", "--to", "\udcff", "--print", "--json").json
    good(tmp_path / "ws", "setup", "skill", "--to", "../all", "--remove")
    assert not (tmp_path / "all/passdown/SKILL.md").exists()
    assert quick(tmp_path, "setup", "gemini", "--to", "x").code == exits.INVALID


@pytest.mark.parametrize(
    "options",
    [("--check", "--remove"), ("--check", "--print"), ("--remove", "--print"),
     ("--check", "--remove", "--print")],
)  # fmt: skip
def test_options_that_exclude_each_other(tmp_path: Path, options: tuple[str, ...]) -> None:
    """One thing at a time, and else nothing."""
    done = quick(tmp_path, "setup", "codex", *options)
    assert done.code == exits.INVALID
    assert "exclude each other" in done.err
    assert files(tmp_path) == {}


# -- several at once -------------------------------------------------------------------------


def at_once(folder: Path, *commands: str) -> None:
    """Several setups in processes of their own, all of which succeed."""
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "passdown", "setup", *command.split()],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for command in commands
    ]
    for process in started:
        _, said = process.communicate()
        assert process.returncode == 0, said


def test_two_setups_at_once(tmp_path: Path) -> None:
    """Whoever sets up at the same moment, everything is there once, and all of it goes again."""
    for text in (None, '{"a": 1}'):
        file = tmp_path / CLAUDE.path
        if text:
            file.parent.mkdir()
            file.write_text(text)
        at_once(tmp_path, *["claude-code", "agents-md", "skill"] * 3)
        assert file.read_text() == entries.install(text, CLAUDE)
        assert (tmp_path / "AGENTS.md").read_text() == section.write(None)
        at_once(tmp_path, *["claude-code --remove", "agents-md --remove"] * 2, "skill --remove")
        assert (file.read_text() if file.exists() else None) == text
        assert set(files(tmp_path)) == ({".claude", CLAUDE.path} if text else set())


def test_a_folder_that_is_removed_under_ones_feet(tmp_path: Path) -> None:
    """One takes away a folder that it leaves empty while another puts its file there."""
    for _ in range(5):
        good(tmp_path, "setup", "claude-code")
        at_once(tmp_path, "claude-code --remove", "skill")
        assert (tmp_path / PATHS["skill"]).read_bytes() == skill.content()
        good(tmp_path, "setup", "skill", "--remove")
        assert files(tmp_path) == {}


@pytest.mark.parametrize("wanted", [b"ours", None])
def test_an_edit_at_the_same_moment(tmp_path: Path, wanted: bytes | None) -> None:
    """What somebody wrote between reading and writing is not lost: it is edited next."""
    file = tmp_path / "file"
    file.write_bytes(b"old")
    seen = []

    def edit(found: bytes | None) -> bytes | None:
        seen.append(found)
        if found == b"old":
            file.write_bytes(b"theirs")
            return wanted
        return found

    assert placing.rewrite(file, "file", edit) is False
    assert seen == [b"old", b"theirs"]
    assert file.read_bytes() == b"theirs"
    assert os.listdir(tmp_path) == ["file"]
