"""Computes coverage, the share of entailed facts, with its bounds, from verdicts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from factcheck.facts.model import CheckResult, Verdict
from factcheck.stats.intervals import Z_95, Interval, effective_size, wilson


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
    """95 % interval of `value`; `None` with it. Where every verdict has a probability it includes
    the judge's own error; otherwise it speaks of the sampling of facts only."""


def share_entailed(results: Sequence[CheckResult]) -> Share:
    """Weighted share of facts that are entailed.

    Args:
        results: One result per fact. A `CheckFailure` is undecided: it is outside `value` and
            inside `low` and `high`.

    Returns:
        The share. Without any weight to divide by, nothing is known: `None`, and [0, 1].

    Source:
        FActScore's ratio (Min et al., 2023) with premise and hypothesis swapped, which makes it a
        recall; Wilson's interval on Kish's effective number of facts, widened by the error that
        the probabilities of the judge state (the variance of independent Bernoulli trials).
    """
    decided = [result for result in results if isinstance(result, Verdict)]
    heaviest = max((result.fact.weight for result in decided), default=0.0)
    if heaviest <= 0.0:
        return Share(None, 0.0, 1.0, None)
    value = _share(decided, heaviest, undecided=False)
    heaviest_of_all = max(result.fact.weight for result in results)
    return Share(
        value=value,
        low=min(value, _share(results, heaviest_of_all, undecided=False)),
        high=max(value, _share(results, heaviest_of_all, undecided=True)),
        interval=_interval(value, decided, heaviest),
    )


def _interval(value: float, decided: Sequence[Verdict], unit: float) -> Interval:
    """Wilson's interval, so wide that it holds the share that the probabilities expect, too."""
    weights = [verdict.fact.weight / unit for verdict in decided]
    sampling = wilson(value, effective_size(weights))
    chances = [verdict.probability for verdict in decided if verdict.probability is not None]
    if len(chances) < len(decided):
        return sampling
    total = math.fsum(weights)
    expected = math.fsum(w * p for w, p in zip(weights, chances, strict=True)) / total
    variance = math.fsum(w * w * p * (1 - p) for w, p in zip(weights, chances, strict=True))
    error = Z_95 * math.sqrt(variance) / total
    below = math.hypot(value - sampling.low, error)
    above = math.hypot(sampling.high - value, error)
    return Interval(max(0.0, min(value, expected) - below), min(1.0, max(value, expected) + above))


def _share(results: Sequence[CheckResult], unit: float, *, undecided: bool) -> float:
    """Entailed over all weight, in units of the largest, so that no sum overflows.

    `undecided` says whether failures count as entailed.
    """
    weights = [result.fact.weight / unit for result in results]
    kept = (r.supported if isinstance(r, Verdict) else undecided for r in results)
    return math.fsum(w for w, counts in zip(weights, kept, strict=True) if counts) / math.fsum(
        weights
    )
