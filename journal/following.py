"""What each record of a history touches, found while folding it.

The collections of the state note what was at a key before it was first touched, so a record costs
what it touches and not what there is.
"""

from collections.abc import Iterable, Iterator, MutableMapping

from msgspec.structs import astuple

from journal.changes import Touch, touched
from journal.entities import Project
from journal.leaves import ABSENT, INNER, PLACE, same
from journal.record import Record
from journal.state import evolve


class _Noting(dict[str, object]):
    """A collection that notes what was at each key before it was first touched."""

    def __init__(self, name: str, things: dict[str, object], touched: "list[_Noting]") -> None:
        super().__init__(things)
        self.name = name
        self.before: dict[str, object] = {}
        #: How things stood, if that may change; where nobody minds, it is not looked at.
        self.order: tuple[str, ...] | None = None
        self._ordered = name not in INNER
        self._touched = touched

    def _note(self, key: str) -> None:
        if not self.before:
            self._touched.append(self)
        if key not in self.before:
            self.before[key] = self.get(key, ABSENT)

    def __setitem__(self, key: str, thing: object) -> None:
        self._note(key)
        super().__setitem__(key, thing)

    def __delitem__(self, key: str) -> None:
        if self._ordered and self.order is None:
            self.order = self.stood()
        self._note(key)
        super().__delitem__(key)

    def pop(self, key: str, *default: object) -> object:
        """Take a thing out."""
        if key not in self:
            return super().pop(key, *default)
        thing = self[key]
        del self[key]
        return thing

    # Every other way to change a dict goes by these.
    popitem = MutableMapping.popitem
    clear = MutableMapping.clear
    update = MutableMapping.update
    setdefault = MutableMapping.setdefault

    def stood(self) -> tuple[str, ...]:
        """The keys as they stood before; where order does not count, what has gone comes last."""
        if self.order is not None:
            return self.order
        left = [key for key in self if self.before.get(key) is not ABSENT]
        gone = [k for k, was in self.before.items() if was is not ABSENT and k not in self]
        return (*left, *gone)

    def was(self) -> dict[str, object]:
        """The collection before anything was touched."""
        return {key: self.before[key] if key in self.before else self[key] for key in self.stood()}

    def touches(self) -> Iterator[Touch]:
        """What became of what was touched."""
        for key, was in self.before.items():
            now = self.get(key, ABSENT)
            if was is not now:
                yield Touch((self.name, key), was, now)
        if self.order is not None:
            known = set(self.order)
            if [key for key in self if key in known] != [key for key in self.order if key in self]:
                yield Touch((self.name,), self.order, tuple(self))

    def forget(self) -> None:
        """From now on it is as it is."""
        self.before.clear()
        self.order = None


class Following:
    """A state that is folded on, record by record, and says what each of them touched."""

    def __init__(self, project: Project) -> None:
        self.project = project
        #: The collections that the record at hand has touched.
        self._touched: list[_Noting] = []
        for name in project.__struct_fields__:
            value = getattr(project, name)
            if isinstance(value, dict):
                setattr(project, name, _Noting(name, value, self._touched))
        self._names = project.__struct_fields__
        self._values = astuple(project)
        self._lists = {
            name: len(value)
            for name, value in zip(self._names, self._values, strict=True)
            if isinstance(value, list)
        }

    def evolve(self, record: Record) -> list[Touch]:
        """Fold one more record; what it touched, beside where the state is in its journal."""
        project = evolve(self.project, record)
        found: list[Touch] = []
        values = astuple(project)
        for name, was, now in zip(self._names, self._values, values, strict=True):
            if was is now or name in PLACE:
                continue
            if isinstance(was, _Noting):
                found += touched(name, was.was(), now)
                was.forget()
                setattr(project, name, _Noting(name, now, self._touched))
                values = astuple(project)
            elif not same(was, now):
                found.append(Touch((name,), was, now))
        self._values = values
        for noting in self._touched:
            found += noting.touches()
            noting.forget()
        self._touched.clear()
        for name, count in self._lists.items():
            things = getattr(project, name)
            if len(things) > count:  # what is in a list stays, the fold only adds
                found += [
                    Touch((name, str(n)), ABSENT, things[n]) for n in range(count, len(things))
                ]
                self._lists[name] = len(things)
        return found


def follow(project: Project, records: Iterable[Record]) -> Iterator[tuple[Record, list[Touch]]]:
    """Each record with what it touched; the state given goes along."""
    following = Following(project)
    for record in records:
        yield record, following.evolve(record)
