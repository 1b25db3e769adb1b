"""`factcheck calibrate`: can this judge be trusted?"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from factcheck.cli.options import Debug, Extractor

app = typer.Typer(
    help="Measure judges: against texts whose answer is known, against themselves, against people.",
    no_args_is_help=True,
)


class CalibrationFormat(str, Enum):
    """How a report is written."""

    TABLE = "table"
    JSON = "json"


Judges = Annotated[
    list[str] | None,
    typer.Option(
        "--judge",
        metavar="JUDGE",
        help="Who checks: local, or <provider>/<model>; may be given several times."
        "  [default: $FACTCHECK_JUDGE, or local]",
    ),
]
Print = Annotated[
    CalibrationFormat, typer.Option("--format", metavar="FORMAT", help="table or json.")
]


@app.command("bullets", epilog="Example: factcheck calibrate bullets --out removal")
def bullets(  # noqa: PLR0913 - each is one option of the command line
    *,
    source: Annotated[
        str | None, typer.Option(metavar="FILE", help="A source of your own; with --summary.")
    ] = None,
    summary: Annotated[
        str | None, typer.Option(metavar="FILE", help="Its summary, in bullets or sentences.")
    ] = None,
    facts: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Its facts.  [default: extracted from the source]"),
    ] = None,
    judge: Judges = None,
    rater: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL",
            help="A model that rates each variant from 1 to 5 in one call; may be repeated.",
        ),
    ] = None,
    extractor: Extractor = None,
    max_calls: Annotated[
        int | None,
        typer.Option(metavar="N", help="Calls that each judge may cost at most."),
    ] = None,
    max_cost_usd: Annotated[
        float | None,
        typer.Option(metavar="X", help="US dollars that each judge may cost at most."),
    ] = None,
    n_random: Annotated[
        int, typer.Option("--random-orders", metavar="N", help="Random orders for each text.")
    ] = 4,
    seed: Annotated[int, typer.Option(metavar="N", help="Of the random orders.")] = 0,
    out: Annotated[
        str, typer.Option("--out", metavar="DIR", help="Where rows, plots and the page go.")
    ] = "bullet-removal",
    from_rows: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Compute everything again from the rows of a run."),
    ] = None,
    made: Print = CalibrationFormat.TABLE,
    _debug: Debug = False,
) -> None:
    """Take bullets out of summaries one by one: an honest score falls with the information.

    Without --source and --summary, the bundled texts are used, for which is known what every bullet
    carries. The rows, the plots (with matplotlib: pip install "factcheck[plots]") and one page with
    all of it are written to --out.
    """
    from factcheck.cli import calibrate_bullets

    asked = calibrate_bullets.Asked(
        source=source,
        summary=summary,
        facts=facts,
        judges=judge,
        raters=rater or [],
        max_calls=max_calls,
        max_cost_usd=max_cost_usd,
        extractor=extractor,
        n_random=n_random,
        seed=seed,
    )
    calibrate_bullets.bullets(asked, out, from_rows, as_json=made is CalibrationFormat.JSON)
