"""What was left behind in files, held against what is there now.

Of most projects it is what the last session left. Of an orchestration it is every file on record,
those that phases are planned to touch, and the documents that the work follows; and the phases that
were begun and are not finished are told with the files that they touched.
"""

from collections.abc import Collection, Iterator, Mapping

from msgspec import Struct, field

from journal.clock import iso
from journal.entities import Context, Document, File, Project, Step, is_over, last_files
from journal.live import LEFT
from projections.brief.brief import Item
from projections.differences import differences
from projections.protocol import Caution, Offer, command, titled

_DOCUMENTS = {"design": "the design document", "plan": "the implementation plan"}
#: So many files of a phase are named in one sentence.
_NAMED = 10


class Sought(Struct):
    """What is to be found out about a file, beside whether it is there."""

    #: Whether its digest is known, and can have become another.
    digest: bool = False
    #: The texts that it should have.
    texts: set[str] = field(default_factory=set)
    #: Whether its words are wanted.
    words: bool = False


class Remains(Struct, frozen=True):
    """A file as it is found: its digest, and which of the texts that it should have it has."""

    digest: str = ""
    has: frozenset[str] = frozenset()
    #: When it was changed last, in microseconds.
    changed: int = 0
    #: Its words, where those were wanted, and it has any.
    words: str | None = None
    #: Why nobody looked into it, if nobody did.
    unread: str = ""


#: A file that nobody looked at is taken for what it was.
Found = Mapping[str, Remains | None]


def expected(project: Project) -> dict[str, Sought]:
    """The files that should be as they were left, or not be there, and what to look for in each."""
    sought: dict[str, Sought] = {}
    if project.execution is not None and is_over(project):
        return sought  # nobody goes on with its files
    for file in _files(project):
        sought[file.path] = Sought(bool(file.digest) and file.change != "deleted")
    for note in _claims(project):
        sought.setdefault(note.file, Sought()).texts.add(note.contains)
    if project.execution is not None:
        for document in project.documents.values():
            look = sought.setdefault(document.path, Sought())
            look.digest = look.words = bool(document.digest)
        for path in _planned(project):
            sought.setdefault(path, Sought())
    return sought


def mismatches(
    project: Project,
    found: Found,
    ours: Collection[str] = frozenset(),
    recorded: Mapping[str, str] | None = None,
) -> tuple[Item, ...]:
    """What is not as it was left, and how it is instead; what nobody looked at is as it was.

    `ours` are the files that projections are written to, and `recorded` has the words of documents
    as they were, by their kind; without any, it is said how to see what changed.
    """
    if project.execution is None:
        return (*_as_left(project, found), *_unheld(project, found))
    if is_over(project):
        return ()
    return (
        *_rewritten(project, found, recorded),
        *_unfinished(project, found, ours),
        *_as_recorded(project, found, ours),
        *_unheld(project, found),
        *_appeared(project, found, ours),
    )


def unseen(project: Project, found: Found) -> tuple[Caution, ...]:
    """Which files nobody looked into, so that nobody knows whether they are as they were left."""
    sought = expected(project)
    shut: dict[str, list[str]] = {}
    for path, now in found.items():
        if now is not None and now.unread and path in sought and sought[path].digest:
            shut.setdefault(now.unread, []).append(path)
    return tuple(
        Caution(f"Whether it is as it was left, nobody looked: {_listed(paths)} ({reason}).")
        for reason, paths in shut.items()
    )


def rewritten(project: Project, found: Found) -> list[Document]:
    """The documents that are there and are not what was recorded."""
    return [
        document
        for document in project.documents.values()
        if (now := found.get(document.path)) and _differs(document.digest, now)
    ]


def _differs(digest: str, now: Remains) -> bool:
    return bool(digest and now.digest) and digest != now.digest


def _listed(paths: list[str]) -> str:
    more = f" and {len(paths) - _NAMED:,} more" if len(paths) > _NAMED else ""
    return f"{', '.join(paths[:_NAMED])}{more}"


# -- what the last session left --------------------------------------------------------------


def _as_left(project: Project, found: Found) -> Iterator[Item]:
    for file in _newest(project):
        now = found.get(file.path, Remains(file.digest))
        if now is None:
            yield Item(file.path, f"was {file.change} in the last session, and is gone")
        elif _differs(file.digest, now):
            yield Item(file.path, f"is not what was recorded: {_digests(file.digest, now)}")


def _digests(was: str, now: Remains) -> str:
    return f"it was {was[:12]}, it is {now.digest[:12]}"


def _unheld(project: Project, found: Found) -> Iterator[Item]:
    """What was said to rest on a text in a file that has it no more."""
    for note in _claims(project):
        now = found.get(note.file, Remains("", frozenset((note.contains,))))
        if now is None or (note.contains not in now.has and not now.unread):
            gone = "is gone" if now is None else "has it no more"
            yield Item(note.file, f"“{note.text}” rests on “{note.contains}” in it: {gone}")


