"""What is wrong is refused in one sentence with the documented code, and nothing has changed."""

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from command import Result, bound_by_permissions, files, finished, good, quick, run

from cli import exits
from journal import Journal, Project, cache, errors
from journal.entities import Tokens

INVALID, NOT_FOUND, REJECTED, MISSING, FOREIGN, NEWER, UNAVAILABLE = 3, 4, 5, 6, 7, 8, 9
LONG, LINE = "a" * 300, b'{"type":"tokens.used","data":{"input":1}}\n'
Args: TypeAlias = tuple[str, ...]


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The workspace that each test gets a copy of."""
    folder = tmp_path_factory.mktemp("made")
    good(folder, "init", "shop", "--workflow", "apex")
    for args in ("open one", "open two", "resolve F001 -r closed"):
        good(folder, "finding", *args.split())
    for args in ("start 1", "complete 1", "start 2", "start 3", "fail 3 quota"):
        good(folder, "step", *args.split(), "--actor", "ann")
    return folder


@pytest.fixture
def shop(made: Path, tmp_path: Path) -> Path:
    """Step 1 is complete, 2 in progress, 3 failed, 4 pending; F001 is resolved, F002 open."""
    return Path(shutil.copytree(made, tmp_path / "shop"))


def whole(folder: Path) -> tuple[dict[str, str], str]:
    """Every file, and the log as far as it can be read."""
    return files(folder), quick(folder, "log", "-n", "0", "--json", "-p", "shop").out


def one_sentence(said: Result, code: int, *words: str) -> None:
    """One line on stderr that has these words, and the exit code."""
    assert said.code == code, said
    assert said.err.startswith("passdown: "), said
    assert said.err.endswith("\n"), said
    assert len(said.err.splitlines()) == 1, said
    assert not any(word in said.err for word in ("Traceback", "defect")), said
    assert [word for word in words if word not in said.err] == [], said


def refused(folder: Path, code: int, words: Args, ask: Callable[..., Result]) -> None:
    """Asked with and without --json it is refused alike, and nothing has changed."""
    before = whole(folder)
    said, data = ask(), ask("--json")
    one_sentence(said, code, *words)
    one_sentence(data, code)
    assert said.out == ""
    error = data.json["error"]
    assert (error["exit"], f"passdown: {error['message']}\n") == (code, data.err)
    assert whole(folder) == before


def refuses(folder: Path, code: int, words: Args, *args: str, **how: Any) -> None:
    """This command is refused, and nothing has changed."""
    refused(folder, code, words, lambda *more: quick(folder, *args, *more, **how))


def shell(folder: Path, script: str, *args: str) -> Result:
    """Run a shell script; "$0" in it is Python."""
    return finished(["sh", "-c", script, sys.executable, *args], folder)


# -- names and transitions -------------------------------------------------------------------

UNKNOWN = {
    "show -p shpo": "near: shop",
    "step start 3_4": "3_5",
    "finding resolve F003": "near: F002",
    "append findin.opened": "near: finding.opened",
    "append nonsense": "there are events of ",
    "finding open two --step 77": "no step '77'",
    "tokens record --step 77": "no step '77'",
    "log --step 77": "no step '77'",
    "log --session nosuch": "no session 'nosuch'",
    "files created passdown.tml": "near: passdown.toml",
}


@pytest.mark.parametrize("command", UNKNOWN)
def test_a_name_that_is_not_there(shop: Path, command: str) -> None:
    """What is not there is answered with what is, and is near."""
    (shop / "passdown.toml").touch()
    refuses(shop, NOT_FOUND, ("no ", UNKNOWN[command]), *command.split())


TRANSITIONS = {
    "step complete 4": "it is pending; allowed now: step start 4, step skip 4",
    "step retry 4": "it is pending; allowed now: step start 4, step skip 4",
    "step rerun 4": "it is pending; allowed now: step start 4, step skip 4",
    "step start 1": "it is complete; allowed now: step rerun 1",
    "step checkpoint 1 x": "it is complete; allowed now: step rerun 1",
    "step skip 1": "it is complete; allowed now: step rerun 1",
    "step start 2": "it is in_progress, started by ann; allowed now: step checkpoint 2",
    "step complete 3": "it is failed; allowed now: step retry 3, step skip 3",
    "init shop --step One": "(apex, version 9); a new one needs another name; allowed now: show",
    "finding resolve F001 -r other": "it was resolved already: closed; allowed now: ",
}


@pytest.mark.parametrize("command", TRANSITIONS)
def test_a_transition_that_is_not_allowed(shop: Path, command: str) -> None:
    """A rule that says no tells what the state is and what it allows."""
    refuses(shop, REJECTED, ("cannot ", TRANSITIONS[command]), *command.split())


NEXT = ("append zzz", "show --at 9999", "init zoo -w gone.toml", 'append plan.started {"plan":"x"}')


@pytest.mark.parametrize("command", NEXT)
def test_a_refusal_says_what_to_do_next(shop: Path, command: str) -> None:
    """After what is so comes the next thing to do."""
    assert "; " in quick(shop, *command.split()).err


@pytest.mark.parametrize("command", ["step start", "log -n x", "nope", "show --as x"])
def test_a_command_line_that_is_wrong(shop: Path, command: str) -> None:
    """A usage error points to the help, and is data too where data was asked for."""
    refuses(shop, exits.USAGE, ("; see `passdown ", "--help`"), *command.split())


@pytest.mark.parametrize("option", ["-p shop", "--json"])
def test_an_option_in_front_of_a_command(shop: Path, option: str) -> None:
    """An option of the group that would be for nothing is refused with the place for it."""
    before = whole(shop)
    said = quick(shop, "tokens", *option.split(), "record", "--input", "1")
    one_sentence(said, exits.USAGE, "belongs behind the command: passdown tokens record … --")
    assert whole(shop) == before
    named = {"PASSDOWN_PROJECT": "shop"}
    good(shop, "tokens", "record", "--input", "1", *option.split(), env=named)


# -- init ------------------------------------------------------------------------------------

NAMES = ("a/b", "..", "a..b", "../x", "Shop", LONG, "", "-a", ".a", "größe", "a\nb", "a\n", "a b")


@pytest.mark.parametrize("name", NAMES)
def test_init_refuses_a_name(tmp_path: Path, name: str) -> None:
    """A bad name is no project, and does not set up a workspace."""
    words = ("is not a project name; use ",)
    refused(tmp_path, INVALID, words, lambda *more: quick(tmp_path, "init", *more, "--", name))
    assert os.listdir(tmp_path) == []


OPTIONS = [(f"--{x}", name) for x in ("actor", "session", "id") for name in ("a\n", LONG)]
OPTIONS += [("--step", ""), ("--title", "a\0b"), ("--title", "a\ud800b")]
OPTIONS += [("--workflow", x) for x in ("apx", "generic", "gone.toml")]


@pytest.mark.parametrize(("option", "value"), OPTIONS)
def test_a_refused_init_sets_nothing_up(tmp_path: Path, option: str, value: str) -> None:
    """Whatever init is refused for, there is no .passdown because of it."""
    refuses(tmp_path, INVALID, (), "init", "shop", option, value)
    assert os.listdir(tmp_path) == []


STEP = b'name = "own"\n[[steps]]\nkey = "1"\nname = "x"\n'
WORKFLOWS = {
    "not TOML": (b"name own", "line 1"),
    "not UTF-8": (b"\xff\xfe", "utf-8"),
    "no steps": (b'name = "own"\nsteps = []\n', "step"),
    "steps missing": (b'name = "own"\n', "`steps`"),
    "bad key": (STEP.replace(b'"1"', b'"one"'), "$.steps[0].key"),
    "unknown field": (STEP + b"size = 1\n", "`size`"),
    "wrong type": (STEP.replace(b'"own"', b"1"), "$.name"),
    "too long": (STEP + b"#" * 2**20, "longer than 1,048,576 bytes"),
    "too deep": (STEP + b"x = " + b"[" * 50_000, "nested too deeply"),
    "keys twice": (STEP + STEP[STEP.index(b"[[") :], "1, 1"),
}


@pytest.mark.parametrize("kind", WORKFLOWS)
def test_a_workflow_file_that_is_wrong(tmp_path: Path, kind: str) -> None:
    """A workflow file is refused by its name and the place in it, before anything is set up."""
    (tmp_path / "own.toml").write_bytes(WORKFLOWS[kind][0])
    refuses(tmp_path, INVALID, ("own.toml", WORKFLOWS[kind][1]), "init", "shop", "-w", "own.toml")
    assert os.listdir(tmp_path) == ["own.toml"]


# -- paths, times, names of actors -----------------------------------------------------------

PATHS = ["../x", "a/../../x", "/etc/passwd", "~/x", "C:\\x", "c:x", "..\\x", "out/x", "dangling"]
PATHS += ["a\nb", "a\x1bb", "a\x7f", "a\0b", " "]


@pytest.mark.parametrize("path", PATHS)
def test_a_path_that_is_not_of_the_workspace(shop: Path, path: str) -> None:
    """Artifacts, context files and changed files are inside the workspace, also through links."""
    (shop / "out").symlink_to(shop.parent)
    (shop / "dangling").symlink_to("/nowhere/x")
    for option in ("--artifact", "--context-file"):
        refuses(shop, INVALID, (repr(path),), "step", "complete", "2", option, path)
    refuses(shop, INVALID, (repr(path),), "append", "files.changed", json.dumps({"path": path}))


def test_an_absolute_path_in_the_workspace(shop: Path) -> None:
    """Whoever names a file from the root of the disk is told how it is named here."""
    words = ("must be relative", "'src/a.py'")
    for command in (("files", "created"), ("note", "x", "--file")):
        refuses(shop, INVALID, words, *command, f"{shop}/src//a.py")


def test_a_file_without_a_digest(shop: Path) -> None:
    """A pipe is not waited for, and what may not be read is said to be so."""
    os.mkfifo(shop / "pipe")
    (shop / "secret").touch(mode=0)
    refuses(shop, INVALID, ("not a regular file",), "files", "created", "pipe")
    refuses(shop, INVALID, ("not a regular file",), "files", "modified", "agent-output")
    said = run(shop, "files", "created", "secret", before=bound_by_permissions)
    one_sentence(said, UNAVAILABLE, "'secret' cannot be read")


SENTENCES = {
    "tokens record": "nothing to record",
    "log --since 1.5h": "2h",
    "blocker bypass 1 -w ": "a workaround is needed",
    "task add x --task -x": "would be read as an option",
}


@pytest.mark.parametrize("command", SENTENCES)
def test_a_request_that_means_nothing(shop: Path, command: str) -> None:
    """What is missing or misspelt is said in the words of the command."""
    refuses(shop, INVALID, (SENTENCES[command],), *command.split(" "))


@pytest.mark.parametrize("when", ["nonsense", "2026-13-01", "0001-01-01T00:00+23:00", "-5"])
def test_a_time_that_is_none(shop: Path, when: str) -> None:
    """--occurred takes ISO 8601 and shows how it looks."""
    words = (when, "is not a time; write it like 2026-")
    refuses(shop, INVALID, words, "step", "start", "4", "--occurred", when)


@pytest.mark.parametrize("at", ["0", "9999", "9" * 30, "9" * 5000, "nonsense", "-1", "1999-01-01"])
def test_a_moment_that_is_none(shop: Path, at: str) -> None:
    """--at takes a version that there is, or a time at which there was one."""
    refuses(shop, INVALID, (), "show", "--at", at)


@pytest.mark.parametrize("option", ["--actor", "--session", "--id"])
@pytest.mark.parametrize("name", ["a\nb", LONG, "a\x1bb", "a\ud800"])
def test_a_name_that_cannot_be_one(shop: Path, option: str, name: str) -> None:
    """Actors, sessions and ids are one printable line of readable length."""
    words = ("use 1 to 200 printable characters",)
    refuses(shop, INVALID, words, "step", "start", "4", option, name)


def test_an_empty_name_is_none(shop: Path) -> None:
    """`--actor ""` is as if it had not been given."""
    done = good(shop, "step", "start", "4", "--actor", "", "--session", "", "--id", "", "--json")
    assert [(x["actor"], x["session"]) for x in done.json["appended"]] == [(None, None)]


# -- payloads --------------------------------------------------------------------------------

DEEP = "[" * 10_000 + "]" * 10_000
PAYLOADS = {
    "wrong type": ("finding.opened", '{"title": 1}', "$.title"),
    "wrong type inside": ("task.added", '{"title": "x", "depends_on": [1]}', "$.depends_on[0]"),
    "unknown field": ("finding.opened", '{"title": "x", "nope": 1}', "`nope`"),
    "missing field": ("finding.opened", "{}", "`title`"),
    "unknown word": ("error.recorded", '{"message": "m", "kind": "x"}', "timeout, file_conflict"),
    "empty text": ("finding.opened", '{"title": ""}', "$.title"),
    "not JSON": ("finding.opened", "title: x", "JSON"),
    "cut short": ("finding.opened", '{"title": "x"', "JSON"),
    "array": ("finding.opened", "[]", "got `array`"),
    "NaN": ("finding.opened", '{"title": NaN}', "JSON"),
    "NUL": ("finding.opened", r'{"title": "a\u0000b"}', "NUL"),
    "NUL inside": ("decision.made", r'{"key": "k", "value": [{"a\u0000": 1}]}', "NUL"),
    "surrogate": ("finding.opened", r'{"title": "a\ud800b"}', "surrogate"),
    "10,000 deep": ("decision.made", f'{{"key": "k", "value": {DEEP}}}', "de"),
    "65 deep": ("decision.made", f'{{"key": "k", "value": {DEEP[9935:10065]}}}', "nested deeper"),
    "count of 65 bits": ("tokens.used", f'{{"input": {2**64}}}', "$.input"),
    "value of 65 bits": ("decision.made", f'{{"key": "k", "value": {2**64}}}', "$.value"),
    "value of 1e999": ("decision.made", '{"key": "k", "value": 1e999}', "$.value"),
}


@pytest.mark.parametrize("kind", PAYLOADS)
def test_a_payload_that_is_wrong(shop: Path, kind: str) -> None:
    """A payload is refused with the place of what is wrong, alone and in a stream."""
    type, payload, word = PAYLOADS[kind]
    refuses(shop, INVALID, (word,), "append", type, payload)
    line = f'{{"type": "{type}", "data": {payload}}}'.encode()
    refuses(shop, INVALID, ("line 2: ",), "append", "-", stdin=LINE + line)


def test_tokens_that_no_sum_can_hold(shop: Path) -> None:
    """A sum that outgrows 64 bits is refused before it is recorded, and the project lives on."""
    line = b'{"type":"tokens.used","data":{"input":9007199254740992}}\n'
    refuses(shop, REJECTED, ("line 1024: ", "can be summed"), "append", "-", stdin=line * 2100)
    good(shop, "append", "-", stdin=line * 1023)
    assert good(shop, "tokens", "--json").json["total"]["input"] == 1023 * 2**53


def test_escapes_do_not_count(shop: Path) -> None:
    """The limit is that of the payload, however the line of a stream spells it."""
    line = json.dumps({"type": "finding.opened", "data": {"title": "t", "detail": "é" * 400_000}})
    assert len(line) > 2_000_000
    good(shop, "append", "-", stdin=line.encode())


@pytest.mark.parametrize("size", [1 << 20, 1 << 21])
def test_a_payload_that_is_too_large(shop: Path, size: int) -> None:
    """More than 1 MiB is refused with the limit, from a stream and from Python."""
    line = b'{"type":"finding.opened","data":{"title":"%b"}}\n' % (b"x" * size)
    refuses(shop, INVALID, ("line 2: ", "1,048,576"), "append", "-", stdin=LINE + line)
    before = whole(shop)
    with Journal.open(shop) as journal, pytest.raises(errors.Invalid, match="the limit is"):
        journal.project("shop").open_finding("x" * size)
    assert whole(shop) == before


BYTES: list[tuple[int, tuple[str | bytes, ...]]] = [
    (INVALID, ("finding", "open", b"a\xff")),
    (INVALID, ("append", "finding.opened", b'{"title": "\xff"}')),
    (INVALID, ("step", "start", "4", "--actor", b"\xff")),
    (INVALID, ("step", "start", b"\xff")),
    (INVALID, ("files", "created", b"a\xff")),
]


@pytest.mark.parametrize(("code", "args"), BYTES)
def test_arguments_that_are_not_utf8(shop: Path, code: int, args: tuple[str | bytes, ...]) -> None:
    """Bytes that are no text are refused, wherever they are given."""
    refused(shop, code, (), lambda *more: run(shop, *args, *more))
    assert "control characters" not in run(shop, *args).err


LINES = {
    "syntax": (b'{"type":"tokens.used","data":{"input":1}', INVALID, ""),
    "type": (b'{"type":"tokens.used","data":{"input":"x"}}', INVALID, "$.input"),
    "field": (b'{"type":"tokens.used","size":1}', INVALID, "`size`"),
    "rule": (b'{"type":"step.completed","data":{"step":"4"}}', REJECTED, "it is pending"),
    "unknown step": (b'{"type":"step.completed","data":{"step":"99"}}', NOT_FOUND, "near: "),
    "unknown type": (b'{"type":"tokens.usd"}', NOT_FOUND, "near: tokens.used"),
    "not UTF-8": (b'{"type":"finding.opened","data":{"title":"\xff"}}', INVALID, "utf-8"),
    "time": (b'{"type":"tokens.used","occurred":"x"}', INVALID, "is not a time"),
    "actor": (rb'{"type":"tokens.used","actor":"a\nb"}', INVALID, "printable"),
    "path": (b'{"type":"files.changed","data":{"path":"../x"}}', INVALID, "not inside"),
    "link": (b'{"type":"files.changed","data":{"path":"out/x"}}', INVALID, "through a link"),
}


@pytest.mark.parametrize("kind", LINES)
def test_a_line_of_a_stream(shop: Path, kind: str) -> None:
    """One bad line of 5,000 is named by its number, and none of them is recorded."""
    (shop / "out").symlink_to(shop.parent)
    line, code, word = LINES[kind]
    lines = LINE * 4710 + line + b"\n" + LINE * 289
    refuses(shop, code, ("line 4711: ", word, "nothing was rec"), "append", "-", stdin=lines)


@pytest.mark.parametrize("stdin", [bytes(range(256)), b"\0" * 99])
def test_a_stream_that_is_none(shop: Path, stdin: bytes) -> None:
    """Bytes that are no lines of JSON are refused."""
    refuses(shop, INVALID, (), "append", "-", stdin=stdin)


@pytest.mark.parametrize("stdin", [b"", b"\n \n\r\n"])
def test_a_stream_without_an_event(shop: Path, stdin: bytes) -> None:
    """An empty batch is recorded as what it is, and not without a word."""
    before = whole(shop)
    one_sentence(quick(shop, "append", "-", stdin=stdin), exits.OK, "no event on stdin")
    assert whole(shop) == before


# -- the journal's file ----------------------------------------------------------------------

SQL = "\"$0\" -c \"import sqlite3; sqlite3.connect('journal.db').execute('{}')\""
JOURNALS = {
    "not SQLite": ("echo this is a text, no database >journal.db", FOREIGN, "not a SQLite"),
    "empty": (": >journal.db", FOREIGN, "empty"),
    "a folder": ("rm journal.db; mkdir journal.db", FOREIGN, "is a folder"),
    "newer": (SQL.format("PRAGMA user_version=99"), NEWER, "upgrade passdown"),
    "foreign": ("rm journal.db;" + SQL.format("CREATE TABLE x (y)"), FOREIGN, "another program"),
    "dangling": ("ln -sf /nowhere/x journal.db", MISSING, "restore it from a backup"),
    "gone": ("rm journal.db", MISSING, "restore it from a backup"),
}
COMMANDS = ("show", "log", "step start 4", "init shop", "sync", "verify", "recover")


@pytest.mark.parametrize("command", [*COMMANDS, "recover --journal"])
@pytest.mark.parametrize("kind", JOURNALS)
def test_a_journal_that_is_none(shop: Path, kind: str, command: str) -> None:
    """What stands in the journal's place is named and left alone; init makes no empty one there."""
    script, code, word = JOURNALS[kind]
    assert shell(shop / ".passdown", script).code == 0
    refuses(shop, code, (word,) if command in COMMANDS else (), *command.split())


