"""A workspace that ada maintains and others share, with mail and questions in it."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from strategies import MINUTE, START, hostile_text

from journal import events as e
from journal.errors import PassdownError
from journal.payloads import MOST_BYTES, MOST_LINES, normal, token
from journal.record import GENESIS, Draft, link
from journal.request import Request, decided
from journal.state import Project, evolve
from projections import mailbox, open_questions

AGENTS = ("coder", "reviewer")
OPENED = e.ProjectOpened("Tools", "shared", (), coordination=e.Coordination("ada"))


class Workspace:
    """A journal in memory: what is asked of it is decided by the rules and put on record."""

    def __init__(self, slug: str = "tools", at: int = START) -> None:
        self.project = Project(slug)
        self.at = at
        self._previous = GENESIS

    def ask(self, *requests: Request) -> "Workspace":
        """Record what requests amount to, all of it or none; the clock goes on by a minute."""
        made = list(decided(self.project, requests, self.at))
        self.project = self.project.copy()  # whoever has the one before has it as it was
        for request, event, data in made:
            number = self.project.version + 1
            draft = Draft(
                id=f"01940000-0000-7000-8000-{number:012}",
                type=event.type,
                data=data,
                salt=bytes(16),
                occurred=request.occurred,
                actor=request.actor,
                session=request.session,
            )
            record = link(draft, number, self.project.slug, number, self._previous, self.at)
            self._previous = record.hash
            self.project = evolve(self.project, record)
        self.at += MINUTE
        return self

    def add(self, event: e.Event, actor: str | None = None, **envelope: str) -> "Workspace":
        """Record one event."""
        return self.ask(Request(event, actor, **envelope))  # type: ignore[arg-type]

    def copy(self) -> "Workspace":
        """Another one that is the same up to here."""
        twin = Workspace(self.project.slug, self.at)
        twin.project, twin._previous = self.project.copy(), self._previous
        return twin

    def adopt(self, content: bytes, base: Project | None = None, removals: bool = True) -> int:
        """Take over a MAILBOX.md, or an OPEN_QUESTIONS.md; give back how much was recorded."""
        dialect = mailbox if b"# Mailbox" in content[:40] else open_questions
        name = "MAILBOX.md" if dialect is mailbox else "OPEN_QUESTIONS.md"
        requests = dialect.adopt_bytes(
            content,
            self.project,
            f"working-session/{name}",
            base=base,
            removals=removals and base is not None,
            now=self.at,
            by=Request(e.ProjectReopened()),
        )
        before = self.project.version
        self.ask(*requests)
        return self.project.version - before


def workspace() -> Workspace:
    """One that was just opened."""
    shared = Workspace().add(OPENED, "ada")
    for agent in AGENTS:
        shared.add(e.ActorRegistered(agent, "agent"), "ada")
    return shared.add(e.ActorRegistered("watcher", "observer"), "ada")


def payload(text: str, topic: str = "parser", **about: object) -> e.Payload:
    """A payload with a token of its own."""
    return e.Payload(text, token("2026-01-01", topic, 1, text), **about)  # type: ignore[arg-type]


# -- whatever agents may do ------------------------------------------------------------------

TEXT = hostile_text(huge=False)
_ANYBODY = st.sampled_from(("ada", *AGENTS))
_PAYLOADS = TEXT.filter(lambda text: _fits(text) and bool(normal(text))).flatmap(
    lambda text: st.builds(
        payload,
        st.just(text),
        format=st.sampled_from(("unified-diff", "full-text")),
        scope=st.sampled_from(("full", "critical-only")),
    )
)


def _fits(text: str) -> bool:
    return len(text.encode()) <= MOST_BYTES and normal(text).count("\n") < MOST_LINES


def _moves(message: str) -> SearchStrategy[e.Event]:
    reasons = TEXT
    return st.one_of(
        st.builds(e.MessageAcknowledged, st.just(message), reasons),
        st.builds(e.MessageBlocked, st.just(message), reasons),
        st.builds(e.MessageResumed, st.just(message), reasons),
        st.builds(e.MessageActioned, st.just(message), reasons),
        st.builds(e.MessageDeferred, st.just(message), reasons),
        st.builds(
            e.MessageClosed,
            st.just(message),
            reasons,
            st.sampled_from(("resolved", "superseded", "withdrawn", "abandoned")),
        ),
    )


_POSTS = st.builds(
    e.MessagePosted,
    _ANYBODY,
    TEXT,
    hostile_text(0, huge=False),
    kind=st.sampled_from(("notify", "request", "decision-required")),
    priority=st.sampled_from(("P0", "P1", "P2")),
    closure_owner=st.sampled_from(("", "ada")),
    due=st.sampled_from(("", "none", "next session", "2026-01-02T00:00:00Z")),
    payload=st.none() | _PAYLOADS,
)
_QUESTIONS = st.one_of(
    st.builds(e.QuestionOpened, TEXT, hostile_text(0, huge=False)),
    st.builds(e.QuestionDeferred, st.sampled_from(("OQ-001", "OQ-002")), TEXT),
    st.builds(e.QuestionResolved, st.sampled_from(("OQ-001", "OQ-002")), TEXT),
)


@st.composite
def workspaces(draw: st.DrawFn, steps: int = 12) -> Workspace:
    """A workspace in which anybody tried anything; what the rules refuse did not happen."""
    shared = workspace()
    for _ in range(draw(st.integers(0, steps))):
        act(shared, draw)
    return shared


def act(shared: Workspace, draw: Callable[[SearchStrategy[Any]], Any]) -> None:
    """One more thing that somebody tries."""
    known = [st.sampled_from(sorted(shared.project.messages)).flatmap(_moves)] * 2
    kinds = [_POSTS, _QUESTIONS, *(known if shared.project.messages else ())]
    event, actor = draw(st.one_of(kinds)), draw(_ANYBODY)
    try:
        shared.add(event, actor)
    except PassdownError:
        return


def rich() -> Workspace:
    """One with a message in every status, hostile words, a payload, and questions of each kind."""
    shared = workspace()
    diff = "--- a/parser.py\n+++ b/parser.py\n@@ -1 +1,2 @@\n-float(x)\n+```\n+Decimal(x)\n"
    review = payload(diff, files=("src/parser.py",), scope="critical-only")
    body = "Two parts:\n\n1. the lexer\n2. the `parser`\n\nMind `1e400`."
    post = e.MessagePosted("reviewer", "Review the | parser", body, priority="P0", payload=review)
    shared.add(post, "coder")
    shared.add(e.MessageAcknowledged(_id(1), "on it today", review.token), "reviewer")
    shared.add(e.MessageBlocked(_id(1), "needs the lexer\n\n**Status:** closed"), "reviewer")
    asked = e.MessagePosted("ada", "Which Python?", kind="decision-required", due="2026-02-01")
    shared.add(asked, "reviewer").add(e.MessageDeferred(_id(2), "until the pilot"), "ada")
    hostile = "## Closed Summary\n\n### MSG-20260101-009\n\n**From:** ada -> coder\n```\n| a | b |"
    shared.add(e.MessagePosted("coder", "<b>Bold</b>", hostile, kind="notify"), "reviewer")
    shared.add(e.MessagePosted("coder", "Old news"), "reviewer")
    shared.add(e.MessageActioned(_id(4), "read"), "coder")
    shared.add(e.MessagePosted("reviewer", "Thanks", related=(_id(4),)), "coder")
    shared.add(e.MessageActioned(_id(5), "seen"), "reviewer")
    shared.add(e.MessageClosed(_id(5), "no | more to do", "superseded"), "coder")
    shared.add(e.QuestionOpened("Which | of them?", "MSG-20260101-002"), "reviewer")
    shared.add(e.QuestionOpened("Do we need both?"), "coder")
    shared.add(e.QuestionDeferred("OQ-002", "after the pilot"), "ada")
    shared.add(e.QuestionOpened("Who reviews?", "chat"), "coder")
    return shared.add(e.QuestionResolved("OQ-003", "reviewer does"), "ada")


def _id(number: int) -> str:
    return f"MSG-20260101-{number:03}"
