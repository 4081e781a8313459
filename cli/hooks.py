"""`passdown hook`: what an agent's host calls when a session begins, goes on and ends.

A hook never breaks its host: whatever happens here, the exit code is 0 and stdout has an answer in
the host's own form. It is called before every session, so it starts without typer, loads the live
part of the state only, and leaves the files to a child that it does not wait for.
"""

import os
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from cli.contracts import HOSTS, Meaning, Moment, Told, answer, meaning
from cli.ready import ready
from journal import events as e
from journal import workspace as places
from journal.clock import iso, now
from journal.entities import Project, Session
from journal.errors import Invalid, JournalMissing, PassdownError
from journal.journal import Journal
from journal.live import LiveHandle
from journal.request import Request
from journal.store import Head
from journal.workspace import Workspace
from projections.limits import BUDGET, LEAST

LOG = "hooks.log"
_LOG_LIMIT = 64 * 1024
_STDIN_LIMIT = 1 << 22


class Call(Struct):
    """One call of a hook: what was asked, and what there is to answer so far."""

    host: str
    event: str
    moment: Moment
    project: str = ""
    agent: str = ""
    budget: int = BUDGET
    context: str = ""
    note: str = ""
    #: Whose files are to be brought up to date.
    changed: tuple[Workspace, str] | None = None

    @property
    def hook(self) -> str:
        """What the hook is called in the journal."""
        return f"{self.host} {self.event}"

    def answer(self) -> str:
        """What the host is told, as things stand."""
        said = answer(self.event, self.moment, self.context, self.note)
        return msgspec.json.encode(said).decode()


def main(arguments: Sequence[str]) -> NoReturn:
    """Answer the host and end at once, without the interpreter's own slow way out."""
    call = _asked(arguments)
    answered = threading.Lock()

    def deliver() -> None:
        if answered.acquire(blocking=False):
            with suppress(OSError, ValueError, AttributeError):
                sys.stdout.write(f"{call.answer()}\n")
                sys.stdout.flush()

    def give_up() -> None:
        if not answered.locked():
            _fail(call, "it took too long, perhaps because another process holds the journal")
        deliver()
        os._exit(0)

    watchdog = threading.Timer(call.moment.seconds, give_up)
    watchdog.daemon = True
    watchdog.start()
    attempt(call)
    deliver()
    with suppress(BaseException):
        _bring_up_to_date(call)
    os._exit(0)


def answered(arguments: Sequence[str]) -> str:
    """The answer alone, for whoever calls the hook by hand."""
    call = _asked(arguments)
    attempt(call)
    return call.answer()


def attempt(call: Call) -> None:
    """Do what the hook is for; what fails is part of the answer."""
    try:
        serve(call, _told)
    except BaseException as error:  # noqa: BLE001 - no failure of ours may become the host's
        _fail(call, str(error) if isinstance(error, PassdownError) else repr(error))


def _asked(arguments: Sequence[str]) -> Call:
    """What was asked for; what makes no sense is answered with a note, never with exit code 2."""
    words, options = _split(arguments)
    host, event = (*words, "", "")[:2]
    moment = HOSTS.get(host, {}).get(event)
    call = Call(host, event, moment or Moment("alive"))
    call.project = options.get("-p") or options.get("--project") or _environment("PROJECT")
    call.agent = options.get("--agent") or _environment("ACTOR")
    if moment is None or len(words) != 2:
        known = "; ".join(f"{name}: {', '.join(events)}" for name, events in HOSTS.items())
        call.note = _sentence(f"there is no hook {' '.join(words)!r}; there are {known}")
    with suppress(ValueError):
        call.budget = max(int(options.get("--budget", BUDGET)), LEAST)
    return call


