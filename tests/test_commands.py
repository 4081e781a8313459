"""Every command, as a person and as a program uses it."""

import json
import os
import sqlite3
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from command import Result, files, finished, good, quick, run

from cli import exits
from cli.app import MODULES, build
from journal import errors

STATE, HANDOFF = "agent-output/shop/00-session-state.json", "agent-output/shop/00-handoff.md"
STATE_MD = ".planning/STATE.md"
FORMS = {"session-state": STATE, "handoff": HANDOFF, "state-md": STATE_MD}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A workspace with one project."""
    good(tmp_path, "init", "shop", "--workflow", "apex")
    return tmp_path


def records(folder: Path, *args: str) -> list[dict[str, Any]]:
    """The journal's records, as `log --json` gives them."""
    return [json.loads(x) for x in good(folder, "log", "-n", "0", "--json", *args).out.splitlines()]


def test_init_opens_a_project_and_writes_its_files(tmp_path: Path) -> None:
    """`init` makes journal, project and every projection, and says so as data."""
    done = run(tmp_path, "init", "shop", "-w", "apex", "--iac-tool", "Bicep", "--json")
    assert (done.code, done.err) == (0, "")
    assert [x["type"] for x in done.json["appended"]] == ["project.opened", "decision.made"]
    assert done.json["synced"] is True
    assert all((tmp_path / path).is_file() for path in FORMS.values())


def test_init_takes_the_steps_of_a_generic_workflow(tmp_path: Path) -> None:
    """`init --step` numbers the given steps."""
    good(tmp_path, "init", "shop", "--step", "Plan", "--step", "Build", "--title", "The Shop")
    steps = good(tmp_path, "show", "--json").json["steps"]
    assert [steps[key]["name"] for key in ("1", "2")] == ["Plan", "Build"]


def test_init_reads_a_workflow_file(tmp_path: Path) -> None:
    """`init -w file.toml` takes a workflow of the user's own."""
    text = 'name = "own"\n[[steps]]\nkey = "1"\nname = "Only"\n'
    (tmp_path / "own.toml").write_text(text)
    good(tmp_path, "init", "shop", "-w", "own.toml")
    assert good(tmp_path, "show", "--json").json["workflow"] == "own"


SCRIPT = (
    (("step", "start", "1"), "step.started"),
    (("step", "checkpoint", "1", "phase_1_discovery", "--artifact", "a.md"), "step.checkpointed"),
    (("step", "complete", "1", "--artifact", "b.md", "--summary", "ok"), "step.completed"),
    (("step", "rerun", "1", "--reason", "changed"), "step.restarted"),
    (("step", "fail", "1", "no quota", "--kind", "dependency"), "step.failed"),
    (("step", "retry", "1", "--reason", "raised"), "step.restarted"),
    (("step", "skip", "3", "--reason", "not wanted"), "step.skipped"),
    (("decide", "--key", "region", "--value", "north"), "decision.made"),
    (("decide", "Store", "--choice", "SQLite", "--irreversible"), "decision.made"),
    (("finding", "open", "public access"), "finding.opened"),
    (("finding", "resolve", "F001", "-r", "closed"), "finding.resolved"),
    (("append", "task.added", '{"title": "Write", "step": "1"}'), "task.added"),
)


@pytest.mark.parametrize("as_json", [False, True])
def test_recording_commands(shop: Path, as_json: bool) -> None:
    """Each recording command adds its event, for a person in a line, for a program as data."""
    for args, type in SCRIPT:
        version = records(shop)[-1]["version"]
        done = good(shop, *args, "--actor", "me", *(["--json"] if as_json else []))
        assert done.err == ""
        last = records(shop)[-1]
        assert (last["type"], last["actor"]) == (type, "me")
        if as_json:
            assert done.json["appended"][-1] == last
            assert done.json["project"] == "shop"
            assert (done.json["synced"], done.json["warnings"]) == (True, [])
        else:
            assert done.out.startswith(f"shop v{version + 1}: ")
    assert good(shop, "verify", "--json").json["ok"] is True


