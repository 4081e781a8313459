"""What the page of a report is made of. Times are milliseconds since 1970."""

from typing import Literal, TypeAlias

from msgspec import Struct

from projections.report.texts import Text

#: How a thing stands: the page has a colour and a sign for each.
Tone: TypeAlias = Literal["good", "busy", "bad", "warn", "quiet", ""]
#: What is at a leaf now: nothing, a text, or for a list where it differs: the place, how many were
#: taken out there, and what came in.
Leaf: TypeAlias = Text | tuple[int | Text, ...] | None


class About(Struct, frozen=True):
    """The project as a whole."""

    slug: str
    title: str
    workflow: str
    native: str
    branch: str
    status: str
    tone: Tone
    begun: int
    ended: int
    following: str


class Proof(Struct, frozen=True):
    """What was found when the journal was checked for this page, and up to where."""

    well: bool
    version: int
    hash: str
    #: What was checked, or what is wrong, each in a sentence.
    said: tuple[str, ...]


class Tile(Struct, frozen=True, array_like=True):
    """A number that says how things are: the part, of how many (0: of no whole), what it counts."""

    count: int
    whole: int
    name: str
    tone: Tone
    section: str


class Span(Struct, frozen=True, array_like=True):
    """A stretch of time on a lane; without an end it goes on."""

    begin: int
    end: int | None
    tone: Tone
    name: str


class Lane(Struct, frozen=True, array_like=True):
    """A line of the timeline: a step, an agent with its sessions, or a blocker."""

    kind: Literal["step", "agent", "blocker"]
    name: str
    title: Text
    about: str
    sign: str
    tone: Tone
    spans: tuple[Span, ...]


class Use(Struct, frozen=True, array_like=True):
    """What an agent used: its sums, and how their total grew, as times and totals in turns."""

    name: str
    input: int
    output: int
    cached: int
    growth: tuple[int, ...]


class Item(Struct, frozen=True, array_like=True):
    """One thing of a section: its id and how it stands, its title, and what there is to know."""

    thing: int
    #: The one event that it is about; 0 where it is about all that the thing went through.
    version: int
    id: str
    sign: str
    tone: Tone
    title: Text
    about: tuple[tuple[str, Text], ...]
    begin: int | None
    #: When it was over; where it begins and does not end, it lasts.
    end: int | None
    #: Whether how long it took is what one wants to know.
    lasts: bool


class Section(Struct, frozen=True):
    """Things of one kind."""

    name: str
    title: str
    says: str
    items: tuple[Item, ...]


class Event(Struct, frozen=True, array_like=True):
    """One record: what happened, who did it, what it has to say, and what it changed."""

    at: int
    #: When it was recorded, if that was later.
    recorded: int | None
    type: int
    actor: int
    session: int
    step: str
    said: str
    tone: Tone
    bookkeeping: bool
    #: Whether its text was erased, and what stands there is what a redaction left.
    redacted: bool
    id: str
    cause: str
    hash: str
    #: Field and value in turns.
    data: tuple[str | Leaf, ...]
    #: Thing, field and what is there now, in turns.
    changes: tuple[int | Leaf, ...]


class Page(Struct, frozen=True):
    """All that a page shows."""

    about: About
    proof: Proof
    tiles: tuple[Tile, ...]
    lanes: tuple[Lane, ...]
    uses: tuple[Use, ...]
    sections: tuple[Section, ...]
    events: tuple[Event, ...]
    #: Collection and key of everything that ever was; what the project itself has is in none.
    things: tuple[tuple[str, str], ...]
    fields: tuple[str, ...]
    types: tuple[str, ...]
    actors: tuple[str, ...]
    sessions: tuple[str, ...]
    texts: tuple[str, ...]
