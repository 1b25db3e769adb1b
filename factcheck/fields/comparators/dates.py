"""The comparator `date`: the same calendar date, whatever the notation.

ISO 8601, figures in an order that leaves no doubt, and months in the languages of `factcheck.text`
are read. Nothing is filled in and nothing is guessed: "March 2024" has no day, "03/04/2024" can be
two dates, and "15/03/24" has no century unless the schema gives a pivot. With points the day comes
first, as in every country that writes them.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

from factcheck.documents import shown
from factcheck.errors import ParameterError
from factcheck.fields.types import (
    MATCH,
    BoundComparator,
    BuiltinComparator,
    Outcome,
    UndecidableError,
    flag,
    refuse_unknown,
)
from factcheck.fields.values import exact_key
from factcheck.text.dates import WEEKDAYS, month_of
from factcheck.text.words import fold_word

_MAX_CHARS = 80
"""No date is longer, and longer strings are not cached."""
_MONTHS_IN_YEAR = 12
_DAY = r"(?P<day>\d{1,2})(?!\d)(?:st|nd|rd|th|er|º|ª)?"
_WORD = r"(?P<word>[^\W\d_]{3,})\.?"
_YEAR = r"(?P<year>\d{4})"
_GAP = r"[\s,./-]{0,3}"
_OF = r"(?:\s(?:of|de|del)\b)?"
_NOTATIONS = tuple(
    re.compile(notation)
    for notation in (
        rf"{_YEAR}(?P<mark>[-/.])(?P<month>\d\d?)(?P=mark)(?P<day>\d\d?)",
        rf"{_YEAR}(?P<month>\d\d)(?P<day>\d\d)",
        rf"{_YEAR}[-/](?P<month>\d\d?)",
        rf"(?P<month>\d\d?)[-/.]{_YEAR}",
        _YEAR,
        rf"{_YEAR}年(?P<month>\d\d?)月(?:(?P<day>\d\d?)日)?",
        rf"(?:the\s)?{_DAY}{_OF}{_GAP}{_WORD}{_OF}{_GAP}{_YEAR}",
        rf"{_WORD}{_GAP}(?:the\s)?{_DAY}{_GAP}{_YEAR}",
        rf"{_WORD}{_OF}{_GAP}{_YEAR}",
        rf"{_YEAR}{_GAP}{_WORD}(?:{_GAP}{_DAY})?",
    )
)
_DAY_AND_MONTH = re.compile(r"(\d\d?)([-/.])\s?(\d\d?)\2\s?(\d{4})")
_SHORT_YEAR = re.compile(
    r"(\d\d?(?:\.\s?\d\d?\.\s?|/\d\d?/|[a-z]{0,2}[\s,./-]{0,3}(?:of\s)?[^\W\d_]{3,}\.?[\s,/-]{1,2})"
    r"|[^\W\d_]{3,}\.?\s\d\d?[a-z]{0,2},?\s)['\u2019]?(\d\d)"
)
"""A date with a year of two digits, and what stands before it."""
_WEEKDAY = re.compile(
    r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?(?![a-z])"
    rf"|(?:{'|'.join(sorted(WEEKDAYS, key=len, reverse=True))})(?![^\W\d_]))[.,]*\s?"
)
_ZONE = r"\s?(?P<zone>z|utc|gmt|[+-]\d\d:?\d\d|[+-]\d\d)?"
_CLOCK = re.compile(
    r"(?:(?<=\d)t|(?:^|,?\s)(?:at\s)?)"
    r"(?P<hour>\d\d?)(?::(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<part>\d{1,9}))?)?"
    r"|(?=\s?[ap]\.?m))"
    rf"(?:\s?(?P<half>[ap])(?:m(?![a-z])|\.m\.))?{_ZONE}(?=$|[\s,])"
)
_BASIC_CLOCK = re.compile(
    rf"(?<=\d)t(?P<hour>\d\d)(?P<minute>\d\d)(?P<second>\d\d)?(?P<part>)(?P<half>){_ZONE}$"
)


class DateReading(NamedTuple):
    """What a text says about a date; `None` is what it does not say."""

    year: int
    month: int | None = None
    day: int | None = None
    clock: dt.time | None = None
    """Without time zone; seconds that are not written are 0."""
    offset: dt.timedelta | None = None
    """What the clock is ahead of UTC."""

    @property
    def parts(self) -> tuple[int, ...]:
        return tuple(part for part in self[:3] if part is not None)

    @property
    def instant(self) -> dt.datetime | None:
        if self.clock is None or self.offset is None:
            return None
        return dt.datetime.combine(dt.date(*self.parts), self.clock, dt.timezone(self.offset))

    def __str__(self) -> str:
        day = "-".join((f"{self.year:04}", *(f"{part:02}" for part in self.parts[1:])))
        clock = "" if self.clock is None else f" {self.clock}"
        return day + clock + ("" if self.offset is None else f" {dt.timezone(self.offset)}")


class Dates(NamedTuple):
    """The dates that a text can stand for: none, one, or two if day and month may be swapped."""

    ways: tuple[DateReading, ...] = ()
    reason: str = ""
    """Why it is not one date; empty if it is."""

    @property
    def only(self) -> DateReading | None:
        return self.ways[0] if len(self.ways) == 1 else None


class Notation(NamedTuple):
    """How dates are written where that is in doubt."""

    day_first: bool | None = None
    """Whether 03/04/2024 is in April; `None`: it can be two dates."""
    pivot: int | None = None
    """The earliest year that two digits stand for; `None`: they stand for none."""


def read_date(text: str, notation: Notation = Notation()) -> Dates:  # noqa: B008 - immutable
    """The dates that a text can stand for."""
    if len(text) > _MAX_CHARS:
        return Dates((), f"{shown(text)} is not read as a date")
    return _read(text, notation)


def reading_of(value: dt.date) -> DateReading:
    day = DateReading(value.year, value.month, value.day)
    if not isinstance(value, dt.datetime):
        return day
    return day._replace(clock=value.time().replace(fold=0), offset=value.utcoffset())


@lru_cache(maxsize=16384)
def _read(text: str, notation: Notation) -> Dates:
    plain = " ".join(text.lower().split())
    found = _CLOCK.search(plain) or _BASIC_CLOCK.search(plain)
    try:
        if found is None:
            ways = _days(plain, notation)
        elif ways := _days(f"{plain[: found.start()]} {plain[found.end() :]}", notation):
            clock, offset = _clock(found), _offset(found["zone"])
            ways = tuple(one._replace(clock=clock, offset=offset) for one in ways if one.day)
    except ValueError:
        return Dates((), f"{shown(text)} names a day or a time that does not exist")
    if not ways:
        return Dates((), f"{shown(text)} is not read as a date")
    if len(ways) == 1:
        return Dates(ways)
    either = " or ".join(map(str, ways))
    return Dates(ways, f"{shown(text)} is ambiguous: {either}; 'day_first' can say which")


def _days(plain: str, notation: Notation) -> tuple[DateReading, ...]:
    """Raises `ValueError` where there is no such day."""
    written = " ".join(plain.split()).strip(" ,")
    weekday = _WEEKDAY.match(written)
    if weekday and weekday.end() < len(written):
        return tuple(one for one in _days(written[weekday.end() :], notation) if one.day)
    if notation.pivot is not None and (short := _SHORT_YEAR.fullmatch(written)):
        year = notation.pivot + (int(short[2]) - notation.pivot) % 100
        written = f"{short[1]}{year:04}"
    if figures := _DAY_AND_MONTH.fullmatch(written):
        return _in_figures(figures, notation)
    for known in _NOTATIONS:
        found = known.fullmatch(written)
        if found and (found.groupdict().get("word") is None or _month(found["word"])):
            return (_from(found.groupdict()),)
    return ()


def _month(word: str) -> int:
    form = fold_word(word)
    return 9 if form == "sept" else month_of(form)


def _from(found: dict[str, str | None]) -> DateReading:
    part = {name: int(text) for name, text in found.items() if text and text.isdecimal()}
    word = found.get("word")
    month = _month(word) if word else part.get("month")
    dt.date(part["year"], month or 1, part.get("day", 1))
    return DateReading(part["year"], month, part.get("day"))


def _in_figures(figures: re.Match[str], notation: Notation) -> tuple[DateReading, ...]:
    first, second, year = int(figures[1]), int(figures[3]), int(figures[4])
    if first > _MONTHS_IN_YEAR or second > _MONTHS_IN_YEAR or first == second:
        return (reading_of(dt.date(year, min(first, second), max(first, second))),)
    by_day = reading_of(dt.date(year, second, first))
    by_month = reading_of(dt.date(year, first, second))
    if notation.day_first is None and figures[2] != ".":
        return by_day, by_month
    return (by_month if notation.day_first is False else by_day,)


def _clock(found: re.Match[str]) -> dt.time:
    hour, half = int(found["hour"]), found["half"]
    if half:
        if not 1 <= hour <= 12:  # noqa: PLR2004 - the hours of half a day
            raise ValueError("there is no such hour")
        hour = hour % 12 + (12 if half == "p" else 0)
    part = (found["part"] or "").ljust(6, "0")[:6]
    return dt.time(hour, int(found["minute"] or 0), int(found["second"] or 0), int(part))


def _offset(zone: str | None) -> dt.timedelta | None:
    if zone is None:
        return None
    if zone in ("z", "utc", "gmt"):
        return dt.timedelta(0)
    digits = zone[1:].replace(":", "").ljust(4, "0")
    hours, minutes = int(digits[:2]), int(digits[2:])
    if minutes > 59:  # noqa: PLR2004 - the minutes of an hour
        raise ValueError("there is no such time zone")
    ahead = dt.timedelta(hours=hours, minutes=minutes)
    return dt.timezone(-ahead if zone[0] == "-" else ahead).utcoffset(None)


def _bind(params: Mapping[str, Any]) -> BoundComparator:
    refuse_unknown("date", params, "day_first", "with_time", "pivot", "partial")
    notation = Notation(flag("date", params, "day_first"), _pivot(params))
    with_time = flag("date", params, "with_time")
    partial = flag("date", params, "partial")

    def compare(gold: Any, extracted: Any) -> Outcome:
        own = _dates(gold, "gold", notation)
        other = _dates(extracted, "extracted", notation)
        if not (own.ways and other.ways):
            return _without_dates(gold, extracted, own if not own.ways else other)
        if own.only is None or other.only is None:
            return MATCH if _is_same_text(gold, extracted) else _either_way(own, other)
        if with_time and (own.only.clock is None) != (other.only.clock is None):
            return 0.0, f"only one has a time: {own.only} and {other.only}"
        return _compare(own.only, other.only, partial=bool(partial))

    return BoundComparator(compare)


def _pivot(params: Mapping[str, Any]) -> int | None:
    pivot = params.get("pivot")
    in_range = isinstance(pivot, int) and 1 <= pivot <= dt.MAXYEAR - 99
    if "pivot" in params and (isinstance(pivot, bool) or not in_range):
        raise ParameterError(
            f"date: 'pivot' must be the earliest year that two digits stand for, such as 1950, "
            f"not {shown(pivot)}"
        )
    return pivot


def _dates(value: Any, side: str, notation: Notation) -> Dates:
    if isinstance(value, str):
        return read_date(value, notation)
    if isinstance(value, dt.date):
        return Dates((reading_of(value),))
    kind = type(value).__name__
    return Dates((), f"date compares dates, and the {side} value is of type {kind}")


def _compare(gold: DateReading, extracted: DateReading, *, partial: bool = False) -> Outcome:
    both = f"{gold} and {extracted}"
    lengths = sorted((len(gold.parts), len(extracted.parts)))
    if partial and lengths[0] < lengths[1]:
        if gold.parts[: lengths[0]] != extracted.parts[: lengths[0]]:
            return 0.0, f"the dates differ: {both}"
        return lengths[0] / lengths[1], f"one is more precise than the other: {both}"
    if gold.instant is not None and extracted.instant is not None:
        return MATCH if gold.instant == extracted.instant else (0.0, f"the times differ: {both}")
    if gold.parts != extracted.parts:
        how = "the dates differ" if len({*lengths}) == 1 else "one is more precise than the other"
        return 0.0, f"{how}: {both}"
    if None in (gold.clock, extracted.clock) or gold.clock == extracted.clock:
        return MATCH
    return 0.0, f"the times differ: {both}"


def _either_way(gold: Dates, extracted: Dates) -> Outcome:
    """A mismatch if only the extracted string is ambiguous, or no readings agree.

    Raises:
        UndecidableError: The gold string is ambiguous and some readings agree, so the schema has
            to decide.
    """
    if any(_compare(*pair)[0] for pair in product(gold.ways, extracted.ways)):
        if gold.only is None:
            raise UndecidableError(gold.reason)
        return 0.0, extracted.reason
    dates = (" or ".join(map(str, side.ways)) for side in (gold, extracted))
    return 0.0, f"the dates differ: {', and '.join(dates)}"


def _without_dates(gold: Any, extracted: Any, unread: Dates) -> Outcome:
    if _is_same_text(gold, extracted):
        return 1.0, f"the same text; {unread.reason}"
    if not isinstance(gold, str) and exact_key(gold) == exact_key(extracted):
        return MATCH
    return 0.0, unread.reason


def _is_same_text(gold: Any, extracted: Any) -> bool:
    texts = isinstance(gold, str) and isinstance(extracted, str)
    return texts and gold.split() == extracted.split()


date = BuiltinComparator("date", _bind)
"""The same calendar date; also the same time if both have one, and the same instant if both have a
time zone. A month is not its first day.

Parameters:
    day_first: Whether 03/04/2024 is in April. Without it such a string equals itself only: beside
        another date it is a mismatch if extracted, and an error if it is in gold and the date may
        be one of its readings.
    with_time: Whether a date without a time differs from one with a time; by default it does not.
        The default comparator of strings with the format `date-time`.
    pivot: The earliest year that two digits stand for: with 1950, 49 is 2049 and 50 is 1950.
        Without it a date with such a year is not read.
    partial: Whether a date of which one side has only the year or month gets that share: 2/3 for a
        month against a day of it. Without it the score is 0.
"""
