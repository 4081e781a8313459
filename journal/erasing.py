"""What is to be erased of a history: whole records, or a text wherever it stands."""

from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from journal.errors import NotFound
from journal.masking import MASK, masked, texts_of, without
from journal.payload import decode
from journal.record import Record
from journal.store import Masked

#: A shorter text would stand in everything, and masks in place of it would grow past all bounds.
SHORTEST = 4
#: From so many characters on a text that was erased is looked for in other records.
_TELLING = 12
#: No more texts are looked for: the longest tell most.
_MOST = 64


class Erasure(Struct):
    """What an erasure comes to in one project."""

    project: str
    masks: list[Masked] = field(default_factory=list)
    #: The versions that were redacted before.
    already: list[int] = field(default_factory=list)
    #: The versions that hold nothing which could be erased.
    empty: list[int] = field(default_factory=list)
    #: Where the text stands in what the chain is made of, or in what was redacted once already.
    fixed: list[str] = field(default_factory=list)
    #: What was erased, so that it can be looked for elsewhere.
    texts: set[str] = field(default_factory=set)

    @property
    def versions(self) -> list[int]:
        """The versions that are to be redacted now."""
        return [mask.version for mask in self.masks]


def of_records(
    project: str, records: Iterable[Record], versions: Iterable[int], *, names: bool = False
) -> Erasure:
    """What is to stand in records in place of all that was said in them."""
    found, wanted = Erasure(project), set(versions)
    for record in records:
        if record.version not in wanted:
            continue
        wanted.discard(record.version)
        if record.salt is None:
            found.already.append(record.version)
            continue
        data = masked(record.type, record.data, names=names)
        actor = MASK if names and record.actor else record.actor
        session = MASK if names and record.session else record.session
        _add(found, record, Masked(record.version, data, actor, session))
        if found.versions[-1:] != [record.version]:
            found.empty.append(record.version)
    if wanted:
        raise NotFound(
            "version", str(min(wanted)), (), hint=f"see `passdown log -p {project}` for those of it"
        )
    return found


def of_text(project: str, records: Iterable[Record], text: str, instead: str = MASK) -> Erasure:
    """What is to stand in every record that holds a text, with that text replaced."""
    found = Erasure(project, texts={text})
    if text in project:
        found.fixed.append(f"the name of project {project}, which is part of the chain")
    for record in records:
        fixed = (("id", record.id), ("cause", record.cause or ""), ("type", record.type))
        found.fixed += [
            f"the {name} of version {record.version} of {project}, which is part of the chain"
            for name, value in fixed
            if text in value
        ]
        data = without(record.type, record.data, text, instead)
        actor = record.actor and record.actor.replace(text, instead)
        session = record.session and record.session.replace(text, instead)
        if record.salt is not None:
            _add(found, record, Masked(record.version, data, actor, session))
        elif (data, actor, session) != (record.data, record.actor, record.session):
            found.fixed.append(
                f"version {record.version} of {project}, which was redacted before and cannot be "
                "redacted twice"
            )
    return found


def _add(found: Erasure, record: Record, mask: Masked) -> None:
    if (mask.data, mask.actor, mask.session) != (record.data, record.actor, record.session):
        found.masks.append(mask)
        was, now = (set(texts_of(decode(record.type, x.data))) for x in (record, mask))
        found.texts |= was - now


def told_again(records: Iterable[Record], texts: Iterable[str]) -> Iterator[int]:
    """The versions of records that hold one of the texts, if it is long enough to tell."""
    telling = sorted((x for x in texts if len(x) >= _TELLING), key=len, reverse=True)[:_MOST]
    for record in records:
        held = list(texts_of(decode(record.type, record.data))) if telling else []
        if any(text in each for text in telling for each in held):
            yield record.version
