"""Resampling and comparisons are reproducible, keep their level, and agree with work by hand."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from factcheck.stats import resampling
from factcheck.stats.intervals import Interval, cluster_interval, sign_test, wilson
from factcheck.stats.resampling import (
    FEW_UNITS,
    NEGLIGIBLE,
    Comparison,
    SumScores,
    bootstrap_groups,
    bootstrap_scores,
    bootstrap_weights,
    compare_means,
    compare_scores,
    mean_estimate,
    mean_interval,
    percentile_interval,
    randomization_p,
    sign_flips,
    split_changes,
)


def mean_of(values: list[float]) -> SumScores:
    table = np.array([values, [1.0] * len(values)])
    return SumScores(("mean",), table, lambda sums: sums[:1] / sums[1:])


class TestDraws:
    """What is drawn."""

    def test_a_resample_has_as_many_units_as_there_are(self) -> None:
        weights = np.hstack(list(bootstrap_weights(7)))
        assert weights.shape == (7, 2000)
        assert (weights.sum(axis=0) == 7).all()
        assert abs(weights.mean(axis=1) - 1).max() < 0.2

    def test_flips_fall_on_both_sides_as_often(self) -> None:
        flips = np.hstack(list(sign_flips(12)))
        assert flips.shape == (12, 2000)
        assert set(np.unique(flips)) == {0.0, 1.0}
        assert abs(flips.mean() - 0.5) < 0.03

    @pytest.mark.parametrize("n_resamples", [7, 14])
    def test_few_flips_fall_in_every_way_but_none(
        self, n_resamples: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(resampling, "N_RESAMPLES", n_resamples)
        flips = np.hstack(list(sign_flips(3)))
        expected = set(itertools.product((0.0, 1.0), repeat=3)) - {(0.0, 0.0, 0.0)}
        assert sorted(map(tuple, flips.T)) == sorted(expected)
        monkeypatch.setattr(resampling, "N_RESAMPLES", 6)
        assert np.hstack(list(sign_flips(3))).shape == (3, 6)

    def test_blocks_of_draws_are_one_sequence(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(resampling, "N_RESAMPLES", 40)
        whole = np.hstack(list(bootstrap_weights(5)))
        monkeypatch.setattr(resampling, "_MAX_NUMBERS", 35)
        blocks = list(bootstrap_weights(5))
        assert len(blocks) == 6
        assert (np.hstack(blocks) == whole).all()


class TestIntervals:
    """Intervals of single statistics."""

    def test_the_interval_is_the_middle_of_the_values(self) -> None:
        assert percentile_interval(range(1001)) == (25.0, 975.0)
        assert percentile_interval([float("nan"), 2.0]) == (2.0, 2.0)
        assert percentile_interval([float("nan")]) is None

    @pytest.mark.parametrize("n", [3, 6, 30])
    def test_it_covers_the_mean_as_often_as_it_promises(self, n: int) -> None:
        rng = np.random.default_rng(0)
        found = [mean_interval(rng.random(n).tolist()) for _ in range(200)]
        assert sum(one is not None and one.low <= 0.5 <= one.high for one in found) >= 180

    def test_few_units_have_students_interval_and_one_has_none(self) -> None:
        few = [0.2, 0.4, 0.9]
        assert mean_interval(few) == cluster_interval([(1, value) for value in few])
        assert mean_interval([-0.9, 0.8], low=-1.0) == (-1.0, 1.0)
        assert mean_interval([1.0] * 3) == pytest.approx(wilson(1.0, 3))
        low, high = wilson(0.75, 3)
        assert mean_interval([0.5] * 3, low=-1.0) == pytest.approx((2 * low - 1, 2 * high - 1))
        assert mean_interval([0.5]) is None

    def test_rows_of_a_group_stay_together(self) -> None:
        groups = np.arange(2 * FEW_UNITS) // 2

        def whole(rows: Any) -> float:
            counts = np.bincount(rows, minlength=len(groups))
            assert (counts[::2] == counts[1::2]).all()
            return float(len(rows))

        assert bootstrap_groups(groups, whole) == (20.0, 20.0)

    def test_few_groups_or_a_statistic_that_is_mostly_undefined_have_no_interval(self) -> None:
        groups = np.arange(FEW_UNITS)
        assert bootstrap_groups(groups, lambda rows: 1.0) == (1.0, 1.0)
        assert bootstrap_groups(groups[1:], lambda rows: 1.0) is None
        assert bootstrap_groups(groups, lambda rows: None) is None


VALUES = [0.1, 0.4, 0.4, 0.9]


class TestScores:
    """Intervals of scores that depend on sums."""

    def test_a_mean_of_sums_has_the_interval_of_all_resamples(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Of four units there are 256 resamples, which can be listed."""
        monkeypatch.setattr(resampling, "N_RESAMPLES", 20_000)
        means = [sum(some) / 4 for some in itertools.product(VALUES, repeat=4)]
        scores = mean_of(VALUES)
        assert scores.observed() == pytest.approx([0.45])
        found = bootstrap_scores(scores)["mean"]
        assert found == pytest.approx(tuple(np.quantile(means, (0.025, 0.975))), abs=0.02)

    def test_both_sides_are_scored_on_the_same_resamples(self) -> None:
        a, b = (mean_of([value + k for value in VALUES]) for k in (0.0, 0.25))
        assert bootstrap_scores(b, a)["mean"] == pytest.approx((0.25, 0.25))

    def test_what_is_unknown_has_the_widest_interval(self) -> None:
        one, none = mean_of([0.5]), SumScores(("x",), np.ones((1, 3)), lambda sums: sums * np.nan)
        assert bootstrap_scores(one) == {"mean": (0.0, 1.0)}
        assert bootstrap_scores(one, one) == {"mean": (-1.0, 1.0)}
        assert bootstrap_scores(none) == {"x": (0.0, 1.0)}
        assert bootstrap_scores(mean_of([0.2, 0.4]))["mean"] == pytest.approx((0.2, 0.4))


