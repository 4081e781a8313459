"""The dialects that a project can be shown in, by name."""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any, Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from journal.request import Request
from journal.state import Project
from projections import handoff, planning, session_state, state_md


class Adopt(Protocol):
    """The requests by which a project comes to what a file says; Invalid if it cannot be read."""

    def __call__(
        self,
        content: bytes,
        project: Project,
        path: str,
        *,
        base: Project | None = None,
        removals: bool = False,
        now: int,
        by: Request,
    ) -> list[Request]: ...


def _is_plain(project: Project) -> bool:
    return project.execution is None and project.coordination is None


def _is_orchestrated(project: Project) -> bool:
    return project.execution is not None


def _is_shared(project: Project) -> bool:
    return project.coordination is not None


class Dialect(Struct, frozen=True):
    """A file format: where its file is, how it is rendered, and how one is recognised."""

    name: str
    #: Relative to the workspace; `{project}` stands for the slug, `{workspace}` for the folder that
    #: agents share.
    path: str
    render: Callable[[Project], bytes]
    #: Whether bytes are a file of this dialect at all; it answers for any bytes and never raises.
    intact: Callable[[bytes], bool]
    renderer: int
    #: What an edited file comes to, for dialects that can be read back.
    adopt: Adopt | None = None
    #: Whether a project has this file where the settings do not say.
    usual: Callable[[Project], bool] = _is_plain
    #: The forms that the file can be written in, where there are several.
    forms: Mapping[str, Callable[[Project], bytes]] = {}
    #: Whether it is moved, with the documents that it names, once the project is archived.
    moves: bool = False

    def written_as(self, form: str) -> "Dialect":
        """The same file in one of its forms."""
        return replace(self, render=self.forms[form])


class Tree(Struct, frozen=True):
    """A format of many files, one for each entry of a project; it is written where asked for."""

    name: str
    #: The folder that its folders are in, relative to the workspace; `{project}` as above.
    path: str
    folders: tuple[str, ...]
    #: The files that a state has, by path in the tree.
    pages: Callable[[Project], Mapping[str, planning.Page]]
    intact: Callable[[bytes], bool]
    renderer: int

    def one(self, path: str, render: Callable[[Project], bytes] | None = None) -> Dialect:
        """One of its files; without a renderer, whichever file a state has of that path."""
        return Dialect(
            self.name, path, render or partial(self._render, path), self.intact, self.renderer
        )

    def _render(self, path: str, project: Project) -> bytes:
        page = self.pages(project).get(path)
        return page.render(project) if page else b""


# -- dialects that only some projects have, loaded where one does ------------------------------


class _Lazy(Struct, frozen=True):
    """The module of a dialect, which is imported when it is first asked for something."""

    module: str

    def _loaded(self) -> Any:
        return import_module(self.module)

    def render(self, project: Project) -> bytes:
        content: bytes = self._loaded().render(project)
        return content

    def intact(self, content: bytes) -> bool:
        found: bool = self._loaded().intact(content)
        return found

    def adopt_bytes(
        self,
        content: bytes,
        project: Project,
        path: str,
        *,
        base: Project | None = None,
        removals: bool = False,
        now: int,
        by: Request,
    ) -> list[Request]:
        requests: list[Request] = self._loaded().adopt_bytes(
            content, project, path, base=base, removals=removals, now=now, by=by
        )
        return requests


_ACTIVE_SESSION = _Lazy("projections.active_session")


def _active_session(project: Project, form: Literal["yaml", "json"]) -> bytes:
    from projections import active_session

    return active_session.render(project, form)


def _as_adopted(project: Project) -> bytes:
    """In the form of the file that it was adopted from."""
    home = project.homes.get("active-session")
    return _active_session(project, "json" if home and home.format == "json" else "yaml")


def _has_archive(project: Project) -> bool:
    moved = any(entry.archived is not None for entry in project.worklog.values())
    return _is_shared(project) and (moved or "worklog-archive" in project.homes)


def _shared(
    name: str,
    file: str,
    module: str,
    renderer: int,
    usual: Callable[[Project], bool] = _is_shared,
) -> Dialect:
    """A file of a workspace that several agents share."""
    lazy = _Lazy(f"projections.{module}")
    return Dialect(
        name,
        f"{{workspace}}/{file}",
        lazy.render,
        lazy.intact,
        renderer,
        lazy.adopt_bytes,
        usual,
    )


DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        Dialect(
            "session-state",
            "agent-output/{project}/00-session-state.json",
            session_state.render,
            session_state.intact,
            session_state.RENDERER,
            session_state.adopt_bytes,
        ),
        Dialect(
            "handoff",
            "agent-output/{project}/00-handoff.md",
            handoff.render,
            handoff.intact,
            handoff.RENDERER,
        ),
        Dialect(
            "state-md",
            ".planning/STATE.md",
            state_md.render,
            state_md.intact,
            state_md.RENDERER,
            state_md.adopt_bytes,
        ),
        Dialect(
            "active-session",
            ".gemini/state/active-session.md",
            _as_adopted,
            _ACTIVE_SESSION.intact,
            1,  # a test holds it against what is written
            _ACTIVE_SESSION.adopt_bytes,
            _is_orchestrated,
            {
                "yaml": partial(_active_session, form="yaml"),
                "json": partial(_active_session, form="json"),
            },
            moves=True,
        ),
        # As whoever resumes reads them; adopted in this order, for the first says whose they are.
        _shared("turnfile", "TURNFILE.yaml", "turnfile", 1),
        _shared("worklog", "WORKLOG.md", "worklog", 1),
        _shared("worklog-archive", "WORKLOG_ARCHIVE.md", "worklog.archive", 1, _has_archive),
        _shared("mailbox", "MAILBOX.md", "mailbox", 1),
        _shared("open-questions", "OPEN_QUESTIONS.md", "open_questions", 1),
    )
}

TREES: dict[str, Tree] = {
    tree.name: tree
    for tree in (
        Tree(
            planning.NAME,
            ".planning",
            planning.FOLDERS,
            planning.pages,
            planning.intact,
            planning.RENDERER,
        ),
    )
}
