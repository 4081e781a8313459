"""A project in the making: what a file comes to, proposed one event after the other."""

from msgspec.structs import replace

from journal import events as e
from journal.clock import parse
from journal.errors import Invalid, PassdownError
from journal.request import Request, decided, provisional
from journal.state import Project, evolve


class Draft:
    """A project in the making, and the requests that make it."""

    def __init__(self, project: Project, by: Request, now: int) -> None:
        self.project = project.copy()
        self.requests: list[Request] = []
        #: When what has no time of its own happened: not later than the file was written.
        self.occurred: int | None = None
        self._by = by
        self._now = now

    def add(
        self,
        event: e.Event,
        occurred: int | None = None,
        *,
        session: str | None = None,
        actor: str | None = None,
        nobody: bool = False,
        must: bool = False,
    ) -> bool:
        """Propose an event; False if it would change nothing, or may not happen: then what it
        would have said stays as a leftover. What must happen raises why it may not. What an `actor`
        of the file did is put down to it, what `nobody` is known to have done to nobody."""
        moment = self.occurred if occurred is None else occurred
        request = replace(self._by, event=event, occurred=moment)
        if nobody:
            request = replace(request, actor=None, session=None)
        if session is not None:
            request = replace(request, session=session)
        if actor is not None:
            request = replace(request, actor=actor)
        try:
            made = list(decided(self.project, [request], self._now))
        except PassdownError:
            if must:
                raise
            return False
        for asked, x, payload in made:
            evolve(self.project, provisional(self.project, asked, x.type, payload, self._now))
        if made:
            self.requests.append(request)
        return bool(made)


def moment_of(text: object) -> int | None:
    """The moment that a time in a file means; None if it means none."""
    try:
        return parse(text) if isinstance(text, str) and text else None
    except Invalid:
        return None
