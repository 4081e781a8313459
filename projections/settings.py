"""passdown.toml: which projections are written, where, and what becomes of edits by hand.

    drift = "adopt"

    [projections.state-md]
    path = ".planning/{project}/STATE.md"

    [projections.handoff]
    enabled = false

    [projections.planning]
    enabled = true

    [projections.active-session]
    front_matter = "json"
    archive = "automatic"

    [projections.chat]
    path = "chats/{agent}.md"

What the file does not mention stays as it is without it.
"""

import os
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from journal.errors import Invalid, NotFound
from journal.rules import workspace_path
from journal.state import Project
from journal.workspace import FOLDER
from projections import homes
from projections.dialect import DIALECTS, TREES, Dialect, Tree
from projections.plans import FORM, PlanFiles

FILE = "passdown.toml"
#: The files that agents own, and snapshots are appended to.
CHAT = "chat"
_CHAT_PATH = "{workspace}/chat-{agent}.md"

#: Whether archiving is only offered, or done without being asked for.
Archive: TypeAlias = Literal["offer", "automatic"]


class _Projection(Struct, frozen=True, forbid_unknown_fields=True):
    path: str = ""
    #: Unless said, whatever the projection is by default.
    enabled: bool | None = None
    #: The form of active-session.md; unless said, that of the file it was adopted from.
    front_matter: Literal["yaml", "json"] | None = None
    #: What happens once the last phase is done.
    archive: Archive | None = None


class _Settings(Struct, frozen=True, forbid_unknown_fields=True):
    projections: dict[str, _Projection] = {}
    drift: Literal["report", "adopt"] = "report"
    plans: PlanFiles = PlanFiles()


class Target(Struct, frozen=True):
    """One file that a project is rendered to."""

    dialect: Dialect
    path: str
    #: Whether projects share the path, so that only the first to write it may.
    shared: bool
    #: Whether an edit by hand is adopted without being asked for.
    adopts: bool = False
    #: Whether what is displaced stays beside it.
    backed: bool = True
    #: Whether the state shows nothing there any more, so that the file is to go.
    gone: bool = False
    #: The other project that has the whole place.
    owner: str = ""
    #: The hash in the stamp of a file that is up to date, where that tells.
    source: str = ""
    #: Where it is while the project is open, if it is somewhere else now.
    opened: str = ""

    @property
    def home(self) -> str:
        """Where it is while the project is open."""
        return self.opened or self.path


class TreeTarget(Struct, frozen=True):
    """The folder below which a project's entries are rendered to a file each."""

    tree: Tree
    path: str
    #: As for one file: all of it is the project's that wrote there first.
    shared: bool

    def folders(self) -> list[str]:
        """The folders that the files are in."""
        return [os.path.normpath(f"{self.path}/{folder}") for folder in self.tree.folders]

    def targets(self, project: Project) -> list[Target]:
        """The files that a state has."""
        return [
            Target(
                self.tree.one(path, page.render),
                self._within(path),
                self.shared,
                backed=False,
                source=page.source,
            )
            for path, page in self.tree.pages(project).items()
        ]

    def gone(self, path: str) -> Target:
        """A file that is there, or may be, and that the state does not have."""
        dialect = self.tree.one(os.path.relpath(path, self.path))
        return Target(dialect, path, self.shared, backed=False, gone=True)

    def taken(self, owner: str) -> Target:
        """What stands for all the files of a tree that another project has."""
        return Target(self.tree.one(""), self.path, self.shared, gone=True, owner=owner)

    def _within(self, path: str) -> str:
        return path if self.path == "." else f"{self.path}/{path}"


class Layout(Struct, frozen=True):
    """All that a project is rendered to."""

    files: list[Target]
    trees: list[TreeTarget]


def targets(root: Path, project: Project) -> list[Target]:
    """The files of a project that it has whatever is in it."""
    return layout(root, project).files


def layout(root: Path, project: Project) -> Layout:
    """The files and trees of a project, as the workspace's settings have them."""
    settings = _read(root / FILE)
    found = Layout([], [])
    for name, dialect in DIALECTS.items():
        chosen = settings.projections.get(name, _Projection())
        if dialect.usual(project) if chosen.enabled is None else chosen.enabled:
            found.files.append(_target(settings, dialect, project))
    for name, tree in TREES.items():
        chosen = settings.projections.get(name, _Projection())
        if chosen.enabled:
            path, shared = _place(chosen.path or tree.path, project.slug, name)
            found.trees.append(TreeTarget(tree, path, shared))
    _check_apart(root, found)
    return found


def chat_path(root: Path, project: Project, agent: str) -> str:
    """The file that the snapshots of an agent are appended to; empty if there is to be none."""
    settings = _read(root / FILE)
    chosen = settings.projections.get(CHAT, _Projection())
    if not (project.coordination is not None if chosen.enabled is None else chosen.enabled):
        return ""
    template = (chosen.path or _CHAT_PATH).replace("{workspace}", workspace(project))
    path, _ = _place(template.replace("{agent}", agent), project.slug, CHAT)
    if path in {target.path for target in targets(root, project)}:
        raise Invalid(
            f"{FILE}: the chat of {agent} would be {path}, which is a projection of its own; give "
            f"[projections.{CHAT}] a path of its own"
        )
    return path