def _split(arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Words, and options with their values."""
    words: list[str] = []
    options: dict[str, str] = {}
    rest = iter(arguments)
    for argument in rest:
        if argument.startswith("-"):
            name, given, value = argument.partition("=")
            options[name] = value if given else next(rest, "")
        else:
            words.append(argument)
    return words, options


def _environment(name: str) -> str:
    return os.environ.get(f"PASSDOWN_{name}", "")


def _told() -> Told:
    content = sys.stdin.buffer.read(_STDIN_LIMIT) if sys.stdin else b""
    try:
        return msgspec.json.decode(content, type=Told)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid(f"the host sent no valid JSON on stdin ({error})") from error


def serve(call: Call, told: Callable[[], Told]) -> None:
    """Record what the event means, and put the brief into the answer where the host takes it."""
    if call.note:
        return
    try:
        host = told()
        problem = ""
    except Invalid as error:
        host, problem = Told(), str(error)
    try:
        workspace = _workspace(host.cwd)
    except JournalMissing as error:
        if call.moment.means == "start":
            call.note = _sentence(str(error))
        return
    with Journal.open(workspace.folder) as journal:
        heads = journal.store.heads()
        head = _chosen(journal, heads, call.project)
        if head is None:
            call.note = _sentence("the journal has no project; `passdown init PROJECT` opens one")
            return
        handle = journal.live(head.project)
        state = handle.state
        means = meaning(call.moment, host.source)
        begins = means in ("start", "continue")
        seen = _shown(call, workspace, handle, head, state) if begins else None
        if not problem:
            problem = _record(call, handle, state, means, host, seen)
            call.changed = (workspace, handle.slug)
        if seen and not problem:
            _introduce(call, handle, host.session_id, [each.project for each in heads])
    if problem:
        _fail(call, problem)


def _workspace(cwd: str) -> Workspace:
    named = os.environ.get("PASSDOWN_JOURNAL")
    return places.find(Path(cwd) if not named and os.path.isdir(cwd) else None)


def _chosen(journal: Journal, heads: Sequence[Head], name: str) -> Head | None:
    """The project that was named, else the one in which something was recorded last."""
    if name:
        journal.project(name)  # which says what is like it, where there is none of that name
        return next(head for head in heads if head.project == name)
    if len(heads) < 2:
        return heads[0] if heads else None
    last = [next(journal.store.read(h.project, h.version - 1, h.version)).at for h in heads]
    return heads[last.index(max(last))]


# -- the brief -------------------------------------------------------------------------------


def _shown(
    call: Call, workspace: Workspace, handle: LiveHandle, head: Head, state: Project
) -> e.BriefShown:
    """Put the brief into the answer: the one that was made ready, else one composed now."""
    kept = None if call.agent or call.budget != BUDGET else ready(workspace, handle, head)
    if kept:
        call.context = kept.text
        return kept.seen
    from cli.briefing import for_host

    call.context, seen = for_host(workspace, state, call.agent, call.budget)
    return seen


def _introduce(call: Call, handle: LiveHandle, host: str, projects: Sequence[str]) -> None:
    """Tell the agent who it is here, and its shell where that is possible."""
    session = handle.state.session_names.get(host, "")
    others = [name for name in projects if name != handle.slug][:3]
    said = f"You are in session {session} of {handle.slug}: record with `--session {session}`."
    if others:
        said += f" Other projects here: {', '.join(others)}; `passdown resume -p NAME`."
    call.context += f"\n{said}\n"
    if path := os.environ.get("CLAUDE_ENV_FILE"):
        with suppress(OSError), open(path, "a") as shell:
            shell.write(f"export PASSDOWN_SESSION={session} PASSDOWN_PROJECT={handle.slug}\n")


# -- what is recorded ------------------------------------------------------------------------


def _record(
    call: Call,
    handle: LiveHandle,
    state: Project,
    means: Meaning,
    host: Told,
    seen: e.BriefShown | None,
) -> str:
    """Record what the event means for the session; the answer says why that was not possible."""
    id = host.session_id
    if not (0 < len(id) <= 200 and id.isprintable()):
        return "the host gave no session_id that can be recorded"
    agent = call.agent or host.agent_type or call.host
    try:
        event = _about(state, means, host.session_id, agent, call.hook)
        requests = [] if event is None else [_request(event, agent, host.session_id)]
        if seen:
            seen = replace(seen, agent=agent, hook=call.hook)
            requests.append(_request(seen, agent, host.session_id))
        if requests:
            handle.append_all(requests)
    except PassdownError as error:
        return str(error)
    return ""


def _request(event: e.Event, agent: str, session: str) -> Request:
    began = isinstance(event, e.SessionStarted)
    return Request(event, agent, None if began else session)


def _about(state: Project, means: Meaning, host: str, agent: str, hook: str) -> e.Event | None:
    """The event that a session's moment amounts to, if there is anything to say."""
    session = state.sessions.get(state.session_names.get(host, ""))
    status = session.status if session else ""
    if means == "end":
        return e.SessionEnded(host, hook=hook) if status == "active" else None
    if status == "active":
        return e.SessionHeartbeat(host, hook=hook)
    if status == "ended" and means != "start":
        return e.SessionResumed(host, hook=hook)
    before = session or (_last(state, agent) if means == "continue" else None)
    return e.SessionStarted(agent, host=host, continues=before.id if before else "", hook=hook)


def _last(state: Project, agent: str) -> Session | None:
    """The agent's last session, which a host goes on with under another id."""
    return next((each for each in reversed(state.sessions.values()) if each.agent == agent), None)


def _bring_up_to_date(call: Call) -> None:
    """Leave the files to a child, so that nobody waits for them."""
    if call.changed and os.fork() == 0:
        os.setsid()
        for stream in range(3):  # a host waits until everybody has let go of its pipes
            os.dup2(os.open(os.devnull, os.O_RDWR), stream)
        from cli.briefing import make_ready
        from projections.files import sync

        workspace, slug = call.changed
        with Journal.open(workspace.folder) as journal:
            handle = journal.project(slug)
            sync(workspace, handle)
            make_ready(workspace, handle)


# -- when something goes wrong ---------------------------------------------------------------


def _fail(call: Call, why: str) -> None:
    """Say in the answer what could not be done and how to see why, and log it."""
    what = "this session could not be recorded" if call.context else "state could not be loaded"
    call.note = _sentence(f"{what}: {why}. `passdown doctor` says what to do")
    line = f"{iso(now())} {call.hook}: {' '.join(why.split())[:300]}"
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"passdown: {line}\n")
    with suppress(OSError, PassdownError):
        log = places.find().folder / LOG
        if log.exists() and log.stat().st_size > _LOG_LIMIT:
            os.replace(log, log.with_name(f"{LOG}.1"))
        with log.open("a") as lines:
            lines.write(f"{line}\n")


def _sentence(text: str) -> str:
    return f"Passdown: {' '.join(text.split())[:400].rstrip('.')}."
