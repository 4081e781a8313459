"""The fold is a table from event class to function; each module has its part."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from journal.entities import Project
from journal.events import Event
from journal.record import Record

Folds: TypeAlias = Mapping[type[Event], Callable[[Project, Any, Record], None]]
