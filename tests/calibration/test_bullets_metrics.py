"""The metrics of a judge, against counting by hand and plain definitions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.calibration.bullets_metrics import Point, TextScores, mean_curve, measure_texts
from factcheck.stats.intervals import wilson

FACTS = [0.8, 0.6, 0.4, 0.2]


def path(
    scores: Sequence[float | None], facts: Sequence[float | None] | None = None
) -> list[Point]:
    """An order in which the score falls like this; the true score, too, or as given."""
    n, facts = len(scores), scores if facts is None else facts
    return [
        Point((n - k) / n, fact, score)
        for k, (score, fact) in enumerate(zip(scores, facts, strict=True))
    ]


def metrics(*paths: Sequence[Point]) -> dict[str, float | None]:
    return {name: one.value for name, one in measure_texts([TextScores(paths)]).items()}


NO_STEPS = {"rising_steps": 0.0, "unchanged_steps": 0.0}


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (path(FACTS), {"kendall": 1.0, "kendall_bullets": 1.0, "error": 0.0, "full_score": 0.8,
                       "at_ceiling": 0.0, **NO_STEPS}),
        (path([1.0] * 4, FACTS), {"kendall": None, "at_ceiling": 1.0, "unchanged_steps": 1.0,
                                  "error": 0.5}),
        (path([0.5, 0.6, 0.4, 0.4]), {"rising_steps": 1 / 3, "unchanged_steps": 1 / 3}),
        (path([0.9, None, 0.5, 0.4], [0.9, 0.7, 0.5, 0.4]), {"error": 0.0, **NO_STEPS}),
        (path([None, None], [0.5, 0.4]), dict.fromkeys(metrics())),
        (path([0.5, 0.4], [None, None]), {"kendall": None, "error": None, "kendall_bullets": 1.0}),
        (path([0.1 + 0.2, 0.3]), {"unchanged_steps": 1.0}),
    ],
    ids=["truth", "saturated", "rising", "an answer missing", "no answer", "no truth", "rounding"],
)  # fmt: skip
def test_by_hand(order: list[Point], expected: dict[str, Any]) -> None:
    """A missing answer takes both its steps with it."""
    found = metrics(order)
    for name, value in expected.items():
        assert found[name] == (value if value is None else pytest.approx(value)), name


def test_texts_count_alike_however_many_orders_they_have() -> None:
    texts = [TextScores([path([0.9, 0.5])]), TextScores([path([0.5, 0.5], [0.5, 0.4])] * 5)]
    assert measure_texts(texts)["unchanged_steps"].value == 0.5


def test_few_texts_have_wilsons_interval_for_shares_and_students_for_means() -> None:
    one = TextScores([path([0.9, 0.5])], found=[True, False, False], invented=[False] * 4)
    alone, both = measure_texts([one]), measure_texts([one, one._replace(paths=[path([0.7, 0.5])])])
    assert alone["full_score"].interval is None
    assert both["full_score"].interval == (0.0, 1.0)
    assert both["kendall"].interval == pytest.approx((2 * wilson(1.0, 2).low - 1, 1.0))
    assert alone["found"] == (1 / 3, wilson(1 / 3, 3), "")
    assert both["found"].interval == wilson(1 / 3, 6)
    assert both["invented"].interval == wilson(0.0, 8)
    many = measure_texts([one, one._replace(found=[True, True])] * 6)
    assert many["rising_steps"].interval == wilson(0.0, 12)
    low, high = many["found"].interval or (0, 0)
    assert 0.4 < low < 2 / 3 < high < 0.9


@given(st.lists(st.integers(0, 4).map(lambda tenth: tenth / 10), min_size=2, max_size=7))
def test_kinds_of_steps_add_up(scores: list[float]) -> None:
    found = metrics(path(scores))
    falls = sum(now < before for before, now in pairwise(scores))
    rising, unchanged = found["rising_steps"] or 0, found["unchanged_steps"] or 0
    assert rising + unchanged + falls / (len(scores) - 1) == pytest.approx(1.0)


def test_a_curve_has_a_point_for_each_number_of_bullets() -> None:
    points = mean_curve([TextScores([path([0.9, 0.6, 0.3])])])
    assert [point.left for point in points] == pytest.approx([1, 2 / 3, 1 / 3])
    assert [point.score for point in points] == pytest.approx([0.9, 0.6, 0.3])


def test_a_curve_over_texts_of_different_length_has_points_that_all_of_them_reach() -> None:
    orders = [[path([0.8, 0.4])], [path([0.8, 0.6, 0.4, 0.2])], []]
    points = {round(point.left, 1): point.score for point in mean_curve(map(TextScores, orders))}
    assert min(points) == 0.5
    assert points[1.0] == pytest.approx(0.8)
    assert points[0.5] == pytest.approx(0.4)
