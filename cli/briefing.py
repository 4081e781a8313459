"""The brief of a project of this workspace: composed, cut to its limit, and recorded as shown."""

import os
import stat
from collections.abc import Iterable
from typing import TYPE_CHECKING

from cli.ready import Ready, traits
from journal.digest import sha256
from journal.entities import Document, Project
from journal.errors import NotFound, PassdownError
from journal.events import BriefShown, DocumentRecorded
from journal.handle import Handle
from journal.live import is_large, live
from journal.payload import decode
from journal.workspace import Workspace
from projections.brief import TOPICS, Brief, Item, compose, named_files
from projections.brief.fitting import characters, fit_characters
from projections.ledger import read as read_ledger
from projections.limits import BUDGET, HOST_LIMIT
from projections.places import Folders, Unusable, altered
from projections.plans import PlanFiles
from projections.remains import (
    Found,
    Remains,
    Sought,
    expected,
    mismatches,
    rewritten,
    unseen,
)
from projections.settings import FILE as SETTINGS
from projections.settings import plan_files
from projections.values import visible_json

if TYPE_CHECKING:
    from projections.brief.peers import Handover

#: What a host is told beside a brief is never longer, as JSON: who the agent is, a note, the frame.
BESIDE = 1_600

#: Of the files that were left behind, no bigger one is read.
_MOST = 1 << 24
#: A document that is longer is not compared with what it was, line by line.
_LONGEST = 1 << 20
_ALTERED = {
    "changed": "was edited outside Passdown; to see how: passdown drift -p {}",
    "missing": "is gone; to restore it: passdown recover -p {}",
}


def composed(
    workspace: Workspace,
    state: Project,
    step: str = "",
    agent: str = "",
    handle: Handle | None = None,
    found: Found | None = None,
    predecessor: str = "",
    past: bool = False,
) -> Brief:
    """The brief on a state, with what the workspace's files have to do with it, and with what a
    predecessor left: who goes on is its own where none is named.

    With the handle it also says how documents have changed, whose words only the records have.
    What was found of files a moment ago is not looked at again. A state of the past is not held
    against the files of now.
    """
    plans = _plans(workspace)
    if past:
        return compose(
            state,
            step=step,
            agent=agent,
            sizes=_sizes(workspace, state, plans),
            plans=plans,
            left=_left(workspace, state, agent, predecessor),
        )
    drift = tuple(
        Item(path, _ALTERED[how].format(state.slug))
        for path, how in sorted(altered(workspace, state.slug).items())
    )
    found = look(workspace, state, found)
    ours = read_ledger(workspace.folder).keys()
    recorded = _recorded(handle, rewritten(state, found)) if handle else None
    return compose(
        state,
        step=step,
        agent=agent,
        sizes=_sizes(workspace, state, plans),
        drift=drift,
        mismatches=mismatches(state, found, ours, recorded),
        unseen=unseen(state, found),
        plans=plans,
        left=_left(workspace, state, agent, predecessor),
    )


def _left(workspace: Workspace, state: Project, agent: str, named: str) -> "Handover | None":
    """What a predecessor left, where somebody left anything."""
    if not named and (state.coordination is None or not agent):
        return None
    from cli.measuring import measured
    from projections.brief import peers

    if named:
        check_known(state, named)
    before = peers.predecessor(state, agent, named)
    if not before:
        return None
    return peers.handover(state, before, agent, measured(workspace, peers.sought(state, before)))


def check_known(state: Project, agent: str) -> None:
    """Refuse to go on from somebody who never was here."""
    known = {*(session.agent for session in state.sessions.values()), *state.actors} - {""}
    if agent not in known:
        raise NotFound("agent", agent, known, hint="name one that had a session")


def _plans(workspace: Workspace) -> PlanFiles:
    """Where plans are; settings that cannot be read keep nobody from going on."""
    try:
        return plan_files(workspace.root)
    except PassdownError:
        return PlanFiles()


def look(workspace: Workspace, state: Project, known: Found | None = None) -> Found:
    """What is there now of what was left behind; a file that is too big is not looked into."""
    found = dict(known or {})
    folders = Folders(workspace)
    for path, sought in expected(state).items():
        if path not in found:
            found[path] = _remains(folders, path, sought)
    return found


def _remains(folders: Folders, path: str, sought: Sought) -> Remains | None:
    """One file as it is now; None where there is none."""
    try:
        place = folders.place(path)
        traits = place.stat()
        if not stat.S_ISREG(traits.st_mode):
            return None
        changed = traits.st_mtime_ns // 1000
        if not (sought.digest or sought.texts):
            return Remains(changed=changed)
        if traits.st_size > _MOST:
            return Remains(changed=changed, unread=f"bigger than {_MOST >> 20} MiB")
        content = place.read_bytes()
    except (Unusable, FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return Remains(unread=f"it cannot be read: {error.strerror}")
    has = frozenset(text for text in sought.texts if text.encode() in content)
    words = _words(content) if sought.words else None
    return Remains(sha256(content).hexdigest(), has, changed, words)


def _words(content: bytes) -> str | None:
    """A document as text, if it is one and not too long."""
    try:
        return content.decode() if len(content) <= _LONGEST else None
    except UnicodeDecodeError:
        return None


def _recorded(handle: Handle, documents: Iterable[Document]) -> dict[str, str]:
    """The words of documents when they were recorded, where those are on record and not masked."""
    texts: dict[str, str] = {}
    for document in documents:
        for record in handle.records(document.version - 1, document.version):
            event = decode(record.type, record.data)
            text = event.text if isinstance(event, DocumentRecorded) else ""
            if sha256(text.encode()).hexdigest() == document.digest:
                texts[document.kind] = text
    return texts


def _sizes(workspace: Workspace, state: Project, plans: PlanFiles) -> dict[str, int]:
    """Which of the files that a brief may name exist, and how big they are."""
    found = {}
    for path in named_files(state, plans):
        real = workspace.inside(path)
        if real and os.path.isfile(real):
            found[path] = os.path.getsize(real)
    return found


def shown(brief: Brief, text: str) -> BriefShown:
    """The event that somebody was shown exactly this."""
    items = {
        name: tuple(map(topic.id, found))
        for name, topic in TOPICS.items()
        if (found := getattr(brief, name))
    }
    digest = sha256(text.encode()).hexdigest()
    return BriefShown(brief.version, digest, "", brief.asked, items, brief.left_out)


def for_host(
    workspace: Workspace, state: Project, agent: str = "", budget: int = BUDGET
) -> tuple[str, BriefShown]:
    """The brief on the live part of a state, short enough for a host, and what is shown of it."""
    brief = composed(workspace, state, agent=agent)
    room = HOST_LIMIT - BESIDE
    limit = min(characters(budget), room)
    while True:
        fitted, text = fit_characters(brief, limit)
        if len(visible_json(text)) <= room:
            return text, shown(fitted, text)
        limit = limit * 9 // 10


def make_ready(workspace: Workspace, handle: Handle) -> None:
    """Have everything ready for the next hook: the live part of a large state, and its brief."""
    whole = handle.state
    state = live(whole)
    if is_large(whole):
        handle.keep(state, "live", state)
    # Before the brief is made: what changes meanwhile is then seen as changed.
    ledger = {
        path for path, each in read_ledger(workspace.folder).items() if each.project == state.slug
    }
    named = named_files(state, _plans(workspace))
    found = traits(workspace, {*ledger, *named, *expected(state), SETTINGS})
    text, seen = for_host(workspace, state)
    handle.keep(state, "brief", Ready(text, seen, found))
