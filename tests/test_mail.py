"""Mail between agents: who may do what about it, how long it may wait, and what is promised."""

import pytest
from mailing import Workspace, payload, workspace

from journal import events as e
from journal.errors import Invalid, NotFound, PassdownError, Rejected
from journal.payloads import MOST_BYTES, MOST_LINES, checksum, parts, token
from journal.peers import Message

ID = "MSG-20260101-001"

# -- the state machine -----------------------------------------------------------------------

ACTORS = {
    "sender": "coder",
    "receiver": "reviewer",
    "maintainer": "ada",
    "other": "helper",
    "observer": "watcher",
}
ACTIONS: dict[str, e.Event] = {
    "acknowledge": e.MessageAcknowledged(ID, "why"),
    "block": e.MessageBlocked(ID, "why"),
    "resume": e.MessageResumed(ID, "why"),
    "action": e.MessageActioned(ID, "why"),
    "defer": e.MessageDeferred(ID, "why"),
    "resolved": e.MessageClosed(ID, "why"),
    "superseded": e.MessageClosed(ID, "why", "superseded"),
    "withdrawn": e.MessageClosed(ID, "why", "withdrawn"),
    "abandoned": e.MessageClosed(ID, "why", "abandoned"),
}
#: What a message comes to by each action of each actor: another status, `noted` where it keeps its
#: own, `same` where nothing is recorded, since it is so; `-` is refused.
TABLE = """
unread        sender  receiver      maintainer  other  observer
acknowledge   -       acknowledged  -           -      -
block         -       -             -           -      -
resume        -       -             -           -      -
action        -       actioned      -           -      -
defer         -       -             noted       -      -
resolved      closed  -             closed      -      -
superseded    closed  -             closed      -      -
withdrawn     closed  -             -           -      -
abandoned     -       -             closed      -      -

acknowledged  sender  receiver      maintainer  other  observer
acknowledge   -       same          -           -      -
block         -       blocked       -           -      -
resume        -       same          -           -      -
action        -       actioned      -           -      -
defer         -       -             noted       -      -
resolved      closed  -             closed      -      -
superseded    closed  -             closed      -      -
withdrawn     closed  -             -           -      -
abandoned     -       -             closed      -      -

blocked       sender  receiver      maintainer  other  observer
acknowledge   -       -             -           -      -
block         -       same          -           -      -
resume        -       acknowledged  -           -      -
action        -       actioned      -           -      -
defer         -       -             noted       -      -
resolved      closed  -             closed      -      -
superseded    closed  -             closed      -      -
withdrawn     closed  -             -           -      -
abandoned     -       -             closed      -      -

actioned      sender  receiver      maintainer  other  observer
acknowledge   -       -             -           -      -
block         -       -             -           -      -
resume        -       -             -           -      -
action        -       same          -           -      -
defer         -       -             noted       -      -
resolved      closed  -             closed      -      -
superseded    closed  -             closed      -      -
withdrawn     closed  -             -           -      -
abandoned     -       -             closed      -      -

closed        sender  receiver      maintainer  other  observer
acknowledge   -       -             -           -      -
block         -       -             -           -      -
resume        -       -             -           -      -
action        -       -             -           -      -
defer         -       -             -           -      -
resolved      same    -             same        -      -
superseded    same    -             same        -      -
withdrawn     same    -             same        -      -
abandoned     same    -             same        -      -
"""
CASES = [
    (status, actor, action, outcome)
    for block in TABLE.strip().split("\n\n")
    for (status, *actors), *rows in [[line.split() for line in block.splitlines()]]
    for action, *outcomes in rows
    for actor, outcome in zip(actors, outcomes, strict=True)
]
#: How a message comes to each status.
REACHED: dict[str, tuple[tuple[str, str], ...]] = {
    "unread": (),
    "acknowledged": (("receiver", "acknowledge"),),
    "blocked": (("receiver", "acknowledge"), ("receiver", "block")),
    "actioned": (("receiver", "action"),),
    "closed": (("sender", "resolved"),),
}


def posted(to: str = "reviewer", sender: str = "coder", **about: object) -> Workspace:
    """A workspace in which one message was posted; helper is an agent that it is no matter of."""
    shared = workspace().add(e.ActorRegistered("helper", "agent"), "ada")
    event = e.MessagePosted(to, "Review", **about)  # type: ignore[arg-type]
    return shared.add(event, sender)


def message(shared: Workspace) -> Message:
    """The message that was posted."""
    return shared.project.messages[ID]


def test_the_table_is_whole() -> None:
    """Every status, every actor and every action are in it once."""
    expected = {(s, a, x) for s in REACHED for a in ACTORS for x in ACTIONS}
    assert len(CASES) == len(expected)
    assert {case[:3] for case in CASES} == expected


