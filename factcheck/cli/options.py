"""Arguments and options shared by several commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from factcheck.errors import ConfigError, InputError

if TYPE_CHECKING:
    from factcheck.runtime.budget import Budget
    from factcheck.settings import Model

OUTPUT = "Output"
LIMITS = "Limits"
RECORDS = "Records"
FAMILY: dict[str, Any] = {"rich_markup_mode": "rich", "invoke_without_command": True}
"""Settings of a command group."""
Format = Literal["table", "markdown", "html", "junit", "json", "csv"]
Direction = Literal["coverage", "both"]


def show_help(context: typer.Context) -> None:
    """Show the help of a command group called without a subcommand."""
    if context.invoked_subcommand is None and (text := context.get_help()):
        typer.echo(text)


def budget(max_calls: int | None, max_cost_usd: float | None) -> Budget | None:
    if max_calls is None and max_cost_usd is None:
        return None
    from factcheck.runtime.budget import Budget

    return Budget(max_calls=max_calls, max_cost_usd=max_cost_usd)


def judge_with(judge: str | None, judge_options: list[str] | None) -> str | Model | None:
    """Apply the settings of `--judge-option`, if any, to a judge."""
    if not judge_options:
        return judge
    from factcheck.judges.factory import read_model
    from factcheck.settings import Settings

    settings = Settings.from_environment()
    try:
        return read_model(judge or settings.judge, settings, judge_options)
    except ConfigError as error:
        raise ConfigError(f"--judge-option: {error}") from error


def argument(metavar: str, help_text: str, **more: Any) -> Any:
    return typer.Argument(metavar=metavar, help=help_text, **more)


def option(name: str, metavar: str, help_text: str, panel: str | None = None, **more: Any) -> Any:
    return typer.Option(name, metavar=metavar, help=help_text, rich_help_panel=panel, **more)


def flag(name: str, help_text: str, panel: str | None = None, **more: Any) -> Any:
    return option(name, "", help_text, panel, **more)


def fail_under(help_text: str, metavar: str = "SHARE") -> Any:
    """Define the option for the threshold of a gate, in [0, 1]."""
    return option("--fail-under", metavar, help_text, OUTPUT, callback=_check_share)


def _check_share(value: float | None) -> float | None:
    if value is not None and not 0.0 <= value <= 1.0:
        raise InputError(f"--fail-under is {value:g}; expected a share from 0 to 1, e.g. 0.8")
    return value


def field(name: str, key: str, example: str) -> Any:
    """Define the option for the name of a key in the records."""
    return option(name, "NAME", f"Field or column with the {key}, e.g. {example}.", RECORDS)


Judge = Annotated[
    str | None,
    option(
        "--judge",
        "JUDGE",
        "Judge: local, local-fast, nli:MODEL, PROVIDER/MODEL, FILE.yaml#NAME, replay:FILE or "
        "'cascade(FIRST, SECOND)'.",
        show_default="$FACTCHECK_JUDGE or local",
    ),
]
Judges = Annotated[
    list[str] | None,
    option(
        "--judge",
        "JUDGE",
        "Judge: local, local-fast, nli:MODEL, PROVIDER/MODEL, replay:FILE or "
        "'cascade(FIRST, SECOND)'; "
        "repeatable.",
        show_default="$FACTCHECK_JUDGE or local",
    ),
]
JudgeOption = Annotated[
    list[str] | None,
    option(
        "--judge-option",
        "NAME=VALUE",
        "Language model setting, e.g. temperature=0.5 or seed=1; repeatable.",
    ),
]
Weights = Annotated[
    Literal["equal", "lead"],
    option("--weights", "MODE", "equal, or lead: what the source states first weighs most."),
]
Extractor = Annotated[
    str | None,
    option(
        "--extractor",
        "MODEL",
        "Extractor: local, PROVIDER/MODEL or replay:FILE.",
        show_default="$FACTCHECK_EXTRACTOR or the judge",
    ),
]
MoreSources = Annotated[
    list[str] | None,
    option("--source", "FILE", "Additional document of the source; repeatable."),
]
Both = Annotated[
    Direction,
    option(
        "--direction", "MODE", "coverage, or both to also list claims the source does not support."
    ),
]
Concurrency = Annotated[
    int, option("--concurrency", "N", "Maximum number of concurrent requests.", LIMITS, min=1)
]
RequestsPerMinute = Annotated[
    int | None, option("--rpm", "N", "Maximum number of requests per minute.", LIMITS, min=1)
]
MaxCalls = Annotated[
    int | None, option("--max-calls", "N", "Maximum number of requests of this process.", LIMITS)
]
MaxCost = Annotated[
    float | None, option("--max-cost-usd", "X", "Maximum cost in US dollars.", LIMITS)
]
MaxDistorted = Annotated[
    int | None,
    option(
        "--max-distorted", "N", "Exit with 1 if more than N facts are distorted.", OUTPUT, min=0
    ),
]
FailIfWorse = Annotated[
    bool,
    flag(
        "--fail-if-worse",
        "Exit with 1 if the second run is worse or lacks results of the first; with 4 if too many "
        "verdicts are missing to tell.",
        OUTPUT,
    ),
]
ReportFormat = Annotated[
    Format | None,
    option(
        "--format",
        "FORMAT",
        "table, markdown, html, junit, json or csv.",
        OUTPUT,
        show_default="by the suffix of --out, or table",
    ),
]
PrintFormat = Annotated[
    Format, option("--format", "FORMAT", "table, markdown, html, junit, json or csv.", OUTPUT)
]
Out = Annotated[
    str | None,
    option("--out", "FILE", "Write the report to FILE and print only its first line.", OUTPUT),
]
