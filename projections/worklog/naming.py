"""Which part of a document a block of a file is: by its words, by its id, by its heading, by its
body, whichever is first found to be the same."""

from collections.abc import Callable, Iterable

from journal.state import Project
from projections.leftovers import Object
from projections.worklog import telling
from projections.worklog.reading import Block


def texts(document: Object, key: str = "parts") -> dict[str, str]:
    """The parts of a document by their names."""
    found = document[key]
    return {k: v for k, v in found.items() if isinstance(v, str)} if isinstance(found, dict) else {}


def entry_names(
    blocks: list[Block], documents: Iterable[Object], project: Project
) -> dict[int, str]:
    """The parts that are entries which are known, by the number of their block."""
    names: dict[int, str] = {}
    taken: set[str] = set()
    documents = tuple(documents)
    _match(names, taken, blocks, "entry", documents, (_words,))
    for n, block in enumerate(blocks):
        name = f"entry/{block.key}"
        marked = block.kind == "entry" and block.key in project.worklog
        if marked and n not in names and name not in taken:
            names[n] = name
            taken.add(name)
    _match(names, taken, blocks, "entry", documents, (_heading, _body))
    return {n: name for n, name in names.items() if name.partition("/")[2] in project.worklog}


def row_names(blocks: list[Block], before: Object, shown: Object) -> dict[int, str]:
    """The parts that are decisions which are known, by the number of their block."""
    names: dict[int, str] = {}
    _match(names, set(), blocks, "decision", (before, shown), (_words, _first_cell))
    return names


def _match(
    names: dict[int, str],
    taken: set[str],
    blocks: list[Block],
    kind: str,
    documents: Iterable[Object],
    ways: Iterable[Callable[[str], str]],
) -> None:
    """Name the blocks of a kind after the parts that are the same in some way, each once."""
    known = [
        (name, text)
        for document in documents
        for name, text in texts(document).items()
        if name.startswith(f"{kind}/")
    ]
    for way in ways:
        free: dict[str, list[str]] = {}
        for name, text in known:
            same = free.setdefault(way(text), [])
            if name not in taken and name not in same:
                same.append(name)
        for n, block in enumerate(blocks):
            same = free.get(way(block.text), []) if block.kind == kind and n not in names else []
            while same and same[0] in taken:
                same.pop(0)
            if same and way(block.text):
                names[n] = same.pop(0)
                taken.add(names[n])


def _words(text: str) -> str:
    return text.strip()


def _heading(text: str) -> str:
    return text.strip().partition("\n")[0].rstrip()


def _body(text: str) -> str:
    return text.strip().partition("\n")[2].strip()


def _first_cell(text: str) -> str:
    cells = text.strip().split("|")
    return telling.plain(cells[1].strip()) if len(cells) > 2 else ""
