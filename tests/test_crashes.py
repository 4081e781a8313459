"""Writers that are killed in the middle of their work, real processes and real kills."""

import random
from pathlib import Path

import pytest
from faults import PROJECT, check_acknowledged, kill_round

from journal import Journal

ROUNDS = 100


@pytest.mark.parametrize("seed", [1, 2])
def test_no_kill_loses_or_repeats_what_was_acknowledged(tmp_path: Path, seed: int) -> None:
    """After 100 kills all that was acknowledged is there once, and the journal is well."""
    rng = random.Random(seed)
    with Journal.create(tmp_path) as journal:
        journal.open_project(PROJECT)
    acknowledged: list[str] = []
    for _ in range(ROUNDS):
        acknowledged += kill_round(tmp_path, rng)
        if rng.random() < 0.1:
            check_acknowledged(tmp_path, acknowledged)
    check_acknowledged(tmp_path, acknowledged)
    assert len(acknowledged) > ROUNDS, "the writers were killed before they did anything"
