"""The comparator `numeric`."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.errors import ParameterError
from factcheck.fields.comparators.numeric import numeric
from factcheck.fields.types import ComparatorResult

NAN, INF = math.nan, math.inf
HUGE = 10**400


def outcome(gold: Any, extracted: Any, **tolerance: Any) -> tuple[float, str | None]:
    result = numeric(gold, extracted, {"tolerance": tolerance})
    return result.score, result.reason


@pytest.mark.parametrize(
    ("gold", "extracted"),
    [
        (1, 1), (1, 1.0), (0.0, -0.0), (1, True), (0, False), ("42", 42), (" 42 ", 42.0),
        ("1_000", 1000), ("1.5", 1.5), ("0.1", 0.1), (Decimal("0.1"), 0.1), (Fraction(1, 4), 0.25),
        (np.int64(3), 3), (np.float32(0.5), 0.5), (None, None), (NAN, float("nan")), ("nan", NAN),
        (INF, "Infinity"), (-INF, "-inf"), (HUGE, HUGE), (HUGE, str(HUGE)),
        (2**53 + 1, str(2**53 + 1)), (6.02214076e23, 602214076000000000000000), (2**60, 2.0**60),
        ("12345678901234567890.00", 12345678901234567890),
    ],
)  # fmt: skip
def test_the_same_number_matches_whatever_its_notation(gold: Any, extracted: Any) -> None:
    for pair in ((gold, extracted), (extracted, gold)):
        assert numeric(*pair, {}) == ComparatorResult(1.0, "numeric")
        assert outcome(*pair, rel=0, abs=0) == (1.0, None)


@pytest.mark.parametrize(
    ("gold", "extracted"),
    [
        (1, 2), (0.1 + 0.2, 0.3), (2**53, 2**53 + 1), (str(2**53), 2**53 + 1), (HUGE, HUGE + 1),
        (HUGE, INF), (HUGE, 1.5), (INF, -INF), (INF, 1e308),
    ],
)  # fmt: skip
def test_different_numbers_differ_to_the_last_digit(gold: Any, extracted: Any) -> None:
    for pair in ((gold, extracted), (extracted, gold)):
        assert outcome(*pair) == (0.0, "values differ without tolerance")


@pytest.mark.parametrize("tolerance", [{}, {"rel": 0.5}, {"abs": 5}])
@pytest.mark.parametrize(
    ("gold", "extracted"),
    [
        (None, 1), (None, NAN), (NAN, 1), (NAN, HUGE), (INF, NAN), ("1,000", 1000), ("", 0),
        ("abc", "abc"), ([1], [1]), ({}, {}), (1j, 1),
        pytest.param("9" * 5000, "9" * 5000, id="5000 digits"),
        pytest.param("9" * 5000, INF, id="5000 digits against infinity"),
        ("1e400", INF), (Decimal("1e400"), INF),
    ],
)  # fmt: skip
def test_what_is_no_number_never_matches(gold: Any, extracted: Any, tolerance: Any) -> None:
    for pair in ((gold, extracted), (extracted, gold)):
        assert outcome(*pair, **tolerance) == (0.0, "type_error")


@pytest.mark.parametrize(
    ("gold", "extracted", "tolerance"),
    [
        (100, 110, {"rel": 0.1}), (-100, -90, {"rel": 0.1}), (2, 3.0, {"rel": 0.5}),
        (0, 0.1, {"rel": 0.1}), (0.0, -1, {"rel": 1}), (1, 1.5, {"abs": 0.5}),
        ("1", "1.5", {"abs": 0.5}), (True, 2, {"abs": 1}), (10, 11, {"rel": 0.1, "abs": 1}),
        (HUGE, HUGE + 1, {"abs": 1}), (HUGE, HUGE + HUGE // 10, {"rel": 0.1}),
        (10**20, 13 * 10**19, {"rel": 0.3}),
    ],
)  # fmt: skip
def test_limits_include_their_boundary(gold: Any, extracted: Any, tolerance: Any) -> None:
    assert outcome(gold, extracted, **tolerance) == (1.0, None)


@pytest.mark.parametrize(
    ("gold", "extracted", "tolerance", "reason"),
    [
        (100, 111, {"rel": 0.1}, "relative error 0.11 is above 0.1"),
        (111, 100, {"rel": 0.099}, "relative error 0.0990990990991 is above 0.099"),
        (0, 0.2, {"rel": 0.1}, "relative error 0.2 is above 0.1"),
        (1, 3, {"abs": 1}, "absolute error 2 is above 1"),
        (
            1, 3, {"rel": 0.1, "abs": 1},
            "relative error 2 is above 0.1; absolute error 2 is above 1",
        ),
        (100, 102, {"rel": 0.1, "abs": 1}, "absolute error 2 is above 1"),
        (1, 2, {"rel": 0.1, "abs": 1}, "relative error 1 is above 0.1"),
        (INF, 1, {"rel": 1}, "relative error inf is above 1"),
        (1, INF, {"rel": 1}, "relative error inf is above 1"),
        (INF, -INF, {"rel": 1, "abs": 1}, "relative error inf is above 1; absolute error inf"),
        (1, HUGE, {"rel": 1}, "relative error inf is above 1"),
        (1, HUGE, {"abs": 1}, "absolute error inf is above 1"),
        (HUGE, 1.5, {"abs": 1, "rel": 1}, "relative error inf is above 1; absolute error inf"),
        (HUGE, HUGE + 2, {"abs": 1}, "absolute error 2 is above 1"),
        (HUGE, 3 * HUGE, {"rel": 1}, "relative error 2 is above 1"),
        (1e308, -1e308, {"abs": 1}, "absolute error inf is above 1"),
    ],
)  # fmt: skip
def test_beyond_a_limit_the_reason_says_by_how_much(
    gold: Any, extracted: Any, tolerance: Any, reason: str
) -> None:
    score, said = outcome(gold, extracted, **tolerance)
    assert score == 0.0
    assert str(said).startswith(reason)
    assert len(str(said).split("; ")) == len(reason.split("; "))


@given(st.floats(), st.floats(), st.sampled_from([0.0, 0.1, 1.0, 1e300]))
def test_a_tolerance_never_turns_a_match_into_a_mismatch(
    gold: float, extracted: float, limit: float
) -> None:
    exactly = numeric(gold, extracted, {}).score
    assert outcome(gold, extracted, rel=limit, abs=limit)[0] >= exactly
    assert outcome(gold, gold, rel=limit)[0] == 1.0


def test_a_tolerance_is_an_object_with_finite_limits_from_zero_on() -> None:
    odd_limits: tuple[Any, ...] = (
        "0.1", True, None, -1, -0.1, NAN, INF, [0.1], HUGE, 10**5000,
    )  # fmt: skip
    for key in ("rel", "abs"):
        message = f"the tolerance of numeric: '{key}' must be a finite number of at least 0, not "
        for limit in odd_limits:
            with pytest.raises(ParameterError, match=message):
                numeric.bind({"tolerance": {key: limit}})
    with pytest.raises(ParameterError, match="'relative'; it takes 'rel' and 'abs'"):
        numeric.bind({"tolerance": {"relative": 0.1}})
    others: tuple[Any, ...] = (0.1, "0.1", [], False, 0)
    for tolerance in others:
        with pytest.raises(ParameterError, match="must be an object with 'rel', 'abs' or both"):
            numeric.bind({"tolerance": tolerance})
