"""00-handoff.md: six sections in fewer than 60 lines, with no word an agent can forge."""

import re
from itertools import pairwise

import pytest
from examples import rich
from hypothesis import given, settings
from markdown_it import MarkdownIt
from strategies import APEX_STEPS, TRAPS, Chain, projects

from journal import events as e
from journal.state import Project
from projections.handoff import render

TITLES = [
    "Completed Steps",
    "Key Decisions",
    "Open Challenger Findings (must_fix only)",
    "Context for Next Step",
    "Skill Context",
    "Artifacts",
]
COMMONMARK = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def opened(*events: e.Event, title: str = "Orchard", branch: str = "main") -> Project:
    """A project to which these things happened."""
    chain = Chain("orchard").add(e.ProjectOpened(title, "apex", APEX_STEPS, branch=branch))
    for event in events:
        chain.add(event, "worker-abc")
    return chain.project


def section(project: Project, title: str) -> list[str]:
    """The lines of one section."""
    lines = render(project).decode().split("\n")
    start = lines.index(f"## {title}") + 2
    return lines[start : lines.index("", start)]


def check(content: bytes) -> None:
    """Short, with the six headings and no others, and nothing in it but paragraphs and items."""
    text = content.decode()
    assert text.endswith(" -->\n")
    assert text.count("\n") < 60
    assert len(text.splitlines()) == text.count("\n")
    tokens = COMMONMARK.parse(text)
    following = pairwise(tokens)
    headings = [(a.tag, b.content) for a, b in following if a.type == "heading_open"]
    assert [tag for tag, _ in headings] == ["h1", *["h2"] * 6]
    assert [content for tag, content in headings if tag == "h2"] == TITLES
    allowed = {"heading", "paragraph", "bullet_list", "list_item"}
    assert {re.sub("_(open|close)$", "", t.type) for t in tokens} <= allowed | {
        "inline",
        "html_block",
    }
    html = [token.content for token in tokens if token.type == "html_block"]
    assert len(html) == 1
    assert html[0].startswith("<!-- passdown project=")
    parts = {part.type for token in tokens for part in token.children or ()}
    assert parts <= {"text", "code_inline"}
    assert len(re.findall(r"^- \[x\] ", text, re.MULTILINE)) <= 10


@settings(deadline=None, max_examples=300)
@given(projects())
def test_every_state_fits(project: Project) -> None:
    """Whatever the state, the file is short and its structure is ours alone."""
    check(render(project))


@pytest.mark.parametrize("trap", TRAPS)
def test_traps_everywhere(trap: str) -> None:
    """One trap in every field that shows changes nothing in the structure."""
    check(render(crowded(1, trap)))


@pytest.mark.parametrize("count", [0, 1, 3, 7, 8, 9, 12, 40, 200])
def test_crowded_sections(count: int) -> None:
    """However much there is of everything, it fits, and what is cut is counted."""
    project = crowded(count, "x" * 500)
    check(render(project))
    for title, total in (
        ("Open Challenger Findings (must_fix only)", count),
        ("Skill Context", count),
        ("Artifacts", count),
        ("Key Decisions", 2 * count),
    ):
        lines = section(project, title)
        if total == 0:
            assert lines == ["None"]
            continue
        found = re.fullmatch(r"- … (\d+) more: passdown show --as json", lines[-1])
        missing = int(found[1]) if found else 0
        assert len(lines) - bool(found) + missing == total
        assert missing != 1


def crowded(count: int, text: str) -> Project:
    """A project with so many of everything that a handoff shows."""
    events: list[e.Event] = [e.StepStarted("1")]
    paths = tuple(f"{n}/{text}" for n in range(count))
    events.append(e.StepCompleted("1", paths))
    events.append(e.StepSkipped("2", text))
    for n in range(count):
        named = f"{text}{n}"
        events += [
            e.DecisionMade(named, text, text, decision=f"D{2 * n}"),
            e.DecisionMade(key=named, value=text, decision=f"D{2 * n + 1}"),
            e.FindingOpened(named, finding=f"F{n}"),
            e.ContextNoted("skill", named, file=text),
            e.ContextNoted("next_step", named),
        ]
    events += [e.NextActionSet(text)]
    return opened(*events, title=text, branch=text)


def test_lists_grow_into_spare_lines() -> None:
    """A section that needs more lines gets those that the others leave."""
    findings = [e.FindingOpened(f"Finding {n}", finding=f"F{n}") for n in range(25)]
    assert len(section(opened(*findings), TITLES[2])) == 25
    lines = section(rich(), TITLES[1])
    assert len(lines) == 7


