"""MAILBOX.md by its parts, as a state has them.

The inbox and the queue follow from the messages, which come newest first. A message that is closed
has a row in the summary and no card, though the place of one, under `<id> closed`: a file that was
adopted may have left it there, word for word. Handwriting in the card of a message goes with it.
"""

from collections.abc import Iterator, Mapping

from journal.clock import day
from journal.entities import Project
from journal.errors import PassdownError
from journal.peers import Message
from journal.rules.names import known_actor
from projections import groups, narrative
from projections.leftovers import Object
from projections.mailbox.card import card, when
from projections.markdown import inline
from projections.prose import line
from projections.rows import cells, column, head, row

NAME = "mailbox"

TITLE, ABOUT, INBOX, QUEUE, ACTIVE, CLOSED = (
    "title",
    "about",
    "inbox",
    "queue",
    "active",
    "closed",
)
HEADINGS = {
    INBOX: "Inbox Snapshot",
    QUEUE: "Open Queue (Newest First)",
    ACTIVE: "Active Messages (Newest First)",
    CLOSED: "Closed Summary",
}
COLUMNS = {
    INBOX: ("Agent", "Unread", "Oldest unread", "Needs response by"),
    QUEUE: ("ID", "From -> To", "Priority", "Subject"),
    CLOSED: ("ID", "Date", "From -> To", "Final status", "Outcome"),
}
_QUICK_REPLY = """
## Quick Reply

1. Find the message in **Active Messages**.
2. Set its `Status` to `acknowledged`, `blocked`, `actioned` or `closed`.
3. Add below it `**Ack:** NAME — YYYY-MM-DD — STATUS. WHY`, with your name and the new status.

A new message is a card like the others, with `From`, `Subject` and `Status` unread.
"""
#: When an answer is needed where the message does not say so.
_WINDOWS = {"P0": "next turn", "P1": "next session", "P2": "none"}
#: So much of what came of a message is shown.
_OUTCOME = 1000


class Names:
    """What the actors of a project are called in its files: by their titles, where they have any
    that can mean nobody else."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[str, str] = {}

    def __getitem__(self, actor: str) -> str:
        if actor not in self._known:
            self._known[actor] = line(self._of(actor))
        return self._known[actor]

    def _of(self, actor: str) -> str:
        known = self._project.actors.get(actor)
        if known is None or not known.title or " -> " in known.title:
            return actor
        try:
            return known.title if known_actor(self._project, known.title) == actor else actor
        except PassdownError:
            return actor


def key(id: str) -> str:
    """The id of a message as the beginning of the names of its parts."""
    return id.replace(" ", "\u00a0")


def own(project: Project, summary: str = "") -> Object:
    """The file that a state has alone; its summary has the columns of an adopted file, or of the
    head that is given."""
    for left in project.leftovers.get(NAME, ()):
        if left.path == ("parts", f"{CLOSED} head") and left.file and not summary:
            summary = str(left.file[0])
    return narrative.own(dict(_parts(project, _columns(summary))))


def _columns(words: str) -> tuple[str, ...]:
    """The columns of a summary, as its head has them."""
    found = next((row for line in words.split("\n") if (row := cells(line))), [])
    return tuple(found) if is_ours(CLOSED, [column(cell) for cell in found]) else COLUMNS[CLOSED]


def is_ours(section: str, columns: list[str]) -> bool:
    """Whether a table of these columns can be the one of a section."""
    if section == CLOSED:
        said = {"outcome", "subject", "final status"}
        return len(columns) > 2 and columns[0] == "id" and not said.isdisjoint(columns)
    ours = COLUMNS[section]
    return len(columns) == len(ours) and columns[0] == column(ours[0])


def form(project: Project) -> Object:
    """The same with what adopted files say otherwise."""
    document = own(project)
    parts = document["parts"]
    assert isinstance(parts, dict)
    cards = {key(id) for id in project.messages}

    def gone(name: str) -> bool:
        return groups.group(name) in cards and name not in parts

    return groups.form(NAME, project, document, gone)


def newest_first(project: Project) -> list[Message]:
    """The messages, the one that was posted last in front."""
    return sorted(project.messages.values(), key=lambda message: message.posted)[::-1]


def _parts(project: Project, summary: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    names, messages = Names(project), newest_first(project)
    open_ = [message for message in messages if message.status != "closed"]
    yield TITLE, f"# Mailbox ({inline(project.title or project.slug)})\n"
    yield ABOUT, _QUICK_REPLY
    yield from _table(INBOX, _inbox(project, names, open_))
    yield from _table(QUEUE, {key(each.id): _queued(each, names) for each in open_})
    yield ACTIVE, f"\n## {HEADINGS[ACTIVE]}\n"
    yield f"{ACTIVE} end", ""
    for message in messages:
        if message.status == "closed":
            yield f"{key(message.id)} closed", ""
        else:
            yield from card(message, key(message.id), names)
    closed = [message for message in messages if message.status == "closed"]
    closed.sort(key=lambda message: message.acks[-1].at if message.acks else 0, reverse=True)
    rows = (_closed(each, names) for each in closed)
    lines = {
        key(each.id): tuple(said.get(column(name), "—") for name in summary)
        for each, said in zip(closed, rows, strict=True)
    }
    yield from _table(CLOSED, lines)


def _table(section: str, rows: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, str]]:
    yield section, f"\n## {HEADINGS[section]}\n"
    yield f"{section} head", f"\n{head(*COLUMNS[section])}"
    for name, found in rows.items():
        yield f"{section} {name}", row(*found)
    yield f"{section} end", ""


def _inbox(
    project: Project, names: Names, messages: list[Message]
) -> dict[str, tuple[str, str, str, str]]:
    """What waits for whom: the maintainer comes last, an observer only if there is anything."""
    unread: dict[str, list[Message]] = {}
    for message in messages:
        if message.status == "unread":
            unread.setdefault(message.to, []).append(message)
    agents = [id for id, x in project.actors.items() if x.role != "observer" or id in unread]
    agents.sort(key=lambda id: project.actors[id].role == "maintainer")
    found = {}
    for agent in dict.fromkeys((*agents, *unread)):
        waiting = unread.get(agent)
        oldest = waiting[-1] if waiting else None
        cells = (line(oldest.id), due(oldest)) if oldest else ("none", "none")
        found[key(agent)] = (names[agent], str(len(waiting or ())), *cells)
    return found


def due(message: Message) -> str:
    """When an answer to a message is needed."""
    if message.due:
        return line(message.due)
    return "none" if message.kind == "notify" else _WINDOWS[message.priority]


def _queued(message: Message, names: Names) -> tuple[str, ...]:
    return (line(message.id), _between(message, names), message.priority, line(message.subject))


def _between(message: Message, names: Names) -> str:
    return f"{names[message.sender]} -> {names[message.to]}"


def _closed(message: Message, names: Names) -> dict[str, str]:
    last = message.acks[-1] if message.acks else None
    how = last.disposition if last else ""
    status = "closed" if how in ("", "resolved") else f"closed ({how})"
    subject, reason = message.subject, last.reason if last else ""
    said = subject if reason in ("", subject) else f"{subject} — {reason}"
    outcome = inline(said, _OUTCOME).replace("\\|", "&#124;") or line(said)
    date = day(last.at) if last else when(message.posted)
    return {
        "id": line(message.id),
        "date": date,
        "from to": _between(message, names),
        "subject": inline(subject, _OUTCOME).replace("\\|", "&#124;") or line(subject),
        "final status": status,
        "closed by": names[last.by] if last else "",
        "outcome": outcome,
    }
