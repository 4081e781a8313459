"""Events as a person would say them, one line each."""

from collections.abc import Callable
from typing import Any

from cli.output import plain
from journal import events as e
from projections.values import as_text

_WORDS: dict[type[e.Event], Callable[[Any], str]] = {
    e.ProjectOpened: lambda x: f"project opened: {x.title} ({x.workflow}, {_opened(x)})",
    e.ProjectAdopted: lambda x: f"adopted {x.source}{_because(x.note)}",
    e.LeftoversKept: lambda x: f"kept {_values(x)} of a file",
    e.ProjectArchived: lambda x: f"project archived{_because(x.reason)}",
    e.ProjectAborted: lambda x: f"project aborted{_because(x.reason)}",
    e.ProjectReopened: lambda x: "project reopened",
    e.ProjectRetitled: lambda x: f"title is now {x.title}",
    e.BranchSwitched: lambda x: f"branch is now {x.branch}",
    e.ExecutionChosen: lambda x: f"executed as {_execution(x.execution)}",
    e.DocumentRecorded: lambda x: f"{x.kind} document is {x.path}",
    e.GatePassed: lambda x: f"gate passed: {x.gate}",
    e.ProjectRecovered: lambda x: f"recovered {x.what}: {_recovered(x)}",
    e.ActorRegistered: lambda x: f"{x.actor} registered as {x.role}",
    e.ActorStatusChanged: lambda x: f"{x.actor} is {x.status}",
    e.StepPlanned: lambda x: f"step {x.plan.key} planned: {x.plan.name}",
    e.StepStarted: lambda x: f"step {x.step} started",
    e.StepAdjusted: lambda x: f"step {x.step} adjusted{_because(x.reason)}",
    e.StepCheckpointed: lambda x: f"step {x.step} reached {x.checkpoint}{_files(x)}",
    e.StepCompleted: lambda x: f"step {x.step} complete{_files(x)}",
    e.StepSkipped: lambda x: f"step {x.step} skipped{_because(x.reason)}",
    e.StepFailed: lambda x: f"step {x.step} failed ({x.error}, {x.kind}): {x.message}",
    e.StepRestarted: lambda x: f"step {x.step}: {x.mode}{_because(x.reason)}",
    e.StepAdopted: lambda x: f"step {x.step} is {x.status} according to the file",
    e.StepVerified: lambda x: f"step {x.step} verified: {'pass' if x.passed else 'fail'}",
    e.StepReconciled: lambda x: f"step {x.step} reconciled",
    e.StepOutputRecorded: lambda x: f"output of step {x.step}: {x.text}",
    e.PlanAdded: lambda x: f"plan {x.plan} added: {x.name}",
    e.PlanStarted: lambda x: f"plan {x.plan} started",
    e.PlanCompleted: lambda x: f"plan {x.plan} complete",
    e.TaskAdded: lambda x: f"task {x.task} added: {x.title}",
    e.TaskCounted: lambda x: f"step {x.step} has {x.total} tasks, {x.done} done",
    e.TaskClaimed: lambda x: f"task {x.task} claimed",
    e.TaskStarted: lambda x: f"task {x.task} started",
    e.TaskCompleted: lambda x: f"task {x.task} done",
    e.TaskBlocked: lambda x: f"task {x.task} blocked by {x.blocker}",
    e.TaskUnblocked: lambda x: f"task {x.task} unblocked",
    e.TaskReset: lambda x: f"task {x.task} reset{_because(x.reason)}",
    e.DecisionMade: lambda x: f"{x.decision} decided: {_decision(x)}",
    e.DecisionSuperseded: lambda x: f"{x.decision} superseded by {x.by or 'nothing'}",
    e.FindingOpened: lambda x: f"{x.finding} opened ({x.severity}): {x.title}",
    e.FindingResolved: lambda x: f"{x.finding} resolved{_because(x.resolution)}",
    e.ReviewRecorded: lambda x: f"review of step {x.step}: {x.passes_executed} passes",
    e.ErrorRecorded: lambda x: f"{x.error} ({x.kind}): {x.message}",
    e.ErrorResolved: lambda x: f"{x.error} resolved{_because(x.resolution)}",
    e.BlockerRaised: lambda x: f"{x.blocker} raised: {x.description}",
    e.BlockerBypassed: lambda x: f"{x.blocker} bypassed: {x.workaround}",
    e.BlockerResolved: lambda x: f"{x.blocker} resolved{_because(x.resolution)}",
    e.FilesChanged: lambda x: f"{x.path} {x.change}",
    e.TokensUsed: lambda x: f"tokens: {x.input} in, {x.output} out, {x.cached} cached",
    e.SessionStarted: lambda x: f"{x.session} started{_by(x.agent)}",
    e.SessionResumed: lambda x: f"{x.session} goes on",
    e.SessionHeartbeat: lambda x: f"{x.session} is alive",
    e.SessionNoted: lambda x: f"{x.session} {x.kind}: {x.text}",
    e.SessionEnded: lambda x: f"{x.session} ended{_because(x.handoff_reason)}",
    e.SessionCrashed: lambda x: f"{x.session} crashed{_because(x.reason)}",
    e.BriefShown: lambda x: f"brief of version {x.version} shown{_shown(x)}",
    e.QuestionOpened: lambda x: f"{x.question} asked: {x.text}",
    e.QuestionDeferred: lambda x: f"{x.question} deferred{_because(x.reason)}",
    e.QuestionResolved: lambda x: f"{x.question} answered{_because(x.resolution)}",
    e.NextActionSet: lambda x: f"next: {x.text or 'nothing'}",
    e.ContextNoted: lambda x: f"context ({x.kind}): {x.text}",
    e.DriftAdopted: lambda x: f"the edit of {x.path} was adopted",
    e.LeaseAcquired: lambda x: f"lease on {_leased(x)} acquired{_by(x.agent)}, token {x.token}",
    e.LeaseRenewed: lambda x: f"lease on step {x.step} renewed",
    e.LeaseReleased: lambda x: f"lease {_on(x)} released{_because(x.reason)}",
    e.LeaseExpired: lambda x: f"lease {_on(x)} expired, it was held{_by(x.agent)}",
    e.TurnRequested: lambda x: f"{x.turn} asked for{_by(x.agent)}: {x.action}",
    e.TurnTaken: lambda x: f"{x.turn} taken",
    e.TurnWithdrawn: lambda x: f"{x.turn} withdrawn{_because(x.reason)}",
    e.TurnMoved: lambda x: f"{x.turn} moved {f'before {x.before}' if x.before else 'to the end'}",
    e.SignalSent: lambda x: f"{x.signal} {x.kind}{_by(x.agent)} to {x.to}{_because(x.detail)}",
    e.PhaseAdvanced: lambda x: f"phase is now {x.phase}{f', step {x.step}' if x.step else ''}",
    e.EscalationRaised: lambda x: f"{x.escalation} raised: {x.subject}{_because(x.reason)}",
    e.EscalationAnswered: lambda x: f"{x.escalation} answered: {x.answer}",
    e.MessagePosted: lambda x: f"{x.message} posted{_by(x.agent)} to {x.to}: {x.subject}",
    e.MessageAcknowledged: lambda x: f"{x.message} acknowledged{_because(x.reason)}",
    e.MessageBlocked: lambda x: f"{x.message} blocked{_because(x.reason)}",
    e.MessageResumed: lambda x: f"{x.message} resumed{_because(x.reason)}",
    e.MessageActioned: lambda x: f"{x.message} actioned{_because(x.reason)}",
    e.MessageDeferred: lambda x: f"{x.message} deferred{_because(x.reason)}",
    e.MessageClosed: lambda x: f"{x.message} closed as {x.disposition}{_because(x.reason)}",
    e.CommitmentMade: lambda x: f"{x.commitment} promised{_by(x.agent)}: {x.text}",
    e.CommitmentFulfilled: lambda x: f"{x.commitment} fulfilled{_because(x.note)}",
    e.CommitmentDropped: lambda x: f"{x.commitment} dropped{_because(x.reason)}",
    e.SnapshotTaken: lambda x: f"snapshot {x.token} taken{_by(x.agent)} ({x.close_reason})",
    e.WorklogEntryLogged: lambda x: f"{x.entry} logged{_by(x.agent)}: {x.title}",
    e.WorklogEntryCompleted: lambda x: f"{x.entry} completed{_because(x.note)}",
    e.WorklogCompacted: lambda x: f"worklog compacted{_by(x.approved_by)}: {', '.join(x.entries)}",
    e.RecordRedacted: lambda x: f"redacted {_versions(x)}: {x.reason}",
    e.DriftReverted: lambda x: f"{x.path} put back to what the journal says",
}


