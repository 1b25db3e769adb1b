"""The model of the pair judge that is shipped."""

from __future__ import annotations

from itertools import product

from factcheck.judges.local.pairs.features import FEATURES
from factcheck.judges.local.pairs.model import PairModel, load_pair_model


def test_nothing_that_only_one_value_says_speaks_for_a_pair() -> None:
    assert all(weight <= 0 for weight in load_pair_model().weights)


def test_values_without_a_difference_are_surely_the_same() -> None:
    assert load_pair_model().probability([0.0] * len(FEATURES)) > 0.95


def test_every_difference_lowers_the_probability() -> None:
    model = load_pair_model()
    untouched = model.probability([0.0] * len(FEATURES))
    for name, size in product(FEATURES, (0.2, 1.0)):
        differing = [size * (feature == name) for feature in FEATURES]
        assert model.probability(differing) < untouched, name


def test_a_hopeless_pair_has_no_overflow() -> None:
    assert PairModel(-1e6, (0.0,), "").probability([1.0]) < 1e-300
    assert PairModel(1e6, (0.0,), "").probability([1.0]) == 1.0
