"""One project's files as they are found: how each stands, and how it comes up to date."""

import os
import time
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from journal.digest import sha256
from journal.errors import Invalid, NotFound, Rejected
from journal.events import DriftAdopted
from journal.handle import Handle
from journal.request import Request
from journal.state import Project
from journal.workspace import Workspace
from projections import atomic, ledger, stamp
from projections.places import Unusable, place_of, read_file
from projections.settings import Target, targets

Status: TypeAlias = Literal[
    "fresh", "stale", "missing", "corrupt", "drifted", "ahead", "taken", "unusable"
]
#: What is replaced only when somebody asks for it.
KEPT = ("drifted", "ahead")

_SETTLED = 1.0
#: Of so many versions the beginnings are known without a ledger.
_REMEMBERED = 20


class FileState(Struct, frozen=True):
    """How one file of a project was found, and what was done about it."""

    projection: str
    path: str
    status: Status
    written: bool = False
    #: Where the displaced bytes were set aside, relative to the workspace.
    kept: str = ""
    #: Why it is not up to date, with what to do about it.
    problem: str = ""

    @property
    def well(self) -> bool:
        """Whether nothing is wrong: another project's file is not ours to worry about."""
        return self.status == "taken" or not self.problem


class Desk(Struct):
    """One project's state and files, as they were found."""

    workspace: Workspace
    handle: Handle
    project: Project
    entries: dict[str, ledger.Entry]
    #: Whether edits are adopted now, also where the settings do not say so, and by whom.
    adopting: bool = False
    actor: str | None = None

    def targets(self) -> list[Target]:
        return targets(self.workspace.root, self.project.slug)

    def inspect(self, target: Target) -> FileState:
        try:
            status, _, _ = self.look(target)
            if status == "ahead" and self.handle.state.version > self.project.version:
                self.project = self.handle.state  # somebody recorded and wrote it meanwhile
                status, _, _ = self.look(target)
        except (Unusable, OSError) as e:
            return _unusable(target, e)
        problem = self.problem(target, status)
        return FileState(target.dialect.name, target.path, status, problem=problem)

    def update(self, target: Target, recover: bool, revert: bool) -> FileState:
        """Bring one file up to date, or say why not."""
        try:
            while True:
                if target.adopts:
                    self.adopt_late(target)
                status, content, wanted = self.look(target)
                wished = target.adopts or (self.adopting and target.dialect.adopt is not None)
                if status == "drifted" and wished and content is not None:
                    self.adopt(target, content)
                    continue
                known = self.entry(target) is not None
                kept = problem = ""
                if status == "corrupt" and content and not (known or recover or revert):
                    problem = (
                        f"{target.path} is no {target.dialect.name} file and, as far as is known, "
                        "not Passdown's; `passdown recover` puts the journal's version there and "
                        "keeps what it was"
                    )
                elif status == "taken" or (status in KEPT and not revert):
                    problem = self.problem(target, status)
                if problem:
                    return FileState(target.dialect.name, target.path, status, problem=problem)
                if status != "fresh":
                    path = place_of(self.workspace, target.path)
                    self.clear_leftovers(path)
                    if status in ("corrupt", *KEPT) and content is not None:
                        kept = _set_aside(self.workspace, path.name, content)
                    try:
                        atomic.replace(path, wanted, content, _backup(path))
                    except atomic.Displaced:
                        continue
                written = status != "fresh"
                self.enter(target, wanted, content if written else None)
                return FileState(target.dialect.name, target.path, status, written, kept)
        except (Unusable, OSError) as e:
            return _unusable(target, e)
        except (Invalid, Rejected, NotFound) as e:
            problem = f"{target.path} was edited and cannot be adopted: {e}"
            return FileState(target.dialect.name, target.path, "drifted", problem=problem)

    def adopt(self, target: Target, content: bytes) -> None:
        """Record what an edited file says that the journal does not; then the file is ours."""
        adopt = target.dialect.adopt
        assert adopt is not None
        base, signed = self.base(content, self.entry(target))
        digest = sha256(content).hexdigest()

        def propose(state: Project, now: int) -> list[Request]:
            by = Request(DriftAdopted(target.path, digest), self.actor)
            made = adopt(content, state, target.path, base=base, removals=signed, now=now, by=by)
            return [*made, by]

        self.handle.append_decided(propose)
        self.project = self.handle.state
        self.enter(target, content)

    def adopt_late(self, target: Target) -> None:
        """Adopt what was written into a file after it had become the backup."""
        path = place_of(self.workspace, target.path)
        entry, content = self.entry(target), read_file(_backup(path))
        if entry is None or not content or sha256(content).hexdigest() == entry.backup:
            return None
        if not entry.backup or stamp.holds(content):
            return None
        if not target.dialect.intact(content) and not _settles(_backup(path), content):
            return self.adopt_late(target)
        if target.dialect.intact(content):
            self.adopt(target, content)
            late = replace(entry, backup=sha256(content).hexdigest())
            self.entries[self.key(target)] = late
        return None

    def base(self, content: bytes, entry: ledger.Entry | None) -> tuple[Project | None, bool]:
        """The state that an edited file was rendered from, and whether the file itself says so."""
        signed = stamp.read(content)
        ours = signed is not None and signed.project == self.project.slug
        if signed and ours and self.is_past(signed.version, signed.hash):
            return self.handle.at(signed.version), True
        if entry and self.is_past(entry.version, entry.hash):
            return self.handle.at(entry.version), False
        return None, False

    def clear_leftovers(self, path: Path) -> None:
        """Make room beside a file, and keep what is not ours.

        A killed writer may have left what it had displaced; and who had the file open when it was
        displaced has written into what is the backup now.
        """
        for beside in (*atomic.leftovers(path), _backup(path)):
            content = read_file(beside)
            if content and not stamp.holds(content):
                _set_aside(self.workspace, path.name, content)
        for leftover in atomic.leftovers(path):
            leftover.unlink()

    def key(self, target: Target) -> str:
        """The ledger goes by where a file really is: a link leads to somebody else's."""
        real = place_of(self.workspace, target.path)
        return os.path.relpath(real, os.path.realpath(self.workspace.root))

    def entry(self, target: Target) -> ledger.Entry | None:
        return self.entries.get(self.key(target))

    def enter(self, target: Target, content: bytes, displaced: bytes | None = None) -> None:
        """Note in the ledger what a file holds now, and what it held before."""
        known = self.entry(target)
        backup = known.backup if known else ""
        self.entries[self.key(target)] = ledger.Entry(
            self.project.slug,
            target.dialect.name,
            self.project.content_version,
            self.project.content_hash.hex(),
            sha256(content).hexdigest(),
            backup if displaced is None else sha256(displaced).hexdigest(),
            *_traits(place_of(self.workspace, target.path), content),
        )

    def look(self, target: Target) -> tuple[Status, bytes | None, bytes]:
        """How a file stands, what is in it, and what should be."""
        wanted = target.dialect.render(self.project)
        path = place_of(self.workspace, target.path)
        content = read_file(path)
        entry = self.entry(target)
        if target.shared and _owner(entry, content) not in (None, self.project.slug):
            return "taken", content, wanted
        if content is None:
            return "missing", None, wanted
        if content == wanted:
            return "fresh", content, wanted
        if made_from := self.source(content, entry):
            return "stale" if self.is_past(*made_from) else "ahead", content, wanted
        if self.is_corrupt(target, content, entry, wanted):
            # Somebody may be in the middle of writing it.
            if _settles(path, content):
                return "corrupt", content, wanted
            return self.look(target)
        return "drifted", content, wanted

    def source(self, content: bytes, entry: ledger.Entry | None) -> tuple[int, str] | None:
        """Version and hash that a file was made from, if we made it: ledger or stamp know."""
        if entry is not None and entry.digest == sha256(content).hexdigest():
            return entry.version, entry.hash
        signed = stamp.read(content)
        if signed is None or signed.project != self.project.slug or not stamp.holds(content):
            return None
        return signed.version, signed.hash

    def is_past(self, version: int, hash: str) -> bool:
        """Whether the journal has the record that a file was made from."""
        if not 1 <= version <= self.project.version:
            return False
        record = next(self.handle.records(version - 1, version), None)
        return record is not None and record.hash.hex() == hash

    def is_corrupt(
        self, target: Target, content: bytes, entry: ledger.Entry | None, wanted: bytes
    ) -> bool:
        """Whether it is nobody's words: not of the dialect, or cut off what was written."""
        if wanted.startswith(content):
            return True
        if not target.dialect.intact(content):
            # What still ends in our stamp was not cut off: somebody is at work on it.
            return not (_is_text(content) and stamp.read(content))
        if stamp.read(content):
            return False
        past = [entry.version] if entry else self._recent()
        return any(
            target.dialect.render(self.handle.at(version)).startswith(content)
            for version in past
            if 0 < version < self.project.version
        )

    def _recent(self) -> list[int]:
        """The versions that a file may be of, where no ledger says which: the last of them."""
        return list(range(self.project.version - 1, 0, -1))[:_REMEMBERED]

    def problem(self, target: Target, status: Status) -> str:
        match status:
            case "drifted":
                return (
                    f"{target.path} was edited outside Passdown and is left as it is; `passdown "
                    f"drift` shows the edit, `passdown drift --{_choices(target)} it"
                )
            case "ahead":
                return (
                    f"{target.path} was made from records that the journal does not have, and is "
                    "left as it is; restore the newer journal, or `passdown recover --drifted` "
                    "puts this journal's version there and keeps the file"
                )
            case "taken":
                entry = self.entry(target)
                owner = entry.project if entry else "another project"
                return (
                    f"{target.path} belongs to {owner}; give each project its own with path = "
                    f'"…/{{project}}/…" under [projections.{target.dialect.name}] in passdown.toml'
                )
            case _:
                return ""