def test_head() -> None:
    """The title names the last completed step, the line below it time, tool and branch."""
    project = opened(
        e.StepStarted("1"),
        e.StepCompleted("1"),
        e.StepStarted("3_5"),
        e.StepCompleted("3_5"),
        e.DecisionMade(key="iac_tool", value="Terraform", decision="D001"),
    )
    title, _, updated, *_ = render(project).decode().split("\n")
    assert title == "# Orchard — Handoff (Step 3_5 complete)"
    assert updated == "Updated: 2026-01-01T10:05:00Z | IaC: Terraform | Branch: main"


def test_completed_steps() -> None:
    """Completed steps list their artifacts as paths; skipped ones say so."""
    project = opened(
        e.StepStarted("1"),
        e.StepCompleted("1", ("a/01-requirements.md", "odd`name.md")),
        e.StepSkipped("2"),
        e.StepSkipped("3", "not needed"),
        e.StepStarted("4"),
    )
    assert section(project, "Completed Steps") == [
        "- [x] 1 Requirements: `a/01-requirements.md`, ``odd`name.md``",
        "- [x] 2 Architecture (skipped)",
        "- [x] 3 Design (skipped: not needed)",
    ]


def test_decisions_hold() -> None:
    """Values by key come first, then the newest decisions; what was superseded is not shown."""
    project = opened(
        e.DecisionMade("Queue", "none", decision="D001"),
        e.DecisionMade("Cache", "none", decision="D002"),
        e.DecisionMade("Cache", "Redis", "load", decision="D003"),
        e.DecisionSuperseded("D002", "D003"),
        e.DecisionMade(key="region", value="northeurope", decision="D004"),
        e.DecisionMade(key="region", value="westeurope", decision="D005"),
    )
    assert section(project, "Key Decisions") == [
        "- region: westeurope",
        "- D003 Cache: Redis — load",
        "- D001 Queue: none",
    ]


def test_context_for_next_step() -> None:
    """Noted context comes first, its last words, then the next action, then the position."""
    title = "Context for Next Step"
    assert section(opened(), title) == ["Start step 1 Requirements (02-Requirements)."]
    action = e.NextActionSet("Ask for the budget")
    assert section(opened(action), title) == ["Ask for the budget."]
    notes = [e.ContextNoted("next_step", text) for text in ("One", "Two!", "1", "Four.")]
    assert section(opened(action, *notes), title) == ["Two! 1. Four."]
    assert section(opened(notes[2]), title) == ["1\\."]
    old = e.ContextNoted("next_step", "Old news", "1")
    later = [e.StepStarted("2"), e.StepStarted("3")]
    assert section(opened(old, *later[:1]), title) == ["Old news."]
    assert section(opened(old, *later), title) != ["Old news."]


@pytest.mark.parametrize(
    ("events", "words"),
    [
        (
            [e.StepStarted("2"), e.StepCheckpointed("2", "phase_2_waf")],
            "Step 2 Architecture (03-Architect) is in progress: continue after phase_2_waf.",
        ),
        (
            [e.StepStarted("2")],
            "Step 2 Architecture (03-Architect) is in progress without a checkpoint: "
            "begin it again.",
        ),
        (
            [e.StepStarted("2"), e.StepFailed("2", "No quota.", error="E001")],
            "Step 2 Architecture (03-Architect) failed: No quota. Retry or skip it.",
        ),
        (
            [e.StepStarted("2"), e.StepCompleted("2")],
            "Start or skip step 3 Design (04-Design).",
        ),
        ([e.StepSkipped(plan.key) for plan in APEX_STEPS], "Every step is complete or skipped."),
    ],
)
def test_position_in_words(events: list[e.Event], words: str) -> None:
    """Where nothing was noted, the steps say what comes next and whose it is."""
    assert section(opened(*events), "Context for Next Step") == [words]


def test_findings() -> None:
    """Only open must_fix findings show, and before them what failed."""
    project = opened(
        e.FindingOpened("Public access", finding="F001"),
        e.FindingOpened("Taste", "should_fix", finding="F002"),
        e.FindingOpened("Mended", finding="F003"),
        e.FindingResolved("F003"),
        e.StepStarted("1"),
        e.StepFailed("1", "Timeout", error="E001"),
    )
    assert section(project, TITLES[2]) == ["- Step 1 failed: Timeout", "- Public access"]


def test_artifacts_newest_step_first() -> None:
    """Each path is listed once, those of the last step first."""
    project = opened(
        e.StepStarted("1"),
        e.StepCompleted("1", ("a.md", "b.md")),
        e.StepStarted("2"),
        e.StepCheckpointed("2", "phase_1_prereqs", ("c.md", "a.md")),
    )
    assert section(project, "Artifacts") == ["- `c.md`", "- `a.md`", "- `b.md`"]
