"""The shape of the tables: the four that STATE.md came with, and what they refer to.

`user_version` is the number of this shape: tables of another are made anew, never migrated.
"""

import sqlite3

APPLICATION = 0x50444254  # "PDBT"
FORMAT = 1

INITIATIVES = """CREATE TABLE initiatives (
  id TEXT PRIMARY KEY,
  title TEXT,
  native_id TEXT,
  workflow TEXT,
  status TEXT CHECK (status IN ('active', 'complete', 'archived')),
  opened_at INTEGER,
  updated_at INTEGER
)"""

#: As they were recommended, to the letter: who has queries for them can keep those.
RECOMMENDED = (
    """CREATE TABLE initiative_state (
  initiative_id TEXT PRIMARY KEY REFERENCES initiatives(id),
  current_phase INTEGER,
  current_plan INTEGER,
  current_task TEXT,
  current_wave INTEGER,
  status TEXT,
  progress_json TEXT,
  updated_at INTEGER
)""",
    """CREATE TABLE initiative_decisions (
  id TEXT PRIMARY KEY,
  initiative_id TEXT REFERENCES initiatives(id),
  date INTEGER,
  context TEXT,
  decision TEXT,
  reason TEXT,
  alternatives_json TEXT,
  reversible BOOLEAN
)""",
    """CREATE TABLE initiative_blockers (
  id TEXT PRIMARY KEY,
  initiative_id TEXT REFERENCES initiatives(id),
  status TEXT CHECK (status IN ('active', 'bypassed', 'resolved')),
  description TEXT,
  identified_at INTEGER,
  affects_json TEXT,
  workaround TEXT,
  resolution TEXT,
  resolved_at INTEGER
)""",
    """CREATE TABLE session_history (
  id TEXT PRIMARY KEY,
  initiative_id TEXT REFERENCES initiatives(id),
  agent_id TEXT,
  started_at INTEGER,
  ended_at INTEGER,
  context_usage REAL,
  completed_json TEXT,
  issues_json TEXT,
  handoff_reason TEXT
)""",
)

TASKS = """CREATE TABLE tasks (
  id TEXT PRIMARY KEY,
  initiative_id TEXT REFERENCES initiatives(id),
  title TEXT,
  phase TEXT,
  plan TEXT,
  wave INTEGER,
  status TEXT CHECK (status IN ('open', 'claimed', 'in_progress', 'blocked', 'done')),
  priority TEXT,
  agent TEXT,
  depends_on_json TEXT,
  assigned_at INTEGER,
  completed_at INTEGER
)"""

#: What `search` looks into. A VACUUM leaves only an integer primary key as it is, and the index
#: of the words refers to texts by that.
TEXTS = """CREATE TABLE texts (
  number INTEGER PRIMARY KEY,
  id TEXT UNIQUE,
  initiative_id TEXT REFERENCES initiatives(id),
  kind TEXT,
  item TEXT,
  status TEXT,
  at INTEGER,
  text TEXT
)"""

#: Of which record of each project the tables are, and the time that the file was given when they
#: were written: a file with another time was written by somebody else.
META = """CREATE TABLE passdown_meta (
  project TEXT PRIMARY KEY REFERENCES initiatives(id),
  version INTEGER,
  hash TEXT,
  written INTEGER
)"""

#: The columns of each table, parents first; the first of them tells its rows apart.
COLUMNS = {
    "initiatives": (
        *("id", "title", "native_id", "workflow", "status", "opened_at", "updated_at"),
    ),
    "initiative_state": (
        *("initiative_id", "current_phase", "current_plan", "current_task", "current_wave"),
        *("status", "progress_json", "updated_at"),
    ),
    "initiative_decisions": (
        *("id", "initiative_id", "date", "context", "decision", "reason"),
        *("alternatives_json", "reversible"),
    ),
    "initiative_blockers": (
        *("id", "initiative_id", "status", "description", "identified_at", "affects_json"),
        *("workaround", "resolution", "resolved_at"),
    ),
    "session_history": (
        *("id", "initiative_id", "agent_id", "started_at", "ended_at", "context_usage"),
        *("completed_json", "issues_json", "handoff_reason"),
    ),
    "tasks": (
        *("id", "initiative_id", "title", "phase", "plan", "wave", "status", "priority"),
        *("agent", "depends_on_json", "assigned_at", "completed_at"),
    ),
    "texts": ("id", "initiative_id", "kind", "item", "status", "at", "text"),
}

_INDEXED = {
    "initiatives": ("status",),
    "initiative_decisions": ("initiative_id",),
    "initiative_blockers": ("initiative_id", "status"),
    "session_history": ("initiative_id",),
    "tasks": ("initiative_id", "status"),
    "texts": ("initiative_id",),
}


def create(connection: sqlite3.Connection) -> None:
    """Make the tables in an empty database, as yet without the indexes."""
    for statement in (INITIATIVES, *RECOMMENDED, TASKS, TEXTS, META):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")


def index(connection: sqlite3.Connection) -> None:
    """Index what is in the tables, words included; from here on triggers keep the words."""
    from sqlite_utils import Database  # 88 ms of import, wanted only where tables are made

    database = Database(connection)
    for name, columns in _INDEXED.items():
        for column in columns:
            database.table(name).create_index([column])
    texts = database.table("texts")
    # With the project among the words, one of few texts is searched as quickly as one of many.
    texts.enable_fts(
        ["text", "initiative_id"],
        tokenize="unicode61 remove_diacritics 2",
        create_triggers=True,
    )
    texts.optimize()
