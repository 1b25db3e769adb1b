"""One report, or what there is of it when somebody presses Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from factcheck.cli import output
from factcheck.errors import FactcheckError

if TYPE_CHECKING:
    from factcheck.cli.options import Format
    from factcheck.facts import CoverageReport
    from factcheck.scoring import FactCoverage


def scored(
    given: dict[str, Any],
    score: Callable[[FactCoverage], CoverageReport],
    message: str,
    chosen: Format | None,
    out: str | None,
    fail_under: float | None = None,
) -> CoverageReport:
    """The report of one pair, printed or written.

    Interrupted, it prints the report with the answers that had come by then: they are in the
    cache, so they are found by a second run that asks nobody.

    Raises:
        KeyboardInterrupt: After that.
    """
    from factcheck.scoring import FactCoverage

    try:
        with FactCoverage(**given) as scorer, output.waiting(message):
            report = score(scorer)
    except KeyboardInterrupt:
        with suppress(FactcheckError):
            output.show_report(_known(given, score), chosen, out, fail_under)
        raise
    output.show_report(report, chosen, out, fail_under)
    return report


def _known(
    given: dict[str, Any], score: Callable[[FactCoverage], CoverageReport]
) -> CoverageReport:
    from factcheck.judges.llm.meter import Meter
    from factcheck.runtime.session import Session
    from factcheck.scoring import FactCoverage

    with Session(budget=given["budget"], transport=Meter().around) as session:
        return score(FactCoverage(given["judge"], given["extractor"], session=session))
