"""A file beside what the journal says: which of its dialects it is in, and how it differs."""

import os
from pathlib import Path

from journal.errors import Invalid
from journal.state import Project
from journal.workspace import Workspace
from projections import stamp
from projections.dialect import DIALECTS, Dialect
from projections.drift import Change, changes
from projections.places import Folders, Unusable, read_file
from projections.settings import layout


def compare(workspace: Workspace, now: Project, state: Project, path: Path) -> list[Change]:
    """How a file differs from a state; `now` says which files the project has."""
    content = read_file(path)
    if content is None:
        raise Invalid(f"{path} is not there")
    signed = stamp.read(content)
    if signed is not None and signed.project != state.slug:
        raise Invalid(f"{path} is of project {signed.project}; compare it with -p {signed.project}")
    return changes(_dialect(workspace, now, path, content), content, state)


def _dialect(workspace: Workspace, project: Project, path: Path, content: bytes) -> Dialect:
    """The dialect that is written at a path; of a copy elsewhere, the one that it looks like."""
    folders = Folders(workspace)
    found = layout(workspace.root, project)
    for target in (*found.files, *(each for tree in found.trees for each in tree.targets(project))):
        try:
            if os.path.realpath(path) == str(folders.place(target.path)):
                return target.dialect
        except (Unusable, OSError):
            continue
    alike = [each for each in DIALECTS.values() if each.intact(content)]
    usual = [each for each in alike if each.usual(project)]
    if not alike:
        raise Invalid(
            f"{path} is none of the files of {project.slug}, nor like one of them; "
            f"those are {', '.join(target.path for target in found.files)}"
        )
    return (usual or alike)[0]
