"""What has waited too long is escalated once, whenever a session of anybody begins or ends."""

from journal import events as e
from journal.entities import Project, maintainer_of
from journal.mail import overdue
from journal.rules.message import message_id
from journal.rules.names import next_id
from journal.rules.rule import By


def escalations(p: Project, by: By, ending: str = "") -> list[e.Event]:
    """An escalation for each message that waited too long, and mail to the maintainer about it."""
    found: list[e.Event] = []
    raised = posted = 0
    for message in p.messages.values():
        why = "" if message.escalated else overdue(p, message, by.now, ending)
        if not why:
            continue
        id = next_id(p, "ESC-", raised)
        raised += 1
        found.append(e.EscalationRaised(message.subject, why, message.id, id))
        maintainer = maintainer_of(p)
        if maintainer and maintainer not in (message.sender, message.to):
            found.append(
                e.MessagePosted(
                    maintainer,
                    f"Stale: {message.id} {message.subject}",
                    why,
                    message.sender,
                    "notify",
                    "P0",
                    message.sender,
                    "none",
                    (message.id,),
                    message=message_id(p, by, posted),
                )
            )
            posted += 1
    return found
