"""The brief in its budget: what is always there, what is cut, and what a reader learns from it."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from command import files, good, quick
from examples import rich
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from msgspec.structs import replace
from strategies import WORDS, projects

from cli import exits
from journal import Project
from journal import entities as n
from journal.live import live
from projections.brief import TOPICS, Brief, Form, compose, fit
from projections.brief.topics import entries
from projections.markdown import clip

BUDGETS = (500, 1000, 2000, 8000)
FORMS: tuple[Form, ...] = ("md", "json")
COMMONMARK = MarkdownIt("commonmark")
KINDS = ("findings", "blockers", "errors", "questions", "decisions", "context", "history")


def crowd(project: Project, sizes: dict[str, int], text: str) -> Project:
    """The project with so many more things of each kind, that say this."""
    for k in range(sizes.get("findings", 0)):
        project.findings[f"X{k}"] = n.Finding(f"X{k}", f"{text} {k}", k)
    for k in range(sizes.get("blockers", 0)):
        project.blockers[f"X{k}"] = n.Blocker(f"X{k}", f"{text} {k}", k)
    for k in range(sizes.get("errors", 0)):
        project.errors[f"X{k}"] = n.Error(f"X{k}", f"{text} {k}", "runtime", k)
    for k in range(sizes.get("questions", 0)):
        project.questions[f"X{k}"] = n.Question(f"X{k}", f"{text} {k}", k)
    for k in range(sizes.get("decisions", 0)):
        project.decisions[f"X{k}"] = n.Decision(f"X{k}", k, f"{text} {k}")
    for k in range(sizes.get("context", 0)):
        project.context.append(n.Context("skill", f"{text} {k}", k))
    for k in range(sizes.get("history", 0)):
        project.sessions[f"X{k}"] = n.Session(f"X{k}", k, "ada", note=f"{text} {k}")
    return project


_SIZES = st.sampled_from((0, 1, 2, 5, 40, 300, 10_000))
_COUNTS = st.dictionaries(st.sampled_from(KINDS), _SIZES, max_size=4)
_ODD = ("x" * 3000, '"\\' * 200, "日本語 ✓ " * 30, "\u202e\x85\u200b", "word")


@settings(deadline=None, max_examples=100)
@given(projects(), _COUNTS, WORDS | st.sampled_from(_ODD), st.booleans(), st.data())
def test_a_brief_never_exceeds_its_budget(
    project: Project, counts: dict[str, int], text: str, long: bool, data: st.DataObject
) -> None:
    """Any state in any budget: position, next action, and every item or its exact count."""
    project.slug = "s" * 100 if long else "s"
    step = data.draw(st.sampled_from(("", *project.steps)))
    brief = compose(crowd(project, counts, text), step=step)
    for form in FORMS:
        for budget in BUDGETS:
            check(brief, budget, form)


def check(brief: Brief, budget: int, form: Form) -> None:
    """The guarantees that a brief gives, in whichever form."""
    fitted, shown = fit(brief, budget, form)
    assert len(shown) <= budget * 3.5
    assert (fitted, shown) == fit(brief, budget, form)
    assert (fitted.verdict, fitted.version) == (brief.verdict, brief.version)
    assert bool(fitted.step) == bool(brief.step)
    assert bool(clip(fitted.next_action)) == bool(clip(brief.next_action))
    assert fitted.say
    for name, topic in TOPICS.items():
        if name == "texts":
            continue  # counted where the top had to be cut short
        whole, left = entries(brief, topic), entries(fitted, topic)
        assert set(map(repr, left)) <= set(map(repr, whole)), "an item is whole or not there"
        assert len(whole) == len(left) + fitted.left_out.get(name, 0)
    if fitted.left_out:
        assert set(shlex.split(fitted.more)[3].split(",")) == set(fitted.left_out)
        assert fitted.more in (shown if form == "md" else json.loads(shown)["more"])


def test_what_must_not_be_missed_comes_before_the_rest() -> None:
    """Ten thousand findings leave room for the newest blockers, and none for decisions."""
    counts = {"findings": 10_000, "blockers": 5, "decisions": 50}
    fitted, _ = fit(compose(crowd(rich(), counts, "something is wrong")), 2000)
    assert [item.id for item in fitted.findings[:2]] == ["X9999", "X9998"]
    assert len(fitted.blockers) >= 3
    assert not fitted.decisions
    assert fitted.left_out["findings"] == 10_002 - len(fitted.findings)


def test_a_long_item_does_not_hide_the_short_ones() -> None:
    """What does not fit is left out whole, and what fits after it is shown."""
    project = crowd(rich(), {"findings": 3}, "short")
    project.findings["long"] = n.Finding("long", "x" * 9000, 1)
    fitted, shown = fit(compose(project), 2000)
    ids = [item.id for item in fitted.findings]
    assert "long" not in ids
    assert {"X0", "X1", "X2", "F001"} <= set(ids)
    assert fitted.left_out == {"findings": 1}
    assert "- Left out to fit: 1 must-fix findings; `passdown resume --only findings" in shown


def test_a_long_next_action(tmp_path: Path) -> None:
    """It is shown whole where there is room, else it is said that it was cut, and how to see it."""
    good(tmp_path, "init", "shop")
    good(tmp_path, "next", "A" * 3000 + " STOP: do not deploy")
    for number in range(60):
        good(tmp_path, "finding", "open", f"finding {number} {'w ' * 60}", "--no-sync")
    assert "STOP: do not deploy" in good(tmp_path, "resume").out
    shown = good(tmp_path, "resume", "--budget", "800").out
    assert "STOP" not in shown
    assert "Left out to fit: 1 texts of the top cut short, " in shown
    command = re.search(r"`(passdown resume --only [^`]+)`", shown)
    assert command
    assert "STOP: do not deploy" in good(tmp_path, *shlex.split(command[1])[1:]).out


def test_too_small_a_budget(tmp_path: Path) -> None:
    """A budget in which nothing has room is refused with the least that is needed."""
    good(tmp_path, "init", "shop")
    said = quick(tmp_path, "resume", "--budget", "10")
    assert (said.code, said.out) == (exits.INVALID, "")
    assert "--budget 400" in said.err
    good(tmp_path, "resume", "--budget", "1" + "0" * 400)


@pytest.mark.parametrize(
    "args", [("--session", "s", "--agent", "\udcff"), ("--only", ",,"), ("--only", "findings,")]
)
def test_what_names_nothing(tmp_path: Path, args: tuple[str, ...]) -> None:
    """An agent that nobody can be, and a topic without a name, are refused."""
    good(tmp_path, "init", "shop")
    good(tmp_path, "resume", "--agent", "\udcff", "--format", "json")
    said = quick(tmp_path, "resume", *args, "--json")
    assert said.code in (exits.INVALID, exits.NOT_FOUND)
    assert "defect" not in said.err


def test_a_session_that_asked_for_one_topic(tmp_path: Path) -> None:
    """What an agent did not ask to see is on record as left out."""
    good(tmp_path, "init", "shop")
    for text in ("one", "two"):
        good(tmp_path, "decide", text, "--choice", "yes")
    good(tmp_path, "finding", "open", "bad")
    good(tmp_path, "resume", "--only", "findings", "--session", "s", "--agent", "ada")
    record = json.loads(good(tmp_path, "log", "--json").out.splitlines()[-1])
    assert record["data"]["shown"] == {"findings": ["F001"]}
    assert record["data"]["left_out"]["decisions"] == 2


# -- what a successor learns -----------------------------------------------------------------


def read(shown: str) -> dict[str, Any]:
    """What one knows who has read only the brief, as any markdown reader shows it."""
    tokens = COMMONMARK.parse(shown)
    section, lines, said = "", dict[str, list[str]](), list[str]()
    for k, token in enumerate(tokens):
        if token.type == "inline":
            words = "".join(part.content or "\n" for part in token.children or ())
            if tokens[k - 1].type == "heading_open":
                section = words if tokens[k - 1].tag == "h2" else ""
            elif token.level > 1:
                lines.setdefault(section, []).append(words)
            else:
                said.append(words)
    facts = dict(line.partition(": ")[::2] for line in lines.get("", []))
    position = said[0].split("\n")[0] if said else ""
    step = re.match(r"(?:Step|Phase) ([0-9_]+)", position)
    reached = re.search(r", at checkpoint (.+)\.$", position)
    ids = {title: [line.partition(" —")[0] for line in each] for title, each in lines.items()}
    return {
        "step": step[1] if step else "",
        "checkpoint": reached[1] if reached else "",
        "command": facts.get("Next command", ""),
        "next_action": facts.get("Next action, as it was left", ""),
        "findings": ids.get("Open must-fix findings", []),
        "blockers": ids.get("Active blockers", []),
        "errors": ids.get("Unresolved errors", []),
        "questions": ids.get("Open questions", []),
        "mail": ids.get("Mail", []),
        "commitments": ids.get("Open commitments", []),
    }


@settings(deadline=None, max_examples=1000)
@given(projects().filter(lambda project: fit(compose(project), 2000)[0] == compose(project)))
def test_a_successor_knows_how_to_go_on(project: Project) -> None:
    """Who reads only the brief at the default budget answers every question about the state."""
    brief = compose(project)
    known = read(fit(brief, 2000)[1])
    assert known["step"] == brief.step
    assert known["checkpoint"] == clip(brief.checkpoint, 10**9)
    assert known["command"] == brief.command
    assert known["next_action"] == clip(brief.next_action, 10**9)
    assert known["findings"] == [x.id for x in reversed(project.findings.values()) if is_open(x)]
    blockers = [x.id for x in reversed(project.blockers.values()) if x.status == "active"]
    assert known["blockers"] == blockers
    errors = [x.id for x in reversed(project.errors.values()) if x.resolved is None]
    assert known["errors"] == errors
    questions = [x.id for x in reversed(project.questions.values()) if x.status == "open"]
    assert known["questions"] == questions
    mail = [x.id for x in reversed(project.messages.values()) if x.status == "unread"]
    assert known["mail"] == mail
    promised = [x.id for x in reversed(project.commitments.values()) if x.status == "open"]
    assert known["commitments"] == promised


def is_open(finding: n.Finding) -> bool:
    """Whether a finding must be mended still."""
    return finding.resolved is None and finding.severity == "must_fix"


# -- the command -----------------------------------------------------------------------------


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A workspace with a project of many findings and decisions."""
    good(tmp_path, "init", "shop", "--title", "Web Shop")
    events: list[tuple[str, dict[str, str]]] = [("step.started", {"step": "1"})]
    events += [("finding.opened", {"title": f"Vault {k} is open to all"}) for k in range(300)]
    events += [("decision.made", {"title": f"Cache {k}", "choice": "none"}) for k in range(100)]
    lines = (json.dumps({"type": tag, "data": data}) for tag, data in events)
    good(tmp_path, "append", "-", stdin="\n".join(lines).encode())
    return tmp_path


