"""What a brief consists of."""

from typing import Literal

from msgspec import Struct, field

from projections.protocol import Caution, Offer, Verdict

#: Where the files of a project are that its workflow names, and the state among them.
FOLDER = "agent-output/{project}"
STATE = "00-session-state.json"


class Item(Struct, frozen=True, omit_defaults=True):
    """One thing to know, by the id that commands take, and what can be done about it."""

    id: str
    text: str
    #: Where a document has changed: the lines of the difference.
    lines: tuple[str, ...] = ()
    offers: tuple[Offer, ...] = ()


class Phase(Struct, frozen=True, omit_defaults=True):
    """A phase of an orchestration and how it stands; `next` are those that may start now."""

    phase: str
    name: str
    status: Literal["pending", "in_progress", "complete", "failed", "skipped"]
    text: str
    next: bool = False
    waits_on: tuple[str, ...] = ()
    #: The errors of it that nobody has resolved.
    errors: tuple[str, ...] = ()


class Reading(Struct, frozen=True, omit_defaults=True):
    """A file to read, about how many tokens that costs, and why one would."""

    path: str
    tokens: int
    lines: int | None = None
    why: str = ""


class Section(Struct, frozen=True):
    """One part of what a predecessor left, as it stands there."""

    part: str
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
    next_action: str = ""
    #: The step that was asked about; empty if none was.
    asked: str = ""
    #: The version as of which it is, where it is not about how the project stands now.
    as_of: int | None = None
    #: Among peers who goes on, and whose work it is if that is another's.
    reader: str = ""
    predecessor: str = ""
    #: How many items of each topic were left out, and the command that shows all of those topics.
    left_out: dict[str, int] = field(default_factory=dict)
    more: str = ""
    #: What at the top had to be cut short, in full, where that was asked for.
    texts: tuple[Item, ...] = ()
    #: From here on the other topics, in the order of their worth; in each the newest comes first.
    offers: tuple[Offer, ...] = ()
    warnings: tuple[Caution, ...] = ()
    #: What of a predecessor's snapshot does not hold, and its eight parts.
    checks: tuple[Item, ...] = ()
    snapshot: tuple[Section, ...] = ()
    #: Where agents share a workspace: how that stands, who is at what, what mail waits for the
    #: agent, and what its predecessor would have it read.
    coordination: tuple[Item, ...] = ()
    status: tuple[Item, ...] = ()
    mail: tuple[Item, ...] = ()
    reading: tuple[Reading, ...] = ()
    #: What was left behind and is not as it was left, by its file; of an orchestration also the
    #: phases that were begun and are not finished.
    mismatches: tuple[Item, ...] = ()
    findings: tuple[Item, ...] = ()
    blockers: tuple[Item, ...] = ()
    errors: tuple[Item, ...] = ()
    #: Of an orchestration each phase that is not done, and the last that is complete.
    phases: tuple[Phase, ...] = ()
    questions: tuple[Item, ...] = ()
    commitments: tuple[Item, ...] = ()
    #: Files that are not what was written last, by their path.
    drift: tuple[Item, ...] = ()
    decisions: tuple[Item, ...] = ()
    context: tuple[Item, ...] = ()
    #: What the step's startup budget allows to be read, and what of it is not there.
    load: tuple[Reading, ...] = ()
    missing: tuple[str, ...] = ()
    #: What was read for the step before the checkpoint.
    skip_reading: tuple[str, ...] = ()
    artifacts: tuple[str, ...] = ()
    history: tuple[Item, ...] = ()
    #: Where a project was not found: the names that are like it.
    near: tuple[str, ...] = ()
