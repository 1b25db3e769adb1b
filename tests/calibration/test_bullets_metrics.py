"""The metrics of a judge, against counting by hand and plain definitions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.calibration.bullets_metrics import Point, mean_curve, measure_paths


def path(scores: Sequence[float | None], facts: Sequence[float | None]) -> list[Point]:
    n = len(scores)
    return [
        Point(bullets=(n - k) / n, facts=fact, score=score)
        for k, (score, fact) in enumerate(zip(scores, facts, strict=True))
    ]


def metrics(*paths: Sequence[Point]) -> dict[str, float | None]:
    return {name: one.value for name, one in measure_paths({"a": paths}).items()}


def test_a_judge_that_follows_the_truth_has_the_best_metrics() -> None:
    facts = [0.8, 0.6, 0.4, 0.2]
    found = metrics(path(facts, facts))
    assert found["kendall"] == found["kendall_bullets"] == 1.0
    assert found["rising_steps"] == found["unchanged_steps"] == 0.0
    assert found["error"] == 0.0
    assert found["full_score"] == 0.8
    assert found["at_ceiling"] == 0.0


def test_a_saturated_judge_is_seen_as_one() -> None:
    found = measure_paths({"a": [path([1.0, 1.0, 1.0, 1.0], [0.8, 0.6, 0.4, 0.2])]})
    values = {name: one.value for name, one in found.items()}
    assert values["kendall"] is None
    assert values["at_ceiling"] == values["unchanged_steps"] == 1.0
    assert values["error"] == pytest.approx((0.2 + 0.4 + 0.6 + 0.8) / 4)


def test_a_rise_is_counted() -> None:
    found = measure_paths({"a": [path([0.5, 0.6, 0.4, 0.4], [0.5, 0.5, 0.4, 0.3])]})
    assert found["rising_steps"].value == pytest.approx(1 / 3)
    assert found["unchanged_steps"].value == pytest.approx(1 / 3)


def test_a_missing_answer_takes_both_its_steps_with_it() -> None:
    found = measure_paths({"a": [path([0.9, None, 0.5, 0.4], [0.9, 0.7, 0.5, 0.4])]})
    assert found["unchanged_steps"].value == 0.0
    assert found["error"].value == 0.0


def test_without_any_answer_nothing_is_defined() -> None:
    found = measure_paths({"a": [path([None, None], [0.5, 0.4])]})
    assert {one[:2] for one in found.values()} == {(None, None)}


def test_without_the_truth_the_metrics_that_need_it_are_undefined() -> None:
    found = metrics(path([0.5, 0.4], [None, None]))
    assert found["kendall"] is found["error"] is None
    assert found["kendall_bullets"] == 1.0


def test_rounding_is_not_a_change() -> None:
    assert metrics(path([0.1 + 0.2, 0.3], [0.3, 0.2]))["unchanged_steps"] == 1.0


def test_texts_count_alike_however_many_orders_they_have() -> None:
    paths = {"a": [path([0.9, 0.5], [0.9, 0.5])], "b": [path([0.5, 0.5], [0.5, 0.4])] * 5}
    assert measure_paths(paths)["unchanged_steps"].value == 0.5


def test_intervals_come_from_texts() -> None:
    alone = measure_paths({"a": [path([0.9, 0.5], [0.9, 0.5]), path([0.9, 0.6], [0.9, 0.5])]})
    assert alone["full_score"].interval is None
    both = measure_paths({"a": [path([0.9, 0.5], [0.9, 0.5])], "b": [path([0.5, 0.4], [0.5, 0.4])]})
    assert both["full_score"].interval == (0.5, 0.9)


TENTHS = st.integers(0, 4).map(lambda tenth: tenth / 10)


@given(st.lists(TENTHS, min_size=2, max_size=7))
def test_kinds_of_steps_add_up(scores: list[float]) -> None:
    found = metrics(path(scores, scores))
    falls = sum(now < before for before, now in pairwise(scores))
    rising, unchanged = found["rising_steps"] or 0, found["unchanged_steps"] or 0
    assert rising + unchanged + falls / (len(scores) - 1) == pytest.approx(1.0)


def test_a_curve_has_a_point_for_each_number_of_bullets() -> None:
    points = mean_curve({"a": [path([0.9, 0.6, 0.3], [0.9, 0.6, 0.3])]})
    assert [point.left for point in points] == pytest.approx([1, 2 / 3, 1 / 3])
    assert [point.score for point in points] == pytest.approx([0.9, 0.6, 0.3])


def test_a_curve_over_texts_of_different_length_has_points_that_all_of_them_reach() -> None:
    two, four = path([0.8, 0.4], [0.8, 0.4]), path([0.8, 0.6, 0.4, 0.2], [0.8, 0.6, 0.4, 0.2])
    curve = mean_curve({"a": [two], "b": [four], "none": []})
    points = {round(point.left, 1): point.score for point in curve}
    assert min(points) == 0.5
    assert points[1.0] == pytest.approx(0.8)
    assert points[0.5] == pytest.approx(0.4)
