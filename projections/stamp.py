"""The stamp: which state of which project a file shows, and whether the file still shows it.

It stands at the very end, so that a file which was cut has none; or at the end of the front matter,
if the file has one, since readers of that keep every key of it. The digest is the SHA-256 of the
whole file with the digest's own 64 characters as zeros. Text from agents cannot pass for a stamp:
in JSON and in front matter it never becomes the top-level key, elsewhere it never reaches the start
of a line; and below a front matter that has the key there is none.
"""

import re
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta, Struct, field

from journal.digest import sha256
from journal.record import SLUG
from journal.state import Project

Hex: TypeAlias = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]

#: The key under which a JSON dialect carries its stamp.
KEY = "_passdown"
ZEROS = "0" * 64


class Stamp(Struct, frozen=True):
    """What a file says about itself."""

    project: Annotated[str, Meta(pattern=rf"\A{SLUG}\Z")]
    version: Annotated[int, Meta(ge=0)]
    hash: Hex
    renderer: Annotated[int, Meta(ge=0)]
    digest: Hex = ZEROS


class _Carrier(Struct):
    stamp: Stamp = field(name=KEY)


def of(project: Project, renderer: int) -> Stamp:
    """The stamp of a project's present content, its digest still zeros."""
    hash = project.content_hash.hex() or ZEROS
    return Stamp(project.slug, project.content_version, hash, renderer)


def line(stamp: Stamp) -> str:
    """The stamp as one line of text, without the comment marks of the format around it."""
    return (
        f"passdown project={stamp.project} version={stamp.version} hash={stamp.hash} "
        f"renderer={stamp.renderer} digest={stamp.digest}"
    )


def stamped(content: bytes) -> bytes:
    """The content, which has a stamp with a digest of zeros, with the digest put in."""
    found = _place(content)
    if found is None:
        raise ValueError("the content has no stamp at its place")
    return _with_digest(content, found, sha256(content).hexdigest().encode())


def read(content: bytes) -> Stamp | None:
    """The stamp that a file carries, also when the file was edited; None if it has none."""
    if content.removeprefix(_BOM).lstrip()[:1] == b"{":
        return _read_json(content.removeprefix(_BOM))
    front = front_matter(content)
    if front is not None:
        found = _in_front(content, front)
        return _stamp(found) if found else None
    lines = list(_LINE.finditer(content))
    return _stamp(lines[-1]) if lines else None


def holds(content: bytes) -> bool:
    """Whether the content is, byte for byte, what was written with its stamp."""
    stamp, found = read(content), _place(content)
    if stamp is None or found is None:
        return False
    zeroed = _with_digest(content, found, ZEROS.encode())
    return sha256(zeroed).hexdigest() == stamp.digest == found["digest"].decode()


def front_matter(content: bytes) -> tuple[int, int] | None:
    """Where the front matter of a session's file begins and ends, between its lines of dashes.

    That of any other markdown, or a mark of YAML that a document begins, is none.
    """
    found = _FRONT.match(content)
    return found.span("front") if found and _SESSION.search(found["front"]) else None


def in_front(content: bytes) -> bool:
    """Whether a file that was cut would still have its stamp."""
    front = front_matter(content)
    return front is not None and _in_front(content, front) is not None


def _place(content: bytes) -> re.Match[bytes] | None:
    """The stamp with its digest, where a file that we wrote has it."""
    front = front_matter(content)
    return _END.search(content) if front is None else _in_front(content, front)


def _in_front(content: bytes, front: tuple[int, int]) -> re.Match[bytes] | None:
    form = _FRONT_JSON if content[slice(*front)].lstrip()[:1] == b"{" else _FRONT_YAML
    return form.search(content, *front)


_BOM = b"\xef\xbb\xbf"
_END = re.compile(rb'(?:digest=|"digest": ")(?P<digest>[0-9a-f]{64})(?:(?: -->)?|"\n  \}\n\})\n\Z')
_LINE = re.compile(
    rb"^(?:# |<!-- )passdown project=(?P<project>" + SLUG.encode() + rb")"
    rb" version=(?P<version>[0-9]{1,18}) hash=(?P<hash>[0-9a-f]{64})"
    rb" renderer=(?P<renderer>[0-9]{1,9}) digest=(?P<digest>[0-9a-f]{64})(?: -->)?[ \t\r]*$",
    re.MULTILINE,
)
_FRONT = re.compile(
    rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n(?P<front>(?:.*?\n)??)---[ \t]*\r?(?:\n|\Z)", re.DOTALL
)
_SESSION = re.compile(rb'^(?:session_id[ \t]*:|[ \t]*"session_id"[ \t]*:)', re.MULTILINE)
_TEXT = (
    rb'"passdown project=(?P<project>' + SLUG.encode() + rb") version=(?P<version>[0-9]{1,18})"
    rb" hash=(?P<hash>[0-9a-f]{64}) renderer=(?P<renderer>[0-9]{1,9})"
    rb' digest=(?P<digest>[0-9a-f]{64})"'
)
# Text of one line never begins a line of its own, and deeper keys stand further to the right.
_FRONT_YAML = re.compile(rb"^" + KEY.encode() + rb": " + _TEXT + rb"[ \t\r]*$", re.MULTILINE)
_FRONT_JSON = re.compile(rb'^  "' + KEY.encode() + rb'": ' + _TEXT + rb",?[ \t\r]*$", re.MULTILINE)
# For a file that an edit has made unparsable. The layout is ours to the last blank, because only
# the end of the document has a closing brace in the first column.
_JSON_END = re.compile(
    rb'\n    "project": "(?P<project>' + SLUG.encode() + rb')",\r?'
    rb'\n    "version": (?P<version>[0-9]{1,18}),\r?\n    "hash": "(?P<hash>[0-9a-f]{64})",\r?'
    rb'\n    "renderer": (?P<renderer>[0-9]{1,9}),\r?\n    "digest": "(?P<digest>[0-9a-f]{64})"\r?'
    rb"\n  \}\r?\n\}\s*\Z"
)


def _read_json(content: bytes) -> Stamp | None:
    try:
        return msgspec.json.decode(content, type=_Carrier).stamp
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        found = _JSON_END.search(content)
        return _stamp(found) if found else None


def _stamp(found: re.Match[bytes]) -> Stamp:
    text = {name: value.decode() for name, value in found.groupdict().items()}
    version, renderer = int(text["version"]), int(text["renderer"])
    return Stamp(text["project"], version, text["hash"], renderer, text["digest"])


def _with_digest(content: bytes, found: re.Match[bytes], digest: bytes) -> bytes:
    start, end = found.span("digest")
    return content[:start] + digest + content[end:]
