"""The files that plans and their summaries are in, which a resuming agent is sent to."""

import re

from msgspec import Struct

from journal.entities import Project, Step
from projections.position import plan_ahead

#: What may stand for a number: a width of more than nine digits would be no name of a file.
FORM = re.compile(r"(?:[^{}]|\{(?:phase|plan)(?::0?[1-9])?\})*")


class PlanFiles(Struct, frozen=True, forbid_unknown_fields=True):
    """Where they are; `{phase}` and `{plan}` stand for the numbers, `{phase:02}` for two digits."""

    folder: str = ".planning"
    plan: str = "{phase}-{plan}-PLAN.md"
    summary: str = "{phase}-{plan}-SUMMARY.md"

    def path(self, pattern: str, phase: str, plan: int) -> str:
        """The file of a plan, relative to the workspace."""
        number = int(phase) if phase.isdecimal() else phase
        name = pattern.format(phase=number, plan=plan)
        return f"{self.folder}/{name}" if self.folder else name


def plan_files(project: Project, step: Step, files: PlanFiles) -> list[str]:
    """The plan that work goes on with, and the summaries of the plans before it in the phase."""
    at = plan_ahead(project, step)
    plans = sorted(
        (plan for plan in project.plans.values() if plan.step == step.key),
        key=lambda plan: plan.number,
    )
    found = [files.path(files.plan, step.key, at.number)] if at else []
    before = [plan for plan in plans if at is None or plan.number < at.number]
    return found + [files.path(files.summary, step.key, plan.number) for plan in before]
