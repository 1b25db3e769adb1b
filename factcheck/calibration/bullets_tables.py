"""The tables in the report of a bullet removal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from factcheck.calibration.bullets_metrics import BulletMetrics, CurvePoint
from factcheck.calibration.bullets_summary import TRUTH
from factcheck.facts import Usage
from factcheck.reports.text import DASH, short
from factcheck.stats.intervals import Estimate

_BAR = 20
"""Length of a full bar, in characters."""
_LABELS = {
    "kendall": ("Kendall, facts left", ""),
    "spearman": ("Spearman, facts left", ""),
    "kendall_bullets": ("Kendall, bullets left", ""),
    "kendall_characters": ("Kendall, characters left", ""),
    "rising_steps": ("steps at which it rises", " %"),
    "unchanged_steps": ("steps without a change", " %"),
    "missed_drops": ("lost facts it overlooks", " %"),
    "distinct_scores": ("distinct scores", " %"),
    "at_ceiling": ("variants at the top", " %"),
    "drop_per_bullet": ("fall per bullet", ""),
    "full_score": ("the whole summary", ""),
    "error": ("error against the truth", ""),
    "found": ("present, called entailed", " %"),
    "invented": ("absent, called entailed", " %"),
}
"""Metrics shown, by their label and unit."""


def metric_rows(
    names: Sequence[str], judges: Sequence[BulletMetrics], usages: Sequence[Usage]
) -> tuple[tuple[str, ...], ...]:
    """The label of each metric, count and cost, then its cell for each judge.

    Args:
        names: The judges, or `"truth"`.
        judges: Their metrics.
        usages: What they cost.
    """
    return (*_estimates(names, judges), *_counts(judges), *_costs(usages))


def _estimates(names: Sequence[str], judges: Sequence[BulletMetrics]) -> Iterator[tuple[str, ...]]:
    for name, (label, unit) in _LABELS.items():
        found = [judge.metrics[name] for judge in judges]
        if any(one.value is not None for one in found):
            of = zip(names, found, strict=True)
            yield (label, *(_cell(one, unit, is_truth=name == TRUTH) for name, one in of))


def _cell(estimate: Estimate, unit: str, *, is_truth: bool) -> str:
    if estimate.value is None:
        return DASH
    shown: Callable[[float], str] = (lambda share: f"{100 * share:.0f}") if unit else short
    interval = None if is_truth else estimate.interval
    bounds = f" ({DASH.join(map(shown, interval))})" if interval else ""
    return f"{shown(estimate.value)}{unit}{bounds}"


def _counts(judges: Sequence[BulletMetrics]) -> Iterator[tuple[str, ...]]:
    yield ("rises, in all", *(str(judge.n_rising) for judge in judges))
    if any(judge.n_constant_paths for judge in judges):
        yield ("constant orders", *(str(judge.n_constant_paths) for judge in judges))
    if any(judge.n_missing for judge in judges):
        yield ("answers missing", *(f"{judge.n_missing} of {judge.n_variants}" for judge in judges))


def _costs(usages: Sequence[Usage]) -> Iterator[tuple[str, ...]]:
    if any(usage.calls or usage.cache_hits for usage in usages):
        yield ("calls", *(f"{usage.calls:,}" for usage in usages))
        tokens = (usage.prompt_tokens + usage.completion_tokens for usage in usages)
        yield ("tokens", *(f"{number:,}" for number in tokens))
        costs = (usage.cost_usd for usage in usages)
        yield ("cost", *("unknown" if usd is None else f"${usd:.4f}" for usd in costs))


def curve_rows(curves: Sequence[Sequence[CurvePoint]]) -> tuple[tuple[str, ...], ...]:
    """The share of bullets left, then the mean score on each curve as a bar."""
    by_share = [{point.left: point.score for point in points} for points in curves]
    shares = sorted({point.left for points in curves for point in points}, reverse=True)
    return tuple(
        (f"{100 * left:.0f} %", *(_bar(scores.get(left)) for scores in by_share)) for left in shares
    )


def _bar(score: float | None) -> str:
    return DASH if score is None else f"{short(score)} {'█' * round(_BAR * score)}"
