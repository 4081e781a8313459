"""From what a worklog, or its archive, says to the requests that make it so.

The file is held against a base, the project as it was when the file was rendered, and only where
the two differ something is proposed: the same file adopted again comes to nothing. Entries, the
rows of the decision index and the lines on top become facts; the words in which a file has them,
and whatever is beside them, come out again to the letter.
"""

import re
from collections.abc import Container, Iterable, Iterator

from msgspec.structs import replace

from journal import events as e
from journal.entities import maintainer_of
from journal.errors import Invalid
from journal.request import Request
from journal.rules.names import known_actor
from journal.state import Project
from journal.worklog import is_done
from projections import narrative
from projections.adopting import begun, concluded, registered
from projections.draft import Draft, moment_of
from projections.leftovers import Object
from projections.worklog import keeping, telling
from projections.worklog.document import ARCHIVE, KINDS, NAME, form, own
from projections.worklog.naming import entry_names, row_names, texts
from projections.worklog.reading import Block, read
from projections.worklog.status import IDLE, NEXT, NONE

_TITLE = re.compile(
    r"#[ \t].*?\bworklog\b(?:[ \t]+archive\b)?[ \t]*[—–:-]+[ \t]*(.+)", re.IGNORECASE
)
_NOTHING = re.compile(r"(?:idle|none|nothing|n/a|tbd|[-—–]|<.*>)?\.?", re.IGNORECASE)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def adopt_bytes(
    content: bytes,
    project: Project,
    path: str,
    *,
    name: str = NAME,
    base: Project | None = None,
    removals: bool = False,
    now: int,
    by: Request,
) -> list[Request]:
    """The requests by which a project comes to what a file says.

    `base` is the state that the file was rendered from, the present one if that is not known;
    what is missing in the file is believed to be gone only with `removals`. `by` has who asks.
    """
    text = narrative.words(content, KINDS[name])
    blocks = read(text, name)
    if not any(block.kind == "title" for block in blocks):
        title = "Worklog" if name == NAME else "Worklog Archive"
        raise Invalid(f"the file is not {KINDS[name]}: it has no title `# {title}`; restore it")
    draft = Draft(project, by, now)
    first = base is None or not project.version
    draft.occurred = _written(text, now) if first else now
    if not project.version:
        begun(draft, path, native=_called(blocks))
        base = draft.project.copy()
    base = project if base is None else base
    before, held = form(base, name), form(draft.project, name)
    others = form(draft.project, ARCHIVE if name == NAME else NAME)
    names = row_names(blocks, before, held)
    names |= entry_names(blocks, (before, held, others), draft.project)
    if name == NAME:
        names |= _status(draft, blocks, before)
        names |= _decisions(draft, blocks, names)
    names |= _entries(draft, blocks, names, before, name, first=first)
    pieces = list(keeping.pieces_of(blocks, names))
    old = frozenset() if first else frozenset(texts(own(base, name)))
    left = keeping.left(pieces, before, draft.project, name, removals=removals, old=old)
    return concluded(draft, name, path, content, left)


def _called(blocks: Iterable[Block]) -> str:
    """What the title says that the worklog is of."""
    line = next(block.lines[0] for block in blocks if block.kind == "title").rstrip()
    found = _TITLE.fullmatch(line)
    return telling.plain(found[1])[:100] if found and not _NOTHING.fullmatch(found[1]) else ""


def _written(text: str, now: int) -> int:
    """The last day that the file names, if it is past, for it was not written before; else now.

    That is said outright: the words of a file stand for what is rendered of just that time.
    """
    days = [moment_of(found) for found in set(_DAY.findall(text))]
    return max((each for each in days if each is not None and each <= now), default=now)


# -- facts -----------------------------------------------------------------------------------


def _agent(draft: Draft, name: str) -> str:
    """The actor that a file means by a name, registered if need be; empty if none can be called
    that."""
    try:
        return registered(draft, name)
    except Invalid:
        return ""


def _status(draft: Draft, blocks: Iterable[Block], before: Object) -> dict[int, str]:
    """Record what the lines on top say that they did not say before; the parts that they are."""
    parts = texts(before)
    names: dict[int, str] = {}
    for n, block in enumerate(blocks):
        said = "" if _NOTHING.fullmatch(block.said) else telling.plain(block.said)
        match block.kind:
            case "working":
                name = telling.plain(block.key)
                # In a template that nobody has filled in nobody is named either.
                blank = re.fullmatch(r"<.*>", block.said) and not _actor(draft.project, name)
                agent = "" if blank else _agent(draft, name)
                if not agent:
                    continue
                names[n] = f"working/{agent}"
                known = parts.get(f"working/{agent}", "").rstrip("\n").partition("): ")[2]
            case "focus":
                agent, known = maintainer_of(draft.project), _value(parts, "focus")
            case "checkpoint":
                agent, known = "", _value(parts, "checkpoint")
            case _:
                continue
        if block.said not in (known, "") and (said or known not in ("", IDLE, NONE)):
            task = f"{known.partition(NEXT)[0]}{NEXT}"
            following = telling.plain(block.said.removeprefix(task)) if said else ""
            draft.add(e.NextActionSet(following, agent), actor=agent or None)
    return names


