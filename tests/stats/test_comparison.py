"""Comparisons keep their level, and ignore what both sides share."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.stats.comparison import (
    Change,
    Comparison,
    compare_scores,
    randomization_p,
    split_changes,
    step_down,
)
from factcheck.stats.intervals import Interval, sign_test
from factcheck.stats.resampling import SumScores


def means(rows: list[list[float]]) -> SumScores:
    """The mean of each row."""
    n = len(rows[0])
    return SumScores([f"m{k}" for k in range(len(rows))], np.array(rows), lambda sums: sums / n)


def test_a_difference_of_means_is_tested_by_swapping_units() -> None:
    """Five units that all gain: of 32 ways to swap, two give so much."""
    a, b = means([[0.1, 0.2, 0.3, 0.4, 0.5]]), means([[0.2, 0.3, 0.5, 0.5, 0.7]])
    found, by_chance = compare_scores(a, b, 2000, 0)
    assert by_chance.shape == (1, 31)
    assert found["m0"].difference == pytest.approx(0.14)
    assert found["m0"].p_value == found["m0"].p_adjusted == 2 / 32
    interval = found["m0"].interval
    assert interval is not None
    assert 0.1 - 1e-9 <= interval.low < 0.14 < interval.high <= 0.2 + 1e-9


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_a_side_does_not_differ_from_itself(values: list[float]) -> None:
    found, _ = compare_scores(means([values]), means([values]), 50, 0)
    assert (found["m0"].difference, found["m0"].p_value) == (0.0, 1.0)
    assert not found["m0"].is_significant


def test_one_unit_proves_nothing() -> None:
    found, _ = compare_scores(means([[0.0]]), means([[1.0]]), 50, 0)
    assert (found["m0"].interval, found["m0"].p_value) == (Interval(-1.0, 1.0), 1.0)


def test_few_comparisons_of_equal_sides_are_significant() -> None:
    """20 scores of 12 units, 60 times: without adjustment about every pair has a false one."""
    rng = np.random.default_rng(1)
    n_false = 0
    for _ in range(60):
        a, b = (means(rng.random((20, 12)).tolist()) for _ in range(2))
        found, by_chance = compare_scores(a, b, 200, 0)
        differences = [one.difference for one in found.values()]
        spread = np.sqrt((by_chance**2).mean(axis=1))
        adjusted = step_down(differences, by_chance, spread)
        plain = [one.p_value for one in found.values()]
        assert all(p is not None and p <= own for p, own in zip(plain, adjusted, strict=True))
        n_false += min(adjusted) < 0.05
    assert n_false <= 8


def test_adjusted_p_values_never_fall_as_differences_become_less_clear() -> None:
    rng = np.random.default_rng(2)
    by_chance = rng.normal(size=(5, 400))
    adjusted = step_down([3.0, -2.5, 2.0, 0.5, 0.0], by_chance, np.ones(5))
    assert adjusted == sorted(adjusted)
    assert adjusted[0] == randomization_p(3.0, np.abs(by_chance).max(axis=0))


def test_the_observed_difference_is_one_of_the_randomizations() -> None:
    assert randomization_p(1.0, np.zeros(99)) == 0.01
    assert randomization_p(0.0, np.zeros(99)) == 1.0


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=9))
def test_every_change_is_better_worse_or_neither(pairs: list[tuple[float, float]]) -> None:
    changes = [Change(n, a, b) for n, (a, b) in enumerate(pairs)]
    found = split_changes(changes)
    assert sorted((*found.better, *found.worse, *found.unchanged)) == sorted(changes)
    gains = [change.b - change.a for change in found.better]
    losses = [change.a - change.b for change in found.worse]
    assert gains == sorted(gains, reverse=True)
    assert losses == sorted(losses, reverse=True)
    assert min([*gains, *losses], default=1.0) > 0
    assert found.p_value == sign_test(len(gains), len(losses))


def test_a_comparison_as_data_has_the_p_values_that_were_computed() -> None:
    plain = Comparison(0.5, 0.75, 0.25, Interval(-1.0, 1.0))
    assert plain.to_dict() == {"a": 0.5, "b": 0.75, "difference": 0.25, "interval": [-1.0, 1.0]}
    tested = Comparison(0.0, 1.0, 1.0, None, 0.01, 0.2)
    assert tested.to_dict()["p_adjusted"] == 0.2
    assert not tested.is_significant
    assert not plain.is_significant
    assert Comparison(0.0, 1.0, 1.0, None, 0.01).is_significant
