"""Two projects that the golden files show: one just opened, one in the middle of everything."""

from strategies import APEX_STEPS, Chain

from journal import events as e
from journal.state import Project

_FOLDER = "agent-output/orchard-market"


def fresh() -> Project:
    """A project that was opened a moment ago."""
    return Chain("orchard-market").add(_opened(), "conductor").project


def rich() -> Project:
    """A project with something in every corner: failed in step 5, blocked, crashed and resumed."""
    chain = Chain("orchard-market").add(_opened(), "conductor")
    _first_session(chain)
    _second_session(chain)
    _third_session(chain)
    return chain.project


def _opened() -> e.ProjectOpened:
    return e.ProjectOpened(
        "Orchard Market", "apex", APEX_STEPS, native="init-7f3a", branch="feature/orchard_market"
    )


def _first_session(chain: Chain) -> None:
    def add(event: e.Event) -> None:
        chain.add(event, "worker-abc", "session-001")

    add(e.SessionStarted(agent="worker-abc", session="session-001"))
    add(e.StepStarted("1"))
    add(e.DecisionMade(key="region", value="northeurope", decision="D001", step="1"))
    add(e.DecisionMade(key="budget", value="<$50/month", decision="D002", step="1"))
    add(e.DecisionMade(key="compliance", value=["GDPR", "PCI DSS"], decision="D003", step="1"))
    add(e.StepCheckpointed("1", "phase_5_artifact", (f"{_FOLDER}/01-requirements.md",)))
    add(e.StepCompleted("1"))
    add(e.StepStarted("2"))
    add(
        e.DecisionMade(
            title="Where the catalogue is stored",
            choice="One managed PostgreSQL, zone-redundant",
            rationale="Orders and stock change in one transaction",
            alternatives=("Document store: no transaction across stock and orders",),
            impact="Step 4 plans a private endpoint",
            reversible=False,
            kind="architecture",
            step="2",
            decision="D004",
        )
    )
    add(e.DecisionMade(key="complexity", value="high", decision="D005", step="2"))
    add(e.DecisionMade("Cache", "None for now", "Traffic is small", decision="D006", step="2"))
    add(e.ReviewRecorded("2", "standard", 2, 1, ("pass 2",), ("no findings",), ("reviewer-a",)))
    add(
        e.StepCompleted(
            "2", (f"{_FOLDER}/02-architecture-assessment.md", f"{_FOLDER}/03-cost-estimate.md")
        )
    )
    add(e.StepSkipped("3", "the sketch of step 2 is enough"))
    add(e.ContextNoted("skill", "Names follow the pattern {type}-{workload}-{env}"))
    add(e.ContextNoted("skill", "Tags are enforced by policy", file="docs/tagging_rules.md"))
    add(
        e.SessionEnded(
            "session-001",
            completed=("Step 1: Requirements", "Step 2: Architecture"),
            issues=("Prices for one region were missing: used the neighbour's",),
            notes="Clean run otherwise",
            context_usage=0.62,
            handoff_reason="Context limit near",
        )
    )


def _second_session(chain: Chain) -> None:
    def add(event: e.Event) -> None:
        chain.add(event, "worker-def", "session-002")

    add(e.SessionStarted(agent="worker-def", session="session-002"))
    add(e.StepStarted("3_5"))
    add(e.StepCompleted("3_5", (f"{_FOLDER}/04-governance-constraints.json",)))
    add(e.StepStarted("4"))
    add(e.DecisionMade(key="iac_tool", value="Bicep", decision="D007", step="4"))
    add(
        e.DecisionMade(
            "Cache", "A small Redis", "The load test asked for it", decision="D008", step="4"
        )
    )
    add(e.DecisionSuperseded("D006", "D008"))
    add(e.StepCompleted("4", (f"{_FOLDER}/04-implementation-plan.md",)))
    add(e.StepStarted("5"))
    add(e.PlanAdded("5", "Network first", 1, "5-1"))
    add(e.PlanStarted("5-1"))
    for number, title in enumerate(
        ("Virtual network", "Private endpoints", "Payment gateway", "Stub for payments"), start=1
    ):
        add(e.TaskAdded(title, f"T{number:03}", "5", "5-1", wave=1 if number < 3 else 2))
    add(e.TaskStarted("T001"))
    add(e.TaskCompleted("T001"))
    add(e.TaskStarted("T002"))
    add(e.FilesChanged("infra/network.bicep", "created"))
    add(e.FilesChanged("infra/old.bicep", "deleted"))
    add(e.SessionCrashed("session-002", "No sign of life for 30 minutes, task reset"))
    add(e.TaskReset("T002"))


def _third_session(chain: Chain) -> None:
    def add(event: e.Event) -> None:
        chain.add(event, "worker-ghi", "evening run")

    add(
        e.SessionStarted(
            agent="worker-ghi",
            name="evening run",
            note="Resuming after the crash",
            continues="session-002",
            session="session-003",
        )
    )
    add(e.TaskStarted("T002"))
    add(e.FilesChanged("infra/private endpoints.bicep", "created"))
    add(e.FilesChanged("infra/main.bicep"))
    add(
        e.StepCheckpointed(
            "5",
            "phase_2_scaffold",
            ("infra/main.bicep", "infra/network.bicep"),
            (f"{_FOLDER}/04-implementation-plan.md",),
        )
    )
    add(
        e.BlockerRaised(
            "The payment provider has not sent test credentials",
            ("Step 6: Deploy",),
            ("T003",),
            "block-001",
        )
    )
    add(e.BlockerRaised("No icons yet", ("Step 7: As-Built",), blocker="block-002"))
    add(e.BlockerBypassed("block-002", "Plain boxes, replaced later", ("T004",)))
    add(e.FindingOpened("Storage account allows public access", finding="F001", step="5"))
    add(e.FindingOpened("Naming differs from step 4", "consider", finding="F002", step="5"))
    add(
        e.FindingOpened(
            "Key Vault without purge protection\n## Artifacts <script>alert(1)</script> -->",
            finding="F003",
            step="5",
        )
    )
    add(e.QuestionOpened("Who owns the DNS zone?", question="OQ-001"))
    add(e.ContextNoted("implementation", "Every module takes `tags` and passes them on"))
    add(e.ContextNoted("implementation", 'Private endpoints are named "pe-<service>": see T002'))
    add(e.NextActionSet("Mend the subnet range in main.bicep.\nThen retry step 5.\n"))
    add(e.StepFailed("5", "Lint found an overlapping subnet range", "validation", error="E001"))
