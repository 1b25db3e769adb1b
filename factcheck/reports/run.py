"""The summary of a run over many records, as plain text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from factcheck.facts import RunSummary
from factcheck.reports import content


def render_run(
    summary: RunSummary,
    worst: Sequence[tuple[float, str]],
    failures: Mapping[str, int],
    skipped: int,
    signature: str,
) -> str:
    """Mean coverage with its interval, the counts, the lowest scores, what is missing, the cost.

    Args:
        summary: What the records came to.
        worst: Lowest scores with the ids of their records, lowest first.
        failures: Number of records without a report, by code.
        skipped: Number of bad records that were left out.
        signature: How the scores were made.
    """
    lines = [_headline(summary, sum(failures.values())), _counts(summary)]
    if summary.counts["undecided"]:
        between = content.number_range(summary.low, summary.high)
        lines.append(f"{between} if every undecided fact were dropped / kept")
    missing = [f"{count} without a report ({code})" for code, count in sorted(failures.items())]
    if skipped:
        missing.append(f"{skipped} bad records skipped")
    if missing:
        lines.append(", ".join(missing))
    if worst:
        lines += ["", "Lowest"]
        lines += [
            f"  {content.number(score):>5}  {content.one_line(name)}" for score, name in worst
        ]
    lines.append("")
    if usage := content.usage_in_words(summary.usage):
        lines.append(f"Usage      {usage}")
    lines.append(f"Signature  {signature}")
    return "\n".join(lines)


def _headline(summary: RunSummary, n_failed: int) -> str:
    parts = [f"Mean coverage {content.number(summary.score)}"]
    parts.append(f"{summary.n_scored:,} of {summary.n_records + n_failed:,} records scored")
    if summary.interval:
        between = content.number_range(*summary.interval)
        parts.append(f"95 % interval {between} over {summary.n_sources:,} sources")
    return "   ".join(parts)


def _counts(summary: RunSummary) -> str:
    counts = summary.counts
    kinds = ("kept", "distorted", "dropped", "undecided")
    return f"{counts['facts']:,} facts: " + ", ".join(f"{counts[kind]:,} {kind}" for kind in kinds)
