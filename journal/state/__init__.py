"""The folded state of a project, and the fold.

`evolve` accepts every record that was ever accepted: it neither validates nor logs nor raises. The
container is mutable, the entities in it are frozen. What the fold makes of a history may only
change together with FOLD, which discards every cached state; a golden history guards that.
"""

from journal.entities import (
    Project,
    active_blockers,
    actor_role,
    held_lease,
    is_person,
    lease_until,
    step_agent,
    step_order,
    task_status,
)
from journal.state.fold import FOLD, evolve, fold, folded

__all__ = [
    "FOLD",
    "Project",
    "active_blockers",
    "actor_role",
    "evolve",
    "fold",
    "folded",
    "held_lease",
    "is_person",
    "lease_until",
    "step_agent",
    "step_order",
    "task_status",
]
