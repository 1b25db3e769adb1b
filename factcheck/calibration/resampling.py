"""95 % intervals by resampling documents: the percentile bootstrap.

Documents are drawn with replacement, as many as there are; what belongs to one document is never
torn apart. The intervals are too narrow for fewer than about twenty documents, and where all
documents are equal they have no width at all.

Source:
    Efron and Tibshirani (1993), "An Introduction to the Bootstrap", chapter 13.
"""

from __future__ import annotations

from collections.abc import Sequence

from factcheck.stats import Interval, wilson

N_RESAMPLES = 2000
_TAILS = (0.025, 0.975)
_FEWEST = 2


def interval_of_mean(
    values: Sequence[float], *, n_resamples: int = N_RESAMPLES, seed: int = 0
) -> Interval | None:
    """The interval of a mean of one value for each document; `None` with fewer than two of them."""
    if len(values) < _FEWEST:
        return None
    import numpy as np

    draws = np.random.default_rng(seed).integers(0, len(values), (n_resamples, len(values)))
    means = np.asarray(values, dtype=float)[draws].mean(axis=1)
    low, high = np.quantile(means, _TAILS)
    return Interval(float(low), float(high))


def interval_of_ratio(
    counts: Sequence[tuple[int, int]], *, n_resamples: int = N_RESAMPLES, seed: int = 0
) -> Interval | None:
    """The interval of a share, from hits and trials of each document; `None` without trials.

    It is the wider one of two: resampled documents, and Wilson's for independent trials, which does
    not shrink to a point where no document has a hit, or all have nothing else.
    """
    hits, trials = sum(hit for hit, _ in counts), sum(n for _, n in counts)
    if not trials:
        return None
    plain = wilson(hits / trials, trials)
    if len(counts) < _FEWEST:
        return plain
    import numpy as np

    table = np.asarray(counts, dtype=float)
    draws = np.random.default_rng(seed).integers(0, len(counts), (n_resamples, len(counts)))
    sums = table[draws].sum(axis=1)
    shares = sums[:, 0] / np.maximum(sums[:, 1], 1)
    low, high = np.quantile(shares, _TAILS)
    return Interval(min(plain.low, float(low)), max(plain.high, float(high)))
