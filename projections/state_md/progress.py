"""How far an initiative is: figures that follow from the state and are never stored.

The percentage is that of the phases: each counts the same, the current one by the share of its
tasks that is done. A file that is adopted may count tasks without naming them; such a count stands
until more tasks than that are named.
"""

from journal.entities import Project, Step
from journal.events import Json
from projections.position import ahead, is_done

CELLS = 16


def progress(project: Project) -> dict[str, Json]:
    """The figures, and a bar of 16 cells."""
    step = _counted(project)
    total, ready = tasks(project, step) if step else (0, 0)
    phases = sum(map(is_done, project.steps.values()))
    under_way = total if step and not is_done(step) else 0
    done, whole = _share(phases, len(project.steps), ready, under_way)
    filled = CELLS * done // whole
    return {
        "phases_total": len(project.steps),
        "phases_completed": phases,
        "current_phase_tasks": total,
        "current_phase_completed": ready,
        "bar": f"{'█' * filled}{'░' * (CELLS - filled)} {100 * done // whole}%",
    }


def phase(project: Project) -> Step | None:
    """The phase the project is in; before anything was started, the first."""
    return project.steps.get(project.current) or next(iter(project.steps.values()), None)


def _counted(project: Project) -> Step | None:
    """The phase whose tasks are counted: once it is done, the next, so that they begin anew."""
    step = phase(project)
    return ahead(project) or step if step and is_done(step) else step


def tasks(project: Project, step: Step) -> tuple[int, int]:
    """How many tasks a phase has, named or counted, and how many of them are done."""
    named = [task for task in project.tasks.values() if task.step == step.key]
    total = max(step.tasks, len(named))
    done = step.tasks_done + sum(task.status == "done" for task in named)
    return total, min(total, done)


def _share(phases: int, total: int, ready: int, tasks: int) -> tuple[int, int]:
    """How much is done of how much: the phases, and the current one by its tasks."""
    if not total:
        return 0, 1
    return (phases * tasks + ready, total * tasks) if tasks else (phases, total)
