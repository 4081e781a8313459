"""The fold is a table from event class to function; each module has its part."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from journal.entities import Project
from journal.events import Event
from journal.record import Record

Fold: TypeAlias = Callable[[Project, Any, Record], None]
Folds: TypeAlias = Mapping[type[Event], Fold]