def describe(event: e.Event, limit: int = 160) -> str:
    """What happened, on one line."""
    return plain(_WORDS[type(event)](event), limit)


def described() -> frozenset[type[e.Event]]:
    """The event classes that have words; a test holds this against the vocabulary."""
    return frozenset(_WORDS)


_COLOURS = {
    "green": (e.StepCompleted, e.PlanCompleted, e.TaskCompleted, e.FindingResolved, e.GatePassed),
    "red": (e.StepFailed, e.ErrorRecorded, e.SessionCrashed, e.BlockerRaised, e.TaskBlocked),
    "yellow": (e.FindingOpened, e.QuestionOpened, e.StepRestarted, e.StepSkipped, e.TaskReset),
}


def colour(event: e.Event) -> str:
    """How an event is painted, where it stands out."""
    if event.bookkeeping:
        return "dim"
    return next((name for name, kinds in _COLOURS.items() if isinstance(event, kinds)), "")


def _opened(x: e.ProjectOpened) -> str:
    shared = f", maintained by {x.coordination.maintainer}" if x.coordination else ""
    return f"{len(x.steps)} step{'' if len(x.steps) == 1 else 's'}{shared}"


def _by(agent: str) -> str:
    return f" by {agent}" if agent else ""


def _shown(x: e.BriefShown) -> str:
    left_out = sum(x.left_out.values())
    said = f" to {x.agent}" if x.agent else ""
    return f"{said}, {left_out:,} items left out" if left_out else said


