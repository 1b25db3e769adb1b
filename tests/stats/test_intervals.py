"""Intervals and tests agree with published examples, SciPy and their own definitions."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from factcheck.stats.intervals import (
    cluster_interval,
    effective_size,
    paired_share_interval,
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


@pytest.mark.parametrize("degrees", [1, 2, 9, 30, 31, 60, 1000])
def test_quantiles_of_students_t(degrees: int) -> None:
    assert t_95(degrees) == pytest.approx(scipy_stats.t.ppf(0.975, degrees), abs=6e-4)


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

    def test_one_cluster_has_no_interval(self) -> None:
        assert cluster_interval([(7, 3.0)]) is None


class TestEffectiveSize:
    """How many equal trials some weights amount to."""

    @given(st.lists(st.floats(0.0, 1e308, allow_nan=False), max_size=8))
    def test_it_is_at_most_the_number_of_weights(self, weights: list[float]) -> None:
        assert 0.0 <= effective_size(weights) <= len(weights) + 1e-9

    def test_of_equal_weights_it_is_their_number(self) -> None:
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