def test_a_request_with_an_id_is_recorded_once(shop: Path) -> None:
    """The same --id with the same content adds nothing, with other content it is refused."""
    first = good(shop, "finding", "open", "x", "--id", "k1", "--json")
    again = good(shop, "finding", "open", "x", "--id", "k1", "--json")
    assert again.json["repeated"] is True
    assert again.json["version"] == first.json["version"]
    assert quick(shop, "finding", "open", "y", "--id", "k1").code == 5
    assert len(records(shop)) == 2


def test_a_stream_is_recorded_at_once(shop: Path) -> None:
    """20,000 lines from stdin are one append and one sync."""
    line = json.dumps({"type": "tokens.used", "data": {"input": 1}, "actor": "coder"})
    done = run(shop, "append", "-", stdin=(line + "\n").encode() * 20_000)
    assert (done.code, done.err) == (0, "")
    assert "20000 events in all" in done.out
    assert good(shop, "projects", "--json").json[0]["version"] == 20_001
    assert len({x["at"] for x in records(shop)[1:]}) <= 2
    assert good(shop, "verify").code == 0


def test_a_stream_passes_over_blank_lines(shop: Path) -> None:
    """Blank lines are no events, and a last line needs no line end."""
    line = b'{"type":"tokens.used","data":{"input":1}}'
    good(shop, "append", "-", stdin=b"\n" + line + b"\r\n  \n" + line)
    assert len(records(shop)) == 3


def test_projects(shop: Path) -> None:
    """`projects` lists every project."""
    good(shop, "init", "zoo", "--step", "One")
    assert [x["project"] for x in good(shop, "projects", "--json").json] == ["shop", "zoo"]
    assert [x.split()[0] for x in good(shop, "projects").out.splitlines()] == ["shop", "zoo"]


def test_show(shop: Path) -> None:
    """`show` tells a person where the project stands and what is next."""
    good(shop, "step", "start", "1")
    said = run(shop, "show").out
    assert "▶    1  Requirements" in said
    assert "Next: " in said
    assert good(shop, "show", "--json").json["version"] == 2
    assert good(shop, "show", "--as", "json").out == good(shop, "show", "--json").out


@pytest.mark.parametrize(("form", "path"), FORMS.items())
def test_show_as_a_file_is_the_file(shop: Path, form: str, path: str) -> None:
    """`show --as` prints the very bytes of the file."""
    good(shop, "decide", "Größe", "--choice", "日本")
    content = (shop / path).read_bytes()
    assert run(shop, "show", "--as", form).out.encode() == content
    assert good(shop, "show", "--as", form, "--json").json["content"].encode() == content


@pytest.mark.parametrize("form", FORMS)
def test_show_at_a_version(shop: Path, form: str) -> None:
    """`show --at VERSION` prints what the file was then."""
    then = (shop / FORMS[form]).read_text()
    good(shop, "step", "start", "1")
    assert good(shop, "show", "--as", form).out != then
    assert good(shop, "show", "--as", form, "--at", "1").out == then


def test_show_at_a_time(shop: Path) -> None:
    """`show --at TIME` is the last version recorded by then."""
    good(shop, "step", "start", "1")
    assert good(shop, "show", "--json", "--at", "2999-01-01").json["version"] == 2
    assert quick(shop, "show", "--at", "1999-01-01T00:00:00Z").code == 3


def test_log(shop: Path) -> None:
    """`log` shows the newest records oldest first; with --json one document a line."""
    good(shop, "step", "start", "1")
    good(shop, "step", "complete", "1")
    assert [x.split()[0] for x in run(shop, "log", "-n", "2").out.splitlines()] == ["2", "3"]
    lines = good(shop, "log", "--json").out.splitlines()
    assert [json.loads(x)["version"] for x in lines] == [1, 2, 3]
    assert len(good(shop, "log", "-n", "0", "--after", "2").out.splitlines()) == 1


def test_no_sync_leaves_the_files_for_a_later_sync(shop: Path) -> None:
    """--no-sync records only; `sync` brings the files."""
    before = {path: (shop / path).read_bytes() for path in FORMS.values()}
    done = good(shop, "step", "start", "1", "--no-sync", "--json")
    assert done.json["synced"] is None
    assert before == {path: (shop / path).read_bytes() for path in FORMS.values()}
    assert quick(shop, "verify").code == 1
    synced = good(shop, "sync", "--json").json
    assert synced["ok"]
    assert all(x["written"] and x["status"] == "stale" for x in synced["projects"]["shop"])
    assert good(shop, "verify").code == 0
    assert "fresh" in good(shop, "sync").out


