"""Workflows are data: which steps a project has, and which transitions it allows.

`apex` ships with the package, `generic` takes its steps from the caller, and a path names a TOML
file of the user's own with the same keys as apex.toml. What is read here goes whole into the
`project.opened` event, so that no replay ever needs the file again.
"""

from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from journal.errors import Invalid, NotFound
from journal.events import Execution, Policy, StepPlan
from journal.payload import MAX_PAYLOAD
from journal.rules import check_steps, workspace_path

BUILT_IN = {"apex": Path(__file__).with_name("apex.toml")}

#: What an orchestration allows where its workflow does not say otherwise.
ORCHESTRATED = Policy(rerun=False, retries=2, skip="person", parallel=False, manifest=True)


class Workflow(Struct, frozen=True):
    """The steps of a project, its transition policy, and how an orchestration executes them."""

    name: str
    steps: tuple[StepPlan, ...]
    policy: Policy = Policy()
    execution: Execution | None = None


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    """A workflow as a TOML file has it; what it says of a policy stands for all of it."""

    name: str
    steps: tuple[StepPlan, ...]
    policy: Policy | None = None
    execution: Execution | None = None

    def workflow(self) -> Workflow:
        """What the file says, and what holds where it does not say it."""
        steps = tuple(
            replace(step, files=tuple(map(workspace_path, step.files))) for step in self.steps
        )
        check_steps(steps)
        policy = Policy() if self.execution is None else ORCHESTRATED
        return Workflow(self.name, steps, self.policy or policy, self.execution)


def generic(names: Iterable[str]) -> Workflow:
    """A workflow of steps 1, 2, 3 … with the given names."""
    steps = tuple(StepPlan(str(n), name) for n, name in enumerate(names, start=1))
    return Workflow("generic", steps)


def orchestration(steps: Iterable[StepPlan]) -> Workflow:
    """A workflow of phases that agents are sent to, one at a time unless planned otherwise."""
    return Workflow("maestro", tuple(steps), ORCHESTRATED, Execution())


def load(name: str) -> Workflow:
    """The built-in workflow of that name, or the one in the TOML file at that path."""
    path = BUILT_IN.get(name, Path(name))
    if name not in BUILT_IN and path.suffix != ".toml":
        known = ", ".join((*BUILT_IN, "generic"))
        raise Invalid(f"no workflow {name!r}; there are {known}, or give the path of a .toml file")
    try:
        with path.open("rb") as file:
            text = file.read(MAX_PAYLOAD + 1)
    except OSError as e:
        raise Invalid(f"workflow file {name!r} cannot be read: {e.strerror}; check the path") from e
    if len(text) > MAX_PAYLOAD:
        raise Invalid(f"workflow file {name!r} is longer than {MAX_PAYLOAD:,} bytes; shorten it")
    try:
        return msgspec.toml.decode(text, type=_File).workflow()
    except (Invalid, NotFound) as e:
        raise Invalid(f"workflow file {name!r}: {e}") from e
    except RecursionError as e:
        raise Invalid(f"workflow file {name!r} is nested too deeply; a step has lists only") from e
    except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError) as e:
        raise Invalid(f"workflow file {name!r}: {e}") from e
