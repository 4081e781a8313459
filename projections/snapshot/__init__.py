"""Snapshots: what an agent leaves when it closes a session, in both directions.

A snapshot is eight parts: who and when, which stands in front as YAML, and seven that its body has
as sections. It is composed from a state, written as the entry of a file, read back from there, and
held against the state of now.
"""

from projections.snapshot.checking import NAMES, Check, checks
from projections.snapshot.claim import Claim, claimed, recorded
from projections.snapshot.composing import Size, Words, compose, composed, left_open, to_measure
from projections.snapshot.parts import ACTIVE, PARTS, Parts
from projections.snapshot.reading import Entry, entries, read, sections
from projections.snapshot.writing import body, entry, heading

__all__ = [
    "ACTIVE",
    "NAMES",
    "PARTS",
    "Check",
    "Claim",
    "Entry",
    "Parts",
    "Size",
    "Words",
    "body",
    "checks",
    "claimed",
    "compose",
    "composed",
    "entries",
    "entry",
    "heading",
    "left_open",
    "read",
    "recorded",
    "sections",
    "to_measure",
]
