"""Correlations and assignments are those of SciPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from scipy.optimize import linear_sum_assignment

from factcheck.stats.intervals import assign, kendall, pearson, ranks

KINDS: dict[str, tuple[Callable[[Sequence[float], Sequence[float]], float], Callable[..., object]]]
KINDS = {
    "kendall": (kendall, scipy_stats.kendalltau),
    "pearson": (pearson, scipy_stats.pearsonr),
}
VALUES = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.25, 0.5, 1.0]))


@pytest.mark.parametrize("kind", KINDS)
@given(pairs=st.lists(st.tuples(VALUES, VALUES), min_size=3, max_size=15))
def test_they_agree_with_scipy(kind: str, pairs: list[tuple[float, float]]) -> None:
    own, theirs = KINDS[kind]
    xs, ys = map(list, zip(*pairs, strict=True))
    if min(np.ptp(xs), np.ptp(ys)) < 1e-6:
        return
    assert own(xs, ys) == pytest.approx(theirs(xs, ys).statistic, abs=1e-12)  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", KINDS)
def test_a_constant_side_has_none(kind: str) -> None:
    own, _ = KINDS[kind]
    assert math.isnan(own([0.1, 0.1, 0.1], [1.0, 2.0, 3.0]))
    assert math.isnan(own([1.0, 2.0, 3.0], [0.1, 0.1, 0.1]))


@given(st.lists(VALUES, min_size=1, max_size=20))
def test_tied_values_share_their_mean_rank(values: list[float]) -> None:
    assert ranks(values).tolist() == scipy_stats.rankdata(values).tolist()


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
