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


class PartlyCovered(str, Enum):
    """What becomes of a fact that people call partly covered."""

    NOT_COVERED = "not_covered"
    LEFT_OUT = "left_out"


Judges = Annotated[
    list[str] | None,
    typer.Option(
        "--judge",
        metavar="JUDGE",
        help="Who checks: local, or <provider>/<model>; may be given several times."
        "  [default: $FACTCHECK_JUDGE, or local]",
    ),
]
Source = Annotated[
    str | None,
    typer.Option("--source", metavar="FILE", help="A source of your own; with --summary."),
]
Summary = Annotated[
    str | None,
    typer.Option("--summary", metavar="FILE", help="Its summary, in bullets or sentences."),
]
Facts = Annotated[
    str | None,
    typer.Option(
        "--facts", metavar="FILE", help="Its facts.  [default: extracted from the source]"
    ),
]
MaxCalls = Annotated[
    int | None,
    typer.Option("--max-calls", metavar="N", help="Calls that each judge may cost at most."),
]
MaxCost = Annotated[
    float | None,
    typer.Option(
        "--max-cost-usd", metavar="X", help="US dollars that each judge may cost at most."
    ),
]
Print = Annotated[
    CalibrationFormat, typer.Option("--format", metavar="FORMAT", help="table or json.")
]


@app.command("bullets", epilog="Example: factcheck calibrate bullets --out removal")
def bullets(  # noqa: PLR0913 - each is one option of the command line
    *,
    source: Source = None,
    summary: Summary = None,
    facts: Facts = None,
    judge: Judges = None,
    rater: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL",
            help="A model that rates each variant from 1 to 5 in one call; may be repeated.",
        ),
    ] = None,
    extractor: Extractor = None,
    max_calls: MaxCalls = None,
    max_cost_usd: MaxCost = None,
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
    from factcheck.cli.calibrate_texts import OwnText

    asked = calibrate_bullets.Asked(
        text=OwnText(source, summary, facts),
        judges=judge,
        raters=rater or [],
        max_calls=max_calls,
        max_cost_usd=max_cost_usd,
        extractor=extractor,
        n_random=n_random,
        seed=seed,
    )
    calibrate_bullets.bullets(asked, out, from_rows, as_json=made is CalibrationFormat.JSON)


@app.command("audit", epilog="Example: factcheck calibrate audit --judge openai/gpt-5-nano")
def audit(  # noqa: PLR0913 - each is one option of the command line
    *,
    source: Source = None,
    summary: Summary = None,
    facts: Facts = None,
    judge: Judges = None,
    extractor: Extractor = None,
    per_rule: Annotated[
        int,
        typer.Option(metavar="N", help="Facts of each text that have questions of their own."),
    ] = 8,
    seed: Annotated[int, typer.Option(metavar="N", help="Of what is chosen at random.")] = 0,
    max_calls: MaxCalls = None,
    max_cost_usd: MaxCost = None,
    made: Print = CalibrationFormat.TABLE,
    _debug: Debug = False,
) -> None:
    """Look for answers of a judge that are certainly wrong; no labels are needed.

    Removing text cannot add a fact, shuffling changes nothing, another number is not the same. Each
    broken rule is a proven error. JSON holds all of them, with texts and answers.
    """
    from factcheck.cli import calibrate_audit
    from factcheck.cli.calibrate_texts import OwnText

    asked = calibrate_audit.Asked(
        text=OwnText(source, summary, facts),
        judges=judge,
        extractor=extractor,
        per_rule=per_rule,
        seed=seed,
        max_calls=max_calls,
        max_cost_usd=max_cost_usd,
    )
    calibrate_audit.audit(asked, as_json=made is CalibrationFormat.JSON)


@app.command("agreement", epilog="Example: factcheck calibrate agreement labelled.jsonl")
def agreement(  # noqa: PLR0913 - each is one option of the command line
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="JSON lines or CSV with 'fact', 'text' and 'label' (or lines with 'facts' and "
            "'labels', or 'facts' and 'systems'); 'document' or 'doc_id' says what belongs "
            "together.",
        ),
    ],
    *,
    replies: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Recorded verdicts of further judges, JSON lines."),
    ] = None,
    judge: Judges = None,
    partly: Annotated[
        PartlyCovered,
        typer.Option(metavar="P", help="A label between 0 and 1 is not_covered, or left_out."),
    ] = PartlyCovered.NOT_COVERED,
    difference: Annotated[
        float,
        typer.Option(metavar="D", help="Tell how many documents show this difference."),
    ] = 0.05,
    max_calls: MaxCalls = None,
    max_cost_usd: MaxCost = None,
    made: Print = CalibrationFormat.TABLE,
    out: Annotated[
        str | None,
        typer.Option("--out", metavar="FILE", help="Write there; NAME.json is JSON."),
    ] = None,
    _debug: Debug = False,
) -> None:
    """Hold judges against the labels of people, beside plain word containment."""
    from factcheck.cli import calibrate_agreement

    asked = calibrate_agreement.Asked(
        data=data,
        replies=replies,
        judges=judge,
        partly=partly.value,
        difference=difference,
        max_calls=max_calls,
        max_cost_usd=max_cost_usd,
    )
    calibrate_agreement.agreement(asked, out, as_json=made is CalibrationFormat.JSON)


@app.command("compare", epilog="Example: factcheck calibrate compare before.jsonl after.jsonl")
def compare(
    run_a: Annotated[
        str, typer.Argument(metavar="RUN_A", help="Rows of 'factcheck score --records --out'.")
    ],
    run_b: Annotated[
        str, typer.Argument(metavar="RUN_B", help="The same records and facts, other summaries.")
    ],
    *,
    made: Print = CalibrationFormat.TABLE,
    _debug: Debug = False,
) -> None:
    """Compare two summarizers or prompts on the same facts: won, lost, and how sure that is."""
    from factcheck.cli import calibrate_compare

    calibrate_compare.compare(run_a, run_b, as_json=made is CalibrationFormat.JSON)
