"""Paired comparison: whether two sides differ on the same units by more than chance explains.

p-values come from paired randomization: if the two sides do not differ, each unit might as well
have had its two results swapped, so each is swapped at random; with few units, every way to swap is
taken once. Unlike a p-value read off the bootstrap, this keeps its level for a handful of units: of
five, no test can say less than 1 in 16.

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

from factcheck.stats.intervals import Interval, sign_test
from factcheck.stats.resampling import (
    N_RESAMPLES,
    Matrix,
    SumScores,
    bootstrap_scores,
    sign_flips,
    weighted_sums,
)

SIGNIFICANT = 0.05
"""Level of `Comparison.is_significant`."""
NEGLIGIBLE = 1e-9
"""Differences up to this size are rounding."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One score of two sides, over the units that both have."""

    a: float
    b: float
    difference: float
    """`b - a`: above 0, `b` has more."""
    interval: Interval | None = None
    """95 % interval of the difference."""
    p_value: float | None = None
    """Probability of a difference at least this large in either direction by chance alone."""
    p_adjusted: float | None = None
    """The same, adjusted for the number of scores that were compared."""

    @property
    def is_significant(self) -> bool:
        """Whether the adjusted p-value, or else the plain one, is below 0.05."""
        p_value = self.p_value if self.p_adjusted is None else self.p_adjusted
        return p_value is not None and p_value < SIGNIFICANT

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready data, without the p-values that were not computed."""
        p_values = {"p_value": self.p_value, "p_adjusted": self.p_adjusted}
        return {
            "a": self.a,
            "b": self.b,
            "difference": self.difference,
            "interval": None if self.interval is None else [*self.interval],
            **{name: value for name, value in p_values.items() if value is not None},
        }


class Change(NamedTuple):
    """One unit on both sides."""

    name: str | int
    a: float
    b: float


class Changes(NamedTuple):
    """Units by the direction in which their score changed, the largest change first."""

    better: tuple[Change, ...]
    worse: tuple[Change, ...]
    unchanged: tuple[Change, ...]
    p_value: float
    """Of the exact sign test of `better` against `worse`, in (0, 1]."""


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
        a: One side.
        b: The other; its gains are positive. No score may be undefined.
        n_resamples: Resamples of the units, and randomizations if there are as many. The smallest
            p-value is `1 / (n_resamples + 1)`.
        seed: Random seed.

    Returns:
        The comparisons by name, unadjusted (`p_adjusted` is `p_value`); and the differences under
        randomization, one row per score, for `step_down`.
    """
    scores_a, scores_b = a.of_all(), b.of_all()
    by_chance = np.hstack(list(_randomized(a, b, n_resamples, seed)))
    intervals = bootstrap_scores(b, n_resamples, seed, minus=a)
    found = {}
    for name, own, other, chances in zip(a.names, scores_a, scores_b, by_chance, strict=True):
        p_value = randomization_p(abs(other - own), np.abs(chances))
        found[name] = Comparison(own, other, other - own, intervals[name], p_value, p_value)
    return found, by_chance


def compare_means(
    values: Iterable[tuple[str, float, float]], n_resamples: int = N_RESAMPLES, seed: int = 0
) -> Comparison:
    """Compare the mean of two sides over values in groups; whole groups are resampled and swapped.

    Args:
        values: Group, value of one side and of the other; at least one.
        n_resamples: As in `compare_scores`.
        seed: As in `compare_scores`.
    """
    groups: dict[str, list[float]] = {}
    for name, a, b in values:
        sums = groups.get(name, [0.0, 0.0, 0.0])
        groups[name] = [sums[0] + a, sums[1] + b, sums[2] + 1]
    table = np.array([*groups.values()]).T
    ours, theirs = (
        SumScores(("mean",), table[[side, 2]], lambda sums: sums[:1] / sums[1:]) for side in (0, 1)
    )
    return compare_scores(ours, theirs, n_resamples, seed)[0]["mean"]


def _randomized(a: SumScores, b: SumScores, n_resamples: int, seed: int) -> Iterator[Matrix]:
    """The differences with the two results of some units swapped, in blocks of columns."""
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
    """Share of randomizations with at least this size, counting the observed one; in (0, 1]."""
    limit = size * (1 - NEGLIGIBLE) if size > NEGLIGIBLE else 0.0
    n_smaller = int(np.count_nonzero(by_chance < limit))
    return (1 + len(by_chance) - n_smaller) / (1 + len(by_chance))


def step_down(differences: Sequence[float], by_chance: Matrix, spread: Matrix) -> list[float]:
    """p-values adjusted for the number of comparisons: the step-down maximum.

    The adjusted p-value is how often chance gives so clear a difference to any comparison that is
    not clearer, each measured in units of its own spread. It comes from shared randomizations, so
    it accounts for comparisons that go together.

    Args:
        differences: The observed ones.
        by_chance: Those under randomization, one row per comparison.
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
