"""From the bytes of a file to a valid document of version 3.0, without losing a word.

Real files are of versions 1.0 to 3.0 and of every irregular shape. What the schema does not allow
at its place is changed as little as it takes; the original goes along beside the document.
"""

import re
from typing import Any

from msgspec import Struct

from journal.errors import Invalid, quoted
from journal.events import Json, Original
from projections import stamp, strict_json
from projections.leftovers import Object
from projections.session_state.document import ALWAYS, APEX, FORMS, KEY, NAMES, StepEntry, fits
from projections.values import as_text

_VERSIONS = ("1.0", "2.0", "3.0")
#: What version 2.0 had and 3.0 gave up.
_GIVEN_UP = ("lock", "stale_threshold_ms")
_STATUSES = {
    "completed": "complete",
    "done": "complete",
    "in-progress": "in_progress",
    "in progress": "in_progress",
    "failed": "in_progress",  # which is how version 3.0 shows it
}
_AUDIT_KEY = re.compile(r"step_[0-9_]+", re.ASCII)


class Source(Struct):
    """What a file says: a valid document, and what had to be changed or left out to make it one."""

    document: Object
    version: str = "3.0"
    #: The decisions as the file has them, also those that the schema does not allow.
    decisions: Object = {}
    findings: list[Json] = []
    originals: list[Original] = []
    warnings: list[str] = []

    @property
    def name(self) -> str:
        """What the file calls its project."""
        return str(self.document["project"])

    def keep(self, path: tuple[str, ...], value: Json, why: str = "") -> None:
        """Keep a value that has no place in the document."""
        self.originals.append(Original(path, value))
        if why:
            self.warnings.append(f"{'.'.join(path)[:80]}: {why}")


def read(content: bytes) -> Source:
    """What a session state file says; Invalid if it is none, or of a version that is not known."""
    source = Source({})
    document = _decode(content, source)
    mark = document.pop(stamp.KEY, None)
    if mark is not None and stamp.read(content) is None:
        source.keep((stamp.KEY,), mark, "is not a stamp of ours")
    _migrate(document, source)
    source.document = _valid(document, source)
    _contradictions(source)
    return source


def _decode(content: bytes, source: Source) -> Object:
    def pairs(items: list[tuple[str, Json]]) -> Object:
        found: Object = {}
        for key, value in items:
            if key in found:
                source.keep(("duplicate", key), found[key], "stands there twice; the last counts")
            found[key] = value
        return found

    if not content.strip():
        raise Invalid("the file is empty")
    try:
        text = content.decode("utf-8-sig")
        document = strict_json.decode(text, pairs)
    except (ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0][:200]
        raise Invalid(f"the file is not a session state: {reason}") from error
    if not isinstance(document, dict) or not (
        isinstance(document.get("steps"), dict) or "schema_version" in document
    ):
        raise Invalid("the file is not a session state: it has neither steps nor a version")
    return document


def _migrate(document: Object, source: Source) -> None:
    """Bring a document to version 3.0 as the protocol says."""
    version = document.get("schema_version")
    if "schema_version" in document and version not in _VERSIONS:
        raise Invalid(
            f"schema_version is {quoted(version)}, and only 1.0, 2.0 and 3.0 are known; "
            "nothing was changed: a newer Passdown may know it",
            where="$.schema_version",
        )
    source.version = str(version) if version else ""
    document["schema_version"] = "3.0"
    for key in _GIVEN_UP:
        if key in document:
            source.keep((key,), document.pop(key))
    steps = document.get("steps")
    if isinstance(steps, dict):
        steps = document["steps"] = _renamed(steps, "", source, "steps")
        for key, step in steps.items():
            if isinstance(step, dict) and "claim" in step:
                source.keep(("steps", key, "claim"), step.pop("claim"))
    audit = document.get("review_audit")
    if isinstance(audit, dict):
        document["review_audit"] = _renamed(audit, "step_", source, "review_audit")


def _renamed(things: Object, prefix: str, source: Source, where: str) -> dict[str, Any]:
    """Keys like 3.5 as 3_5; where both are there, the one of version 3.0 counts."""
    named: dict[str, Any] = {}
    for key, value in things.items():
        new = f"{prefix}{key.removeprefix(prefix).replace('.', '_')}"
        if new != key and new in things:
            source.keep((where, key), value, f"{new} is there too, and counts")
        else:
            named[new] = value
    return named