def empty(path: Path) -> None:
    """What a crash in the middle of `open(…, "w")` leaves."""
    path.write_bytes(b"")


@pytest.mark.parametrize("path", FORMS.values())
def test_recover_restores_a_file_byte_for_byte(shop: Path, path: str) -> None:
    """`recover` brings back a file that was deleted or emptied."""
    good(shop, "step", "start", "1")
    for spoil in (Path.unlink, empty):
        before = good(shop, "show", "--as", {v: k for k, v in FORMS.items()}[path]).out
        spoil(shop / path)
        assert quick(shop, "verify").code == 1
        assert good(shop, "recover", "--json").json["ok"]
        assert (shop / path).read_text() == before
        assert good(shop, "verify").code == 0


def test_recover_puts_back_an_edited_file_when_asked(shop: Path) -> None:
    """`recover` leaves a hand's edit alone; `--drifted` replaces it and keeps the edit."""
    edited = (shop / STATE_MD).read_text().replace("shop", "mine")
    (shop / STATE_MD).write_text(edited)
    assert quick(shop, "recover").code == 1
    assert (shop / STATE_MD).read_text() == edited
    done = good(shop, "recover", "--drifted", "--json")
    kept = [x["kept"] for x in done.json["projects"]["shop"] if x["kept"]]
    assert [(shop / x).read_text() for x in kept] == [edited]
    assert good(shop, "verify").code == 0


def test_recover_salvages_a_journal(shop: Path) -> None:
    """`recover --journal` keeps every record of a damaged journal, and leaves a sound one alone."""
    assert good(shop, "recover", "--journal", "--json").json["rebuilt"] is False
    before = records(shop)
    with sqlite3.connect(shop / ".passdown/journal.db") as database:
        database.execute("DROP TABLE heads")
    assert run(shop, "show").code == 7
    assert good(shop, "recover", "--journal", "--json").json["rebuilt"] is True
    assert records(shop)[: len(before)] == before
    assert quick(shop, "show").code == 0


def test_verify(shop: Path) -> None:
    """`verify` tells of journal and files, and exits 1 if one is not well."""
    said = run(shop, "verify")
    assert (said.code, said.err) == (0, "")
    assert good(shop, "verify", "--json").json["journal"]["versions"] == {"shop": 1}
    (shop / STATE_MD).unlink()
    said = quick(shop, "verify")
    assert said.code == 1
    assert f"{STATE_MD}: missing" in said.out


def test_which_project(shop: Path) -> None:
    """-p names the project, else PASSDOWN_PROJECT, else it is the only one."""
    good(shop, "step", "start", "1")
    good(shop, "init", "zoo", "--step", "One")
    asked = quick(shop, "step", "start", "1")
    assert asked.code == 3
    assert "shop, zoo" in asked.err
    assert good(shop, "show", "--json", "-p", "zoo").json["project"] == "zoo"
    assert good(shop, "show", "--json", env={"PASSDOWN_PROJECT": "zoo"}).json["project"] == "zoo"
    both = good(shop, "show", "--json", "-p", "shop", env={"PASSDOWN_PROJECT": "zoo"})
    assert both.json["project"] == "shop"


def test_a_shared_file_belongs_to_the_first_project(shop: Path) -> None:
    """The second project is told whose STATE.md it is, and with which setting it gets its own."""
    before = (shop / STATE_MD).read_bytes()
    done = good(shop, "init", "zoo", "--step", "One")
    assert "belongs to shop" in done.err
    assert "[projections.state-md]" in done.err
    assert (shop / STATE_MD).read_bytes() == before
    text = '[projections.state-md]\npath = ".planning/{project}/STATE.md"\n'
    (shop / "passdown.toml").write_text(text)
    assert good(shop, "sync").err == ""
    assert (shop / ".planning/zoo/STATE.md").is_file()


def test_settings_move_and_switch_off_files(tmp_path: Path) -> None:
    """passdown.toml decides which files there are, and where."""
    (tmp_path / "passdown.toml").write_text(
        '[projections.handoff]\nenabled = false\n[projections.state-md]\npath = "deep/er/S.md"\n'
    )
    good(tmp_path, "init", "shop")
    made = {x for x in files(tmp_path) if x.endswith((".md", "state.json"))}
    assert made == {STATE, "deep/er/S.md"}


