"""What of a worklog is no fact: its words, kept beside what the state would say there."""

from collections.abc import Iterator

from journal import events as e
from journal.state import Project
from projections import narrative
from projections.leftovers import Object, digest
from projections.narrative import Piece
from projections.worklog.document import ARCHIVE, NAME, form, own
from projections.worklog.naming import texts
from projections.worklog.reading import Block
from projections.worklog.status import IDLE

#: Parts that only frame what there is: where a file that nobody knows has none, it needs none.
_FRAME = ("title", "intro", "focus", "checkpoint", "index", "archived")


def pieces_of(blocks: list[Block], names: dict[int, str]) -> Iterator[Piece]:
    """The file as the parts that it has, each table and the status block with its end."""
    last = {
        "status.end": _last(blocks, ("title", "working", "focus", "checkpoint", "escalation")),
        "index.end": _last(blocks, ("index", "index.table", "decision")),
        "archived.end": _last(blocks, ("archived", "archived.table", "archived.row")),
    }
    marked = {block.key for block in blocks if block.kind == "completed"}
    for n, block in enumerate(blocks):
        name = names.get(n) or _part(block)
        yield Piece(name, block.text)
        entry = name.removeprefix("entry/")
        if entry != name and entry not in marked:
            yield Piece(f"completed/{entry}", "")
        yield from (Piece(end, "") for end, at in last.items() if at == n)


def _last(blocks: list[Block], kinds: tuple[str, ...]) -> int:
    return max((n for n, block in enumerate(blocks) if block.kind in kinds), default=-1)


def _part(block: Block) -> str:
    """The part that a block is, where its kind says it."""
    match block.kind:
        case "escalation" | "session" | "completed" | "snapshot":
            return f"{block.kind}/{block.key}"
        case "archived.row":
            return f"archived/{block.key}"
        case "entry" | "decision" | "working" | "other":
            return ""
    return block.kind


def left(
    pieces: list[Piece],
    before: Object,
    project: Project,
    name: str,
    *,
    removals: bool,
    old: frozenset[str],
) -> list[e.Leftover]:
    """What of the file is to be kept beside the facts; `old` are the parts that it could have."""
    alone, shown = own(project, name), form(project, name)
    now, there = texts(alone), texts(shown)
    found = narrative.left(pieces, before, alone, shown, removals=removals)
    kept = [x for x in found if x.file or x.path[0] != "parts" or there.get(x.path[-1])]
    was, file = texts(before), {piece.name for piece in pieces}
    for part, text in now.items():
        # What only frames the rest, nobody misses who wrote the file without it.
        if text and part not in file and part not in old and _frames(part, text):
            kept.append(e.Leftover(("parts", part), digest(text)))
    other = texts(own(project, ARCHIVE if name == NAME else NAME))
    for piece in pieces:
        # What was edited meanwhile went into the other file, and takes the edit with it.
        gone = piece.name.startswith("entry/") and piece.name not in now and piece.name in other
        if gone and piece.text != was.get(piece.name, piece.text):
            kept.append(e.Leftover(("parts", piece.name), digest(other[piece.name]), (piece.text,)))
    return kept


def _frames(part: str, text: str) -> bool:
    """Whether a part says nothing of its own."""
    idle = part.startswith("working/") and text.endswith(f": {IDLE}\n")
    return part in _FRAME or part.startswith("session/") or part.endswith(".table") or idle
