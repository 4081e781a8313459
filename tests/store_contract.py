"""What every engine must do, whatever it is made of: a class of tests that each engine inherits."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from journal.clock import now
from journal.errors import Conflict, Invalid, JournalError, Rejected
from journal.record import GENESIS, Draft, Record, flaw
from journal.store import Head, Masked, Store


def draft(number: int, text: str = "x") -> Draft:
    """A draft with an id of its own."""
    return Draft(f"id-{number}", "finding.opened", b'{"title":"%b"}' % text.encode(), bytes(16))


class StoreContract:
    """Inherit, say how a store on a folder is opened, and the engine is held to the contract."""

    def open(self, folder: Path, clock: Callable[[], int] = now) -> Store:
        """A store on the folder, both made if there is none."""
        raise NotImplementedError

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        """An empty store."""
        store = self.open(tmp_path)
        yield store
        store.close()

    def test_an_empty_store_has_nothing(self, store: Store) -> None:
        """A project without records has no head, no records and no ids."""
        assert store.heads() == []
        assert store.head("app") is None
        assert list(store.read("app")) == []
        assert store.find("app", "id-1") is None
        assert list(store.check()) == []

    def test_what_was_appended_is_read_back(self, store: Store) -> None:
        """Append returns the very records that are read afterwards, field by field."""
        full = Draft("k", "t.u", b"{}", bytes(range(16)), -5, "ada", "s-1", "id-1")
        appended = store.append("app", 0, [draft(1), full])
        assert list(store.read("app")) == appended
        last = appended[1]
        assert (last.id, last.type, last.data, last.salt) == ("k", "t.u", b"{}", bytes(range(16)))
        assert (last.occurred, last.actor, last.session, last.cause) == (-5, "ada", "s-1", "id-1")

    def test_the_records_form_a_chain(self, store: Store) -> None:
        """Versions have no gaps and each record is linked to the one before it."""
        store.append("app", 0, [draft(1), draft(2)])
        store.append("app", 2, [draft(3)])
        previous = GENESIS
        for version, record in enumerate(store.read("app"), start=1):
            assert flaw(record, "app", version, previous) is None
            previous = record.hash
        assert store.head("app") == Head("app", 3, previous)

    def test_read_takes_a_range(self, store: Store) -> None:
        """Reading gives the versions with after < version <= upto, in order."""
        store.append("app", 0, [draft(n) for n in range(1, 2502)])
        assert [r.version for r in store.read("app", 2, 4)] == [3, 4]
        assert [r.version for r in store.read("app", upto=1)] == [1]
        assert [r.version for r in store.read("app", 2500)] == [2501]
        assert list(store.read("app", 2501)) == list(store.read("app", 4, 4)) == []
        assert [r.version for r in store.read("app")] == list(range(1, 2502))

    def test_find_is_by_project_and_id(self, store: Store) -> None:
        """An id is found in its own project only."""
        [record] = store.append("app", 0, [draft(1)])
        assert store.find("app", "id-1") == record
        assert store.find("app", "id-2") is None
        assert store.find("web", "id-1") is None

    def test_heads_are_sorted_by_name(self, store: Store) -> None:
        """Every project has one head, at its last record."""
        store.append("web", 0, [draft(1)])
        store.append("app", 0, [draft(1), draft(2)])
        assert [(h.project, h.version) for h in store.heads()] == [("app", 2), ("web", 1)]

    @pytest.mark.parametrize("expected", [0, 1, 3])
    def test_a_wrong_expectation_is_a_conflict(self, store: Store, expected: int) -> None:
        """An append that expects another version changes nothing and says where the project is."""
        store.append("app", 0, [draft(1), draft(2)])
        with pytest.raises(Conflict) as caught:
            store.append("app", expected, [draft(3)])
        assert (caught.value.expected, caught.value.actual) == (expected, 2)
        assert [r.version for r in store.read("app")] == [1, 2]

    def test_a_duplicate_id_is_refused(self, store: Store) -> None:
        """A project has an id once; another project may have the same."""
        store.append("app", 0, [draft(1)])
        with pytest.raises(JournalError):
            store.append("app", 1, [draft(1)])
        assert len(list(store.read("app"))) == 1
        store.append("web", 0, [draft(1)])

    def test_a_batch_is_all_or_nothing(self, store: Store) -> None:
        """If one draft of a batch cannot be stored, none is, and the store goes on."""
        store.append("app", 0, [draft(1)])
        with pytest.raises(JournalError):
            store.append("app", 1, [draft(2), draft(3), draft(2)])
        assert [r.id for r in store.read("app")] == ["id-1"]
        assert [r.version for r in store.append("app", 1, [draft(2)])] == [2]

    def test_positions_increase_over_all_projects(self, store: Store) -> None:
        """A later record has a larger position, whichever project it belongs to."""
        records = store.append("web", 0, [draft(1), draft(2)])
        records += store.append("app", 0, [draft(1)])
        records += store.append("web", 2, [draft(3)])
        positions = [record.position for record in records]
        assert positions == sorted(set(positions))

    def test_time_never_goes_backwards(self, tmp_path: Path) -> None:
        """With a clock that is set back, a project's records keep the last time."""
        times = iter([1000, 400, 2000])
        store = self.open(tmp_path, lambda: next(times))
        found = [store.append("app", n, [draft(n)])[0].at for n in range(3)]
        assert found == [1000, 1000, 2000]
        store.close()

    def test_reading_one_type(self, store: Store) -> None:
        """Of a range of versions those of one type can be read alone."""
        other = Draft("other", "t.u", b"{}", bytes(16))
        store.append("app", 0, [draft(1), other, draft(2)])
        assert [r.id for r in store.read("app", type="t.u")] == ["other"]
        assert list(store.read("app", 2, type="t.u")) == []

    def test_a_redaction_is_one_stroke(self, store: Store) -> None:
        """Masks and the record that tells of them come together; chain and commitment stay."""
        first, second = store.append("app", 0, [draft(1, "secret"), draft(2)])
        [told] = store.redact("app", 2, [Masked(1, b"{}", "eve", None)], [draft(3)], second.hash)
        assert told.version == 3
        found = list(store.read("app"))
        assert found == [replace(first, data=b"{}", actor="eve", salt=None), second, told]
        assert store.head("app") == Head("app", 3, told.hash)

    @pytest.mark.parametrize("version", [1, 3, 9])
    def test_a_record_is_redacted_once(self, store: Store, version: int) -> None:
        """What was redacted before, or is not there, or only just comes, is refused with the rest
        of the request."""
        store.append("app", 0, [draft(1), draft(2)])
        store.redact("app", 2, [Masked(1, b"{}", None, None)])
        before = list(store.read("app"))
        masks = [Masked(2, b"{}", None, None), Masked(version, b"{}", None, None)]
        with pytest.raises(Rejected):
            store.redact("app", 2, masks, [draft(3)])
        assert list(store.read("app")) == before

    def test_a_redaction_expects_a_version(self, store: Store) -> None:
        """As an append does."""
        store.append("app", 0, [draft(1)])
        with pytest.raises(Conflict):
            store.redact("app", 2, [Masked(1, b"{}", None, None)], [draft(2)])
        assert [r.salt for r in store.read("app")] == [bytes(16)]

    def test_scrubbing_leaves_no_trace(self, store: Store, tmp_path: Path) -> None:
        """What was redacted stands in no file of the engine afterwards."""
        for n in range(100):
            store.append("app", n, [draft(n, f"secret {n} " * 99)])
        store.redact("app", 100, [Masked(n, b"{}", None, None) for n in range(1, 101, 3)])
        assert store.scrub()
        gone = [f"secret {n} ".encode() for n in range(0, 100, 3)]
        for path in tmp_path.rglob("*"):
            content = path.read_bytes() if path.is_file() else b""
            assert not any(each in content for each in gone), path
        assert len(list(store.read("app"))) == 100
        assert list(store.check()) == []

    def test_records_are_added_as_they_are(self, store: Store, tmp_path: Path) -> None:
        """All but the position is what it was where they come from, and heads follow."""
        other = self.open(tmp_path / "other")
        given = other.append("app", 0, [draft(1), draft(2)])
        given += other.append("web", 0, [draft(1)])
        other.close()
        store.append("old", 0, [draft(1)])
        assert store.extend(given) == 3
        found = [*store.read("app"), *store.read("web")]
        assert [replace(r, position=0) for r in found] == [replace(r, position=0) for r in given]
        assert store.head("app") == Head("app", 2, given[1].hash)
        assert list(store.check()) == []

    def test_records_are_added_at_the_head(self, store: Store, tmp_path: Path) -> None:
        """A gap, or what is there already, is a conflict, and nothing is added."""
        other = self.open(tmp_path / "other")
        given = other.append("app", 0, [draft(1), draft(2), draft(3)])
        other.close()
        for some in (given[1:], [given[0], given[2]], [given[0], given[0]]):
            with pytest.raises(Conflict):
                store.extend(some)
            assert store.heads() == []
        store.extend(given[:1])
        assert store.extend(given[1:]) == 2
        with pytest.raises(Conflict):
            store.extend(given)

    def test_a_failing_source_adds_nothing(self, store: Store, tmp_path: Path) -> None:
        """Whoever gives the records may find out half way that something is wrong."""
        other = self.open(tmp_path / "other")
        given = other.append("app", 0, [draft(n) for n in range(2000)])
        other.close()

        def records() -> Iterator[Record]:
            yield from given[:1500]
            raise Invalid("line 1501")

        with pytest.raises(Invalid):
            store.extend(records())
        assert store.heads() == []
        assert list(store.read("app")) == []

    def test_the_lock_is_reentrant(self, store: Store) -> None:
        """Appends inside `locked` join in, and so does another `locked`."""
        with store.locked(), store.locked():
            store.append("app", 0, [draft(1)])
        store.append("app", 1, [draft(2)])

    def test_the_lock_keeps_other_writers_out(self, store: Store, tmp_path: Path) -> None:
        """Another store's append waits until `locked` is left."""
        other = self.open(tmp_path)
        with store.locked():
            thread = threading.Thread(target=other.append, args=("app", 0, [draft(1)]))
            thread.start()
            thread.join(0.2)
            assert thread.is_alive()
            assert store.head("app") is None
        thread.join(10)
        assert store.head("app") is not None
        other.close()

    def test_two_stores_see_each_other(self, store: Store, tmp_path: Path) -> None:
        """What one store acknowledged, another on the same folder reads and goes on from."""
        other = self.open(tmp_path)
        assert other.head("app") is None
        first = store.append("app", 0, [draft(1)])
        assert list(other.read("app")) == first
        with pytest.raises(Conflict):
            other.append("app", 0, [draft(2)])
        second = other.append("app", 1, [draft(2)])
        assert list(store.read("app")) == first + second
        other.close()

    def test_a_closed_store_can_be_opened_again(self, store: Store, tmp_path: Path) -> None:
        """Nothing that was acknowledged depends on closing, and closing twice is harmless."""
        records = store.append("app", 0, [draft(1)])
        store.close()
        store.close()
        again = self.open(tmp_path)
        assert list(again.read("app")) == records
        again.close()
