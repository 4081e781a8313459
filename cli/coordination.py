"""Who is next, what is signalled, which phase it is, and what the maintainer has to see to."""

from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from cli import options
from cli.answers import answers
from cli.group import group
from cli.listing import show_list, state_of, told
from cli.peers import EscalationAnswer, SignalAnswer, TurnAnswer
from cli.recording import recording
from cli.screen import Cell
from journal import Project, peers
from journal import events as e
from journal.errors import Invalid, Rejected
from journal.rules.names import command

turns = group("Ask for a turn, take it, and see who is next.")
signals = group("Send a short word to another agent, or to all.")
phases = group("Say which phase a shared workspace is in.")
escalations = group("Raise what the maintainer has to see to, and answer it.")

Turn = Annotated[str, typer.Argument(help="The turn's id, such as TURN-001, or 1.")]
Escalation = Annotated[str, typer.Argument(help="The escalation's id, such as ESC-001, or 1.")]


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.add_typer(turns, name="turn")
    app.add_typer(signals, name="signal")
    app.add_typer(phases, name="phase")
    app.add_typer(escalations, name="escalation")


# -- turns -----------------------------------------------------------------------------------


@recording(turns, "request")
def request_turn(
    action: Annotated[str, typer.Argument(help="What the turn is wanted for.")],
    priority: Annotated[
        e.Priority, typer.Option("--priority", help="P0 goes before P1, P1 before P2.")
    ] = "P1",
    agent: options.Agent = "",
) -> e.Event:
    """Ask to be next.

    Example: passdown turn request "Merge the parser" --priority P0 --actor coder
    """
    return e.TurnRequested(action, agent, priority)


@recording(turns, "take")
def take_turn(
    turn: Annotated[
        str,
        typer.Argument(
            metavar="[TURN]", help="The turn's id, such as TURN-001; your next one if not given."
        ),
    ] = "",
    actor: options.Actor = "",
) -> e.Event | Callable[[Project, int], Sequence[e.Event]]:
    """Take your turn, once nobody's comes before it.

    Example: passdown turn take --actor coder
    """
    if turn:
        return e.TurnTaken(turn)
    if not actor:
        raise Invalid("whose turn is it? say so with --actor, or name the turn")

    def propose(state: Project, now: int) -> list[e.Event]:
        own = next((each for each in _queue(state) if each.agent == actor), None)
        if own is None:
            offer = command("turn", "request", "ACTION", "--actor", actor)
            raise Rejected("take a turn", f"{actor} has not asked for one", [offer])
        return [e.TurnTaken(own.id)]

    return propose


@recording(turns, "withdraw")
def withdraw_turn(turn: Turn, reason: options.Reason = "") -> e.Event:
    """Record that a turn is not wanted any more.

    Example: passdown turn withdraw TURN-001 --reason "done by somebody else" --actor coder
    """
    return e.TurnWithdrawn(turn, reason)


@recording(turns, "move")
def move_turn(
    turn: Turn,
    before: Annotated[
        str, typer.Option("--before", help="The turn in front of which; the end if not given.")
    ] = "",
    reason: options.Reason = "",
) -> e.Event:
    """Move a turn in the queue, as the maintainer; among those of one priority that decides.

    Example: passdown turn move 2 --before 1 --reason "the release waits for it" --actor ada
    """
    return e.TurnMoved(turn, before, reason)


@answers(list[TurnAnswer])
def list_turns(project: options.Project = "", as_json: options.AsJson = False) -> None:
    """List who waits for a turn, whoever is next first.

    Example: passdown turn list
    """
    state = state_of(project)
    found = [told(TurnAnswer, each) for each in _queue(state)]
    head = ("id", "", "agent", "asked at", "action")
    show_list(found, as_json, head, _turn, f"{state.slug}: nobody waits for a turn")


turns.command("list")(list_turns)


def _queue(state: Project) -> Sequence[peers.Turn]:
    return sorted(state.turns.values(), key=lambda turn: turn.priority)


