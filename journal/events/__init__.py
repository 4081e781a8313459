"""The vocabulary: one frozen Struct for each thing that can happen.

The tags (`type`) and the field names are the storage format. Add, never rename, never reuse.

An event is also how it is asked for: rules take an event as a proposal, fill in what only the
state can know (the next id, the current step), and either admit it or say why not. A field that
names the thing itself (`finding`, `decision`, …) may be left blank in a proposal that makes one.
"""

from journal.events.coordination import *
from journal.events.decision import *
from journal.events.event import *
from journal.events.finding import *
from journal.events.message import *
from journal.events.project import *
from journal.events.redaction import *
from journal.events.session import *
from journal.events.snapshot import *
from journal.events.step import *
from journal.events.task import *
from journal.events.worklog import *

VOCABULARY: dict[str, type[Event]] = {cls.type: cls for cls in Event.__subclasses__()}
