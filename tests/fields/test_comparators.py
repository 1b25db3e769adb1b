"""The comparators of the package: what all keep to, and each by itself."""

from __future__ import annotations

import datetime as dt
import json
import math
from copy import deepcopy
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz

from factcheck.errors import ParameterError
from factcheck.fields.comparators.builtin import COMPARATORS, numeric
from factcheck.fields.comparators.dates import date, read_date
from factcheck.fields.types import ComparatorResult, UndecidableError
from factcheck.fields.values import exact_key
from factcheck.text.dates import Moment, Notation

NAN, INF = math.nan, math.inf
BOUNDARY = 2**53
near_boundary = st.integers(BOUNDARY - 3, BOUNDARY + 3)
numbers = (
    st.integers(-5, 5)
    | st.floats(-3, 3)
    | st.floats()
    | near_boundary
    | near_boundary.map(float)
    | near_boundary.map(lambda number: -number)
    | st.integers(BOUNDARY // 2 - 3, BOUNDARY // 2 + 3)
    | st.sampled_from([10**400, 10**400 + 1, -(10**400), 10**23, 1e23, 2**1024, math.inf, NAN])
)
texts = (
    numbers.map(str) | st.sampled_from([" 42 ", "1_000", "nan", "-inf", "1e400", "x"]) | st.text()
)
scalars = st.none() | st.booleans() | numbers | texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=6,
)
Case = tuple[str, dict[str, Any]]
WITH_KEY: tuple[Case, ...] = (("exact", {}), ("numeric", {}))
TOLERANT: tuple[Case, ...] = (
    ("numeric", {"tolerance": {"abs": 1e308}}),
    ("numeric", {"tolerance": {"rel": 0.5, "abs": 1.5}}),
)


def score(name: str, gold: Any, extracted: Any, **params: Any) -> float:
    return COMPARATORS[name](gold, extracted, params).score


@pytest.mark.parametrize(("name", "params"), WITH_KEY)
@given(data=st.data())
def test_equal_keys_are_score_one_and_different_keys_score_zero(
    name: str, params: dict[str, Any], data: st.DataObject
) -> None:
    bound = COMPARATORS[name].bind(params)
    assert bound.key is not None
    gold: Any = data.draw(values)
    extracted = data.draw(values | st.just(gold))

    alike = bound.key(gold) == bound.key(extracted)

    try:
        is_wide = name == "numeric" and abs(float(gold)) >= BOUNDARY
    except (TypeError, ValueError, OverflowError):
        is_wide = False
    if alike or not is_wide:  # a wide float matches several integers
        assert bound.compare(gold, extracted)[0] == float(alike)
    assert not alike or hash(bound.key(gold)) == hash(bound.key(extracted))


LISTS = st.lists(st.none() | numbers, max_size=6) | st.lists(st.text(), max_size=6)


