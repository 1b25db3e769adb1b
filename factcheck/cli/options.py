"""Arguments and options that several commands share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any

import typer


@dataclass
class Invocation:
    """What holds for one run of the program, whatever the command."""

    debug: bool = False
    """Whether errors come with their traceback."""


class Format(str, Enum):
    """How a report is written."""

    TABLE = "table"
    JSON = "json"
    MARKDOWN = "markdown"
    HTML = "html"
    JUNIT = "junit"


def _set_debug(context: typer.Context, value: bool) -> bool:  # noqa: FBT001 - an option's callback
    if value:
        context.ensure_object(Invocation).debug = True
    return value


DEBUG: Any = typer.Option(
    "--debug", callback=_set_debug, is_eager=True, help="Show the traceback of an error."
)

Debug = Annotated[bool, DEBUG]
Judge = Annotated[
    str | None,
    typer.Option(
        "--judge",
        metavar="JUDGE",
        help="Who checks: local, or <provider>/<model>.  [default: $FACTCHECK_JUDGE, or local]",
    ),
]
Extractor = Annotated[
    str | None,
    typer.Option(
        "--extractor",
        metavar="JUDGE",
        help="Who lists the facts.  [default: $FACTCHECK_EXTRACTOR, or as --judge]",
    ),
]
ReportFormat = Annotated[
    Format | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="table, json, markdown, html or junit.  [default: as --out ends, or table]",
    ),
]
Out = Annotated[
    str | None,
    typer.Option("--out", metavar="FILE", help="Write the report there and print one line."),
]
