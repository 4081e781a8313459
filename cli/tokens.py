"""Tokens: record what a call cost, show what they cost in all."""

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from cli import options, output
from cli.answers import TokensAnswer, TokenSum, answers
from cli.group import group
from cli.recording import chosen, opened, recording
from cli.screen import Cell, bar, table
from journal import events as e
from journal.entities import Project, Tokens
from journal.errors import Invalid

#: No call costs more, and no reader of JSON mistakes it for another number.
_MOST = 2**53

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
    input: Annotated[int, typer.Option("--input", help="Tokens sent.")] = 0,
    output: Annotated[int, typer.Option("--output", help="Tokens received.")] = 0,
    cached: Annotated[int, typer.Option("--cached", help="Tokens from a cache.")] = 0,
    agent: options.Agent = "",
    step: options.AtStep = "",
) -> e.Event:
    """Record what one call to a model cost.

    Example: passdown tokens record --input 1200 --output 300 --actor coder
    """
    for word, count in (("input", input), ("output", output), ("cached", cached)):
        if not 0 <= count <= _MOST:
            raise Invalid(
                f"--{word} {str(count)[:40]} cannot be what one call cost; it is 0 to {_MOST:,}"
            )
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
    total = _whole("total", agents)
    rest = _less(total, _whole("", steps))
    if any(_amounts(rest)):
        steps.append(rest)
    answer = TokensAnswer(state.slug, total, agents, steps)
    if as_json:
        output.document(answer)
        return
    if not agents:
        output.line(f"{state.slug}: no tokens recorded")
        return
    head = [Cell(word, "dim") for word in ("agent", "input", "output", "cached", "share")]
    rows = [head, *(_row(each, total) for each in agents)]
    if state.tokens_by_step:
        rows.append([Cell("phase" if state.execution else "step", "dim"), *[Cell("")] * 4])
        rows += [_row(each, total, _titled(state, each.name)) for each in steps]
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


def _whole(name: str, parts: Sequence[TokenSum]) -> TokenSum:
    columns = zip(*map(_amounts, parts), strict=True) if parts else ((), (), ())
    return TokenSum(name, *map(sum, columns))


def _less(whole: TokenSum, part: TokenSum) -> TokenSum:
    """What of a whole is nobody's."""
    left = (a - b for a, b in zip(_amounts(whole), _amounts(part), strict=True))
    return TokenSum("", *left)


def _titled(state: Project, key: str) -> str:
    """A step as people know it."""
    step = state.steps.get(key)
    return f"{key} {step.name}" if step else key


def _sums(sums: Mapping[str, Tokens]) -> list[TokenSum]:
    found = [TokenSum(name, x.input, x.output, x.cached) for name, x in sums.items()]
    return sorted(found, key=lambda each: (-sum(_amounts(each)), each.name))


def _amounts(each: TokenSum) -> tuple[int, int, int]:
    return each.input, each.output, each.cached


def _row(each: TokenSum, total: TokenSum, name: str = "") -> list[Cell]:
    share, whole = sum(_amounts(each)), sum(_amounts(total))
    percent = 100 * share // whole if whole else 0
    part = f"{bar(share, whole)} {percent if percent or not share else '<1':>3}%"
    amounts = (Cell(f"{n:,}") for n in _amounts(each))
    return [Cell(name or each.name or "-"), *amounts, Cell(part, "cyan")]