def _value(parts: dict[str, str], name: str) -> str:
    return parts.get(name, "").rstrip("\n").partition(": ")[2]


def _decisions(draft: Draft, blocks: list[Block], names: dict[int, str]) -> dict[int, str]:
    """The rows of the index that are not known, the lowest first: it is the oldest."""
    found: dict[int, str] = {}
    for n in reversed(range(len(blocks))):
        cells = _cells(blocks[n].said) if blocks[n].kind == "decision" else []
        if n in names or len(cells) != 4 or not cells[0]:
            continue
        said, owner, at, _ = cells
        agent = _actor(draft.project, owner)
        made = e.DecisionMade(choice=said, agent=agent or owner)
        draft.add(made, moment_of(at), actor=agent or None, nobody=not agent, must=True)
        found[n] = f"decision/{next(reversed(draft.project.decisions))}"
    return found


def _actor(project: Project, owner: str) -> str:
    """The actor that an owner in a table means; empty if it may be several, or nobody here."""
    name = owner.partition(" (")[0].strip()
    known = known_actor(project, name) if name.lower() == "maintainer" else name.lower()
    return next((id for id in project.actors if id.lower() == known.lower()), "")


def _cells(row: str) -> list[str]:
    """The cells of a row; a bar behind a backslash is none."""
    cells = re.split(r"(?<!\\)\|", row.strip())
    return [telling.plain(cell.strip()) for cell in cells[1:-1]]


def _entries(
    draft: Draft,
    blocks: list[Block],
    names: dict[int, str],
    before: Object,
    name: str,
    *,
    first: bool,
) -> dict[int, str]:
    """Log the entries that are new, complete those that say so now, and file what was moved."""
    found: dict[int, str] = {}
    moved: list[str] = []
    parts = texts(before)
    claimed = {block.key for block in blocks if block.kind == "entry"}
    fresh = dict(_new(blocks, names))
    agents = _agents(draft.project, blocks, fresh)
    for n, block in enumerate(blocks):
        if block.kind != "entry":
            continue
        if told := fresh.get(n):
            agent = _agent(draft, told.agent) if told.agent.lower() in agents else ""
            if agent:
                event = _logged(draft.project, told, agent, block.number or 0, claimed)
                at = told.at if told.at is not None else moment_of(block.day if first else "")
                draft.add(replace(event, archived=name == ARCHIVE), at, actor=agent, must=True)
                found[n] = f"entry/{event.entry}"
            continue
        known = names.get(n, "").partition("/")[2]
        if not known:
            continue
        entry = draft.project.worklog[known]
        if name == ARCHIVE and entry.archived is None:
            moved.append(known)
        text, was = block.text, parts.get(names[n], "")
        if entry.completed is None and text != was:
            done = is_done(telling.status(text)) and not is_done(telling.status(was))
            if done or name == ARCHIVE:
                draft.add(e.WorklogEntryCompleted(known), actor=entry.agent)
    if moved and first:
        # An archive that was there before us was approved of then; what is needed still stays.
        for id in moved:
            draft.add(e.WorklogCompacted((id,)), actor=maintainer_of(draft.project))
    elif moved:
        draft.add(e.WorklogCompacted(tuple(moved)), must=True)
    return found


def _new(blocks: list[Block], names: dict[int, str]) -> Iterator[tuple[int, telling.Told]]:
    """What the entries say that are not known, by the number of their block."""
    for n, block in enumerate(blocks):
        told = telling.told(block.text) if block.kind == "entry" and n not in names else None
        if told is not None:
            yield n, told


def _agents(project: Project, blocks: list[Block], new: dict[int, telling.Told]) -> set[str]:
    """The agents that headings can name, in small letters: whoever is known, and by one word
    whoever has an entry where entries are, or a handoff block."""
    found = {"maintainer", *(id.lower() for id in project.actors)}
    for n, told in new.items():
        there = blocks[n].number is not None or told.handoff is not None
        if there and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", told.agent):
            found.add(told.agent.lower())
    return found


def _logged(
    project: Project, told: telling.Told, agent: str, number: int, claimed: Container[str]
) -> e.WorklogEntryLogged:
    """What is recorded of an entry that is new; an id that another entry of the file has is not
    given to one without."""
    own = told.known not in project.worklog and re.fullmatch(r"W\d{3,9}", told.known)
    return e.WorklogEntryLogged(
        told.title,
        told.text,
        agent,
        number,
        told.handoff,
        tuple(id for id in told.refers if id in project.worklog),
        told.known if own else _free(project, claimed),
    )


def _free(project: Project, claimed: Container[str]) -> str:
    """An id that no entry has."""
    number = len(project.worklog) + 1
    while (id := f"W{number:03}") in project.worklog or id in claimed:
        number += 1
    return id
