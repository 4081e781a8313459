"""The projects as tables of a database, for any tool that speaks SQL, and for finding words."""

from projections.tables.finding import Hit, search
from projections.tables.rows import rows
from projections.tables.schema import COLUMNS
from projections.tables.writing import FILE, copy, counts, inspect, keep, make

__all__ = ["COLUMNS", "FILE", "Hit", "copy", "counts", "inspect", "keep", "make", "rows", "search"]
