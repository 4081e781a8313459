"""What is asked of a project, checked before and decided on its state."""

from collections.abc import Iterator, Sequence
from typing import TypedDict

from msgspec import Struct
from msgspec.structs import replace

from journal import events as e
from journal.errors import Invalid, PassdownError, Rejected, quoted
from journal.payload import encode
from journal.record import Record
from journal.rules import By, decide, session_named
from journal.state import Project, evolve


class Envelope(TypedDict, total=False):
    """What a request may say about itself."""

    actor: str | None
    session: str | None
    #: When it really happened, in microseconds, if that is not now.
    occurred: int | None
    #: The id of the event because of which it happened.
    cause: str | None
    #: The request's own id: the same request again adds nothing. One that changed nothing leaves
    #: no trace of its id.
    id: str | None
    #: The token of a lease: the request is refused if that is lost. It is not recorded.
    lease: str | None


class Request(Struct, frozen=True):
    """One proposed event, and who proposes it."""

    event: e.Event
    actor: str | None = None
    session: str | None = None
    occurred: int | None = None
    cause: str | None = None
    lease: str | None = None


class Appended(Struct, frozen=True):
    """What a request came to; `repeated` means that its id was known and nothing was added."""

    project: str
    version: int
    records: tuple[Record, ...] = ()
    repeated: bool = False
    cautions: tuple[str, ...] = ()


def decided(
    state: Project, requests: Sequence[Request], now: int
) -> Iterator[tuple[Request, e.Event, bytes]]:
    """Each event that the requests amount to, every one decided on what those before it made."""
    scratch = state.copy() if len(requests) > 1 else state
    for n, asked in enumerate(requests):
        request = _in_session(scratch, asked)
        by = By(request.actor, request.session, now, request.lease, request.occurred)
        try:
            encode(request.event)  # what is malformed is refused before any rule looks at it
            made = [(event, encode(event)) for event in decide(scratch, request.event, by)]
        except Rejected as no:
            refusal = _as_things_stand(no, state, request.event, by) if n else no
            refusal.nth = n
            raise refusal from None
        except PassdownError as error:
            error.nth = n
            raise
        for event, payload in made:
            yield request, event, payload
            if scratch is not state:
                evolve(scratch, provisional(scratch, request, event.type, payload, now))


def _as_things_stand(no: Rejected, state: Project, event: e.Event, by: By) -> Rejected:
    """A refusal of one event among several: none is recorded, so it offers what is allowed now."""
    asked, offers = no.asked, tuple[str, ...]()
    try:
        decide(state, event, by)
        asked = f"{asked} with what is asked before it"
    except Rejected as alone:
        offers = alone.allowed
    except PassdownError:
        pass  # it is about something that the events before it would have made
    return Rejected(asked, no.state, offers)


def _in_session(state: Project, request: Request) -> Request:
    """The request in the session that it means; a new one goes by the name that it is given."""
    if request.session is None or isinstance(request.event, e.SessionStarted):
        return request
    meant = session_named(state, request.session)
    return request if meant == request.session else replace(request, session=meant)


def provisional(state: Project, request: Request, type: str, payload: bytes, now: int) -> Record:
    """A record as it will look to the fold, before the store has made the real one."""
    return Record(
        0,
        state.slug,
        state.version + 1,
        "",
        type,
        payload,
        None,
        b"",
        now,
        request.occurred,
        request.actor,
        request.session,
        None,
        b"",
    )


def rehearse(slug: str, requests: Sequence[Request], *, id: str | None = None) -> None:
    """Raise what would be raised if a new project began with these requests."""
    check(requests, id)
    for _ in decided(Project(slug), requests, 0):
        pass


def check(requests: Sequence[Request], id: str | None) -> None:
    """Refuse what cannot be a request, whatever the state is."""
    known: set[str | None] = {None}
    for nth, request in enumerate(requests):
        try:
            if not isinstance(request.event, e.Event):
                raise Invalid(f"{quoted(request.event)} is no event; append one of journal.events")
            if not _is_moment(request.occurred):
                raise Invalid(f"occurred is {quoted(request.occurred)}; give it in microseconds")
            for name in _names(request):
                if name not in known:
                    check_name(name)
                    known.add(name)
        except Invalid as error:
            error.nth = nth
            raise
    if id is not None:
        check_name(id)


def _is_moment(value: object) -> bool:
    number = isinstance(value, int) and not isinstance(value, bool)
    return value is None or (number and -(2**63) <= value < 2**63)  # type: ignore[operator]


def check_name(name: object) -> None:
    """Refuse what cannot name an actor, session, id or lease."""
    if not (isinstance(name, str) and 1 <= len(name) <= 200 and name.isprintable()):
        raise Invalid(
            f"{quoted(name)} cannot name an actor, session, id or lease; "
            "use 1 to 200 printable characters"
        )


def _names(request: Request) -> tuple[str | None, ...]:
    return request.actor, request.session, request.cause, request.lease
