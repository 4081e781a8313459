"""How each host of agents speaks with its hooks: what its events mean, and what it takes as answer.

| | context is taken at | what ends a session |
|---|---|---|
| claude-code | SessionStart | Stop (its host waits for the next word), SessionEnd |
| gemini | SessionStart, BeforeAgent | SessionEnd |
| codex | SessionStart | Stop |
"""

from typing import Literal, TypeAlias

from msgspec import Struct

#: What a host's event means here: a session begins, goes on, is alive, or is at its end.
Meaning: TypeAlias = Literal["start", "continue", "alive", "end"]

#: Sources of a SessionStart after which the session is the one it was.
_CONTINUED = ("resume", "compact", "fork")


class Moment(Struct, frozen=True):
    """An event of a host: what it means, and whether the answer may add to the agent's context."""

    means: Meaning
    takes_context: bool = False
    #: How long the host waits, less what it takes to give up.
    seconds: float = 4.0


HOSTS: dict[str, dict[str, Moment]] = {
    "claude-code": {
        "SessionStart": Moment("start", takes_context=True),
        "UserPromptSubmit": Moment("alive"),
        "PreCompact": Moment("alive"),
        "Stop": Moment("end"),
        "SessionEnd": Moment("end", seconds=1.2),
    },
    "gemini": {
        "SessionStart": Moment("start", takes_context=True),
        "BeforeAgent": Moment("alive", takes_context=True),
        "PreCompress": Moment("alive"),
        "SessionEnd": Moment("end", seconds=1.2),
    },
    "codex": {
        "SessionStart": Moment("start", takes_context=True),
        "UserPromptSubmit": Moment("alive"),
        "Stop": Moment("end"),
    },
}


class Told(Struct, frozen=True):
    """What a host says on stdin, as far as it concerns us."""

    session_id: str = ""
    cwd: str = ""
    source: str = ""
    agent_type: str = ""


class _Context(Struct, frozen=True, rename="camel"):
    hook_event_name: str
    additional_context: str


class _Answer(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """No host takes a key that it does not know, so that only what is said is there."""

    hook_specific_output: _Context | None = None
    system_message: str = ""


def legible(text: str) -> str:
    """The text as UTF-8 can carry it; bytes that the system has as no text are shown as such."""
    try:
        return text.encode(errors="surrogateescape").decode(errors="backslashreplace")
    except UnicodeEncodeError:
        return text.encode(errors="backslashreplace").decode()


def meaning(moment: Moment, source: str) -> Meaning:
    """What an event means, given from where the session comes."""
    return "continue" if moment.means == "start" and source in _CONTINUED else moment.means


def answer(event: str, moment: Moment, context: str = "", note: str = "") -> _Answer:
    """The answer that a host takes at an event; a note goes where the agent or its user sees it."""
    if not moment.takes_context:
        return _Answer(system_message=legible(note))
    said = legible("\n\n".join(filter(None, (context, note))))
    return _Answer(_Context(event, said)) if said else _Answer()