def _values(x: e.LeftoversKept) -> str:
    kept = len(x.leftovers) + len(x.originals)
    return f"{kept:,} value{'' if kept == 1 else 's'}"


def _because(reason: str) -> str:
    return f": {reason}" if reason else ""


def _leased(x: e.LeaseAcquired) -> str:
    return f"step {x.step} for {x.seconds} s" if x.step else ", ".join(x.files)


def _on(x: e.LeaseReleased | e.LeaseExpired) -> str:
    return f"on step {x.step}" if x.step else x.token


def _execution(x: e.Execution) -> str:
    return ", ".join(filter(None, (getattr(x, name) for name in x.__struct_fields__)))


def _files(x: e.StepCheckpointed | e.StepCompleted) -> str:
    return f" ({', '.join(x.artifacts)})" if x.artifacts else ""


def _decision(x: e.DecisionMade) -> str:
    what = x.title or x.key
    chosen = x.choice or as_text(x.value)
    return f"{what} = {chosen}" if chosen else what


def _versions(x: e.RecordRedacted) -> str:
    named = ", ".join(str(each.version) for each in x.records[:8])
    more = f" and {len(x.records) - 8:,} more" if len(x.records) > 8 else ""
    return f"version{'' if len(x.records) == 1 else 's'} {named}{more}"


def _recovered(x: e.ProjectRecovered) -> str:
    return x.note or ", ".join(f"{file.path} (was {file.was})" for file in x.files)
