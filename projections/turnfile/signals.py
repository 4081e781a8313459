"""What a TURNFILE.yaml has signalled since: its newest come first, and are told last."""

from msgspec import convert

from journal import events as e
from journal.entities import Project
from projections.draft import Draft
from projections.leftovers import Object
from projections.turnfile.document import number, own, part
from projections.turnfile.doing import did, enrolled

_SAID = ("from", "to", "signal", "detail")


def adopt(draft: Draft, before: Object, theirs: Object, listed: list[Object]) -> None:
    """Send what is new; a number that another signal has by now is given anew."""
    known = part(before, "messages")
    ours = {id: _said(each) for id, each in part(own(draft.project), "messages").items()}
    found: Object = {}
    foreign = part(theirs, "foreign")
    for entry in sorted(listed, key=lambda each: number(str(each["id"]))):
        id = _same(draft.project, known, ours, found, entry) or _sent(draft, entry)
        if id:
            found[id] = {**entry, "id": id}
        else:
            foreign[f"messages of {entry['from']}"] = entry
    theirs["messages"] = found


def _said(entry: object) -> tuple[object, ...]:
    return tuple(entry[key] for key in _SAID) if isinstance(entry, dict) else ()


def _same(
    project: Project,
    known: Object,
    ours: dict[str, tuple[object, ...]],
    found: Object,
    entry: Object,
) -> str:
    """The signal that an entry of the file is, if it is one that was sent already."""
    id, said = str(entry["id"]), _said(entry)
    if id in known or (id in project.signals and ours.get(id, said) == said):
        return id
    # It was sent under another number, because its own was taken.
    alike = (each for each, other in ours.items() if other == said and each not in known)
    return next((each for each in alike if each not in found), "")


def _sent(draft: Draft, entry: Object) -> str:
    sender, to = enrolled(draft, entry["from"]), str(entry["to"])
    to = "all" if to == "all" else enrolled(draft, to)
    if not (sender and to):
        return ""
    there = set(draft.project.signals)
    id = str(entry["id"])
    taken = number(id) in {number(each) for each in there}
    kind = convert(entry["signal"], e.Signal)
    event = e.SignalSent(kind, to, str(entry["detail"]), sender, "" if taken or not id else id)
    if not did(draft, event, sender):
        return ""
    return next(each for each in draft.project.signals if each not in there)
