"""The comparator `fuzzy`."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz

from factcheck.errors import ParameterError
from factcheck.fields.comparators.dates import date
from factcheck.fields.registry import fuzzy
from factcheck.fields.types import ComparatorResult


@given(st.text(), st.text())
def test_the_score_is_the_ratio_of_rapidfuzz(gold: str, extracted: str) -> None:
    score = fuzzy(gold, extracted, {}).score
    assert score == pytest.approx(fuzz.ratio(gold, extracted) / 100)
    assert (score == 1.0) == (gold == extracted)


@pytest.mark.parametrize(
    ("gold", "extracted", "score", "reason"),
    [
        ("abc", "abc", 1.0, "ratio 1"), ("", "", 1.0, "ratio 1"), ("", "a", 0.0, "ratio 0"),
        ("abcd", "abcx", 0.75, "ratio 0.75"), ("Abc", "abc", 2 / 3, "ratio 0.666667"),
    ],
)  # fmt: skip
def test_the_reason_states_the_ratio(gold: str, extracted: str, score: float, reason: str) -> None:
    assert fuzzy(gold, extracted, {}) == ComparatorResult(score, "fuzzy", reason)


def test_with_a_threshold_a_text_matches_or_does_not() -> None:
    gold, extracted = "abcdefghij", "abcdefghix"

    assert fuzzy(gold, extracted, {"threshold": 0.9}) == ComparatorResult(
        1.0, "fuzzy", "ratio 0.9, at least 0.9"
    )
    assert fuzzy(gold, extracted, {"threshold": 0.95}) == ComparatorResult(
        0.0, "fuzzy", "ratio 0.9 is below 0.95"
    )
    assert fuzzy(gold, gold, {"threshold": 1}).score == 1.0


@pytest.mark.parametrize("tenths", range(1, 10))
def test_a_ratio_that_is_the_threshold_is_enough(tenths: int) -> None:
    """Written as a decimal, although 1 - 0.7 is not 0.3 in floats."""
    gold = "a" * 10
    extracted = "a" * tenths + "b" * (10 - tenths)

    assert fuzzy(gold, extracted, {"threshold": tenths / 10}).score == 1.0
    bound = fuzzy.bind({"threshold": tenths / 10})
    assert bound.scores is not None
    assert bound.scores([gold], [extracted]).tolist() == [[1.0]]


@pytest.mark.parametrize("params", [{}, {"threshold": 0.5}])
@pytest.mark.parametrize(
    ("gold", "extracted", "named"),
    [
        (None, "a", "gold value is of type null"),
        ("a", None, "extracted value is of type null"),
        (5, 5.0, "gold value is of type integer"),
        ("a", ["a"], "extracted value is of type array"),
    ],
)
def test_what_is_no_text_does_not_match_and_the_reason_names_its_type(
    gold: Any, extracted: Any, named: str, params: dict[str, Any]
) -> None:
    result = fuzzy(gold, extracted, params)
    assert result.score == 0.0
    assert named in str(result.reason)


@pytest.mark.parametrize("value", [None, 3.5, float("nan"), True, [1, {"a": None}]])
def test_equal_values_that_are_no_texts_match(value: Any) -> None:
    """As a date, too."""
    assert fuzzy(value, deepcopy(value), {"threshold": 0.5}) == ComparatorResult(1.0, "fuzzy")
    assert date(value, deepcopy(value), {}) == ComparatorResult(1.0, "date")


@pytest.mark.parametrize("threshold", [0, -0.5, 1.01, 90, True, "0.9", None, float("nan"), [0.9]])
def test_a_threshold_is_above_zero_and_up_to_one(threshold: Any) -> None:
    with pytest.raises(ParameterError, match="fuzzy: 'threshold' must be a number above 0 and up"):
        fuzzy.bind({"threshold": threshold})
