"""The comparator `date`."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from factcheck.errors import ParameterError
from factcheck.fields import evaluate
from factcheck.fields.comparators.dates import date
from factcheck.fields.types import ComparatorResult

UTC = dt.timezone.utc
MATCH = ComparatorResult(1.0, "date")


@pytest.mark.parametrize(
    ("gold", "extracted"),
    [
        ("2024-03-15", "15 March 2024"), ("2024-03-15", "March 15th, 2024"),
        ("2024-03-15", "15/03/2024"), ("2024-03-15", "03/15/2024"), ("March 2024", "2024-03"),
        ("03/2024", "Mar 2024"), ("2024", " 2024 "), ("2024-03-15", "2024-03-15T10:00"),
        ("2024-03-15T10:00", "15 March 2024, 10 am"),
        ("2024-03-15T10:00", "2024-03-15 10:00:00.000"),
        ("2024-03-15T23:00Z", "2024-03-16T00:00+01:00"), ("2024-03-15T23:00Z", "2024-03-15 23:00"),
        ("2024-03-15T23:00Z", "2024-03-15"), ("0001-01-01T00:00+14:00", "0001-01-01T01:00+15:00"),
        (dt.date(2024, 3, 15), "15 Mar 2024"),
        (dt.datetime.fromisoformat("2024-03-15T10:00"), "2024-03-15 10:00"),
        (dt.datetime(2024, 3, 15, 10, tzinfo=UTC), "2024-03-15T11:00+01:00"),
        (dt.datetime(2024, 3, 15, 10, tzinfo=UTC), dt.date(2024, 3, 15)),
        (None, None),
    ],
)  # fmt: skip
def test_the_same_date_matches_whatever_its_notation(gold: Any, extracted: Any) -> None:
    assert date(gold, extracted, {}) == MATCH
    assert date(extracted, gold, {}) == MATCH


@pytest.mark.parametrize(
    ("gold", "extracted", "reason"),
    [
        ("2024-03-15", "16 March 2024", "the dates differ: 2024-03-15 and 2024-03-16"),
        ("2024-03", "2023-03", "the dates differ: 2024-03 and 2023-03"),
        ("March 2024", "2024-03-01", "one is more precise than the other: 2024-03 and 2024-03-01"),
        ("2024", "2024-01", "one is more precise than the other: 2024 and 2024-01"),
        ("0900", "0900-01", "one is more precise than the other: 0900 and 0900-01"),
        ("2024-03-15 10:00", "2024-03-15 10:00:30",
         "the times differ: 2024-03-15 10:00:00 and 2024-03-15 10:00:30"),
        ("2024-03-15T10:00Z", "2024-03-15T10:00+01:00",
         "the times differ: 2024-03-15 10:00:00 UTC and 2024-03-15 10:00:00 UTC+01:00"),
        ("2024-03-15T23:00Z", "2024-03-16", "the dates differ: 2024-03-15 23:00:00 UTC and"),
        ("2024-03-15", None, "the extracted value is of type null"),
        (20240315, "2024-03-15", "the gold value is of type integer"),
        ("soon", "2024-03-15", "'soon' is not a date"),
        ("2024-03-15", "2024-02-30", "'2024-02-30' is a date or time that does not exist"),
    ],
)  # fmt: skip
def test_other_dates_do_not_match_and_the_reason_says_why(
    gold: Any, extracted: Any, reason: str
) -> None:
    result = date(gold, extracted, {})
    assert result.score == 0.0
    assert reason in str(result.reason)


@pytest.mark.parametrize("other", ["2024-04-03", "2024-03-04", "3/4/2024"])
def test_an_ambiguous_text_is_not_guessed(other: str) -> None:
    """Gold that can be read in two ways has no verdict; an extraction that can be is wrong."""
    reason = "is ambiguous: 2024-04-03 or 2024-03-04; set 'day_first'"
    with pytest.raises(ValueError, match=reason):
        date("03/04/2024", other, {})
    if "-" in other:
        result = date(other, "03/04/2024", {})
        assert result.score == 0
        assert reason in str(result.reason)
    else:
        with pytest.raises(ValueError, match="is ambiguous"):
            date(other, "03/04/2024", {})


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ("2024-05-01", "the dates differ: 2024-04-03 or 2024-03-04, and 2024-05-01"),
        ("05/06/2024", "2024-04-03 or 2024-03-04, and 2024-06-05 or 2024-05-06"),
        ("2024-04", "2024-04-03 or 2024-03-04, and 2024-04"),
        ("soon", "'soon' is not a date"),
        (None, "the extracted value is of type null"),
    ],
)
def test_what_an_ambiguous_text_cannot_mean_is_a_mismatch(other: Any, reason: str) -> None:
    result = date("03/04/2024", other, {})
    assert result.score == 0.0
    assert reason in str(result.reason)


def test_an_ambiguous_date_is_an_error_of_its_field() -> None:
    schema = {"type": "object", "properties": {"day": {"type": "string", "x-eval-compare": "date"}}}
    run = evaluate([{"day": "03/04/2024"}] * 2, [{"day": "2024-04-03"}, {"day": "x"}], schema)
    assert [record.field_results[0].status for record in run.records] == ["error", "mismatch"]
    assert "set 'day_first'" in str(run.records[0].field_results[0].reason)


def test_an_ambiguous_text_equals_itself() -> None:
    assert date("03/04/2024", " 03/04/2024", {}) == MATCH


@pytest.mark.parametrize(("day_first", "meant"), [(True, "2024-04-03"), (False, "2024-03-04")])
def test_the_order_of_day_and_month_can_be_told(meant: str, *, day_first: bool) -> None:
    params = {"day_first": day_first}
    assert date("03/04/2024", meant, params) == MATCH
    assert date("2024-03-04", "4 March 2024", params) == MATCH
    assert date("15/03/2024", "03/15/2024", params) == MATCH


def test_the_same_text_matches_although_it_is_not_read_and_the_reason_says_so() -> None:
    result = date("Spring 2024", "Spring  2024", {})
    assert result.score == 1.0
    assert str(result.reason).startswith("the same text; 'Spring 2024' is not a date")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [("day_first", odd, "must be true or false, not") for odd in (1, 0, "yes", None)]
    + [
        ("pivot", odd, "must be the earliest year that two")
        for odd in (True, "1950", 0, 9999, None)
    ],
)
def test_parameters_are_checked(name: str, value: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=f"date: '{name}' {message}"):
        date.bind({name: value})


@pytest.mark.parametrize(
    ("extracted", "score"),
    [("2024-03-15", 1), ("March 2024", 2 / 3), ("2024", 1 / 3), ("April 2024", 0), ("soon", 0)],
)
def test_a_date_of_which_a_part_is_missing_gets_a_share_where_that_is_told(
    extracted: str, score: float
) -> None:
    assert date("2024-03-15", extracted, {"partial": True}).score == score
    assert date("2024-03-15", extracted, {}).score == (score == 1)