def test_a_journal_that_is_gone_with_its_locks(shop: Path) -> None:
    """Whatever else was deleted: a folder that was in use gets no empty journal."""
    shell(shop / ".passdown", "rm -r journal.db write.lock ledger.json")
    refuses(shop, MISSING, ("restore it from a backup",), "init", "shop")


@pytest.mark.parametrize("command", ["step start 4", "init zoo", "recover --journal"])
@pytest.mark.parametrize("mode", ["444 journal.db", "0 journal.db", "0 write.lock", "555 ."])
def test_a_journal_without_permission(shop: Path, mode: str, command: str) -> None:
    """What may not be written is not; a sound journal that can be read needs no salvage."""
    shell(shop / ".passdown", f"chmod {mode}")

    def ask(*more: str) -> Result:
        shell(shop / ".passdown", "rm -f journal.db-*")
        return run(shop, *command.split(), *more, before=bound_by_permissions)

    if command == "recover --journal" and mode != "0 journal.db":
        assert ask().code == exits.OK
    else:
        refused(shop, UNAVAILABLE, (), ask)


@pytest.mark.parametrize("command", ["show", "log", "projects"])
def test_a_folder_that_cannot_be_written_can_be_read(shop: Path, command: str) -> None:
    """A long journal is readable where nothing can be written, not even its cache."""
    good(shop, "append", "-", "--no-sync", stdin=LINE * 600)
    shell(shop / ".passdown", "rm -rf cache journal.db-*; chmod 444 *; chmod 555 .")
    said = run(shop, command, before=bound_by_permissions)
    assert (said.code, said.err) == (exits.OK, "")


