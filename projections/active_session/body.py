"""The body of active-session.md: a section for each phase, in parts that each have a name.

`title` is the first line, the key of a step the heading of its section, `<key> output 1`, `<key>
files`, `<key> downstream` and `<key> validation` are what stands in it. What was written by hand
stands after the part that it followed, before everything under `top`.
"""

import re
from collections.abc import Iterable, Mapping
from itertools import chain

from journal.entities import File, Output, Project, Step
from journal.events import Json
from projections.leftovers import Object
from projections.markdown import code, inline, literal

#: Before everything else in the body.
TOP = "top"
TITLE = "title"
#: The first heading, in whichever words.
TITLED = re.compile(r"^# [^\n]*\n?", re.MULTILINE)
_LABEL = re.compile(r"[0-9][0-9._]*", re.ASCII)
SIGNS = {"complete": "✓", "in_progress": "○", "failed": "✗", "pending": "□", "skipped": "–"}

#: Of one output so many lines, of so many characters; of a list so many entries.
_LINES, _WIDTH, _ENTRIES = 100, 500, 50
_LEFT = {
    "interfaces": "Interface",
    "patterns": "Pattern",
    "integration_points": "Integration point",
    "assumptions": "Assumption",
    "warnings": "Warning",
}


def labels(ids: Mapping[str, Json]) -> dict[str, str]:
    """What each step is called in its heading: the id that it has in the file, if that is a number
    or written like one."""
    found: dict[str, str] = {}
    for key, id in ids.items():
        label = str(id)
        plain = _LABEL.fullmatch(label) and label not in found.values()
        found[key] = label if plain else key.replace("_", ".")
    return found


def parts(project: Project, named: Mapping[str, str]) -> Object:
    """The parts as the state alone has them; each begins with a blank line."""
    outputs: dict[str, list[Output]] = {}
    for output in project.outputs:
        outputs.setdefault(output.step, []).append(output)
    files: dict[str, list[File]] = {}
    for file in project.manifest.values():
        files.setdefault(file.step, []).append(file)
    found: Object = {TITLE: f"\n# {inline(project.title)} Orchestration Log\n"}
    for key, step in project.steps.items():
        found[key] = f"\n## Phase {named[key]}: {inline(step.name)} {SIGNS[step.status]}\n"
        for n, output in enumerate(outputs.get(key, ()), start=1):
            found[f"{key} output {n}"] = _output(project, output)
        found |= _rest(step, files.get(key, ()))
    return found


def _output(project: Project, output: Output) -> str:
    """What an agent gave, every line of it so far to the right that it is only text."""
    agent = inline(output.agent)
    lines = "\n".join(output.text.splitlines()).strip("\n").split("\n")
    shown = [literal(line, _WIDTH) for line in lines[:_LINES]]
    if len(lines) > _LINES:
        more = f"… {len(lines) - _LINES:,} more lines: passdown show --json -p {project.slug}"
        shown.append(literal(more))
    text = "\n".join(shown)
    return f"\n### {f'{agent} ' if agent else ''}Output\n\n{text}\n"


def _rest(step: Step, files: Iterable[File]) -> Object:
    rest: Object = {}
    by_change: dict[str, list[str]] = {}
    for file in files:
        by_change.setdefault(file.change, []).append(code(file.path))
    if by_change:
        lines = (
            f"- {change.capitalize()}: {_listed(by_change[change], ', ')}"
            for change in ("created", "modified", "deleted")
            if change in by_change
        )
        rest[f"{step.key} files"] = _section("Files Changed", lines)
    told = [
        [f"- {word}: {inline(text)}" for text in getattr(step.downstream, field)]
        for field, word in _LEFT.items()
    ]
    if any(told):
        lines = (_listed(each, "\n") for each in told if each)
        rest[f"{step.key} downstream"] = _section("Downstream Context", lines)
    if step.verified:
        result = "Pass" if step.verified.passed else "Fail"
        details = inline(step.verified.details)
        said = f"{result}: {details}" if details else result
        rest[f"{step.key} validation"] = _section("Validation Result", [said])
    return rest


def _section(heading: str, lines: Iterable[str]) -> str:
    return f"\n### {heading}\n\n" + "".join(f"{line}\n" for line in lines)


def _listed(entries: list[str], between: str) -> str:
    more = len(entries) - _ENTRIES
    shown = entries[:_ENTRIES] + ([f"and {more:,} more"] if more > 0 else [])
    if between == "\n" and more > 0:
        shown[-1] = f"- {shown[-1]}"
    return between.join(shown)


# -- the whole -------------------------------------------------------------------------------


def section(part: str) -> str:
    """The key of the phase that a part is in; empty above the first."""
    return "" if part in (TOP, TITLE) else part.partition(" ")[0]


def text(order: Iterable[str], shown: Mapping[str, Json], kept: Mapping[str, Json]) -> str:
    """The body: the parts in their order, each with what somebody wrote after it."""
    written: list[str] = []
    for part in _with_lost([TOP, *order], kept):
        for each in (shown.get(part), kept.get(part)):
            if isinstance(each, str) and each:
                if written and not written[-1].endswith("\n") and not each.startswith("\n"):
                    written.append("\n")
                written.append(each)
    return "".join(written)


def _with_lost(order: list[str], kept: Mapping[str, Json]) -> list[str]:
    """The order with parts that are no more, where something was written after them."""
    known = set(order)
    lost = [part for part in kept if part not in known]
    if not lost:
        return order
    by_section: dict[str, list[str]] = {}
    for part in (*order, *lost):
        by_section.setdefault(section(part), []).append(part)
    return list(chain.from_iterable(by_section.values()))