# -- the least change that makes it valid ----------------------------------------------------


def _valid(document: Object, source: Source) -> Object:
    valid = dict(document)
    for key in ("project", "region", "branch", "updated"):
        valid[key] = _text(document, (key,), source)
    tool = document.get("iac_tool", "")
    valid["iac_tool"] = tool if fits("iac_tool", tool) else ""
    if valid["iac_tool"] != tool:
        source.keep(("iac_tool",), tool, "is neither Bicep nor Terraform")
    number = document.get("current_step", 0)
    whole = isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= 7
    valid["current_step"] = number if whole else 0
    if not whole:
        source.keep(("current_step",), number, "is not a whole number from 0 to 7")
    valid["decisions"] = _decisions(document, source)
    valid["open_findings"] = _findings(document, source)
    if "decision_log" in document:
        valid["decision_log"] = _log(document, source)
    if "review_audit" in document:
        valid["review_audit"] = _audit(document, source)
    valid["steps"] = _steps(document, source)
    return valid


def _text(of: Object, path: tuple[str, ...], source: Source) -> str:
    value = of.get(path[-1], "")
    if not isinstance(value, str):
        source.keep(path, value, "is not text")
    return value if isinstance(value, str) else as_text(value)


def _texts(of: Object, path: tuple[str, ...], source: Source) -> list[Json]:
    value = of.get(path[-1], [])
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    source.keep(path, value, "is not a list of texts")
    items = value if isinstance(value, list) else [] if value is None else [value]
    return [as_text(item) for item in items]


def _object(of: Object, key: str, source: Source) -> Object:
    value = of.get(key, {})
    if isinstance(value, dict):
        return value
    source.keep((key,), value, "is not an object")
    return {}


def _decisions(document: Object, source: Source) -> Object:
    decisions = _object(document, "decisions", source)
    source.decisions = decisions
    valid: Object = {}
    for key in dict.fromkeys((*ALWAYS, *decisions)):
        value = decisions.get(key, "")
        if key not in decisions and key == "complexity":
            continue  # only the five before it are required
        if fits(key, value) or key == "iac_tool":
            valid[key] = value
        else:
            source.keep(("decisions", key), value, "is not what the schema allows there")
            if FORMS[key] is str:
                valid[key] = as_text(value)
            elif key in ALWAYS:
                valid[key] = ""
    return valid


def _findings(document: Object, source: Source) -> list[Json]:
    """The titles of the findings that are open; objects stay beside the document."""
    given = document.get("open_findings", [])
    if not isinstance(given, list):
        source.keep(("open_findings",), given, "is not a list")
        given = [] if given is None else [given]
    source.findings = given
    titles = []
    for n, finding in enumerate(given):
        if not isinstance(finding, str):
            source.keep(("open_findings", str(n)), finding)
        if isinstance(finding, str) or not is_resolved(finding):
            titles.append(title_of(finding))
    if all(isinstance(finding, str) for finding in given):
        return given
    return list(dict.fromkeys(title for title in titles if title))


def title_of(finding: Json) -> str:
    """What a finding is about, in whichever shape it is."""
    if isinstance(finding, dict):
        for key in ("description", "title", "finding", "summary", "text"):
            if isinstance(finding.get(key), str) and finding[key].strip():
                return str(finding[key])
    return as_text(finding)


def is_resolved(finding: Json) -> bool:
    """Whether an object among the open findings says that it is not."""
    return isinstance(finding, dict) and str(finding.get("status", "")).lower() in (
        "resolved",
        "closed",
        "fixed",
        "complete",
        "done",
    )


