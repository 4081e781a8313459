"""The handoff: `agent-output/{project}/00-handoff.md`, what a person or the next agent reads first.

Fewer than 60 lines whatever the state. Six sections share the lines: each has some that are its
own, and what one does not need goes to the others in the order of their worth. Paths are named,
contents never shown, and every list that was cut says how much is missing and where it is.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from msgspec import Struct

from journal.clock import iso
from journal.entities import Context, Decision, Step
from journal.state import Project
from projections import stamp
from projections.markdown import LIMIT, clip, code, inline
from projections.position import chosen, failures, is_done, keyed, must_fix, next_action, outlook
from projections.values import as_text

RENDERER = 1

#: The most lines that a handoff has.
LINES = 59
_SENTENCES = 3
_SENTENCE_LIMIT = 300


Items: TypeAlias = list[partial[str]]


class Section(Struct, frozen=True):
    """A section, its items in order of worth, and the lines that are its own in any case.

    An item is what gives its line: of ten thousand only those that are shown are written.
    """

    title: str
    items: Sequence[Callable[[], str]]
    own: int
    #: Where cutting, show the kept items in the reverse of the order in which they are kept.
    newest_last: bool = False


def render(project: Project) -> bytes:
    """The handoff file of a project."""
    head = [
        f"# {inline(project.title or project.slug)} — Handoff (Step {_reached(project)} complete)",
        "",
        f"Updated: {iso(project.updated)} | IaC: {_iac(project)} | Branch: {_branch(project)}",
        "",
    ]
    sections = _sections(project)
    # Around its items a section has a heading and two blank lines; the stamp is the last line.
    room = LINES - len(head) - 3 * len(sections) - 1
    body: list[str] = []
    for section, lines in zip(sections, _allot(sections, room), strict=True):
        body += [f"## {section.title}", "", *_cut(section, lines), ""]
    last = f"<!-- {stamp.line(stamp.of(project, RENDERER))} -->"
    return stamp.stamped("\n".join((*head, *body, last, "")).encode())


def intact(content: bytes) -> bool:
    """Whether the content is a handoff at all, whoever wrote it last."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return False
    return "\0" not in text and _TITLE.match(text) is not None


_TITLE = re.compile(r"\s*# .*\bhandoff\b", re.IGNORECASE)


def _sections(project: Project) -> list[Section]:
    """The six sections, in the order of the file."""
    return [
        Section("Completed Steps", _completed(project), own=8, newest_last=True),
        Section("Key Decisions", _decided(project), own=8),
        Section("Open Challenger Findings (must_fix only)", _findings(project), own=8),
        Section("Context for Next Step", [partial(_next, project)], own=1),
        Section("Skill Context", _skills(project), own=4),
        Section("Artifacts", _artifacts(project), own=7),
    ]


#: Who gets spare lines first: an open finding missed costs more than a path that can be looked up.
_WORTH = (2, 1, 0, 4, 5, 3)


def _allot(sections: list[Section], room: int) -> list[int]:
    """How many lines each section gets; together no more than there is room for."""
    lines = [max(1, min(len(section.items), section.own)) for section in sections]
    spare = room - sum(lines)
    while spare > 0:
        wanting = [n for n in _WORTH if len(sections[n].items) > lines[n]][:spare]
        if not wanting:
            break
        for n in wanting:
            lines[n] += 1
        spare -= len(wanting)
    return lines


def _cut(section: Section, lines: int) -> list[str]:
    """The section's items in so many lines, the last of which says what was left out."""
    if len(section.items) <= lines:
        shown, more = [item() for item in section.items], []
    else:
        shown = [item() for item in section.items[: lines - 1]]
        more = [f"- … {len(section.items) - len(shown)} more: passdown show --as json"]
    ordered = shown[::-1] if section.newest_last else shown
    return [*ordered, *more] or ["None"]


# -- what the sections say -------------------------------------------------------------------


