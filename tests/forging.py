"""What somebody does who wants a journal to say something else, and knows how it is made."""

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path

from command import good
from msgspec.structs import replace

from journal import Journal
from journal.record import GENESIS, Draft, Record, link
from journal.schema import STATEMENTS


def history(folder: Path, slug: str) -> list[Record]:
    """The records of a project as they stand in the journal."""
    with Journal.open(folder) as journal:
        return list(journal.store.read(slug))


def put_in_place(folder: Path, records: Sequence[Record]) -> None:
    """A journal that has this history and no other, its head, cache and files all fitting."""
    aside = folder.parent / "before"
    aside.mkdir(exist_ok=True)
    with Journal.open(folder) as journal:
        journal.store.rebuild([records], aside)  # type: ignore[attr-defined]
    shutil.rmtree(folder / ".passdown" / "cache", ignore_errors=True)
    written = folder / ".passdown" / "ledger.json"
    for path in json.loads(written.read_bytes()):
        (folder / path).unlink()
    written.unlink()
    good(folder, "sync")


def relinked(records: Iterable[Record]) -> list[Record]:
    """Records numbered and linked anew, in the order given: a chain that is sound in itself."""
    made: list[Record] = []
    for old in records:
        assert old.salt is not None
        draft = Draft(
            old.id, old.type, old.data, old.salt, old.occurred, old.actor, old.session, old.cause
        )
        number, previous = len(made) + 1, made[-1].hash if made else GENESIS
        made.append(link(draft, number, old.project, number, previous, old.at))
    return made


def tamper(folder: Path, *statements: str) -> None:
    """Change the database behind the journal's back, and leave the triggers as they were."""
    with closing(sqlite3.connect(folder / ".passdown" / "journal.db")) as raw:
        triggers = [name for name, sql in STATEMENTS.items() if sql.startswith("CREATE TRIGGER")]
        for name in triggers:
            raw.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            raw.execute(statement)
        for name in triggers:
            raw.execute(STATEMENTS[name])
        raw.commit()


Forgery = Callable[[list[Record]], list[Record]]


def cut(records: list[Record]) -> list[Record]:
    """The last three and the head that counts them are gone."""
    return records[:-3]


def changed(records: list[Record]) -> list[Record]:
    """The payload of the third is another, and all after it is linked anew."""
    return _edited(records, 2, b'{"title":"nothing of importance"}')


def left_out(records: list[Record]) -> list[Record]:
    """The fourth was never there."""
    return relinked(records[:3] + records[4:])


def put_in(records: list[Record]) -> list[Record]:
    """There is one more, in the middle."""
    return relinked([*records[:4], replace(records[3], id="put-in"), *records[4:]])


def reordered(records: list[Record]) -> list[Record]:
    """The fourth and the fifth have changed places."""
    return relinked([*records[:3], records[4], records[3], *records[5:]])


def forked(records: list[Record]) -> list[Record]:
    """It goes on in another way after the sixth."""
    return _edited(records, 6, b'{"title":"the other branch"}')


def replaced(records: list[Record]) -> list[Record]:
    """Another history of the same name, from its first record on."""
    return _edited(records, 0, records[0].data.replace(b"shop", b"shoq"))


def _edited(records: list[Record], n: int, data: bytes) -> list[Record]:
    assert records[n].data != data
    return relinked([*records[:n], replace(records[n], data=data), *records[n + 1 :]])


FORGERIES: dict[str, Forgery] = {
    each.__name__: each for each in (cut, changed, left_out, put_in, reordered, forked, replaced)
}
