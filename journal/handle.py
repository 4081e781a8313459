"""The handle on one project: ask for its state, append to it, read its history.

A command is: load the state at version v, decide, append expecting v. If somebody was faster, the
tail is read and the command decided again, this time with every other writer kept out.
"""

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, Unpack

from journal import cache, forks, ids
from journal import events as e
from journal.errors import (
    Conflict,
    Invalid,
    JournalDamaged,
    KeyReused,
    NotFound,
    PassdownError,
    Rejected,
)
from journal.payload import encode
from journal.record import GENESIS, Draft, Record, commit, flaw
from journal.redactions import TYPE as REDACTED
from journal.redactions import Redactions, has_overtaken
from journal.request import Appended, Envelope, Request, check, decided
from journal.rules import By, cautions, check_redaction
from journal.state import Project, evolve
from journal.store import Masked, Store

#: The beginning of a UUID that is long enough to mean one.
_BEGINNING = r"[0-9a-f]{8,32}"


class Handle(forks.Forkable):
    """One project of a journal. Safe from several threads."""

    def __init__(self, slug: str, store: Store, cached: Path, clock: Callable[[], int]) -> None:
        self.slug = slug
        self._store = store
        self.cached = cached
        self._clock = clock
        self.begin()
        forks.watch(self)

    def begin(self) -> None:
        """Begin afresh: another thread may have been in the middle of something."""
        self._lock = threading.RLock()
        self._state: Project | None = None
        self._contended = False
        self._cached_version = 0

    # -- reading -----------------------------------------------------------------------------

    @property
    def state(self) -> Project:
        """The state as of now. It is the caller's own: later appends do not change it."""
        with self._lock:
            return self._current().copy()

    @property
    def version(self) -> int:
        """The version of the last record; 0 if there is none."""
        head = self._store.head(self.slug)
        return head.version if head else 0

    def at(self, version: int) -> Project:
        """The state as it was at a version."""
        self.check_version(version)
        return self._fold(version)

    def check_version(self, version: int) -> None:
        """Refuse a version that there is not."""
        last = self.version
        if not 1 <= version <= last:
            raise Invalid(
                f"{self.slug} has versions 1 to {last}, not {version}; see `passdown log`"
            )

    def version_at(self, moment: int, first: int = 1) -> int:
        """The last version that was recorded at or before a moment; no smaller one than `first`,
        for which 0 would be the time before there were any."""
        version = 0
        for record in self._store.read(self.slug):
            if record.at > moment:
                break
            version = record.version
        if version < first:
            raise Invalid(f"{self.slug} had no records yet at that time; see `passdown log`")
        return version

    def version_of(self, id: str) -> int | None:
        """The version of the record of that id, or of the only one whose UUID begins so."""
        if found := self._store.find(self.slug, id):
            return found.version
        start = id.lower().replace("-", "")
        if not re.fullmatch(_BEGINNING, start):
            return None
        records = self._store.read(self.slug)
        meant = [each for each in records if each.id.replace("-", "").startswith(start)]
        if len(meant) > 1:
            which = ", ".join(f"{each.id} (version {each.version})" for each in meant[:4])
            raise Invalid(f"id {id!r} could be {which}; give more of it, or the version")
        return meant[0].version if meant else None

    def records(self, after: int = 0, upto: int | None = None) -> Iterator[Record]:
        """The records with after < version <= upto, in order, each checked against the chain."""
        previous, after = GENESIS, max(after, 0)
        if after:
            before = next(self._store.read(self.slug, after - 1, after), None)
            previous = before.hash if before else GENESIS
        records = self._store.read(self.slug, after, upto)
        return checked(self.slug, records, after, previous, self.redactions())

    def find(self, id: str) -> Record | None:
        """The record that has this id."""
        return self._store.find(self.slug, id)

    def redactions(self) -> Redactions:
        """What was redacted in this project."""
        return Redactions(self._store, self.slug)

    def _fold(self, upto: int) -> Project:
        project = Project(self.slug)
        if upto:
            for record in self.records(upto=upto):
                evolve(project, record)
        return project

    def _current(self) -> Project:
        """The state in memory, brought up to date; the caller holds the lock."""
        state = self._state
        if state is None or not self._follow(state):
            state = self._state = self._load()
        self._keep(state)
        return state

    def _load(self) -> Project:
        """The state from the cache, if the journal goes on from there, else from the beginning."""
        cached = cache.read(self.cached, self.slug)
        if cached is not None:
            self._cached_version = cached.version
            if self._follow(cached):
                return cached
        self._cached_version = 0
        for _ in range(_ATTEMPTS):
            state = Project(self.slug)
            if self._follow(state):
                return state
        return self._fold(self.version)  # it says that it was redacted, and never was

    def _follow(self, state: Project) -> bool:
        """Fold what came after a state into it; False if the journal has another past, or if
        something was redacted that is in the state already."""
        tail = self._store.read(self.slug, max(state.version - 1, 0))
        if state.version:
            # A journal can be restored from a backup under a handle that lives on.
            anchor = next(tail, None)
            if anchor is None or (anchor.version, anchor.hash) != (state.version, state.hash):
                return False
        masked = set()
        for record in checked(self.slug, tail, state.version, state.hash, self.redactions()):
            if record.salt is None:
                masked.add(record.version)
            if has_overtaken(record, masked):
                return False
            evolve(state, record)
        return True

    def _keep(self, state: Project) -> None:
        """Cache the state once its tail costs more to fold than the state costs to write."""
        worth = 250 + (len(state.decisions) + len(state.findings) + len(state.tasks)) // 8
        if state.version - self._cached_version > worth:
            self.keep(state, "state", state)
            self._cached_version = state.version

    def keep(self, state: Project, part: cache.Part, thing: object) -> None:
        """Keep what was made of a state in a file, unless something was redacted since."""

        def holds() -> bool:
            tail = self._store.read(self.slug, state.version, type=REDACTED)
            return next(tail, None) is None

        cache.pack(self.cached, state, part, thing, holds)

    # -- writing -----------------------------------------------------------------------------

    def append(self, *events: e.Event, **envelope: Unpack[Envelope]) -> Appended:
        """Record events, all or none. With an `id`, the same request again adds nothing."""
        unknown = set(envelope) - Envelope.__annotations__.keys()
        if unknown:
            raise TypeError(f"append() has no argument {', '.join(sorted(unknown))}")
        requests = [
            Request(
                event,
                envelope.get("actor"),
                envelope.get("session"),
                envelope.get("occurred"),
                envelope.get("cause"),
                envelope.get("lease"),
            )
            for event in events
        ]
        return self.append_all(requests, id=envelope.get("id"))

    def append_all(self, requests: Sequence[Request], *, id: str | None = None) -> Appended:
        """Record what several actors propose, all or none."""
        check(requests, id)
        with self._lock:
            if not self._contended:
                try:
                    return self._try_in_memory(requests, id) or self._attempt(
                        self._current(), requests, id
                    )
                except Conflict:
                    self._contended = True
            with self._store.locked():
                known = self._state.version if self._state else 0
                state = self._current()
                # Where somebody else writes too, the next request does not try without the lock.
                self._contended = state.version > known
                return self._attempt(state, requests, id)

    def append_decided(
        self, propose: Callable[[Project, int], Sequence[Request]], *, id: str | None = None
    ) -> Appended:
        """Record what a function proposes on the state of now, with every other writer kept out."""
        check((), id)
        with self._lock, self._store.locked():
            state = self._current()
            known = self._store.find(self.slug, id) if id is not None else None
            # The same request again is what was proposed then.
            before = state.copy() if known is None else self._fold(known.version - 1)
            requests = propose(before, self._clock() if known is None else known.at)
            check(requests, id)
            return self._attempt(state, requests, id)

    def _try_in_memory(self, requests: Sequence[Request], key: str | None) -> Appended | None:
        """What requests come to on the state in memory, where that is the state of now.

        The append finds out; what appends nothing, or is refused, has to be decided on the truth.
        """
        if self._state is None:
            return None
        try:
            done = self._attempt(self._state, requests, key)
        except (Invalid, NotFound, Rejected, KeyReused):
            return None
        return done if done.records else None

    def _attempt(self, state: Project, requests: Sequence[Request], key: str | None) -> Appended:
        known = self._store.find(self.slug, key) if key is not None else None
        if known is not None and key is not None:
            return self._repeat(requests, key, known)
        now = self._clock()
        drafts: list[Draft] = []
        events: list[e.Event] = []
        for n, (request, event, payload) in enumerate(decided(state, requests, now)):
            drafts.append(
                Draft(
                    ids.of_request(key, n, now),
                    event.type,
                    payload,
                    ids.salt(),
                    request.occurred,
                    request.actor,
                    request.session,
                    key if key is not None and n else request.cause,
                )
            )
            events.append(event)
        if not drafts:
            return Appended(self.slug, state.version)
        records = self._store.append(self.slug, state.version, drafts, state.hash)
        for record in records:
            evolve(state, record)
        self._keep(state)
        notes = tuple(note for event in events for note in cautions(state, event))
        return Appended(self.slug, state.version, tuple(records), cautions=notes)

    def _repeat(self, requests: Sequence[Request], key: str, known: Record) -> Appended:
        """The first result of a request, if this is that request: decided then, it is the same."""
        records = [known]
        for n, record in enumerate(self._store.read(self.slug, known.version), start=1):
            if not ids.belongs(record.id, key, n):
                break
            records.append(record)
        if any(record.salt is None for record in records):
            # Nobody can tell any more whether it was the same; the id was, and nothing is added.
            return Appended(self.slug, records[-1].version, tuple(records), repeated=True)
        before = self._fold(known.version - 1)
        try:
            again = [
                (x.type, data, by.actor, by.session, by.occurred)
                for by, x, data in decided(before, requests, known.at)
            ]
        except PassdownError as error:
            raise KeyReused(self.slug, key, known.version) from error
        if again != [(r.type, r.data, r.actor, r.session, r.occurred) for r in records]:
            raise KeyReused(self.slug, key, known.version)
        return Appended(self.slug, records[-1].version, tuple(records), repeated=True)

    def redact(
        self,
        propose: Callable[[Iterator[Record]], Iterable[Masked]],
        reason: str,
        *,
        actor: str | None = None,
        session: str | None = None,
    ) -> Appended:
        """Put in the place of what records hold what a function proposes, and record that and why.

        Nobody can undo it. What was copied from the records elsewhere stays: see `erasing`.
        """
        with self._lock, self._store.locked():
            state, now = self._current(), self._clock()
            check((Request(e.ProjectReopened(), actor, session),), None)  # the names
            check_redaction(state, reason, By(actor, session, now))
            masks = sorted(propose(self.records()), key=lambda mask: mask.version)
            if not masks:
                return Appended(self.slug, state.version)
            drafts = [
                Draft(
                    ids.uuid7(now),
                    REDACTED,
                    encode(e.RecordRedacted(tuple(map(_named, some)), reason)),
                    ids.salt(),
                    actor=actor,
                    session=session,
                )
                for some in (masks[n : n + _AT_ONCE] for n in range(0, len(masks), _AT_ONCE))
            ]
            records = self._store.redact(self.slug, state.version, masks, drafts, state.hash)
            self._state = None  # which is made of what was erased
            return Appended(self.slug, records[-1].version, tuple(records))

    # -- the everyday requests ---------------------------------------------------------------

    def start_step(self, step: str, *, agent: str = "", **envelope: Unpack[Envelope]) -> Appended:
        """Begin work on a step."""
        return self.append(e.StepStarted(step, agent), **envelope)

    def checkpoint_step(
        self,
        step: str,
        checkpoint: str,
        *,
        artifacts: Iterable[str] = (),
        context_files: Iterable[str] = (),
        **envelope: Unpack[Envelope],
    ) -> Appended:
        """Record that a sub-step was reached."""
        event = e.StepCheckpointed(step, checkpoint, tuple(artifacts), tuple(context_files))
        return self.append(event, **envelope)

    def complete_step(
        self,
        step: str,
        *,
        artifacts: Iterable[str] = (),
        context_files: Iterable[str] = (),
        summary: str = "",
        **envelope: Unpack[Envelope],
    ) -> Appended:
        """Record that a step is done."""
        event = e.StepCompleted(step, tuple(artifacts), tuple(context_files), summary)
        return self.append(event, **envelope)

    def skip_step(self, step: str, *, reason: str = "", **envelope: Unpack[Envelope]) -> Appended:
        """Go on without a step."""
        return self.append(e.StepSkipped(step, reason), **envelope)

    def fail_step(
        self,
        step: str,
        message: str,
        *,
        kind: e.ErrorKind = "runtime",
        **envelope: Unpack[Envelope],
    ) -> Appended:
        """Record that an attempt at a step failed."""
        return self.append(e.StepFailed(step, message, kind), **envelope)

    def restart_step(
        self,
        step: str,
        mode: Literal["retry", "rerun"],
        *,
        reason: str = "",
        approved_by: str = "",
        **envelope: Unpack[Envelope],
    ) -> Appended:
        """Retry a failed step, or run a finished one again."""
        return self.append(e.StepRestarted(step, mode, reason, approved_by), **envelope)

    def decide(
        self,
        title: str = "",
        *,
        choice: str = "",
        rationale: str = "",
        key: str = "",
        value: e.Json = None,
        **envelope: Unpack[Envelope],
    ) -> Appended:
        """Record a decision; append a DecisionMade for the fields beyond these."""
        return self.append(e.DecisionMade(title, choice, rationale, key, value), **envelope)

    def open_finding(
        self,
        title: str,
        *,
        severity: e.Severity = "must_fix",
        step: str = "",
        **envelope: Unpack[Envelope],
    ) -> Appended:
        """Record that something is wrong; the same text while it is open is one finding."""
        return self.append(e.FindingOpened(title, severity, step), **envelope)

    def resolve_finding(
        self, finding: str, *, resolution: str = "", **envelope: Unpack[Envelope]
    ) -> Appended:
        """Record that a finding was dealt with."""
        return self.append(e.FindingResolved(finding, resolution), **envelope)

    def acquire_lease(
        self,
        step: str,
        *,
        agent: str = "",
        seconds: int = 300,
        token: str = "",
        **envelope: Unpack[Envelope],
    ) -> str:
        """Hold a step alone; the token that is returned is the `lease` of what is done under it."""
        # The same request again has to ask for the same lease, so its id serves as the token.
        token = token or envelope.get("id") or ids.uuid7(self._clock())
        self.append(e.LeaseAcquired(token, step, agent, seconds), **envelope)
        return token

    def renew_lease(self, token: str, **envelope: Unpack[Envelope]) -> Appended:
        """Keep a lease; soon after the last time it changes nothing."""
        return self.append(e.LeaseRenewed(token), **envelope)

    def release_lease(
        self, token: str, *, reason: str = "", **envelope: Unpack[Envelope]
    ) -> Appended:
        """Give a lease back."""
        return self.append(e.LeaseReleased(token, reason=reason), **envelope)


#: So many records are named in one that says they were redacted.
_AT_ONCE = 5_000
#: So often a history is read anew because something in it was redacted meanwhile.
_ATTEMPTS = 5


def _named(mask: Masked) -> e.Redacted:
    left = commit(b"", mask.data, mask.actor, mask.session)
    return e.Redacted(mask.version, left.hex())


def checked(
    project: str, records: Iterable[Record], after: int, previous: bytes, redactions: Redactions
) -> Iterator[Record]:
    """The records as they come, until one is not what was written after the one before it."""
    version = after
    for record in records:
        version += 1
        wrong = flaw(record, project, version, previous, redactions.account_for)
        if wrong:
            raise JournalDamaged(
                f"version {version} of {project} is damaged: {wrong}; versions 1 to {version - 1} "
                "are readable (`passdown show --at`), and `passdown recover --journal` keeps them",
                project=project,
                version=version,
            )
        previous = record.hash
        yield record
