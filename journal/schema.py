"""The journal database's own shape, and the way from one format to the next.

The database holds the journal and nothing derived. `user_version` is the format's number; the
statements below are compared letter by letter when a journal is verified.
"""

import sqlite3

APPLICATION = 0x50415344  # "PASD"
FORMAT = 1

STATEMENTS = {
    "records": """CREATE TABLE records (
  position INTEGER PRIMARY KEY,
  project TEXT NOT NULL,
  version INTEGER NOT NULL CHECK (version > 0),
  id TEXT NOT NULL,
  type TEXT NOT NULL,
  data BLOB NOT NULL,
  salt BLOB CHECK (salt IS NULL OR length(salt) = 16),
  commitment BLOB NOT NULL CHECK (length(commitment) = 32),
  at INTEGER NOT NULL,
  occurred INTEGER,
  actor TEXT,
  session TEXT,
  cause TEXT,
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  UNIQUE (project, version),
  UNIQUE (project, id)
)""",
    "heads": """CREATE TABLE heads (
  project TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  hash BLOB NOT NULL CHECK (length(hash) = 32)
) WITHOUT ROWID""",
    # INSERT OR REPLACE deletes without firing a delete trigger, so insertion itself must refuse
    # whatever would replace: a version, an id or a position that is there.
    "records_append_only": """CREATE TRIGGER records_append_only BEFORE INSERT ON records
WHEN NEW.version <> 1 + coalesce((SELECT max(version) FROM records WHERE project = NEW.project), 0)
  OR EXISTS (SELECT 1 FROM records WHERE project = NEW.project AND id = NEW.id)
  OR EXISTS (SELECT 1 FROM records WHERE position = NEW.position)
BEGIN SELECT RAISE(ABORT, 'records are appended at head + 1'); END""",
    # The one update that is allowed, and only once, is redaction: the salt goes, and with it the
    # masked fields may change; everything that the chain is made of stays.
    "records_unchanged": """CREATE TRIGGER records_unchanged BEFORE UPDATE ON records
WHEN OLD.salt IS NULL OR NEW.salt IS NOT NULL
  OR NEW.position IS NOT OLD.position OR NEW.project IS NOT OLD.project
  OR NEW.version IS NOT OLD.version OR NEW.id IS NOT OLD.id OR NEW.type IS NOT OLD.type
  OR NEW.commitment IS NOT OLD.commitment OR NEW.at IS NOT OLD.at
  OR NEW.occurred IS NOT OLD.occurred OR NEW.cause IS NOT OLD.cause OR NEW.hash IS NOT OLD.hash
BEGIN SELECT RAISE(ABORT, 'records are never changed'); END""",
    "records_kept": """CREATE TRIGGER records_kept BEFORE DELETE ON records
BEGIN SELECT RAISE(ABORT, 'records are never deleted'); END""",
}


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a database to the present format at once; the caller holds the write lock."""
    # 83 ms of import, wanted only where a journal is made or changes format.
    from sqlite_utils import Database

    database = Database(connection)
    with database.atomic():
        if connection.execute("PRAGMA user_version").fetchone()[0] < 1:
            for statement in STATEMENTS.values():
                database.execute(statement)
        database.execute(f"PRAGMA application_id = {APPLICATION}")
        database.execute(f"PRAGMA user_version = {FORMAT}")
