"""The assignment has the highest total, whatever the shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from factcheck.stats.assignment import assign


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


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_nothing_is_assigned_to_nothing(shape: tuple[int, int]) -> None:
    assert assign(np.zeros(shape)) == {}


@pytest.mark.parametrize(("n", "m"), [(60, 80), (80, 60), (120, 120)])
def test_large_ones_with_many_ties_and_gains_that_are_no_binary_fractions(n: int, m: int) -> None:
    for seed in range(20):
        draw = np.random.default_rng(seed)
        check(draw.integers(0, 6, (n, m)) / draw.integers(5, 8, (n, m)) / 1.2)
