"""A journal and a plain model of it, side by side through random requests, kills and restarts."""

import os
import random
import shutil
import signal
import tempfile
import time
from typing import Literal, TypeAlias

from faults import flip
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from journal import Handle, Journal
from journal import events as e
from journal.audit import audit
from journal.errors import PassdownError
from journal.workflows import generic

OPENED = e.ProjectOpened("My app", "generic", generic(("Build", "Test", "Ship")).steps)

Outcome: TypeAlias = Literal["appended", "nothing", "refused"]
#: How a request gets there: this handle, another one, a process that exits, one that is killed.
vias = st.sampled_from(("here", "here", "other handle", "process", "killed process"))
actors = st.sampled_from(("ada", "bob"))
steps = st.sampled_from(("1", "2", "3"))
titles = st.sampled_from(("leak", "crack", "überlauf"))
names = st.sampled_from(("morning", "evening"))
numbers = st.integers(1, 4)


def outcome(app: Handle, *events: e.Event, actor: str, id: str | None = None) -> Outcome:
    """What a request comes to."""
    try:
        done = app.append(*events, actor=actor, id=id)
    except PassdownError:
        return "refused"
    return "appended" if done.records and not done.repeated else "nothing"


class JournalBesideModel(RuleBasedStateMachine):
    """Random requests by random ways, while dictionaries say what must come of each."""

    @initialize()
    def open(self) -> None:
        """An empty project, and the model of it."""
        self.journal = Journal.create(tempfile.mkdtemp(prefix="passdown-model-"))
        self.other = Journal.open(self.journal.folder)
        self.journal.handle("my-app").append(OPENED)
        self.version = 1
        self.steps = dict.fromkeys("123", ("pending", ""))
        self.findings: dict[str, str] = {}
        self.open_titles: dict[str, str] = {}
        self.decided: dict[str, str] = {}
        self.tasks: dict[str, tuple[str, str]] = {}
        self.sessions: dict[str, tuple[str, str]] = {}
        self.names: dict[str, str] = {}
        self.tokens = self.keys = 0

    def teardown(self) -> None:
        """Nothing of all this left a flaw or a gap."""
        if not hasattr(self, "journal"):
            return
        try:
            records = list(self.journal.store.read("my-app"))
            assert [record.version for record in records] == list(range(1, self.version + 1))
            assert len({record.id for record in records}) == len(records)
            assert list(audit(self.journal.store)) == []
        finally:
            self.other.close()
            self.journal.close()
            shutil.rmtree(self.journal.folder.parent)

    def ask(self, via: str, expected: Outcome, *events: e.Event, actor: str = "ada") -> bool:
        """Make a request; whether it was recorded, which the model has foretold."""
        if via in ("here", "other handle"):
            journal = self.journal if via == "here" else self.other
            found: str = outcome(journal.project("my-app"), *events, actor=actor)
        else:
            found = self.ask_in_process(via == "killed process", events, actor)
        assert found == expected
        self.version += len(events) * (found == "appended")
        return found == "appended"

    def ask_in_process(self, killed: bool, events: tuple[e.Event, ...], actor: str) -> str:
        """What a process acknowledges that then ends without closing anything."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                app = Journal.open(self.journal.folder).project("my-app")
                os.write(writing, outcome(app, *events, actor=actor).encode())
                if killed:
                    os.kill(os.getpid(), signal.SIGKILL)
            finally:
                os._exit(0)
        os.close(writing)
        with open(reading, "rb") as acknowledged:
            found = acknowledged.read().decode()
        os.waitpid(child, 0)
        return found

    # -- steps

    @rule(via=vias, step=steps, actor=actors)
    def start_step(self, via: str, step: str, actor: str) -> None:
        """Only a pending step starts; starting one's own again is nothing."""
        mine = self.steps[step] == ("in_progress", actor)
        pending = self.steps[step][0] == "pending"
        expected: Outcome = "nothing" if mine else "appended" if pending else "refused"
        if self.ask(via, expected, e.StepStarted(step), actor=actor):
            self.steps[step] = ("in_progress", actor)

    @rule(via=vias, step=steps, fails=st.booleans(), title=titles)
    def finish_step(self, via: str, step: str, fails: bool, title: str) -> None:
        """A step in progress completes or fails, in one batch with a finding or not at all."""
        running = self.steps[step][0] == "in_progress"
        end = e.StepFailed(step, "no") if fails else e.StepCompleted(step)
        opened = () if title in self.open_titles else (e.FindingOpened(title),)
        if self.ask(via, "appended" if running else "refused", *opened, end):
            self.steps[step] = ("failed" if fails else "complete", self.steps[step][1])
            self.note_findings(*opened)

    @rule(via=vias, step=steps)
    def skip_step(self, via: str, step: str) -> None:
        """Whatever is not complete can be skipped, once."""
        status = self.steps[step][0]
        known: dict[str, Outcome] = {"complete": "refused", "skipped": "nothing"}
        if self.ask(via, known.get(status, "appended"), e.StepSkipped(step)):
            self.steps[step] = ("skipped", self.steps[step][1])

    @rule(via=vias, step=steps, actor=actors, mode=st.sampled_from(("retry", "rerun")))
    def restart_step(
        self, via: str, step: str, actor: str, mode: Literal["retry", "rerun"]
    ) -> None:
        """A failed step is retried, a finished one run again."""
        wanted = {"retry": ("failed",), "rerun": ("complete", "skipped")}[mode]
        expected: Outcome = "appended" if self.steps[step][0] in wanted else "refused"
        if self.ask(via, expected, e.StepRestarted(step, mode), actor=actor):
            self.steps[step] = ("in_progress", actor)

    # -- findings, decisions

    def note_findings(self, *opened: e.FindingOpened) -> None:
        """The model of findings, which are numbered."""
        for event in opened:
            id = f"F{len(self.findings) + 1:03}"
            self.findings[id] = event.title
            self.open_titles[event.title] = id

    @rule(via=vias, title=titles)
    def open_finding(self, via: str, title: str) -> None:
        """The same text while it is open is one finding."""
        event = e.FindingOpened(title)
        if self.ask(via, "nothing" if title in self.open_titles else "appended", event):
            self.note_findings(event)

    @rule(via=vias, number=numbers)
    def resolve_finding(self, via: str, number: int) -> None:
        """An open finding is resolved once; one that never was is refused."""
        id = f"F{number:03}"
        still = id in self.open_titles.values()
        expected: Outcome = "appended" if still else "nothing" if id in self.findings else "refused"
        if self.ask(via, expected, e.FindingResolved(id)):
            del self.open_titles[self.findings[id]]

    @rule(via=vias, key=names, value=titles)
    def decide(self, via: str, key: str, value: str) -> None:
        """A key has the value that was decided last."""
        expected: Outcome = "nothing" if self.decided.get(key) == value else "appended"
        if self.ask(via, expected, e.DecisionMade(key=key, value=value)):
            self.decided[key] = value

    # -- tasks, sessions

    @rule(via=vias)
    def add_task(self, via: str) -> None:
        """Tasks are numbered."""
        self.ask(via, "appended", e.TaskAdded("work"))
        self.tasks[f"T{len(self.tasks) + 1:03}"] = ("open", "")

    @rule(via=vias, number=numbers, actor=actors, verb=st.sampled_from(("claim", "start")))
    def take_task(self, via: str, number: int, actor: str, verb: str) -> None:
        """An open task can be taken by anybody, a claimed one only be started by its holder."""
        task = f"T{number:03}"
        status, holder = self.tasks.get(task, ("missing", ""))
        reached = "claimed" if verb == "claim" else "in_progress"
        mine = holder == actor
        free = status == "open" or (status == "claimed" and verb == "start" and mine)
        expected: Outcome = "appended" if free else "refused"
        if status == reached and mine:
            expected = "nothing"
        event = e.TaskClaimed(task) if verb == "claim" else e.TaskStarted(task)
        if self.ask(via, expected, event, actor=actor):
            self.tasks[task] = (reached, actor)

    @rule(via=vias, number=numbers, verb=st.sampled_from(("complete", "reset")))
    def leave_task(self, via: str, number: int, verb: str) -> None:
        """A task that somebody holds is completed, or goes back to open."""
        task = f"T{number:03}"
        status, holder = self.tasks.get(task, ("missing", ""))
        expected: Outcome = "appended" if status in ("claimed", "in_progress") else "refused"
        if (status, verb) == ("open", "reset"):
            expected = "nothing"
        event = e.TaskCompleted(task) if verb == "complete" else e.TaskReset(task)
        if self.ask(via, expected, event):
            self.tasks[task] = ("done", holder) if verb == "complete" else ("open", "")

    @rule(via=vias, name=names, actor=actors)
    def start_session(self, via: str, name: str, actor: str) -> None:
        """A name belongs to one active session; an agent that begins anew ends its open one."""
        status, agent = self.sessions.get(self.names.get(name, ""), ("none", ""))
        expected: Outcome = "appended"
        if status == "active":
            expected = "nothing" if agent == actor else "refused"
        if self.ask(via, expected, e.SessionStarted(name=name), actor=actor):
            for id in [id for id, x in self.sessions.items() if x == ("active", actor)]:
                self.sessions[id] = ("ended", actor)
                self.version += 1
            self.names[name] = f"session-{len(self.sessions) + 1:03}"
            self.sessions[self.names[name]] = ("active", actor)

    @rule(via=vias, name=names)
    def end_session(self, via: str, name: str) -> None:
        """Only an active session ends."""
        id = self.names.get(name, "")
        status, agent = self.sessions.get(id, ("none", ""))
        expected: Outcome = "appended" if status == "active" else "refused"
        if self.ask(via, expected, e.SessionEnded(name)):
            self.sessions[id] = ("ended", agent)

    # -- what may happen to a journal

    @rule(after=st.floats(0, 0.02))
    def kill_and_retry(self, after: float) -> None:
        """Killed at any moment and asked again under the same id, a request is recorded once."""
        self.keys += 1
        event, key = e.TokensUsed(1), f"k-{self.keys}"
        child = os.fork()
        if child == 0:
            try:
                app = Journal.open(self.journal.folder).project("my-app")
                outcome(app, event, actor="ada", id=key)
            finally:
                os._exit(0)
        time.sleep(after)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert outcome(self.journal.project("my-app"), event, actor="ada", id=key) != "refused"
        self.version += 1
        self.tokens += 1

    @precondition(lambda self: self.version < 600)
    @rule(via=vias)
    def grow(self, via: str) -> None:
        """So much happens that a cache is worth it."""
        self.ask(via, "appended", *300 * (e.TokensUsed(1),))
        self.tokens += 300

    @rule(damage=st.sampled_from(("deleted", "cut", "flipped")), seed=st.integers(0, 999))
    def damage_cache(self, damage: str, seed: int) -> None:
        """The cache is lost or damaged, and everybody starts anew."""
        for path in (self.journal.folder / "cache").glob("*.state"):
            content = path.read_bytes()
            match damage:
                case "deleted":
                    path.unlink()
                case "cut":
                    path.write_bytes(content[: len(content) * seed // 1000])
                case _:
                    path.write_bytes(flip(content, random.Random(seed)))
        self.reopen()

    @rule()
    def reopen(self) -> None:
        """Everybody starts anew."""
        for journal in (self.journal, self.other):
            journal.close()
        self.journal = Journal.open(self.journal.folder)
        self.other = Journal.open(self.journal.folder)

    @invariant()
    def the_state_is_the_model(self) -> None:
        """Both handles say what the dictionaries say."""
        if not hasattr(self, "journal"):
            return
        for journal in (self.journal, self.other):
            state = journal.project("my-app").state
            assert state.version == self.version
            assert {
                s.key: (s.status, s.started_by or "") for s in state.steps.values()
            } == self.steps
            assert {f.id: f.title for f in state.findings.values()} == self.findings
            assert state.open_findings == self.open_titles
            held = {key: state.decisions[id].value for key, id in state.keyed.items()}
            assert held == self.decided
            assert {t.id: (t.status, t.agent) for t in state.tasks.values()} == self.tasks
            assert {s.id: (s.status, s.agent) for s in state.sessions.values()} == self.sessions
            assert sum(used.input for used in state.tokens.values()) == self.tokens


TestJournalBesideModel = JournalBesideModel.TestCase
TestJournalBesideModel.settings = settings(deadline=None, max_examples=100, stateful_step_count=40)
