"""Kills, corruption, bit flips and fuzzing until the time is up: `python -m tests.soak`."""

import argparse
import random
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from faults import (
    PROJECT,
    check_acknowledged,
    corrupt_round,
    flip_round,
    kill_round,
    view,
)

from journal import Journal
from journal.sqlite import SqliteStore

_KILLS, _CORRUPTIONS, _FLIPS = 15, 10, 10
#: Every so many rounds the properties are tried with another seed.
_FUZZ = 20
_PROPERTIES = ("test_laws.py", "test_model.py", "test_rendering.py", "test_session_state.py")


def main() -> int:
    """Run rounds until the time is up, Ctrl-C, or the first failure."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--seconds", type=float, default=float("inf"), help="without: for ever")
    asked = parser.parse_args()
    print(f"seed {asked.seed}", flush=True)
    end = time.monotonic() + asked.seconds
    number = 0
    try:
        while time.monotonic() < end:
            number += 1
            with tempfile.TemporaryDirectory(prefix="passdown-soak-") as folder:
                rng = random.Random(f"{asked.seed}/{number}")
                _round(Path(folder), rng)
                if number % _FUZZ == 0:
                    _fuzz(rng.getrandbits(32))
    except KeyboardInterrupt:
        print(f"interrupted in round {number}, none before it failed")
    except Exception:  # noqa: BLE001  # whatever it is, it is what the soak looks for
        traceback.print_exc()
        print(f"seed {asked.seed} failed in round {number}")
        return 1
    else:
        print(f"{number} rounds, none failed")
    return 0


def _round(folder: Path, rng: random.Random) -> None:
    """One journal, from its first record to a flipped bit."""
    with Journal.create(folder) as journal:
        journal.open_project(PROJECT, title="Größenwächter")
    acknowledged: list[str] = []
    for _ in range(_KILLS):
        acknowledged += kill_round(folder, rng)
        if rng.random() < 0.2:
            check_acknowledged(folder, acknowledged)
    for _ in range(_CORRUPTIONS):
        corrupt_round(folder, rng)
    check_acknowledged(folder, acknowledged)
    _flips(folder, rng)


def _flips(folder: Path, rng: random.Random) -> None:
    # Appending last leaves everything in the database file: the last writer to close checkpoints.
    with Journal.open(folder) as journal:
        journal.project(PROJECT).open_finding("the last word")
    store = SqliteStore.open(folder / ".passdown")
    expected = view(store)
    store.close()
    pristine = (folder / ".passdown" / "journal.db").read_bytes()
    for n in range(_FLIPS):
        flip_round(pristine, expected, folder / f"flip-{n}", rng)


def _fuzz(seed: int) -> None:
    """The property tests, once more and differently."""
    files = [str(Path(__file__).with_name(name)) for name in _PROPERTIES]
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", f"--hypothesis-seed={seed}", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"--hypothesis-seed={seed}\n{done.stdout}"


if __name__ == "__main__":
    sys.exit(main())