@pytest.mark.parametrize(("status", "actor", "action", "outcome"), CASES)
def test_every_transition(status: str, actor: str, action: str, outcome: str) -> None:
    """Each has one outcome, on record with who did it and why; a refusal changes nothing."""
    shared = posted()
    for who, what in REACHED[status]:
        shared.add(ACTIONS[what], ACTORS[who])
    before, version = message(shared), shared.project.version
    assert before.status == status
    if outcome == "-":
        with pytest.raises(Rejected) as no:
            shared.add(ACTIONS[action], ACTORS[actor])
        assert no.value.state
        assert shared.project.version == version
        return
    shared.add(ACTIONS[action], ACTORS[actor])
    now = message(shared)
    assert now.status == (status if outcome in ("noted", "same") else outcome)
    if outcome == "same":
        assert (now, shared.project.version) == (before, version)
    else:
        assert now.acks[:-1] == before.acks
        assert (now.acks[-1].by, now.acks[-1].reason) == (ACTORS[actor], "why")


@pytest.mark.parametrize("action", ACTIONS)
def test_nobody_acts_on_mail_unnamed(action: str) -> None:
    """Without an actor there is no answer to who did it, and nothing is done."""
    with pytest.raises(Invalid, match="say so with --actor"):
        posted().add(ACTIONS[action])


def test_the_maintainer_may_be_a_part_of_it() -> None:
    """Of mail to or from the maintainer that one does both what is its part and its office."""
    shared = posted("ada")
    shared.add(ACTIONS["acknowledge"], "ada").add(ACTIONS["abandoned"], "ada")
    assert [ack.what for ack in message(shared).acks] == ["acknowledged", "closed"]
    shared = posted("coder", "ada").add(ACTIONS["withdrawn"], "ada")
    assert message(shared).acks[-1].disposition == "withdrawn"


def test_what_is_put_off_stays_open() -> None:
    """It can be put off again and again, and acted on at last."""
    shared = posted().add(ACTIONS["defer"], "ada").add(ACTIONS["defer"], "ada")
    shared.add(ACTIONS["action"], "reviewer")
    assert [ack.what for ack in message(shared).acks] == ["deferred", "deferred", "actioned"]


# -- how long it may wait --------------------------------------------------------------------


def escalated(shared: Workspace) -> list[tuple[str, str]]:
    """What was escalated: which message, and why."""
    return [(each.message, each.reason) for each in shared.project.escalations.values()]


def session(shared: Workspace, agent: str, *during: tuple[e.Event, str]) -> Workspace:
    """A session of an agent, from its beginning to its end."""
    number = len(shared.project.sessions) + 1
    shared.add(e.SessionStarted(agent=agent), agent)
    for event, actor in during:
        shared.add(event, actor)
    return shared.add(e.SessionEnded(f"session-{number:03}"), agent)


ACKNOWLEDGED = (ACTIONS["acknowledge"], "reviewer")


@pytest.mark.parametrize(
    ("about", "sessions", "why"),
    [
        ({"priority": "P0"}, 0, ""),
        ({"priority": "P0"}, 1, "reviewer did not acknowledge it within its next turn (P0)"),
        ({"priority": "P1"}, 0, ""),
        ({"priority": "P1"}, 1, "reviewer did not acknowledge it within its next session (P1)"),
        ({"priority": "P2"}, 3, ""),
        (
            {"priority": "P2", "due": "next session"},
            1,
            "reviewer did not acknowledge it within its next session (P2)",
        ),
        ({"priority": "P2", "due": "none"}, 3, ""),
        ({"priority": "P0", "kind": "notify"}, 3, ""),
        ({"priority": "P1", "kind": "notify"}, 3, ""),
    ],
)
def test_windows_are_counted_in_sessions(about: dict[str, str], sessions: int, why: str) -> None:
    """In those of the receiver, however much time goes by and whoever else has some."""
    shared = posted(**about)
    shared.at += 10**12
    for _ in range(3):
        session(shared, "coder")
    assert escalated(shared) == []
    for _ in range(sessions):
        session(shared, "reviewer")
    assert escalated(shared) == ([(ID, why)] if why else [])


def test_a_turn_that_had_begun_counts_only_for_the_urgent() -> None:
    """P0 mail waits for the end of the turn it came in, P1 mail for a session that begins later."""
    for priority, count in (("P0", 1), ("P1", 0)):
        shared = workspace().add(e.SessionStarted(agent="reviewer"), "reviewer")
        event = e.MessagePosted("reviewer", "Review", priority=priority)  # type: ignore[arg-type]
        shared.add(event, "coder").add(e.SessionEnded("session-001"), "reviewer")
        assert len(escalated(shared)) == count, priority


