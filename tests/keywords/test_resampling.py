"""Intervals by resampling cases agree with resampling by hand, and repeat themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from factcheck.errors import InputError
from factcheck.keywords import CaseResult
from factcheck.keywords.metrics import macro, micro
from factcheck.keywords.resampling import (
    CARD_MEASURES,
    card_figures,
    difference_intervals,
    intervals,
    share_figures,
)
from tests.keywords.runs import case

CASES = [case("a", 2, 3, 4), case("b", 0, 2, 0), case("c", 0, 0, 0), case("d", 1, 1, 5)]


def by_hand(cases: list[CaseResult]) -> dict[str, float | None]:
    own = [one.sums for one in cases]
    return {
        f"{kind}_{name}": value
        for kind, scores in (("macro", macro(own)), ("micro", micro(own)))
        for name, value in scores._asdict().items()
    }


def test_the_figures_of_all_cases_give_the_scores_of_the_run() -> None:
    found = card_figures(CASES).of_all()

    assert list(found) == list(CARD_MEASURES)
    assert found == pytest.approx(by_hand(CASES))


def test_a_share_of_nothing_is_that_of_a_case() -> None:
    """Cards came and none is expected: recall is 0, as it is for a single case."""
    cases = [case("x", 0, 0, 3), case("y", 0, 0, 1)]

    assert card_figures(cases).of_all() == by_hand(cases)
    assert card_figures(cases).of_all()["micro_recall"] == 0.0


def test_an_average_without_any_match_is_none() -> None:
    found = card_figures(CASES[1:3]).of_all()

    assert found["macro_average_similarity"] is None
    assert found["micro_average_similarity"] is None
    assert found["macro_recall"] == 0.5


def test_the_interval_holds_the_middle_of_the_scores_of_resamples() -> None:
    n = len(CASES)
    draws = np.random.default_rng(7).integers(0, n, (400, n), np.int32)
    scores = [by_hand([CASES[number] for number in row])["macro_f1"] for row in draws]
    low, high = np.quantile(np.array(scores, dtype=float), (0.025, 0.975))

    found = intervals(card_figures(CASES), 400, 7)["macro_f1"]

    assert found == pytest.approx((low, high))


def test_the_same_seed_gives_the_same_intervals() -> None:
    figures = card_figures(CASES * 5)

    assert intervals(figures, 300, 1) == intervals(figures, 300, 1)
    assert intervals(figures, 300, 1) != intervals(figures, 300, 2)


def test_one_case_says_nothing_about_another() -> None:
    figures = card_figures(CASES[:1])

    assert set(intervals(figures, 10, 0).values()) == {(0.0, 1.0)}
    assert set(difference_intervals(figures, figures, 10, 0).values()) == {(-1.0, 1.0)}


def test_a_score_that_no_resample_has_is_unknown() -> None:
    found = intervals(card_figures(CASES[1:3]), 50, 0)

    assert found["micro_average_similarity"] == (0.0, 1.0)
    assert found["macro_recall"] == (0.0, 1.0)


def test_differences_are_paired() -> None:
    """Cases vary much, but each gains the same: the difference is certain."""
    a = share_figures("x", [True, False] * 10)
    b = share_figures("x", [True, False] * 10)

    assert difference_intervals(a, b, 200, 0) == {"x": (0.0, 0.0)}
    gained = difference_intervals(share_figures("x", [False] * 20), a, 200, 0)["x"]
    assert 0.2 < gained.low < 0.5 < gained.high < 0.8


@pytest.mark.parametrize(
    ("n_resamples", "seed", "message"),
    [
        (0, 0, "n_resamples must be a whole number of at least 1, not 0"),
        (1.5, 0, "n_resamples must be a whole number of at least 1, not 1.5"),
        (True, 0, "n_resamples must be a whole number"),
        (10, -1, "seed must be a whole number of at least 0, not -1"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(
    n_resamples: Any, seed: Any, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        intervals(card_figures(CASES), n_resamples, seed)