def _choices(target: Target) -> str:
    if target.dialect.adopt is None:
        return "revert` puts the journal's version back and keeps"
    return "adopt` records it, `passdown drift --revert` puts the journal's version back and keeps"


def _traits(path: Path, content: bytes) -> tuple[int, int]:
    """Size and time of a file that holds this content, if it still does."""
    try:
        found = path.stat()
    except OSError:
        return -1, 0
    return (found.st_size, found.st_mtime_ns) if found.st_size == len(content) else (-1, 0)


def _backup(path: Path) -> Path:
    return path.with_name(path.name + ".bak")


def _owner(entry: ledger.Entry | None, content: bytes | None) -> str | None:
    if entry is not None:
        return entry.project
    signed = stamp.read(content) if content is not None else None
    return signed.project if signed else None


def _is_text(content: bytes) -> bool:
    try:
        return "\0" not in content.decode()
    except UnicodeDecodeError:
        return False


def _settles(path: Path, content: bytes) -> bool:
    """Whether a file stays as it is until nobody has touched it for a second."""
    age = time.time() - path.stat().st_mtime
    end = time.monotonic() + (_SETTLED - age if 0 <= age < _SETTLED else _SETTLED * (age < 0))
    while time.monotonic() < end:
        time.sleep(0.05)
        if read_file(path) != content:
            return False
    return True


def _set_aside(workspace: Workspace, name: str, content: bytes) -> str:
    """Keep displaced bytes under .passdown/lost; the same bytes are kept once."""
    folder = workspace.folder / "lost"
    kept = folder / f"{sha256(content).hexdigest()[:12]}-{name}"
    if not kept.exists():
        folder.mkdir(exist_ok=True)
        atomic.replace(kept, content, None, None)
    return os.path.relpath(kept, workspace.root)


def _unusable(target: Target, error: Exception) -> FileState:
    why = str(error)
    if isinstance(error, OSError):
        why = f"{target.path} cannot be used: {error.strerror}; mend that and run `passdown sync`"
    return FileState(target.dialect.name, target.path, "unusable", problem=why)