def test_reads_never_write(shop: Path) -> None:
    """show, log, verify and projects leave every file as it was, also a spoiled one."""
    good(shop, "step", "start", "1")
    (shop / HANDOFF).write_bytes(b"")
    (shop / STATE_MD).unlink()
    (shop / STATE).write_text((shop / STATE).read_text() + " ")
    before = files(shop)
    for args in (("show",), ("show", "--at", "1"), ("log",), ("verify",), ("projects",)):
        quick(shop, *args)
        run(shop, *args, "--json")
        assert files(shop) == before, args


def test_a_drifted_file_does_not_stop_a_recording(shop: Path) -> None:
    """The event is recorded, the edited file left, and the answer says so."""
    edited = (shop / HANDOFF).read_text().replace("shop", "mine")
    (shop / HANDOFF).write_text(edited)
    done = run(shop, "step", "start", "1", "--json")
    assert done.code == 0
    assert done.json["synced"] is False
    assert records(shop)[-1]["type"] == "step.started"
    assert (shop / HANDOFF).read_text() == edited
    assert done.err.startswith("passdown: ")
    assert HANDOFF in done.err


def test_a_folder_below_the_workspace_is_of_it(shop: Path) -> None:
    """The journal is found from any folder below it, and from PASSDOWN_JOURNAL."""
    below = shop / "a/b"
    below.mkdir(parents=True)
    assert good(below, "show", "--json").json["project"] == "shop"
    env = {"PASSDOWN_JOURNAL": str(shop / ".passdown")}
    assert good(Path("/"), "show", "--json", env=env).json["project"] == "shop"


@pytest.mark.parametrize("module", MODULES)
def test_a_command_comes_from_its_module(module: str) -> None:
    """The table by which commands are found says what each module has."""
    for word in MODULES[module]:
        found: Any = typer.main.get_command(build([word]))
        assert tuple(sorted(found.commands)) == tuple(sorted(MODULES[module]))


def test_a_group_alone_shows_its_help(tmp_path: Path) -> None:
    """A group without a command prints its help and is a usage error."""
    for args in ((), ("step",), ("finding",)):
        said = run(tmp_path, *args)
        assert said.code == exits.USAGE, said
        assert "Usage: passdown" in said.out


def test_every_error_has_an_exit_code() -> None:
    """Each class of the error tree that is raised has a code, and each code a meaning."""

    def leaves(cls: type[errors.PassdownError]) -> Iterator[type[errors.PassdownError]]:
        inner = cls.__subclasses__()
        yield from (x for one in inner for x in leaves(one)) if inner else (cls,)

    for cls in leaves(errors.PassdownError):
        assert exits.CODES[cls] in exits.MEANING, cls


def _answers(result: Result) -> None:
    assert (result.code, result.err) == (0, ""), result
    assert "Example: passdown init" in result.out


