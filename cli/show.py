"""Where a project stands, or stood. Nothing here writes."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Annotated, Literal

import typer

from cli import options, output
from cli.answers import Rendered, answers
from cli.document import project_data
from cli.moments import state_at
from cli.recording import chosen, opened
from cli.screen import Cell, bar, columns, fit, paint, table, wrap
from journal import Handle, Project
from journal.blocking import is_escalated, paused_steps
from journal.clock import iso
from journal.entities import Error, Lease, Step, is_stale, waits_on
from journal.events import Execution
from journal.rules.names import tries
from journal.state import active_blockers, lease_until, step_agent, task_status
from journal.workspace import Workspace
from projections.brief.standing import failed_at
from projections.files import inspect
from projections.places import altered
from projections.position import chosen as chosen_value
from projections.position import is_done, keyed, next_action, outlook
from projections.protocol import together, unit
from projections.settings import written

# fmt: off
Form = Literal[
    "session-state", "handoff", "state-md", "active-session",
    "turnfile", "worklog", "worklog-archive", "mailbox", "open-questions", "json",
]
# fmt: on
#: How each status of a step looks: its sign and its colour.
SIGNS = {
    "pending": Cell("·", "dim"),
    "in_progress": Cell("▶", "cyan"),
    "complete": Cell("✓", "green"),
    "failed": Cell("✗", "red"),
    "skipped": Cell("–", "dim"),
}
#: So many things of a kind are shown; the rest is counted.
_MOST = 10
#: The next action takes so many lines at the most.
_LINES = 4


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.command("show")(show)


@answers(Project, Rendered)
def show(
    form: Annotated[
        Form | None, typer.Option("--as", help="As one of the files, or as JSON.")
    ] = None,
    at: options.At = "",
    project: options.Project = "",
    as_json: options.AsJson = False,
) -> None:
    """Show where a project stands, or stood.

    Example: passdown show --as handoff --at 12
    """
    with opened() as (workspace, journal):
        handle = chosen(journal, project)
        state = state_at(handle, at)
        problems = _problems(workspace, handle)
    if form == "json" or (as_json and not form):
        output.document(project_data(state))
    elif form:
        content = written(workspace.root, form).render(state)
        if as_json:
            output.document(Rendered(state.slug, form, content.decode()))
        else:
            output.raw(content)
    else:
        for line in _summary(state):
            output.line(line)
        if state.worklog and not at:
            from cli.sharing import proposals

            problems += proposals(state)
    for problem in problems:
        output.note(problem)


def _problems(workspace: Workspace, handle: Handle) -> list[str]:
    """What is wrong with the files, where a quick look says that something is."""
    if "changed" not in altered(workspace, handle.slug).values():
        return []
    return [file.problem for file in inspect(workspace, handle) if file.status == "drifted"]


def _summary(state: Project) -> Iterable[str]:
    room = columns()
    about = fit(f"({state.slug}, {state.workflow})", room)
    yield f"{paint(fit(state.title, max(room - len(about) - 2, 20)), 'bold')}  {about}"
    branch = f", branch {state.branch}" if state.branch else ""
    yield fit(f"version {state.version}, updated {iso(state.updated)}{branch}", room)
    if state.execution is not None:
        yield fit(_execution(state), room)
    if state.coordination is not None:
        from cli.sharing import standing

        yield fit(standing(state), room)
    if state.aborted is not None:
        yield f"aborted {iso(state.aborted)}"
    if state.archived is not None:
        yield f"archived {iso(state.archived)}"
    if is_escalated(state):
        yield paint("escalated: every phase that remains is blocked, a person has to decide", "red")
    if state.steps:
        yield ""
        yield from _steps(state)
    yield from _tasks(state)
    open_findings = [(id, title) for title, id in state.open_findings.items()]
    yield from _section("Open findings", open_findings)
    yield from _section("Active blockers", [(b.id, b.description) for b in active_blockers(state)])
    told = _plain if state.execution is None else partial(failed_at, state)
    errors = [(x.id, told(x)) for x in state.errors.values() if x.resolved is None]
    yield from _section("Unresolved errors", errors)
    questions = [(q.id, q.text) for q in state.questions.values() if q.status == "open"]
    yield from _section("Open questions", questions)
    values = [(key, chosen_value(decision)) for key, decision in keyed(state).items()]
    yield from _section("Decisions", values)
    yield from _section("Decision log", _logged(state))
    documents = {kind: each.path for kind, each in state.documents.items()}
    yield from _section("Documents", [*documents.items()])
    sessions = [
        (s.id, f"{s.agent or 'unnamed'}, since {iso(s.started)}")
        for s in state.sessions.values()
        if s.status == "active"
    ]
    yield from _section("Active sessions", sessions)
    yield from _section("Leases", _leases(state))
    if state.coordination is not None:
        from cli.sharing import sections

        for title, items in sections(state):
            yield from _section(title, items)
    yield ""
    following = next_action(state) or _outlook(state)
    yield from wrap(f"Next: {following}", _LINES)


def _outlook(state: Project) -> str:
    """What comes next, where nobody has said it."""
    if state.coordination is not None and not state.steps:
        return together(state).say
    return outlook(state, unit(state).capitalize())


def _execution(state: Project) -> str:
    """How an orchestration is executed: only what is known of it."""
    how = state.execution or Execution()
    said = [how.mode, how.workflow, how.complexity, f"on {how.backend}" if how.backend else ""]
    said.append(f"batch {state.batch}" if state.batch else "")
    return ", ".join(("orchestration", *filter(None, said)))


def _plain(error: Error) -> str:
    return error.message


def _steps(state: Project) -> Iterable[str]:
    rows = []
    paused = paused_steps(state)
    for step in state.steps.values():
        sign = SIGNS[step.status]
        sub = "; ".join(_remarks(state, step, step in paused))
        status = Cell(step.status, sign.colour)
        agent = Cell(", ".join(filter(None, (step_agent(state, step), *step.team))), "dim")
        rows.append([sign, Cell(step.key), Cell(step.name), status, agent, Cell(sub)])
    yield from table(rows, right=(1,), indent=2)
    done = sum(map(is_done, state.steps.values()))
    yield ""
    yield f"  {bar(done, len(state.steps), 20)}  {done} of {len(state.steps)} {unit(state)}s"


def _remarks(state: Project, step: Step, is_paused: bool) -> Iterator[str]:
    """What is to be known of a step beside its status."""
    if step.sub_step:
        yield f"after {step.sub_step}"
    if step.status == "pending" and (before := waits_on(state, step)):
        yield f"waits on {', '.join(each.key for each in before)}"
    if is_paused:
        yield "paused by a blocker"
    if step.to_reconcile:
        yield "to be reconciled"
    if step.retries and not is_done(step):
        yield f"tried again {tries(state, step)} times"
    if step.verified and not step.verified.passed:
        yield "did not pass"


def _tasks(state: Project) -> Iterable[str]:
    tasks = [task for task in state.tasks.values() if task.status != "done"]
    rows = [(task.id, f"{task_status(state, task)}: {task.title}") for task in tasks]
    yield from _section("Open tasks", rows)


def _logged(state: Project) -> list[tuple[str, str]]:
    """What was decided without a key, and holds."""
    return [
        (decision.id, decision.title or decision.choice)
        for decision in state.decisions.values()
        if not decision.key and decision.superseded_by is None
    ]


def _leases(state: Project) -> list[tuple[str, str]]:
    """Who holds what; whether a lease on a step is stale is for the reader's clock to say."""
    held = [lease for lease in state.leases.values() if lease.status == "held"]
    return [
        (
            ", ".join(lease.files) or f"step {lease.step}",
            f"{lease.agent or 'unnamed'}, since {iso(lease.acquired)}, {_lasting(state, lease)}",
        )
        for lease in held
    ]


def _lasting(state: Project, lease: Lease) -> str:
    """How long a lease lasts."""
    if not lease.files:
        return f"until {iso(lease_until(lease))} if not renewed"
    stale = ", stale" if is_stale(state, lease) else ""
    return f"for {lease.revisions} revisions after {lease.revision}{stale}"


def _section(title: str, items: list[tuple[str, str]]) -> Iterable[str]:
    if not items:
        return
    yield ""
    yield paint(f"{title} ({len(items)})", "bold")
    rows = [[Cell(id, "cyan"), Cell(text)] for id, text in items[-_MOST:]]
    yield from table(rows, indent=2)
    if len(items) > _MOST:
        yield f"  … {len(items) - _MOST} older: passdown show --as json"
