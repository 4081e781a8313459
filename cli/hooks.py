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

from cli import whose
from cli.contracts import HOSTS, Moment, Told, answer, legible, meaning
from cli.hearing import hear
from cli.presence import is_name, record, waiting
from cli.ready import ready
from journal import events as e
from journal import workspace as places
from journal.clock import iso, now
from journal.entities import Project, is_over
from journal.errors import Invalid, JournalMissing, PassdownError
from journal.journal import Journal
from journal.live import LiveHandle
from journal.workspace import Workspace
from projections.limits import BUDGET, LEAST

#: How long after the answer a hook that hangs may still try to log that.
_LAST_WORD = 0.5
#: The files follow in this many seconds, or at the next occasion.
_UPKEEP = 60
#: Longer names of projects are cut in the introduction, where nobody has to type them.
_NAME = 40


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
    #: What could not be done, for the log.
    failed: str = ""
    #: What it is probably because of, if nothing goes on.
    suspect: str = "the host has not finished what it says on stdin"
    workspace: Workspace | None = None
    #: The project whose files are to be brought up to date.
    changed: str = ""

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
    answering = threading.Lock()
    answered = threading.Event()

    def deliver() -> None:
        with answering:
            if not answered.is_set():
                answered.set()
                with suppress(OSError, AttributeError):
                    _write(f"{call.answer()}\n".encode())

    def give_up() -> None:
        with suppress(RuntimeError):  # where no thread can be started, nothing hangs so far
            threading.Timer(_LAST_WORD, os._exit, (0,)).start()
        with suppress(BaseException):
            if not answered.is_set():
                _fail(call, f"it took too long, perhaps because {call.suspect}")
            deliver()
            _log(call)
        os._exit(0)

    watchdog = threading.Timer(call.moment.seconds, give_up)
    watchdog.daemon = True
    watchdog.start()
    attempt(call)
    deliver()
    with suppress(BaseException):
        _log(call)
        _bring_up_to_date(call)
    os._exit(0)


def answered(arguments: Sequence[str]) -> str:
    """The answer alone, for whoever calls the hook by hand."""
    call = _asked(arguments)
    attempt(call)
    _log(call)
    return call.answer()


def attempt(call: Call) -> None:
    """Do what the hook is for; what fails is part of the answer."""
    try:
        serve(call, hear)
    except BaseException as error:  # noqa: BLE001 - no failure of ours may become the host's
        _fail(call, str(error) if isinstance(error, PassdownError) else repr(error))


def _write(content: bytes) -> None:
    """Write all of it, past whatever encoding the host's environment gives to stdout."""
    stdout = sys.stdout.fileno()  # which is not 1 where there is none: that may be the journal
    while content:
        content = content[os.write(stdout, content) :]


def _asked(arguments: Sequence[str]) -> Call:
    """What was asked for; what makes no sense is answered with a note, never with exit code 2."""
    words, options = _split([legible(argument) for argument in arguments])
    host, event = (*words, "", "")[:2]
    moment = HOSTS.get(host, {}).get(event)
    call = Call(host, event, moment or Moment("alive"))
    call.project = options.get("-p") or options.get("--project") or _environment("PROJECT")
    call.agent = options.get("--agent") or _environment("ACTOR")
    if moment is None or len(words) != 2:
        known = "; ".join(f"{name}: {', '.join(events)}" for name, events in HOSTS.items())
        call.note = _sentence(f"there is no hook {' '.join(words)[:60]!r}; there are {known}")
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
    return legible(os.environ.get(f"PASSDOWN_{name}", ""))


def serve(call: Call, told: Callable[[], Told]) -> None:
    """Record what the event means, and put the brief into the answer where the host takes it."""
    if call.note:
        return
    try:
        host = told()
        problem = "" if is_name(host.session_id) else "the host gave no session_id to record"
    except Invalid as error:
        host, problem = Told(), str(error)
    call.suspect = "another process holds the journal"
    means = meaning(call.moment, host.source)
    begins = means in ("start", "continue")
    here = _here(host.cwd)
    try:
        workspace = call.workspace = places.find(here)
    except JournalMissing as error:
        if begins:
            call.note = _sentence(_nothing_yet(str(error), here, here))
        return
    with Journal.open(workspace.folder) as journal:
        heads = journal.store.heads()
        handle = whose.chosen(journal, heads, call.project, host.session_id, means == "start")
        if handle is None:
            none = "the journal has no project; `passdown init PROJECT` opens one"
            call.note = _sentence(_nothing_yet(none, workspace.root, here)) if begins else ""
            return
        state = handle.state
        seen = _shown(call, workspace, handle, state) if begins else None
        if call.event == "Stop":
            seen = waiting(state, host.session_id, call.hook)
        if is_over(state):
            return  # of which the brief speaks; nothing is to be recorded
        if problem:
            _fail(call, problem)
            return
        call.changed = handle.slug
        agent = call.agent or (host.agent_type if is_name(host.agent_type) else call.host)
        record(handle, means, host.session_id, agent, call.hook, seen)
        if len(heads) > 1 and host.session_id in handle.state.session_names:
            whose.remember(workspace.folder, host.session_id, handle.slug)
        if seen and not begins:
            _point_out(call, handle.slug, seen)
        elif seen:
            _introduce(call, handle, host.session_id, [each.project for each in heads])


