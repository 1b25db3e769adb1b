"""Arguments and options that several commands share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from factcheck.runtime.budget import Budget

OUTPUT = "Output"
LIMITS = "Limits"
FAMILY: dict[str, Any] = {"rich_markup_mode": "rich", "invoke_without_command": True}
"""Settings of a command with subcommands."""


@dataclass
class Invocation:
    """State of one run of the program, whatever the command."""

    debug: bool = False
    """Whether errors come with their traceback."""


class Format(str, Enum):
    """Format of a report."""

    TABLE = "table"
    MARKDOWN = "markdown"
    HTML = "html"
    JUNIT = "junit"
    JSON = "json"
    CSV = "csv"


class Direction(str, Enum):
    """Direction in which two texts are compared."""

    COVERAGE = "coverage"
    BOTH = "both"


def show_help(context: typer.Context) -> None:
    """Show the help of a command that was called without a subcommand."""
    if context.invoked_subcommand is None and (text := context.get_help()):
        typer.echo(text)


def budget(
    max_calls: int | None, max_tokens: int | None, max_cost_usd: float | None
) -> Budget | None:
    """The limits on spending; `None` if there are none."""
    if max_calls is None and max_tokens is None and max_cost_usd is None:
        return None
    from factcheck.runtime.budget import Budget

    return Budget(max_calls=max_calls, max_tokens=max_tokens, max_cost_usd=max_cost_usd)


def _set_debug(context: typer.Context, value: bool) -> bool:  # noqa: FBT001 - an option's callback
    if value:
        context.ensure_object(Invocation).debug = True
    return value


def fail_under(help_text: str, metavar: str = "SHARE") -> Any:
    """The option for the threshold of a gate."""
    return typer.Option("--fail-under", metavar=metavar, help=help_text, rich_help_panel=OUTPUT)


def examples(help_text: str) -> Any:
    """The option for the number of examples in a report."""
    return typer.Option("--examples", metavar="N", min=0, help=help_text, rich_help_panel=OUTPUT)


DEBUG: Any = typer.Option(
    "--debug",
    callback=_set_debug,
    is_eager=True,
    help="Show a traceback when an error occurs.",
)
Debug = Annotated[bool, DEBUG]

Judge = Annotated[
    str | None,
    typer.Option(
        "--judge",
        metavar="JUDGE",
        help="Judge: local, PROVIDER/MODEL or replay:FILE.",
        show_default="$FACTCHECK_JUDGE or local",
    ),
]
Judges = Annotated[
    list[str] | None,
    typer.Option(
        "--judge",
        metavar="JUDGE",
        help="Judge: local, PROVIDER/MODEL or replay:FILE; repeatable.",
        show_default="$FACTCHECK_JUDGE or local",
    ),
]
Extractor = Annotated[
    str | None,
    typer.Option(
        "--extractor",
        metavar="MODEL",
        help="Extractor: local, PROVIDER/MODEL or replay:FILE.",
        show_default="$FACTCHECK_EXTRACTOR or the judge",
    ),
]
Both = Annotated[
    Direction,
    typer.Option(
        "--direction",
        metavar="WAY",
        help="coverage, or both to also list claims the source does not support.",
    ),
]
BatchSize = Annotated[
    int,
    typer.Option(
        "--batch-size",
        metavar="N",
        min=1,
        max=100,
        help="Facts per request to a language model.",
        rich_help_panel=LIMITS,
    ),
]
MaxCalls = Annotated[
    int | None,
    typer.Option(
        "--max-calls", metavar="N", help="Maximum number of requests.", rich_help_panel=LIMITS
    ),
]
MaxTokens = Annotated[
    int | None,
    typer.Option(
        "--max-tokens", metavar="N", help="Maximum number of tokens.", rich_help_panel=LIMITS
    ),
]
MaxCost = Annotated[
    float | None,
    typer.Option(
        "--max-cost-usd", metavar="X", help="Maximum cost in US dollars.", rich_help_panel=LIMITS
    ),
]
ReportFormat = Annotated[
    Format | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="table, markdown, html, junit, json or csv.",
        show_default="by the suffix of --out, or table",
        rich_help_panel=OUTPUT,
    ),
]
PrintFormat = Annotated[
    Format,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="table, markdown, html, junit, json or csv.",
        rich_help_panel=OUTPUT,
    ),
]
Out = Annotated[
    str | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Write the report to FILE and print one line.",
        rich_help_panel=OUTPUT,
    ),
]
