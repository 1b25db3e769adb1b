"""`factcheck score`: coverage of one source by one summary."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

from factcheck.cli import options, output
from factcheck.errors import FactcheckError

if TYPE_CHECKING:
    from factcheck.facts import CoverageReport, FactSet, SourceDocument
    from factcheck.scoring import FactCoverage


def score(  # noqa: PLR0913 - one parameter per option
    source: Annotated[str, options.argument("SOURCE", "Source text.")],
    summary: Annotated[str, options.argument("SUMMARY", "Summary to score.")],
    *,
    more_sources: options.MoreSources = None,
    facts: Annotated[
        str | None,
        options.option(
            "--facts", "FILE", "Check these facts instead of extracting them: .txt, .json or .yaml."
        ),
    ] = None,
    judge: options.Judge = None,
    extractor: options.Extractor = None,
    direction: options.Both = options.Direction.COVERAGE,
    cassette: options.Cassette = None,
    batch_size: options.BatchSize = 32,
    max_calls: options.MaxCalls = None,
    max_tokens: options.MaxTokens = None,
    max_cost_usd: options.MaxCost = None,
    format_: options.ReportFormat = None,
    out: options.Out = None,
    fail_under: Annotated[
        float | None, options.fail_under("Exit with 1 if the score is lower, e.g. 0.8.")
    ] = None,
    _debug: options.Debug = False,
) -> None:
    """Report which facts in SOURCE the SUMMARY keeps, distorts or drops.

    With --source, several documents are one source; the report says which
    of them state a fact, and what the summary keeps of each. A fact marked
    'must' that is not kept exits with 1, whatever the score.
    """
    from factcheck.documents import read_text
    from factcheck.records.facts import read_facts, read_source
    from factcheck.scoring import gates

    sources = [source, *(more_sources or ())]
    to = output.destination(format_, out, *sources, summary, facts)
    fact_set = read_facts(facts) if facts is not None else None
    texts = read_source(sources), read_text(summary)
    if fact_set is not None and facts is not None:
        _warn_if_stale(fact_set, texts[0], facts)
    settings = {
        "judge": judge,
        "extractor": extractor,
        "batch_size": batch_size,
        "budget": options.budget(max_calls, max_cost_usd, max_tokens),
        "cassette": cassette,
    }
    report = show_scored(
        settings,
        lambda scorer: scorer.score(*texts, facts=fact_set, direction=direction.value),
        "Scoring",
        to,
        fail_under,
    )
    output.exit_with(gates.coverage_gate(report, fail_under))


def show_scored(
    settings: dict[str, Any],
    score: Callable[[FactCoverage], CoverageReport],
    message: str,
    to: output.Destination,
    fail_under: float | None = None,
) -> CoverageReport:
    """Score and show the report; after Ctrl-C, the part of it that is in the cache.

    Raises:
        KeyboardInterrupt: After that.
    """
    from factcheck.scoring import FactCoverage
    from factcheck.scoring.gates import coverage_gate
    from factcheck.scoring.unsent import cached_report

    def show(report: CoverageReport) -> None:
        failure = coverage_gate(report, fail_under)
        output.show(report.page(), report.to_json, to, failure=failure)

    try:
        with FactCoverage(**settings) as scorer, output.spinner(message):
            report = score(scorer)
    except KeyboardInterrupt:
        with suppress(FactcheckError):
            if (partial := cached_report(settings, score)) is not None:
                show(partial)
        raise
    show(report)
    return report


def _warn_if_stale(facts: FactSet, source: str | tuple[SourceDocument, ...], name: str) -> None:
    from factcheck.facts import digest, source_key

    if facts.source_digest not in {None, digest(source_key(source))}:
        output.print_error(
            f"warning: {name} was extracted from another version of the source; "
            f"update it with 'factcheck facts SOURCE --lock {name}'"
        )