def _turn(turn: TurnAnswer) -> list[Cell]:
    return [
        Cell(turn.id, "cyan"),
        Cell(turn.priority, "red" if turn.priority == "P0" else ""),
        Cell(turn.agent),
        Cell(f"revision {turn.requested}", "dim"),
        Cell(turn.action),
    ]


# -- signals ---------------------------------------------------------------------------------


@recording(signals, "send")
def send_signal(
    kind: Annotated[
        e.Signal,
        typer.Argument(help="ready, blocked, handoff, yield, request_turn or notify."),
    ],
    to: Annotated[str, typer.Option("--to", help="Who is to see it; all if not given.")] = "all",
    detail: Annotated[str, typer.Option("--detail", help="More about it.")] = "",
    agent: options.Agent = "",
) -> e.Event:
    """Send a short word to another agent, or to all.

    Example: passdown signal send ready --to reviewer --detail "the parser is in" --actor coder
    """
    return e.SignalSent(kind, to, detail, agent)


@answers(list[SignalAnswer])
def list_signals(project: options.Project = "", as_json: options.AsJson = False) -> None:
    """List what was signalled, the newest first.

    Example: passdown signal list
    """
    state = state_of(project)
    found = [told(SignalAnswer, each) for each in reversed(state.signals.values())]
    head = ("id", "from", "to", "signal", "sent at", "detail")
    show_list(found, as_json, head, _signal, f"{state.slug}: nothing was signalled")


signals.command("list")(list_signals)


def _signal(signal: SignalAnswer) -> list[Cell]:
    return [
        Cell(signal.id, "cyan"),
        Cell(signal.sender),
        Cell(signal.to),
        Cell(signal.kind),
        Cell(f"revision {signal.revision}", "dim"),
        Cell(signal.detail),
    ]


# -- what is the maintainer's ----------------------------------------------------------------


@recording(phases, "advance")
def advance_phase(
    phase: Annotated[str, typer.Argument(help="What the phase is called.")],
    step: Annotated[
        str, typer.Option("--step", help="What its step is called, if it has any.")
    ] = "",
    reason: options.Reason = "",
) -> e.Event:
    """Move on to another phase, or another step of it, as the maintainer, with a reason.

    Example: passdown phase advance build --step 2 --reason "the design is approved" --actor ada
    """
    return e.PhaseAdvanced(phase, step, reason)


@recording(escalations, "raise")
def raise_escalation(
    subject: Annotated[str, typer.Argument(help="What the maintainer has to see to.")],
    reason: options.Reason = "",
    message: Annotated[
        str, typer.Option("--message", help="The message that waits for an answer.")
    ] = "",
) -> e.Event:
    """Raise something that the maintainer has to see to; mail that waited too long is by itself.

    Example: passdown escalation raise "Nobody answers for the lexer" --reason "two sessions now"
    """
    return e.EscalationRaised(subject, reason, message)


@recording(escalations, "answer")
def answer_escalation(
    escalation: Escalation,
    answer: Annotated[str, typer.Argument(help="What was done, or is to be done.")],
) -> e.Event:
    """Answer what was escalated, as the maintainer.

    Example: passdown escalation answer ESC-001 "coder takes the lexer" --actor ada
    """
    return e.EscalationAnswered(escalation, answer)


@answers(list[EscalationAnswer])
def list_escalations(project: options.Project = "", as_json: options.AsJson = False) -> None:
    """List what was escalated, what nobody has answered first.

    Example: passdown escalation list
    """
    state = state_of(project)
    raised = sorted(state.escalations.values(), key=lambda each: each.answered is not None)
    found = [told(EscalationAnswer, each) for each in raised]
    head = ("id", "message", "subject", "why", "answer")
    show_list(found, as_json, head, _escalation, f"{state.slug}: nothing was escalated")


escalations.command("list")(list_escalations)


def _escalation(each: EscalationAnswer) -> list[Cell]:
    return [
        Cell(each.id, "cyan" if each.answered else "red"),
        Cell(each.message or "-"),
        Cell(each.subject),
        Cell(each.reason),
        Cell(each.answer if each.answered else "none yet"),
    ]
