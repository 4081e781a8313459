"""Findings: open, resolve."""

from typing import Annotated

import typer

from cli import options
from cli.group import group
from cli.recording import recording
from journal import events as e

findings = group("Open and resolve findings.")


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    app.add_typer(findings, name="finding")


@recording(findings, "open")
def open_finding(
    title: Annotated[str, typer.Argument(help="What is wrong.")],
    severity: Annotated[e.Severity, typer.Option("--severity", help="How bad.")] = "must_fix",
    detail: Annotated[str, typer.Option("--detail", help="More about it.")] = "",
    step: options.AtStep = "",
) -> e.Event:
    """Record that something is wrong with work that was produced.

    Example: passdown finding open "Key Vault allows public access"
    """
    return e.FindingOpened(title, severity, step, detail)


@recording(findings, "resolve")
def resolve_finding(
    finding: Annotated[str, typer.Argument(help="The finding's id, such as F001.")],
    resolution: Annotated[str, typer.Option("--resolution", "-r", help="What was done.")] = "",
) -> e.Event:
    """Record that a finding was dealt with.

    Example: passdown finding resolve F001 --resolution "private endpoint added"
    """
    return e.FindingResolved(finding, resolution)
