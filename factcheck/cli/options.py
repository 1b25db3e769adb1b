"""Arguments and options shared by several commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from factcheck.errors import ConfigError, InputError

if TYPE_CHECKING:
    from factcheck.runtime.budget import Budget
    from factcheck.settings import Model

Format = Literal["table", "markdown", "html", "junit", "json", "csv"]


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


def argument(metavar: str, help_text: str) -> Any:
    return typer.Argument(metavar=metavar, help=help_text)


def option(metavar: str, help_text: str, name: str = "", **more: Any) -> Any:
    """Define an option that is named after its parameter, unless a name is given."""
    names = (name,) if name else ()
    return typer.Option(*names, metavar=metavar, help=help_text, **more)


def flag(name: str, help_text: str) -> Any:
    """Define an option without a value, such as `--strict`."""
    return option("", help_text, name)


def _check_share(value: float | None) -> float | None:
    if value is not None and not 0.0 <= value <= 1.0:
        raise InputError(f"--fail-under is {value:g}; expected a share from 0 to 1, e.g. 0.8")
    return value


_JUDGES = (
    "Judge: local, local-fast, nli:MODEL, PROVIDER/MODEL, FILE.yaml#NAME, replay:FILE or "
    "'cascade(FIRST, SECOND)'"
)
_DEFAULT_JUDGE = "$FACTCHECK_JUDGE or local"
Judge = Annotated[str | None, option("JUDGE", f"{_JUDGES}.", show_default=_DEFAULT_JUDGE)]
Judges = Annotated[
    list[str] | None,
    option("JUDGE", f"{_JUDGES}; repeatable.", "--judge", show_default=_DEFAULT_JUDGE),
]
JudgeOption = Annotated[
    list[str] | None,
    option("NAME=VALUE", "Language model setting, e.g. temperature=0.5 or seed=1; repeatable."),
]
Weights = Annotated[
    Literal["equal", "lead"],
    option("MODE", "equal, or lead: what the source states first weighs most."),
]
Extractor = Annotated[
    str | None,
    option(
        "MODEL",
        "Extractor: local, PROVIDER/MODEL or replay:FILE.",
        show_default="$FACTCHECK_EXTRACTOR or the judge",
    ),
]
MoreSources = Annotated[
    list[str] | None, option("FILE", "Additional document of the source; repeatable.", "--source")
]
Direction = Annotated[
    Literal["coverage", "both"],
    option("MODE", "coverage, or both to also list claims the source does not support."),
]
Concurrency = Annotated[int, option("N", "Maximum number of concurrent requests.", min=1)]
RequestsPerMinute = Annotated[
    int | None, option("N", "Maximum number of requests per minute.", min=1)
]
MaxCalls = Annotated[int | None, option("N", "Maximum number of requests of this process.")]
MaxCost = Annotated[float | None, option("X", "Maximum cost in US dollars.")]
DryRun = Annotated[bool, flag("--dry-run", "Estimate requests, tokens and cost; send nothing.")]
FailUnder = Annotated[
    float | None,
    option(
        "SHARE",
        "Exit with 1 if the main score is lower, e.g. 0.8, or cannot be computed.",
        callback=_check_share,
    ),
]
MaxDistorted = Annotated[
    int | None, option("N", "Exit with 1 if more than N facts are distorted.", min=0)
]
ReportFormat = Annotated[
    Format | None,
    option(
        "FORMAT",
        "table, markdown, html, junit, json or csv.",
        "--format",
        show_default="table, or by the suffix of the report",
    ),
]
Out = Annotated[
    str | None, option("FILE", "Write the report to FILE and print only its first line.")
]
