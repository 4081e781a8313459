"""Orchestrations: what one is called, its phases, and how it is executed."""

import re
import unicodedata
from datetime import date
from typing import Annotated, Literal, TypeAlias

import typer

from cli.recording import recording
from journal.clock import day
from journal.errors import Invalid, quoted
from journal.events import Event, Execution, ExecutionChosen
from journal.workflows import Workflow, generic, orchestration

Mode: TypeAlias = Annotated[
    Literal["sequential", "parallel"] | None,
    typer.Option(
        "--mode", help="How an orchestration means to go on; what may run at once is its policy's."
    ),
]
Complexity: TypeAlias = Annotated[
    str, typer.Option("--complexity", help="How complex an orchestration's task is.")
]

_TOPIC = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_DATED = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:-(.*))?", re.DOTALL)
#: A session id names a project, which has room for 100 characters; eleven are for the date.
_LONGEST = 89


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    recording(app, "execution")(execution)


def of_phases(text: str) -> Workflow:
    """An orchestration of the phases that a text names, one after the other."""
    names = [name.strip() for name in text.split(";") if name.strip()]
    if not names:
        raise Invalid('--phases names no phase; write them like "Design; Build; Test"')
    return orchestration(generic(names).steps)


def session_id(topic: str, now: int) -> str:
    """What an orchestration is called: its topic behind its date, which is today's if not given."""
    dated = _DATED.fullmatch(topic)
    if dated is None:
        return f"{day(now)}-{_checked(topic)}"
    on, rest = dated[1], dated[2]
    try:
        date.fromisoformat(on)
    except ValueError as e:
        raise Invalid(
            f"{quoted(topic)} begins with {on}, which is no date; leave it out for today's"
        ) from e
    if not rest:
        raise Invalid(f"{quoted(topic)} is a date without a topic; write it like {on}-rate-limiter")
    return f"{on}-{_checked(rest)}"


def topic_of(session: str) -> str:
    """The topic in a session id, as words."""
    return session[11:].replace("-", " ").capitalize()


def _checked(topic: str) -> str:
    """The topic, if it is a slug; else refused with the one that it would be."""
    if _TOPIC.fullmatch(topic) and len(topic) <= _LONGEST:
        return topic
    plain = unicodedata.normalize("NFKD", topic[:1000].casefold()).encode("ascii", "ignore")
    slug = re.sub(r"[^a-z0-9]+", "-", plain.decode()).strip("-")[:_LONGEST].strip("-")
    hint = f"; as one it would be {slug}" if slug else ", like rate-limiter"
    raise Invalid(
        f"{quoted(topic)} is no topic; it is up to {_LONGEST} lowercase letters and digits with "
        f"single hyphens between{hint}"
    )


def execution(
    mode: Mode = None,
    backend: Annotated[
        str, typer.Option("--backend", help="What runs its agents, such as native.")
    ] = "",
    workflow: Annotated[
        str, typer.Option("--workflow-mode", help="How much of it there is, such as express.")
    ] = "",
    complexity: Complexity = "",
) -> Event:
    """Say how an orchestration is executed; what is not given stays as it is.

    This is told to whoever goes on. What may run at once is not changed by it: that is up to the
    project's policy and to the phases planned as parallel (`passdown step adjust N --parallel`).

    Example: passdown execution --mode parallel -p 2026-05-01-limiter
    """
    chosen = Execution(mode or "", backend, workflow, complexity)
    if chosen == Execution():
        raise Invalid(
            "what is chosen? give --mode, --backend, --workflow-mode or --complexity, each once"
        )
    return ExecutionChosen(chosen)


def executed(flow: Workflow, mode: str | None, complexity: str) -> Execution | None:
    """How a project that is opened is executed, where it is an orchestration at all."""
    if flow.execution is None:
        if mode or complexity:
            raise Invalid(
                f"--{'mode' if mode else 'complexity'} is for an orchestration; name its phases "
                "with --phases, or give a workflow file that has an [execution] table"
            )
        return None
    planned = flow.execution
    return Execution(
        mode or planned.mode, planned.backend, planned.workflow, complexity or planned.complexity
    )
