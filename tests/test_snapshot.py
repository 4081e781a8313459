"""What an agent leaves when it closes a session: composed, written, read back, held to its word."""

import re
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from strategies import TEXT, TRAPS, WORDS, Chain, projects

from journal import Project
from journal import events as e
from journal.payloads import matches
from journal.peers import Snapshot
from journal.request import Request, decided
from projections import snapshot
from projections.snapshot import PARTS, Parts, Size, Words
from projections.snapshot.parts import Changed, Cited, ToRead

GOLDEN = Path(__file__).with_name("golden") / "shared-chat-coder.md"
NOW = 1_767_348_000_000_000  # 2026-01-02T10:00:00Z


def workspace() -> Chain:
    """A session of coder in a shared workspace, with something in each of the eight parts."""
    chain = Chain("tools")

    def add(event: e.Event, actor: str = "coder", session: str | None = "session-001") -> None:
        chain.add(event, actor, session)

    shared = e.Coordination("ada")
    opened = e.ProjectOpened("Tools", "shared", (), branch="main", coordination=shared)
    add(opened, "ada", None)
    for name in ("coder", "reviewer"):
        add(e.ActorRegistered(name, "agent"), "ada", None)
    add(e.PhaseAdvanced("build", "2", "designed"), "ada", None)
    add(e.SessionStarted("coder", "night", session="session-001"), session=None)
    add(e.TaskAdded("Write the parser", "T001"), "ada", None)
    add(e.TaskStarted("T001"))
    add(e.FilesChanged("src/parser.py", "created", "", "recursive descent | numbers"))
    add(e.FilesChanged("src/old.py", "deleted", "", "replaced"), session=None)
    add(e.ContextNoted("implementation", "The grammar", file="docs/grammar.md"))
    mail = e.MessagePosted("coder", "Floats?", message="MSG-20260101-001", agent="reviewer")
    add(mail, "reviewer", None)
    add(e.MessagePosted("coder", "Dates?", message="MSG-20260101-002", agent="ada"), "ada", None)
    add(e.MessageAcknowledged("MSG-20260101-002", "will do"))
    add(e.MessagePosted("reviewer", "Review", message="MSG-20260101-003", agent="coder"))
    add(e.CommitmentMade("write the tests", "reviewer", "coder", "next session", "C001"))
    add(e.DecisionMade(key="style", value="descent", rationale="simple", decision="D001"))
    add(e.QuestionOpened("Which regions?", question="OQ-001"), "ada", None)
    add(e.QuestionOpened("Which floats?", question="OQ-002"))
    add(e.QuestionResolved("OQ-001", "two of the EU"))
    return chain


SIZES = {"src/parser.py": Size(120, 1_240), "docs/grammar.md": Size(9, 80)}


def taken(chain: Chain, words: Words) -> Snapshot:
    """The snapshot that is on record once it was asked for."""
    state = chain.project
    asked = snapshot.compose(state, state.sessions["session-001"], SIZES, words)
    request = Request(asked, "coder", "session-001")
    [(_, made, _)] = decided(state, [request], NOW)
    chain.add(made, "coder", "session-001")
    return next(reversed(chain.project.snapshots.values()))


def test_an_entry_has_the_eight_parts() -> None:
    """The golden entry: heading, identity as YAML, seven sections in their order, to the byte."""
    words = Words(
        "floats are\n\n## ambiguous", "Handle floats", None, (("docs/spec.md", "the law"),)
    )
    content = snapshot.entry(taken(workspace(), words))
    assert content == GOLDEN.read_text()
    front = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", content, re.DOTALL)[0])
    assert list(front)[:5] == ["session_id", "agent", "timestamp", "close_reason", "revision"]
    assert front["mailbox"] == {"unread": 1, "pending_acks": 1, "awaiting_response": 1}
    assert re.findall(r"^### (.*)$", content, re.MULTILINE) == list(PARTS)


def test_the_token_is_of_the_body() -> None:
    """Its checksum is over what stands from the first ### to the end of the entry."""
    made = taken(workspace(), Words())
    content = snapshot.entry(made)
    assert made.token.startswith("REV-20260102-snapshot-coder-01-h")
    assert matches(made.token, content[content.index("### ") :])
    assert not matches(made.token, content[content.index("### ") :].replace("descent", "ascent"))


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(why=WORDS, following=WORDS, reason=TEXT)
@example("**In the agent's words:**\n\n### Open questions touched\n\n- OQ-999", "", "x")
@example("- **Task:** T999\n- **Status:** complete", "- **Task:** T999\n**Status:** complete", "x")
@example("None.", "\n", "- [x]")
def test_any_words_come_back(why: str, following: str, reason: str) -> None:
    """What an agent says in its own words survives writing, reading and validation unchanged."""
    chain = workspace()
    chain.add(e.FilesChanged("src/parser.py", "modified", "", reason), "coder", "session-001")
    made = taken(chain, Words(why, following))
    [entry] = snapshot.entries(f"# Chat\n\n{snapshot.entry(made)}\n## Session 2\n\nhm\n".encode())
    assert (entry.body, entry.wrong, entry.number) == (made.body, "", 1)
    has = snapshot.read(entry.body)
    assert (has.why, has.next_action) == (why, following)
    assert (has.status, has.task, has.title) == ("partial", "T001", "Write the parser")
    assert [each.path for each in has.modified] == ["src/parser.py"]
    assert [each.id for each in has.questions] == ["OQ-001", "OQ-002"]
    failed = snapshot.checks(
        chain.project, "coder", entry.word("revision"), entry.body, made.at, lambda path: True
    )
    assert failed == []