@pytest.mark.parametrize("limit", [0, 33_000])
def test_a_file_that_cannot_grow(shop: Path, limit: int) -> None:
    """An append that the disk does not take is refused whole."""

    def ask(*more: str) -> Result:
        return run(shop, "finding", "open", "x" * 30_000, *more, before=before)

    def before() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    refused(shop, UNAVAILABLE, ("nothing was recorded",), ask)
    assert good(shop, "verify").err == ""


DISK = """out=$PWD/out free=$1 && shift && mkdir -p shop disk "$out" || exit
mount -t tmpfs -o size=700k tmpfs disk && cp -r shop/. disk && cd disk || exit
head -c "${free}k" /dev/zero >room; cat /dev/zero >fill 2>/dev/null; rm room
ask() { n=$1; shift; "$0" -m passdown "$@" >"$out/$n" 2>"$out/$n.err"; echo $? >>"$out/$n"; }
ask 0 "$@"; rm fill; ask 1 "$@"; ask 2 verify"""


def on_a_full_disk(folder: Path, free: int, *args: str) -> list[Result]:
    """A command on a disk with so many KiB free, the same once there is room, then verify."""
    given = (DISK, sys.executable, str(free), *args)
    assert finished(["unshare", "-rm", "sh", "-c", *given], folder).code == 0
    said = [(folder / "out" / n).read_text().splitlines() for n in "012"]
    errs = [(folder / "out" / f"{n}.err").read_text() for n in "012"]
    return [Result(int(x[-1]), "\n".join(x[:-1]), err) for x, err in zip(said, errs, strict=True)]


