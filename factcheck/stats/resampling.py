"""Resampling, reproducible from a seed, and paired comparison of two sides over the same units.

Units (documents, records, cases) are resampled as a whole, because the values within a unit are not
independent. Percentile intervals are too narrow below about twenty units, and have no width if all
units are equal.

p-values come from paired randomization: under the null hypothesis, the two results of a unit are
exchangeable, so they are swapped at random, or in every possible way if there are few units. Unlike
a bootstrap p-value, this keeps its level for a handful of units; with five, p is at least 1 / 16.

Source:
    Bootstrap: Efron and Tibshirani (1993), "An Introduction to the Bootstrap", chapter 13.
    Randomization: Noreen (1989), "Computer-intensive methods for testing hypotheses"; for F1, Yeh
    (2000), "More accurate tests for the statistical significance of result differences".
    Step-down maximum: Westfall and Young (1993), "Resampling-based multiple testing", 4.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from factcheck.stats.intervals import Estimate, Interval, cluster_interval, sign_test

Matrix = np.ndarray[Any, np.dtype[np.float64]]
N_RESAMPLES = 2000
"""Number of bootstrap resamples, and maximum number of randomizations."""
_N_GROUP_RESAMPLES = 500
"""Fewer, because each computes a statistic in Python."""
_TAILS = (0.025, 0.975)
FEW_UNITS = 10
"""Number of units below which percentile intervals are too narrow for a closed form not to serve
better: Student's t for means, Wilson's for proportions."""
_MAX_NUMBERS = 4_000_000
"""Maximum number of weights in one array: 32 MB."""
SIGNIFICANT = 0.05
"""Significance level of `Comparison.is_significant`."""
NEGLIGIBLE = 1e-9
"""Maximum difference that is treated as a rounding error."""


def bootstrap_weights(n: int) -> Iterator[Matrix]:
    """Bootstrap counts of `n` units, as blocks of bounded size: units by resamples."""
    rng = np.random.default_rng(0)
    for size in _block_sizes(n):
        draws = np.empty((size, n))
        for row in draws:
            row[:] = np.bincount(rng.integers(0, n, n, np.int32), minlength=n)
        yield draws.T


def sign_flips(n: int) -> Iterator[Matrix]:
    """Yield random swaps of `n` pairs, 1 or 0 with equal probability; shaped like the weights.

    If there are no more ways to swap than resamples, each way except "none" is returned once.
    """
    if n < (N_RESAMPLES + 1).bit_length():
        ways = np.arange(1, 2**n)
        yield (ways >> np.arange(n)[:, None] & 1).astype(float)
        return
    rng = np.random.default_rng(0)
    for size in _block_sizes(n):
        yield rng.integers(0, 2, (n, size), np.int8).astype(float)


def _block_sizes(n: int) -> Iterator[int]:
    most = max(1, _MAX_NUMBERS // max(1, n))
    for start in range(0, N_RESAMPLES, most):
        yield min(most, N_RESAMPLES - start)


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

    Bootstrapped; with fewer than `FEW_UNITS`, or if all values are equal, the `cluster_interval` of
    single values. Values are from `low` to 1.
    """
    if len(values) < FEW_UNITS or len(set(values)) == 1:
        return cluster_interval([(1, value) for value in values], low)
    draws = np.random.default_rng(0).integers(0, len(values), (N_RESAMPLES, len(values)))
    return percentile_interval(np.asarray(values, dtype=float)[draws].mean(axis=1))


def mean_estimate(values: Sequence[float], low: float = 0.0) -> Estimate:
    """Return the mean over units with its `mean_interval`; no value if there are none."""
    return Estimate(fmean(values), mean_interval(values, low)) if values else Estimate(None)


