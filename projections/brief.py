"""The brief: what a resuming agent is shown, composed from small parts.

A part is a function of the project that gives the items of one topic, the ones that matter most
first. A dialect that has something to say adds a field to `Brief`, the part that fills it in
`compose`, and its place in `_TOPICS`.
"""

from collections.abc import Callable, Iterable, Iterator, Set
from typing import Literal

from msgspec import Struct

from journal.entities import Decision, Project, Step, active_blockers, step_agent
from journal.rules.names import find_step
from projections.markdown import code, inline
from projections.position import ahead, chosen, is_done, keyed
from projections.position import next_action as next_said
from projections.protocol import Caution, Offer, Verdict, advise, cautions, command
from projections.values import as_text

#: Where the files of a project are that its workflow names, and the state among them.
FOLDER = "agent-output/{project}"
STATE = "00-session-state.json"
#: So many items of a topic are shown to a reader; the rest is counted.
_MOST = 20
#: No longer than this is one text, or one command, in what is shown.
_SENTENCES, _COMMAND = 800, 2000


class Item(Struct, frozen=True):
    """One thing to know, by the id that commands take."""

    id: str
    text: str


class Brief(Struct, frozen=True):
    """Where a project stands and how to go on. Paths are relative to the workspace."""

    project: str
    title: str
    #: What it was read from: the journal, a file that was not adopted yet, or nothing at all.
    source: Literal["journal", "file", "none"]
    version: int
    verdict: Verdict
    say: str
    #: The next command as one types it; empty where only a person can go on.
    command: str
    #: Key, name and agent of the step that this is about, and the checkpoint it has reached.
    step: str = ""
    name: str = ""
    agent: str = ""
    checkpoint: str = ""
    offers: tuple[Offer, ...] = ()
    warnings: tuple[Caution, ...] = ()
    next_action: str = ""
    #: What the step's startup budget allows to be read, and what of it is not there.
    load: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    #: What was read for the step before the checkpoint.
    skip_reading: tuple[str, ...] = ()
    artifacts: tuple[str, ...] = ()
    findings: tuple[Item, ...] = ()
    blockers: tuple[Item, ...] = ()
    errors: tuple[Item, ...] = ()
    questions: tuple[Item, ...] = ()
    decisions: tuple[Item, ...] = ()
    context: tuple[Item, ...] = ()
    #: Where a project was not found: the names that are like it.
    near: tuple[str, ...] = ()


def compose(
    project: Project, *, step: str = "", agent: str = "", present: Set[str] = frozenset()
) -> Brief:
    """The brief for a step, or for where the project stands; `present` are the files that exist."""
    at = find_step(project, step) if step else ahead(project)
    if project.archived is not None:
        at = None
    advice = advise(project, at, agent)
    load, missing, used = _reading(project, at, present)
    return Brief(
        project=project.slug,
        title=project.title or project.slug,
        source="journal",
        version=project.version,
        verdict=advice.verdict,
        say=advice.say,
        command=advice.command,
        step=at.key if at else "",
        name=at.name if at else "",
        agent=step_agent(project, at) if at else "",
        checkpoint=(at.sub_step or "") if at and not is_done(at) else "",
        offers=advice.offers,
        warnings=tuple(cautions(project, at, agent, direct=bool(step))),
        next_action=project.next_actions.get(agent) or next_said(project),
        load=load,
        missing=missing,
        skip_reading=used,
        artifacts=at.artifacts if at else (),
        findings=_findings(project),
        blockers=_blockers(project),
        errors=_errors(project),
        questions=_questions(project),
        decisions=_decisions(project),
        context=_context(project),
    )


def fresh(project: str, near: tuple[str, ...] = ()) -> Brief:
    """The brief for a project that is nowhere yet."""
    say = f"There is no project {project} yet: a fresh start. The next command opens it."
    offers = tuple(Offer(f"go on with {name}", command(Project(name), "resume")) for name in near)
    init = f"passdown init {project}"
    return Brief(project, project, "none", 0, "fresh_start", say, init, offers=offers, near=near)


# -- the parts -------------------------------------------------------------------------------


def named_files(project: Project) -> set[str]:
    """Every file that the brief of any step may send its reader to."""
    return {path for step in project.steps.values() for path in _budget(project, step)}


def _budget(project: Project, step: Step) -> list[str]:
    folder = FOLDER.format(project=project.slug)
    return [f"{folder}/{name}" for name in (STATE, *step.startup)]