def _log(document: Object, source: Source) -> list[Json]:
    given = document["decision_log"]
    if not isinstance(given, list):
        source.keep(("decision_log",), given, "is not a list")
        return []
    valid: list[Json] = []
    for n, entry in enumerate(given):
        if not isinstance(entry, dict):
            source.keep(("decision_log", str(n)), entry, "is not an object")
            continue
        mended = dict(entry)
        for key in ("decision", "rationale", "timestamp"):
            if key in entry:
                mended[key] = _text(entry, ("decision_log", str(n), key), source)
        step = entry.get("step")
        if "step" in entry and (isinstance(step, bool) or not isinstance(step, int | str)):
            source.keep(("decision_log", str(n), "step"), step)
            mended["step"] = as_text(step)
        valid.append(mended)
    return valid


def _audit(document: Object, source: Source) -> Object:
    valid: Object = {}
    for key, given in _object(document, "review_audit", source).items():
        if not (_AUDIT_KEY.fullmatch(key) and isinstance(given, dict)):
            source.keep(("review_audit", key), given, "is not the review of a step")
            continue
        mended = dict(given)
        for name in ("passes_planned", "passes_executed"):
            count = given.get(name, 0)
            if isinstance(count, bool) or not isinstance(count, int) or count < 0:
                source.keep(("review_audit", key, name), count, "is not a count")
                mended[name] = 0
        for name in ("skipped", "skip_reasons", "models_used"):
            if name in given:
                mended[name] = _texts(given, ("review_audit", key, name), source)
        if "complexity" in given:
            mended["complexity"] = _text(given, ("review_audit", key, "complexity"), source)
        valid[key] = mended
    return valid


def _steps(document: Object, source: Source) -> Object:
    valid: Object = {}
    for key, given in _object(document, "steps", source).items():
        if KEY.fullmatch(key) and isinstance(given, dict) and (key in APEX or _named(given)):
            valid[key] = _step(key, given, source)
        else:
            source.keep(("steps", key), given, "is not a step of the workflow")
    return valid


def _named(step: Object) -> bool:
    return isinstance(step.get("name"), str) and step["name"] in NAMES


def _step(key: str, given: Object, source: Source) -> Object:
    path = ("steps", key)
    mended = dict(given)
    if not _named(given):
        if "name" in given:
            source.keep((*path, "name"), given["name"], "is not a name of the workflow")
        mended["name"] = APEX[key]
    mended["agent"] = _text(given, (*path, "agent"), source)
    status = given.get("status", "pending")
    if status not in ("pending", "in_progress", "complete", "skipped"):
        source.keep((*path, "status"), status, "is not a status")
        mended["status"] = _STATUSES.get(str(status).lower(), "pending")
    else:
        mended["status"] = status
    for name in ("sub_step", "started", "completed"):
        value = given.get(name)
        mended[name] = value if value is None else _text(given, (*path, name), source)
    for name in ("artifacts", "context_files_used"):
        mended[name] = _texts(given, (*path, name), source)
    if "telemetry" in given and not _is_telemetry(given["telemetry"]):
        source.keep((*path, "telemetry"), mended.pop("telemetry"), "is not what the schema allows")
    assert set(StepEntry.__struct_fields__) <= mended.keys()
    return mended


_COUNTS = ("elapsed_ms", "input_tokens", "output_tokens", "subagent_count")
_MORE_COUNTS = ("validation_attempts", "cache_hits")


def _is_telemetry(value: Json) -> bool:
    """Whether the schema allows it as what a tool measured of a step."""
    if not isinstance(value, dict):
        return False
    return all(
        isinstance(found, str)
        if name in ("step_start_iso", "step_end_iso")
        else name in _COUNTS + _MORE_COUNTS and type(found) is int and found >= 0
        for name, found in value.items()
    )


def _contradictions(source: Source) -> None:
    """Say what contradicts itself; it is kept as it is."""
    steps: Any = source.document["steps"]
    running = [key for key, step in steps.items() if step["status"] == "in_progress"]
    if len(running) > 1:
        source.warnings.append(f"steps {', '.join(running)} are in progress at the same time")
    if source.document["current_step"] == 0 and any(
        step["status"] in ("complete", "in_progress") for step in steps.values()
    ):
        source.warnings.append("current_step is 0 although steps were begun")
    for key, step in steps.items():
        started, completed = step["started"], step["completed"]
        if started and completed and completed < started:
            source.warnings.append(f"step {key} was completed before it was started")
        if step["status"] == "complete" and not started:
            source.warnings.append(f"step {key} is complete and was never started")
