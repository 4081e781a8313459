"""What `--json` promises: one Struct for each form of answer, from which docs/CLI.md is made.

Fields are added, never renamed or taken away.
"""

from collections.abc import Callable
from typing import Any, Literal, TypeVar

from msgspec import Struct

from cli.proofs import HeldAnswer
from journal.events import Event, Json, Move
from journal.store import Flaw
from projections.files import FileState

Command = TypeVar("Command", bound=Callable[..., Any])


class RecordAnswer(Struct, frozen=True):
    """A record with its event. Times are ISO 8601 in UTC, hashes hexadecimal."""

    version: int
    id: str
    type: str
    #: The event's fields, see EVENTS.md; those at their default are left out.
    data: Event
    at: str
    occurred: str | None
    actor: str | None
    session: str | None
    cause: str | None
    hash: str
    #: Whether what it said was erased; the hashes are as they were.
    redacted: bool


class LeafAnswer(Struct, frozen=True):
    """What one leaf of the state was and is; null where there was, or is, nothing.

    `path` is as `passdown why` takes it; `events` are the versions that set it.
    """

    path: str
    change: Literal["added", "changed", "removed"]
    old: Json
    new: Json
    events: list[int]


class ChangesAnswer(RecordAnswer, frozen=True):
    """A record with every leaf that it changed, but for what only counts or finds others."""

    changes: list[LeafAnswer]


class BlockerAnswer(Struct, frozen=True):
    """What an active blocker keeps from going on, or what is free again once it is not.

    `escalated` means that nothing at all can go on, and a person is needed; `resume` are the
    commands by which work goes on with what is free.
    """

    blocker: str
    status: Literal["active", "bypassed", "resolved"]
    tasks: list[str]
    steps: list[str]
    escalated: bool
    resume: list[str]


class ArchivedAnswer(Struct, frozen=True):
    """Since when a project is archived, and where its files were and are."""

    archived: str
    moved: list[Move]
    #: What is not so, though it should be; nothing if every file is where it belongs.
    wanting: list[str]


class Recorded(Struct, frozen=True):
    """What a recording command did. `repeated`: the id was known and nothing was added."""

    project: str
    version: int
    appended: list[RecordAnswer]
    repeated: bool
    #: Whether every file is up to date; null if that was not asked for.
    synced: bool | None
    #: Each file of one projection; of those that are many, which were written or have a problem.
    files: list[FileState]
    warnings: list[str]
    #: Where a blocker was raised, bypassed or resolved, or tasks of it changed.
    blockers: list[BlockerAnswer]
    #: What is to be done now that the last phase is done: commands, without `passdown`.
    offers: list[str]
    #: Where the project was archived, or asked to be.
    archived: ArchivedAnswer | None


class ProjectAnswer(Struct, frozen=True):
    """One project of the workspace."""

    project: str
    title: str
    workflow: str
    version: int
    current_step: str
    steps_done: int
    steps: int
    updated: str
    archived: bool
    aborted: bool
    #: When it was archived, and where its files were and are.
    archived_at: str | None
    moved: list[Move]


class Rendered(Struct, frozen=True, rename={"form": "as"}):
    """A project as the content of one of its files."""

    project: str
    form: str
    content: str


class TokenSum(Struct, frozen=True):
    """A sum of tokens; `name` says whose: an agent's, a step's, or '' where nobody was named."""

    name: str
    input: int
    output: int
    cached: int


class TokensAnswer(Struct, frozen=True):
    """What calls to models cost, in all, by agent and by step."""

    project: str
    total: TokenSum
    agents: list[TokenSum]
    steps: list[TokenSum]


class Synced(Struct, frozen=True):
    """How the files of each project were found, and what was done about them."""

    ok: bool
    projects: dict[str, list[FileState]]
    #: The tables, where `passdown tables` has made any.
    tables: FileState | None = None


class JournalAnswer(Struct, frozen=True):
    """How the journal itself is; versions by project, if nothing is wrong."""

    ok: bool
    versions: dict[str, int]
    flaws: list[Flaw]


class Verified(Struct, frozen=True):
    """How the journal and every file are; `ok` if all is well."""

    ok: bool
    journal: JournalAnswer
    projects: dict[str, list[FileState]]
    #: The tables, where `passdown tables` has made any.
    tables: FileState | None = None
    #: The seals that the journal was to be held against.
    seals: list[HeldAnswer] = []


class RedactedAnswer(Struct, frozen=True):
    """What was redacted of one project, or would be; `by` is the version that records it."""

    project: str
    redacted: list[int]
    #: What was redacted before, and what holds nothing that could be erased.
    already: list[int]
    empty: list[int]
    by: int | None


class ErasedAnswer(Struct, frozen=True):
    """What an erasure came to; `ok` if nothing of it is left that is in reach."""

    ok: bool
    dry_run: bool
    projects: list[RedactedAnswer]
    #: The copies that were removed.
    removed: list[str]
    #: What is still to be done, in sentences.
    open: list[str]
    #: Versions of projects that hold the same text.
    also: dict[str, list[int]]
    #: What may still hold it and is out of reach.
    beyond: list[str]


class ImportedAnswer(Struct, frozen=True):
    """What an import came to in one project: records added, known before, redacted now."""

    project: str
    added: int
    known: int
    redacted: int
    version: int


class BackedUp(Struct, frozen=True):
    """Where a backup is, and up to which version it has each project."""

    path: str
    versions: dict[str, int]


class RestoredAnswer(Struct, frozen=True):
    """Up to which version the journal has each project now, and where the old one is kept."""

    versions: dict[str, int]
    kept: str


class SalvagedAnswer(Struct, frozen=True):
    """What was salvaged of one project, and why the rest was not."""

    project: str
    salvaged: int
    lost: int
    reason: str


class Rebuilt(Struct, frozen=True):
    """What `recover --journal` did; `kept` is where the damaged files are."""

    ok: bool
    rebuilt: bool
    kept: str | None
    projects: list[SalvagedAnswer]


class ProposedAnswer(Struct, frozen=True):
    """An event that would be recorded, in words and as data."""

    type: str
    words: str
    data: Event
    occurred: str | None


class AdoptedAnswer(Struct, frozen=True):
    """A file that was adopted; `proposed` has the events of a dry run."""

    path: str
    project: str
    version: int
    appended: list[RecordAnswer]
    proposed: list[ProposedAnswer]
    warnings: list[str]


class ChangeAnswer(Struct, frozen=True):
    """What an edit changed at one place; of a list, what left it and what came."""

    path: str
    where: str
    was: list[Json]
    now: list[Json]


class DriftAnswer(Struct, frozen=True):
    """Which files were edited outside Passdown, how, and what was done about it."""

    project: str
    drifted: list[str]
    changes: list[ChangeAnswer]
    files: list[FileState]


class ErrorAnswer(Struct, frozen=True, omit_defaults=True):
    """Why nothing was done. Which of the optional fields are there depends on the kind."""

    kind: str
    message: str
    exit: int
    asked: str = ""
    state: str = ""
    allowed: tuple[str, ...] = ()
    near: tuple[str, ...] = ()


class Failed(Struct, frozen=True):
    """The answer of any command that failed; its exit code is the same."""

    error: ErrorAnswer


def answers(*forms: Any) -> Callable[[Command], Command]:
    """Say which forms of answer a command has; a test holds what it prints against them."""

    def mark(command: Command) -> Command:
        command.answers = forms  # type: ignore[attr-defined]
        return command

    return mark
