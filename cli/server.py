"""The MCP server: what an agent can ask and record when its host gives it tools and not a shell.

Every call opens the journal for itself: handlers run in threads of their own, and the journal may
have been restored from a backup since the last one.
"""

import functools
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, get_args, get_origin

import msgspec
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, Resource, Tool, ToolAnnotations
from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

import passdown
from cli import output
from cli.describe import describe
from cli.document import project_data, record_data
from cli.log import asked_for, newest
from cli.recording import check_links, chosen, closed, keep_files, opened, placed, proposed
from cli.resume import Asked, answer
from journal import Handle, Request
from journal.errors import PassdownError
from journal.events import VOCABULARY
from journal.payload import parse
from journal.record import Record
from journal.workspace import Workspace
from projections.dialect import DIALECTS
from projections.limits import BUDGET, LEAST
from projections.settings import written
from projections.tables import Hit
from projections.tables import search as search_tables

P = ParamSpec("P")
T = TypeVar("T")

#: The collections of a state, as `passdown show --json` has them.
What = Literal[
    "overview", "steps", "plans", "tasks", "decisions", "findings", "blockers", "errors",
    "questions", "sessions", "files", "context", "tokens",
]  # fmt: skip
_COUNTED = {*get_args(What)} - {"overview", "tokens"}
Limit = Annotated[int, Field(ge=1, le=500)]
Version = Annotated[int, Field(ge=0, le=2**63 - 1)]
#: No answer fills an agent's context with more tokens than this.
_MOST = 20_000
Words = tuple[str, ...]
_EVENTS = "passdown://events"
_READS = ToolAnnotations(read_only_hint=True)
_ADDS = ToolAnnotations(destructive_hint=False)

_INSTRUCTIONS = """\
Passdown is the journal of the work that you share with other agents and with your own next session.
Call `resume` first. Call `record` at the moment something happens: a step begins, reaches a
checkpoint or is done, something was decided, found wrong or stands in the way, the session ends.
Never edit the files that Passdown writes. `project` is needless if there is only one. Where an
answer names a command of the shell, such as `step start 2`, record its event: step.started."""

_RECORD = f"""\
Record what happened, all events or none. The most common (? may be left out, [] is a list):
session.ended(session, completed[]?, notes?, handoff_reason?) step.started(step)
step.checkpointed(step, checkpoint, artifacts[]?) step.completed(step, artifacts[]?, summary?)
step.failed(step, message)
decision.made(title, choice, rationale?) or for a setting (key, value, rationale?)
finding.opened(title, severity?: must_fix|should_fix|consider)
finding.resolved(finding, resolution?)
blocker.raised(description, tasks[]?) blocker.resolved(blocker, resolution?)
error.recorded(message, kind?) question.opened(text) next_action.set(text)
context.noted(kind: implementation|next_step|skill, text) task.added(title, step?)
All others: {_EVENTS}. With `id`, the same call again adds nothing."""


class Event(TypedDict):
    # Who did it and in which session is said of all events: here it would be lost.
    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]

    type: str
    data: dict[str, Any]


class Resumed(TypedDict):
    project: str
    version: int
    brief: str


class Recorded(TypedDict):
    project: str
    version: int
    recorded: list[str]
    repeated: bool
    warnings: list[str]


class State(TypedDict):
    project: str
    version: int
    items: Any
    left_out: int


class Entry(TypedDict):
    version: int
    at: str
    type: str
    actor: str | None
    session: str | None
    says: str
    data: dict[str, Any]


class History(TypedDict):
    project: str
    version: int
    entries: list[Entry]


class Found(TypedDict):
    project: str
    version: int
    lines: list[str]


class Server(MCPServer[None]):
    """The server of a workspace; its resources are the files of the projects that there are now."""

    async def list_tools(self) -> list[Tool]:
        """The tools, without the titles that repeat each name: an agent pays for every word."""
        tools = await super().list_tools()
        for tool in tools:
            tool.input_schema = _untitled(tool.input_schema)
            tool.output_schema = _untitled(tool.output_schema)
        return tools

    async def list_resources(self) -> list[Resource]:
        """The vocabulary, and every projection of every project."""
        found = await super().list_resources()
        try:
            with opened() as (_, journal):
                slugs = journal.projects()
        except PassdownError:
            return found  # no journal yet is no file yet; whoever reads one is told more
        return found + [
            Resource(uri=f"passdown://{slug}/{name}", name=f"{slug}/{name}", mime_type=_mime(name))
            for slug in slugs
            for name in DIALECTS
        ]


