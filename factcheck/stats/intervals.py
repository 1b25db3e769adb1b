"""Closed-form intervals and tests, correlations, and optimal assignment."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

Z_95 = 1.959963984540054
"""Standard normal quantile of a two-sided 95 % interval."""
_T_95 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
"""Student's t quantiles of the same interval, for 1 to 30 degrees of freedom."""
_ROUNDING = 1e-12
"""Maximum variance that is treated as a rounding error."""


class Interval(NamedTuple):
    """A closed interval."""

    low: float
    high: float


class Estimate(NamedTuple):
    """An estimate with its 95 % interval, or the reason why there is none."""

    value: float | None
    interval: Interval | None = None
    why: str = ""

    def as_plain(self) -> dict[str, Any]:
        """Return JSON-ready data; `why` only if it is not empty."""
        interval = None if self.interval is None else [*self.interval]
        return {"value": self.value, "interval": interval} | ({"why": self.why} if self.why else {})


def t_95(degrees: int) -> float:
    """Return the quantile of Student's t for a two-sided 95 % interval, to three decimals.

    Source:
        The standard table up to 30 degrees of freedom; above, the first terms of the Cornish-Fisher
        expansion, which agree with it to three decimals (Abramowitz and Stegun, 26.7.5).
    """
    if degrees <= len(_T_95):
        return _T_95[degrees - 1]
    first, second = (Z_95**3 + Z_95) / 4, (5 * Z_95**5 + 16 * Z_95**3 + 3 * Z_95) / 96
    return Z_95 + first / degrees + second / degrees**2


def cluster_interval(
    clusters: Collection[tuple[float, float]], low: float = 0.0
) -> Interval | None:
    """Return the 95 % interval of a mean of clustered values; `None` for fewer than two clusters.

    Args:
        clusters: The number of values of each cluster, and their sum.
        low: The smallest possible value; the largest is 1.

    Source:
        The cluster-robust variance of a mean with the correction G / (G - 1) for G clusters and
        Student's t with G - 1 degrees of freedom (Cameron and Miller, 2015).
    """
    if len(clusters) < 2:  # noqa: PLR2004 - one cluster has no spread
        return None
    mean, variance = _mean_and_variance(clusters)
    half = t_95(len(clusters) - 1) * math.sqrt(variance)
    return Interval(max(low, mean - half), min(1.0, mean + half))


def share_interval(
    clusters: Collection[tuple[float, float]], n_trials: float | None = None
) -> Interval | None:
    """Return the 95 % interval of a proportion over clusters of trials; `None` without trials.

    Wilson's, for as many independent trials as give the variance between the clusters, and at most
    those there are: it has a width even if all trials are hits, or none, or of a single cluster.

    Args:
        clusters: The number of trials of each cluster, and of hits; or weights and weighted hits.
        n_trials: The number of trials if `clusters` has weights.

    Source:
        Rao and Scott (1992), "A simple method for the analysis of clustered binary data": the
        number of trials is divided by the design effect.
    """
    n_trials = sum(n for n, _ in clusters) if n_trials is None else n_trials
    if not n_trials:
        return None
    share, variance = _mean_and_variance(clusters)
    share = min(1.0, share)
    if variance > _ROUNDING:
        n_trials = min(n_trials, share * (1 - share) / variance)
    return wilson(share, n_trials)


def _mean_and_variance(clusters: Collection[tuple[float, float]]) -> tuple[float, float]:
    n_clusters, n_values = len(clusters), math.fsum(n for n, _ in clusters)
    mean = math.fsum(total for _, total in clusters) / n_values
    squares = math.fsum((total - n * mean) ** 2 for n, total in clusters)
    return mean, squares * n_clusters / max(1, n_clusters - 1) / n_values**2


def wilson(share: float, n: float) -> Interval:
    """Return the 95 % interval of a proportion in `n` trials; for weights, see `effective_size`.

    Source:
        Wilson (1927), "Probable inference, the law of succession, and statistical inference".
    """
    z = Z_95
    spread = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    centre = share + z * z / (2 * n)
    scale = 1 + z * z / n
    low, high = (centre - spread) / scale, (centre + spread) / scale
    return Interval(min(share, max(0.0, low)), max(share, min(1.0, high)))


def effective_size(weights: Sequence[float]) -> float:
    """Return the effective sample size: the number of equally weighted trials of equal information.

    It is `n` for equal weights, less for unequal ones, and 0 if no weight is positive.

    Source:
        Kish (1965), "Survey Sampling": (sum w)^2 / sum w^2.
    """
    largest = max(weights, default=0.0)
    if largest <= 0.0:
        return 0.0
    scaled = [weight / largest for weight in weights]
    return math.fsum(scaled) ** 2 / math.fsum(weight * weight for weight in scaled)


def paired_share_interval(n: int, n_up: int, n_down: int) -> Interval:
    """Return the 95 % interval of the difference of two proportions over the same `n` trials.

    `n_up` trials pass on the second side only, `n_down` on the first side only.

    Source:
        Agresti and Min (2005), "Simple improved confidence intervals for comparing matched
        proportions": half a trial is added to each of the four outcomes.
    """
    n_adjusted, up, down = n + 2, n_up + 0.5, n_down + 0.5
    centre = (up - down) / n_adjusted
    spread = Z_95 * math.sqrt((up + down) / n_adjusted - centre**2) / math.sqrt(n_adjusted)
    return Interval(max(-1.0, centre - spread), min(1.0, centre + spread))


def sign_test(n_up: int, n_down: int) -> float:
    """Return the two-sided p-value of the exact sign test, in (0, 1]; for binary data, McNemar's.

    `n_up` and `n_down` are the numbers of pairs with a larger second or first value, without ties.

    Source:
        Conover (1999), "Practical Nonparametric Statistics", section 3.4.
    """
    n = n_up + n_down
    term = total = 1
    for k in range(min(n_up, n_down)):
        term = term * (n - k) // (k + 1)
        total += term
    return min(1.0, 2 * total / (1 << n))


def kendall(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Return Kendall's tau-b, in [-1, 1]; NaN if one side is constant. Quadratic in the length."""
    import numpy as np

    x, y = (np.sign(np.subtract.outer(values, values)).astype(int) for values in (xs, ys))
    untied_x, untied_y = int((x != 0).sum()) // 2, int((y != 0).sum()) // 2
    if not untied_x or not untied_y:
        return math.nan
    concordance = int((x * y).sum()) // 2
    tau = concordance / math.sqrt(untied_x) / math.sqrt(untied_y)
    return min(1.0, max(-1.0, tau))


def assign(gains: Any) -> dict[int, int]:
    """Assign columns to rows with the maximum total gain; pairs without a gain are left out.

    Args:
        gains: Array of rows by columns, finite and not negative; need not be square.

    Source:
        The assignment problem (Kuhn, 1955), solved by the algorithm of Jonker and Volgenant (1987)
        in `lapx`.
    """
    if not gains.size:
        return {}
    from lap import lapjvx

    rows, columns = lapjvx(gains.max() - gains, extend_cost=True, return_cost=False)
    pairs = sorted(zip(rows.tolist(), columns.tolist(), strict=True))
    return {i: j for i, j in pairs if gains[i, j] > 0}
