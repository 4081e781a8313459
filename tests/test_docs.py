"""The documents say what is so: every session, snippet and table in them is run or compared."""

import contextlib
import io
import re
import shlex
import subprocess
from pathlib import Path

import msgspec
import pytest
import test_record
from command import good, quick

from cli import exits, hosts
from journal import Project
from journal.events import Execution
from journal.record import Record
from journal.workflows import load
from projections.brief import TOPICS
from projections.dialect import DIALECTS
from projections.limits import BUDGET, CHARACTERS_PER_TOKEN
from projections.settings import targets

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
SETTINGS = (ROOT / "docs/SETTINGS.md").read_text()
HOSTS = (ROOT / "docs/HOSTS.md").read_text()
FORMAT = (ROOT / "docs/FORMAT.md").read_text()
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def blocks(text: str, kind: str) -> list[str]:
    """The code blocks of one kind."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def play(folder: Path, session: str) -> str:
    """The session as it goes when somebody types its commands now."""
    shown = ""
    for line in session.splitlines():
        if line.startswith("$ "):
            shown += f"{line}\n{typed(folder, shlex.split(line[2:]))}"
    return shown


def typed(folder: Path, words: list[str]) -> str:
    """What a terminal shows for a command."""
    if words[0] == "passdown":
        result = quick(folder, *words[1:])
        return result.out + result.err
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True).stdout


def test_the_session_in_the_readme(tmp_path: Path) -> None:
    """Typing the README's commands gives the README's answers, but for the time of day."""
    [session] = blocks(README, "console")
    assert TIME.sub("", play(tmp_path, session)) == TIME.sub("", session)


def test_the_readme_begins_with_what_matters() -> None:
    """The first screen has the name, the two commands and the session."""
    start = README.splitlines()[:16]
    for word in ("# Passdown", "make demo", "make test", "$ passdown init"):
        assert any(line.startswith(word) for line in start), word


def test_the_python_in_the_readme(tmp_path: Path) -> None:
    """The Python snippet runs and prints what its comment says."""
    good(tmp_path, "init", "shop")
    [snippet] = blocks(README, "python")
    printed = io.StringIO()
    with contextlib.chdir(tmp_path), contextlib.redirect_stdout(printed):
        exec(snippet, {})
    assert printed.getvalue() == "in_progress\n"


def test_the_exit_codes_in_the_readme() -> None:
    """The README's table is the table of the code."""
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", README, re.MULTILINE)
    assert {int(code): meaning for code, meaning in rows} == exits.MEANING


def test_the_projections_in_the_readme() -> None:
    """The README's table has every projection and where it is by default."""
    rows = re.findall(r"^\| `([a-z-]+)` \| `(.*?)` \|", README, re.MULTILINE)
    assert dict(rows) == {name: dialect.path for name, dialect in DIALECTS.items()}


def test_the_topics_in_the_hosts() -> None:
    """HOSTS.md has every topic of a brief in the order in which room is given to them."""
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (?:(yes) )?\|$", HOSTS, re.MULTILINE)
    assert rows == [(x.name, x.title, "yes" if x.vital else "") for x in TOPICS.values()]
    assert f"{BUDGET:,} if not said, at {CHARACTERS_PER_TOKEN} characters" in HOSTS


def test_the_hooks_in_the_hosts() -> None:
    """HOSTS.md has every host with its file and its events."""
    rows = re.findall(r"^\| `([a-z-]+)` \| `(\.\S+)` \| (.*?) \|$", HOSTS, re.MULTILINE)
    assert rows == [(x.name, x.path, ", ".join(x.events)) for x in hosts.HOSTS.values()]


def test_every_link_leads_somewhere() -> None:
    """What the documents point to within the repository is there."""
    for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text()):
            assert (path.parent / target).exists(), f"{path.name} points to {target}"


def test_the_defaults_in_the_settings(tmp_path: Path) -> None:
    """The first TOML block of SETTINGS.md, as passdown.toml, changes nothing."""
    projects = Project("shop"), Project("tour", execution=Execution())
    before = [targets(tmp_path, project) for project in projects]
    (tmp_path / "passdown.toml").write_text(blocks(SETTINGS, "toml")[0])
    assert [targets(tmp_path, project) for project in projects] == before


def test_the_workflow_in_the_settings(tmp_path: Path) -> None:
    """The last TOML block but one of SETTINGS.md is a workflow that loads, every policy named."""
    path = tmp_path / "release.toml"
    path.write_text(blocks(SETTINGS, "toml")[-2])
    flow = load(str(path))
    assert [step.name for step in flow.steps] == ["Build", "Publish"]
    policy = msgspec.toml.decode(path.read_bytes())["policy"]
    assert set(policy) == set(flow.policy.__struct_fields__)


def test_the_orchestration_in_the_settings(tmp_path: Path) -> None:
    """The last TOML block of SETTINGS.md opens an orchestration with the policy that it names."""
    path = tmp_path / "feature.toml"
    path.write_text(blocks(SETTINGS, "toml")[-1])
    flow = load(str(path))
    assert flow.execution is not None
    assert [step.name for step in flow.steps] == ["Design", "Build the server", "Build the client"]
    for name in flow.policy.__struct_fields__:
        value = msgspec.json.encode(getattr(flow.policy, name)).decode()
        assert f"`{name} = {value}`" in SETTINGS


@pytest.mark.parametrize("record", [test_record.FIRST, test_record.SECOND])
def test_the_vectors_in_the_format(record: Record) -> None:
    """FORMAT.md has the very vectors that the tests pin."""
    assert f"`{record.commitment.hex()}`" in FORMAT
    assert f"`{record.hash.hex()}`" in FORMAT
    assert f"`{record.data.decode()}`" in FORMAT
    canonical = "".join(re.findall(r"^    ([0-9a-f ]{40,})$", FORMAT, re.MULTILINE))
    assert canonical.replace(" ", "") == test_record.CANONICAL