def _here(cwd: str) -> Path | None:
    """The folder that the host is in, unless the environment names a journal."""
    with suppress(ValueError):  # no folder can have such a name
        folder = os.fsdecode(cwd.encode(errors="surrogateescape"))
        if os.path.isdir(folder) and not os.environ.get("PASSDOWN_JOURNAL"):
            return Path(folder)
    return None


def _nothing_yet(why: str, root: Path | None, here: Path | None) -> str:
    """What to do where nothing is recorded yet."""
    from cli.unadopted import adoption

    here = here or Path.cwd()
    adopt = "" if os.environ.get("PASSDOWN_JOURNAL") else adoption(root or here, here)
    return f"no journal has the state files here yet; `{adopt}` takes them over" if adopt else why


# -- the brief -------------------------------------------------------------------------------


def _shown(call: Call, workspace: Workspace, handle: LiveHandle, state: Project) -> e.BriefShown:
    """Put the brief into the answer: the one that was made ready, else one composed now."""
    kept = None if call.agent or call.budget != BUDGET else ready(workspace, handle, state)
    if kept:
        call.context = kept.text
        return kept.seen
    from cli.briefing import for_host

    call.context, seen = for_host(workspace, state, call.agent, call.budget)
    return seen


def _introduce(call: Call, handle: LiveHandle, host: str, projects: Sequence[str]) -> None:
    """Tell the agent who it is here, and its shell where that is possible."""
    session = handle.state.session_names.get(host, "")
    others = [name[:_NAME] for name in projects if name != handle.slug][:3]
    slug = handle.slug[:_NAME]
    said = f"You are in session {session} of {slug}: record with `--session {session}`."
    if others:
        said += f" Other projects here: {', '.join(others)}; `passdown resume -p NAME`."
    call.context += f"\n{said}\n"
    if path := os.environ.get("CLAUDE_ENV_FILE"):
        with suppress(OSError), open(path, "a") as shell:
            shell.write(f"export PASSDOWN_SESSION={session} PASSDOWN_PROJECT={handle.slug}\n")


def _point_out(call: Call, slug: str, seen: e.BriefShown) -> None:
    """Tell the agent once, when its turn ends, that mail waits for it."""
    count = len(seen.shown["mail"])
    many = "1 message is" if count == 1 else f"{count} messages are"
    agent = seen.agent[:_NAME]
    call.note = _sentence(
        f"{many} unread for {agent}; `passdown mail list --unread --agent {agent} -p {slug}`"
    )


# -- what comes after ------------------------------------------------------------------------


def _bring_up_to_date(call: Call) -> None:
    """Leave the files to a child, so that nobody waits for them."""
    if not (call.workspace and call.changed) or os.fork():
        return
    os.setsid()
    for stream in range(3):  # a host waits until everybody has let go of its pipes
        os.dup2(os.open(os.devnull, os.O_RDWR), stream)
    try:
        _keep_files(call.workspace, call.changed)
    except BaseException as error:  # noqa: BLE001 - the log is the only one to tell
        why = str(error) if isinstance(error, PassdownError) else repr(error)
        call.failed = f"the files were not brought up to date: {why}"
        _log(call)


def _keep_files(workspace: Workspace, slug: str) -> None:
    """What the child does, and not for ever: somebody may hold a lock and not let go of it."""
    import signal

    from cli.briefing import make_ready
    from cli.recording import keep_tables
    from projections.files import sync

    def too_long(*_: object) -> NoReturn:
        raise TimeoutError(f"it took more than {_UPKEEP} seconds")

    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(_UPKEEP)
    with Journal.open(workspace.folder) as journal:
        handle = journal.project(slug)
        sync(workspace, handle)
        keep_tables(workspace, [handle])
        make_ready(workspace, handle)


# -- when something goes wrong ---------------------------------------------------------------


def _fail(call: Call, why: str) -> None:
    """Say in the answer what could not be done and how to see why."""
    what = "this session could not be recorded" if call.context else "state could not be loaded"
    call.note = _sentence(f"{what}: {why[:240]}. `passdown doctor` says what to do")
    call.failed = why


def _log(call: Call) -> None:
    """Keep what could not be done where the doctor finds it, once the host has its answer."""
    if not call.failed:
        return
    line = legible(f"{iso(now())} {call.hook}: {_line(call.failed)[:300]}")
    with suppress(Exception):
        sys.stderr.write(f"passdown: {line}\n")
    with suppress(Exception):
        from cli import hooklog

        hooklog.add((call.workspace or places.find()).folder, line)


def _sentence(text: str) -> str:
    return f"Passdown: {_line(text)[:340].rstrip('.')}."


def _line(text: str) -> str:
    """Text on one line, without anything that is not to be seen."""
    return " ".join("".join(c if c.isprintable() else " " for c in legible(text)).split())