MOUNT = "unshare -rm mount -t tmpfs tmpfs /mnt"
full_disk = pytest.mark.skipif(
    subprocess.run(["sh", "-c", MOUNT], capture_output=True, check=False).returncode != 0,
    reason="a disk cannot be mounted here; test_a_file_that_cannot_grow stands in",
)


@full_disk
@pytest.mark.parametrize("free", [0, 40])
def test_a_disk_that_is_full(shop: Path, free: int) -> None:
    """An append to a full disk records nothing, and succeeds once there is room."""
    full, room, verified = on_a_full_disk(shop.parent, free, "finding", "open", "x")
    one_sentence(full, UNAVAILABLE, "nothing was recorded")
    assert (room.out[:9], room.code, verified.code) == ("shop v10:", 0, 0)


@full_disk
@pytest.mark.parametrize("free", [0, 16, 64, 72, 80])
def test_init_on_a_disk_that_is_full(tmp_path: Path, free: int) -> None:
    """Wherever the disk fills up, init is done or not done, and works once there is room."""
    full, room, verified = on_a_full_disk(tmp_path, free, "init", "shop")
    assert full.code in (exits.OK, UNAVAILABLE), full
    assert (room.code, verified.code) == (0, 0), (full, room, verified)


# -- where it runs ---------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_a_place_without_a_journal(tmp_path: Path, command: str) -> None:
    """Outside of a workspace, and where PASSDOWN_JOURNAL names nothing, there is no journal."""
    gone = {"PASSDOWN_JOURNAL": str(tmp_path / "gone")}
    refuses(tmp_path, MISSING, ("PASSDOWN_JOURNAL", "gone"), *command.split(), env=gone)
    if command != "init shop":
        refuses(tmp_path, MISSING, ("there is no journal in",), *command.split())
    assert os.listdir(tmp_path) == []


