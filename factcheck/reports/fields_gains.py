"""What fields cost: how much F1 over all of them would rise if one were always right."""

from __future__ import annotations

from collections.abc import Mapping

from factcheck.fields import FieldSummary
from factcheck.fields.runs.metrics import Sums


def summary_sums(summary: FieldSummary, weight: float = 1.0) -> Sums:
    """What the shares of a field are made of."""
    counts = summary.counts
    both = counts.get("match", 0) + counts.get("mismatch", 0)
    lost, extra = counts.get("omission", 0), counts.get("hallucination", 0)
    matched = summary.mean_score * (both + lost + extra)
    return Sums(weight * matched, weight * (both + extra), weight * (both + lost))


def gains_of(
    by_field: Mapping[str, FieldSummary], weights: Mapping[str, float]
) -> dict[str, float]:
    """By how much F1 over all fields would rise if one field were always right."""
    own = {
        field: summary_sums(summary, weights.get(field, 1.0)) for field, summary in by_field.items()
    }
    whole = Sums()
    for sums in own.values():
        whole = whole.plus(sums)
    base = _f1(whole)
    gains = {}
    for field, sums in own.items():
        # Right means: what gold has is there and matches, and nothing else is.
        matched = whole.matched - sums.matched + sums.wanted
        found = whole.found - sums.found + sums.wanted
        is_right = sums.matched == sums.found == sums.wanted
        gains[field] = 0.0 if is_right else _f1(Sums(matched, found, whole.wanted)) - base
    return gains


def _f1(sums: Sums) -> float:
    stake = sums.found + sums.wanted
    return 2 * sums.matched / stake if stake else 1.0
