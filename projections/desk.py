"""One project's files as they are found: how each stands, and how it comes up to date."""

import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from journal.digest import sha256
from journal.disk import fsync
from journal.errors import Invalid, NotFound, Rejected
from journal.events import DriftAdopted
from journal.handle import Handle
from journal.request import Request
from journal.state import Project
from journal.workspace import Workspace
from projections import atomic, ledger, stamp
from projections.dialect import TREES
from projections.places import Unusable, place_of, read_file
from projections.planning import TIMELESS
from projections.settings import Target, TreeTarget, layout

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
    #: What killed writers left in the folders of trees.
    leftovers: list[Path] = field(default_factory=list)
    #: Folder -> where it really is.
    folders: dict[str, Path] = field(default_factory=dict)

    def targets(self) -> Iterator[Target]:
        """Every file of the project; those of trees are of the state that the others leave."""
        found = layout(self.workspace.root, self.project.slug)
        yield from found.files
        kept: set[str] = set()
        for tree in found.trees:
            yield from self.files_of(tree, kept)
        # Of a tree that is somewhere else now, or nowhere, the files stay and are nobody's.
        for key, entry in list(self.entries.items()):
            ours = entry.project == self.project.slug and entry.projection in TREES
            if ours and key not in kept:
                del self.entries[key]

    def files_of(self, tree: TreeTarget, kept: set[str]) -> Iterator[Target]:
        """The files of a tree: those that the state has, then those that it has no more.

        What the ledger is to know of it is added to `kept`.
        """
        blocked = {folder for folder in tree.folders() if not self.is_reached(folder)}
        yield from map(tree.gone, sorted(blocked))
        standing = dict(self.standing(tree, blocked))
        others = {*standing.values()}
        if tree.shared and others and self.project.slug not in others:
            yield tree.taken(min(others))
            return
        wanted = [
            target
            for target in tree.targets(self.project)
            if os.path.dirname(target.path) not in blocked
        ]
        ours = {path for path, owner in standing.items() if owner == self.project.slug}
        gone = sorted(ours - {target.path for target in wanted})
        for target in (*wanted, *map(tree.gone, gone)):
            yield target
            with suppress(Unusable, OSError):
                kept.add(self.key(target))

    def standing(self, tree: TreeTarget, blocked: set[str]) -> Iterator[tuple[str, str]]:
        """The files that stand in a tree, and whose each is; what is nobody's is left out."""
        for folder in tree.folders():
            if folder in blocked:
                continue
            try:
                with os.scandir(self.folder(folder)) as entries:
                    found = [Path(x.path) for x in entries if x.is_file(follow_symlinks=False)]
            except OSError:
                continue  # whoever writes there will say what is wrong
            self.leftovers += [place for place in found if _LEFTOVER.match(place.name)]
            for place in found:
                if owner := self.owner_in(tree, place):
                    yield os.path.join(folder, place.name), owner

    def owner_in(self, tree: TreeTarget, place: Path) -> str:
        """Whose file of a tree it is, as far as ledger or stamp know."""
        if place.suffix != ".md" or place.name.startswith("."):
            return ""
        entry = self.entries.get(self.key_of(place))
        if entry is not None and entry.projection == tree.tree.name:
            return entry.project
        with suppress(Unusable, OSError):
            signed = stamp.read(read_file(place) or b"")
            if signed is not None and signed.version == TIMELESS:
                return signed.project
        return ""

    def is_reached(self, folder: str) -> bool:
        """Whether a folder is one that projections may be in."""
        try:
            self.folder(folder)
        except Unusable:
            return False
        return True

    def folder(self, folder: str) -> Path:
        """Where a folder really is; that is looked up once."""
        if folder not in self.folders:
            self.folders[folder] = place_of(self.workspace, folder)
        return self.folders[folder]

    def place(self, target: Target) -> Path:
        """Where a file really is."""
        folder, name = os.path.split(target.path)
        place = self.folder(folder) / name
        return place_of(self.workspace, target.path) if place.is_symlink() else place

    def inspect(self, target: Target) -> FileState:
        try:
            status, _, _ = self.look(target)
            unknown = status == "ahead" or target.gone
            if unknown and self.handle.version > self.project.version:
                self.project = self.handle.state  # somebody recorded and wrote it meanwhile
                target = replace(target, gone=False)
                status, _, _ = self.look(target)
        except (Unusable, OSError) as e:
            return _unusable(target, e)
        problem = self.problem(target, status)
        return FileState(target.dialect.name, target.path, status, problem=problem)

    def update(self, target: Target, recover: bool, revert: bool) -> FileState:
        """Bring one file up to date, or say why not."""
        try:
            if self.is_current(target):
                return FileState(target.dialect.name, target.path, "fresh")
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
                    path = self.place(target)
                    if target.backed:
                        self.clear_leftovers(path)
                    if content is not None and not self.is_expendable(target, status, content):
                        kept = _set_aside(self.workspace, path.name, content)
                    try:
                        if target.gone:
                            _remove(path, content)
                        else:
                            backup = _backup(path) if target.backed else None
                            atomic.replace(path, wanted, content, backup)
                    except atomic.Displaced:
                        continue
                written = status != "fresh"
                if target.gone:
                    self.entries.pop(self.key(target), None)
                elif written or not self.is_noted(target, wanted):
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
        path = self.place(target)
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
        leftovers = atomic.leftovers(path)
        for beside in (*leftovers, _backup(path)):
            self.keep_foreign(beside, path.name)
        for leftover in leftovers:
            leftover.unlink()

    def sweep(self) -> None:
        """Remove what killed writers left in trees, and keep what is not ours."""
        for leftover in self.leftovers:
            with suppress(Unusable, OSError):
                self.keep_foreign(leftover, _LEFTOVER.sub(r"\1", leftover.name))
                leftover.unlink()

    def keep_foreign(self, path: Path, name: str) -> None:
        content = read_file(path)
        if content and not stamp.holds(content):
            _set_aside(self.workspace, name, content)

    def is_expendable(self, target: Target, status: Status, content: bytes) -> bool:
        """Whether displaced bytes need not be set aside, since something else has them.

        Of what has no backup only the journal could have them: the ledger must say so.
        """
        if status in ("corrupt", *KEPT):
            return False
        entry = self.entry(target)
        return target.backed or (entry is not None and entry.digest == sha256(content).hexdigest())

    def key(self, target: Target) -> str:
        """The ledger goes by where a file really is: a link leads to somebody else's."""
        return self.key_of(self.place(target))

    def key_of(self, place: Path) -> str:
        return str(place).removeprefix(f"{str(self.folder('')).rstrip(os.sep)}{os.sep}")

    def entry(self, target: Target) -> ledger.Entry | None:
        return self.entries.get(self.key(target))

    def is_current(self, target: Target) -> bool:
        """Whether a file is what the ledger says, and shows what is to be shown, by its stamp.

        That takes no rendering, and so holds also where there are very many.
        """
        if not target.source:
            return False
        place = self.place(target)
        entry = self.entries.get(self.key_of(place))
        if entry is None or entry.project != self.project.slug:
            return False
        content = read_file(place) or b""
        signed = stamp.read(content) if sha256(content).hexdigest() == entry.digest else None
        return signed is not None and signed.hash == target.source

    def is_noted(self, target: Target, content: bytes) -> bool:
        """Whether the ledger knows already that a file holds this."""
        entry = self.entry(target)
        return (
            entry is not None
            and entry.project == self.project.slug
            and entry.digest == sha256(content).hexdigest()
            and (entry.size, entry.modified) == _traits(self.place(target), content)
        )

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
            *_traits(self.place(target), content),
        )

    def look(self, target: Target) -> tuple[Status, bytes | None, bytes]:
        """How a file stands, what is in it, and what should be."""
        if target.owner:
            return "taken", None, b""
        wanted = b"" if target.gone else target.dialect.render(self.project)
        path = self.place(target)
        content = read_file(path)
        entry = self.entry(target)
        if target.shared and _owner(entry, content) not in (None, self.project.slug):
            return "taken", content, wanted
        if content is None:
            return "missing", None, wanted
        if content == wanted and not target.gone:
            return "fresh", content, wanted
        if made_from := self.source(content, entry):
            past = made_from[0] == TIMELESS or self.is_past(*made_from)
            return "stale" if past else "ahead", content, wanted
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
            case "drifted" if target.gone:
                return (
                    f"{target.path} was edited outside Passdown and is left as it is, though what "
                    "it showed has another name now or is no more; `passdown drift --revert` "
                    "removes it and keeps the edit"
                )
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
                entry = None if target.owner else self.entry(target)
                owner = target.owner or (entry.project if entry else "another project")
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


def _remove(path: Path, expected: bytes | None) -> None:
    """Take away a file that holds `expected`; raises Displaced, with the file there, if not."""
    if expected is None:
        return
    aside = path.with_name(f".{path.name}.passdown-{secrets.token_hex(8)}")
    try:
        os.rename(path, aside)
    except FileNotFoundError:
        raise atomic.Displaced from None
    if aside.read_bytes() != expected:
        # An edit came in between: put it back, unless yet another file is there by now.
        with suppress(FileExistsError):
            os.link(aside, path)
            aside.unlink()
        raise atomic.Displaced
    aside.unlink()
    fsync(path.parent)


#: What a killed writer may have left beside a file of a tree, and that file's name.
_LEFTOVER = re.compile(r"\.(.+\.md)\.passdown-[0-9a-f]{16}.*")


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
