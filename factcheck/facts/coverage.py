"""Computes coverage, the share of entailed facts, with its bounds, from verdicts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from factcheck.facts.model import CheckResult, Verdict
from factcheck.stats.intervals import Interval, effective_size, wilson


@dataclass(frozen=True, slots=True)
class Share:
    """A weighted share of entailed facts, with its bounds and interval."""

    value: float | None
    """Entailed weight over decided weight, in [0, 1]; `None` when nothing was decided."""
    low: float
    """The share if every undecided fact were not entailed, in [0, 1]."""
    high: float
    """The share if every undecided fact were entailed, in [0, 1]."""
    interval: Interval | None
    """95 % Wilson interval of `value`; `None` with it."""


def share_entailed(results: Sequence[CheckResult]) -> Share:
    """Weighted share of facts that are entailed.

    Args:
        results: One result per fact. A `CheckFailure` is undecided: it is outside `value` and
            inside `low` and `high`.

    Returns:
        The share. Without any weight to divide by, nothing is known: `None`, and [0, 1].

    Source:
        FActScore's ratio (Min et al., 2023) with premise and hypothesis swapped, which makes it a
        recall; Wilson's interval on Kish's effective number of facts.
    """
    decided = [result for result in results if isinstance(result, Verdict)]
    weights = _scaled([result.fact.weight for result in decided])
    if weights is None:
        return Share(None, 0.0, 1.0, None)
    kept = [w for w, result in zip(weights, decided, strict=True) if result.supported]
    value = math.fsum(kept) / math.fsum(weights)
    all_weights = _scaled([result.fact.weight for result in results]) or []
    low, high = (
        math.fsum(w for w, result in zip(all_weights, results, strict=True) if counts(result))
        / math.fsum(all_weights)
        for counts in (_entailed, _not_rejected)
    )
    return Share(
        value=value,
        low=min(value, low),
        high=max(value, high),
        interval=wilson(value, effective_size(weights)),
    )


def _scaled(weights: Sequence[float]) -> list[float] | None:
    """Weights as shares of the largest, so that no sum overflows; `None` if none is positive."""
    largest = max(weights, default=0.0)
    return [weight / largest for weight in weights] if largest > 0.0 else None


def _entailed(result: CheckResult) -> bool:
    return isinstance(result, Verdict) and result.supported


def _not_rejected(result: CheckResult) -> bool:
    return not isinstance(result, Verdict) or result.supported