def bootstrap_groups(groups: Any, statistic: Callable[[Any], float | None]) -> Interval | None:
    """Return the 95 % interval of a statistic of rows, given the group number of each.

    Whole groups are resampled. The statistic maps an array of row numbers, which may repeat, to a
    value, or to `None` where it is undefined. Returns `None` with fewer than `FEW_UNITS` groups, or
    if it is undefined in more than half of the resamples.
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


def bootstrap_scores(scores: SumScores, minus: SumScores | None = None) -> dict[str, Interval]:
    """Return the 95 % interval of each score, or of its difference to `minus`.

    Both sides must have the same units in the same order; they share resamples. With fewer than two
    units, or if undefined, an interval is (0, 1), that of a difference (-1, 1).
    """
    unknown = Interval(0.0 if minus is None else -1.0, 1.0)
    if scores.n_units < 2:  # noqa: PLR2004 - one unit has no spread
        return dict.fromkeys(scores.names, unknown)
    blocks = []
    for weights in bootstrap_weights(scores.n_units):
        values = scores.resampled(weights)
        blocks.append(values if minus is None else values - minus.resampled(weights))
    found = (percentile_interval(row) or unknown for row in np.hstack(blocks))
    return dict(zip(scores.names, found, strict=True))


@dataclass(frozen=True, slots=True)
class Comparison:
    """One score of two sides, over their common units."""

    a: float
    b: float
    difference: float
    """`b - a`."""
    interval: Interval | None = None
    """95 % interval of the difference; `None` with fewer than `FEW_UNITS` units."""
    p_value: float | None = None
    """Two-sided p-value of the difference."""
    p_adjusted: float | None = None
    """The p-value adjusted for the number of scores compared."""

    @property
    def p(self) -> float | None:
        """The adjusted p-value, or else the plain one."""
        if self.p_adjusted is None:
            return self.p_value
        return self.p_adjusted

    @property
    def is_significant(self) -> bool:
        """Whether `p` is below 0.05."""
        return self.p is not None and self.p < SIGNIFICANT


Unit = tuple[Any, float, float]
"""Name of a unit, and its values on both sides."""


class Changes(NamedTuple):
    """Units by direction of change, largest change first."""

    better: list[Unit]
    worse: list[Unit]
    unchanged: list[Unit]
    p_value: float
    """p-value of the exact sign test of `better` against `worse`, in (0, 1]."""


def split_changes(units: Sequence[Unit]) -> Changes:
    """Split units into better, worse and unchanged ones, and test the first two for balance."""
    better = [(name, a, b) for name, a, b in units if b - a > NEGLIGIBLE]
    worse = [(name, a, b) for name, a, b in units if a - b > NEGLIGIBLE]
    unchanged = [(name, a, b) for name, a, b in units if abs(b - a) <= NEGLIGIBLE]
    better.sort(key=lambda unit: unit[1] - unit[2])
    worse.sort(key=lambda unit: unit[2] - unit[1])
    return Changes(better, worse, unchanged, sign_test(len(better), len(worse)))


def compare_scores(a: SumScores, b: SumScores) -> tuple[dict[str, Comparison], Matrix]:
    """Compare every score of two sides over the same units, in the same order; none is undefined.

    Returns:
        Comparisons by name, unadjusted (`p_adjusted` is `p_value`), and the differences under
        randomization, one row per score, for `step_down`.
    """
    scores_a, scores_b = a.observed(), b.observed()
    by_chance = np.hstack(list(_randomized(a, b)))
    intervals: Mapping[str, Interval] = {}
    if a.n_units >= FEW_UNITS:
        intervals = bootstrap_scores(b, a)
    found = {}
    for name, of_a, of_b, chances in zip(a.names, scores_a, scores_b, by_chance, strict=True):
        p_value = randomization_p(abs(of_b - of_a), np.abs(chances))
        found[name] = Comparison(of_a, of_b, of_b - of_a, intervals.get(name), p_value, p_value)
    return found, by_chance


def compare_means(values: Iterable[Unit]) -> Comparison:
    """Compare the means of two sides over grouped values; whole groups are drawn and swapped."""
    groups: dict[str, list[float]] = {}
    for name, a, b in values:
        sums = groups.get(name, [0.0, 0.0, 0.0])
        groups[name] = [sums[0] + a, sums[1] + b, sums[2] + 1]
    table = np.array([*groups.values()]).T
    ours, theirs = (
        SumScores(("mean",), table[[side, 2]], lambda sums: sums[:1] / sums[1:]) for side in (0, 1)
    )
    return compare_scores(ours, theirs)[0]["mean"]


def at_equal_length(values: Sequence[tuple[str, float, float]]) -> Estimate:
    """Estimate the difference of two sides if their texts were equally long.

    The differences of the units are fitted by a line on the logarithm of the ratio of the lengths,
    which is read where that is 0. Whole groups are resampled.

    Args:
        values: Group, difference of the scores and logarithm of the ratio of the lengths.

    Returns:
        No value where all ratios are alike, no interval with fewer than `FEW_UNITS` groups.

    Source:
        Dubois, Galambosi, Liang and Hashimoto (2024), "Length-Controlled AlpacaEval", with a linear
        regression in place of a logistic one.
    """
    numbers: dict[str, int] = {}
    groups = np.array([numbers.setdefault(name, len(numbers)) for name, _, _ in values])
    differences = np.array([difference for _, difference, _ in values], dtype=float)
    ratios = np.array([ratio for _, _, ratio in values], dtype=float)

    def read(rows: Any) -> float | None:
        own = ratios[rows] - ratios[rows].mean()
        spread = float(own @ own)
        if spread < NEGLIGIBLE:
            return None
        slope = float(own @ differences[rows]) / spread
        return float(differences[rows].mean() - slope * ratios[rows].mean())

    value = read(np.arange(len(values)))
    if value is None:
        return Estimate(None, why="all summaries differ alike in length")
    return Estimate(value, bootstrap_groups(groups, read))


def _randomized(a: SumScores, b: SumScores) -> Iterator[Matrix]:
    """Yield differences with the results of random units swapped, in blocks of columns."""
    differing = np.unique((a.table != b.table).nonzero()[1])
    is_equal = np.ones(a.n_units, dtype=bool)
    is_equal[differing] = False
    rest = a.table[:, is_equal].sum(axis=1, keepdims=True)
    of_a, of_b = a.table[:, differing], b.table[:, differing]
    for flips in sign_flips(a.n_units):
        swap = flips[differing]
        as_a = rest + (weighted_sums(of_a, 1 - swap) + weighted_sums(of_b, swap))
        as_b = rest + (weighted_sums(of_b, 1 - swap) + weighted_sums(of_a, swap))
        yield b.scores(as_b) - a.scores(as_a)


def randomization_p(size: float, by_chance: Matrix) -> float:
    """Return the share of randomizations of at least this size, the observed one included."""
    limit = size * (1 - NEGLIGIBLE) if size > NEGLIGIBLE else 0.0
    n_smaller = int(np.count_nonzero(by_chance < limit))
    return (1 + len(by_chance) - n_smaller) / (1 + len(by_chance))


def step_down(differences: Sequence[float], by_chance: Matrix, spread: Matrix) -> list[float]:
    """Adjust p-values for multiple comparisons by the step-down maximum.

    The adjusted p-value is the fraction of randomizations in which any comparison that is not
    clearer, measured in units of its spread, reaches the observed difference. Randomizations, one
    row per comparison, are shared, so correlations between comparisons are taken into account.
    """
    sizes = np.abs(differences) / spread
    clearest_first = np.argsort(-sizes, kind="stable")
    adjusted = np.ones(len(sizes))
    largest = np.zeros(by_chance.shape[1])
    for row in reversed(clearest_first):
        largest = np.maximum(largest, np.abs(by_chance[row]) / spread[row])
        adjusted[row] = randomization_p(sizes[row], largest)
    adjusted[clearest_first] = np.maximum.accumulate(adjusted[clearest_first])
    return [float(p_value) for p_value in adjusted]
