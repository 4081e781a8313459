"""Text that is given on the command line, in a file, or on stdin."""

import sys

from journal.errors import Invalid

#: No text is read beyond this; a payload of so many bytes takes a thousand parts.
_MOST = 1000 * 16 * 1024


def given(text: str, file: str, option: str) -> str:
    """The text of an option, of the file of its `-file`, or where one of them is '-' of stdin."""
    if text and file:
        raise Invalid(f"{option} and {option}-file are the same thing twice; leave one of them out")
    if file:
        return read(file)
    return read("-") if text == "-" else text


def read(file: str) -> str:
    """What is in a file, to the letter; '-' is stdin."""
    shown = "stdin" if file == "-" else repr(file[:200])
    try:
        if file == "-":
            if sys.stdin is None:
                raise Invalid("stdin is closed; send the text there, or name a file")
            content = sys.stdin.buffer.read(_MOST + 1)
        else:
            with open(file, "rb") as opened:
                content = opened.read(_MOST + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise Invalid(f"{shown} cannot be read: {why}; check the path") from error
    if len(content) > _MOST:
        raise Invalid(f"{shown} has more than {_MOST:,} bytes; say where it is instead")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise Invalid(f"{shown} is not UTF-8 text; say where it is instead") from error
