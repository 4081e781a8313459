"""What the last session left behind in files, held against what is there now."""

from collections.abc import Mapping

from msgspec import Struct

from journal.entities import Context, File, Project, last_files
from journal.live import LEFT
from projections.brief.brief import Item


class Remains(Struct, frozen=True):
    """A file as it is found: its digest, and which of the texts that it should have it has."""

    digest: str
    has: frozenset[str] = frozenset()


def expected(project: Project) -> dict[str, set[str]]:
    """The files that should be as they were left, and the texts that each should have."""
    found: dict[str, set[str]] = {file.path: set() for file in _newest(project)}
    for note in _claims(project):
        found.setdefault(note.file, set()).add(note.contains)
    return found


def mismatches(project: Project, found: Mapping[str, Remains | None]) -> tuple[Item, ...]:
    """What is not as it was left, and how it is instead; what nobody looked at is as it was."""
    items = []
    for file in _newest(project):
        now = found.get(file.path, Remains(file.digest))
        if now is None:
            items.append(Item(file.path, f"was {file.change} in the last session, and is gone"))
        elif file.digest and now.digest != file.digest:
            was, by = file.digest[:12], now.digest[:12]
            items.append(Item(file.path, f"is not what was recorded: it was {was}, it is {by}"))
    for note in _claims(project):
        now = found.get(note.file, Remains("", frozenset((note.contains,))))
        if now is None or note.contains not in now.has:
            gone = "is gone" if now is None else "has it no more"
            items.append(Item(note.file, f"“{note.text}” rests on “{note.contains}” in it: {gone}"))
    return tuple(items)


def _newest(project: Project) -> list[File]:
    """The last session's files; of very many those that it changed last."""
    return sorted(last_files(project), key=lambda file: file.at)[-LEFT:]


def _claims(project: Project) -> list[Context]:
    """The implementations that can be held against a file."""
    return [
        note
        for note in project.context
        if note.kind == "implementation" and note.file and note.contains
    ]