def test_a_named_folder_without_a_journal(tmp_path: Path) -> None:
    """PASSDOWN_JOURNAL naming an empty folder makes nobody write beside that folder."""
    (tmp_path / "empty").mkdir()
    quick(tmp_path, "init", "shop", "--no-sync", env={"PASSDOWN_JOURNAL": str(tmp_path / "empty")})
    assert os.listdir(tmp_path) == ["empty"]


def test_a_workspace_whose_journal_was_never_made(tmp_path: Path) -> None:
    """What an init that failed leaves does not look like a journal that was lost."""
    (tmp_path / ".passdown").mkdir()
    (tmp_path / ".passdown/write.lock").touch()
    one_sentence(quick(tmp_path, "show"), MISSING, "yet; `passdown init PROJECT`")
    good(tmp_path, "init", "shop")


def test_a_workspace_that_cannot_be_entered(shop: Path) -> None:
    """Permissions are what the message is about."""
    (shop / ".passdown").chmod(0)
    said = run(shop, "init", "other", before=bound_by_permissions)
    (shop / ".passdown").chmod(0o700)
    one_sentence(said, UNAVAILABLE, "check its permissions")


def test_a_log_that_stayed_read_only(shop: Path) -> None:
    """The message names the file that cannot be written, not the one that can."""
    database = shop / ".passdown/journal.db"
    database.chmod(0o444)
    one_sentence(run(shop, "finding", "open", "x", before=bound_by_permissions), UNAVAILABLE)
    database.chmod(0o644)
    said = run(shop, "finding", "open", "x", before=bound_by_permissions)
    if said.code:
        one_sentence(said, UNAVAILABLE, "journal.db-")


