"""Finding things by their words: ranked, each with the piece of text in which the words are."""

import sqlite3
from contextlib import closing

import msgspec
from msgspec import Struct

from journal import Journal
from journal.clock import iso
from journal.errors import Invalid, JournalUnavailable
from journal.workspace import Workspace
from projections.tables.writing import FILE, Shown, connect, examine, fill, keep

#: More words than anybody types, and fewer than the index can take at once.
_MOST_WORDS = 64
#: Of more texts with the words than this only the newest are ranked: each one costs some 4 µs.
_RANKED = 1000
#: How many words of a text are shown around those that were found.
_AROUND = 16
_FROM, _TO = "\x02", "\x03"

_BEST = f"""SELECT number, score FROM (
  SELECT texts_fts.rowid AS number, bm25(texts_fts, 1, 0) AS score
  FROM texts_fts CROSS JOIN texts ON texts.number = texts_fts.rowid
  WHERE texts_fts MATCH :words AND (:project = '' OR texts.initiative_id = :project)
  ORDER BY texts_fts.rowid DESC LIMIT {_RANKED}
) ORDER BY score, number DESC LIMIT :limit"""
#: With one look into the index for all: by the numbers alone, of which the plus keeps it, it would
#: look for the words anew for each.
_SHOWN = f"""SELECT number, texts.initiative_id, kind, item, status, at,
  snippet(texts_fts, 0, '{_FROM}', '{_TO}', '…', {_AROUND})
FROM texts_fts CROSS JOIN texts ON texts.number = texts_fts.rowid
WHERE texts_fts MATCH :words AND texts_fts.rowid BETWEEN :first AND :last
  AND +texts_fts.rowid IN (SELECT value FROM json_each(:numbers))"""


class Hit(Struct, frozen=True):
    """A thing with the words in it. `item` is its id, or the place of a note among the notes."""

    project: str
    kind: str
    item: str
    #: How it stands, such as open or resolved; "" where nothing comes to an end.
    status: str
    at: str | None
    #: The piece of its text with the words, on one line.
    snippet: str
    #: Where in the snippet they are: begin and end of each match.
    matches: list[tuple[int, int]]


def search(
    workspace: Workspace, journal: Journal, words: str, project: str = "", limit: int = 20
) -> list[Hit]:
    """What has all of these words in it, the best match first; the last may be a word's beginning.

    The tables are made or brought up to date first, where they are not.
    """
    heads = {head.project: Shown(head.version, head.hash.hex()) for head in journal.store.heads()}
    if heads.keys() == {project}:
        project = ""  # there is nothing to tell it from
    query = _query(words, project)
    try:
        with closing(_tables(workspace, journal, heads)) as connection:
            return _hits(connection, query, project, limit)
    except sqlite3.Error as error:
        raise JournalUnavailable(
            f"{workspace.folder / FILE} cannot be read: {error}; delete it and search again"
        ) from error


def _tables(workspace: Workspace, journal: Journal, heads: dict[str, Shown]) -> sqlite3.Connection:
    """Tables that are of now."""
    path = workspace.folder / FILE
    status, known = examine(path)
    if status == "fresh" and known == heads:
        return connect(path, "ro")
    handles = [journal.project(slug) for slug in heads]
    try:
        problem = keep(workspace, handles, whole=True).problem
    except JournalUnavailable as error:
        problem = str(error)
    if not problem:
        return connect(path, "ro")
    # Where nothing can be written, searching takes longer, and that is all.
    connection = sqlite3.connect(":memory:", isolation_level=None)
    fill(connection, (handle.state for handle in handles))
    return connection


def _query(words: str, project: str) -> str:
    """The words as the index takes them: each in quotes, so that none of them is an operator."""
    shown = "".join(c if c.isprintable() else " " for c in words)
    wanted = [word for word in shown.split() if any(c.isalnum() for c in word)]
    if not wanted:
        raise Invalid("no words to search for; name one with a letter or a digit in it")
    if len(wanted) > _MOST_WORDS:
        raise Invalid(f"{len(wanted)} words are too many to search for; name {_MOST_WORDS} at most")
    quoted = " ".join('"' + word.replace('"', '""') + '"' for word in wanted)
    query = f"{{text}} : ({quoted}*)"
    # A project of a longer name may have this one's words in it, so it is compared once more.
    return f'{query} AND {{initiative_id}} : "{project}"' if project else query


def _hits(connection: sqlite3.Connection, query: str, project: str, limit: int) -> list[Hit]:
    ranked = connection.execute(_BEST, {"words": query, "project": project, "limit": limit})
    numbers = [number for number, _ in ranked]
    if not numbers:
        return []
    asked = {
        "words": query,
        "first": min(numbers),
        "last": max(numbers),
        "numbers": msgspec.json.encode(numbers).decode(),
    }
    shown = {number: _hit(*rest) for number, *rest in connection.execute(_SHOWN, asked)}
    return [shown[number] for number in numbers]


def _hit(
    project: str, kind: str, item: str, status: str | None, at: int | None, marked: str
) -> Hit:
    snippet, matches = _unmarked(marked)
    when = None if at is None else iso(at * 1000)
    return Hit(project, kind, item, status or "", when, snippet, matches)


def _unmarked(marked: str) -> tuple[str, list[tuple[int, int]]]:
    """The text on one line, and where the matches are in it.

    A text may have the marks in it, as it may have anything: the worst that comes of it is a match
    in the wrong place.
    """
    shown = ""
    matches: list[tuple[int, int]] = []
    begun = None
    for c in marked:
        if c == _FROM:
            begun = len(shown)
        elif c == _TO:
            if begun is not None:
                matches.append((begun, len(shown)))
            begun = None
        elif c.isprintable() and c != " ":
            shown += c
        elif shown and not shown.endswith(" "):
            shown += " "
    shown = shown.rstrip()
    return shown, [(begin, min(end, len(shown))) for begin, end in matches if begin < len(shown)]