def _reached(project: Project) -> str:
    complete = [step.key for step in project.steps.values() if step.status == "complete"]
    return complete[-1] if complete else "0"


def _iac(project: Project) -> str:
    decided = keyed(project).get("iac_tool")
    return inline(as_text(decided.value) if decided else "") or "undecided"


def _branch(project: Project) -> str:
    return inline(project.branch) or "none"


def _completed(project: Project) -> Items:
    """The steps behind us, the last one first: where lines are short, the oldest give way."""
    done = [step for step in project.steps.values() if is_done(step)]
    return [partial(_done, step) for step in reversed(done)]


def _done(step: Step) -> str:
    about = ""
    if step.status == "skipped":
        about = f" (skipped: {inline(step.reason)})" if step.reason else " (skipped)"
    elif step.artifacts:
        about = f": {_paths(step.artifacts)}"
    return f"- [x] {step.key} {inline(step.name)}{about}"


def _paths(paths: tuple[str, ...]) -> str:
    """As many of the paths as fit on a line, and how many did not."""
    shown: list[str] = []
    length = 0
    for path in paths:
        span = code(path)
        length += len(span)
        if shown and length > LIMIT:
            break
        shown.append(span)
    rest = len(paths) - len(shown)
    return ", ".join(shown) + (f", … {rest} more" if rest else "")


def _decided(project: Project) -> Items:
    """The values that hold, then the decisions without a key that hold, the newest first."""
    values = [partial(_value, key, decision) for key, decision in keyed(project).items()]
    logged = [
        partial(_logged, decision)
        for decision in reversed(project.decisions.values())
        if decision.superseded_by is None and not decision.key
    ]
    return values + logged


def _value(key: str, decision: Decision) -> str:
    return _decision(key, as_text(decision.value) or decision.choice, decision)


def _logged(decision: Decision) -> str:
    return _decision(f"{decision.id} {decision.title}".strip(), chosen(decision), decision)


def _decision(what: str, choice: str, decision: Decision) -> str:
    text = clip(f"{what}: {choice}" if choice else what)
    why = clip(decision.rationale, LIMIT - len(text)) if len(text) < LIMIT // 2 else ""
    return f"- {inline(f'{text} — {why}' if why else text)}"


def _findings(project: Project) -> Items:
    return [partial(_item, title) for title in failures(project) + must_fix(project)]


def _item(text: str) -> str:
    return f"- {inline(text)}"


def _next(project: Project) -> str:
    """Up to three noted sentences, else the next action, else what the steps say."""
    noted = [note for note in project.context if note.kind == "next_step"]
    fresh = [note.text for note in noted if note.step in ("", *_recent(project))]
    said = fresh[-_SENTENCES:] or [next_action(project) or outlook(project)]
    return inline(" ".join(map(_sentence, said)), _SENTENCES * (_SENTENCE_LIMIT + 2))


def _recent(project: Project) -> list[str]:
    """The current step and the one before it, whose word about the next step still holds."""
    keys = list(project.steps)
    at = keys.index(project.current) if project.current in keys else 0
    return keys[max(at - 1, 0) : at + 1]


def _sentence(text: str) -> str:
    plain = clip(text, _SENTENCE_LIMIT)
    return plain if plain.endswith((".", "!", "?", "…", ":", ";")) else f"{plain}."


def _skills(project: Project) -> Items:
    return [partial(_skill, note) for note in reversed(project.context) if note.kind == "skill"]


def _skill(note: Context) -> str:
    return f"{_item(note.text)} ({code(note.file)})" if note.file else _item(note.text)


def _artifacts(project: Project) -> Items:
    """The paths of all that was produced, those of the last step first."""
    newest = reversed(project.steps.values())
    paths = dict.fromkeys(path for step in newest for path in step.artifacts)
    return [partial(_path, path) for path in paths]


def _path(path: str) -> str:
    return f"- {code(path)}"
