"""SHA-256 without OpenSSL, which hashlib loads: that takes longer than all hashing of a command.

What is hashed here is small, where both are equally fast. `random` in the standard library does so.
"""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import sha256
else:
    try:
        if sys.version_info >= (3, 12):
            from _sha2 import sha256
        else:
            from _sha256 import sha256
    except ImportError:
        from hashlib import sha256

__all__ = ["sha256"]
