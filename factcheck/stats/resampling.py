"""Percentile bootstrap and random sign flips, reproducible from a seed.

Units (documents, records, cases) are resampled as a whole, because the values within a unit are not
independent. Bootstrap intervals are too narrow below about twenty units, and have no width if all
units are equal.

Source:
    Efron and Tibshirani (1993), "An Introduction to the Bootstrap", chapter 13.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from factcheck.stats.intervals import Estimate, Interval, cluster_interval, wilson

Matrix = np.ndarray[Any, np.dtype[np.float64]]
N_RESAMPLES = 2000
_N_GROUP_RESAMPLES = 500
"""Fewer, because each computes a statistic in Python."""
_TAILS = (0.025, 0.975)
FEW_UNITS = 10
"""Number of units below which percentile intervals are too narrow for a closed form not to serve
better: Student's t for means, Wilson's for proportions."""
_MAX_NUMBERS = 4_000_000
"""Maximum number of weights in one array: 32 MB."""


def bootstrap_weights(n: int, n_resamples: int, seed: int) -> Iterator[Matrix]:
    """Bootstrap counts of `n` units, as blocks of bounded size: units by resamples."""
    rng = np.random.default_rng(seed)
    for size in _block_sizes(n, n_resamples):
        draws = np.empty((size, n))
        for row in draws:
            row[:] = np.bincount(rng.integers(0, n, n, np.int32), minlength=n)
        yield draws.T


def sign_flips(n: int, n_resamples: int, seed: int) -> Iterator[Matrix]:
    """Yield random swaps of `n` pairs, 1 or 0 with equal probability; shaped like the weights.

    If there are no more ways to swap than resamples, each way except "none" is returned once.
    """
    if n < (n_resamples + 1).bit_length():
        ways = np.arange(1, 2**n)
        yield (ways >> np.arange(n)[:, None] & 1).astype(float)
        return
    rng = np.random.default_rng(seed)
    for size in _block_sizes(n, n_resamples):
        yield rng.integers(0, 2, (n, size), np.int8).astype(float)


def _block_sizes(n: int, n_resamples: int) -> Iterator[int]:
    most = max(1, _MAX_NUMBERS // max(1, n))
    for start in range(0, n_resamples, most):
        yield min(most, n_resamples - start)


def percentile_interval(values: Any) -> Interval | None:
    """Return the central 95 % of resampled values, ignoring NaN; `None` if nothing is left."""
    array = np.asarray(values, dtype=float)
    known = array[~np.isnan(array)]
    if not len(known):
        return None
    low, high = np.quantile(known, _TAILS)
    return Interval(float(low), float(high))


def mean_interval(values: Sequence[float], low: float = 0.0) -> Interval | None:
    """Return the 95 % interval of a mean over units; `None` with fewer than two.

    Bootstrapped; with fewer than `FEW_UNITS`, Student's t, or Wilson's if all values are equal.
    Values are from `low` to 1.
    """
    if 1 < len(values) < FEW_UNITS and len(set(values)) == 1:
        ends = wilson((values[0] - low) / (1 - low), len(values))
        return Interval(*(low + (1 - low) * end for end in ends))
    if len(values) < FEW_UNITS:
        return cluster_interval([(1, value) for value in values], low)
    draws = np.random.default_rng(0).integers(0, len(values), (N_RESAMPLES, len(values)))
    return percentile_interval(np.asarray(values, dtype=float)[draws].mean(axis=1))


def mean_estimate(values: Sequence[float], why: str = "", low: float = 0.0) -> Estimate:
    """Return the mean over units with its `mean_interval`, or `why` if there are none."""
    return (
        Estimate(fmean(values), mean_interval(values, low)) if values else Estimate(None, why=why)
    )


def bootstrap_groups(groups: Any, statistic: Callable[[Any], float | None]) -> Interval | None:
    """Return the 95 % interval of a statistic of grouped rows; whole groups are resampled.

    Args:
        groups: Group number of each row, an array of integers.
        statistic: Maps an array of row numbers, which may repeat, to a value, or `None` if it is
            undefined.

    Returns:
        `None` with fewer than `FEW_UNITS` groups, or if the statistic is undefined in more than
        half of the resamples.
    """
    order = np.argsort(groups, kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(np.asarray(groups)[order])) + 1)
    if len(members) < FEW_UNITS:
        return None
    rng = np.random.default_rng(0)
    values = []
    for _ in range(_N_GROUP_RESAMPLES):
        drawn = rng.integers(0, len(members), len(members))
        value = statistic(np.concatenate([members[place] for place in drawn]))
        if value is not None:
            values.append(value)
    if 2 * len(values) >= _N_GROUP_RESAMPLES:
        return percentile_interval(values)
    return None


@dataclass(frozen=True)
class SumScores:
    """Scores that are functions of sums over units, so that a resample is one matrix product."""

    names: Sequence[str]
    """Names of the scores."""
    table: Matrix
    """Summands: quantities by units."""
    scores: Callable[[Matrix], Matrix]
    """Maps sums (quantities by resamples) to scores (names by resamples); NaN if undefined."""

    @property
    def n_units(self) -> int:
        return int(self.table.shape[1])

    def observed(self) -> list[float]:
        """Return the scores over all units, each counted once."""
        sums = self.table.sum(axis=1, keepdims=True)
        return [float(value) for value in self.scores(sums)[:, 0]]

    def resampled(self, weights: Matrix) -> Matrix:
        """Return the scores of resamples, given the counts of each unit."""
        return self.scores(weighted_sums(self.table, weights))


def weighted_sums(table: Matrix, weights: Matrix) -> Matrix:
    """Return `table @ weights`, summed in the same order on every machine, unlike `@`."""
    sums: Matrix = np.einsum("ij,jk->ik", weights.T, table.T).T
    return sums


def bootstrap_scores(
    scores: SumScores, n_resamples: int, seed: int, *, minus: SumScores | None = None
) -> dict[str, Interval]:
    """Return the 95 % interval of each score, or of its difference to `minus`.

    Both sides must have the same units in the same order; they share resamples. With fewer than two
    units, or if undefined, an interval is (0, 1), that of a difference (-1, 1).
    """
    unknown = Interval(0.0 if minus is None else -1.0, 1.0)
    if scores.n_units < 2:  # noqa: PLR2004 - one unit has no spread
        return dict.fromkeys(scores.names, unknown)
    draws = bootstrap_weights(scores.n_units, n_resamples, seed)
    blocks = []
    for weights in draws:
        values = scores.resampled(weights)
        blocks.append(values if minus is None else values - minus.resampled(weights))
    found = (percentile_interval(row) or unknown for row in np.hstack(blocks))
    return dict(zip(scores.names, found, strict=True))