@pytest.mark.parametrize(("name", "params"), TOLERANT)
@given(LISTS, LISTS)
def test_plain_numbers_are_scored_all_at_once_as_each_pair_is(
    name: str, params: dict[str, Any], gold: list[Any], extracted: list[Any]
) -> None:
    """Large numbers, NaN and values of other types are scored one by one."""
    bound = COMPARATORS[name].bind(params)
    assert bound.scores is not None

    scores = bound.scores(gold, extracted)

    both = (*gold, *extracted)
    plain = all(type(v) in (int, float) and abs(v) <= BOUNDARY // 2 for v in both)
    assert (scores is not None) == plain
    if plain:
        assert scores.shape == (len(gold), len(extracted))
        assert scores.tolist() == [[bound.compare(g, e)[0] for e in extracted] for g in gold]


@pytest.mark.parametrize(
    ("gold", "extracted"),
    [
        ("a", "a"), (None, None), (0.0, -0.0), (NAN, float("nan")), ([NAN], [float("nan")]),
        ({"a": 1, "b": [None]}, {"b": [None], "a": 1}), (10**400, 10**400), ({1}, {1}),
        (dt.date(2024, 3, 15), dt.date(2024, 3, 15)), (dt.date(2024, 3, 15), "2024-03-15"),
        (dt.time(10), "10:00:00"), (Decimal("1.10"), 1.1), ([dt.date(2024, 3, 1)], ["2024-03-01"]),
        ([[NAN]], [[float("nan")]]), ({"x": 1}, {"x": True}), ([1], [1.0]),
    ],
)  # fmt: skip
def test_exact_matches_equal_values_of_the_same_type(gold: Any, extracted: Any) -> None:
    assert COMPARATORS["exact"](gold, extracted, {}) == ComparatorResult(1.0, "exact")
    assert exact_key(gold) == exact_key(extracted)
    assert hash(exact_key(gold)) == hash(exact_key(extracted))


@pytest.mark.parametrize(
    ("gold", "extracted"),
    [
        ("a", "b"), (1, True), (1.0, True), (42, 42.0), ("1", 1), ("", None), (NAN, 1.0),
        (10**400, 10**400 + 1), ({"x": 1}, {"x": 1, "y": 1}), ([1, 2], [2, 1]),
        ([[1], 2], [[1, 2]]), ({"a": {"b": 1}, "c": 2}, {"a": {"b": 1, "c": 2}}), ((1,), [1]),
        (dt.date(2024, 3, 15), dt.datetime(2024, 3, 15, tzinfo=dt.timezone.utc)),
    ],
)  # fmt: skip
def test_exact_matches_nothing_else(gold: Any, extracted: Any) -> None:
    result = COMPARATORS["exact"](gold, extracted, {})
    assert result == ComparatorResult(0.0, "exact", "mismatch")
    assert exact_key(gold) != exact_key(extracted)


def test_oneof_matches_what_is_allowed_whatever_the_gold_value() -> None:
    matching: list[tuple[Any, list[Any]]] = [("a", ["a", "b"]), (True, [1]), (float("nan"), [NAN])]
    for extracted, allowed in matching:
        result = COMPARATORS["oneof"]("something else", extracted, {"values": allowed})
        assert result == ComparatorResult(1.0, "oneof")
    matching = [("c", ["a", "b"]), ("a", []), ([1], [1]), (NAN, [1.0])]
    for extracted, allowed in matching:
        result = COMPARATORS["oneof"](extracted, extracted, {"values": allowed})
        assert result == ComparatorResult(0.0, "oneof", "no match in values")


@given(st.text(), st.text())
def test_fuzzy_is_the_ratio_of_rapidfuzz(gold: str, extracted: str) -> None:
    ratio = score("fuzzy", gold, extracted)
    assert ratio == pytest.approx(fuzz.ratio(gold, extracted) / 100)
    assert (ratio == 1.0) == (gold == extracted)


@pytest.mark.parametrize(
    ("gold", "extracted", "params", "expected", "reason"),
    [
        ("", "", {}, 1.0, "ratio 1"), ("Abc", "abc", {}, 2 / 3, "ratio 0.666667"),
        ("abcdefghij", "abcdefghix", {"threshold": 0.9}, 1.0, "ratio 0.9, at least 0.9"),
        ("abcdefghij", "abcdefghix", {"threshold": 0.95}, 0.0, "ratio 0.9 is below 0.95"),
        (None, "a", {}, 0.0, "the gold value is null"),
        ("a", ["a"], {}, 0.0, "fuzzy compares strings, but the extracted value is of type array"),
        (5, 5.0, {"threshold": 0.5}, 0.0,
         "fuzzy compares strings, but the gold value is of type integer"),
    ],
)  # fmt: skip
def test_the_reason_of_fuzzy_states_the_ratio(
    gold: Any, extracted: Any, params: dict[str, Any], expected: float, reason: str
) -> None:
    result = COMPARATORS["fuzzy"](gold, extracted, params)
    assert result == ComparatorResult(expected, "fuzzy", reason)


@pytest.mark.parametrize("value", [None, 3.5, float("nan"), True, [1, {"a": None}]])
def test_equal_values_that_are_no_texts_match_as_texts_and_dates(value: Any) -> None:
    assert score("fuzzy", value, deepcopy(value), threshold=0.5) == 1.0
    assert score("date", value, deepcopy(value)) == 1.0


def test_a_value_that_is_endless_or_deep_is_like_itself_only() -> None:
    loop: list[Any] = []
    loop.append(loop)
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for value in (loop, deep):
        assert score("exact", value, value) == 1.0
        assert score("exact", value, [1]) == 0.0


HUGE = 10**400


def outcome(gold: Any, extracted: Any, **tolerance: Any) -> tuple[float, str | None]:
    result = numeric(gold, extracted, {"tolerance": tolerance})
    return result.score, result.reason


@pytest.mark.parametrize(
    ("gold", "extracted"),
    [
        (1, 1.0), (1, True), ("1.0", True), (0.0, -0.0), ("42", 42), (" 42 ", 42.0),
        ("1_000", 1000), ("1.5", 1.5), ("0.1", 0.1), (Decimal("0.1"), 0.1), (Fraction(1, 4), 0.25),
        (np.int64(3), 3), (np.float32(0.5), 0.5), (None, None), (NAN, float("nan")), ("nan", NAN),
        (INF, "Infinity"), (-INF, "-inf"), (HUGE, HUGE), (HUGE, str(HUGE)),
        (2**53 + 1, f"{2**53 + 1}.00"), (6.02214076e23, 602214076000000000000000), (2**60, 2.0**60),
        ("1e400", 10**400),
    ],
)  # fmt: skip
def test_the_same_number_matches_whatever_its_notation(gold: Any, extracted: Any) -> None:
    for pair in ((gold, extracted), (extracted, gold)):
        assert numeric(*pair, {}) == ComparatorResult(1.0, "numeric")
        assert outcome(*pair, rel=0, abs=0) == (1.0, None)


@pytest.mark.parametrize(
    ("gold", "extracted"),
    [
        (1, 2), (0.1 + 0.2, 0.3), (str(2**53), 2**53 + 1), (HUGE, HUGE + 1), (HUGE, 1.5),
        (INF, -INF), (INF, 1e308), ("1e400", "1e500"), ("1e400", INF),
    ],
)  # fmt: skip
def test_different_numbers_differ_to_the_last_digit(gold: Any, extracted: Any) -> None:
    for pair in ((gold, extracted), (extracted, gold)):
        assert outcome(*pair) == (0.0, "values differ without tolerance")


def test_what_is_no_number_never_matches() -> None:
    pairs: tuple[Any, ...] = ((None, 1), (NAN, 1), (INF, NAN), ("1,000", 1000), ("a", "a"))
    for gold, extracted in pairs:
        for tolerance in ({}, {"rel": 0.5}, {"abs": 5}):
            assert outcome(gold, extracted, **tolerance) == (0.0, "type_error")
            assert outcome(extracted, gold, **tolerance) == (0.0, "type_error")


@pytest.mark.parametrize(
    ("gold", "extracted", "tolerance"),
    [
        (100, 110, {"rel": 0.1}), (-100, -90, {"rel": 0.1}), (2, 3.0, {"rel": 0.5}),
        (0, 0.1, {"rel": 0.1}), (0.0, -1, {"rel": 1}), (1, 1.5, {"abs": 0.5}),
        ("1", "1.5", {"abs": 0.5}), (1, 2, {"abs": 1}), (10, 11, {"rel": 0.1, "abs": 1}),
        (HUGE, HUGE + 1, {"abs": 1}), (HUGE, HUGE + HUGE // 10, {"rel": 0.1}),
        (10**20, 13 * 10**19, {"rel": 0.3}),
    ],
)  # fmt: skip
def test_limits_include_their_boundary(gold: Any, extracted: Any, tolerance: Any) -> None:
    assert outcome(gold, extracted, **tolerance) == (1.0, None)


@pytest.mark.parametrize(
    ("gold", "extracted", "tolerance", "reason"),
    [
        (0, 0.2, {"rel": 0.1}, "relative error 0.2 is above 0.1"),
        (100, 102, {"rel": 0.1, "abs": 1}, "absolute error 2 is above 1"),
        (INF, -INF, {"rel": 1, "abs": 1}, "relative error inf is above 1; absolute error inf"),
        (1, HUGE, {"rel": 1}, "relative error inf is above 1"),
        (HUGE, HUGE + 2, {"abs": 1}, "absolute error 2 is above 1"),
        (1e308, -1e308, {"abs": 1}, "absolute error inf is above 1"),
    ],
)
def test_the_reason_says_how_far_a_limit_is(
    gold: Any, extracted: Any, tolerance: Any, reason: str
) -> None:
    score, said = outcome(gold, extracted, **tolerance)
    assert score == 0.0
    assert str(said).startswith(reason)
    assert len(str(said).split("; ")) == len(reason.split("; "))


def test_a_tolerance_is_an_object_with_finite_limits_from_zero_on() -> None:
    odd_limits: tuple[Any, ...] = ("0.1", True, -1, NAN, INF, HUGE)
    for limit in odd_limits:
        with pytest.raises(ParameterError, match="numeric: 'abs' must be a finite number of at le"):
            numeric.bind({"tolerance": {"abs": limit}})
    with pytest.raises(ParameterError, match="'relative'; it takes 'rel' and 'abs'"):
        numeric.bind({"tolerance": {"relative": 0.1}})
    with pytest.raises(ParameterError, match="must be an object with 'rel', 'abs' or both"):
        numeric.bind({"tolerance": 0.1})


UTC = dt.timezone.utc
SAME_DATE = ComparatorResult(1.0, "date")
PIECES = (
    "2024", "03", "3", "15", "31", "00", "-", "/", ".", " ", ", ", ":", "T", "Z", "+01:00", "W11",
    "March", "Mar", "Fri", "th", " of ", "am", " pm", "10:30", "2024-03-15", "03/04/2024",
)  # fmt: skip


DATES = (Path(__file__).parent / "data" / "dates.jsonl").read_text("utf-8").splitlines()
"""Texts with the parts of the date that they are (zones in minutes), or why they are none."""


@pytest.mark.parametrize(("text", "expected"), [json.loads(row) for row in DATES])
def test_a_text_is_read_as_far_as_it_is_written_or_the_reason_says_why_not(
    text: str, expected: dict[str, Any] | str
) -> None:
    reading = read_date(text)
    if isinstance(expected, str):
        assert not reading.ways
        assert expected in reading.reason
    else:
        parts = dict(expected)
        if "clock" in parts:
            parts["clock"] = dt.time.fromisoformat(parts["clock"])
        if "zone" in parts:
            parts["zone"] = dt.timedelta(minutes=parts["zone"])
        assert reading.only == Moment(**parts)


def test_day_and_month_are_ambiguous_where_both_orders_are_days() -> None:
    april, march = Moment(2024, 4, 3), Moment(2024, 3, 4)
    for text in ("03/04/2024", "03-04-2024"):
        assert read_date(text).ways == (april, march)
        assert read_date(text, Notation(day_first=True)).only == april
        assert read_date(text, Notation(day_first=False)).only == march
    assert read_date("03/03/2024").only == Moment(2024, 3, 3)
    assert read_date("03.04.2024").only == april  # with points, the day comes first
    assert read_date("03.04.2024", Notation(day_first=False)).only == march


def test_a_year_of_two_digits_needs_a_pivot() -> None:
    for text, reading in {
        "03/15/24": Moment(2024, 3, 15), "March 15, '24": Moment(2024, 3, 15),
        "15 mars 50": Moment(1950, 3, 15), "15.3.49": Moment(2049, 3, 15), "Mar 24": None,
        "15-03-24": None, "24-03-15": None,
    }.items():  # fmt: skip
        assert not read_date(text).ways
        assert read_date(text, Notation(pivot=1950)).only == reading
        assert ("set 'pivot'" in read_date(text).reason) == (reading is not None)


@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join) | st.text())
def test_no_text_is_an_error_and_what_is_read_leaves_no_doubt(text: str) -> None:
    reading = read_date(text)
    told = [read_date(text, Notation(day_first=first)).only for first in (True, False)]
    assert bool(reading.reason) != bool(reading.only)
    assert set(told) == {*(reading.ways or (None,))}


