"""Paired comparison of two sides over the same units, with significance tests.

p-values come from paired randomization: under the null hypothesis, the two results of a unit are
exchangeable, so they are swapped at random, or in every possible way if there are few units. Unlike
a bootstrap p-value, this keeps its level for a handful of units; with five, p is at least 1 / 16.

Source:
    Randomization: Noreen (1989), "Computer-intensive methods for testing hypotheses"; for F1, Yeh
    (2000), "More accurate tests for the statistical significance of result differences".
    Step-down maximum: Westfall and Young (1993), "Resampling-based multiple testing", 4.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from factcheck.stats.intervals import Estimate, Interval, sign_test
from factcheck.stats.resampling import (
    N_RESAMPLES,
    Matrix,
    SumScores,
    bootstrap_groups,
    bootstrap_scores,
    sign_flips,
    weighted_sums,
)

SIGNIFICANT = 0.05
"""Significance level of `Comparison.is_significant`."""
NEGLIGIBLE = 1e-9
"""Maximum difference that is treated as a rounding error."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One score of two sides, over their common units."""

    a: float
    b: float
    difference: float
    """`b - a`."""
    interval: Interval | None = None
    """95 % interval of the difference."""
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


class Change(NamedTuple):
    """One unit on both sides."""

    name: str | int
    a: float
    b: float

    def as_plain(self) -> dict[str, str | float]:
        return self._asdict()


class Changes(NamedTuple):
    """Units by direction of change, largest change first."""

    better: tuple[Change, ...]
    worse: tuple[Change, ...]
    unchanged: tuple[Change, ...]
    p_value: float
    """p-value of the exact sign test of `better` against `worse`, in (0, 1]."""

    def as_plain(self) -> dict[str, object]:
        return self._asdict()


def split_changes(changes: Iterable[Change]) -> Changes:
    """Split units into better, worse and unchanged ones, and test the first two for balance."""
    every = list(changes)
    better = sorted((c for c in every if c.b - c.a > NEGLIGIBLE), key=lambda c: c.a - c.b)
    worse = sorted((c for c in every if c.a - c.b > NEGLIGIBLE), key=lambda c: c.b - c.a)
    unchanged = tuple(c for c in every if abs(c.b - c.a) <= NEGLIGIBLE)
    return Changes(tuple(better), tuple(worse), unchanged, sign_test(len(better), len(worse)))


def compare_scores(
    a: SumScores, b: SumScores, n_resamples: int, seed: int
) -> tuple[dict[str, Comparison], Matrix]:
    """Compare every score of two sides over the same units, in the same order.

    Args:
        a: Baseline.
        b: The other side; its gains are positive. No score may be undefined.
        n_resamples: Number of bootstrap resamples, and maximum number of randomizations. The
            smallest p-value is `1 / (n_resamples + 1)`.
        seed: Random seed.

    Returns:
        Comparisons by name, unadjusted (`p_adjusted` is `p_value`), and the differences under
        randomization, one row per score, for `step_down`.
    """
    scores_a, scores_b = a.observed(), b.observed()
    by_chance = np.hstack(list(_randomized(a, b, n_resamples, seed)))
    intervals = bootstrap_scores(b, n_resamples, seed, minus=a)
    found = {}
    for name, of_a, of_b, chances in zip(a.names, scores_a, scores_b, by_chance, strict=True):
        p_value = randomization_p(abs(of_b - of_a), np.abs(chances))
        found[name] = Comparison(of_a, of_b, of_b - of_a, intervals[name], p_value, p_value)
    return found, by_chance


def compare_means(values: Iterable[tuple[str, float, float]]) -> Comparison:
    """Compare the means of two sides over grouped values; whole groups are resampled and swapped.

    Args:
        values: Group, value of side a and value of side b; at least one.
    """
    groups: dict[str, list[float]] = {}
    for name, a, b in values:
        sums = groups.get(name, [0.0, 0.0, 0.0])
        groups[name] = [sums[0] + a, sums[1] + b, sums[2] + 1]
    table = np.array([*groups.values()]).T
    ours, theirs = (
        SumScores(("mean",), table[[side, 2]], lambda sums: sums[:1] / sums[1:]) for side in (0, 1)
    )
    return compare_scores(ours, theirs, N_RESAMPLES, 0)[0]["mean"]


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


def _randomized(a: SumScores, b: SumScores, n_resamples: int, seed: int) -> Iterator[Matrix]:
    """Yield differences with the results of random units swapped, in blocks of columns."""
    differing = np.unique((a.table != b.table).nonzero()[1])
    is_equal = np.ones(a.n_units, dtype=bool)
    is_equal[differing] = False
    rest = a.table[:, is_equal].sum(axis=1, keepdims=True)
    of_a, of_b = a.table[:, differing], b.table[:, differing]
    for flips in sign_flips(a.n_units, n_resamples, seed):
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
    clearer, measured in units of its spread, reaches the observed difference. Randomizations are
    shared, so correlations between comparisons are taken into account.

    Args:
        differences: Observed differences.
        by_chance: Differences under randomization, one row per comparison.
        spread: Positive scale of each comparison, such as a standard deviation.
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