def test_an_estimate_of_a_mean_has_its_interval() -> None:
    found = mean_estimate([0.2, 0.4])
    assert found.value == pytest.approx(0.3)
    assert found.interval == mean_interval([0.2, 0.4])
    assert found.as_plain() == {"value": found.value, "interval": [0.0, 1.0]}
    assert mean_estimate([]).as_plain() == {"value": None, "interval": None}


def test_a_difference_of_means_is_tested_by_swapping_units() -> None:
    """Five units that all gain: of 32 ways to swap, two give so much."""
    a, b = mean_of([0.1, 0.2, 0.3, 0.4, 0.5]), mean_of([0.2, 0.3, 0.5, 0.5, 0.7])
    scores, by_chance = compare_scores(a, b)
    found = scores["mean"]
    assert by_chance.shape == (1, 31)
    assert (found.a, found.b, found.difference) == pytest.approx((0.3, 0.44, 0.14))
    assert found.p_value == found.p_adjusted == 2 / 32
    assert found.interval is None


def test_the_observed_difference_is_one_of_the_randomizations() -> None:
    assert randomization_p(1.0, np.zeros(99)) == 0.01
    assert randomization_p(0.0, np.zeros(99)) == 1.0


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=9))
@example([(0.0, NEGLIGIBLE), (NEGLIGIBLE, 0.0)])
def test_every_change_is_better_worse_or_neither(pairs: list[tuple[float, float]]) -> None:
    units = [(n, *pair) for n, pair in enumerate(pairs)]
    found = split_changes(units)
    assert sorted((*found.better, *found.worse, *found.unchanged)) == units
    gains = [b - a for _, a, b in found.better]
    losses = [a - b for _, a, b in found.worse]
    assert gains == sorted(gains, reverse=True)
    assert losses == sorted(losses, reverse=True)
    assert min([*gains, *losses], default=1.0) > 0
    assert found.p_value == sign_test(len(gains), len(losses))


def test_the_adjusted_p_value_decides_if_there_is_one() -> None:
    assert not Comparison(0.0, 1.0, 1.0, None, 0.01, 0.2).is_significant
    assert not Comparison(0.5, 0.75, 0.25, Interval(-1.0, 1.0)).is_significant
    assert Comparison(0.0, 1.0, 1.0, None, 0.01).is_significant
    assert not Comparison(0.0, 1.0, 1.0, None, 0.05).is_significant


def test_values_of_a_group_are_swapped_together() -> None:
    gains = [(0.0, 1.0)] * 7 + [(0.5, 0.5)]
    apart = compare_means((str(n), *pair) for n, pair in enumerate(gains))
    of_one = compare_means(("same", *pair) for pair in gains)
    assert (apart.a, apart.b) == (of_one.a, of_one.b) == (0.5 / 8, 7.5 / 8)
    assert (apart.p_value, of_one.p_value) == (2 / 128, 1.0)
    ten = ((str(n), 0.25, 0.75) for n in range(FEW_UNITS))
    assert compare_means(ten).interval == (0.5, 0.5)