MONTHS = (
    "januari februari mars april maj juni juli augusti september oktober november december",
    "ledna února března dubna května června července srpna září října listopadu prosince",
    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık",
)


@pytest.mark.parametrize("names", MONTHS)
def test_months_are_known_in_other_languages(names: str) -> None:
    for number, name in enumerate(names.split(), 1):
        for text in (f"5 {name} 2024\u202fг.", f"5. {name.title()} 2024", f"2024 {name} 5"):
            assert read_date(text).only == Moment(2024, number, 5), text


@pytest.mark.parametrize(
    ("gold", "extracted"),
    [
        ("2024-03-15", "15 March 2024"), ("2024-03-15", "03/15/2024"), ("March 2024", "2024-03"),
        ("2024", " 2024 "), ("2024-03-15", "2024-03-15T10:00"),
        ("2024-03-15T23:00Z", "2024-03-16T00:00+01:00"), ("2024-03-15T23:00Z", "2024-03-15 23:00"),
        ("2024-03-15T23:00Z", "2024-03-15"), ("0001-01-01T00:00+14:00", "0001-01-01T01:00+15:00"),
        (dt.date(2024, 3, 15), "15 Mar 2024"),
        (dt.datetime(2024, 3, 15, 10, tzinfo=UTC), "2024-03-15T11:00+01:00"),
        (dt.datetime(2024, 3, 15, 10, tzinfo=UTC), dt.date(2024, 3, 15)),
        (None, None), ("03/04/2024", " 03/04/2024"),
    ],
)  # fmt: skip
def test_the_same_date_matches_whatever_its_notation(gold: Any, extracted: Any) -> None:
    assert date(gold, extracted, {}) == date(extracted, gold, {}) == SAME_DATE