def server(project: str = "") -> MCPServer[None]:
    """The server with its tools; a call that names no project means this one."""
    made = Server(
        "passdown", instructions=_INSTRUCTIONS, version=passdown.__version__, log_level="WARNING"
    )

    @made.tool(annotations=_ADDS)
    @_told
    def resume(
        project: str = project,
        step: str = "",
        agent: str = "",
        session: Annotated[str, Field(description="Begin this session, on record.")] = "",
        budget: Annotated[int, Field(ge=LEAST, le=_MOST, description="The most tokens.")] = BUDGET,
        only: Annotated[Words, Field(description="Topics that were left out.")] = (),
        predecessor: Annotated[str, Field(description="Whose work you take up.")] = "",
    ) -> Resumed:
        """Where to go on: position, next action, what must not be missed, what was decided."""
        if session:
            agent = agent or os.environ.get("PASSDOWN_ACTOR", "")
        brief, text = answer(Asked(project, step, agent, session, budget, only, predecessor))
        return {"project": brief.project, "version": brief.version, "brief": text}

    @made.tool(description=_RECORD, annotations=_ADDS)
    @_told
    def record(
        events: Annotated[list[Event], Field(min_length=1)],
        project: str = project,
        actor: Annotated[str, Field(description="Who did it: you.")] = "",
        session: str = "",
        id: str = "",
    ) -> Recorded:
        actor = actor or os.environ.get("PASSDOWN_ACTOR", "")
        session = session or os.environ.get("PASSDOWN_SESSION", "")
        requests = [
            Request(
                parse(each["type"], json.dumps(each["data"]).encode()),
                actor or None,
                session or None,
            )
            for each in events
        ]
        with _at(project) as (workspace, handle):
            check_links(workspace, requests)
            with placed(workspace, handle, requests) as (settled, notes):
                done = handle.append_all(settled, id=id or None)
            by = (actor or None, session or None)
            done, offers, unclosed = closed(workspace, handle, done, *by)
            upkeep = keep_files(workspace, handle)
        said = [f"v{one.version} {describe(record_data(one).data)}" for one in done.records]
        return {
            "project": done.project,
            "version": done.version,
            "recorded": said,
            "repeated": done.repeated,
            "warnings": [
                *(f"all phases are done: `passdown {offer}`" for offer in offers),
                *(*done.cautions, *proposed(handle, done), *notes),
                *(*unclosed, *upkeep.problems),
            ],
        }

    @made.tool(annotations=_READS)
    @_told
    def state(
        what: What = "overview",
        project: str = project,
        limit: Limit = 20,
        skip: Annotated[int, Field(ge=0, description="So many of the newest.")] = 0,
        at: Annotated[Version, Field(description="As of this version; 0 is now.")] = 0,
    ) -> State:
        """The state as data: an overview with counts, or the newest things of one kind."""
        with _at(project) as (_, handle):
            found = handle.at(at) if at else handle.state
        whole = msgspec.to_builtins(project_data(found))
        if what == "overview":
            items, left = _overview(whole), 0
        elif what in ("steps", "tokens"):
            items, left = whole[what], 0
        else:
            items, left = _newest(whole[what], skip, limit)
        return {"project": found.slug, "version": found.version, "items": items, "left_out": left}

    @made.tool(annotations=_READS)
    @_told
    def history(
        project: str = project,
        types: Annotated[Words, Field(description="Such as step.*")] = (),
        actor: str = "",
        step: str = "",
        session: str = "",
        upto: Annotated[Version, Field(description="Not after this version.")] = 0,
        limit: Limit = 20,
    ) -> History:
        """What happened, the newest first."""
        with _at(project) as (_, handle):
            wanted = asked_for(handle, types, actor, step, session)
            found, _ = newest(handle, wanted, limit, upto=upto or None)
            entries = [_entry(record) for record in reversed(found)]
            return {"project": handle.slug, "version": handle.version, "entries": entries}

    @made.tool(annotations=_READS)
    @_told
    def search(words: str, project: str = project, limit: Limit = 20) -> Found:
        """What has all of these words in it, the best match first: decisions, findings, notes, …"""
        with opened() as (workspace, journal):
            handle = chosen(journal, project, "as `project`")
            lines = list(map(_line, search_tables(workspace, journal, words, handle.slug, limit)))
            return {"project": handle.slug, "version": handle.version, "lines": lines}

    @made.resource(_EVENTS, name="events", mime_type="text/plain")
    def events() -> str:
        """Every type of event with its fields: ? may be left out, [] is a list, {} an object."""
        return "\n".join(_signatures())

    @made.resource("passdown://{project}/{name}")
    def projection(project: str, name: str) -> str:
        """A file of a project as it is now: session-state, handoff, state-md or active-session."""
        if name not in DIALECTS:
            raise ResourceNotFoundError(f"no file {name!r}; there are {', '.join(DIALECTS)}")
        try:
            with _at(project) as (workspace, handle):
                return written(workspace.root, name).render(handle.state).decode()
        except PassdownError as error:
            raise ResourceError(str(error)) from error

    @made.prompt()
    def handoff(project: str = project) -> str:
        """Take a project over from whoever worked on it last."""
        try:
            with _at(project) as (_, handle):
                text = DIALECTS["handoff"].render(handle.state).decode()
        except PassdownError as error:
            raise MCPError(INVALID_PARAMS, str(error)) from error
        return (
            f"You take over the project {handle.slug}. This is its handoff note. Call `resume`, do "
            f"what it says, and record what you do as it happens.\n\n{text}"
        )

    return made