def test_a_package_named_cli_in_the_way_is_not_ours(tmp_path: Path) -> None:
    """A user's own `cli` package in the folder with PYTHONPATH=. does not shadow ours."""
    for name in ("cli", "journal", "projections"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('shadowed')\n")
        (tmp_path / name / "app.py").write_text("raise SystemExit('shadowed')\n")
    env = {"PYTHONPATH": "."}
    root = Path(__file__).parents[1]
    script = Path(sys.executable).with_name("passdown")
    assert script.is_file()
    _answers(finished([str(script), "init", "--help"], tmp_path, env=env))
    by_path: list[str | bytes] = [sys.executable, str(root / "passdown.py"), "init", "--help"]
    _answers(finished(by_path, tmp_path, env=env))


def test_a_session_by_its_short_id(shop: Path) -> None:
    """A record names the session that a short id means; a name that nobody knows is kept."""
    good(shop, "session", "start", "night")
    for given in ("1", "night", "other"):
        good(shop, "note", f"in {given}", "-s", given, "--id", f"in {given}")
    good(shop, "note", "in 1", "-s", "1", "--id", "in 1")
    good(shop, "session", "start", "-s", "o", "-a", "bob")
    made = [record["session"] for record in records(shop)[2:]]
    assert made == ["session-001", "night", "other", "o"]
    assert len(good(shop, "log", "-s", "other").out.splitlines()) == 1


def test_an_offer_names_the_project(shop: Path) -> None:
    """What is offered works as typed, also where there are several projects."""
    good(shop, "init", "zoo", "--step", "One")
    no = quick(shop, "step", "complete", "1", "-p", "zoo", "--json").json["error"]
    assert no["allowed"] == ["step start 1 -p zoo", "step skip 1 -p zoo"]
    good(shop, *no["allowed"][0].split())


@pytest.mark.parametrize("word", ["--debug", "--json"])
def test_what_comes_after_two_dashes_is_no_option(shop: Path, word: str) -> None:
    """`--` ends the options, for those of every command too."""
    assert (
        good(shop, "finding", "open", "--", word).out
        == f"shop v2: F001 opened (must_fix): {word}\n"
    )


def test_tokens_of_nobody(shop: Path) -> None:
    """Tokens without an agent are nobody's, which is not an agent called unnamed."""
    for actor in ("", "unnamed"):
        good(shop, "tokens", "record", "--input", "1", "--actor", actor)
    assert [x["name"] for x in good(shop, "tokens", "--json").json["agents"]] == ["", "unnamed"]
    assert [line.split()[0] for line in good(shop, "tokens").out.splitlines()[1:3]] == [
        "-",
        "unnamed",
    ]


def test_every_package_is_shipped() -> None:
    """What is installed elsewhere has every package that there is here."""
    root = Path(__file__).parents[1]
    made = {
        str(path.parent.relative_to(root)).replace("/", ".")
        for name in ("journal", "projections", "cli")
        for path in (root / name).rglob("__init__.py")
    }
    listed = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]
    assert set(listed["packages"]) == made


def test_version(tmp_path: Path) -> None:
    """--version answers at once."""
    assert run(tmp_path, "--version").out.startswith("passdown 0.")
    assert os.listdir(tmp_path) == []


def test_a_project_as_data_has_every_field(shop: Path) -> None:
    """`show --json` leaves nothing out for being at its default, and gives times as ISO 8601."""
    good(shop, "step", "start", "1", "--occurred", "2026-03-02T10:15:00Z")
    good(shop, "finding", "open", "leak")
    good(shop, "append", "task.added", '{"title": "Write"}')
    good(shop, "append", "task.blocked", '{"task": "T001", "reason": "no key"}')
    data = good(shop, "show", "--json").json
    assert data["steps"]["4"]["status"] == "pending"
    assert data["steps"]["1"]["started"] == "2026-03-02T10:15:00Z"
    assert data["findings"]["F001"]["severity"] == "must_fix"
    assert data["tasks"]["T001"]["status"] == "blocked"
    assert data["archived"] is None


def test_init_does_not_change_the_tool_of_a_project(shop: Path) -> None:
    """`init` of a project that is there does not decide anything anew."""
    good(shop, "init", "shop", "--iac-tool", "Bicep")
    no = quick(shop, "init", "shop", "--iac-tool", "Terraform")
    assert (no.code, "its iac_tool is Bicep" in no.err) == (exits.REJECTED, True)
    assert len(records(shop)) == 2


def test_recover_says_who_asked(shop: Path) -> None:
    """A reverted edit is recorded with the one who reverted it."""
    path = shop / HANDOFF
    path.write_text(path.read_text() + "my own line\n")
    good(shop, "recover", "--drifted", "--actor", "ann")
    last = records(shop)[-1]
    assert (last["type"], last["actor"]) == ("projection.drift_reverted", "ann")


def test_no_output_steers_a_terminal(tmp_path: Path) -> None:
    """Escapes, C1 codes and marks of direction in any text are shown as what they are."""
    nasty = "a\x1b[2Jb\x9bc\u202ed\x7fe\nNext: rm"
    good(tmp_path, "init", "shop", "--branch", nasty, "--title", nasty, "--step", nasty)
    good(tmp_path, "finding", "open", nasty)
    good(tmp_path, "decide", nasty, "--choice", nasty)
    for args in ("show", "log", "projects", "show --json", "log --json", "projects --json"):
        said = good(tmp_path, *args.split()).out
        assert not [c for c in said if c != "\n" and not c.isprintable()], args
        assert not any(line.startswith("Next: rm") for line in said.splitlines())