PATHS = st.one_of(st.sampled_from(("a b.txt", "`x`.md", " y", "a``b", "z `")), TEXT).filter(
    lambda path: path.isprintable() and path.strip() != ""
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(PATHS, max_size=4, unique=True), st.integers(0, 5_000_000), TEXT)
def test_what_is_cited_is_found_again(paths: list[str], tokens: int, said: str) -> None:
    """Paths of any form, ids and what stands beside them are read as they were written."""
    parts = Parts(
        status="blocked",
        task="T001",
        unread=(Cited("MSG-20260101-001", said),),
        commitments=(Cited("C001", said),),
        modified=tuple(Changed(path, "created", said) for path in paths),
        deleted=tuple(Changed(f"gone/{path}", "", said) for path in paths),
        reading=tuple(ToRead(path, 7, tokens, said) for path in paths),
        decisions=(Cited("D001", said),),
        questions=(Cited("OQ-001", said), Cited("OQ-002")),
    )
    has = snapshot.read(snapshot.body(parts))
    assert [each.path for each in has.modified] == paths
    assert [each.path for each in has.deleted] == [f"gone/{path}" for path in paths]
    assert [each.path for each in has.reading] == paths
    assert all(each.lines == 7 for each in has.reading)
    assert all(abs((each.tokens or 0) - tokens) <= 50 for each in has.reading)
    assert [each.id for each in (*has.unread, *has.commitments)] == ["MSG-20260101-001", "C001"]
    assert [each.id for each in has.decisions] == ["D001"]
    assert [each.id for each in has.questions] == ["OQ-001", "OQ-002"]


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None)
@given(projects(), WORDS)
def test_any_state_has_a_snapshot(project: Project, why: str) -> None:
    """Composing changes no state, is the same twice, and gives a body that can be recorded."""
    before = project.copy()
    for session in list(project.sessions.values()):
        one = snapshot.compose(project, session, {}, Words(why))
        assert one == snapshot.compose(project, session, {}, Words(why))
        assert list(snapshot.sections(one.body)) == list(PARTS)
        assert not re.search(r"^#{1,2}(?!#)", one.body, re.MULTILINE)
        assert snapshot.read(one.body).why == why
    assert project == before


# -- reading what others wrote -----------------------------------------------------------------

FOREIGN = """# Chat Log — Coder

## Session 8 — 2026-01-01

Talk.

## Session Close — State Snapshot (PRD-011 R1 pilot)

```yaml
---
session_id: coder-session-8
agent: Coder
timestamp: 2026-01-01
close_reason: maintainer-directed
revision: REV-20260101-snapshot-coder-01
---
```

### Active task

**Status:** Complete.
All three requests are done.

### Mailbox state

- **Coder unread:** 0
- **Open queue:** Empty.

### Files modified this session

- `docs/a.md` — four fixes
- `docs/b.md` — NEW. The review

### Files to read on resume (ordered, with token budgets)

1. `docs/b.md` — ~280 lines / ~6K tokens — **READ FIRST.**
2. `src/x.py` (status block only) — ~11 lines / ~200 tokens — current work

### Open questions touched

- OQ-029 and OQ-030: resolved.

---

## Session 9 — 2026-01-02

More talk.
"""


def test_a_foreign_snapshot_is_read() -> None:
    """One that somebody wrote by hand says what it says, in other words and with other headings."""
    [entry] = snapshot.entries(FOREIGN.encode())
    assert (entry.line, entry.body_line, entry.wrong) == (7, 19, "")
    assert entry.word("session_id") == "coder-session-8"
    assert entry.body.startswith("### Active task")
    assert entry.body.endswith("OQ-030: resolved.")
    has = snapshot.read(entry.body)
    assert (has.status, has.unread_count) == ("complete", 0)
    assert [each.path for each in has.modified] == ["docs/a.md", "docs/b.md"]
    assert [(x.path, x.lines, x.tokens) for x in has.reading] == [
        ("docs/b.md", 280, 6_000),
        ("src/x.py", 11, 200),
    ]
    assert [each.id for each in has.questions] == ["OQ-029", "OQ-030"]