@pytest.mark.parametrize("command", ["show", "init zoo"])
def test_a_current_folder_that_is_gone(tmp_path: Path, command: str) -> None:
    """In a folder that was deleted there is no journal, and none is made."""
    (tmp_path / "here").mkdir()
    said = run(tmp_path / "here", *command.split(), before=lambda: os.rmdir(tmp_path / "here"))
    assert said.code in (MISSING, UNAVAILABLE), said
    one_sentence(said, said.code)


# -- settings and files: the event is recorded all the same ----------------------------------

OWN = '[projections.state-md]\npath = "{}"\n'
SETTINGS = {
    "not TOML": ("projections", INVALID, "passdown.toml"),
    "wrong type": ("projections = 1", INVALID, "$.projections"),
    "unknown key": ("nope = 1", INVALID, "`nope`"),
    "unknown projection": ("[projections.state]", NOT_FOUND, "near: state-md"),
    "outside": (OWN.format("../x"), INVALID, "not inside the workspace"),
    "absolute": (OWN.format("/tmp/x"), INVALID, "not inside the workspace"),
    "the journal": (OWN.format(".passdown/journal.db"), INVALID, ".passdown"),
    "a backup": (OWN.format("agent-output/{project}/00-handoff.md.bak"), INVALID, "00-handoff"),
    "two at one path": (OWN.format("agent-output/{project}/00-handoff.md"), INVALID, "00-handoff"),
}