def test_what_was_left_out_is_shown_by_the_command(shop: Path) -> None:
    """The command that a cut names shows all of those topics, whole."""
    before = files(shop)
    shown = good(shop, "resume").out
    assert len(shown) <= 7000
    command = re.search(r"`(passdown resume --only [^`]+)`", shown)
    assert command
    rest = good(shop, *shlex.split(command[1])[1:]).out
    assert all(f"F{k:03} — Vault {k - 1} is open" in rest for k in range(1, 301))
    assert all(f"D{k:03} — Cache {k - 1}: none" in rest for k in range(1, 101))
    assert files(shop) == before


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("budget", BUDGETS)
def test_the_budget_is_a_hard_limit(shop: Path, budget: int, form: str) -> None:
    """What is printed keeps the limit, and is the same each time."""
    shown = good(shop, "resume", "--budget", str(budget), "--format", form).out
    assert len(shown.rstrip("\n")) <= budget * 3.5
    assert shown == good(shop, "resume", "--budget", str(budget), "--format", form).out


def test_one_topic_alone(shop: Path) -> None:
    """`--only` shows a topic and nothing else; one that there is not is refused."""
    found = good(shop, "resume", "--only", "decisions", "--json").json
    assert len(found["decisions"]) == 100
    assert found["findings"] == []
    said = quick(shop, "resume", "--only", "weather")
    assert said.code == exits.NOT_FOUND
    assert "findings" in said.err