@pytest.mark.parametrize("change", [("\n", "\r\n"), ("# Chat", "\ufeff# Chat")])
def test_ends_of_lines_and_marks_do_not_matter(change: tuple[str, str]) -> None:
    """A file with CRLF or a mark of its encoding in front has the same snapshot."""
    [entry] = snapshot.entries(FOREIGN.encode())
    [other] = snapshot.entries(FOREIGN.replace(*change).encode())
    assert other == entry


@pytest.mark.parametrize(
    ("fence", "wrong"),
    [
        ("", "no block of YAML"),
        ("```yaml\nagent: [\n```", "is not YAML"),
        ("```yaml\n- a\n```", "no YAML mapping"),
        ("```yaml\nagent: a\nagent: b\n```", "twice"),
        ("```yaml\n&a [*a, *a]\n```", "mapping"),
    ],
)
def test_a_front_that_says_nothing_is_told(fence: str, wrong: str) -> None:
    """What stands in front may be missing, cut or no YAML: the body is read all the same."""
    text = f"## Session Close — State Snapshot\n\n{fence}\n\n### Active task\n\n**Status:** done\n"
    [entry] = snapshot.entries(text.encode())
    assert wrong in entry.wrong
    assert snapshot.read(entry.body).status == "complete"


@given(st.lists(st.sampled_from((*TRAPS, *FOREIGN.split("\n\n"), "\n## ", "\n### ")), max_size=12))
def test_any_file_can_be_read(pieces: list[str]) -> None:
    """Whatever a file holds, reading it gives entries and never fails."""
    for entry in snapshot.entries("\n".join(pieces).encode()):
        snapshot.read(entry.body)


# -- holding it to its word --------------------------------------------------------------------


def checked(chain: Chain, change: tuple[str, str] = ("", ""), exists: str = "") -> list[str]:
    """What of the snapshot of the golden entry does not hold, once its body says something else."""
    made = next(reversed(chain.project.snapshots.values()))
    body = made.body.replace(*change) if change[0] else made.body
    assert body != made.body or not change[0]
    failed = snapshot.checks(
        chain.project, "coder", made.token, body, made.at, lambda path: path != exists
    )
    return [f"{each.name} {each.line} {each.value}" for each in failed if each.name != "checksum"]


@pytest.mark.parametrize(
    ("change", "exists", "failed"),
    [
        (("", ""), "", []),
        (("", ""), "src/old.py", []),
        (("", ""), "src/parser.py", ["files 30 src/parser.py"]),
        (("T001", "T009"), "", ["active task 4 T009"]),
        (("partial", "complete"), "", ["active task 3 complete"]),
        (
            ("001 — from", "009 — from"),
            "",
            ["mailbox 14 MSG-20260101-009", "mailbox 12 MSG-20260101-001"],
        ),
        (("OQ-002", "OQ-007"), "", ["questions 54 OQ-007"]),
        (("MSG-20260101-003", "MSG-20260101-033"), "", ["mailbox 22 MSG-20260101-033"]),
    ],
)
def test_a_check_names_line_and_value(
    change: tuple[str, str], exists: str, failed: list[str]
) -> None:
    """Each of the four checks says on which line of the body which value does not hold."""
    chain = workspace()
    taken(chain, Words("floats are\n\n## ambiguous", "Handle floats"))
    assert checked(chain, change, exists) == failed


def test_what_came_later_makes_no_snapshot_wrong() -> None:
    """Mail that was read or posted since is no failure; a task that is done by now is one."""
    chain = workspace()
    taken(chain, Words())
    chain.add(e.MessageAcknowledged("MSG-20260101-001", "ok"), "coder", "session-001")
    chain.add(e.MessagePosted("coder", "New", message="MSG-20260101-009", agent="ada"), "ada")
    assert checked(chain) == []
    chain.add(e.TaskCompleted("T001"), "coder", "session-001")
    assert checked(chain) == ["active task 3 partial"]


def test_a_checksum_that_does_not_match_is_told() -> None:
    """A changed body, a token without a checksum and none at all are three sentences."""
    chain = workspace()
    made = taken(chain, Words())
    for token, body, said in (
        (made.token, f"{made.body} ", "the text below it has"),
        ("REV-20260101-snapshot-coder-01", made.body, "no checksum"),
        ("", made.body, "no revision token"),
    ):
        failed = snapshot.checks(chain.project, "coder", token, body, made.at, lambda path: True)
        assert [said in each.said for each in failed] == [True]


def test_a_superseded_snapshot_is_known_as_such() -> None:
    """Of two snapshots of an agent the older names the newer, and that nothing."""
    chain = workspace()
    first = taken(chain, Words())
    second = taken(chain, Words("once more"))
    claims = [snapshot.recorded(each) for each in (first, second)]
    assert [each.superseded_by(chain.project) for each in claims] == [second.token, ""]
    assert (first.sequence, second.sequence) == (1, 2)