def test_two_projections_at_one_place(shop: Path) -> None:
    """A link does not hide that two projections would be written to one file."""
    (shop / "real").mkdir()
    (shop / "link").symlink_to("real")
    text = OWN.format("real/a.md") + '[projections.handoff]\npath = "link/a.md"\n'
    (shop / "passdown.toml").write_text(text)
    refuses(shop, INVALID, ("would both be written to",), "sync")


def test_settings_in_a_pipe(shop: Path) -> None:
    """passdown.toml is not waited for where it is no file."""
    os.mkfifo(shop / "passdown.toml")
    one_sentence(run(shop, "verify"), INVALID, "is not a regular file")


def recorded_unsynced(folder: Path) -> str:
    """Start step 4: it is in the journal, the exit code is 0, the sentence is about the files."""
    done = run(folder, "step", "start", "4", "--json", before=bound_by_permissions)
    one_sentence(done, exits.OK)
    assert done.json["synced"] is False
    assert done.json["appended"][0]["type"] == "step.started"
    assert good(folder, "show", "--json").json["steps"]["4"]["status"] == "in_progress"
    return done.err


@pytest.mark.parametrize("kind", SETTINGS)
def test_settings_that_are_wrong(shop: Path, kind: str) -> None:
    """passdown.toml stops no recording; sync, verify and recover refuse it."""
    text, code, word = SETTINGS[kind]
    (shop / "passdown.toml").write_text(text)
    for command in ("sync", "verify", "recover"):
        refuses(shop, code, (word,), command)
    assert word in recorded_unsynced(shop)


PLACES = {
    "its folder is a file": "cd ..; rm -r .planning; : >.planning",
    "it is a folder": "rm STATE.md; mkdir STATE.md",
    "it is a pipe": "rm STATE.md; mkfifo STATE.md",
    "it is a link to itself": "rm STATE.md; ln -s STATE.md STATE.md",
    "it is a link outwards": "ln -sf /nowhere/x STATE.md",
    "its folder is read-only": "chmod 555 .",
    "it cannot be read": "chmod 0 STATE.md",
}


