"""The page itself: one file that needs nothing else, and that nothing written in it can steer.

Its data stand in an element of their own as JSON, from which the page's script makes text and
nothing but text. The browser is told to run that one script and to load nothing.
"""

import re
from base64 import b64encode
from pathlib import Path

import msgspec

from journal.digest import sha256
from projections.report.shape import Page

_HERE = Path(__file__).parent
#: In this order they make the one script of the page.
_SCRIPTS = ("text", "state", "overview", "timeline", "tokens", "items", "events", "replay", "start")


#: How every page begins, whatever the version that made it.
_BEGINNING = b"<!DOCTYPE html>\n<!-- passdown report -->\n"


def is_page(content: bytes) -> bool:
    """Whether a file is a page of this kind, and not something that somebody else wrote."""
    return content.startswith(_BEGINNING)


def page(content: Page) -> bytes:
    """The page as a file."""
    style = (_HERE / "report.css").read_bytes()
    scripts = ((_HERE / f"{name}.js").read_bytes() for name in _SCRIPTS)
    script = b'"use strict";\n(() => {\n' + b"\n".join(scripts) + b"})();\n"
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"script-src {_digest(script)}; style-src {_digest(style)}; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )
    # No text can end the element that it stands in, or begin a comment in it, without this sign.
    data = msgspec.json.encode(content).replace(b"<", b"\\u003c")
    parts = {"policy": policy.encode(), "style": style, "data": data, "script": script}
    # In one go: what is put in is not looked through for marks.
    template = (_HERE / "report.html").read_bytes()
    return re.sub(rb"\{(\w+)\}", lambda mark: parts[mark[1].decode()], template)


def _digest(content: bytes) -> str:
    return f"'sha256-{b64encode(sha256(content).digest()).decode()}'"
