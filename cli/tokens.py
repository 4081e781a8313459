"""Tokens: record what a call cost, show what they cost in all."""

from collections.abc import Mapping
from typing import Annotated

import typer

from cli import options, output
from cli.answers import TokensAnswer, TokenSum, answers
from cli.group import group
from cli.recording import chosen, opened, recording
from cli.screen import Cell, bar, table
from journal import events as e
from journal.entities import Tokens

tokens = group(
    "Show what calls to models cost, in all, by agent and by step; or record it.\n\n"
    "Example: passdown tokens"
)


def register(app: typer.Typer) -> None:
    """Add these commands to the app."""
    tokens.callback(invoke_without_command=True)(show_tokens)
    app.add_typer(tokens, name="tokens")


@recording(tokens, "record")
def record_tokens(
    input: Annotated[int, typer.Option("--input", min=0, help="Tokens sent.")] = 0,
    output: Annotated[int, typer.Option("--output", min=0, help="Tokens received.")] = 0,
    cached: Annotated[int, typer.Option("--cached", min=0, help="Tokens from a cache.")] = 0,
    agent: options.Agent = "",
    step: options.AtStep = "",
) -> e.Event:
    """Record what one call to a model cost.

    Example: passdown tokens record --input 1200 --output 300 --actor coder
    """
    return e.TokensUsed(input, output, cached, agent, step)


@answers(TokensAnswer)
def show_tokens(
    context: typer.Context, project: options.Project = "", as_json: options.AsJson = False
) -> None:
    """Show the sums, where no other command is asked for."""
    if command := context.invoked_subcommand:
        _refuse_options(context, command)
        return
    with opened() as (_, journal):
        state = chosen(journal, project).state
    agents, steps = _sums(state.tokens), _sums(state.tokens_by_step)
    total = TokenSum(
        "total",
        sum(each.input for each in agents),
        sum(each.output for each in agents),
        sum(each.cached for each in agents),
    )
    answer = TokensAnswer(state.slug, total, agents, steps)
    if as_json:
        output.document(answer)
        return
    if not agents:
        output.line(f"{state.slug}: no tokens recorded")
        return
    head = [Cell(word, "dim") for word in ("agent", "input", "output", "cached", "share")]
    rows = [head, *(_row(each, total) for each in agents)]
    if steps:
        rows.append([Cell("step", "dim"), *[Cell("")] * 4])
        rows += [_row(each, total) for each in steps]
    rows.append([Cell(cell.text, "bold") for cell in _row(total, total)])
    for line in table(rows, right=(1, 2, 3)):
        output.line(line)


def _refuse_options(context: typer.Context, command: str) -> None:
    """What stands in front of a command of the group would be for nothing."""
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if source and source.name == "COMMANDLINE":
            name = option.opts[0]
            raise typer.BadParameter(
                f"{name} belongs behind the command: passdown tokens {command} … {name}", context
            )


def _sums(sums: Mapping[str, Tokens]) -> list[TokenSum]:
    found = [TokenSum(name, x.input, x.output, x.cached) for name, x in sums.items()]
    return sorted(found, key=lambda each: (-sum(_amounts(each)), each.name))


def _amounts(each: TokenSum) -> tuple[int, int, int]:
    return each.input, each.output, each.cached


def _row(each: TokenSum, total: TokenSum) -> list[Cell]:
    share, whole = sum(_amounts(each)), sum(_amounts(total))
    part = f"{bar(share, whole)} {100 * share // whole if whole else 0:>3}%"
    return [Cell(each.name or "-"), *(Cell(f"{n:,}") for n in _amounts(each)), Cell(part, "cyan")]
