"""The brief: what a resuming agent is shown, composed from small parts and cut to a limit.

A part is a function of the project that gives the items of one topic, the newest first. A dialect
that has something to say adds a field to `Brief`, the part that fills it in `compose`, and its
place in `TOPICS`: budget, counting and the commands that show what was left out come with that.
"""

from projections.brief.brief import FOLDER, STATE, Brief, Item, Phase, Reading
from projections.brief.fitting import Form, fit
from projections.brief.parts import compose, fresh, named_files
from projections.brief.rendering import render
from projections.brief.topics import TOPICS, only

__all__ = [
    "FOLDER",
    "STATE",
    "TOPICS",
    "Brief",
    "Form",
    "Item",
    "Phase",
    "Reading",
    "compose",
    "fit",
    "fresh",
    "named_files",
    "only",
    "render",
]