def _files(project: Project) -> list[File]:
    return _newest(project) if project.execution is None else list(project.files.values())


def _newest(project: Project) -> list[File]:
    """The last session's files; of very many those that it changed last."""
    return sorted(last_files(project), key=lambda file: file.at)[-LEFT:]


def _claims(project: Project) -> list[Context]:
    """The implementations that can be held against a file."""
    return [
        note
        for note in project.context
        if note.kind == "implementation" and note.file and note.contains
    ]


# -- what an orchestration left --------------------------------------------------------------


def _as_recorded(project: Project, found: Found, ours: Collection[str]) -> Iterator[Item]:
    """The files that are not as the phases left them, those that were changed last first."""
    documents = {document.path for document in project.documents.values() if document.digest}
    for file in sorted(project.files.values(), key=lambda file: file.at, reverse=True):
        if file.path in ours or file.path in documents or file.path not in found:
            continue
        now = found[file.path]
        by = f"by phase {file.step}" if file.step else f"by {file.agent or 'somebody'}"
        if file.change == "deleted":
            if now is not None:
                yield Item(file.path, f"was deleted {by}, and is there again")
        elif now is None:
            yield Item(file.path, f"was {file.change} {by}, and is gone")
        elif _differs(file.digest, now):
            said = f"was {file.change} {by}, and has changed since"
            yield Item(file.path, f"{said}: {_digests(file.digest, now)}")


def _rewritten(
    project: Project, found: Found, recorded: Mapping[str, str] | None
) -> Iterator[Item]:
    """The documents that are gone, or say something else than when they were recorded."""
    for document in project.documents.values():
        what = _DOCUMENTS[document.kind]
        if document.path in found and found[document.path] is None:
            yield Item(document.path, f"was recorded as {what}, and is gone")
    for document in rewritten(project, found):
        what = _DOCUMENTS[document.kind]
        now = found[document.path] or Remains()
        # With a dash in front it would be read as an option.
        where = f"./{document.path}" if document.path.startswith("-") else document.path
        offers = [
            Offer("go by it as it is now", command(project, "document", document.kind, where))
        ]
        if recorded is None:
            shows = command(project, "resume", "--only", "mismatches")
            offers.insert(0, Offer("see what changed in it", shows))
        said = f"has changed since it was recorded as {what}, {iso(document.at)}"
        digests = _digests(document.digest, now)
        yield Item(document.path, f"{said}: {digests}.", offers=tuple(offers))
        was = (recorded or {}).get(document.kind)
        if was is None or now.words is None:
            continue
        lines = differences(was, now.words)
        if lines is None:
            yield Item(document.path, "so much of it has changed that no difference is shown")
        elif lines:
            yield Item(document.path, "what changed in it, from - to +", lines)
        else:
            yield Item(document.path, "only the ends of its lines have changed")


def _planned(project: Project) -> dict[str, Step]:
    """Files that nobody recorded, with the phase that is to touch them and is not done.

    Of a live part nobody can tell what was recorded and is left out of it.
    """
    if project.beyond.get("files"):
        return {}
    planned: dict[str, Step] = {}
    for step in project.steps.values():
        if step.status not in ("complete", "skipped"):
            for path in step.files:
                if path not in project.files:
                    planned.setdefault(path, step)
    return planned


def _appeared(project: Project, found: Found, ours: Collection[str]) -> Iterator[Item]:
    """Planned files that came about before their phase began; older ones were always there."""
    for path, step in _planned(project).items():
        now = found.get(path)
        if step.status == "pending" and now and path not in ours and now.changed >= project.opened:
            yield Item(
                path,
                f"is there and nobody recorded it, though {titled(project, step)}, which is to "
                "touch it, has not begun",
            )


def _unfinished(project: Project, found: Found, ours: Collection[str]) -> Iterator[Item]:
    """The phases that were begun and are not finished, with the files that they touched."""
    touched: dict[str, list[str]] = {}
    for file in sorted(project.manifest.values(), key=lambda file: file.at):
        touched.setdefault(file.step, []).append(f"{file.path} ({file.change})")
    for path, step in _planned(project).items():
        now = found.get(path)
        if step.started and now and now.changed >= step.started and path not in ours:
            said = f"{path} (as planned, and not recorded)"
            touched.setdefault(step.key, []).append(said)
    for step in project.steps.values():
        told = touched.get(step.key)
        if told and step.status in ("in_progress", "failed"):
            how = "is in progress" if step.status == "in_progress" else "failed"
            # Of a live part nobody can tell how many more there are.
            partly = project.beyond.get("manifest")
            files = f"{', '.join(told[-_NAMED:])}, and others" if partly else _listed(told)
            text = f"{step.name} was begun and {how}; it touched {files}"
            yield Item(f"phase {step.key}", text)
