"""The command line as a whole: the commands are found by walking the app, so none is forgotten.

Every command's example is run as it stands in the help, its answer held against the form that it
declares, and its failures provoked.
"""

import importlib.util
import shlex
import shutil
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_origin

import msgspec
import pytest
from command import Result, good, quick

from cli import exits
from cli.answers import Failed
from cli.document import project_data
from journal import Project
from journal.payload import parse

ROOT = Path(__file__).parents[1]
_spec = importlib.util.spec_from_file_location("generate", ROOT / "docs/generate.py")
assert _spec is not None
assert _spec.loader is not None
generate = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(generate)

#: Every command by its words, without the groups that only have help.
COMMANDS = {
    path.removeprefix("passdown "): command
    for path, command in generate.commands()
    if generate.forms(command)
}
_POSTED = "mail post x --to reviewer --actor coder"
_KEY = "seal keygen ../audit.key"
_SEALED = [_KEY, "seal --key ../audit.key -o monday.seal"]
#: What must have happened before a command's example makes sense.
GIVEN = {
    "step checkpoint": ["step start 2"],
    "step complete": ["step start 2"],
    "step fail": ["step start 6"],
    "step retry": ["step start 6", "step fail 6 no"],
    "step rerun": ["step start 2", "step complete 2"],
    "step reconcile": ["step start 2", "step complete 2"],
    "step verify": ["step start 2"],
    "execution": ["init 2026-05-01-limiter --phases 'Design; Build'"],
    "transition": ["step start 1"],
    **{f"lease {verb}": ["lease acquire 2 --token t-1"] for verb in ("renew", "release")},
    "plan start": ["plan add 2 x"],
    "plan complete": ["plan add 2 x", "plan start 2-1"],
    **{f"task {verb}": ["task add x"] for verb in ("claim", "start", "block", "unblock", "reset")},
    "task complete": ["task add x", "task start 1"],
    "blocker raise": ["task add x"],
    "blocker bypass": ["blocker raise x"],
    "blocker resolve": ["blocker raise x"],
    "finding resolve": ["finding open x"],
    "error resolve": ["error record x"],
    "question defer": ["question open x"],
    "question resolve": ["question open x"],
    **{f"session {verb}": ["session start night-shift"] for verb in ("note", "heartbeat", "end")},
    "session resume": ["session start night-shift", "session end night-shift"],
    "session crash": ["session start night-shift"],
    "reopen": ["archive"],
    "actor list": ["actor register ada --role maintainer"],
    **{f"mail {verb}": [_POSTED] for verb in ("ack", "action", "close", "list", "show")},
    "mail block": [_POSTED, "mail ack 1 --reason read --actor reviewer"],
    "mail resume": [
        _POSTED,
        "mail ack 1 --reason read --actor reviewer",
        "mail block 1 --reason why --actor reviewer",
    ],
    "mail defer": [_POSTED, "actor register ada --role maintainer"],
    **{f"commitment {verb}": ["commitment make x --actor reviewer"] for verb in ("fulfil", "drop")},
    **{f"turn {verb}": ["turn request x --actor coder"] for verb in ("take", "withdraw")},
    "turn move": [
        "turn request x --actor coder",
        "turn request y --actor reviewer",
        "actor register ada --role maintainer",
    ],
    "phase advance": ["actor register ada --role maintainer"],
    "escalation answer": ["escalation raise x", "actor register ada --role maintainer"],
    "snapshot": ["session start --actor coder"],
    "snapshot validate": ["session start --actor coder", "snapshot --actor coder"],
    "snapshot list": ["session start --actor coder", "snapshot --actor coder"],
    "snapshot show": ["session start --actor coder", "snapshot --actor coder"],
    "handoff": [
        "actor register ada --role maintainer",
        "session start --actor coder",
        "snapshot --actor coder",
    ],
    "worklog complete": ["worklog log x --actor coder"],
    "worklog compact": [
        "worklog log x --actor coder --status done",
        "actor register ada --role maintainer",
    ],
    "show": [f"next {n}" for n in range(12)],
    "log": ["step start 1"],
    "redact": [f"next {n}" for n in range(12)],
    "import": ["export -o shop.jsonl"],
    "restore": ["backup shop.db"],
    "search": ["finding open 'Key Vault allows public access'"],
    "seal": [_KEY],
    "seal verify": _SEALED,
    "seal prove": _SEALED,
    "seal check": [*_SEALED, "seal prove 1 --seal monday.seal -o 1.tlog-proof"],
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with one project, a source file and a plan."""
    folder = tmp_path_factory.mktemp("workspace")
    good(folder, "init", "shop")
    for path, text in (("src/parser.py", "parse = int\n"), ("docs/plan.md", "# Plan\n")):
        (folder / path).parent.mkdir()
        (folder / path).write_text(text)
    return folder


@cache
def example(name: str) -> list[str]:
    """The words of the example in a command's help."""
    text = generate.usage(f"passdown {name}", COMMANDS[name])
    _, _, rest = text.partition("Example: passdown ")
    return shlex.split(" ".join(rest.partition("\n\n")[0].split()))


def prepared(workspace: Path, folder: Path, name: str) -> Path:
    """A copy of the workspace in which the example can be run."""
    if name == "init":
        folder.mkdir()
        return folder
    shutil.copytree(workspace, folder / "w", symlinks=True)
    for given in GIVEN.get(name, ()):
        good(folder / "w", *shlex.split(given))
    return folder / "w"


def check_form(result: Result, forms: tuple[Any, ...]) -> None:
    """Each document that was printed is one of the forms, with no field more or less."""
    for line in result.out.splitlines():
        answer = msgspec.json.decode(line)
        assert any(_has_form(answer, form) for form in forms), f"{answer} is none of {forms}"


def _has_form(answer: Any, form: Any) -> bool:
    if form is Project:
        return list(answer) == list(project_data(Project("x")))
    if get_origin(form) is list:
        return all(_has_form(each, get_args(form)[0]) for each in answer)
    for record in [answer, *answer.get("appended", ()), *answer.get("newest", ())]:
        if "data" in record:  # the event has a form of its own
            parse(record["type"], msgspec.json.encode(record.pop("data")))
            record["data"] = {}
    try:
        again = msgspec.json.encode(msgspec.convert(answer, form))
        return bool(msgspec.json.decode(again) == answer)
    except msgspec.ValidationError:
        return False


@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_in_the_help(workspace: Path, tmp_path: Path, name: str) -> None:
    """The example runs as it stands, for a person and as data in the declared form."""
    words = example(name)
    assert " ".join(words).startswith(name)
    said = quick(prepared(workspace, tmp_path / "a", name), *words)
    assert (said.code, said.err) == (0, ""), said
    assert said.out
    data = good(prepared(workspace, tmp_path / "b", name), *words, "--json")
    check_form(data, generate.forms(COMMANDS[name]))


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_how(tmp_path: Path, name: str) -> None:
    """Every command has a help with an example, and answers as data."""
    said = good(tmp_path, *name.split(), "--help").out
    assert f"Example: passdown {name}" in said
    assert "--json" in said
    assert said == good(tmp_path, *name.split(), "-h").out


@pytest.mark.parametrize("name", COMMANDS)
def test_a_wrong_option_is_a_usage_error(tmp_path: Path, name: str) -> None:
    """What is not an option is refused in a sentence that leads to the help, and as data."""
    said = quick(tmp_path, *name.split(), "--nonsense", "--json")
    assert said.code == exits.USAGE
    assert said.err.startswith("passdown: ")
    assert f"see `passdown {name} --help`" in said.err
    check_form(said, (Failed,))


#: They need no project that is there: they make it, say how to, or work beside it.
ANYWHERE = ("init", "adopt", "resume", "setup", "doctor", "seal check", "import", "restore")
#: They are of all projects at once.
OF_ALL = (*ANYWHERE, "projects", "backup")


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ANYWHERE])
def test_no_workspace(tmp_path: Path, name: str) -> None:
    """Where there is no journal every command says so, makes none, and leaves code 6."""
    said = quick(tmp_path, *example(name), "--json")
    assert said.code == exits.MISSING, said
    assert "there is no journal in" in said.err
    assert "passdown init" in said.err
    check_form(said, (Failed,))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in OF_ALL])
def test_an_unknown_project(workspace: Path, tmp_path: Path, name: str) -> None:
    """A project that is not there is an error with the near names, for every command."""
    said = quick(prepared(workspace, tmp_path, name), *example(name), "-p", "shoq", "--json")
    assert said.code == exits.NOT_FOUND, said
    assert "near: shop" in said.err
    assert msgspec.json.decode(said.out)["error"]["near"] == ["shop"]


@pytest.mark.parametrize("name", generate.DOCUMENTS)
def test_the_generated_documents(name: str) -> None:
    """The document is what the code says now; `python docs/generate.py` makes it so."""
    assert (ROOT / "docs" / name).read_text() == generate.DOCUMENTS[name]()


def test_the_page_of_init() -> None:
    """Only what all recording commands share is left out, and init says what it lacks of that."""
    page = generate.cli().partition("## passdown init\n")[2].partition("\n## ")[0]
    assert "init [OPTIONS] {project}" in page
    assert "It takes the options above but `--project`, `--occurred`, `--lease`." in page
