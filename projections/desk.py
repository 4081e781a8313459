"""One project's files as they are found: how each stands, and what was edited by hand."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from journal.digest import sha256
from journal.errors import Rejected
from journal.events import DriftAdopted
from journal.handle import Handle
from journal.request import Request
from journal.state import Project
from projections import atomic, ledger, stamp, trees
from projections.places import Folders, Unusable, read_file, settles, traits_of
from projections.planning import TIMELESS
from projections.settings import Target, layout

Status: TypeAlias = Literal[
    "fresh", "stale", "missing", "corrupt", "drifted", "ahead", "taken", "unusable"
]
#: What is replaced only when somebody asks for it.
KEPT = ("drifted", "ahead")

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

    folders: Folders
    handle: Handle
    project: Project
    entries: dict[str, ledger.Entry]
    #: Whether edits are adopted now, also where the settings do not say so, and by whom.
    adopting: bool = False
    actor: str | None = None
    #: What killed writers left in trees, and the name of the file that each was writing.
    leftovers: dict[Path, str] = field(default_factory=dict)

    def targets(self) -> Iterator[Target]:
        """Every file of the project; those of trees are of the state that the others leave."""
        found = layout(self.folders.workspace.root, self.project)
        yield from found.files
        kept: set[str] = set()
        for tree in found.trees:
            standing = trees.walk(tree, self.folders, self.entries)
            self.leftovers |= standing.leftovers
            for target in trees.targets(tree, standing, self.project):
                yield target
                with suppress(Unusable, OSError):
                    kept.add(self.key(target))
        trees.forget(self.entries, self.project.slug, kept)

    def inspect(self, target: Target) -> FileState:
        try:
            status, content, _ = self.look(target)
            unknown = status == "ahead" or target.gone
            if unknown and self.handle.version > self.project.version:
                self.project = self.handle.state  # somebody recorded and wrote it meanwhile
                target = replace(target, gone=False)
                status, content, _ = self.look(target)
            older = (
                content is not None
                and status in ("stale", "drifted")
                and not self.is_replayable(target, content)
            )
        except (Unusable, OSError) as e:
            return unusable(target, e)
        problem = _OLDER[status].format(target.path) if older else self.problem(target, status)
        return FileState(target.dialect.name, target.path, status, problem=problem)

    def adopt(self, target: Target, content: bytes) -> None:
        """Record what an edited file says that the journal does not; then the file is ours."""
        adopt = target.dialect.adopt
        assert adopt is not None
        if not self.is_replayable(target, content):
            raise Rejected(
                f"adopt the edit of {target.path}",
                "it was made on a copy that is older than a redaction, and would bring back what "
                "was erased; make the edit anew in the file of now, for which `passdown drift "
                "--revert` puts it there",
            )
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
        entry, content = self.entry(target), read_file(atomic.backup_of(path))
        if entry is None or not content or sha256(content).hexdigest() == entry.backup:
            return None
        if not entry.backup or stamp.holds(content):
            return None
        if not target.dialect.intact(content) and not settles(atomic.backup_of(path), content):
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

    def is_replayable(self, target: Target, content: bytes) -> bool:
        """Whether the state that a file says it is of can still be rendered: not if something in
        it was redacted after the file was written."""
        signed = stamp.read(content)
        if signed is None or signed.project != self.project.slug:
            return True
        named = self.handle.redactions().named()
        if not any(of <= signed.version < by for of, (by, _) in named.items()):
            return True
        if not self.is_past(signed.version, signed.hash):
            return True
        then, forms = self.handle.at(signed.version), target.dialect.forms.values()
        renderings = (stamp.read(render(then)) for render in (target.dialect.render, *forms))
        return any(each is not None and each.digest == signed.digest for each in renderings)

    def key(self, target: Target) -> str:
        return self.folders.key(self.place(target))

    def place(self, target: Target) -> Path:
        return self.folders.place(target.path)

    def entry(self, target: Target) -> ledger.Entry | None:
        return self.entries.get(self.key(target))

    def is_current(self, target: Target) -> bool:
        """Whether a file is what the ledger says, and shows what is to be shown, by its stamp.

        That takes no rendering, and so holds also where there are very many.
        """
        if not target.source:
            return False
        place = self.place(target)
        entry = self.entries.get(self.folders.key(place))
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
            and (entry.size, entry.modified) == traits_of(self.place(target), content)
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
            *traits_of(self.place(target), content),
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
            if settles(path, content):
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
        if signed := stamp.read(content):
            return self._is_cut(target, content, signed)
        past = [entry.version] if entry else self._recent()
        return any(
            target.dialect.render(self.handle.at(version)).startswith(content)
            for version in past
            if 0 < version < self.project.version
        )

    def _is_cut(self, target: Target, content: bytes, signed: stamp.Stamp) -> bool:
        """Whether a stamped file lacks its end, which only one with the stamp in front can."""
        ours = stamp.in_front(content) and signed.project == self.project.slug
        if not (ours and self.is_past(signed.version, signed.hash)):
            return False
        then, forms = self.handle.at(signed.version), target.dialect.forms.values()
        renderings = (render(then) for render in (target.dialect.render, *forms))
        return any(rendered.startswith(content) for rendered in renderings)

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


#: What there is to say of a file that shows what was erased since.
_OLDER = {
    "stale": "{} is older than a redaction, and what it shows cannot be replayed any more; "
    "`passdown sync` puts the present version there",
    "drifted": "{} was edited on a copy that is older than a redaction, so that the edit cannot be "
    "told from what was erased; `passdown drift --revert` puts the present version there",
}


def _choices(target: Target) -> str:
    if target.dialect.adopt is None:
        return "revert` puts the journal's version back and keeps"
    return "adopt` records it, `passdown drift --revert` puts the journal's version back and keeps"


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


def unusable(target: Target, error: Exception) -> FileState:
    """What is found of a file that cannot be looked at or written."""
    why = str(error)
    if isinstance(error, OSError):
        why = f"{target.path} cannot be used: {error.strerror}; mend that and run `passdown sync`"
    return FileState(target.dialect.name, target.path, "unusable", problem=why)
