"""`factcheck score`: one source, one summary, one report."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from factcheck.cli import options, output


class Direction(str, Enum):
    """Which way the two texts are compared."""

    COVERAGE = "coverage"
    BOTH = "both"


def score(  # noqa: PLR0913 - one parameter per option
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="The text with the facts.")],
    summary: Annotated[str, typer.Argument(metavar="SUMMARY", help="The text to check.")],
    *,
    facts: Annotated[
        str | None,
        typer.Option(
            "--facts",
            metavar="FILE",
            help="Check these facts instead of extracting them: .txt, .json, .yaml.",
        ),
    ] = None,
    judge: options.Judge = None,
    extractor: options.Extractor = None,
    direction: Annotated[
        Direction,
        typer.Option(
            "--direction",
            metavar="WAY",
            help="coverage, or both: also list claims that the source does not support.",
        ),
    ] = Direction.COVERAGE,
    format_: options.ReportFormat = None,
    out: options.Out = None,
    fail_under: Annotated[
        float | None,
        typer.Option(
            "--fail-under", metavar="SHARE", help="Exit with 1 if the score is lower, e.g. 0.8."
        ),
    ] = None,
    _debug: options.Debug = False,
) -> None:
    """Tell which facts of SOURCE the SUMMARY keeps, drops or distorts.

    A fact marked 'must' that is not kept exits with 1, whatever the score.
    """
    from factcheck import files
    from factcheck.cli import gate
    from factcheck.scoring import FactCoverage

    gate.check_threshold(fail_under)
    output.prepare_out(out)
    files.refuse_stdin_twice(source, summary, facts)
    given = files.read_facts(facts) if facts is not None else None
    source_text, summary_text = files.read_text(source), files.read_text(summary)
    if given is not None and facts is not None:
        output.warn_if_stale(given, source_text, facts)
    with FactCoverage(judge, extractor) as scorer, output.waiting("Scoring"):
        report = scorer.score(source_text, summary_text, facts=given, direction=direction.value)
    output.show_report(report, format_, out)
    output.leave(gate.failure(report, fail_under))
