"""The trees of a project: what stands in one now, and which of its files are to stand there."""

import os
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, field

from journal.state import Project
from projections import stamp
from projections.dialect import TREES
from projections.ledger import Entry
from projections.places import Folders, Unusable, read_file
from projections.planning import TIMELESS
from projections.settings import Target, TreeTarget


class Standing(Struct, frozen=True):
    """What stands in a tree now."""

    #: The files that are somebody's, and whose each is.
    owners: dict[str, str] = field(default_factory=dict)
    #: The folders that no projection may be in.
    blocked: list[str] = field(default_factory=list)
    #: What killed writers left there, and the name of the file that each was writing.
    leftovers: dict[Path, str] = field(default_factory=dict)


def walk(tree: TreeTarget, folders: Folders, entries: Mapping[str, Entry]) -> Standing:
    """What stands in the folders of a tree; what is nobody's is left out."""
    standing = Standing()
    for folder in tree.folders():
        try:
            with os.scandir(folders.folder(folder)) as there:
                found = [Path(x.path) for x in there if x.is_file(follow_symlinks=False)]
        except Unusable:
            standing.blocked.append(folder)
            continue
        except OSError:
            continue  # whoever writes there will say what is wrong
        for place in found:
            if leftover := _LEFTOVER.match(place.name):
                standing.leftovers[place] = leftover[1]
            elif owner := _owner(tree, place, entries.get(folders.key(place))):
                standing.owners[os.path.join(folder, place.name)] = owner
    return standing


#: What a killed writer may have left beside a file of a tree, and that file's name.
_LEFTOVER = re.compile(r"\.(.+\.md)\.passdown-[0-9a-f]{16}.*")


def _owner(tree: TreeTarget, place: Path, entry: Entry | None) -> str:
    """Whose file of a tree it is, as far as ledger or stamp know."""
    if place.suffix != ".md" or place.name.startswith("."):
        return ""
    if entry is not None and entry.projection == tree.tree.name:
        return entry.project
    with suppress(Unusable, OSError):
        signed = stamp.read(read_file(place) or b"")
        if signed is not None and signed.version == TIMELESS:
            return signed.project
    return ""


def targets(tree: TreeTarget, standing: Standing, project: Project) -> list[Target]:
    """The files of a tree: those that the state has, then those that it has no more.

    A folder that nothing can be written to, and another project's tree, is one target.
    """
    blocked = [tree.gone(folder) for folder in sorted(standing.blocked)]
    owners = {*standing.owners.values()}
    if tree.shared and owners and project.slug not in owners:
        return [*blocked, tree.taken(min(owners))]
    wanted = [
        target
        for target in tree.targets(project)
        if os.path.dirname(target.path) not in standing.blocked
    ]
    ours = {path for path, owner in standing.owners.items() if owner == project.slug}
    gone = sorted(ours - {target.path for target in wanted})
    return [*blocked, *wanted, *map(tree.gone, gone)]


def forget(entries: dict[str, Entry], project: str, kept: Collection[str]) -> None:
    """Know nothing more of the files of trees that are somewhere else now, or nowhere.

    Those stay there, and are nobody's.
    """
    for key, entry in list(entries.items()):
        if entry.project == project and entry.projection in TREES and key not in kept:
            del entries[key]