@pytest.mark.parametrize("priority", ["P0", "P1"])
@pytest.mark.parametrize(
    "during",
    [
        (ACKNOWLEDGED,),
        (ACKNOWLEDGED, (ACTIONS["block"], "reviewer")),
        ((ACTIONS["action"], "reviewer"),),
        ((ACTIONS["defer"], "ada"),),
        ((ACTIONS["resolved"], "coder"),),
    ],
)
def test_what_was_seen_to_is_not_late(
    priority: str, during: tuple[tuple[e.Event, str], ...]
) -> None:
    """What is acknowledged, blocked, done, put off or closed never waits too long after that."""
    shared = posted(priority=priority)
    session(shared, "reviewer", *during)
    for _ in range(3):
        session(shared, "reviewer")
    assert escalated(shared) == []


def test_a_time_that_passed_is_late() -> None:
    """By the clock, where the message names a time; found when anybody's session begins or ends."""
    shared = posted(priority="P2", due="2026-01-01T12:00:00Z")
    session(shared, "coder")
    assert escalated(shared) == []
    shared.at += 3 * 3600 * 10**6
    shared.add(e.SessionStarted(agent="coder"), "coder")
    assert escalated(shared) == [(ID, "reviewer did not acknowledge it by 2026-01-01T12:00:00Z")]


def test_late_mail_is_escalated_once() -> None:
    """One escalation, which the worklog can show, and one urgent notice to the maintainer."""
    shared = posted(priority="P0")
    for _ in range(4):
        session(shared, "reviewer")
        session(shared, "coder")
    [escalation] = shared.project.escalations.values()
    assert (escalation.id, escalation.subject, escalation.message) == ("ESC-001", "Review", ID)
    assert message(shared).escalated == "ESC-001"
    [notice] = [each for each in shared.project.messages.values() if each.to == "ada"]
    assert (notice.sender, notice.kind, notice.priority) == ("coder", "notify", "P0")
    assert (notice.subject, notice.related) == (f"Stale: {ID} Review", (ID,))
    assert notice.body == escalation.reason
    shared.add(e.EscalationAnswered("ESC-001", "asked again"), "ada")
    session(shared, "reviewer")
    assert len(escalated(shared)) == 1


@pytest.mark.parametrize(("sender", "to"), [("ada", "coder"), ("coder", "ada")])
def test_the_maintainer_needs_no_mail_about_own_mail(sender: str, to: str) -> None:
    """Mail from or to the maintainer is escalated, and nobody writes to the maintainer about it."""
    shared = posted(to, sender, priority="P0")
    session(shared, to)
    assert [each for each, _ in escalated(shared)] == [ID]
    assert len(shared.project.messages) == 1


def test_several_are_late_at_once() -> None:
    """Each has an escalation and a notice of its own, with ids of their own."""
    shared = posted(priority="P0").add(e.MessagePosted("reviewer", "Again", priority="P0"), "coder")
    session(shared, "reviewer")
    assert [each for each, _ in escalated(shared)] == [ID, "MSG-20260101-002"]
    assert [*shared.project.escalations] == ["ESC-001", "ESC-002"]
    assert [*shared.project.messages][2:] == ["MSG-20260101-003", "MSG-20260101-004"]


