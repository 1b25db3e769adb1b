"""Correlations are those of SciPy, to the last digit."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from factcheck.stats.correlation import kendall, pearson, ranks, spearman

KINDS: dict[str, tuple[Callable[[Sequence[float], Sequence[float]], float], Callable[..., object]]]
KINDS = {
    "kendall": (kendall, scipy_stats.kendalltau),
    "pearson": (pearson, scipy_stats.pearsonr),
    "spearman": (spearman, scipy_stats.spearmanr),
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