def _reading(
    project: Project, step: Step | None, present: Set[str]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """What to read at the start of a step, what of that is missing, and what was read before.

    The state file is never missing: whoever reads the brief has what it says.
    """
    if step is None or is_done(step):
        return (), (), ()
    used = step.context_files if step.sub_step else ()
    folder = FOLDER.format(project=project.slug)
    known = {*used, *(f"{folder}/{path}" for path in used)}
    state, *named = [path for path in _budget(project, step) if path not in known] or [""]
    load = tuple(path for path in (state, *named) if path in present)
    return load, tuple(path for path in named if path not in present), used


def _findings(project: Project) -> tuple[Item, ...]:
    return tuple(
        Item(finding.id, finding.title)
        for finding in project.findings.values()
        if finding.resolved is None and finding.severity == "must_fix"
    )


def _blockers(project: Project) -> tuple[Item, ...]:
    return tuple(Item(blocker.id, blocker.description) for blocker in active_blockers(project))


def _errors(project: Project) -> tuple[Item, ...]:
    found = [error for error in project.errors.values() if error.resolved is None]
    return tuple(Item(error.id, error.message) for error in reversed(found))


def _questions(project: Project) -> tuple[Item, ...]:
    found = [question for question in project.questions.values() if question.status == "open"]
    return tuple(Item(question.id, question.text) for question in found)


def _decisions(project: Project) -> tuple[Item, ...]:
    """The values that hold, then what else was decided and holds, the newest first."""
    values = [(key, decision) for key, decision in keyed(project).items()]
    logged = [
        (decision.title, decision)
        for decision in reversed(project.decisions.values())
        if not decision.key and decision.superseded_by is None
    ]
    return tuple(Item(made.id, _decided(what, made)) for what, made in values + logged)


def _decided(what: str, decision: Decision) -> str:
    choice = (as_text(decision.value) if decision.key else "") or chosen(decision)
    return ": ".join(filter(None, (what, choice)))


def _context(project: Project) -> tuple[Item, ...]:
    """What was noted for whoever goes on, the newest first."""
    return tuple(
        Item(note.kind, f"{note.text} ({note.file})" if note.file else note.text)
        for note in reversed(project.context)
    )


# -- for readers -----------------------------------------------------------------------------

#: In the order of their worth: what must not be missed, what holds, then what to read.
_TOPICS: tuple[tuple[str, Callable[[Brief], tuple[Item, ...]]], ...] = (
    ("Open must-fix findings", lambda brief: brief.findings),
    ("Active blockers", lambda brief: brief.blockers),
    ("Unresolved errors", lambda brief: brief.errors),
    ("Open questions", lambda brief: brief.questions),
    ("Decisions", lambda brief: brief.decisions),
    ("Context", lambda brief: brief.context),
)
_READING: tuple[tuple[str, Callable[[Brief], tuple[str, ...]]], ...] = (
    ("Read at the start", lambda brief: brief.load),
    ("Named for the start, and missing", lambda brief: brief.missing),
    ("Read already: do not read again", lambda brief: brief.skip_reading),
    ("Produced by this step so far", lambda brief: brief.artifacts),
)


def render(brief: Brief) -> str:
    """The brief as markdown, for an agent's context and for people."""
    return "\n".join((*_head(brief), *_warnings(brief), *_sections(brief), ""))


def _head(brief: Brief) -> Iterator[str]:
    yield f"# {inline(brief.title)}: {brief.verdict.replace('_', ' ')}"
    yield ""
    if brief.step:
        agent = f", agent {inline(brief.agent)}" if brief.agent else ""
        reached = f", at checkpoint {inline(brief.checkpoint)}" if brief.checkpoint else ""
        yield f"Step {inline(f'{brief.step} {brief.name}')}{agent}{reached}."
    yield inline(brief.say, _SENTENCES)
    yield ""
    if brief.command:
        yield f"- Next command: {code(brief.command, _COMMAND)}"
    for offer in brief.offers:
        yield f"- Or {_offer(offer)}"
    if brief.next_action:
        yield f"- Next action, as it was left: {inline(brief.next_action, _SENTENCES)}"


def _offer(offer: Offer) -> str:
    return f"{inline(offer.what)}: {code(offer.command, _COMMAND)}"


def _warnings(brief: Brief) -> Iterator[str]:
    lines = map(_warning, brief.warnings)
    return _section("Warnings", lines, len(brief.warnings), brief.project)


def _warning(warning: Caution) -> str:
    offers = "; or ".join(map(_offer, warning.offers))
    text = inline(warning.text, _SENTENCES)
    return f"{text} Offered: {offers}" if offers else text


def _sections(brief: Brief) -> Iterator[str]:
    for title, items in _TOPICS:
        yield from _items(title, items(brief), brief.project)
    for title, paths in _READING:
        yield from _section(title, map(code, paths(brief)), len(paths(brief)), brief.project)


def _items(title: str, items: tuple[Item, ...], project: str) -> Iterator[str]:
    lines = (f"{inline(item.id)} — {inline(item.text)}" for item in items)
    return _section(title, lines, len(items), project)


def _section(title: str, lines: Iterable[str], count: int, project: str) -> Iterator[str]:
    if not count:
        return
    yield ""
    yield f"## {title}"
    yield ""
    for _, line in zip(range(_MOST), lines, strict=False):
        yield f"- {line}"
    if count > _MOST:
        more = code(command(Project(project), "show", "--as", "json"))
        yield f"- … {count - _MOST} more: {more}"
