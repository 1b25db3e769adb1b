"""Dates are read from texts without filling anything in."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.fields.comparators.dates import DateReading, read_date, reading_of
from factcheck.text.dates import Notation

DAY = DateReading(2024, 3, 15)
MONTH = DateReading(2024, 3)
PIECES = (
    "2024", "03", "3", "15", "31", "00", "-", "/", ".", " ", ", ", ":", "T", "Z", "+01:00", "W11",
    "March", "Mar", "Fri", "th", " of ", "am", " pm", "10:30", "2024-03-15", "03/04/2024",
)  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "2024-03-15", "2024-3-15", "2024/03/15", "2024.03.15", "20240315",
        "15/03/2024", "03/15/2024", "15.03.2024", "15. 3. 2024",
        "15-03-2024", "15 March 2024", "15th March 2024", "the 15th of March, 2024",
        "15 Mar. 2024", "15-Mar-2024", "15mar2024", "15/MAR/2024", "March 15, 2024",
        "March 15th 2024", "Mar. 15, 2024", "March the 15th, 2024", "2024 March 15",
        "2024-Mar-15", "15 mars 2024", "15. März 2024", "15 de marzo de 2024", "2024年3月15日",
        "Freitag, 15. Marz 2024", "Friday, 15 March 2024", "Fri 15 Mar 2024", "Fri. March 15, 2024",
        "  15\nMarch  2024 ", "2024-03-15,", "２０２４-03-15",
    ],
)  # fmt: skip
def test_a_day(text: str) -> None:
    assert read_date(text).only == DAY


@pytest.mark.parametrize(
    "text",
    ["2024-03", "2024-3", "2024/03", "03/2024", "3.2024", "March 2024", "Mar-2024", "MARCH, 2024",
     "March of 2024", "2024 March"],
)  # fmt: skip
def test_a_month_has_no_day(text: str) -> None:
    assert read_date(text).only == MONTH


def test_a_year_has_no_month() -> None:
    assert read_date("2024").only == DateReading(2024)


@pytest.mark.parametrize(
    "text",
    ["2024-03-15T22:30", "2024-03-15 22:30:00", "20240315T2230", "20240315T223000",
     "15 March 2024, 10:30 pm", "15 March 2024 at 10:30 p.m.", "22:30 15 March 2024",
     "Fri Mar 15 22:30:00 2024", "10:30PM, March 15, 2024"],
)  # fmt: skip
def test_a_time(text: str) -> None:
    assert read_date(text).only == DAY._replace(clock=dt.time(22, 30))


@pytest.mark.parametrize(
    ("text", "hour"),
    [("12 am", 0), ("1 am", 1), ("12:00 pm", 12), ("11 p.m.", 23), ("0:00", 0), ("23:00", 23)],
)
def test_halves_of_the_day(text: str, hour: int) -> None:
    assert read_date(f"2024-03-15 {text}").only == DAY._replace(clock=dt.time(hour))


@pytest.mark.parametrize(
    ("zone", "minutes"),
    [("Z", 0), (" UTC", 0), (" GMT", 0), ("+00:00", 0), ("+01:00", 60), (" -0530", -330),
     ("+14", 840)],
)  # fmt: skip
def test_a_time_zone(zone: str, minutes: int) -> None:
    expected = DAY._replace(clock=dt.time(10), offset=dt.timedelta(minutes=minutes))
    assert read_date(f"2024-03-15T10:00{zone}").only == expected


def test_fractions_of_a_second_are_kept_to_the_microsecond() -> None:
    assert read_date("2024-03-15T10:00:00.5").only == DAY._replace(clock=dt.time(10, 0, 0, 500_000))
    assert read_date("2024-03-15T10:00:00,123456789").only == DAY._replace(
        clock=dt.time(10, 0, 0, 123456)
    )


@pytest.mark.parametrize(
    "text",
    ["", " ", "hello", "tomorrow", "15", "March", "Friday", "10:00", "15.03.24", "15 March 24",
     "Mar 24", "Fri 2024", "Fri March 2024", "March 2024 10:00", "2024-W11", "2024.5",
     "Q1 2024", "15 mardi 2024", "2024 03 15", "15 03 2024", "12/2024/03", "15/03-2024",
     "2024-03-15 - 2024-03-17", "4 Mar 2024 5 Mar 2024", "2024-03-15 10:00 - 12:00",
     "2024-03-15 10:00 CET", "2024-03-15T10", "1 May 2024 AD", "March 152024",
     pytest.param("x" * 100_000, id="a long text")],
)  # fmt: skip
def test_anything_else_is_not_read(text: str) -> None:
    assert not read_date(text).ways
    assert "is not a date" in read_date(text).reason


@pytest.mark.parametrize(
    "text",
    ["2024-02-30", "30 February 2024", "2024-13", "13/2024", "31/02/2024", "20/20/2024",
     "00/05/2024", "0000-01-01", "2024-03-15T24:00", "2024-03-15 10:60",
     "2024-03-15 13 pm", "2024-03-15 0 am", "2024-03-15T10:00+25:00", "2024-03-15T10:00+01:75"],
)  # fmt: skip
def test_a_day_or_time_that_does_not_exist_is_not_read(text: str) -> None:
    reading = read_date(text)
    assert not reading.ways
    assert "is a date or time that does not exist" in reading.reason


@pytest.mark.parametrize("mark", ["/", "-"])
def test_day_and_month_are_ambiguous_where_both_orders_are_days(mark: str) -> None:
    text = mark.join(("03", "04", "2024"))
    april, march = DateReading(2024, 4, 3), DateReading(2024, 3, 4)

    assert read_date(text).ways == (april, march)
    assert read_date(text, Notation(day_first=True)).only == april
    assert read_date(text, Notation(day_first=False)).only == march
    assert read_date(text.replace("04", "03")).only == DateReading(2024, 3, 3)


def test_with_points_the_day_comes_first() -> None:
    assert read_date("03.04.2024") == read_date("3. 4. 2024")
    assert read_date("03.04.2024").only == DateReading(2024, 4, 3)
    assert read_date("03.04.2024", Notation(day_first=False)).only == DateReading(2024, 3, 4)


@pytest.mark.parametrize(
    ("text", "reading"),
    [("15.03.24", DAY), ("03/15/24", DAY), ("15-Mar-24", DAY), ("March 15, '24", DAY),
     ("15 mars 24", DAY), ("15.03.50", DateReading(1950, 3, 15)),
     ("15.3.49", DateReading(2049, 3, 15)), ("Mar 24", None), ("15-03-24", None),
     ("24-03-15", None)],
)  # fmt: skip
def test_a_year_of_two_digits_needs_a_pivot(text: str, reading: DateReading | None) -> None:
    assert not read_date(text).ways
    assert read_date(text, Notation(pivot=1950)).only == reading


def test_a_day_that_can_be_two_at_a_time_that_does_not_exist_is_none() -> None:
    assert not read_date("03/04/2024 10:99").ways


@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join) | st.text())
def test_no_text_is_an_error_and_what_is_read_leaves_no_doubt(text: str) -> None:
    reading = read_date(text)
    told = [read_date(text, Notation(day_first=first)).only for first in (True, False)]
    assert bool(reading.reason) != bool(reading.only)
    assert set(told) == {*(reading.ways or (None,))}


@given(st.datetimes(), st.none() | st.timedeltas(dt.timedelta(hours=-23), dt.timedelta(hours=23)))
def test_iso_texts_say_what_their_datetime_says(
    moment: dt.datetime, ahead: dt.timedelta | None
) -> None:
    if ahead is not None:
        minutes = dt.timedelta(minutes=ahead // dt.timedelta(minutes=1))
        moment = moment.replace(tzinfo=dt.timezone(minutes))

    assert read_date(moment.isoformat()).only == reading_of(moment)
    assert read_date(moment.isoformat(" ")).only == reading_of(moment)
    assert read_date(moment.date().isoformat()).only == reading_of(moment.date())


@given(st.dates(min_value=dt.date(1900, 1, 1)))
def test_notations_of_strftime_say_the_same_day(day: dt.date) -> None:
    for notation in ("%A, %d %B %Y", "%b %d, %Y", "%d-%b-%Y", "%Y/%m/%d"):
        assert read_date(day.strftime(notation)).only == reading_of(day)
    assert read_date(day.strftime("%d.%m.%Y"), Notation(day_first=True)).only == reading_of(day)
    assert read_date(day.strftime("%m/%d/%Y"), Notation(day_first=False)).only == reading_of(day)


MONTHS = {
    "Swedish": "januari februari mars april maj juni juli augusti september oktober november"
    " december",
    "Danish": "januar februar marts april maj juni juli august september oktober november december",
    "Norwegian": "januar februar mars april mai juni juli august september oktober november"
    " desember",
    "Polish": "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października"
    " listopada grudnia",
    "Czech": "ledna února března dubna května června července srpna září října listopadu prosince",
    "Romanian": "ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie"
    " noiembrie decembrie",
    "Hungarian": "január február március április május június július augusztus szeptember október"
    " november december",
    "Russian": "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "Ukrainian": "січня лютого березня квітня травня червня липня серпня вересня жовтня листопада"
    " грудня",
}


@pytest.mark.parametrize("language", MONTHS)
def test_months_are_known_in_other_languages(language: str) -> None:
    for number, name in enumerate(MONTHS[language].split(), 1):
        for text in (f"5 {name} 2024", f"5. {name.title()} 2024", f"2024 {name} 5"):
            assert read_date(text).only == DateReading(2024, number, 5), text
