"""What an agent of a shared workspace must know to begin, in the order in which it is read.

First what its predecessor left: the snapshot of that, or what a state tells where there is none;
then how the workspace stands, who is at what, its mail, and what to read.
"""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from journal.clock import iso
from journal.entities import Project, Session, is_stale, last_snapshot, maintainer_of, task_status
from journal.live import SIGNALS
from journal.mail import to_acknowledge, unread
from journal.peers import Message, Snapshot
from projections import snapshot
from projections.brief.brief import Item, Reading, Section
from projections.markdown import clip
from projections.peers import active_task
from projections.protocol import Advice, Offer, command

#: What the first part of a snapshot is called, which stands as YAML in a file.
IDENTITY = "Identity"


class Handover(Struct, frozen=True):
    """What a predecessor left, and what of it does not hold."""

    agent: str = ""
    identity: str = ""
    body: str = ""
    checks: tuple[Item, ...] = ()

    @property
    def parts(self) -> snapshot.Parts:
        """What the body says."""
        return snapshot.read(self.body)


def predecessor(project: Project, agent: str, named: str) -> str:
    """Whose work an agent goes on with: whom it names, else its own."""
    own = agent and (last_snapshot(project, agent) or snapshot.left_open(project, agent))
    return named or (agent if own else "")


def sought(project: Project, agent: str) -> set[str]:
    """The files that are to be looked at, to tell what an agent left."""
    found: set[str] = set()
    if session := snapshot.left_open(project, agent):
        found |= set(snapshot.to_measure(project, session))
    if last := last_snapshot(project, agent):
        has = snapshot.read(last.body)
        found |= {file.path for file in has.modified} | {file.path for file in has.reading}
    return found


def handover(
    project: Project, agent: str, successor: str, sizes: Mapping[str, snapshot.Size]
) -> Handover:
    """What an agent left: its snapshot, or as much of one as the state tells."""
    if session := snapshot.left_open(project, agent):
        # Who goes on with its own open session has not left it.
        return _composed(project, session, sizes, going_on=agent == successor)
    last = last_snapshot(project, agent)
    if last is None:
        return Handover()
    failed = snapshot.checks(
        project, last.agent, last.token, last.body, last.at, lambda path: path in sizes
    )
    checks = tuple(Item(each.name, _told(each)) for each in failed)
    return Handover(agent, _identity(last), last.body, checks)


def _told(failed: snapshot.Check) -> str:
    """Where it is and what it is, as far as it is anywhere and anything."""
    where = f"line {failed.line} of the snapshot" if failed.line else ""
    return ": ".join(filter(None, (where, failed.value, failed.said)))


def _composed(
    project: Project, session: Session, sizes: Mapping[str, snapshot.Size], going_on: bool
) -> Handover:
    earlier = last_snapshot(project, session.agent)
    words = snapshot.Words()
    if earlier is not None and earlier.session == session.id:
        # What it said itself was true of the session, and nobody else can say it.
        told = snapshot.read(earlier.body)
        named = tuple((each.path, each.why) for each in told.reading if each.path in sizes)
        words = snapshot.Words(told.why, reading=named)
    left = snapshot.compose(project, session, sizes, words)
    is_open = session.status == "active"
    how = "is open" if is_open else f"has {session.status}"
    since = f"begun {iso(session.started)}"
    before = f"; its last snapshot is {earlier.token}" if earlier else ""
    lacks = "closed without a snapshot" if session.status == "ended" else "not closed by its agent"
    mark = f"{lacks}, and composed from the journal instead"
    mark = "composed from the journal" if going_on and is_open else mark
    said = f"{session.id} of {session.agent}, {since}, {how}: {mark}"
    return Handover(session.agent, f"{said}{before}", left.body)


def _identity(last: Snapshot) -> str:
    facts = [f"{last.token}: {last.session} of {last.agent}, closed {iso(last.at)}"]
    facts += [last.close_reason]
    facts += [f"branch {last.branch}"] if last.branch else []
    facts += [f"phase {last.phase}"] if last.phase else []
    return ", ".join([*facts, f"turnfile revision {last.revision}"])


def parts(left: Handover) -> tuple[Section, ...]:
    """The eight parts of a snapshot, to be shown in their order."""
    if not left.body:
        return ()
    found = [Section(IDENTITY, left.identity)]
    for title, (_, lines) in snapshot.sections(left.body).items():
        found.append(Section(title, "\n".join(lines).strip("\n")))
    return tuple(found)


def reading(left: Handover) -> tuple[Reading, ...]:
    """The files that the predecessor would have its successor read."""
    return tuple(
        Reading(each.path, each.tokens, each.lines, each.why)
        for each in left.parts.reading
        if each.tokens is not None
    )


# -- how the workspace stands ------------------------------------------------------------------


def coordination(project: Project) -> tuple[Item, ...]:
    """Phase, agents, tasks that are not done, leases, turns, and the newest signals."""
    return tuple(_coordination(project)) if project.coordination is not None else ()


