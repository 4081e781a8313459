"""The journal of a workspace.

with Journal.open("path/to/workspace") as journal:
    app = journal.project("my-app")
    app.start_step("2", actor="03-Architect")
"""

import re
import threading
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Unpack

from journal import forks, workspace
from journal.clock import now
from journal.errors import Invalid, NotFound, quoted
from journal.events import ProjectOpened
from journal.handle import Handle
from journal.live import LiveHandle
from journal.record import SLUG
from journal.request import Envelope
from journal.sqlite import SqliteStore
from journal.store import Store

if TYPE_CHECKING:
    from journal.workflows import Workflow


class Journal(forks.Forkable):
    """All projects of a workspace. Safe from several threads and several processes."""

    def __init__(self, store: Store, folder: Path, clock: Callable[[], int] = now) -> None:
        self.store = store
        self.folder = folder
        self._clock = clock
        self._handles: dict[str, Handle] = {}
        self.begin()
        forks.watch(self)

    def begin(self) -> None:
        """Begin afresh: another thread may have held the lock."""
        self._lock = threading.Lock()

    @classmethod
    def open(cls, path: str | PathLike[str], clock: Callable[[], int] = now) -> "Journal":
        """The journal of the workspace that the folder is in."""
        folder = workspace.find(Path(path)).folder
        return cls(SqliteStore.open(folder, clock), folder, clock)

    @classmethod
    def create(cls, path: str | PathLike[str], clock: Callable[[], int] = now) -> "Journal":
        """The journal of the workspace at this folder, made if there is none."""
        folder = workspace.create(Path(path)).folder
        return cls(SqliteStore.create(folder, clock), folder, clock)

    def __enter__(self) -> "Journal":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the store; everything acknowledged is safe without it."""
        self.store.close()

    def projects(self) -> list[str]:
        """The slugs of all projects."""
        return [head.project for head in self.store.heads()]

    def project(self, slug: str) -> Handle:
        """The handle on a project that exists."""
        handle = self.handle(slug)
        if self.store.head(slug) is None:
            hint = f"`passdown init {slug}` opens it"
            raise NotFound("project", slug, self.projects(), hint=hint)
        return handle

    def open_project(
        self,
        slug: str,
        workflow: "Workflow | str" = "apex",
        *,
        title: str = "",
        native: str = "",
        branch: str = "",
        **envelope: Unpack[Envelope],
    ) -> Handle:
        """Begin a project; one that is there and was begun the same way is returned."""
        from journal.workflows import load  # wanted once in the life of a project

        handle = self.handle(slug)
        flow = load(workflow) if isinstance(workflow, str) else workflow
        handle.append(
            ProjectOpened(
                title or slug, flow.name, flow.steps, flow.policy, native, branch, flow.execution
            ),
            **envelope,
        )
        return handle

    def handle(self, slug: str) -> Handle:
        """The handle on a project, whether or not it has been opened yet."""
        self.check_slug(slug)
        with self._lock:
            if slug not in self._handles:
                self._handles[slug] = Handle(slug, self.store, self.folder / "cache", self._clock)
            return self._handles[slug]

    def live(self, slug: str) -> LiveHandle:
        """A handle on the live part of a project that exists: quick, and enough for a brief."""
        return LiveHandle(self.project(slug).slug, self.store, self.folder / "cache", self._clock)

    @staticmethod
    def check_slug(slug: str) -> None:
        """Refuse what cannot name a project."""
        if not (isinstance(slug, str) and re.fullmatch(SLUG, slug)) or ".." in slug:
            raise Invalid(
                f"{quoted(slug)} is not a project name; use 1 to 100 of a-z, 0-9, '.', '_', '-', "
                "beginning with a letter or digit, without '..'"
            )