@pytest.mark.parametrize("kind", PLACES)
def test_a_file_that_cannot_be_written(shop: Path, kind: str) -> None:
    """A projection that cannot be written is a sentence, not a failure."""
    assert shell(shop / ".planning", PLACES[kind]).code == 0
    assert ".planning" in recorded_unsynced(shop)


@pytest.mark.parametrize("spoil", ["rm ledger.json; mkdir ledger.json", "rm -rf cache; : >cache"])
def test_a_shortcut_that_cannot_be_written(shop: Path, spoil: str) -> None:
    """What may be deleted at any time may also be impossible to write."""
    shell(shop / ".passdown", spoil)
    done = run(shop, "append", "-", stdin=LINE * 600)
    assert len(good(shop, "log", "-n", "0").out.splitlines()) == 609
    assert done.code == exits.OK, done


def test_a_sum_that_the_cache_has_no_room_for(tmp_path: Path) -> None:
    """A state that was recorded before there was a limit is not cached, and that is all."""
    project = Project("shop", tokens={"ada": Tokens(2**65)})
    cache.write(tmp_path, project)
    assert list(tmp_path.iterdir()) == []


def test_a_defect_after_the_append(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What goes wrong once it is recorded is said, and does not look like a failure."""

    def broken(*args: object) -> None:
        raise ZeroDivisionError("by nobody")

    monkeypatch.setattr("cli.recording.sync", broken)
    done = quick(shop, "step", "start", "4", "--json")
    assert (done.code, done.json["synced"]) == (exits.OK, False)
    assert "defect in Passdown (ZeroDivisionError: by nobody)" in done.err
    monkeypatch.setattr("cli.recording._answer", broken)
    done = quick(shop, "step", "complete", "4", "--no-sync")
    assert (done.code, "recorded as version 11" in done.err) == (exits.OK, True)


# -- output ----------------------------------------------------------------------------------


@pytest.mark.parametrize("as_json", [(), ("--json",)])
def test_a_reader_that_has_gone(shop: Path, as_json: Args) -> None:
    """`passdown log | head -1` ends quietly."""
    good(shop, "append", "-", "--no-sync", stdin=LINE * 3000)
    script = '{ "$0" -m passdown log -n 0 "$@"; echo $? >&2; } | head -1'
    done = shell(shop, script, *as_json)
    assert (len(done.out.splitlines()), done.err) == (1, "0\n")


@pytest.mark.parametrize("to", [">/dev/full", ">&-"])
@pytest.mark.parametrize(
    "args", ["show", "show --as handoff", "show -p zzz --json", "--version", "-h"]
)
def test_an_output_that_takes_nothing(shop: Path, args: str, to: str) -> None:
    """Where nothing can be printed there is no traceback and no talk of a defect."""
    said = shell(shop, f'"$0" -m passdown {args} {to}')
    assert not any(word in said.err for word in ("Traceback", "defect")), said
    assert len(said.err.splitlines()) <= 1
    assert said.code or to == ">&-"


@pytest.mark.parametrize("to", [">/dev/full", ">&-"])
def test_a_recording_that_cannot_be_printed(shop: Path, to: str) -> None:
    """What was recorded exits with 0, also if nobody could be told."""
    said = shell(shop, f'"$0" -m passdown finding open new {to}')
    assert "F003" in good(shop, "log", "-n", "1").out
    assert said.code == exits.OK, said


def test_a_complaint_that_cannot_be_printed(shop: Path) -> None:
    """The exit code is right, also if nobody can read why."""
    assert shell(shop, '"$0" -m passdown step start 99 2>/dev/full').code == NOT_FOUND


def test_a_stream_from_nowhere(shop: Path) -> None:
    """`append -` with stdin closed is refused."""
    one_sentence(shell(shop, '"$0" -m passdown append - <&-'), INVALID)


@pytest.mark.parametrize("args", ["--debug show -p zzz", "show -p zzz --debug"])
def test_debug_shows_a_traceback(shop: Path, args: str) -> None:
    """--debug, before or after the command, shows where an error comes from."""
    said = run(shop, *args.split())
    assert said.code != exits.OK
    assert "Traceback" in said.err
    assert "NotFound" in said.err