def _coordination(project: Project) -> Iterator[Item]:
    phase = f"phase {project.phase}" if project.phase else "no phase named"
    step = f", step {project.phase_step}" if project.phase_step else ""
    who = project.actors.get(maintainer_of(project))
    status = f" ({who.status})" if who and who.status else ""
    maintained = f"maintained by {maintainer_of(project)}{status}"
    yield Item(f"revision {project.revision}", f"{phase}{step}; {maintained}")
    for actor in project.actors.values():
        if actor.role == "agent":
            note = f": {actor.note}" if actor.note else ""
            yield Item(actor.id, f"{actor.status or 'idle'}{note}")
    for task in project.tasks.values():
        if task.status != "done":
            others = (project.tasks.get(id) for id in task.depends_on)
            waits = [each.id for each in others if each and each.status != "done"]
            after = f", waits on {', '.join(waits)}" if waits else ""
            by = f", {task.agent}" if task.agent else ""
            how = task_status(project, task).replace("_", " ")
            yield Item(task.id, f"{how}{by}, {task.priority}{after}: {task.title}")
    for lease in project.leases.values():
        if lease.status == "held" and lease.files:
            stale = ", stale" if is_stale(project, lease) else ""
            held = f"{lease.agent} holds {', '.join(lease.files)} since revision {lease.revision}"
            yield Item(lease.token, f"{held}{stale}")
    for turn in sorted(project.turns.values(), key=lambda turn: turn.priority):
        yield Item(turn.id, f"{turn.agent} waits for its turn ({turn.priority}): {turn.action}")
    for signal in list(reversed(project.signals.values()))[:SIGNALS]:
        detail = f": {signal.detail}" if signal.detail else ""
        yield Item(signal.id, f"{signal.kind} from {signal.sender} to {signal.to}{detail}")


def status(project: Project) -> tuple[Item, ...]:
    """The status block of the worklog: who works on what, and what waits for the maintainer."""
    return tuple(_status(project)) if project.coordination is not None else ()


def _status(project: Project) -> Iterator[Item]:
    for actor in project.actors.values():
        if actor.role == "agent" and (at := active_task(project, actor.id)):
            following = f"; next: {at.next_action}" if at.next_action else ""
            yield Item(actor.id, f"{at.named} ({at.status}){following}")
    for whose, what in ((maintainer_of(project), "maintainer's focus"), ("", "next for all")):
        if said := project.next_actions.get(whose):
            yield Item(what, said)
    for raised in project.escalations.values():
        if raised.answered is None:
            yield Item(raised.id, f"escalated: {raised.subject}: {raised.reason}")


def mail(project: Project, agent: str) -> tuple[Item, ...]:
    """What an agent has not read, or has to answer for; of all of them where none is named."""
    if not agent:
        waiting = [x for x in project.messages.values() if x.status == "unread"]
        return tuple(_message(project, x, f"to {x.to}, ") for x in reversed(waiting))
    new = unread(project, agent)
    rest = [x for x in to_acknowledge(project, agent) if x not in new]
    return tuple(_message(project, x, "") for x in (*new, *rest))


def _message(project: Project, message: Message, to: str) -> Item:
    due = f", due {message.due}" if message.due not in ("", "none") else ""
    said = f"{to}{message.status}, {message.kind} {message.priority} from {message.sender}{due}"
    body = f" — {message.body}" if message.body else ""
    payload = f" [payload {message.payload.token}]" if message.payload else ""
    handed = f" [hands over {message.snapshot}]" if message.snapshot else ""
    verb = "ack" if message.status == "unread" else "action"
    words = ("mail", verb, message.id, "--reason", "REASON")
    answer = Offer(
        "acknowledge it" if verb == "ack" else "say that it is done",
        command(project, *words, agent=message.to),
    )
    return Item(message.id, f"{said}: {message.subject}{body}{payload}{handed}", offers=(answer,))


def commitments(project: Project, agent: str) -> tuple[Item, ...]:
    """What an agent promised, and what it was promised; of all where none is named."""
    return tuple(
        Item(x.id, f"{x.agent} to {x.to or 'all'}{_due(x.due)}: {x.text}")
        for x in reversed(project.commitments.values())
        if x.status == "open" and agent in ("", x.agent, x.to)
    )


def _due(due: str) -> str:
    return f", due {due}" if due not in ("", "none") else ""


# -- what to do --------------------------------------------------------------------------------


def advise(project: Project, agent: str, left: Handover, otherwise: Advice) -> Advice:
    """What to do first with what a predecessor left; nothing else where there is nothing."""
    has = left.parts
    if not left.body or not (has.task or has.title or has.next_action):
        return otherwise
    title = "" if has.title == has.next_action else has.title
    named = " ".join(filter(None, (has.task, title)))
    named += f" ({has.status})" if named and has.status else ""
    own = left.agent == agent
    begin = "Go on with" if own else f"Take up what {left.agent} left"
    end = f"{' ' if own else ': '}{named}" if named else " what it left" if own else ""
    said = f"{begin}{end}."
    said += f" Next action: {has.next_action.rstrip('.')}." if has.next_action else ""
    task = project.tasks.get(has.task)
    if has.status == "complete" or task is None:
        return Advice("continue", said, otherwise.command, otherwise.offers)
    if task.status == "done":
        done = f"{said} But {task.id} is done by now."
        return Advice("continue", clip(done, 4000), otherwise.command, otherwise.offers)
    if task.agent in ("", agent) or not agent:
        begun = task.status == "in_progress" and task.agent == agent
        verb = "complete" if begun else "start"
        return Advice("continue", said, command(project, "task", verb, task.id, agent=agent))
    who = maintainer_of(project)
    words = ("handoff", "--to", agent, "--from", task.agent)
    handed = Offer(
        f"have it handed over by {who or 'the maintainer'}",
        command(project, *words, agent=who),
    )
    said += f" It is still {task.agent}'s."
    return Advice("continue", said, otherwise.command, (handed, *otherwise.offers))
