"""Recall, precision, F1 and average similarity, with nothing to divide by as well."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.keywords import Scores
from factcheck.keywords.metrics import Sums, macro, micro
from factcheck.stats import wilson


@st.composite
def sums(draw: st.DrawFn) -> Sums:
    """The sums of a case."""
    matched = draw(st.integers(0, 5))
    expected = draw(st.integers(matched, 8))
    generated = draw(st.integers(matched, 8))
    scores = draw(st.lists(st.floats(0.01, 1.0), min_size=matched, max_size=matched).map(math.fsum))
    return Sums(matched, expected, generated, scores)


def test_the_figures_of_the_seed() -> None:
    """Two of three expected cards matched among four generated ones."""
    assert Sums(2, 3, 4, 1.5).scores() == Scores(2 / 3, 2 / 4, 4 / 7, 0.75)


@pytest.mark.parametrize(
    ("given_sums", "expected"),
    [
        (Sums(0, 0, 0), Scores(1.0, 1.0, 1.0, None)),
        (Sums(0, 3, 0), Scores(0.0, 0.0, 0.0, None)),
        (Sums(0, 0, 3), Scores(0.0, 0.0, 0.0, None)),
        (Sums(0, 3, 3), Scores(0.0, 0.0, 0.0, None)),
    ],
    ids=["nothing at all", "nothing generated", "nothing expected", "nothing matched"],
)
def test_a_share_of_nothing_is_1_only_if_there_is_nothing_at_all(
    given_sums: Sums, expected: Scores
) -> None:
    assert given_sums.scores() == expected


@given(sums())
def test_f1_lies_between_its_two_parts_and_is_their_harmonic_mean(case: Sums) -> None:
    recall, precision, f1, similarity = case.scores()

    assert 0.0 <= min(recall, precision) <= f1 <= max(recall, precision) <= 1.0
    if recall + precision:
        assert f1 == pytest.approx(2 * recall * precision / (recall + precision))
    assert similarity is None or 0.0 < similarity <= 1.0 + 1e-12


@given(sums())
def test_intervals_hold_the_figure_and_stay_within_0_and_1(case: Sums) -> None:
    for name, interval in case.intervals().items():
        assert 0.0 <= interval.low <= getattr(case.scores(), name) <= interval.high <= 1.0


def test_intervals_are_those_of_wilson() -> None:
    intervals = Sums(2, 3, 5).intervals()

    assert intervals["recall"] == wilson(2 / 3, 3)
    assert intervals["precision"] == wilson(2 / 5, 5)
    assert intervals["f1"] == wilson(2 / 4, 4)
    assert Sums(0, 0, 0).intervals()["recall"] == (0.0, 1.0)


@given(st.lists(sums(), min_size=1, max_size=6))
def test_the_micro_scores_are_those_of_all_cards_in_one_case(cases: list[Sums]) -> None:
    together = Sums(*(sum(column) for column in zip(*cases, strict=True)))

    assert micro(cases)[:3] == together.scores()[:3]
    assert micro(cases).average_similarity == pytest.approx(together.scores().average_similarity)


def test_the_macro_scores_are_means_over_cases() -> None:
    found = macro([Sums(1, 1, 1, 0.5), Sums(0, 2, 2), Sums(1, 2, 1, 1.0)])

    assert found.recall == pytest.approx((1 + 0 + 0.5) / 3)
    assert found.precision == pytest.approx(2 / 3)
    assert found.f1 == pytest.approx((1 + 0 + 2 / 3) / 3)
    assert found.average_similarity == 0.75


@given(st.lists(sums(), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_the_cases_makes_no_difference(cases: list[Sums], chance: object) -> None:
    shuffled = chance.sample(cases, len(cases))  # type: ignore[attr-defined]

    assert macro(shuffled) == macro(cases)
    assert micro(shuffled) == micro(cases)


def test_without_cases_the_scores_are_those_of_an_empty_one() -> None:
    assert macro([]) == micro([]) == Scores(1.0, 1.0, 1.0, None)
