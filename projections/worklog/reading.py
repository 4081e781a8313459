"""A worklog, or its archive, cut into blocks: what each line belongs to, whoever wrote it.

The texts of the blocks, one after the other, are the file. A block that begins with a heading, or a
table, has the blank lines above it.
"""

import re
from typing import Literal, TypeAlias

from msgspec import Struct

from projections.worklog.document import NAME
from projections.worklog.fences import hidden
from projections.worklog.index import NO_ROWS
from projections.worklog.rendering import title
from projections.worklog.telling import heading

Kind: TypeAlias = Literal[
    "title",
    "intro",
    "working",
    "focus",
    "checkpoint",
    "escalation",
    "index",
    "index.table",
    "decision",
    "archived",
    "archived.table",
    "archived.row",
    "session",
    "entry",
    "completed",
    "snapshot",
    "other",
]


class Block(Struct):
    """Some lines of a file: what they are, whose or which, and what they say."""

    kind: Kind
    lines: list[str]
    key: str = ""
    said: str = ""
    #: The number and day of the session that it stands under, if under any.
    number: int | None = None
    day: str = ""

    @property
    def text(self) -> str:
        return "".join(self.lines)


_INTRO = "Completed entries that were moved here from WORKLOG.md."
_STATUS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("working", re.compile(r"Now Working \((?P<key>[^()]+)\):(?P<said>.*)")),
    ("focus", re.compile(r"(?P<key>)Maintainer Focus(?: \([^()]*\))?:(?P<said>.*)")),
    ("checkpoint", re.compile(r"(?P<key>)Next Review Checkpoint:(?P<said>.*)")),
    ("escalation", re.compile(r"Escalated (?P<key>[A-Za-z0-9._-]+):(?P<said>.*)")),
)
_TABLES: dict[str, Kind] = {"## decision index": "index", "## archived sessions": "archived"}
_SESSION = re.compile(r"## Session (?P<key>\d{1,9})\b(?P<said>.*)", re.IGNORECASE)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_SNAPSHOT = re.compile(r"### .* <!-- snapshot (?P<key>[A-Za-z0-9._-]+) -->")
_COMPLETED = re.compile(r"Completed [^\s:]+(?::.*)? <!-- (?P<key>[A-Za-z0-9._-]+) -->")
_RULE = re.compile(r"\|(?:[ \t]*:?-+:?[ \t]*\|)+")
_ROWS: tuple[Kind, ...] = ("index.table", "decision", "archived.table", "archived.row")
_HEADING = re.compile(r"#{1,3}[ \t]")


def read(text: str, name: str = NAME) -> list[Block]:
    """The blocks of a file."""
    return [block for block in _Reader(text, name).blocks if block.lines]


