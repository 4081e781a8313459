"""Replay by hand: read, verify, decode and fold in one loop, for the events of `histories.busy`.

It comes to the same state as the journal's own replay, which is checked before either is timed.
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from benchmarks.histories import PROJECT, SESSION
from journal import entities
from journal import events as e
from journal.events import VOCABULARY
from journal.state import Project

_ABSENT = b"\xff\xff\xff\xff"


def replay(path: Path) -> Project:
    """The state that the records come to, each checked against the one before it."""
    project = Project(PROJECT)
    decoders = {tag: msgspec.json.Decoder(kind) for tag, kind in VOCABULARY.items()}
    previous = b""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            "SELECT version, id, type, data, salt, commitment, at, occurred, actor, session, "
            "cause, hash FROM records WHERE project = ? ORDER BY version",
            (PROJECT,),
        )
        for (
            version,
            id,
            tag,
            data,
            salt,
            commitment,
            at,
            occurred,
            actor,
            session,
            cause,
            hash,
        ) in rows:
            committed = salt + _field(data) + _text(actor) + _text(session)
            body = b"".join(
                (
                    b"passdown record 1\n",
                    _field(previous),
                    _text(PROJECT),
                    _number(version),
                    _text(id),
                    _text(tag),
                    _number(at),
                    _number(occurred),
                    _text(cause),
                    _field(commitment),
                )
            )
            if sha256(committed).digest() != commitment or sha256(body).digest() != hash:
                raise ValueError(f"version {version} is not what was written")
            previous = hash
            _FOLDS[tag](project, decoders[tag].decode(data), at, actor)
            project.version = project.content_version = version
            project.hash = project.content_hash = hash
            project.updated = at
            if known := project.session_names.get(session):
                project.sessions[known] = replace(project.sessions[known], progress=at)
    return project


def _field(value: bytes) -> bytes:
    return len(value).to_bytes(4, "big") + value


def _text(value: str | None) -> bytes:
    return _ABSENT if value is None else _field(value.encode())


def _number(value: int | None) -> bytes:
    return _ABSENT if value is None else b"\0\0\0\x08" + value.to_bytes(8, "big")


def _opened(p: Project, x: e.ProjectOpened, at: int, actor: str) -> None:
    p.opening, p.title, p.workflow, p.native = x, x.title, x.workflow, x.native
    p.policy, p.branch, p.opened = x.policy, x.branch, at
    for plan in x.steps:
        p.steps[plan.key] = entities.Step(
            plan.key,
            plan.name,
            plan.agent,
            plan.agent_when,
            plan.optional,
            plan.checkpoints,
            plan.startup,
        )


def _session_started(p: Project, x: e.SessionStarted, at: int, actor: str) -> None:
    p.sessions[x.session] = entities.Session(x.session, at, x.agent, x.name)
    p.session_names[x.session] = p.session_names[x.name] = x.session
    p.at_work[x.agent] = p.at_work.get(x.agent, 0) + 1
    p.revision += 1


def _step_started(p: Project, x: e.StepStarted, at: int, actor: str) -> None:
    p.steps[x.step] = replace(p.steps[x.step], status="in_progress", started=at, started_by=actor)
    p.current = x.step


def _finding_opened(p: Project, x: e.FindingOpened, at: int, actor: str) -> None:
    p.findings[x.finding] = entities.Finding(
        x.finding, x.title, at, x.severity, x.step, x.detail, actor
    )
    p.open_findings[x.title] = x.finding


def _finding_resolved(p: Project, x: e.FindingResolved, at: int, actor: str) -> None:
    finding = p.findings[x.finding]
    p.findings[x.finding] = replace(finding, resolved=at, resolution=x.resolution)
    del p.open_findings[finding.title]


def _decision_made(p: Project, x: e.DecisionMade, at: int, actor: str) -> None:
    session = p.session_names[SESSION]
    p.decisions[x.decision] = entities.Decision(
        x.decision,
        at,
        x.title,
        x.choice,
        x.rationale,
        step=x.step,
        agent=actor,
        session=session,
    )


def _tokens_used(p: Project, x: e.TokensUsed, at: int, actor: str) -> None:
    for sums, key in ((p.tokens, actor), (p.tokens_by_step, x.step)):
        old = sums.get(key, entities.Tokens())
        sums[key] = entities.Tokens(
            old.input + x.input, old.output + x.output, old.cached + x.cached
        )


def _files_changed(p: Project, x: e.FilesChanged, at: int, actor: str) -> None:
    session = p.session_names[SESSION]
    p.files[x.path] = entities.File(
        x.path, x.change, at, x.digest, x.description, x.step, actor, session
    )
    p.manifest[entities.manifest_key(x.step, x.path)] = p.files[x.path]


_FOLDS: dict[str, Callable[[Project, Any, int, str], None]] = {
    "project.opened": _opened,
    "session.started": _session_started,
    "step.started": _step_started,
    "finding.opened": _finding_opened,
    "finding.resolved": _finding_resolved,
    "decision.made": _decision_made,
    "tokens.used": _tokens_used,
    "files.changed": _files_changed,
}
