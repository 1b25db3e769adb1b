"""Intervals, tests and correlations agree with SciPy, published examples and their definitions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from scipy.optimize import linear_sum_assignment

from factcheck.stats.intervals import (
    assign,
    cluster_interval,
    effective_size,
    kendall,
    paired_share_interval,
    share_interval,
    sign_test,
    t_95,
    wilson,
)


def test_wilsons_interval_agrees_with_the_published_example() -> None:
    """15 successes in 50 trials: .191 to .438."""
    assert wilson(15 / 50, 50) == pytest.approx((0.1910, 0.4375), abs=5e-4)


@given(st.integers(0, 60), st.floats(0.5, 60))
def test_wilsons_interval_holds_the_share(hits: int, n: float) -> None:
    share = min(1.0, hits / n)
    low, high = wilson(share, n)
    assert 0.0 <= low <= share <= high <= 1.0


def test_quantiles_of_students_t() -> None:
    for degrees in (*range(1, 41), 1000):
        error = 1e-4 if degrees > 30 else 6e-4
        assert t_95(degrees) == pytest.approx(scipy_stats.t.ppf(0.975, degrees), abs=error)


class TestClusters:
    """Means of values that come in clusters."""

    def test_clusters_of_one_give_students_interval(self) -> None:
        values = [0.4, 0.5, 0.6, 0.7]
        mean, error = sum(values) / 4, scipy_stats.sem(values)
        expected = scipy_stats.t.interval(0.95, 3, mean, error)
        assert cluster_interval([(1, value) for value in values]) == pytest.approx(
            expected, abs=1e-3
        )

    def test_repeated_values_of_a_cluster_add_no_certainty(self) -> None:
        once = cluster_interval([(1, 0.2), (1, 0.6), (1, 0.7)])
        assert cluster_interval([(5, 1.0), (5, 3.0), (5, 3.5)]) == pytest.approx(once)

    def test_it_stays_within_the_shares(self) -> None:
        interval = cluster_interval([(1, 1.0), (1, 1.0), (1, 0.5)])
        assert interval is not None
        assert interval.high == 1.0
        assert cluster_interval([(7, 3.0)]) is None


class TestShares:
    """Proportions over trials that come in clusters."""

    @given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=8))
    def test_it_holds_the_share_and_is_never_narrower_than_wilsons(
        self, pairs: list[tuple[int, int]]
    ) -> None:
        counts = [(max(pair), min(pair)) for pair in pairs]
        found, trials = share_interval(counts), sum(n for n, _ in counts)
        if not trials:
            assert found is None
            return
        share = sum(hits for _, hits in counts) / trials
        plain = wilson(share, trials)
        assert found is not None
        assert 0.0 <= found.low <= share <= found.high <= 1.0
        assert found.high - found.low >= plain.high - plain.low - 1e-9

    def test_few_facts_have_wilsons_interval_and_never_none_of_what_was_found(self) -> None:
        """2 of 6 in three documents: neither 0 % nor at most 50 %, as resampling says."""
        found = share_interval([(2, 0), (2, 1), (2, 1)])
        assert found == wilson(2 / 6, 6) == pytest.approx((0.097, 0.700), abs=1e-3)
        assert share_interval([(3, 1)]) == wilson(1 / 3, 3)

    def test_clusters_that_differ_count_as_fewer_trials(self) -> None:
        """All or nothing in each of ten documents is as if each had one fact."""
        alike = share_interval([(20, 20 * (n % 2)) for n in range(10)])
        assert alike == pytest.approx(wilson(0.5, 9))
        assert share_interval([(1, 0.5)] * 10, 200) == wilson(0.5, 200)


@given(st.lists(st.floats(0.0, 1e308, allow_nan=False), max_size=8))
def test_the_effective_size_is_at_most_the_number_of_weights(weights: list[float]) -> None:
    assert 0.0 <= effective_size(weights) <= len(weights) + 1e-9
    assert effective_size([0.5] * 7) == pytest.approx(7)


@given(st.integers(0, 40), st.integers(0, 40))
def test_the_sign_test_is_the_binomial_test(n_up: int, n_down: int) -> None:
    n = n_up + n_down
    exact = 2 * sum(math.comb(n, k) for k in range(min(n_up, n_down) + 1)) / 2**n
    assert sign_test(n_up, n_down) == pytest.approx(min(1.0, exact))
    assert sign_test(n_up, n_down) == sign_test(n_down, n_up)


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
def test_the_interval_of_a_paired_difference_holds_it_and_is_symmetric(
    n_same: int, n_up: int, n_down: int
) -> None:
    n = n_same + n_up + n_down
    low, high = paired_share_interval(max(n, 1), n_up, n_down)
    assert -1.0 <= low <= high <= 1.0
    assert paired_share_interval(max(n, 1), n_down, n_up) == pytest.approx((-high, -low))
    if n:
        assert low <= (n_up - n_down) / n * n / (n + 2) <= high


VALUES = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.25, 0.5, 1.0]))


@given(pairs=st.lists(st.tuples(VALUES, VALUES), min_size=3, max_size=15))
def test_kendall_agrees_with_scipy(pairs: list[tuple[float, float]]) -> None:
    xs, ys = map(list, zip(*pairs, strict=True))
    if min(np.ptp(xs), np.ptp(ys)) < 1e-6:
        assert math.isnan(kendall([0.1, 0.1, 0.1], ys))
        return
    assert kendall(xs, ys) == pytest.approx(scipy_stats.kendalltau(xs, ys).statistic, abs=1e-12)


@given(
    st.integers(1, 7).flatmap(
        lambda m: st.lists(
            st.lists(st.sampled_from([0.0, 0.1, 1 / 3, 0.5, 0.7, 1.0]), min_size=m, max_size=m),
            min_size=1,
            max_size=7,
        )
    )
)
def test_it_has_the_total_of_scipy_and_no_pair_without_gain(rows: list[list[float]]) -> None:
    check(np.array(rows))


def check(gains: np.ndarray[Any, Any]) -> None:
    found = assign(gains)
    assert len(set(found.values())) == len(found)
    assert all(gains[i, j] > 0 for i, j in found.items())
    best = gains[linear_sum_assignment(gains, maximize=True)].sum()
    assert sum(gains[i, j] for i, j in found.items()) == pytest.approx(best)


def test_nothing_is_assigned_to_nothing() -> None:
    for shape in ((0, 3), (3, 0), (0, 0)):
        assert assign(np.zeros(shape)) == {}


@pytest.mark.parametrize(("n", "m"), [(60, 80), (80, 60)])
def test_large_ones_with_many_ties_and_gains_that_are_no_binary_fractions(n: int, m: int) -> None:
    for seed in range(5):
        draw = np.random.default_rng(seed)
        check(draw.integers(0, 6, (n, m)) / draw.integers(5, 8, (n, m)) / 1.2)
