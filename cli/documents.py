"""The documents that the work follows, read as they are now, to be recorded."""

import hashlib
import os
from typing import Literal

import msgspec

from cli.manifest import content
from cli.recording import place_of
from journal.errors import Invalid
from journal.events import DocumentRecorded
from journal.rules import workspace_path
from journal.workspace import Workspace

#: What is longer is known by its digest alone.
MOST = 256 * 1024


def document_recorded(
    workspace: Workspace, kind: Literal["design", "plan"], path: str
) -> DocumentRecorded:
    """A document with its digest and, where it is text and not too long, with its words."""
    place, named = place_of(workspace, path), workspace_path(path)
    root = os.path.realpath(workspace.root)
    if str(place) != os.path.normpath(os.path.join(root, named)):
        # Moved to the archive, a link would leave the document where it is.
        meant = os.path.relpath(place, root)
        raise Invalid(f"{path!r} is reached through a link; name the file itself: {meant!r}")
    with content(workspace, path) as file:
        beginning = file.read(MOST + 1)
        file.seek(0)
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    whole = hashlib.sha256(beginning).hexdigest() == digest
    return DocumentRecorded(kind, named, digest, _text(beginning) if whole else "")


def _text(content: bytes) -> str:
    """The words of a document; none where they cannot be kept to the letter."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return ""
    # Control characters take six bytes each as JSON, of which a record has room for some.
    fits = len(content) <= MOST and len(msgspec.json.encode(text)) <= 3 * MOST
    return text if fits and "\0" not in text else ""
