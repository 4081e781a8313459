"""Lists of what a project has: a table for people, a document for programs."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec
from msgspec import Struct

from cli import output
from cli.document import entity_data
from cli.recording import chosen, opened
from cli.screen import Cell, table
from journal import Project

Answer = TypeVar("Answer", bound=Struct)


def state_of(project: str) -> Project:
    """The state of the project that was named, else of the only one."""
    with opened() as (_, journal):
        return chosen(journal, project).state


def told(form: type[Answer], thing: Struct, **own: object) -> Answer:
    """An entity as an answer, times in ISO 8601; `own` is what does not follow from it alone."""
    return msgspec.convert({**entity_data(thing), **own}, form)


def show_list(
    found: Sequence[Answer],
    as_json: bool,
    head: Sequence[str],
    row: Callable[[Answer], Sequence[Cell | str]],
    none: str,
) -> None:
    """Print a list, or that there is none."""
    if as_json:
        output.document(found)
        return
    if not found:
        output.line(none)
        return
    for line in table([[Cell(word, "dim") for word in head], *map(row, found)]):
        output.line(line)
