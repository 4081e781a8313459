"""One of several processes that append to the same journal: run by `processes`, as a script.

It says when it is ready, waits for a line on stdin, and prints when it began, when it ended and
what its slowest append took.
"""

import json
import sys
import time

from journal import Journal
from journal.events import FindingOpened


def main(root: str, project: str, name: str, appends: int) -> None:
    """Append so many findings to a project, one command each."""
    with Journal.open(root) as journal:
        handle = journal.handle(project)
        if not handle.state.version:
            journal.open_project(project)
        print("ready", flush=True)
        if not sys.stdin.readline():
            return
        begun, worst = time.perf_counter(), 0.0
        for n in range(appends):
            start = time.perf_counter()
            handle.append(FindingOpened(f"{name}: vault {n} allows public access"), actor=name)
            worst = max(worst, time.perf_counter() - start)
        print(json.dumps([begun, time.perf_counter(), worst]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
