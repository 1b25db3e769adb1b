"""`factcheck references`: one text against others that are known to be good."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from factcheck.cli import options


class Aggregation(str, Enum):
    """How several similarities become one score."""

    MAX = "max"
    MEAN = "mean"


def references(
    actual: Annotated[str, typer.Argument(metavar="ACTUAL", help="The text to score.")],
    reference: Annotated[
        list[str],
        typer.Argument(metavar="REFERENCE", help="Texts that are known to be good."),
    ],
    *,
    aggregation: Annotated[
        Aggregation,
        typer.Option(
            "--aggregation",
            metavar="HOW",
            help="max: like one reference is enough; mean: like all of them.",
        ),
    ] = Aggregation.MAX,
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold",
            metavar="SCORE",
            help="From which score the report says 'passed'; no gate.  "
            "[default: as --fail-under, or 0.7]",
        ),
    ] = None,
    provider: Annotated[
        str,
        typer.Option(
            "--provider",
            metavar="NAME",
            help="Who makes the vectors: local (words and letters, offline), openai, "
            "openai/MODEL, or sentence-transformers/MODEL.",
        ),
    ] = "local",
    format_: options.ReportFormat = None,
    out: options.Out = None,
    fail_under: Annotated[
        float | None,
        typer.Option(
            "--fail-under", metavar="SCORE", help="Exit with 1 if the score is lower, e.g. 0.4."
        ),
    ] = None,
    _debug: options.Debug = False,
) -> None:
    """Compare a text with texts known to be good.

    The score is the similarity of their embeddings. All arguments are files. The exit code is 0
    whatever the score, unless --fail-under is given. The default of 0.7 is meant for models of
    meaning; with the provider 'local', right short answers are told from wrong ones best at 0.3 to
    0.4.
    """
    from factcheck.cli import references_run

    references_run.run(
        references_run.Given(
            actual, tuple(reference), aggregation.value, threshold, provider, fail_under
        ),
        format_,
        out,
    )