def written(root: Path, name: str) -> Dialect:
    """A dialect in the form that the settings have it written in."""
    form = _read(root / FILE).projections.get(name, _Projection()).front_matter
    return DIALECTS[name].written_as(form) if form else DIALECTS[name]


def _target(settings: _Settings, dialect: Dialect, project: Project) -> Target:
    """Where a file is: where the settings say, else where it came from, else where it usually is;
    and somewhere else once it was archived.
    """
    chosen = settings.projections.get(dialect.name, _Projection())
    adopts = settings.drift == "adopt" and dialect.adopt is not None
    if chosen.front_matter:
        dialect = dialect.written_as(chosen.front_matter)
    origin = "" if chosen.path else homes.origin(project, dialect)
    template = chosen.path or dialect.path
    template = template.replace("{workspace}", workspace(project))
    path, shared = (origin, True) if origin else _place(template, project.slug, dialect.name)
    moved = homes.archived(project) if dialect.moves and project.archived is not None else None
    if moved is None:
        return Target(dialect, path, shared, adopts)
    place = _allowed(moved.archived, dialect.name)
    return Target(dialect, place, shared, adopts, opened=moved.active)


def workspace(project: Project) -> str:
    """The folder that the agents of a project share."""
    return project.coordination.workspace.rstrip("/") if project.coordination else "."


def archiving(root: Path) -> Archive:
    """What happens once the last phase of an orchestration is done."""
    chosen = _read(root / FILE).projections.values()
    return next((each.archive for each in chosen if each.archive), "offer")


def _place(template: str, project: str, name: str) -> tuple[str, bool]:
    """Where a projection is, and whether projects share that."""
    return _allowed(template.replace("{project}", project), name), "{project}" not in template


def plan_files(root: Path) -> PlanFiles:
    """Where the workspace has its plans and their summaries."""
    return _read(root / FILE).plans


def _allowed(path: str, name: str) -> str:
    """A path in the workspace that is not ours for something else."""
    normal = os.path.normpath(workspace_path(path))
    if normal == FILE or normal.split("/")[0] == FOLDER:
        raise Invalid(f"{FILE}: {name} cannot be written to {path}; choose a path of its own")
    return normal


def _check_apart(root: Path, found: Layout) -> None:
    """Refuse two projections at one place, whichever links lead there, also as a backup."""
    names: dict[str, str] = {}
    folders = {
        os.path.realpath(root / folder): tree.tree.name
        for tree in found.trees
        for folder in tree.folders()
    }
    for target in found.files:
        name = target.dialect.name
        place = os.path.realpath(root / target.path)
        for taken in (place, f"{place}.bak"):
            other = names.setdefault(taken, name)
            other = folders.get(taken) or folders.get(os.path.dirname(taken)) or other
            if other != name:
                raise Invalid(
                    f"{FILE}: {other} and {name} would both be written to {target.path}; "
                    "give each a path of its own"
                )


def _read(path: Path) -> _Settings:
    try:
        if not path.is_file() and path.exists():
            raise Invalid(f"{FILE} is not a regular file; put the settings into one")
        text = path.read_bytes()
    except FileNotFoundError:
        return _Settings()
    except OSError as e:
        raise Invalid(f"{FILE} cannot be read: {e.strerror}") from e
    try:
        settings = msgspec.toml.decode(text, type=_Settings)
    except (msgspec.MsgspecError, UnicodeDecodeError) as e:
        raise Invalid(f"{FILE}: {e}; see docs/SETTINGS.md") from e
    for name in settings.projections:
        if name not in DIALECTS and name not in TREES and name != CHAT:
            raise NotFound("projection", name, (*DIALECTS, *TREES, CHAT), hint=f"see {FILE}")
    for name, chosen in settings.projections.items():
        _check_kind(name, chosen)
    _check_plans(settings.plans)
    return settings


def _check_kind(name: str, chosen: _Projection) -> None:
    """Refuse what only some kinds of file have."""
    if name == CHAT and chosen.path and "{agent}" not in chosen.path:
        raise Invalid(f"{FILE}: agents have a chat each; put {{agent}} into [projections.{CHAT}]")
    dialect = DIALECTS.get(name)
    for setting, told, known in (
        ("front_matter", chosen.front_matter, dialect and dialect.forms),
        ("archive", chosen.archive, dialect and dialect.moves),
    ):
        if told and not known:
            raise Invalid(
                f"{FILE}: {name} has no {setting}, only active-session has; take it out of "
                f"[projections.{name}]"
            )


def _check_plans(plans: PlanFiles) -> None:
    """Refuse patterns that do not name a file of the workspace for every plan of every phase."""
    for pattern in (plans.plan, plans.summary):
        if not FORM.fullmatch(pattern):
            raise Invalid(
                f"{FILE}: [plans] {pattern[:80]!r} names no file; {{phase}} and {{plan}} stand for "
                "the numbers, {phase:02} for two digits"
            )
        for phase in ("1", "3_5"):
            try:
                workspace_path(plans.path(pattern, phase, 1))
            except Invalid as e:
                raise Invalid(f"{FILE}: [plans] {e}") from e
