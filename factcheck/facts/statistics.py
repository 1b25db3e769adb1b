"""Intervals for shares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

Z_95 = 1.959963984540054
"""Quantile of the normal distribution for a two-sided interval of 95 %."""


class Interval(NamedTuple):
    """A closed range of values of a share, within [0, 1]."""

    low: float
    high: float


def wilson(share: float, n: float, z: float = Z_95) -> Interval:
    """Confidence interval of a share observed on `n` trials.

    Args:
        share: Observed share of successes, in [0, 1].
        n: Number of trials, greater than 0; need not be whole (see `effective_size`).
        z: Normal quantile of the wanted confidence.

    Source:
        Wilson (1927), "Probable inference, the law of succession, and statistical inference".
    """
    spread = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    centre = share + z * z / (2 * n)
    scale = 1 + z * z / n
    low, high = (centre - spread) / scale, (centre + spread) / scale
    return Interval(min(share, max(0.0, low)), max(share, min(1.0, high)))


def effective_size(weights: Sequence[float]) -> float:
    """Number of equally weighted trials that carry as much information as these.

    `n` for equal weights, less for unequal ones, 0 where no weight is positive.

    Source:
        Kish (1965), "Survey Sampling": (sum w)^2 / sum w^2.
    """
    largest = max(weights, default=0.0)
    if largest <= 0.0:
        return 0.0
    scaled = [weight / largest for weight in weights]
    return math.fsum(scaled) ** 2 / math.fsum(weight * weight for weight in scaled)
