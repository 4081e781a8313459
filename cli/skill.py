"""The skill that teaches an agent to work with Passdown, as a file in a host's folder of skills.

Its last line has the digest of the rest, so that any version can tell whether somebody changed it.
"""

import re
from pathlib import Path

import passdown
from journal.digest import sha256

SOURCE = Path(__file__).with_name("SKILL.md")
FOLDER = ".claude/skills"
_STAMP = re.compile(rb"<!-- passdown \S+ skill ([0-9a-f]{64}) -->\n\Z")


def content() -> bytes:
    """The skill of this version, with its stamp."""
    text = SOURCE.read_bytes()
    digest = sha256(text).hexdigest()
    return text + f"<!-- passdown {passdown.__version__} skill {digest} -->\n".encode()


def is_untouched(found: bytes) -> bool:
    """Whether a file is the skill of some version as it was written."""
    stamp = _STAMP.search(found)
    return stamp is not None and sha256(found[: stamp.start()]).hexdigest() == stamp[1].decode()


def path_in(folder: Path) -> Path:
    """The file of the skill in a folder of skills, or in one that is the skill's own."""
    own = folder if folder.name == "passdown" else folder / "passdown"
    return own / "SKILL.md"