class _Reader:
    """One pass over the lines of a file."""

    def __init__(self, text: str, name: str) -> None:
        self.blocks: list[Block] = []
        self._lines = _lines(text)
        self._plain = [line.rstrip() for line in self._lines]
        self._aside = hidden(self._plain)
        self._seen: set[str] = set()
        #: Which part of the file the lines belong to.
        self._part = "top"
        self._number: int | None = None
        self._day = ""
        found = title(text, name)
        self._title = text.count("\n", 0, found.start()) if found else -1
        self._name = name
        n = 0
        while n < len(self._lines):
            n = self._take(n)

    def _take(self, n: int) -> int:
        """Take the line, and whatever belongs to it; the next line that is to be taken."""
        line = self._plain[n]
        if n in self._aside or not line:
            return self._more(n)
        if n == self._title:
            return self._titled(n)
        if self._part == "top" and (begun := self._status(line)):
            kind, found = begun
            return self._put(kind, n, n + 1, found["key"].strip(), found["said"].strip())
        if line.startswith("#"):
            return self._headed(n, line)
        if self._part in ("index", "archived") and line.startswith("|"):
            return self._row(n, line)
        if self._part == "entry" and (completed := _COMPLETED.fullmatch(line)):
            self._part = "body"
            return self._put("completed", n, n + 1, completed["key"], above=True)
        if self._name != NAME and line == _INTRO:
            return self._put("intro", n, n + 1)
        return self._more(n)

    def _titled(self, n: int) -> int:
        end = n + 1
        if end < len(self._lines) and not self._plain[end]:
            end += 1
        return self._put("title", n, end)

    def _status(self, line: str) -> tuple[Kind, re.Match[str]] | None:
        for kind, form in _STATUS:
            found = form.fullmatch(line)
            if found and kind + found["key"] not in self._seen:
                self._seen.add(kind + found["key"])
                return kind, found
        return None

    def _headed(self, n: int, line: str) -> int:
        """A heading begins something; one below the third level only belongs to an entry."""
        if not _HEADING.match(line):
            return self._more(n)
        table = _TABLES.get(line.lower())
        if self._name == NAME and table and table not in self._seen:
            self._seen.add(table)
            self._part = table
            empty = self._plain[n + 1 : n + 2] == [""] and self._plain[n + 2 : n + 3]
            return self._put(table, n, n + (3 if empty and empty[0] in NO_ROWS else 1), above=True)
        if found := _SESSION.fullmatch(line):
            day = _DAY.search(found["said"])
            self._number, self._day = int(found["key"]), day[0] if day else ""
            self._part = "body"
            return self._put("session", n, n + 1, str(self._number), above=True)
        if found := _SNAPSHOT.fullmatch(line):
            end = self._end(n + 1)
            self._part = "body"
            return self._put("snapshot", n, end, found["key"], above=True)
        if line.startswith("### ") and (head := heading(line)):
            self._part = "entry"
            return self._put("entry", n, n + 1, head.known, head.agent, above=True)
        self._part = "body"
        return self._put("other", n, n + 1, above=True)

    def _row(self, n: int, line: str) -> int:
        """A row of one of the tables, or the two lines that one begins with."""
        begun = f"{self._part}.table"
        follows = self._plain[n + 1] if n + 1 < len(self._lines) else ""
        if begun not in self._seen and _RULE.fullmatch(follows):
            self._seen.add(begun)
            kind: Kind = "index.table" if self._part == "index" else "archived.table"
            return self._put(kind, n, n + 2, above=True)
        if begun not in self._seen or self.blocks[-1].kind not in _ROWS:
            return self._more(n)  # the table ended above
        if self._part == "index":
            return self._put("decision", n, n + 1, said=line)
        number = line.strip("| ").split("|")[0].strip()
        return self._put("archived.row", n, n + 1, number, line)

    def _end(self, n: int) -> int:
        """Where a paragraph and what belongs to it ends: at most two lines after a blank one."""
        n += n < len(self._lines) and not self._plain[n]
        begun = n
        while n < len(self._lines) and n < begun + 2 and self._plain[n] and n not in self._aside:
            if self._plain[n].startswith("#"):
                break
            n += 1
        return n

    def _put(
        self, kind: Kind, n: int, end: int, key: str = "", said: str = "", *, above: bool = False
    ) -> int:
        """Begin a block with some lines; with `above` it has the blank lines above it."""
        lines = self._lines[n:end]
        if above and self.blocks and self.blocks[-1].kind != "title":
            last = self.blocks[-1].lines
            blank = next((m for m, line in enumerate(reversed(last)) if line.strip()), len(last))
            lines = last[len(last) - blank :] + lines
            del last[len(last) - blank :]
        self.blocks.append(Block(kind, lines, key, said, self._number, self._day))
        return end

    def _more(self, n: int) -> int:
        """A line of what is there already, if that takes any; else of nobody's."""
        last = self.blocks[-1] if self.blocks else None
        if last is not None and (last.kind == "other" or last.kind == self._part == "entry"):
            last.lines.append(self._lines[n])
        else:
            self.blocks.append(Block("other", [self._lines[n]], "", "", self._number, self._day))
        return n + 1


def _lines(text: str) -> list[str]:
    """The lines of a text with their ends; only a line feed ends one."""
    found = [f"{line}\n" for line in text.split("\n")]
    found[-1] = found[-1][:-1]
    return found if found[-1] else found[:-1]
