"""The entry point of the command: small, so that the quick answers are quick."""

import contextlib
import gc
import os
import sys

__version__ = "0.1.0"


def main() -> None:
    """Run the command line and exit with its code."""
    if sys.argv[1:] == ["--version"] and sys.stdout:
        with contextlib.suppress(OSError):  # the long way says what is wrong
            sys.stdout.write(f"passdown {__version__}\n")
            sys.stdout.flush()
            return
    # A user's repository may have a package `cli` of its own, and PYTHONPATH=. would find that.
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    if sys.argv[1:2] == ["hook"] and not {"-h", "--help"}.intersection(sys.argv):
        gc.disable()  # a hook is over before there is anything worth collecting
        try:
            from cli.hooks import main as hook

            hook(sys.argv[2:])
        except BaseException as error:  # noqa: BLE001 - whatever it is, no host is to stumble over it
            with contextlib.suppress(Exception):
                sys.stderr.write(f"passdown: {error!r}\n")
            with contextlib.suppress(Exception):
                os.write(sys.stdout.fileno(), b"{}\n")
            os._exit(0)
    from cli.app import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
