"""The file of an agent, which is the agent's own: snapshots become entries of it, and no more.

An entry is appended once, at the end, and never moved or changed; whatever else stands in the file
is nobody's business here. Where the newest snapshot of an agent is not in its file, it is appended
with those since the last that is; those before that only by recovery, for an agent may do away with
what is old.

    fresh     the newest snapshot stands in the file as it was taken
    missing   it does not, and no file is there, or none of ours is in it
    corrupt   its beginning stands at the end: a writer was killed, or the file was cut
    drifted   it stands there in other words: reported, and appended anew only where that is asked
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from journal.disk import fsync
from journal.masking import MASK
from journal.peers import Snapshot
from journal.state import Project
from projections import atomic, snapshot
from projections.desk import Desk, FileState, Status
from projections.places import Folders, Unusable, read_file
from projections.settings import CHAT, chat_path

#: What is read of a file to find an entry in it; a larger one is nobody's chat.
_LARGEST = 100_000_000


class Chat(Struct, frozen=True):
    """The file of an agent, and the snapshots of it in their order."""

    agent: str
    path: str
    snapshots: tuple[Snapshot, ...]

    @property
    def newest(self) -> Snapshot:
        """The one that holds."""
        return self.snapshots[-1]


def of(desk: Desk) -> list[Chat]:
    """The files of agents that a project's snapshots go into."""
    return list(chats(desk.folders.workspace.root, desk.project))


def chats(root: Path, project: Project) -> Iterator[Chat]:
    """The files of agents that snapshots go into, where the settings have any."""
    own: dict[str, list[Snapshot]] = {}
    for each in sorted(project.snapshots.values(), key=lambda taken: taken.at):
        if each.body == MASK:
            continue  # of what was redacted, the file of an agent is not told
        own.setdefault(each.agent, []).append(each)
    for agent, taken in own.items():
        if path := chat_path(root, project, agent):
            yield Chat(agent, path, tuple(taken))


def inspect(folders: Folders, chat: Chat) -> FileState:
    """How the file stands; reads only."""
    try:
        status = _status(chat, _read(folders.place(chat.path)))
    except (Unusable, OSError) as error:
        return _unusable(chat, error)
    return FileState(CHAT, chat.path, status, problem=_problem(chat, status))


def keep(folders: Folders, chat: Chat, *, recover: bool, revert: bool) -> FileState:
    """Append what the file owes; what was edited in it only with `revert`."""
    try:
        place = folders.place(chat.path)
        content = _read(place)
        status = _status(chat, content)
        if status == "fresh" or (status == "drifted" and not revert):
            return FileState(CHAT, chat.path, status, problem=_problem(chat, status))
        _append(place, content, chat, recover)
    except (Unusable, OSError) as error:
        return _unusable(chat, error)
    return FileState(CHAT, chat.path, status, written=True)


def _read(place: Path) -> str | None:
    content = read_file(place)
    if content is None:
        return None
    if len(content) > _LARGEST:
        raise Unusable(f"{place} has more than {_LARGEST:,} bytes; move what is old out of it")
    return content.decode(errors="replace").replace("\r\n", "\n")


def _has(content: str | None, taken: Snapshot) -> bool:
    """Whether a snapshot stands in a file, to the letter; in front of it may be other words."""
    if content is None:
        return False
    at = content.find(taken.body)
    while at >= 0:
        end = at + len(taken.body)
        if (not at or content[at - 1] == "\n") and content[end : end + 1] in ("", "\n"):
            return True
        at = content.find(taken.body, at + 1)
    return False


def _status(chat: Chat, content: str | None) -> Status:
    newest = chat.newest
    if content is None:
        return "missing"
    if _has(content, newest):
        return "fresh"
    if _cut(content, chat)[1]:
        return "corrupt"
    # By the token one of ours is known again, and by its heading one that stood there before.
    known = newest.heading and f"\n## {newest.heading}\n" in f"\n{content}\n"
    return "drifted" if known or newest.token in content else "missing"


def _cut(content: str, chat: Chat) -> tuple[int, int]:
    """Which of the snapshots the file was cut in, at its end, and how much of its entry is there.

    Whoever was killed while it appended has left that, and only the rest is owed.
    """
    for n, taken in enumerate(chat.snapshots):
        entry = snapshot.entry(taken)
        if not _has(content, taken) and (begun := _begun(content, entry)):
            return n, begun
    return 0, 0


def _begun(content: str, entry: str) -> int:
    """How much of an entry the file ends with."""
    at = content.rfind("\n## ", max(len(content) - len(entry) - 1, 0)) + 1
    tail = content[at:]
    return len(tail) if tail.startswith("## ") and entry.startswith(tail) else 0


def _append(place: Path, content: str | None, chat: Chat, recover: bool) -> None:
    """Write what is owed at the end of the file in one go.

    Who replaces the file meanwhile does away with it, and the next sync appends it again.
    """
    if content is None:
        owed = chat.snapshots if recover else (chat.newest,)
        text = f"# Chat Log — {chat.agent}\n\n{_entries(owed)}"
        try:
            atomic.replace(place, text.encode(), None, None)
        except atomic.Displaced:
            _append(place, _read(place), chat, recover)
        return
    n, begun = _cut(content, chat)
    since = chat.snapshots[n:] if begun or recover else _since(content, chat)
    text = _entries([taken for taken in since if not _has(content, taken)])
    if begun:
        text = text[begun:]
    elif content:
        text = f"{'' if content.endswith(chr(10)) else chr(10)}\n{text}"
    with open(place, "ab", buffering=0) as file:
        rest = memoryview(text.encode())
        while rest:
            rest = rest[file.write(rest) :]
        os.fsync(file.fileno())
    fsync(place.parent)


def _since(content: str, chat: Chat) -> Sequence[Snapshot]:
    """The snapshots after the last that stands in the file; the newest where none does.

    Two that are taken at once, or one whose writer was killed before it came to the file, leave
    more than one to be appended.
    """
    all_ = chat.snapshots
    stands = (n for n in reversed(range(len(all_))) if _has(content, all_[n]))
    last = next(stands, None)
    return (chat.newest,) if last is None else all_[last + 1 :]


def _entries(owed: Sequence[Snapshot]) -> str:
    return "\n".join(snapshot.entry(taken) for taken in owed)


def _problem(chat: Chat, status: Status) -> str:
    if status != "drifted":
        return ""
    return (
        f"{chat.path} has snapshot {chat.newest.token} in other words than it was taken, and is "
        "left as it is; `passdown drift --revert` appends it again as it was"
    )


def _unusable(chat: Chat, error: Exception) -> FileState:
    why = str(error)
    if isinstance(error, OSError):
        why = f"{chat.path} cannot be used: {error.strerror}; mend that and run `passdown sync`"
    return FileState(CHAT, chat.path, "unusable", problem=why)
