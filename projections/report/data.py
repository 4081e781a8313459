"""Everything that the page of a report shows, out of a project's records."""

from collections.abc import Iterable, Iterator

from journal.blocking import is_escalated
from journal.entities import Project, active_blockers
from journal.record import Record
from projections.position import is_done, next_action, outlook
from projections.protocol import together, unit
from projections.report.history import History, Shown, Words
from projections.report.items import sections
from projections.report.shape import About, Page, Proof, Tile, Tone
from projections.report.times import milliseconds


def report(slug: str, records: Iterable[Record], proof: Proof, words: Words, shown: Shown) -> Page:
    """The page of a project; the same records make the same page."""
    history = History(slug, words, shown).read(records)
    project = history.project
    found = tuple(sections(history))
    lanes = tuple(history.timeline.lanes(project, history.texts))
    return Page(
        _about(history),
        proof,
        tuple(_tiles(project, len(history.events))),
        lanes,
        tuple(history.timeline.uses(project)),
        found,
        tuple(history.events),
        tuple(history.things),
        tuple(history.fields.known),
        tuple(history.types.known),
        tuple(history.actors.known),
        tuple(history.sessions.known),
        tuple(history.texts.long),
    )


def _about(history: History) -> About:
    project = history.project
    times = [event.at for event in history.events] or [0]
    status, tone = _status(project)
    return About(
        project.slug,
        project.title or project.slug,
        project.workflow,
        project.native,
        project.branch,
        status,
        tone,
        min(times),
        milliseconds(history.last.at) if history.last else 0,
        next_action(project) or _outlook(project),
    )


def _outlook(project: Project) -> str:
    if project.coordination is not None and not project.steps:
        return together(project).say
    return outlook(project, unit(project).capitalize())


def _status(project: Project) -> tuple[str, Tone]:
    """How the project stands, in a word or two."""
    if project.archived is not None:
        return "archived", "quiet"
    if project.aborted is not None:
        return "aborted", "bad"
    if is_escalated(project):
        return "waits for a person", "bad"
    if project.steps and all(map(is_done, project.steps.values())):
        return "complete", "good"
    if any(step.status == "failed" for step in project.steps.values()):
        return "a step has failed", "bad"
    if active_blockers(project):
        return "blocked in part", "warn"
    return ("under way", "busy") if project.version > 1 else ("not begun", "quiet")


def _tiles(project: Project, events: int) -> Iterator[Tile]:
    """The numbers at the top: of what there is none is left out, but for the events."""
    steps, tasks = project.steps.values(), project.tasks.values()
    done = sum(map(is_done, steps))
    finished = sum(task.status == "done" for task in tasks)
    yield _count(events, "event", "replay")
    used = sum(x.input + x.output + x.cached for x in project.tokens.values())
    found = (
        Tile(done, len(steps), f"{unit(project)}s done", "", "timeline"),
        Tile(finished, len(tasks), "tasks done", "", "tasks"),
        _count(len(project.sessions), "session", "timeline"),
        _count(len(project.decisions), "decision", "decisions"),
        _open("active blockers", len(active_blockers(project)), len(project.blockers), "blockers"),
        _open("unresolved errors", *_unresolved(project.errors.values()), "errors"),
        _open("open findings", *_unresolved(project.findings.values()), "findings"),
        Tile(*_unclosed(project), "open messages", "quiet", "mail"),
        _count(used, "token", "tokens"),
    )
    yield from (tile for tile in found if tile.count or tile.whole)


def _count(count: int, name: str, section: str) -> Tile:
    return Tile(count, 0, name if count == 1 else f"{name}s", "", section)


def _open(name: str, count: int, whole: int, section: str) -> Tile:
    return Tile(count, whole, name, "bad" if count else "good", section)


def _unresolved(things: Iterable[object]) -> tuple[int, int]:
    all = list(things)
    return sum(getattr(thing, "resolved", None) is None for thing in all), len(all)


def _unclosed(project: Project) -> tuple[int, int]:
    messages = project.messages.values()
    return sum(message.status != "closed" for message in messages), len(messages)
