"""Gates: passing one is recorded and shows the handoff; a transition passes gate and step."""

import os
from pathlib import Path

import msgspec
import pytest
from command import files, good, quick, run

from cli import exits


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A workspace with one project, in its first step."""
    good(tmp_path, "init", "shop")
    good(tmp_path, "step", "start", "1")
    return tmp_path


def test_a_gate_shows_the_handoff(shop: Path) -> None:
    """After the line that was recorded comes the handoff, byte for byte the file's content."""
    said = run(shop, "gate", "requirements", "--note", "signed off")
    assert (said.code, said.err) == (0, "")
    first, _, rest = said.out.partition("\n\n")
    assert first == "shop v3: gate passed: requirements"
    assert rest == (shop / "agent-output/shop/00-handoff.md").read_text()
    [gate] = good(shop, "show", "--json").json["gates"]
    assert (gate["gate"], gate["step"], gate["note"]) == ("requirements", "1", "signed off")


def test_a_gate_that_was_passed_shows_the_handoff_again(shop: Path) -> None:
    """Nothing is recorded, and the handoff is shown all the same."""
    good(shop, "gate", "requirements")
    before = files(shop)
    said = good(shop, "gate", "requirements")
    assert said.out.startswith("shop v3: already so, nothing recorded\n\n# shop — Handoff")
    assert files(shop) == before


def test_a_gate_as_data_is_one_document(shop: Path) -> None:
    """With --json the answer is what every recording command gives."""
    said = good(shop, "gate", "requirements", "--step", "1", "--json").json
    assert [each["type"] for each in said["appended"]] == ["project.gate_passed"]


def test_a_gate_whose_answer_nobody_takes_is_recorded(shop: Path) -> None:
    """Once appended the exit code is 0, also where stdout is full."""
    with open("/dev/full", "wb") as full:

        def fill() -> None:
            os.dup2(full.fileno(), 1)

        said = run(shop, "gate", "requirements", before=fill)
    assert said.code == exits.OK
    assert "recorded as version 3, but stdout took no answer" in said.err


def test_a_gate_at_a_step_that_is_not_there(shop: Path) -> None:
    """It is an error with the near steps, and nothing is recorded or shown."""
    said = quick(shop, "gate", "requirements", "--step", "9")
    assert (said.code, said.out) == (exits.NOT_FOUND, "")


def test_a_transition_passes_gate_and_step_at_once(shop: Path) -> None:
    """Gate, decisions, completion and start are one append, in that order."""
    moved = ("transition", "1", "2", "--gate", "requirements", "--decide", "region=northeurope")
    said = run(shop, *moved, "--id", "k-1", "--json").json
    assert [each["type"] for each in said["appended"]] == [
        "project.gate_passed",
        "decision.made",
        "step.completed",
        "step.started",
    ]
    first, *others = said["appended"]
    assert first["data"] == {"gate": "requirements", "step": "1"}
    assert (first["id"], {each["cause"] for each in others}) == ("k-1", {"k-1"})
    assert good(shop, *moved, "--id", "k-1", "--json").json["repeated"]


@pytest.mark.parametrize("following", ["1", "9"])
def test_a_transition_that_fails_passes_no_gate(shop: Path, following: str) -> None:
    """All of it, or nothing: where the next step cannot start, the gate is not passed."""
    before = files(shop)
    said = quick(shop, "transition", "1", following, "--gate", "requirements", "--json")
    assert said.code in (exits.REJECTED, exits.NOT_FOUND)
    assert msgspec.json.decode(said.out)["error"]["message"]
    assert files(shop) == before


def test_the_iac_tool_decides_who_goes_on(shop: Path) -> None:
    """A tool that is decided in a transition names the agents of steps 5 and 6 at once."""
    good(shop, "transition", "1", "2", "--gate", "requirements", "--decide", "iac_tool=Terraform")
    good(shop, "step", "skip", "3")
    shown = good(shop, "show").out
    assert "06t-Terraform CodeGen" in shown
    assert "07t-Terraform Deploy" in shown
    assert good(shop, "show", "--json").json["steps"]["3"]["status"] == "skipped"