# -- payloads --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("x" * MOST_BYTES, True),
        ("x" * (MOST_BYTES + 1), False),
        ("é" * (MOST_BYTES // 2), True),
        ("é" * (MOST_BYTES // 2) + "x", False),
        ("x\n" * MOST_LINES, True),
        ("x\n" * MOST_LINES + "x", False),
    ],
)
def test_a_payload_has_its_limits(text: str, fits: bool) -> None:
    """16 KiB and 300 lines are the most, in bytes and whatever blank lines end it."""
    if fits:
        assert message(posted(payload=payload(text))).payload == payload(text)
    else:
        with pytest.raises(Invalid, match=r"at most 16 KiB and 300 lines.*post it in parts"):
            posted(payload=payload(text))


@pytest.mark.parametrize("text", ["one\ntwo", "one\r\ntwo\r\n", "one\rtwo\n\n\n"])
def test_a_checksum_is_of_the_words(text: str) -> None:
    """Line ends and blank lines at the end are no part of them; anything else is."""
    assert checksum(text) == checksum("one\ntwo")
    for other in ("one\n two", "one\ntwo ", "\none\ntwo", "onetwo"):
        assert checksum(other) != checksum(text)


@pytest.mark.parametrize("end", ["h00000000", "h00000000-p1of2"])
def test_a_payload_of_another_token_is_malformed(end: str) -> None:
    """The checksum in its token must be that of the text."""
    given = f"REV-20260101-parser-01-{end}"
    with pytest.raises(Invalid, match="the payload is malformed: its checksum is h2d711642"):
        posted(payload=e.Payload("x", given))


@pytest.mark.parametrize("part", ["p0of3", "p4of3", "p1of0"])
def test_a_part_is_one_of_those_there_are(part: str) -> None:
    """A part beyond the last, or before the first, is none."""
    with pytest.raises(Invalid, match="names no part"):
        posted(payload=e.Payload("x", f"{token('2026-01-01', 'a', 1, 'x')}-{part}"))


def test_parts_are_the_whole_in_order() -> None:
    """Put together they are the text again, and each of them fits."""
    text = "\n".join(f"line {n} " + "é" * (n % 200) for n in range(2_000))
    made = list(parts(text))
    assert "\n".join(made) == text
    assert all(len(part.encode()) <= MOST_BYTES for part in made)
    assert all(part.count("\n") < MOST_LINES for part in made)


@pytest.mark.parametrize("action", [e.MessageAcknowledged, e.MessageActioned])
def test_who_answers_names_the_token_of_what_was_read(
    action: type[e.MessageAcknowledged] | type[e.MessageActioned],
) -> None:
    """The same token to the letter; any other, and any where there is no payload, is refused."""
    asked = payload("x")
    shared = posted(payload=asked)
    for other in (asked.token[:-1] + "0", asked.token.upper(), f"{asked.token}-p1of1"):
        with pytest.raises(Rejected, match="its payload has"):
            shared.add(action(ID, "read", other), "reviewer")
    shared.add(action(ID, "read", asked.token), "reviewer")
    assert message(shared).acks[-1].token == asked.token
    with pytest.raises(Rejected, match="its payload has none"):
        posted().add(action(ID, "read", asked.token), "reviewer")


# -- promises and questions ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("done", "again", "outcome"),
    [
        (e.CommitmentFulfilled("C001"), e.CommitmentFulfilled("C001"), "fulfilled"),
        (e.CommitmentDropped("C001"), e.CommitmentDropped("C001"), "dropped"),
        (e.CommitmentFulfilled("C001"), e.CommitmentDropped("C001"), None),
        (e.CommitmentDropped("C001"), e.CommitmentFulfilled("C001"), None),
    ],
)
def test_a_promise_is_kept_or_dropped(done: e.Event, again: e.Event, outcome: str | None) -> None:
    """Once, by whoever gave it or the maintainer; said again it is already so, unsaid it is not."""
    shared = workspace().add(e.CommitmentMade("tests", "reviewer"), "coder")
    with pytest.raises(Rejected, match="coder's to do"):
        shared.add(done, "reviewer")
    version = shared.add(done, "coder").project.version
    if outcome is None:
        with pytest.raises(Rejected, match="it is"):
            shared.add(again, "ada")
    else:
        assert shared.add(again, "ada").project.commitments["C001"].status == outcome
    assert shared.project.version == version


def test_a_promise_is_to_somebody_who_is_there() -> None:
    """Or to all; never to a name that nobody has, nor by a time that is none."""
    shared = workspace()
    with pytest.raises(NotFound):
        shared.add(e.CommitmentMade("tests", "nobody"), "coder")
    with pytest.raises(Invalid):
        shared.add(e.CommitmentMade("tests", due="soon"), "coder")
    assert shared.add(e.CommitmentMade("tests"), "coder").project.commitments["C001"].to == ""


QUESTION = {
    "defer": e.QuestionDeferred("OQ-001", "not yet"),
    "defer again": e.QuestionDeferred("OQ-001", "later still"),
    "resolve": e.QuestionResolved("OQ-001", "yes"),
    "resolve otherwise": e.QuestionResolved("OQ-001", "no"),
}


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ("", ("open", "")),
        ("defer", ("deferred", "not yet")),
        ("defer, defer", ("deferred", "not yet")),
        ("defer, defer again", ("deferred", "later still")),
        ("resolve", ("resolved", "yes")),
        ("defer, resolve", ("resolved", "yes")),
        ("resolve, resolve", ("resolved", "yes")),
        ("resolve, resolve otherwise", None),
        ("resolve, defer", None),
    ],
)
def test_a_question_is_answered_once(script: str, outcome: tuple[str, str] | None) -> None:
    """It can wait, and be put off anew; what was answered is neither open again nor otherwise."""
    shared = workspace().add(e.QuestionOpened("Which?", "review"), "coder")
    assert [*shared.project.questions] == ["OQ-001"]
    refused: PassdownError | None = None
    for word in filter(None, script.split(", ")):
        try:
            shared.add(QUESTION[word], "reviewer")
        except Rejected as no:
            refused = no
    known = shared.project.questions["OQ-001"]
    assert (refused is None) == (outcome is not None)
    assert (known.status, known.resolution) == (outcome or ("resolved", "yes"))
