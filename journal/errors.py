"""What can go wrong, as a tree. Every message says what was asked, what is so, what to do next.

PassdownError
├── Invalid             the request is malformed: a name, a path, a type, a size
├── NotFound            it names something that is not there; near names are offered
├── Rejected            a rule of the domain says no
├── KeyReused           the request's id is known and its content is another
├── Conflict            the project moved on since it was read (retried by the journal itself)
└── JournalError        the store cannot serve
    ├── JournalMissing      there is none here
    ├── JournalForeign      the file is not a journal
    ├── JournalNewer        written by a newer Passdown
    ├── JournalDamaged      what is stored is not what was written
    └── JournalUnavailable  read-only, locked, full disk
"""

from collections.abc import Iterable


class PassdownError(Exception):
    """Anything that Passdown refuses or fails at, in one sentence for a person."""

    #: Which of several requests it was about, counted from 0.
    nth: int | None = None

    def __reduce__(self) -> tuple[object, ...]:
        """Errors cross from worker processes to whoever waits for them."""
        return _revived, (type(self), self.args, vars(self))


def _revived(
    cls: type[PassdownError], args: tuple[object, ...], attributes: dict[str, object]
) -> PassdownError:
    error = cls.__new__(cls, *args)
    error.args = args
    vars(error).update(attributes)
    return error


class Invalid(PassdownError):
    """The request itself is malformed; `where` is the path to the bad field, if there is one."""

    def __init__(self, message: str, *, where: str | None = None) -> None:
        super().__init__(message)
        self.where = where


class NotFound(PassdownError):
    """The request names a thing that does not exist."""

    def __init__(self, kind: str, name: str, known: Iterable[str], *, hint: str = "") -> None:
        self.kind = kind
        self.name = name
        self.near = near(name, known)
        offer = f"; near: {', '.join(self.near)}" if self.near else ""
        if not offer and not hint:
            hint = "see `passdown show`"
        super().__init__(f"no {kind} {quoted(name)}{offer}{'; ' + hint if hint else ''}")


class Rejected(PassdownError):
    """A rule says no: what was asked, what is so, and what would be allowed."""

    def __init__(self, asked: str, state: str, allowed: Iterable[str] = ()) -> None:
        self.asked = asked
        self.state = state
        self.allowed = tuple(allowed)
        offer = f"; allowed now: {', '.join(self.allowed)}" if self.allowed else ""
        super().__init__(f"cannot {asked}: {state}{offer}")

    def naming(self, project: str) -> "Rejected":
        """The same refusal, with commands that name the project."""
        offers = (each if " -p " in each else f"{each} -p {project}" for each in self.allowed)
        named = Rejected(self.asked, self.state, offers)
        named.nth = self.nth
        return named


class KeyReused(PassdownError):
    """The same request id came with other content."""

    def __init__(self, project: str, key: str, version: int) -> None:
        self.project = project
        self.key = key
        self.version = version
        super().__init__(
            f"id {key!r} already names version {version} of {project}, which says something else; "
            f"see `passdown log -p {project}`, or choose another --id"
        )


class Conflict(PassdownError):
    """The project is not at the version that the append expected."""

    def __init__(self, project: str, expected: int, actual: int) -> None:
        self.project = project
        self.expected = expected
        self.actual = actual
        super().__init__(f"{project} is at version {actual}, not {expected}; read it and try again")


class JournalError(PassdownError):
    """The store cannot serve."""


class JournalMissing(JournalError):
    """There is no journal where one was looked for."""


class JournalForeign(JournalError):
    """The file at the journal's place is something else."""


class JournalNewer(JournalError):
    """The journal, or a record in it, was written by a newer Passdown."""


class JournalDamaged(JournalError):
    """What is stored is not what was written; `project` and `version` name the first bad record."""

    def __init__(
        self, message: str, *, project: str | None = None, version: int | None = None
    ) -> None:
        super().__init__(message)
        self.project = project
        self.version = version


class JournalUnavailable(JournalError):
    """The journal cannot be written or read just now: read-only, locked, full disk."""


def quoted(value: object) -> str:
    """A value as a message names it: in quotes if it is text, and not too long."""
    shown = repr(value)
    return (
        shown if len(shown) <= 62 else f"{shown[:60]}…{shown[0] if isinstance(value, str) else ''}"
    )


def near(name: str, known: Iterable[str], limit: int = 8) -> tuple[str, ...]:
    """The known names most like `name`; all of them if they are few and none is like it."""
    from difflib import get_close_matches

    names = list(known)
    close = get_close_matches(name[:100], names, n=limit, cutoff=0.5)
    if not close and len(names) <= limit:
        close = names
    return tuple(close)
