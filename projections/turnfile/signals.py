"""What a TURNFILE.yaml has signalled since: its newest come first, and are told last."""

from msgspec import convert

from journal import events as e
from journal.entities import Project
from journal.events import Json
from projections.draft import Draft
from projections.leftovers import Object
from projections.turnfile.document import number, part, signal_entry
from projections.turnfile.doing import called, did, enrolled


def adopt(draft: Draft, before: Object, theirs: Object, listed: list[Object]) -> None:
    """Send what is new; a number that another signal has by now is given anew."""
    known = part(before, "messages")
    ids = {str(entry["id"]) for entry in listed}
    found: Object = {}
    foreign = part(theirs, "foreign")
    # The newest stand first; what has no number of its own is given one that none in the file has.
    oldest_first = listed[::-1]
    oldest_first.sort(key=lambda each: (each["id"] == "", number(str(each["id"]))))
    for entry in oldest_first:
        id = _same(draft.project, known, ids | found.keys(), entry) or _sent(draft, entry)
        if id:
            found[id] = {**entry, "id": id}
        else:
            foreign[f"messages of {entry['from']}"] = entry
    theirs["messages"] = found


def _same(project: Project, known: Object, listed: set[str], entry: Object) -> str:
    """The signal that an entry of the file is, if it is one that was sent already."""
    id = str(entry["id"])
    if id in known:
        return id
    if id and not _is_taken(project, id):
        return ""
    wanted = _said(project, entry)
    sent = {
        each.id: _said(project, signal_entry(project, each)) for each in project.signals.values()
    }
    if sent.get(id) == wanted:
        return id
    # It was sent under another number, because its own was taken, or it had none.
    return next((id for id, said in sent.items() if said == wanted and id not in listed), "")


def _said(project: Project, entry: Object) -> tuple[Json, ...]:
    sender, to = called(project, entry["from"]), entry["to"]
    to = to if to == "all" else called(project, to)
    return sender, to, entry["signal"], entry["detail"]


def _is_taken(project: Project, id: str) -> bool:
    return number(id) in {number(each) for each in project.signals}


def _sent(draft: Draft, entry: Object) -> str:
    sender, to = enrolled(draft, entry["from"]), str(entry["to"])
    to = "all" if to == "all" else enrolled(draft, to)
    if not (sender and to):
        return ""
    there = set(draft.project.signals)
    id = str(entry["id"])
    kind = convert(entry["signal"], e.Signal)
    event = e.SignalSent(
        kind, to, str(entry["detail"]), sender, "" if _is_taken(draft.project, id) else id
    )
    if not did(draft, event, sender):
        return ""
    return next(each for each in draft.project.signals if each not in there)
