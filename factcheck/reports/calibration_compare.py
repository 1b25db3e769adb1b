"""What the comparison of two runs on the same facts says, whatever it is rendered to."""

from __future__ import annotations

from typing import NamedTuple

from factcheck.calibration.paired import CoverageComparison, FactChange
from factcheck.reports.calibration_bullets import short
from factcheck.reports.content import one_line, shorten

SURE = 0.05
MOST_FACTS = 20


class ComparisonWords(NamedTuple):
    """The report, as words."""

    headline: str
    lines: tuple[str, ...]
    won: tuple[tuple[str, str], ...]
    """Document and fact."""
    lost: tuple[tuple[str, str], ...]
    more: str


def comparison_words(comparison: CoverageComparison) -> ComparisonWords:
    """The report of a comparison."""
    n = comparison.n_facts
    kept = f"{comparison.n_kept_a} \u2192 {comparison.n_kept_b} of {n:,} facts kept"
    shares = f"{short(comparison.n_kept_a / n)} \u2192 {short(comparison.n_kept_b / n)}"
    return ComparisonWords(
        headline=f"{shares}   {kept}: {_verdict(comparison)}",
        lines=tuple(_lines(comparison)),
        won=tuple(map(_row, comparison.won[:MOST_FACTS])),
        lost=tuple(map(_row, comparison.lost[:MOST_FACTS])),
        more="" if max(len(comparison.won), len(comparison.lost)) <= MOST_FACTS else "more in JSON",
    )


def _verdict(comparison: CoverageComparison) -> str:
    won, lost = len(comparison.won), len(comparison.lost)
    if won == lost:
        return "as many facts won as lost"
    which = "more" if won > lost else "fewer"
    if comparison.p_facts >= SURE:
        return f"{which}, but that may be chance"
    return f"{which}, and hardly by chance"


def _lines(comparison: CoverageComparison) -> list[str]:
    low, high = comparison.fact_interval
    won, lost = len(comparison.won), len(comparison.lost)
    span = f"95 % {_signed(low)} to {_signed(high)}"
    lines = [
        f"{won} facts won, {lost} lost: p = {short(comparison.p_facts)} (McNemar, exact)",
        f"difference {_signed(comparison.difference)}, {span} if facts were independent",
    ]
    interval = comparison.document_interval
    if interval is None:
        lines.append("one document: how far others would differ cannot be told from it")
    else:
        lines.append(
            f"by document ({len(comparison.documents)}): mean difference "
            f"{_signed(comparison.mean_difference)}, 95 % {_signed(interval.low)} to "
            f"{_signed(interval.high)}, sign test p = {short(comparison.p_documents)}"
        )
    if comparison.n_undecided:
        lines.append(f"{comparison.n_undecided} facts were undecided in a run, and are left out")
    if comparison.n_unpaired:
        lines.append(f"{comparison.n_unpaired} documents or facts are in one run only")
    return lines


def _signed(value: float) -> str:
    return f"{'+' if value >= 0 else ''}{short(value)}"


def _row(change: FactChange) -> tuple[str, str]:
    return change.document, shorten(one_line(change.fact))
