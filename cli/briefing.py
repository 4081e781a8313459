"""The brief of a project of this workspace: composed, cut to its limit, and recorded as shown."""

import os

from cli.ready import Ready, traits
from journal import cache
from journal.digest import sha256
from journal.entities import Project
from journal.errors import PassdownError
from journal.events import BriefShown
from journal.handle import Handle
from journal.live import is_large, live
from journal.workspace import Workspace
from projections.brief import TOPICS, Brief, Item, compose, named_files
from projections.brief.fitting import characters, fit_characters
from projections.ledger import read as read_ledger
from projections.limits import BUDGET, HOST_LIMIT
from projections.places import altered
from projections.plans import PlanFiles
from projections.remains import Remains, expected, mismatches
from projections.settings import FILE as SETTINGS
from projections.settings import plan_files
from projections.values import visible_json

#: What a host is told beside a brief is never longer, as JSON: who the agent is, a note, the frame.
BESIDE = 1_600

#: Of the files that the last session left, no bigger one is read.
_MOST = 1 << 24
_ALTERED = {
    "changed": "was edited outside Passdown; to see how: passdown drift -p {}",
    "missing": "is gone; to restore it: passdown recover -p {}",
}


def composed(workspace: Workspace, state: Project, step: str = "", agent: str = "") -> Brief:
    """The brief on a state, with what the workspace's files have to do with it."""
    drift = tuple(
        Item(path, _ALTERED[how].format(state.slug))
        for path, how in sorted(altered(workspace, state.slug).items())
    )
    plans = _plans(workspace)
    return compose(
        state,
        step=step,
        agent=agent,
        sizes=_sizes(workspace, state, plans),
        drift=drift,
        mismatches=mismatches(state, _remains(workspace, state)),
        plans=plans,
    )


def _plans(workspace: Workspace) -> PlanFiles:
    """Where plans are; settings that cannot be read keep nobody from going on."""
    try:
        return plan_files(workspace.root)
    except PassdownError:
        return PlanFiles()


def _remains(workspace: Workspace, state: Project) -> dict[str, Remains | None]:
    """What is there now of what the last session left; a file that is too big is not looked at."""
    found: dict[str, Remains | None] = {}
    for path, texts in expected(state).items():
        try:
            real = workspace.inside(path)
            if real is None or not real.is_file():
                found[path] = None
            elif real.stat().st_size <= _MOST:
                content = real.read_bytes()
                has = frozenset(text for text in texts if text.encode() in content)
                found[path] = Remains(sha256(content).hexdigest(), has)
        except OSError:
            found[path] = None
    return found


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
        cache.write(handle.cached, state, "live")
    # Before the brief is made: what changes meanwhile is then seen as changed.
    ledger = {
        path for path, each in read_ledger(workspace.folder).items() if each.project == state.slug
    }
    named = named_files(state, _plans(workspace))
    found = traits(workspace, {*ledger, *named, *expected(state), SETTINGS})
    text, seen = for_host(workspace, state)
    cache.pack(handle.cached, state, "brief", Ready(text, seen, found))
