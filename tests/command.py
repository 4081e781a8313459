"""The command as its users run it: a real process, or the same function in this one for speed."""

import contextlib
import ctypes
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from cli.app import run as run_app

_OURS = (
    *("PASSDOWN_PROJECT", "PASSDOWN_ACTOR", "PASSDOWN_SESSION", "PASSDOWN_LEASE"),
    *("PASSDOWN_JOURNAL", "PYTHONPATH"),
)


class Result(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document that a command with --json prints."""
        return json.loads(self.out)


def run(
    folder: Path,
    *args: str | bytes,
    stdin: bytes = b"",
    env: dict[str, str] | None = None,
    before: Callable[[], None] | None = None,
) -> Result:
    """Run the command in a process of its own; `before` runs in the child ahead of it."""
    return finished(
        [sys.executable, "-m", "passdown", *args], folder, stdin=stdin, env=env, before=before
    )


def finished(
    command: list[str | bytes],
    folder: Path,
    *,
    stdin: bytes = b"",
    env: dict[str, str] | None = None,
    before: Callable[[], None] | None = None,
) -> Result:
    """Any process, run to its end in a folder."""
    done = subprocess.run(
        command,
        cwd=folder,
        input=stdin,
        capture_output=True,
        env=_environment(env),
        preexec_fn=before,
        timeout=120,
        check=False,
    )
    return Result(
        done.returncode, *(x.decode(errors="replace") for x in (done.stdout, done.stderr))
    )


def quick(
    folder: Path, *args: str, stdin: bytes = b"", env: dict[str, str] | None = None
) -> Result:
    """Run the command in this process."""
    written = io.BytesIO(), io.BytesIO()
    out, err, given = map(_stream, (*written, io.BytesIO(stdin)))
    streams = sys.stdout, sys.stderr, sys.stdin
    environment = dict(os.environ)
    try:
        os.environ.clear()
        os.environ.update(_environment(env))
        sys.stdout, sys.stderr, sys.stdin = out, err, given
        with contextlib.chdir(folder):
            code = run_app(list(args))
        out.flush()
        err.flush()
    finally:
        sys.stdout, sys.stderr, sys.stdin = streams
        os.environ.clear()
        os.environ.update(environment)
    return Result(code, *(x.getvalue().decode() for x in written))


def good(folder: Path, *args: str, stdin: bytes = b"", env: dict[str, str] | None = None) -> Result:
    """Run the command in this process; it is expected to succeed."""
    result = quick(folder, *args, stdin=stdin, env=env)
    assert result.code == 0, result
    return result


def files(folder: Path) -> dict[str, str]:
    """Every file of a workspace by digest, without what a read may touch."""
    return dict(sorted(_digests(folder)))


def _digests(folder: Path) -> Iterator[tuple[str, str]]:
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        if name.startswith(".passdown/cache") or name.endswith(("-shm", "-wal")):
            continue
        if path.is_symlink():
            yield name, f"link to {os.readlink(path)}"
        elif path.is_file():
            yield name, sha256(path.read_bytes()).hexdigest()
        else:
            yield name, "folder" if path.is_dir() else "special"


def bound_by_permissions() -> None:
    """Permissions bind root too, once it gave up CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH."""
    for capability in (1, 2) if os.geteuid() == 0 else ():
        assert ctypes.CDLL(None).prctl(24, capability, 0, 0, 0) == 0  # PR_CAPBSET_DROP


def _environment(env: dict[str, str] | None) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in _OURS}
    return kept | (env or {})


def _stream(content: io.BytesIO) -> io.TextIOWrapper:
    return io.TextIOWrapper(content, encoding="utf-8")