@pytest.mark.parametrize(
    ("gold", "extracted", "reason"),
    [
        ("2024-03-15", "16 March 2024", "the dates differ: 2024-03-15 and 2024-03-16"),
        ("March 2024", "2024-03-01", "one is more precise than the other: 2024-03 and 2024-03-01"),
        ("2024-03-15 10:00", "2024-03-15 10:00:30",
         "the times differ: 2024-03-15 10:00:00 and 2024-03-15 10:00:30"),
        ("2024-03-15T10:00Z", "2024-03-15T10:00+01:00",
         "the times differ: 2024-03-15 10:00:00 UTC and 2024-03-15 10:00:00 UTC+01:00"),
        ("2024-03-15T23:00Z", "2024-03-16", "the dates differ: 2024-03-15 23:00:00 UTC and"),
        ("2024-03-15", None, "the extracted value is null"),
        (20240315, "2024-03-15", "the gold value is of type integer"),
        ("soon", "2024-03-15", "'soon' is not a date"),
        ("2024-03-15", "2024-02-30", "'2024-02-30' is a date or time that does not exist"),
        # gold that is ambiguous, where no reading agrees
        ("03/04/2024", "2024-05-01", "the dates differ: 2024-04-03 or 2024-03-04, and 2024-05-01"),
        ("03/04/2024", "soon", "'soon' is not a date"),
        ("2024-03-04", "03/04/2024", "is ambiguous: 2024-04-03 or 2024-03-04; set 'day_first'"),
    ],
)  # fmt: skip
def test_other_dates_do_not_match_for_a_reason(gold: Any, extracted: Any, reason: str) -> None:
    result = date(gold, extracted, {})
    assert result.score == 0.0
    assert reason in str(result.reason)


def test_gold_that_can_be_read_in_two_ways_has_no_verdict() -> None:
    for other in ("2024-04-03", "2024-03-04", "3/4/2024"):
        with pytest.raises(UndecidableError, match="is ambiguous: 2024-04-03 or 2024-03-04; set "):
            date("03/04/2024", other, {})


def test_parameters_say_how_to_read_and_how_to_score() -> None:
    for day_first, meant in ((True, "2024-04-03"), (False, "2024-03-04")):
        assert date("03/04/2024", meant, {"day_first": day_first}) == SAME_DATE
        assert date("15/03/2024", "03/15/2024", {"day_first": day_first}) == SAME_DATE
    assert date("2024-03-15", "2024-03-15 10:00", {"with_time": True}).score == 0
    for name, odd, message in (
        ("day_first", 1, "must be true or false, not"),
        *(("pivot", odd, "must be the earliest year") for odd in (True, 0, 9999)),
    ):
        with pytest.raises(ParameterError, match=f"date: '{name}' {message}"):
            date.bind({name: odd})
