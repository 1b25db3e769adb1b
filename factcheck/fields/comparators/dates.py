"""The comparator `date`: the same calendar date, whatever the notation.

ISO 8601, figures in an order that leaves no doubt, and months in the languages of `factcheck.text`
are read. Nothing is filled in and nothing is guessed: "March 2024" has no day, "03/04/2024" can be
two dates, and "15/03/24" has no century unless the schema gives a pivot. With points the day comes
first, as in every country that writes them. Neither the clock nor the locale of the machine is
looked at.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple, cast

from factcheck.errors import ParameterError
from factcheck.fields.types import (
    MATCH,
    BoundComparator,
    BuiltinComparator,
    Outcome,
    UndecidableError,
    flag,
    refuse_unknown,
    shown,
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
        rf"{_YEAR}-?w(?P<week>\d\d)-?(?P<weekday>\d)",
        rf"{_YEAR}-(?P<ordinal>\d\d\d)",
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

    def __str__(self) -> str:
        day = "-".join((f"{self.year:04}", *(f"{part:02}" for part in self.parts[1:])))
        clock = "" if self.clock is None else f" {self.clock}"
        return day + clock + ("" if self.offset is None else f" {dt.timezone(self.offset)}")


class Unread(NamedTuple):
    """Why a text is not read."""

    reason: str
    readings: tuple[DateReading, ...] = ()
    """What it may say, if it is a date but one of two."""

    @property
    def ambiguous(self) -> bool:
        return bool(self.readings)


class Notation(NamedTuple):
    """How dates are written where that is in doubt."""

    day_first: bool | None = None
    """Whether 03/04/2024 is in April; `None`: it can be two dates."""
    pivot: int | None = None
    """The earliest year that two digits stand for; `None`: they stand for none."""


def read_date(text: str, notation: Notation = Notation()) -> DateReading | Unread:  # noqa: B008 - immutable
    """What a text says, or why it is not read."""
    return _unread(text) if len(text) > _MAX_CHARS else _read(text, notation)


def reading_of(value: dt.date) -> DateReading:
    if not isinstance(value, dt.datetime):
        return DateReading(value.year, value.month, value.day)
    return DateReading(
        value.year, value.month, value.day, value.time().replace(fold=0), value.utcoffset()
    )


@lru_cache(maxsize=16384)
def _read(text: str, notation: Notation) -> DateReading | Unread:
    plain = " ".join(text.lower().split())
    found = _CLOCK.search(plain) or _BASIC_CLOCK.search(plain)
    try:
        if found is None:
            return _date(plain, text, notation)
        day = _date(f"{plain[: found.start()]} {plain[found.end() :]}", text, notation)
        if isinstance(day, Unread) and not day.ambiguous:
            return day
        clock, offset = _clock(found), _offset(found["zone"])
    except ValueError:
        return Unread(f"{shown(text)} names a day or a time that does not exist")
    if isinstance(day, Unread):
        days = (one._replace(clock=clock, offset=offset) for one in day.readings)
        return day._replace(readings=tuple(days))
    return _unread(text) if day.day is None else day._replace(clock=clock, offset=offset)


def _unread(text: str) -> Unread:
    return Unread(f"{shown(text)} is not read as a date; 'formats' can say how dates are written")


def _date(plain: str, text: str, notation: Notation) -> DateReading | Unread:
    written = " ".join(plain.split()).strip(" ,")
    weekday = _WEEKDAY.match(written)
    if weekday and weekday.end() < len(written):
        day = _date(written[weekday.end() :], text, notation)
        return day if isinstance(day, Unread) or day.day is not None else _unread(text)
    if notation.pivot is not None and (short := _SHORT_YEAR.fullmatch(written)):
        year = notation.pivot + (int(short[2]) - notation.pivot) % 100
        written = f"{short[1]}{year:04}"
    figures = _DAY_AND_MONTH.fullmatch(written)
    if figures:
        return _day_and_month(figures, text, notation)
    for known in _NOTATIONS:
        found = known.fullmatch(written)
        if found and (found.groupdict().get("word") is None or _month(found["word"])):
            return _from(found.groupdict())
    return _unread(text)


def _month(word: str) -> int:
    form = fold_word(word)
    return 9 if form == "sept" else month_of(form)


def _from(found: dict[str, str | None]) -> DateReading:
    """Raises `ValueError` where there is no such day."""
    part = {name: int(text) for name, text in found.items() if text and text.isdecimal()}
    year = part["year"]
    if "week" in part:
        return reading_of(dt.date.fromisocalendar(year, part["week"], part["weekday"]))
    if "ordinal" in part:
        day = dt.date(year, 1, 1) + dt.timedelta(part["ordinal"] - 1)
        if day.year != year:
            raise ValueError("the year has no such day")
        return reading_of(day)
    word = found.get("word")
    month = _month(word) if word else part.get("month")
    dt.date(year, month or 1, part.get("day", 1))
    return DateReading(year, month, part.get("day"))


def _day_and_month(figures: re.Match[str], text: str, notation: Notation) -> DateReading | Unread:
    """Raises `ValueError` where neither order is a day."""
    first, second, year = int(figures[1]), int(figures[3]), int(figures[4])
    if first > _MONTHS_IN_YEAR or second > _MONTHS_IN_YEAR or first == second:
        return reading_of(dt.date(year, min(first, second), max(first, second)))
    by_day, by_month = dt.date(year, second, first), dt.date(year, first, second)
    day_first = notation.day_first
    if day_first is None and figures[2] == ".":
        day_first = True
    if day_first is None:
        reason = f"{shown(text)} is ambiguous: {by_day} or {by_month}; 'day_first' can say which"
        return Unread(reason, (reading_of(by_day), reading_of(by_month)))
    return reading_of(by_day if day_first else by_month)


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


_Read = Callable[[str], "DateReading | Unread"]
_PROBE = dt.datetime(2023, 11, 27, 13, 47, 38, 123456, tzinfo=dt.timezone.utc)
"""Differs in every part from the defaults of `strptime`."""
_GIVES_YEAR = re.compile("%[YyGcxDF]")
_MAX_FORMATTED = 200
"""Longer strings are not tried with formats."""


def _bind(params: Mapping[str, Any]) -> BoundComparator:
    refuse_unknown("date", params, "formats", "day_first", "with_time", "pivot", "partial")
    notation = Notation(flag("date", params, "day_first"), _pivot(params))
    with_time = flag("date", params, "with_time")
    partial = flag("date", params, "partial")
    formats = _formats(params["formats"]) if "formats" in params else ()
    read = _reader(formats, notation)

    def compare(gold: Any, extracted: Any) -> Outcome:
        own = _reading(gold, "gold", read)
        other = _reading(extracted, "extracted", read)
        if isinstance(own, DateReading) and isinstance(other, DateReading):
            if with_time and (own.clock is None) != (other.clock is None):
                return 0.0, f"only one has a time: {own} and {other}"
            if partial and own.parts != other.parts:
                return _in_part(own, other)
            return MATCH if own == other else _outcome(own, other)
        for reading in (own, other):
            if isinstance(reading, Unread) and not reading.ambiguous:
                return _without_dates(gold, extracted, reading)
        if _is_same_text(gold, extracted):
            return MATCH
        return _either_way(own, other)

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


def _in_part(gold: DateReading, extracted: DateReading) -> Outcome:
    """The share of the parts of the more precise date that the other has, if none differs."""
    n = min(len(gold.parts), len(extracted.parts))
    if gold.parts[:n] != extracted.parts[:n]:
        return 0.0, f"the dates differ: {gold} and {extracted}"
    share = n / max(len(gold.parts), len(extracted.parts))
    return share, f"one is more precise than the other: {gold} and {extracted}"


def _either_way(gold: DateReading | Unread, extracted: DateReading | Unread) -> Outcome:
    """A mismatch if only the extracted string is ambiguous, or no readings agree.

    Raises:
        UndecidableError: The gold string is ambiguous and some readings agree, so the schema has
            to decide.
    """
    ways = [one.readings if isinstance(one, Unread) else (one,) for one in (gold, extracted)]
    if any(_outcome(*pair)[0] for pair in product(*ways)):
        if isinstance(gold, Unread):
            raise UndecidableError(gold.reason)
        return 0.0, cast("Unread", extracted).reason
    dates = (" or ".join(map(str, side)) for side in ways)
    return 0.0, f"the dates differ: {', and '.join(dates)}"


def _reading(value: Any, side: str, read: _Read) -> DateReading | Unread:
    if isinstance(value, str):
        return read(value)
    if isinstance(value, dt.date):
        return reading_of(value)
    return Unread(f"date compares dates, and the {side} value is of type {type(value).__name__}")


def _outcome(gold: DateReading, extracted: DateReading) -> Outcome:
    instant, other = _instant(gold), _instant(extracted)
    if instant is not None and other is not None:
        return MATCH if instant == other else _times_differ(gold, extracted)
    if len(gold.parts) != len(extracted.parts):
        return 0.0, f"one is more precise than the other: {gold} and {extracted}"
    if gold.parts != extracted.parts:
        return 0.0, f"the dates differ: {gold} and {extracted}"
    if None in (gold.clock, extracted.clock) or gold.clock == extracted.clock:
        return MATCH
    return _times_differ(gold, extracted)


def _times_differ(gold: DateReading, extracted: DateReading) -> Outcome:
    return 0.0, f"the times differ: {gold} and {extracted}"


def _instant(reading: DateReading) -> dt.datetime | None:
    if reading.clock is None or reading.offset is None:
        return None
    day = dt.date(*reading.parts)
    return dt.datetime.combine(day, reading.clock, dt.timezone(reading.offset))


def _without_dates(gold: Any, extracted: Any, unread: Unread) -> Outcome:
    if _is_same_text(gold, extracted):
        return 1.0, f"the same text; {unread.reason}"
    if not isinstance(gold, str) and exact_key(gold) == exact_key(extracted):
        return MATCH
    return 0.0, unread.reason


def _is_same_text(gold: Any, extracted: Any) -> bool:
    texts = isinstance(gold, str) and isinstance(extracted, str)
    return texts and gold.split() == extracted.split()


def _reader(formats: Sequence[_Format], notation: Notation) -> _Read:
    if not formats:
        return lambda text: read_date(text, notation)

    @lru_cache(maxsize=4096)
    def by_formats(text: str) -> DateReading | Unread:
        readings = (given.read(text) for given in formats)
        return next((one for one in readings if one is not None), None) or read_date(text, notation)

    return lambda text: (
        by_formats(text) if len(text) <= _MAX_FORMATTED else read_date(text, notation)
    )


class _Format:
    """A `strptime` format and the parts of a date that it contains."""

    def __init__(self, notation: str) -> None:
        if not _GIVES_YEAR.search(notation):
            raise ValueError("it has no year")
        parsed = dt.datetime.strptime(_PROBE.strftime(notation), notation)  # noqa: DTZ007 - a probe
        self._notation = notation
        self._gives_month = parsed.month == _PROBE.month
        self._gives_day = parsed.day == _PROBE.day
        self._gives_clock = parsed.time() != dt.time.min
        if parsed.year != _PROBE.year or (self._gives_day and not self._gives_month):
            raise ValueError("it has a day without a month, or no year")
        if self._gives_clock and not self._gives_day:
            raise ValueError("it has a time without a day")

    def read(self, text: str) -> DateReading | None:
        try:
            parsed = dt.datetime.strptime(text.strip(), self._notation)  # noqa: DTZ007 - as written
        except ValueError:
            return None
        return DateReading(
            parsed.year,
            parsed.month if self._gives_month else None,
            parsed.day if self._gives_day else None,
            parsed.time() if self._gives_clock else None,
            parsed.utcoffset(),
        )


def _formats(given: Any) -> tuple[_Format, ...]:
    if not isinstance(given, list) or not all(isinstance(notation, str) for notation in given):
        raise ParameterError(
            f"date: 'formats' must be a list of strptime formats such as ['%d.%m.%Y'], "
            f"not {shown(given)}"
        )
    return tuple(map(_format, given))


def _format(notation: str) -> _Format:
    try:
        return _Format(notation)
    except ValueError as error:
        raise ParameterError(
            f"date: {shown(notation)} in 'formats' must be a strptime format with a year, such as "
            f"'%d.%m.%Y': {error}"
        ) from error


date = BuiltinComparator("date", _bind)
"""The same calendar date; also the same time if both have one, and the same instant if both have a
time zone. A month is not its first day.

Parameters:
    formats: `strptime` formats, tried before the notations that need none.
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