def _told(tool: Callable[P, T]) -> Callable[P, T]:
    """What is refused comes back as a sentence that the model can act on, and so do defects."""

    @functools.wraps(tool)
    def told(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return tool(*args, **kwargs)
        except (PassdownError, OSError) as error:
            raise ToolError(output.plain(str(error))) from error
        except Exception as error:  # the last resort, as in cli.app
            raise ToolError(output.defect(error)) from error

    return told


@contextmanager
def _at(project: str) -> Iterator[tuple[Workspace, Handle]]:
    with opened() as (workspace, journal):
        yield workspace, chosen(journal, project, "as `project`")


def _overview(whole: dict[str, Any]) -> Any:
    """What is there once, and how many of what is there several times."""
    return {
        name: len(value) if name in _COUNTED else value
        for name, value in whole.items()
        if name in _COUNTED or isinstance(value, str | int | None)
    }


def _newest(things: Mapping[str, Any] | list[Any], skip: int, limit: int) -> tuple[list[Any], int]:
    """The newest, each with its id, and how many older ones there are."""
    if isinstance(things, Mapping):
        things = [{"id": id, **thing} for id, thing in things.items()]
    older = things[::-1][skip:]
    return older[:limit], max(len(older) - limit, 0)


def _line(hit: Hit) -> str:
    told = (hit.kind, hit.item, f"({hit.status})" if hit.status else "", hit.at)
    return f"{' '.join(filter(None, told))}: {hit.snippet}"


def _entry(record: Record) -> Entry:
    told = record_data(record)
    return {
        "version": told.version,
        "at": told.occurred or told.at,
        "type": told.type,
        "actor": told.actor,
        "session": told.session,
        "says": describe(told.data),
        "data": msgspec.to_builtins(told.data),
    }


def _signatures() -> Iterator[str]:
    for tag, event in sorted(VOCABULARY.items()):
        fields = ", ".join(map(_field, msgspec.structs.fields(event)))
        yield f"{tag}({fields}): {(event.__doc__ or '').partition(chr(10))[0]}"


def _field(field: msgspec.structs.FieldInfo) -> str:
    kind = {tuple: "[]", dict: "{}"}.get(get_origin(field.type), "")
    return f"{field.name}{kind}{'' if field.required else '?'}"


def _untitled(schema: Any) -> Any:
    """A JSON schema without the titles of its parts; a property may be called title."""
    match schema:
        case dict():
            return {
                key: _untitled(value)
                for key, value in schema.items()
                if key != "title" or not isinstance(value, str)
            }
        case list():
            return list(map(_untitled, schema))
    return schema


def _mime(name: str) -> str:
    return "application/json" if DIALECTS[name].path.endswith(".json") else "text/markdown"
