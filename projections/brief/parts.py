"""The parts of a brief: what a project has to say on each topic, the newest first."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from journal.clock import iso
from journal.entities import Decision, Project, Session, Step, active_blockers, is_over, step_agent
from journal.rules.names import find_step
from projections import cautions, orchestration, protocol
from projections.brief.brief import FOLDER, STATE, Brief, Item, Reading
from projections.brief.standing import failed_at, left_for_others, standing
from projections.brief.topics import TOPICS
from projections.limits import CHARACTERS_PER_TOKEN
from projections.plans import PlanFiles, plan_files
from projections.position import ahead, chosen, is_done, keyed
from projections.position import next_action as next_said
from projections.protocol import Caution, Offer, command, unit
from projections.values import as_text

if TYPE_CHECKING:
    from projections.brief.peers import Handover

#: Where plans are, if the settings do not say otherwise.
PLAN_FILES = PlanFiles()


def compose(
    project: Project,
    *,
    step: str = "",
    agent: str = "",
    sizes: Mapping[str, int] | None = None,
    drift: tuple[Item, ...] = (),
    mismatches: tuple[Item, ...] = (),
    unseen: tuple[Caution, ...] = (),
    plans: PlanFiles = PLAN_FILES,
    left: "Handover | None" = None,
) -> Brief:
    """The brief for a step, or for where the project stands; `left` is what a predecessor left.

    `sizes` has the files that exist, with their bytes; `drift` those that are not as written, and
    `mismatches` what is not as it was left; `unseen` says what nobody looked at.
    """
    at = find_step(project, step) if step else ahead(project)
    if is_over(project):
        at = None
    # An orchestration has more to say about its phases than other projects about their steps.
    if project.execution is None:
        advice = protocol.advise(project, at, agent)
        warnings = cautions.cautions(project, at, agent, direct=bool(step))
    else:
        advice = orchestration.advise(project, at, agent)
        warnings = orchestration.cautions(project, at, agent, direct=bool(step))
    advice, among = _among_peers(project, agent, left, advice)
    told = (*warnings, *unseen, *among.pop("cautions", ()))
    load, missing, used = _reading(project, at, sizes or {}, plans)
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
        next_action=project.next_actions.get(agent) or next_said(project),
        **among,
        asked=step,
        left_out={name: n for name, n in project.beyond.items() if name in TOPICS},
        offers=advice.offers,
        phases=standing(project),
        warnings=told,
        mismatches=mismatches,
        findings=_findings(project),
        blockers=_blockers(project),
        errors=_errors(project),
        questions=_questions(project),
        drift=drift,
        decisions=_decisions(project),
        context=_context(project),
        load=load,
        missing=missing,
        skip_reading=used,
        artifacts=at.artifacts if at else (),
        history=_history(project),
    )


def _among_peers(
    project: Project, agent: str, left: "Handover | None", advice: protocol.Advice
) -> tuple[protocol.Advice, dict[str, Any]]:
    """What there is to say where several agents leave each other something: most leave nothing,
    and then nobody is to wait for the import of it.
    """
    alone = project.coordination is None and not (project.messages or project.commitments)
    if alone and left is None:
        return advice, {}
    from projections.brief import peers
    from projections.worklog import compaction

    left = left or peers.Handover()
    too_long = compaction.proposal(project)
    return peers.advise(project, agent, left, advice), {
        "reader": agent,
        "predecessor": left.agent if left.agent != agent else "",
        "cautions": (protocol.Caution(f"{too_long}."),) if too_long else (),
        "checks": left.checks,
        "snapshot": peers.parts(left),
        "coordination": peers.coordination(project),
        "status": peers.status(project),
        "mail": peers.mail(project, agent),
        "reading": peers.reading(left),
        "commitments": peers.commitments(project, agent),
    }


def fresh(project: str, near: tuple[str, ...] = ()) -> Brief:
    """The brief for a project that is nowhere yet."""
    say = f"There is no project {project} yet: a fresh start. The next command opens it."
    offers = tuple(Offer(f"go on with {name}", command(Project(name), "resume")) for name in near)
    init = f"passdown init {project}"
    return Brief(project, project, "none", 0, "fresh_start", say, init, offers=offers, near=near)


# -- the parts -------------------------------------------------------------------------------


def named_files(project: Project, plans: PlanFiles = PLAN_FILES) -> set[str]:
    """Every file that the brief of any step may send its reader to."""
    return {
        path
        for step in project.steps.values()
        for path in (*_budget(project, step), *plan_files(project, step, plans))
    }


def _budget(project: Project, step: Step) -> list[str]:
    folder = FOLDER.format(project=project.slug)
    return [f"{folder}/{name}" for name in (STATE, *step.startup)]


def _reading(
    project: Project, step: Step | None, sizes: Mapping[str, int], plans: PlanFiles
) -> tuple[tuple[Reading, ...], tuple[str, ...], tuple[str, ...]]:
    """What to read at the start of a step, what of that is missing, and what was read before.

    The state file is never missing: whoever reads the brief has what it says.
    """
    if step is None or is_done(step):
        return (), (), ()
    used = step.context_files if step.sub_step else ()
    folder = FOLDER.format(project=project.slug)
    known = {*used, *(f"{folder}/{path}" for path in used)}
    state, *named = [path for path in _budget(project, step) if path not in known] or [""]
    load = tuple(
        Reading(path, math.ceil(sizes[path] / CHARACTERS_PER_TOKEN))
        for path in (state, *named, *plan_files(project, step, plans))
        if path in sizes
    )
    return load, tuple(path for path in named if path not in sizes), used


def _findings(project: Project) -> tuple[Item, ...]:
    return tuple(
        Item(finding.id, finding.title)
        for finding in reversed(project.findings.values())
        if finding.resolved is None and finding.severity == "must_fix"
    )


def _blockers(project: Project) -> tuple[Item, ...]:
    return tuple(Item(each.id, each.description) for each in reversed(active_blockers(project)))


def _errors(project: Project) -> tuple[Item, ...]:
    found = (error for error in reversed(project.errors.values()) if error.resolved is None)
    if project.execution is None:
        return tuple(Item(error.id, error.message) for error in found)
    return tuple(Item(error.id, failed_at(project, error)) for error in found)


def _questions(project: Project) -> tuple[Item, ...]:
    found = (each for each in reversed(project.questions.values()) if each.status == "open")
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
    notes = (
        Item(note.kind, f"{note.text} ({note.file})" if note.file else note.text)
        for note in reversed(project.context)
    )
    return (*notes, *left_for_others(project))


def _history(project: Project) -> tuple[Item, ...]:
    """The sessions there were and the steps that are behind us, the newest first."""
    told = [
        (session.ended or session.heartbeat or session.started, Item(session.id, _told(session)))
        for session in project.sessions.values()
    ]
    told += [
        (step.completed, Item(f"{unit(project)} {step.key}", _done(step)))
        for step in project.steps.values()
        if is_done(step) and step.completed is not None
    ]
    told.sort(key=lambda one: one[0], reverse=True)
    return tuple(item for _, item in told)


def _told(session: Session) -> str:
    when = session.ended or session.started
    facts = (session.handoff_reason, session.reason, session.note, *session.notes, *session.issues)
    said = "; ".join(filter(None, (*facts, *session.completed)))
    begun = "since" if session.status == "active" else session.status
    text = f"{session.agent or 'unnamed'}, {begun} {iso(when)}"
    return f"{text}: {said}" if said else text


def _done(step: Step) -> str:
    said = step.summary or step.reason
    text = f"{step.name} {step.status}"
    return f"{text}: {said}" if said else text
