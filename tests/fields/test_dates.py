"""Dates are read without filling anything in, and compared by the comparator `date`."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.errors import ParameterError
from factcheck.fields import evaluate
from factcheck.fields.comparators.dates import date, read_date
from factcheck.fields.types import ComparatorResult
from factcheck.text.dates import Moment, Notation

UTC = dt.timezone.utc
MATCH = ComparatorResult(1.0, "date")
DAY = Moment(2024, 3, 15)
PIECES = (
    "2024", "03", "3", "15", "31", "00", "-", "/", ".", " ", ", ", ":", "T", "Z", "+01:00", "W11",
    "March", "Mar", "Fri", "th", " of ", "am", " pm", "10:30", "2024-03-15", "03/04/2024",
)  # fmt: skip


DATA = Path(__file__).parent / "data"
DATES = [json.loads(row) for row in (DATA / "dates.jsonl").read_text("utf-8").splitlines()]
"""Texts with the parts of the date that they are (zones in minutes), or why they are none."""


@pytest.mark.parametrize(("text", "expected"), DATES)
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
        "15.03.24": DAY, "03/15/24": DAY, "15-Mar-24": DAY, "March 15, '24": DAY,
        "15 mars 24": DAY, "15.03.50": Moment(1950, 3, 15),
        "15.3.49": Moment(2049, 3, 15), "Mar 24": None, "15-03-24": None, "24-03-15": None,
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
        (dt.datetime.fromisoformat("2024-03-15T10:00"), "2024-03-15 10:00"),
        (dt.datetime(2024, 3, 15, 10, tzinfo=UTC), "2024-03-15T11:00+01:00"),
        (dt.datetime(2024, 3, 15, 10, tzinfo=UTC), dt.date(2024, 3, 15)),
        (None, None), ("03/04/2024", " 03/04/2024"),
    ],
)  # fmt: skip
def test_the_same_date_matches_whatever_its_notation(gold: Any, extracted: Any) -> None:
    assert date(gold, extracted, {}) == date(extracted, gold, {}) == MATCH


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
def test_other_dates_do_not_match_and_the_reason_says_why(
    gold: Any, extracted: Any, reason: str
) -> None:
    result = date(gold, extracted, {})
    assert result.score == 0.0
    assert reason in str(result.reason)


@pytest.mark.parametrize("other", ["2024-04-03", "2024-03-04", "3/4/2024"])
def test_gold_that_can_be_read_in_two_ways_has_no_verdict(other: str) -> None:
    with pytest.raises(ValueError, match="is ambiguous: 2024-04-03 or 2024-03-04; set 'day_first'"):
        date("03/04/2024", other, {})
    schema = {"type": "object", "properties": {"day": {"type": "string", "x-eval-compare": "date"}}}
    [record] = evaluate([{"day": "03/04/2024"}], [{"day": other}], schema).records
    assert record.field_results[0].status == "error"


def test_parameters_say_how_to_read_and_how_to_score() -> None:
    for day_first, meant in ((True, "2024-04-03"), (False, "2024-03-04")):
        assert date("03/04/2024", meant, {"day_first": day_first}) == MATCH
        assert date("15/03/2024", "03/15/2024", {"day_first": day_first}) == MATCH
    assert date("2024-03-15", "2024-03-15 10:00", {"with_time": True}).score == 0
    for name, odd, message in (
        ("day_first", 1, "must be true or false, not"),
        *(("pivot", odd, "must be the earliest year") for odd in (True, 0, 9999)),
    ):
        with pytest.raises(ParameterError, match=f"date: '{name}' {message}"):
            date.bind({name: odd})
