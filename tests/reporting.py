"""Projects whose history is worth a report: the story of two days, and 10,000 hostile events."""

import random
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from msgspec import Meta, Struct
from strategies import MINUTE, START

from journal import Handle, Journal
from journal import events as e
from journal.payload import encode
from journal.record import GENESIS, Draft
from journal.workflows import load

#: Longer than any text that is shown whole at once.
HUGE = "x" * 50_000 + "</script><script>hacked('huge')</script>" + "\u202e" * 25_000
#: Would run, if anything did; every one of them says who let it.
HOSTILE = (
    "<script>hacked('element')</script>",
    "</script><script>hacked('end')</script>",
    "\"><img src=x onerror=hacked('image')>",
    "'; hacked('quote'); //",
    "<!--<script>",
    "]]><svg onload=hacked('svg')>",
    "javascript:hacked('link')",
    "{script} {data} {policy} {style}",
    "abc \u202e txt.exe \u2066 \u200f \u0085 \x1b[31m \ufeff \u2028 end",
    "__proto__",
    "constructor",
    "${hacked('template')}",
)


class Clock:
    """A clock that is set by whoever tells the story."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        return self.now

    def wait(self, minutes: float) -> None:
        """Let time go by."""
        self.now += int(minutes * MINUTE)


def story(folder: Path) -> Journal:
    """A project with a bit of everything, over two days."""
    clock = Clock()
    journal = Journal.create(folder, clock)
    handle = journal.open_project(
        "web-shop",
        "apex",
        title="Web shop landing zone",
        branch="feature/landing-zone",
        actor="orchestrator",
    )
    for minutes, actor, session, event in _story():
        clock.wait(minutes)
        handle.append(event, actor=actor or None, session=session or None)
    return journal


def _story() -> Iterator[tuple[float, str, str, e.Event]]:
    rng = random.Random(7)
    boss, need, arch, code = "orchestrator", "02-Requirements", "03-Architect", "06b-Bicep CodeGen"

    def spend(agent: str, session: str, step: str, times: int) -> Iterator[Any]:
        for _ in range(times):
            cost = rng.randint(4_000, 30_000), rng.randint(400, 4_000), rng.randint(0, 9_000)
            yield rng.uniform(4, 22), agent, session, e.TokensUsed(*cost, step=step)

    yield 4, need, "", e.SessionStarted(name="morning-brief")
    yield 1, need, "session-001", e.StepStarted("1")
    yield from spend(need, "session-001", "1", 6)
    yield (
        3,
        need,
        "session-001",
        e.DecisionMade(
            "Region",
            rationale="Customer data has to stay in the EU, and the team runs there already.",
            key="region",
            value="swedencentral",
            alternatives=("westeurope", "germanywestcentral"),
            impact="Zone redundancy is available; latency to Madrid is 48 ms.",
            kind="constraint",
            reversible=False,
            step="1",
        ),
    )
    yield 9, need, "session-001", e.QuestionOpened("Who signs off the budget?", "kick-off", "1")
    yield (
        2,
        need,
        "session-001",
        e.FilesChanged(
            "agent-output/web-shop/01-requirements.md",
            "created",
            "",
            "Requirements, 14 of them",
            "1",
        ),
    )
    yield (
        11,
        need,
        "session-001",
        e.StepCompleted(
            "1",
            ("agent-output/web-shop/01-requirements.md",),
            summary="14 requirements, 3 open points",
        ),
    )
    yield 2, need, "session-001", e.SessionEnded(completed=("requirements",))
    yield 35, arch, "", e.SessionStarted(name="architecture")
    yield 2, arch, "session-002", e.StepStarted("2")
    yield from spend(arch, "session-002", "2", 9)
    yield 5, arch, "session-002", e.StepCheckpointed("2", "phase_1_prereqs")
    yield (
        22,
        arch,
        "session-002",
        e.DecisionMade(
            "Front door",
            "Azure Front Door Premium",
            "Private link to the origins is only in Premium, and the WAF rules are managed.",
            alternatives=("Application Gateway", "Front Door Standard"),
            kind="architecture",
            step="2",
        ),
    )
    yield (
        14,
        arch,
        "session-002",
        e.FindingOpened(
            "Key Vault allows public access", "must_fix", "2", "networkAcls.defaultAction is Allow"
        ),
    )
    yield 3, arch, "session-002", e.FindingOpened("Tags lack a cost centre", "should_fix", "2")
    yield (
        48,
        arch,
        "session-002",
        e.BlockerRaised("No quota for P1v3 in swedencentral", ("step 6",)),
    )
    yield 160, boss, "", e.SessionCrashed("session-002", "no progress for 2 hours")
    yield 590, arch, "", e.SessionStarted(name="architecture-again", continues="session-002")
    yield 3, arch, "session-003", e.SessionNoted("The first session died after the prerequisites.")
    yield from spend(arch, "session-003", "2", 7)
    yield 6, arch, "session-003", e.FindingResolved("F001", "private endpoint, public access off")
    yield 8, arch, "session-003", e.StepCheckpointed("2", "phase_2_waf")
    yield 20, arch, "session-003", e.StepCompleted("2", summary="WAF assessment 4.1 of 5")
    yield 1, arch, "session-003", e.SessionEnded(completed=("architecture",))
    yield 5, boss, "", e.StepSkipped("3", "no diagrams wanted for a landing zone")
    yield 4, "04g-Governance", "", e.SessionStarted(name="governance")
    yield 1, "04g-Governance", "session-004", e.StepStarted("3_5")
    yield from spend("04g-Governance", "session-004", "3_5", 4)
    yield (
        7,
        "04g-Governance",
        "session-004",
        e.StepFailed(
            "3_5", "policy definitions could not be listed: AuthorizationFailed", "dependency"
        ),
    )
    yield 30, boss, "", e.StepRestarted("3_5", "retry", "reader role granted at the root group")
    yield from spend("04g-Governance", "session-004", "3_5", 3)
    yield 5, "04g-Governance", "session-004", e.StepCompleted("3_5", summary="31 policies apply")
    yield 1, "04g-Governance", "session-004", e.SessionEnded()
    yield 380, "05-IaC Planner", "", e.SessionStarted(name="planning")
    yield 2, "05-IaC Planner", "session-005", e.StepStarted("4")
    yield (
        8,
        "05-IaC Planner",
        "session-005",
        e.DecisionMade(
            key="iac_tool", value="Bicep", rationale="The platform team maintains Bicep modules."
        ),
    )
    yield from spend("05-IaC Planner", "session-005", "4", 8)
    for n, title in enumerate(("Network module", "Key Vault module", "App Service module"), 1):
        yield 4, "05-IaC Planner", "session-005", e.TaskAdded(title, step="5", wave=n)
    yield 25, "05-IaC Planner", "session-005", e.StepCompleted("4", summary="3 modules, 2 waves")
    yield 1, "05-IaC Planner", "session-005", e.SessionEnded()
    yield 15, code, "", e.SessionStarted(name="codegen")
    yield 1, code, "session-006", e.StepStarted("5")
    yield 2, code, "session-006", e.TaskStarted("T001")
    yield from spend(code, "session-006", "5", 12)
    yield 6, code, "session-006", e.TaskCompleted("T001")
    yield 9, code, "session-006", e.ErrorRecorded("bicep build: BCP035 in kv.bicep", "validation")
    yield 12, code, "session-006", e.ErrorResolved("E002", "the property is called enableRbac")
    yield 8, code, "session-006", e.BlockerResolved("block-001", "quota raised to 20 cores")
    yield 3, code, "session-006", e.TaskStarted("T002")
    yield from spend(code, "session-006", "5", 5)
    yield (
        5,
        code,
        "session-006",
        e.BlockerRaised("The private DNS zone belongs to the hub team", ("step 5",)),
    )
    yield (
        2,
        boss,
        "",
        e.DecisionMade(
            "SKU of the App Service plan",
            "P0v3",
            "P1v3 doubles the price for load we do not have.",
            reversible=True,
            kind="trade_off",
        ),
    )
    yield 6, code, "session-006", e.NextActionSet("Finish the Key Vault module, then its tests.")


def hostile(folder: Path, count: int = 10_000) -> Journal:
    """A project with so many events of every type, with hostile text wherever text may stand."""
    journal = Journal.create(folder, Clock())
    rng = random.Random(count)
    kinds = [cls for cls in e.VOCABULARY.values() if cls is not e.ProjectOpened]
    opened = e.ProjectOpened(HOSTILE[1], "apex", load("apex").steps)
    events = [opened, *(_made(kinds[n % len(kinds)], rng, n) for n in range(count - 1))]
    version, previous = 0, GENESIS
    for start in range(0, count, 1000):
        drafts = [
            Draft(
                f"01940000-0000-7000-8000-{start + n:012}",
                event.type,
                encode(event),
                bytes(16),
                START + (start + n) * MINUTE,
                rng.choice(HOSTILE),
                rng.choice(HOSTILE),
            )
            for n, event in enumerate(events[start : start + 1000])
        ]
        records = journal.store.append("hostile", version, drafts, previous)
        version, previous = records[-1].version, records[-1].hash
    return journal


def _made(cls: type[e.Event], rng: random.Random, number: int) -> e.Event:
    """An event of a type with hostile text wherever text may stand."""
    hints = get_type_hints(cls, include_extras=True)
    given = {name: _value(hints[name], rng) for name in cls.__struct_fields__}
    own = cls.type.partition(".")[0]
    if own in given and hints[own] is str:  # what it is about comes again now and then
        given[own] = f"{rng.choice(HOSTILE)} {rng.randrange(max(number // 40, 1))}"
    if "step" in given:
        given["step"] = rng.choice(("1", "2", "3_5", "5"))
    if number % 500 == 7:
        long = next((name for name in given if hints[name] in (str, e.Text)), "")
        given |= {long: HUGE} if long and long != own and long != "step" else {}
    return cls(**given)


def _value(hint: Any, rng: random.Random) -> Any:
    """Any value of a type, hostile where that is text."""
    origin, args = get_origin(hint), get_args(hint)
    match hint:
        case _ if hint == e.Json:
            return {rng.choice(HOSTILE): [rng.choice(HOSTILE), 1, None]}
        case _ if origin is Annotated:
            pattern = next((x.pattern for x in args[1:] if isinstance(x, Meta) and x.pattern), "")
            if "{64}" in pattern:
                return "0" * 64
            if "REV" in pattern:
                return "REV-20260208-parser-01-h1a2b3c4d"
            if "0-9" in pattern:
                return "3_5"
            return 1 if args[0] in (int, float) else _value(args[0], rng).replace("\x1b", "")[:99]
        case _ if origin is Literal:
            return rng.choice(args)
        case _ if origin in (Union, UnionType):
            return _value(args[0], rng)
        case _ if origin is tuple and args[-1] is not ...:
            return tuple(_value(each, rng) for each in args)
        case _ if origin is tuple:
            return tuple(_value(args[0], rng) for _ in range(rng.randrange(3)))
        case _ if origin is dict:
            return {rng.choice(HOSTILE): _value(args[1], rng)}
        case _ if isinstance(hint, type) and issubclass(hint, Struct):
            inner = get_type_hints(hint, include_extras=True)
            return hint(**{name: _value(inner[name], rng) for name in hint.__struct_fields__})
        case _ if hint is bool:
            return rng.random() < 0.5
        case _ if hint in (int, float):
            return 1
        case _:
            return rng.choice(HOSTILE)


def handle_of(journal: Journal) -> Handle:
    """The handle on the only project."""
    [slug] = journal.projects()
    return journal.project(slug)
