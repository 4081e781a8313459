"""Journals to measure: what happens in them is made up, how it happens is not."""

import shutil
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from journal import Handle, Journal, Request
from journal import events as e

PROJECT = "orchard-market"
ACTOR = "03-Architect"
SESSION = "night-shift"
_BATCH = 500


def finding(n: int) -> e.FindingOpened:
    """A finding such as an agent reports: some 200 bytes."""
    return e.FindingOpened(
        f"Key Vault {n} allows public access",
        detail="The vault takes requests from every network; a private endpoint and a firewall "
        "rule belong in the plan before anything is deployed.",
    )


def request(event: e.Event) -> Request:
    """A proposal by an agent in a session."""
    return Request(event, ACTOR, SESSION)


def create(root: Path) -> Journal:
    """A journal in a new workspace."""
    root.mkdir()
    return Journal.create(root)


def fill(handle: Handle, events: Iterator[e.Event]) -> None:
    """Record events in batches, which is quicker than one by one."""
    while batch := [request(event) for event in islice(events, _BATCH)]:
        handle.append_all(batch)


def busy() -> Iterator[e.Event]:
    """A little of everything, without end: the items that are open, decided and used grow."""
    yield e.SessionStarted(name=SESSION)
    yield e.StepStarted("1")
    yield e.StepStarted("2")
    n = 0
    while True:
        n += 1
        yield finding(n)
        yield e.DecisionMade(f"Vault {n}", "A private endpoint", "Public access is not needed")
        yield e.FindingResolved(f"F{n:03}", "A private endpoint was added")
        yield e.TokensUsed(1200 + n, 300, step="2")
        yield e.FilesChanged(f"infra/vault-{n}.bicep", "created", f"{n:064x}", step="2")


def steady() -> Iterator[e.Event]:
    """Work without end that leaves a state of the same size: the same files, sums and labels."""
    yield from islice(busy(), 43)
    n = 0
    while True:
        n += 1
        yield e.TokensUsed(1200 + n, 300, step="2")
        yield e.FilesChanged(f"infra/vault-{n % 8}.bicep", "modified", f"{n:064x}", step="2")
        yield e.StepCheckpointed("2", f"phase_{n}")
        yield e.NextActionSet(f"Look at vault {n}")


def decided_and_resolved(count: int) -> Iterator[e.Event]:
    """So many decisions, and as many findings that were opened and resolved."""
    yield e.StepStarted("1")
    yield e.StepStarted("2")
    for n in range(1, count + 1):
        yield e.DecisionMade(f"Vault {n}", "A private endpoint", "Public access is not needed")
        yield finding(n)
        yield e.FindingResolved(f"F{n:03}", "A private endpoint was added")


def cached(root: Path, events: Iterator[e.Event], tail: int) -> None:
    """A journal whose state was cached, and went on for a tail that is not."""
    with create(root) as journal:
        fill(journal.open_project(PROJECT), events)
    shutil.rmtree(root / ".passdown" / "cache", ignore_errors=True)
    with Journal.open(root) as journal:
        handle = journal.project(PROJECT)
        assert handle.state.version, "asking for the state is what caches it"
        fill(handle, islice(_labels(), tail))


def _labels() -> Iterator[e.Event]:
    n = 0
    while True:
        n += 1
        yield e.StepCheckpointed("2", f"tail_{n}")
