"""Intervals for shares, and a test for paired results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

Z_95 = 1.959963984540054
"""Quantile of the normal distribution for a two-sided interval of 95 %."""
_T_95 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
"""The same of Student's distribution with 1 to 30 degrees of freedom."""


def t_95(degrees: int) -> float:
    """Quantile of Student's t for a two-sided interval of 95 %, to three decimals.

    Args:
        degrees: Degrees of freedom, at least 1.

    Source:
        The standard table up to 30 degrees; above, the first terms of the Cornish-Fisher
        expansion, which agree with it to three decimals (Abramowitz and Stegun, 26.7.5).
    """
    if degrees <= len(_T_95):
        return _T_95[degrees - 1]
    z = Z_95
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return z + first / degrees + second / degrees**2


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


def sign_test(n_up: int, n_down: int) -> float:
    """How likely tossed coins are at least as one-sided: the two-sided p-value, in (0, 1].

    Args:
        n_up: Pairs whose second value is the larger one.
        n_down: Pairs whose first value is. Pairs of equal values say nothing and are left out.

    Source:
        The exact sign test (Conover, 1999, section 3.4); for two outcomes it is McNemar's.
    """
    n = n_up + n_down
    term = total = 1
    for k in range(min(n_up, n_down)):
        term = term * (n - k) // (k + 1)
        total += term
    return min(1.0, 2 * total / (1 << n))
