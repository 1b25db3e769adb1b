"""Reads dates from texts: ISO 8601, figures in an order that leaves no doubt, English months.

Nothing is filled in and nothing is guessed: "March 2024" has no day, "03/04/2024" can be two dates,
and "15/03/24" has no century. Neither the clock nor the locale of the machine is looked at.
"""

from __future__ import annotations

import datetime as dt
import re
from functools import lru_cache
from typing import NamedTuple

from factcheck.fields.comparators.parameters import shown

_MAX_CHARS = 80
"""No date is longer, and longer strings are not cached."""
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_NUMBER_OF = {
    **{name: number for number, name in enumerate(_MONTHS, 1)},
    **{name[:3]: number for number, name in enumerate(_MONTHS, 1)},
    "sept": 9,
}
_MONTHS_IN_YEAR = 12
_DAY = r"(?P<day>\d{1,2})(?!\d)(?:st|nd|rd|th)?"
_WORD = rf"(?P<word>{'|'.join(sorted(_NUMBER_OF, key=len, reverse=True))})(?![a-z])\.?"
_YEAR = r"(?P<year>\d{4})"
_GAP = r"[\s,./-]{0,3}"
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
        rf"(?:the\s)?{_DAY}(?:\sof)?{_GAP}{_WORD}{_GAP}{_YEAR}",
        rf"{_WORD}{_GAP}(?:the\s)?{_DAY}{_GAP}{_YEAR}",
        rf"{_WORD}(?:\sof)?{_GAP}{_YEAR}",
        rf"{_YEAR}{_GAP}{_WORD}(?:{_GAP}{_DAY})?",
    )
)
_DAY_AND_MONTH = re.compile(r"(\d\d?)([-/.])\s?(\d\d?)\2\s?(\d{4})")
_WEEKDAY = re.compile(
    r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?(?![a-z])[.,]*\s?"
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
        """Year, month and day, as far as they are known."""
        return tuple(part for part in self[:3] if part is not None)

    def __str__(self) -> str:
        day = "-".join((f"{self.year:04}", *(f"{part:02}" for part in self.parts[1:])))
        clock = "" if self.clock is None else f" {self.clock}"
        return day + clock + ("" if self.offset is None else f" {dt.timezone(self.offset)}")


class Unread(NamedTuple):
    """Why a text is not read."""

    reason: str
    ambiguous: bool = False
    """Whether it is a date, but one of two."""


def read_date(text: str, *, day_first: bool | None = None) -> DateReading | Unread:
    """What a text says, or why it is not read.

    Args:
        text: The date, and nothing else.
        day_first: Whether 03/04/2024 is in April; `None`: it is not read. A text that leaves no
            doubt is read whatever this says.
    """
    if len(text) > _MAX_CHARS:
        return _unread(text)
    return _read(text, day_first=day_first)


def reading_of(value: dt.date) -> DateReading:
    """What a `date` or `datetime` says."""
    if not isinstance(value, dt.datetime):
        return DateReading(value.year, value.month, value.day)
    return DateReading(
        value.year, value.month, value.day, value.time().replace(fold=0), value.utcoffset()
    )


@lru_cache(maxsize=16384)
def _read(text: str, *, day_first: bool | None) -> DateReading | Unread:
    plain = " ".join(text.lower().split())
    found = _CLOCK.search(plain) or _BASIC_CLOCK.search(plain)
    try:
        if found is None:
            return _date(plain, text, day_first=day_first)
        without_clock = f"{plain[: found.start()]} {plain[found.end() :]}"
        day = _date(without_clock, text, day_first=day_first)
        if isinstance(day, Unread) and not day.ambiguous:
            return day
        clock, offset = _clock(found), _offset(found["zone"])
    except ValueError:
        return Unread(f"{shown(text)} names a day or a time that does not exist")
    if isinstance(day, Unread):
        return day
    return _unread(text) if day.day is None else day._replace(clock=clock, offset=offset)


def _unread(text: str) -> Unread:
    return Unread(f"{shown(text)} is not read as a date; 'formats' can say how dates are written")


def _date(plain: str, text: str, *, day_first: bool | None) -> DateReading | Unread:
    written = " ".join(plain.split()).strip(" ,")
    weekday = _WEEKDAY.match(written)
    if weekday:
        day = _date(written[weekday.end() :], text, day_first=day_first)
        return day if isinstance(day, Unread) or day.day is not None else _unread(text)
    figures = _DAY_AND_MONTH.fullmatch(written)
    if figures:
        return _day_and_month(figures, text, day_first=day_first)
    for notation in _NOTATIONS:
        found = notation.fullmatch(written)
        if found:
            return _from(found.groupdict())
    return _unread(text)


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
    month = _NUMBER_OF[word] if word else part.get("month")
    dt.date(year, month or 1, part.get("day", 1))
    return DateReading(year, month, part.get("day"))


def _day_and_month(
    figures: re.Match[str], text: str, *, day_first: bool | None
) -> DateReading | Unread:
    """Raises `ValueError` where neither order is a day."""
    first, second, year = int(figures[1]), int(figures[3]), int(figures[4])
    if first > _MONTHS_IN_YEAR or second > _MONTHS_IN_YEAR or first == second:
        return reading_of(dt.date(year, min(first, second), max(first, second)))
    by_day, by_month = dt.date(year, second, first), dt.date(year, first, second)
    if day_first is None:
        reason = f"{shown(text)} is ambiguous: {by_day} or {by_month}; 'day_first' can say which"
        return Unread(reason, ambiguous=True)
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