def test_a_session_and_what_it_was_shown(shop: Path) -> None:
    """With a session it is on record which version and items were shown and what was not."""
    version = good(shop, "show", "--json").json["version"]
    shown = good(shop, "resume", "--session", "night", "--agent", "ada", "--json").json
    started, brief = (json.loads(x) for x in good(shop, "log", "--json").out.splitlines()[-2:])
    assert (started["type"], started["data"]["agent"]) == ("session.started", "ada")
    assert (brief["type"], brief["actor"]) == ("brief.shown", "ada")
    data = brief["data"]
    assert data["version"] == version == shown["version"]
    assert data["shown"]["findings"] == [item["id"] for item in shown["findings"]]
    assert data["left_out"] == shown["left_out"]
    assert good(shop, "verify").code == 0
    good(shop, "resume", "--session", "night", "--agent", "ada")
    assert len(good(shop, "show", "--json").json["sessions"]) == 1


def test_a_session_without_a_project(tmp_path: Path) -> None:
    """Where there is no project yet, no session is started, and how to begin is said."""
    said = quick(tmp_path, "resume", "--session", "night")
    assert said.code == exits.REJECTED
    assert "passdown init" in said.err
    assert files(tmp_path) == {}


def test_files_that_are_not_as_they_were_written(shop: Path) -> None:
    """An edited file and a missing one are among what must not be missed."""
    state = shop / ".planning/STATE.md"
    state.write_text(state.read_text() + "# mine\n")
    (shop / "agent-output/shop/00-handoff.md").unlink()
    found = {item["id"]: item["text"] for item in good(shop, "resume", "--json").json["drift"]}
    assert "edited outside Passdown" in found[".planning/STATE.md"]
    assert "is gone" in found["agent-output/shop/00-handoff.md"]


# -- the live part ---------------------------------------------------------------------------


@settings(deadline=None)
@given(projects())
def test_the_live_part_gives_the_same_brief(project: Project) -> None:
    """What is settled has no part in a brief."""
    assert compose(live(project)) == compose(project)


@settings(deadline=None, max_examples=30)
@given(projects(), _COUNTS)
def test_the_live_part_counts_what_it_leaves_out(project: Project, counts: dict[str, int]) -> None:
    """Every topic has as many items as before, shown or counted."""
    whole = compose(crowd(project, counts, "word"))
    part = compose(live(project, kept=7))
    for name, topic in TOPICS.items():
        assert len(entries(whole, topic)) == len(entries(part, topic)) + part.left_out.get(name, 0)
    nothing = dict.fromkeys(TOPICS, ())
    assert replace(part, **nothing, left_out={}) == replace(whole, **nothing)
